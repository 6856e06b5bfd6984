//! The interface and the common code of formats whose files are tables: Parquet and Arrow.
//!
//! A table is read in **groups** of rows, which its file stores together: the row groups of
//! Parquet, and the record batches of Arrow. A shard is one group, or several small ones.

#[cfg(feature = "parquet")]
pub(crate) mod columns;
#[cfg(feature = "parquet")]
pub(crate) mod copying;
#[cfg(feature = "parquet")]
pub(crate) mod documents;
#[cfg(feature = "parquet")]
pub(crate) mod editing;
#[cfg(feature = "parquet")]
pub(crate) mod named_columns;
#[cfg(feature = "parquet")]
pub(crate) mod numbers;
#[cfg(feature = "parquet")]
pub(crate) mod selected;
#[cfg(feature = "parquet")]
pub(crate) mod value;

use crate::bytes::{Damage, Expansion};
use crate::formats::{AddedFields, Event, RecordMemory, Selector, Visit};
use crate::source::{OpenSource, Source};
use simtool_base::error::Result;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A format whose files are tables.
pub(crate) trait TableFormat: fmt::Debug + Sync {
    /// Divides the file into shares of at least `bytes` bytes on disk. A share consists of consecutive groups of rows,
    /// and one thread reads it independently of the other shares. Returns `None` if the file cannot be read.
    fn shares(&self, source: &Arc<dyn OpenSource>, bytes: u64) -> Option<Vec<TableShare>>;

    /// Returns the names of all columns, with dotted paths such as `meta.id` for nested columns.
    /// Returns an empty list if the file cannot be read.
    fn column_names(&self, source: &Arc<dyn OpenSource>) -> Vec<String>;

    /// Visits the rows of the groups in `job.groups` as records. Returns the number of rows that
    /// the file declares for these groups. If `visit` stopped the reading, returns the number of
    /// visited rows instead.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns.
    fn read(&self, job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64>;

    /// Returns whether the texts that `text` selects can be edited in a copy of the file.
    fn edits_texts(&self, source: &Arc<dyn OpenSource>, text: &Selector) -> bool;

    /// Writes a copy of the table `from` with the rows that `copy` keeps. The copy has all columns,
    /// types and metadata of `from`. `text` selects the column with the texts.
    ///
    /// # Errors
    ///
    /// The copy cannot be written, or `from` cannot be read.
    fn copy_rows(&self, from: &dyn Source, copy: &RowsCopy<'_>, text: &Selector) -> Result<()>;

    /// Estimates the memory in bytes that a reader of a table takes in addition to its longest text.
    fn reader_bytes(&self, rows: TableRows) -> f64;
}

/// Sizes from which the memory for reading a table is estimated.
#[derive(Clone, Copy, Debug)]
pub struct TableRows {
    /// Mean number of bytes of the text of a row.
    pub text_bytes: f64,
    /// Number of bytes on disk of the largest shard of the table. A shard is a range of rows that one thread reads.
    pub shard_bytes: f64,
}

/// Consecutive groups of rows of a table that make up one shard.
#[derive(Clone, Debug)]
pub(crate) struct TableShare {
    pub(crate) groups: Range<usize>,
    /// Number of bytes on disk of all columns of these groups.
    pub(crate) bytes: u64,
    pub(crate) rows: u64,
}

/// Joins consecutive groups of rows into shares of at least `least_bytes` bytes on disk. Only the last share may be
/// smaller. `groups` has the number of bytes and the number of rows of each group.
#[cfg(feature = "parquet")]
pub(crate) fn shares_of(
    groups: impl ExactSizeIterator<Item = (u64, u64)>,
    least_bytes: u64,
) -> Vec<TableShare> {
    let count = groups.len();
    let mut shares = Vec::new();
    let mut share = TableShare { groups: 0..0, bytes: 0, rows: 0 };
    for (group, (bytes, rows)) in groups.enumerate() {
        share.groups.end = group + 1;
        share.bytes = share.bytes.saturating_add(bytes);
        share.rows = share.rows.saturating_add(rows);
        // The last share may be smaller, so that no group is left over.
        if share.bytes >= least_bytes || group + 1 == count {
            let next = TableShare { groups: group + 1..group + 1, bytes: 0, rows: 0 };
            shares.push(std::mem::replace(&mut share, next));
        }
    }
    shares
}

/// Selectors of the text, of the ID, and of at most
/// [`MOST_FIELDS`](simtool_model::document::MOST_FIELDS) other fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns<'c> {
    pub(crate) text: &'c Selector,
    pub(crate) id: &'c Selector,
    pub(crate) fields: &'c [Selector],
}

/// Instructions for reading some groups of rows of one table.
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no table is compiled in"))]
pub(crate) struct TableJob<'j> {
    pub(crate) source: &'j Arc<dyn OpenSource>,
    /// Indexes of the groups of rows to read. `None` means all groups.
    pub(crate) groups: Option<Range<usize>>,
    pub(crate) columns: Columns<'j>,
    /// Length of the longest allowed text, in bytes.
    pub(crate) longest: usize,
    /// Limit on the decompressed bytes of the columns and texts that are read, for each compressed byte. Only Parquet
    /// files need it.
    pub(crate) expansion: Expansion,
    /// Function that creates the event that reports damage. Its second argument is the number of
    /// lost rows.
    pub(crate) to_fault: &'j dyn Fn(Damage, u64) -> Event<'static>,
    pub(crate) memory: RecordMemory<'j>,
}

