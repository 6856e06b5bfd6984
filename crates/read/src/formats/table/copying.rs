//! Copies selected rows of a table, one group of rows after the other.

use crate::formats::RowsCopy;
use crate::formats::table::editing::RowChanges;
use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::ArrowError;
use arrow_select::filter::filter_record_batch;
use simtool_base::error::{Error, ErrorKind, Result, caught};
use std::fmt::Display;
use std::fs::{self, File};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Decodes the groups of rows of a table, and encodes the rows that a copy keeps. Several threads
/// use one encoder at the same time.
pub(crate) trait GroupEncoder: Sync {
    /// Encoded rows of a group, ready to be appended to the copy.
    type Encoded: Send;

    /// Returns the number of rows of each group.
    fn group_rows(&self) -> Vec<u64>;

    /// Encodes the kept rows of the group with index `group`. `kept` has the indexes of these rows in the table, in
    /// ascending order, and is not empty. `first` is the index of the first row of the group in the table.
    ///
    /// # Errors
    ///
    /// The group cannot be decoded.
    fn encode(&self, group: usize, first: u64, kept: &[u64]) -> Result<Self::Encoded>;
}

/// Creates the file `to` for a copy, and the folders above it if they do not exist. Returns an error if the file
/// exists.
pub(crate) fn create(to: &Path) -> Result<File> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    }
    // An existing file is an error, because a copy must never replace a file of the user.
    File::create_new(to).map_err(|e| Error::io(to, "create", e))
}

/// Encodes each group of rows that has rows to keep. Passes the encoded groups to `append` in the order of the groups.
///
/// # Errors
///
/// A group cannot be encoded or appended. Or a kept row is in no group, because the groups declare fewer rows than were
/// read.
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
        // The numbers of kept rows ascend, so the kept rows of this group are the first ones in
        // `rest`.
        let (kept, after) = rest.split_at(rest.partition_point(|&row| row < end));
        if !kept.is_empty() {
            groups.push((group, first, kept));
        }
        first = end;
        rest = after;
    }
    if let Some(row) = rest.first() {
        let what = format!("the copy {}", copy.to.display());
        return Err(Error::limit(
            what,
            format!("row {row} was read, but the table has {first} rows"),
        ));
    }
    // Encoded groups wait in memory until earlier groups are finished, so only a few are encoded at
    // once.
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

/// Filter that keeps selected rows of a group. It gets the rows in batches, in the order of the table.
pub(crate) struct KeptRows<'k> {
    /// Index in the table of the first row of the next batch.
    next: u64,
    kept: &'k [u64],
    changes: RowChanges<'k>,
}

impl<'k> KeptRows<'k> {
    /// Creates a filter for a group. `first` is the index of its first row in the table. `kept` has the indexes of the
    /// rows to keep, in ascending order. `changes` is applied to the kept rows.
    pub(crate) fn new(first: u64, kept: &'k [u64], changes: RowChanges<'k>) -> Self {
        Self { next: first, kept, changes }
    }

    /// Returns whether no rows are left to keep in the batches that follow.
    pub(crate) fn is_done(&self) -> bool {
        self.kept.is_empty()
    }

    /// Ends the filter after the last batch of the group.
    ///
    /// # Errors
    ///
    /// The group has fewer rows than it declares, so kept rows are missing.
    pub(crate) fn finish(self) -> Result<(), ArrowError> {
        match self.kept.first() {
            None => Ok(()),
            Some(row) => Err(ArrowError::ComputeError(format!("row {row} is missing"))),
        }
    }

    /// Returns the kept rows of `batch` with their changes, or `None` if no row of it is kept. `batch` must be the next
    /// batch of the group.
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
        let batch = filter_record_batch(batch, &BooleanArray::from(mask))?;
        self.changes.apply(batch, here).map(Some)
    }
}

/// Calls `work`, which uses a library to decode or encode rows, and returns its result. Converts an error or panic of
/// `work` to an error about copying rows of `from` to `to`.
pub(crate) fn decoded<R, E: Display>(
    from: &Path,
    to: &Path,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R> {
    let reason = match caught(work) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => error.to_string(),
        Err(reason) => reason,
    };
    let expected = format!("rows that can be copied to {}: {reason}", to.display());
    Err(ErrorKind::Format { path: from.to_owned(), byte: 0, expected }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_that_lacks_a_kept_row_is_an_error() {
        let finish = |kept| KeptRows::new(0, kept, RowChanges::default()).finish();
        assert!(finish(&[]).is_ok());
        let error = finish(&[3, 5]).unwrap_err().to_string();
        assert!(error.ends_with("row 3 is missing"), "{error}");
    }
}
