//! The input of a search for passages: documents as sequences of words, which can be read several times.

use simtool_base::error::Result;
use std::ops::Range;

/// Callback that receives the position of a document in its shard, from 0, and the words of the document as hashes.
pub type VisitWords<'v> = dyn FnMut(u32, &[u64]) -> Result<()> + 'v;

/// Callback that receives the position of a document in its shard, from 0, and the byte ranges of the words that the
/// caller of [`WordSource::visit_places`] asked for.
pub type VisitPlaces<'v> = dyn FnMut(u32, &[Range<u64>]) -> Result<()> + 'v;

/// Callback that receives the position of a document in its shard, from 0, the words of the document as hashes, and for
/// each of its units the position behind the last word. A unit is, for example, a sentence.
pub type VisitUnits<'v> = dyn FnMut(u32, &[u64], &[u32]) -> Result<()> + 'v;

/// Documents as sequences of words. They can be read several times, and are divided into shards that
/// can be read separately.
///
/// A word is a 64-bit hash. Two words are equal if their hashes are equal.
pub trait WordSource: Sync {
    /// Returns the number of shards.
    fn shard_count(&self) -> usize;

    /// Returns the approximate number of words in all shards. It decides only how often the documents are read, and
    /// never the result.
    fn word_count_hint(&self) -> u64;

    /// Returns the number of bytes of shard number `_shard`, which progress counts after the shard was read.
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

    /// Calls `visit(index, words, ends)` for each document of shard number `shard` for which `is_wanted(index)` is
    /// true, as [`visit_words`](Self::visit_words) does. `ends` has, for each unit of the document, the position behind
    /// its last word, in ascending order. A unit is, for example, a sentence. Each word is in a unit, and each unit has
    /// a word. By default, a document is one unit.
    ///
    /// # Errors
    /// The source cannot be read, or `visit` returns an error, which is then returned.
    fn visit_units(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitUnits<'_>,
    ) -> Result<()> {
        self.visit_words(shard, is_wanted, &mut |index, words| {
            // A document without words has no unit.
            let end = words.len() as u32;
            visit(index, words, if end == 0 { &[] } else { std::slice::from_ref(&end) })
        })
    }

    /// Returns the number of the origin of each document, in reading order. An origin is, for example, a host.
    /// Documents of one origin count as one document. `None` if each document has its own origin. The search calls this
    /// function after all shards have been read once.
    fn origins(&self) -> Option<Vec<u32>> {
        None
    }

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
