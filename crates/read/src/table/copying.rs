//! The copy of a table, group by group.

use crate::table::RowsCopy;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use simtool_base::error::{Error, ErrorKind, Result};
use std::fmt::Display;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Decodes groups of a table and encodes their kept rows, by several threads at once.
pub(crate) trait GroupEncoder: Sync {
    /// The kept rows of a group.
    type Encoded: Send;

    /// Returns the number of rows of each group.
    fn group_rows(&self) -> Vec<u64>;

    /// Encodes the rows of a group with the numbers in `kept`, which ascend and are not none. The
    /// first row of the group has the number `first`.
    ///
    /// # Errors
    ///
    /// The original cannot be decoded.
    fn encode(&self, group: usize, first: u64, kept: &[u64]) -> Result<Self::Encoded>;
}

/// Creates the file of a copy, and the folders above it.
pub(crate) fn create(to: &Path) -> Result<File> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    }
    // An existing file is an error, because a copy must never replace a file of the user.
    File::create_new(to).map_err(|e| Error::io(to, "create", e))
}

/// Encodes every group that has kept rows, and gives them to `append` in the order of the file.
pub(crate) fn copy_groups<E: GroupEncoder>(
    encoder: &E,
    copy: &RowsCopy<'_>,
    append: &mut dyn FnMut(E::Encoded) -> Result<()>,
) -> Result<()> {
    let mut groups = Vec::new();
    let mut first = 0_u64;
    let mut rest = copy.kept;
    for (group, rows) in encoder.group_rows().into_iter().enumerate() {
        let end = first.saturating_add(rows);
        // The kept rows ascend, so those of a group are a prefix of the rest.
        let (kept, after) = rest.split_at(rest.partition_point(|&row| row < end));
        if !kept.is_empty() {
            groups.push((group, first, kept));
        }
        first = end;
        rest = after;
    }
    // Encoded groups wait in memory for those before them, so few are encoded at once.
    for groups in groups.chunks(copy.at_once.max(1)) {
        let encoded: Vec<Mutex<Option<Result<E::Encoded>>>> =
            groups.iter().map(|_| Mutex::new(None)).collect();
        (copy.in_parallel)(groups.len(), &|at| {
            let (group, first, kept) = groups[at];
            let result = encoder.encode(group, first, kept);
            *encoded[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        });
        for encoded in encoded {
            if let Some(result) = encoded.into_inner().unwrap_or_else(PoisonError::into_inner) {
                append(result?)?;
            }
        }
    }
    Ok(())
}

/// The rows that are still to be found in the batches of a group.
pub(crate) struct KeptRows<'k> {
    /// Number of the first row of the next batch.
    next: u64,
    kept: &'k [u64],
}

impl<'k> KeptRows<'k> {
    /// Begins with the row number `first`; `kept` are the numbers of the rows that stay.
    pub(crate) fn new(first: u64, kept: &'k [u64]) -> Self {
        Self { next: first, kept }
    }

    /// Returns whether the batches after this point have no kept rows.
    pub(crate) fn is_done(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the kept rows of the next batch, or `None` if it has none.
    ///
    /// # Errors
    ///
    /// The batch has a type of column that cannot be filtered.
    pub(crate) fn filter(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<Option<RecordBatch>, ArrowError> {
        let first = self.next;
        self.next += batch.num_rows() as u64;
        let (here, after) = self.kept.split_at(self.kept.partition_point(|&row| row < self.next));
        self.kept = after;
        if here.is_empty() {
            return Ok(None);
        }
        let mut mask = vec![false; batch.num_rows()];
        for &row in here {
            mask[(row - first) as usize] = true;
        }
        filter_record_batch(batch, &BooleanArray::from(mask)).map(Some)
    }
}

/// Runs the library that decodes and encodes rows. Its errors and panics are about the rows.
pub(crate) fn decoded<R, E: Display>(
    from: &Path,
    to: &Path,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R> {
    let reason = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the decoder gave up".to_owned(),
    };
    let expected = format!("rows that can be copied to {}: {reason}", to.display());
    Err(ErrorKind::Format { path: from.to_owned(), byte: 0, expected }.into())
}
