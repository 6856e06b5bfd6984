//! The trait by which computations read records from any source.

use crate::documents::Collection;
use crate::formats::{Price, Visit};
use simtool_base::error::Result;
use std::fmt::Debug;
use std::path::Path;
#[cfg(doc)]
use {crate::documents::Texts, crate::formats::Event};

/// A collection of records, divided into shards. A shard can be read without the other shards, by
/// any thread.
///
/// [`Collection`] reads records from files, and [`Texts`] borrows texts in memory. Computations
/// accept any corpus. Code that needs files, for example to write copies of them, gets them from
/// [`Corpus::as_files`].
pub trait Corpus: Debug + Sync {
    /// Returns the number of files. Files are numbered from 0 in reading order. A corpus in memory
    /// counts as one file without a name.
    fn file_count(&self) -> usize;

    /// Returns the path of a file as the user named it. The path is empty if the file has no name.
    fn file_name(&self, file: usize) -> &Path;

    /// Returns the number of shards. Shards are numbered from 0 in reading order.
    fn shard_count(&self) -> usize;

    /// Returns the index of the file that a shard is a part of.
    fn shard_file(&self, shard: usize) -> usize;

    /// Returns the length of the shard in bytes, on disk or in memory. The length is used to divide
    /// the work and to show progress.
    fn shard_bytes(&self, shard: usize) -> u64;

    /// Returns the number of bytes of all shards.
    fn bytes(&self) -> u64 {
        (0..self.shard_count()).map(|shard| self.shard_bytes(shard)).sum()
    }

    /// Returns the number of records of the shard, or `None` if the shard must be read to count
    /// them.
    fn known_records(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Estimates the decompressed length of a shard in bytes. Returns `None` if the length cannot be estimated without
    /// decompressing the file.
    fn content_bytes(&self, _shard: usize) -> Option<u64> {
        None
    }

    /// Returns the cost of reading the shard again. The cost may be a guess until the file was read.
    fn price(&self, shard: usize) -> Price;

    /// Passes the events of the shard to `visit` in order. Returns the number of records in the shard. Bytes between
    /// the records, such as a header row, are not counted. If `visit` stops the reading, returns the number of records
    /// that `visit` got. Every reading of a shard has the same events, including faults.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns, or [`ErrorKind::Changed`] if an earlier reading of the shard had other
    /// events. Other faults of the input are events, not errors.
    ///
    /// [`ErrorKind::Changed`]: simtool_base::error::ErrorKind::Changed
    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64>;

    /// Passes the events of the shard to `visit`, from the first record that is found after offset `byte`. The bytes
    /// before that offset are not read. `byte` is counted like [`Corpus::shard_bytes`]. The first event is
    /// [`Event::Reached`] with the approximate start of that record. Faults are not reported.
    ///
    /// Returns `false`, and passes no event, if no record is found, or if the format does not allow reading to start in
    /// the middle of a file.
    ///
    /// # Errors
    ///
    /// The first error that `visit` returns.
    fn read_shard_behind(&self, _shard: usize, _byte: u64, _visit: &mut Visit<'_>) -> Result<bool> {
        Ok(false)
    }

    /// Returns the corpus as a collection of files, or `None` if its records are not in files.
    fn as_files(&self) -> Option<&Collection> {
        None
    }
}
