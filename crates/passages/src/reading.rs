//! One reading of all documents by several threads, and the numbers of the documents.

use crate::origins::Origins;
use crate::word_source::WordSource;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use std::sync::atomic::{AtomicU32, Ordering};

/// For each document of a shard, in order: its temporary number, and the number of its words. A temporary number is
/// given out while several threads read.
type ShardDocuments = Vec<(u32, u32)>;

/// Numbers of all documents in reading order.
///
/// While a thread reads a shard, it is not known how many documents come before the shard. So a document gets a
/// temporary number first, which is the next unused number. After the reading, the temporary numbers are replaced.
#[derive(Debug, Default)]
pub(crate) struct DocumentNumbers {
    /// Number of the first document of each shard, followed by the number of all documents.
    starts: Vec<u32>,
    /// For each temporary number, the number of the document in reading order.
    of_temporary: Vec<u32>,
    /// Number of words of each document.
    lengths: Vec<u32>,
    /// Origin of each document.
    origins: Origins,
}

impl DocumentNumbers {
    /// Returns the number of documents.
    pub(crate) fn count(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the number in reading order of the document with the temporary number `temporary`.
    #[inline]
    pub(crate) fn number(&self, temporary: u32) -> u32 {
        self.of_temporary[temporary as usize]
    }

    /// Returns the number of words of a document.
    pub(crate) fn length(&self, document: u32) -> u32 {
        self.lengths[document as usize]
    }

    /// Returns the origins of the documents.
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }

    /// Returns the number of words of all documents.
    pub(crate) fn words(&self) -> u64 {
        self.lengths.iter().map(|&length| u64::from(length)).sum()
    }

    /// Returns the number of bytes of memory that the numbers and origins take.
    pub(crate) fn bytes(&self) -> u64 {
        let numbers = self.starts.len() + self.of_temporary.len() + self.lengths.len();
        4 * numbers as u64 + self.origins.bytes()
    }

    /// Returns the range of the numbers of the documents of shard number `shard`.
    pub(crate) fn of_shard(&self, shard: usize) -> std::ops::Range<u32> {
        self.starts[shard]..self.starts[shard + 1]
    }

    /// Frees the memory of the table from temporary numbers to numbers in reading order. Callers do this after they
    /// have replaced all temporary numbers. [`Self::number`] must not be called afterwards.
    pub(crate) fn drop_temporary(&mut self) {
        self.of_temporary = Vec::new();
    }

    /// Numbers the documents of all shards in reading order. `shards` has the temporary numbers of their documents.
    fn new(shards: Vec<ShardDocuments>, origins: Origins) -> Self {
        let mut numbers = Self { starts: vec![0], origins, ..Self::default() };
        let count = shards.iter().map(Vec::len).sum();
        numbers.of_temporary.resize(count, 0);
        let mut next = 0;
        for shard in shards {
            for (temporary, words) in shard {
                numbers.lengths.push(words);
                numbers.of_temporary[temporary as usize] = next;
                next += 1;
            }
            numbers.starts.push(next);
        }
        numbers
    }
}

/// Parts into which the source divides the words of a document while it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// The document is not divided.
    None,
    /// Units of the source, such as sentences.
    Units,
}

/// Reads all documents of all shards, with the threads of `context`. Calls `visit` with four arguments: the state of
/// the thread, the temporary number of the document, its words, and for each of its units the position behind the last
/// word. Without units, the last list is empty. Returns the states of the threads and the numbers of the documents.
///
/// # Errors
/// The source or `visit` fails, the work is cancelled, or there are too many documents.
pub(crate) fn read_all<S: Send>(
    source: &dyn WordSource,
    context: &Context<'_>,
    division: Division,
    state: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, u32, &[u64], &[u32]) -> Result<()> + Sync,
) -> Result<(Vec<S>, DocumentNumbers)> {
    let shards = source.shard_count();
    let bytes = (0..shards).map(|shard| source.shard_bytes(shard)).sum();
    context.progress().begin("read words", Work::Bytes(bytes));
    let next = AtomicU32::new(0);
    let read = |(state, read): &mut (S, Vec<(usize, ShardDocuments)>), shard| {
        context.check_cancelled()?;
        let mut documents = Vec::new();
        let mut visit_next = |words: &[u64], ends: &[u32]| {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The last numbers are never given out, so that no place equals a place that means none.
            let Some(length) = u32::try_from(words.len()).ok().filter(|_| number < u32::MAX - 1)
            else {
                return Err(too_many());
            };
            documents.push((number, length));
            visit(state, number, words, ends)
        };
        let all = |_| true;
        // Only a search for units needs their ends, so other searches do not divide the text.
        match division {
            Division::None => {
                source.visit_words(shard, &all, &mut |_, words| visit_next(words, &[]))?;
            }
            Division::Units => {
                source.visit_units(shard, &all, &mut |_, words, ends| visit_next(words, ends))?;
            }
        }
        read.push((shard, documents));
        context.progress().advance(source.shard_bytes(shard));
        Ok(())
    };
    let done = context.threads().try_fold(shards, || Ok((state(), Vec::new())), read)?;
    let (states, read): (Vec<S>, Vec<_>) = done.into_iter().unzip();
    let mut read = read.concat();
    // Shards are numbered in reading order, so their documents are, too.
    read.sort_unstable_by_key(|&(shard, _)| shard);
    let shards = read.into_iter().map(|(_, documents)| documents).collect();
    // The source knows the origins of all documents only now.
    Ok((states, DocumentNumbers::new(shards, Origins::new(source.origins()))))
}

/// Returns the error for a collection that is too large for 32-bit numbers.
fn too_many() -> Error {
    let rule = "a search for passages numbers documents, and the words of each, with 32 bits. Search \
                the parts of the collection separately";
    Error::limit("the number of documents, or of words in a document", rule)
}
