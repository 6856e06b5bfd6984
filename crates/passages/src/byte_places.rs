//! Finds the bytes of words, by reading the documents with these words again.

use crate::place::Place;
use crate::reading::DocumentNumbers;
use crate::word_range::WordRange;
use crate::word_source::WordSource;
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use std::ops::Range;

/// Number of bytes of memory that [`BytePlaces::find`] takes for each word: its place, its position in its document,
/// and two copies of its byte range.
pub(crate) const PLACE_BYTES: usize =
    size_of::<Place>() + size_of::<u32>() + 2 * size_of::<Range<u64>>();

/// Byte ranges of some words of the collection, such as the first and the last word of each passage. They are found by
/// reading the documents again.
#[derive(Debug, Default)]
pub(crate) struct BytePlaces {
    /// Numbers of the documents that contain the words of `words`, in ascending order.
    documents: Vec<u32>,
    /// For each of `documents`, the index in `words` of its first word. The last element is the length of `words`.
    starts: Vec<usize>,
    /// Positions of the words in their documents, in ascending order within each document.
    words: Vec<u32>,
    /// For each of `words`, its byte range in the decoded text of its document.
    bytes: Vec<Range<u64>>,
}

impl BytePlaces {
    /// Finds the byte ranges of the words at `places`, which can be in any order and can repeat.
    ///
    /// # Errors
    /// The source fails, or the work is cancelled.
    pub(crate) fn find(
        mut places: Vec<Place>,
        source: &dyn WordSource,
        numbers: &DocumentNumbers,
        context: &Context<'_>,
    ) -> Result<Self> {
        context.threads().sort_by_key(&mut places, |place| *place);
        // A word can be the end of a passage, of a cut and of a partner.
        places.dedup();
        let mut found = Self { starts: vec![0], ..Self::default() };
        for of_document in places.chunk_by(|a, b| a.document == b.document) {
            found.documents.push(of_document[0].document);
            found.words.extend(of_document.iter().map(|place| place.word));
            found.starts.push(found.words.len());
        }
        drop(places);
        let shards = source.shard_count();
        let bytes = (0..shards).map(|shard| source.shard_bytes(shard)).sum();
        context.progress().begin("find bytes", Work::Bytes(bytes));
        let read = |(): &mut (), shard| {
            context.check_cancelled()?;
            let read = found.read_shard(source, shard, numbers.of_shard(shard))?;
            context.progress().advance(source.shard_bytes(shard));
            Ok(read)
        };
        found.bytes = context.threads().try_map(shards, || Ok(()), read)?.concat();
        Ok(found)
    }

    /// Reads shard number `shard` again, and returns the byte ranges of those elements of `words` that are in its
    /// documents. `documents` are the numbers of the documents of this shard.
    fn read_shard(
        &self,
        source: &dyn WordSource,
        shard: usize,
        documents: Range<u32>,
    ) -> Result<Vec<Range<u64>>> {
        let of_shard = self.words_of(documents.clone());
        let mut bytes = Vec::with_capacity(of_shard.len());
        // A shard without passages is not read.
        if of_shard.is_empty() {
            return Ok(bytes);
        }
        let range = |index| {
            let document = documents.start + index;
            self.words_of(document..document + 1)
        };
        let asked = |index| &self.words[range(index)];
        source.visit_places(shard, &asked, &mut |index, found| {
            let range = range(index);
            // Only a source that changed between two readings skips a document or a word.
            bytes.resize(range.start - of_shard.start, 0..0);
            bytes.extend_from_slice(found);
            bytes.resize(range.end - of_shard.start, 0..0);
            Ok(())
        })?;
        bytes.resize(of_shard.len(), 0..0);
        Ok(bytes)
    }

    /// Returns the range of the indices at which `words` has the words of the documents `documents`.
    fn words_of(&self, documents: Range<u32>) -> Range<usize> {
        let start = self.documents.partition_point(|&document| document < documents.start);
        let count = self.documents[start..].partition_point(|&document| document < documents.end);
        self.starts[start]..self.starts[start + count]
    }

    /// Returns the index in `words` of the word at `place`, which must be one of the places given to [`Self::find`].
    fn index(&self, place: Place) -> usize {
        let at = self.documents.partition_point(|&document| document < place.document);
        let range = self.starts[at]..self.starts.get(at + 1).copied().unwrap_or(self.words.len());
        let within = self.words[range.clone()].partition_point(|&word| word < place.word);
        range.start + within
    }

    /// Returns the bytes from the start of the first word of `range` to the end of its last word. The places of both
    /// words must have been given to [`Self::find`].
    pub(crate) fn bytes(&self, range: &WordRange) -> Range<u64> {
        let [first, last] = range.ends().map(|place| self.bytes.get(self.index(place)).cloned());
        first.unwrap_or_default().start..last.unwrap_or_default().end
    }
}
