//! Formats whose files are tables: their trait, and their common code.
//!
//! A table is read by **groups** of rows, which its file stores together: the row groups of Parquet,
//! the record batches of Arrow. Several small groups are one shard.

#[cfg(feature = "parquet")]
pub(super) mod copying;
#[cfg(feature = "parquet")]
pub(super) mod documents;

use crate::stream::Damage;
use crate::{Event, Visit};
use simtool_base::error::Result;
use std::fmt;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// A format whose files are tables.
pub(super) trait TableFormat: fmt::Debug + Sync {
    /// Puts the groups of a file into shares of at least `bytes` bytes. Returns `None` if the file
    /// cannot be read.
    fn shares(&self, file: &File, bytes: u64) -> Option<Vec<Share>>;

    /// Returns the paths of the columns, none for a file that cannot be read.
    fn column_names(&self, file: &File) -> Vec<String>;

    /// Visits rows as records. Returns how many rows the file says they are, or how many were
    /// visited if the visitor had enough.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns.
    fn read(&self, job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64>;

    /// Writes a copy of the file `from` with some of its rows: all columns, types and metadata.
    ///
    /// # Errors
    ///
    /// The copy cannot be written, or `from` cannot be read.
    fn copy_rows(&self, from: &Path, copy: &RowsCopy<'_>) -> Result<()>;

    /// Estimates the memory of a reader, in bytes, without its longest record.
    fn reader_bytes(&self, rows: TableRows) -> f64;
}

/// Rows of a table, for an estimate of memory.
#[derive(Clone, Copy, Debug)]
pub struct TableRows {
    /// Mean length of a text, in bytes.
    pub text_bytes: f64,
    /// Length of the longest shard on disk, in bytes.
    pub shard_bytes: f64,
}

/// Groups of rows that are read together.
#[derive(Clone, Debug)]
pub(super) struct Share {
    pub(super) groups: Range<usize>,
    /// Bytes of all their columns on disk.
    pub(super) bytes: u64,
    pub(super) rows: u64,
}

/// Collects groups into shares of at least `least_bytes` bytes. Each item of `groups` is the bytes
/// and the rows of one group.
#[cfg(feature = "parquet")]
pub(super) fn shares_of(
    groups: impl ExactSizeIterator<Item = (u64, u64)>,
    least_bytes: u64,
) -> Vec<Share> {
    let count = groups.len();
    let mut shares = Vec::new();
    let mut share = Share { groups: 0..0, bytes: 0, rows: 0 };
    for (group, (bytes, rows)) in groups.enumerate() {
        share.groups.end = group + 1;
        share.bytes = share.bytes.saturating_add(bytes);
        share.rows = share.rows.saturating_add(rows);
        // The last share may be smaller, so that no group is left over.
        if share.bytes >= least_bytes || group + 1 == count {
            let next = Share { groups: group + 1..group + 1, bytes: 0, rows: 0 };
            shares.push(std::mem::replace(&mut share, next));
        }
    }
    shares
}

/// Names of the fields or columns to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<'c> {
    pub(super) text: &'c str,
    pub(super) id: &'c str,
    pub(super) keep: Option<&'c str>,
}

/// A reading of rows.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no table is built in"))]
pub(super) struct TableJob<'j> {
    pub(super) file: &'j File,
    /// The groups to read, or all of them.
    pub(super) groups: Option<Range<usize>>,
    pub(super) columns: Columns<'j>,
    /// Length of the longest text, in bytes.
    pub(super) longest: usize,
    /// Makes an event of damage and of the number of rows that it costs.
    pub(super) to_fault: &'j dyn Fn(Damage, u64) -> Event<'static>,
}

#[cfg(feature = "parquet")]
impl TableJob<'_> {
    /// Makes the event of damage.
    pub(super) fn damage(&self, code: &'static str, detail: String, lost: u64) -> Event<'static> {
        (self.to_fault)(Damage { code, byte: 0, detail }, lost)
    }

    /// Returns whether the first group of the file is read. Damage of the whole file is reported
    /// with that group alone, not again with every share.
    pub(super) fn has_first_group(&self) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.start == 0)
    }
}

/// Runs a function for every number below the first argument, in any order and by several threads.
pub type InParallel<'p> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) + 'p;

/// A copy of a table with some of its rows.
pub struct RowsCopy<'c> {
    /// The new file.
    pub to: &'c Path,
    /// Numbers of the rows that stay, ascending.
    pub kept: &'c [u64],
    /// Number of groups to encode at once: the number of threads.
    pub at_once: usize,
    /// Encodes groups by the threads of the caller.
    pub in_parallel: &'c InParallel<'c>,
}

impl fmt::Debug for RowsCopy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RowsCopy");
        shown.field("to", &self.to).field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}
