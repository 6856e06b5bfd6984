//! The input of a search for passages: documents as sequences of words, which can be read several times.

use simtool_base::error::Result;
use std::ops::Range;

/// Receives the position of a document in its shard, and the words of the document.
pub type VisitWords<'v> = dyn FnMut(u32, &[u64]) -> Result<()> + 'v;

/// Receives the position of a document in its shard, and byte ranges of some of its words.
pub type VisitPlaces<'v> = dyn FnMut(u32, &[Range<u64>]) -> Result<()> + 'v;

/// Documents as sequences of words. They can be read several times, and are divided into shards that
/// can be read separately.
///
/// A word is a 64-bit hash. Two words are equal if their hashes are equal.
pub trait WordSource: Sync {
    /// Returns the number of shards.
    fn shard_count(&self) -> usize;

    /// Returns the approximate number of words in all shards. Only the number of readings depends on
    /// it, never the result.
    fn word_count_hint(&self) -> u64;

    /// Returns the number of bytes that are reported to progress after shard number `_shard` was read.
    fn shard_bytes(&self, _shard: usize) -> u64 {
        0
    }

    /// Calls `visit(index, words)` for each document of shard number `shard` for which `is_wanted(index)`
    /// is true, in order. `index` is the position of the document in the shard, from 0. The words must be
    /// the same at every reading.
    ///
    /// The first reading wants every document, even documents without words, because each document gets
    /// a number.
    ///
    /// # Errors
    /// The source cannot be read, or `visit` returns an error, which is then returned.
    fn visit_words(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitWords<'_>,
    ) -> Result<()>;

    /// Calls `visit(index, places)` for each document of shard number `shard` for which
    /// `asked(index)` is not empty, in order. `asked` returns positions of words in ascending order, from
    /// 0. `places` has one byte range for each of these words, in the same order.
    ///
    /// # Errors
    /// The source cannot be read, or `visit` returns an error, which is then returned.
    fn visit_places<'p>(
        &self,
        shard: usize,
        asked: &dyn Fn(u32) -> &'p [u32],
        visit: &mut VisitPlaces<'_>,
    ) -> Result<()>;
}
