//! Finds the passages of a collection that occur more than once.

use super::corpus_terms::approximate_text_bytes;
use super::document_traits::WantedTraits;
use super::excerpts::character_border;
use super::origin::Origin;
use super::shard_summary::{
    CollectionSummary, Compared, ShardSummary, read_again, read_summarized,
};
use simtool_base::error::Result;
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_passages::{
    PassageSearch, Passages, TopText, VisitPlaces, VisitUnits, VisitWords, WordSource,
};
use simtool_read::Corpus;
use simtool_terms::tokenize::text_units::TextUnit;
use simtool_terms::tokenize::unicode_words::{self, UnicodeWords};
use simtool_terms::tokenize::unit_words::{UnitTokens, UnitWords};
use std::ops::Range;
use std::sync::OnceLock;

/// Maximum number of bytes of an excerpt.
const EXCERPT_BYTES: usize = 1000;

/// The passages of a collection that occur more than once, and data about its documents.
#[derive(Debug)]
pub struct FoundPassages {
    /// The passages, in reading order.
    pub passages: Passages,
    /// The beginning of each text that is repeated most (see [`Repetition::top`](simtool_passages::Repetition)).
    pub excerpts: Vec<Vec<u8>>,
    /// Number of words of each document.
    pub word_counts: Vec<u32>,
    /// IDs of all documents, bad records and damaged files.
    pub summary: CollectionSummary,
}

/// Finds all passages of `collection` that occur more than once: any consecutive words, or whole units of text such as
/// sentences. Words are those of the tokenizer `words`: upper and lower case, punctuation and white space do not
/// matter. Documents of one origin count as one.
///
/// ```
/// use simtool::context::Context;
/// use simtool::passages::PassageSearch;
/// use simtool::pipeline::{Origin, find_passages};
/// use simtool::{Texts, tokenize::text_units::TextUnit};
///
/// let texts = ["He said: to be, or not to be!", "„To be or not to be“ is the question."];
/// let context = Context::default();
/// let (search, origin) = (PassageSearch::new(5, &context)?, Origin::Document);
/// let found = find_passages(&Texts::of(&texts), &search, TextUnit::Words, origin)?;
/// let excerpts = found.passages.passages.iter();
/// let excerpts: Vec<&str> = excerpts
///     .map(|passage| {
///         let bytes = passage.bytes.start as usize..passage.bytes.end as usize;
///         &texts[passage.document as usize][bytes]
///     })
///     .collect();
/// assert_eq!(excerpts, ["to be, or not to be", "To be or not to be"]);
/// # Ok::<(), simtool::Error>(())
/// ```
///
/// # Errors
///
/// The collection cannot be read, or the search fails (see [`PassageSearch::find`]).
pub fn find_passages(
    collection: &dyn Corpus,
    search: &PassageSearch<'_>,
    unit: TextUnit,
    origin: Origin,
) -> Result<FoundPassages> {
    let read = (0..collection.shard_count()).map(|_| OnceLock::new()).collect();
    let words = UnitWords::new(UnicodeWords::new(search.context().isa()), unit);
    let memory = search.context().memory();
    let source = CorpusWords { collection, words, origin, memory, read };
    let passages = match unit {
        TextUnit::Words => search.find(&source)?,
        TextUnit::Paragraph | TextUnit::Line | TextUnit::Sentence => {
            search.with_units().find(&source)?
        }
    };
    let excerpts = source.excerpts(&passages.repetition.top, search.context())?;
    let read = source.read.into_iter().filter_map(OnceLock::into_inner);
    let (summaries, word_counts): (Vec<_>, Vec<_>) =
        read.map(|shard| (shard.summary, shard.word_counts)).unzip();
    let summary = CollectionSummary::new(collection, summaries)?;
    Ok(FoundPassages { passages, excerpts, word_counts: word_counts.concat(), summary })
}

/// Source of the words of a collection. The first reading of each shard also collects its summary.
struct CorpusWords<'c> {
    collection: &'c dyn Corpus,
    words: UnitWords,
    origin: Origin,
    memory: &'c Ledger,
    read: Vec<OnceLock<ReadShard>>,
}

/// Data that the first reading of a shard collects.
struct ReadShard {
    summary: ShardSummary,
    /// Number of words of each document.
    word_counts: Vec<u32>,
    _memory: Reservation,
}

impl CorpusWords<'_> {
    /// Reads a shard again, up to the last document that is wanted. Calls `visit` with the position and the text
    /// of each wanted document, until it fails.
    fn read_again(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let count = self.read[shard].get().map_or(0, |read| read.summary.document_count());
        // A file without wanted documents is not opened.
        let Some(last) = (0..count).rev().find(|&index| is_wanted(index)) else { return Ok(()) };
        let mut done = Ok(());
        read_again(self.collection, shard, last + 1, is_wanted, &mut |index, text| {
            if done.is_ok() {
                done = visit(index, text);
            }
        })?;
        done
    }
}