#[cfg(feature = "parquet")]
impl TableJob<'_> {
    /// Creates the event that reports damage. `code` and `detail` describe the damage, and `lost` is the number of rows
    /// that were lost because of it.
    pub(crate) fn damage(&self, code: &'static str, detail: String, lost: u64) -> Event<'static> {
        (self.to_fault)(Damage { code, byte: 0, detail }, lost)
    }

    /// Returns whether the job includes the first group of the file. Damage of the whole file is reported only by this
    /// job. Otherwise the jobs of all shares would report it again.
    pub(crate) fn has_first_group(&self) -> bool {
        self.groups.as_ref().is_none_or(|groups| groups.start == 0)
    }
}

/// Function that runs several tasks on several threads. Its first argument is the number of tasks. It calls its second
/// argument once for each task with the index of the task, from 0, in any order.
pub type InParallel<'p> = dyn Fn(usize, &(dyn Fn(usize) + Sync)) + 'p;

/// Function that edits the text of a row. Its arguments are the index of the row in the table and the text. Returns the
/// edited text, or `None` if the text stays as it is.
pub type EditRow<'e> = dyn Fn(u64, &[u8]) -> Option<Vec<u8>> + Sync + 'e;

/// Description of a copy of a table: the path of the copy, the rows to keep, and the threads that
/// do the work.
pub struct RowsCopy<'c> {
    /// Path of the copy, which must not exist yet.
    pub to: &'c Path,
    /// Indexes of the rows to keep, in ascending order.
    pub kept: &'c [u64],
    /// Function that edits the texts of rows. It needs a table whose texts can be edited, see
    /// [`Collection::edits_rows`](crate::Collection::edits_rows). `None` leaves all texts as they are.
    pub edit: Option<&'c EditRow<'c>>,
    /// Columns that the copy has after the columns of the table. Their values are requested by the index of a row in
    /// the table.
    pub added: Option<AddedFields<'c, u64>>,
    /// Number of groups of rows that are encoded at the same time. This is usually the number of
    /// threads.
    pub at_once: usize,
    /// Function that runs tasks on the threads of the caller. The copy uses it to encode several groups at the same
    /// time.
    pub in_parallel: &'c InParallel<'c>,
}

impl fmt::Debug for RowsCopy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RowsCopy");
        shown.field("to", &self.to).field("kept", &self.kept.len()).finish_non_exhaustive()
    }
}