impl CorpusWords<'_> {
    /// Returns the beginnings of texts, by reading their documents again.
    fn excerpts(&self, texts: &[TopText], context: &Context<'_>) -> Result<Vec<Vec<u8>>> {
        // Texts name documents of the whole collection, and shards number their documents from 0.
        let mut firsts = vec![0];
        for read in &self.read {
            let count = read.get().map_or(0, |read| read.summary.document_count());
            firsts.push(firsts[firsts.len() - 1] + count);
        }
        let read = |(): &mut (), shard: usize| {
            let mut found = Vec::new();
            let mut here = (0..).zip(texts).collect::<Vec<(usize, &TopText)>>();
            here.retain(|(_, text)| (firsts[shard]..firsts[shard + 1]).contains(&text.document));
            let of_document = |index: u32| {
                let document = firsts[shard] + index;
                here.iter().filter(move |(_, text)| text.document == document)
            };
            // A shard without such texts is not read again.
            if !here.is_empty() {
                let is_wanted = |index| of_document(index).next().is_some();
                self.read_again(shard, &is_wanted, &mut |index, text| {
                    found
                        .extend(of_document(index).map(|(at, of)| (*at, excerpt(text, &of.bytes))));
                    Ok(())
                })?;
            }
            Ok(found)
        };
        let found = context.threads().try_map(self.read.len(), || Ok(()), read)?;
        // Shards are read in any order, so each excerpt has the number of its text.
        let mut excerpts = vec![Vec::new(); texts.len()];
        for (at, excerpt) in found.into_iter().flatten() {
            excerpts[at] = excerpt;
        }
        Ok(excerpts)
    }
}

/// Returns the beginning of a part of a text.
fn excerpt(text: &[u8], bytes: &Range<u64>) -> Vec<u8> {
    let [start, end] = [bytes.start, bytes.end].map(|at| at.min(text.len() as u64) as usize);
    // Only a text that changed between two readings lacks the part.
    let part = text.get(start..end).unwrap_or_default();
    part[..character_border(part, EXCERPT_BYTES)].to_vec()
}

impl WordSource for CorpusWords<'_> {
    fn shard_count(&self) -> usize {
        self.collection.shard_count()
    }

    fn word_count_hint(&self) -> u64 {
        approximate_text_bytes(self.collection) / unicode_words::KIND.bytes_per_token
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.collection.shard_bytes(shard)
    }

    fn visit_words(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitWords<'_>,
    ) -> Result<()> {
        self.visit_units(shard, is_wanted, &mut |index, words, _| visit(index, words))
    }

    fn visit_units(
        &self,
        shard: usize,
        is_wanted: &dyn Fn(u32) -> bool,
        visit: &mut VisitUnits<'_>,
    ) -> Result<()> {
        let mut found = UnitTokens::default();
        let mut visit_text = |index, text: &[u8]| {
            self.words.tokenize(text, &mut found);
            let words = &found.tokens.hashes;
            visit(index, words, &found.ends).map(|()| words.len() as u32)
        };
        if self.read[shard].get().is_some() {
            return self.read_again(shard, is_wanted, &mut |index, text| {
                visit_text(index, text).map(drop)
            });
        }
        let mut word_counts = Vec::new();
        // The values are the origins of the documents.
        let wanted = WantedTraits { scope: self.origin.scope(), ..WantedTraits::NONE };
        let summary = read_summarized(self.collection, shard, wanted, &mut |index, document| {
            let count = visit_text(index, document.text)?;
            word_counts.push(count);
            Ok(Compared::by_terms(count > 0))
        })?;
        let bytes = summary.bytes() + size_of_val(&word_counts[..]) as u64;
        let memory = self.memory.hold(bytes);
        // Only one thread reads a shard for the first time.
        drop(self.read[shard].set(ReadShard { summary, word_counts, _memory: memory }));
        Ok(())
    }

    fn origins(&self) -> Option<Vec<u32>> {
        // Without a scope, the documents have no values, and each is its own origin.
        self.origin.scope()?;
        let mut numbers = UnorderedMap::default();
        let read = self.read.iter().filter_map(OnceLock::get);
        let values = read.flat_map(|shard| shard.summary.scope_values());
        // Origins are numbered in the order in which documents have them.
        let number = |value: &u64| {
            let next = numbers.len() as u32;
            *numbers.entry(*value).or_insert(next)
        };
        Some(values.map(number).collect())
    }

    fn visit_places<'p>(
        &self,
        shard: usize,
        asked: &dyn Fn(u32) -> &'p [u32],
        visit: &mut VisitPlaces<'_>,
    ) -> Result<()> {
        let mut found = UnitTokens::default();
        let mut places = Vec::new();
        let is_wanted = |index| !asked(index).is_empty();
        self.read_again(shard, &is_wanted, &mut |index, text| {
            places.clear();
            self.words.places(text, asked(index), &mut found, &mut places);
            let bytes = |place: &Range<usize>| place.start as u64..place.end as u64;
            visit(index, &places.iter().map(bytes).collect::<Vec<_>>())
        })
    }
}
