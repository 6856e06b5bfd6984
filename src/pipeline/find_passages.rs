//! Finds the passages of a collection that occur more than once.

use super::corpus_terms::approximate_text_bytes;
use super::document_traits::WantedTraits;
use super::excerpts::character_border;
use super::origin::Origin;
use super::parts::{Parts, ShardShare};
use super::shard_summary::{
    CollectionSummary, Compared, ShardSummary, read_again, read_summarized,
};
use super::stored_passages::{store_passages, stored_passages};
use super::watched::Watched;
use simtool_base::error::{Error, Result};
use simtool_base::memory_ledger::{Ledger, Reservation};
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_passages::{
    PassageSearch, Passages, TopText, VisitPlaces, VisitUnits, VisitWords, WordSource,
};
use simtool_read::Corpus;
use simtool_terms::text_rules::{RuledText, TextRules};
use simtool_terms::tokenize::text_units::TextUnit;
use simtool_terms::tokenize::unicode_words::{self, UnicodeWords};
use simtool_terms::tokenize::unit_words::{UnitTokens, UnitWords};
use std::ops::Range;
use std::sync::OnceLock;

/// Maximum number of bytes of an excerpt, which is the beginning of a repeated text.
const EXCERPT_BYTES: usize = 1000;

/// The passages of a collection that occur more than once, and data about its documents.
#[derive(Debug)]
pub struct FoundPassages {
    /// The passages, in reading order.
    pub passages: Passages,
    /// For each of the most repeated texts (see [`Repetition::top`](simtool_passages::Repetition)), its beginning of at
    /// most 1,000 bytes.
    pub excerpts: Vec<Vec<u8>>,
    /// Number of words of each document.
    pub word_counts: Vec<u32>,
    /// Summary of the collection: the IDs of its documents, its bad records, and its damaged files.
    pub summary: CollectionSummary,
}

/// Finds all passages of `collection` that occur more than once: any consecutive words, or whole units of text such as
/// sentences. Words are those of the tokenizer `words`: upper and lower case, punctuation and white space do not
/// matter. Documents of one origin count as one.
///
/// ```
/// use simtool::stages::context::Context;
/// use simtool::stages::passages::PassageSearch;
/// use simtool::pipeline::{Origin, find_passages};
/// use simtool::{Texts, stages::tokenize::text_units::TextUnit};
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
    let settings = WordSettings { unit, origin, rules: TextRules::default() };
    find_in_parts(collection, search, settings, None)
}

/// Number of words of a document, and how many of them are in repeated passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepeatedWords {
    /// Number of words of the document.
    pub words: u32,
    /// Number of its words in passages that are also in another document.
    pub repeated: u32,
}

impl RepeatedWords {
    /// Returns the share of the repeated words, from 0 to 1. `None` if the document has no words.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.words > 0).then(|| f64::from(self.repeated) / f64::from(self.words))
    }
}

/// Returns for each document of `collection` how many of its words are in passages that [`find_passages`] finds by
/// `search`. If there are `rules`, they change each text before its words are found.
///
/// # Errors
///
/// Fails in the same cases as [`find_passages`].
pub fn repeated_words(
    collection: &dyn Corpus,
    search: &PassageSearch<'_>,
    rules: Option<&TextRules>,
) -> Result<Vec<RepeatedWords>> {
    let (unit, origin) = (TextUnit::Words, Origin::Document);
    let settings = WordSettings { unit, origin, rules: rules.cloned().unwrap_or_default() };
    let source = CorpusWords::new(collection, settings, search.context());
    let passages = search.find(&source)?.passages;
    // Shards were read in any order, but are listed in reading order.
    let counts = source.read.iter().filter_map(OnceLock::get).flat_map(|read| &read.word_counts);
    let mut all: Vec<RepeatedWords> =
        counts.map(|&words| RepeatedWords { words, repeated: 0 }).collect();
    // Passages of a document do not overlap, so each word counts once.
    for passage in passages {
        all[passage.document as usize].repeated += passage.words.len() as u32;
    }
    Ok(all)
}

/// Settings for the words of documents in a search for passages.
#[derive(Clone, Debug)]
pub(crate) struct WordSettings {
    /// Unit of text that is repeated: any consecutive words, or whole units such as sentences.
    pub(crate) unit: TextUnit,
    /// Origin of a document, such as its host. All documents of one origin count as one document.
    pub(crate) origin: Origin,
    /// Rules that change each text before its words are found. If byte ranges of passages are wanted, the rules must
    /// not move the bytes of words.
    pub(crate) rules: TextRules,
}

/// Finds passages like [`find_passages`]. `parts` has the stored data of shards. If it is given, first stores there the
/// words of the documents of missing shards, and then uses the stored words instead of reading shards again.
///
/// # Errors
///
/// Fails in the same cases as [`find_passages`], and if a shard cannot be stored.
pub(crate) fn find_in_parts(
    collection: &dyn Corpus,
    search: &PassageSearch<'_>,
    settings: WordSettings,
    parts: Option<&Parts<'_>>,
) -> Result<FoundPassages> {
    let context = search.context();
    if let Some(parts) = parts {
        store_words(collection, settings.clone(), parts, None, context)?;
    }
    let unit = settings.unit;
    let source = CorpusWords { parts, ..CorpusWords::new(collection, settings, context) };
    let passages = if let Some(passages) = source.stored_passages()? {
        passages
    } else {
        let passages = match unit {
            TextUnit::Words => search.find(&source)?,
            TextUnit::Paragraph | TextUnit::Line | TextUnit::Sentence => {
                search.with_units().find(&source)?
            }
        };
        source.store_passages(&passages)?;
        passages
    };
    let excerpts = source.excerpts(&passages.repetition.top, search.context())?;
    let read = source.read.into_iter().filter_map(OnceLock::into_inner);
    let (summaries, word_counts): (Vec<_>, Vec<_>) =
        read.map(|shard| (shard.summary, shard.word_counts)).unzip();
    let summary = CollectionSummary::new(collection, summaries)?;
    Ok(FoundPassages { passages, excerpts, word_counts: word_counts.concat(), summary })
}

/// Stores the words of documents in `parts`, for each shard that is missing there. If `share` is given, only the shards
/// of this share of the collection are stored.
///
/// # Errors
///
/// A shard cannot be read or stored, or the work is cancelled.
pub(crate) fn store_words(
    collection: &dyn Corpus,
    settings: WordSettings,
    parts: &Parts<'_>,
    share: Option<ShardShare>,
    context: &Context<'_>,
) -> Result<()> {
    // The search reports its own progress, but storing comes before it.
    let watched = &Watched { corpus: collection, progress: context.progress() };
    let source = CorpusWords::new(watched, settings, context);
    parts.fill(share, context, &|shard, store| {
        let mut row = Vec::new();
        let read = source.read_first(shard, &mut |_, words, ends| {
            store_units(words, ends, &mut row);
            store.push(&row);
            Ok(())
        });
        read.map(|read| read.summary)
    })
}

/// Makes the row that is stored for a document, and replaces `row` by it: the hashes of the document's words, the ends
/// of its units, and the number of its words.
fn store_units(words: &[u64], ends: &[u32], row: &mut Vec<u64>) {
    row.clear();
    row.extend_from_slice(words);
    row.extend(ends.iter().copied().map(u64::from));
    row.push(words.len() as u64);
}

/// Splits a row of [`store_units`] into the hashes of words and the ends of units. Returns `None` if the row has
/// another form, because another program has made it.
fn stored_units(row: &[u64]) -> Option<(&[u64], Vec<u32>)> {
    let (&count, numbers) = row.split_last()?;
    let (words, ends) = numbers.split_at_checked(usize::try_from(count).ok()?)?;
    let ends = ends.iter().map(|&end| end.try_into().ok()).collect::<Option<_>>()?;
    Some((words, ends))
}

/// Source of the words of a collection. The first reading of each shard also collects its summary.
struct CorpusWords<'c> {
    collection: &'c dyn Corpus,
    words: UnitWords,
    origin: Origin,
    rules: TextRules,
    memory: &'c Ledger,
    /// Stored words of shards. The files of these shards are not read. `None` if the run stores nothing.
    parts: Option<&'c Parts<'c>>,
    read: Vec<OnceLock<ReadShard>>,
}

/// Data that is collected when a shard (a part of the collection) is read for the first time.
struct ReadShard {
    summary: ShardSummary,
    /// Number of words of each document.
    word_counts: Vec<u32>,
    _memory: Reservation,
}

impl<'c> CorpusWords<'c> {
    fn new(collection: &'c dyn Corpus, settings: WordSettings, context: &'c Context<'_>) -> Self {
        let WordSettings { unit, origin, rules } = settings;
        let words = UnitWords::new(UnicodeWords::new(context.isa()), unit);
        let read = (0..collection.shard_count()).map(|_| OnceLock::new()).collect();
        Self { collection, words, origin, rules, memory: context.memory(), parts: None, read }
    }

    /// Creates the data of a shard that was read, and counts its bytes against the memory limit.
    fn counted(&self, summary: ShardSummary, word_counts: Vec<u32>) -> ReadShard {
        let bytes = summary.bytes() + size_of_val(&word_counts[..]) as u64;
        ReadShard { summary, word_counts, _memory: self.memory.hold(bytes) }
    }

    /// Reads a shard for the first time, and calls `visit` with the words of each document.
    fn read_first(&self, shard: usize, visit: &mut VisitUnits<'_>) -> Result<ReadShard> {
        let (mut found, mut ruled) = (UnitTokens::default(), RuledText::default());
        let mut word_counts = Vec::new();
        // The values are the origins of the documents.
        let wanted = WantedTraits { scope: self.origin.scope(), ..WantedTraits::NONE };
        let summary = read_summarized(self.collection, shard, wanted, &mut |index, document| {
            self.words.tokenize(self.rules.apply(document.text, &mut ruled), &mut found);
            let words = &found.tokens.hashes;
            visit(index, words, &found.ends)?;
            word_counts.push(words.len() as u32);
            Ok(Compared::by_terms(!words.is_empty()))
        })?;
        Ok(self.counted(summary, word_counts))
    }

    /// Stores the passages for a later run, if the run stores what it reads.
    fn store_passages(&self, passages: &Passages) -> Result<()> {
        let Some(parts) = self.parts else { return Ok(()) };
        let read = self.read.iter().filter_map(OnceLock::get);
        let word_counts: Vec<u32> = read.flat_map(|read| &read.word_counts).copied().collect();
        store_passages(parts, passages, &word_counts)
    }

    /// Returns the passages that an earlier run has stored, and sets the data of all shards, so that their words need
    /// not be read. Returns `None` if the passages must be found.
    fn stored_passages(&self) -> Result<Option<Passages>> {
        let Some(parts) = self.parts else { return Ok(None) };
        let Some((passages, word_counts)) = stored_passages(parts, self.memory)? else {
            return Ok(None);
        };
        let Some(summaries) = parts.summaries()? else { return Ok(None) };
        let documents: usize = summaries.iter().map(|shard| shard.document_count() as usize).sum();
        // Both were stored for the same shards, so this is only a safeguard.
        if documents != word_counts.len() {
            return Ok(None);
        }
        let mut rest = &word_counts[..];
        for (read, summary) in self.read.iter().zip(summaries) {
            let (counts, others) = rest.split_at(summary.document_count() as usize);
            rest = others;
            drop(read.set(self.counted(summary, counts.to_vec())));
        }
        Ok(Some(passages))
    }

    /// Calls `visit` with the words of each document of a shard that is stored. Returns `None` if the shard must be
    /// read.
    fn read_stored(&self, shard: usize, visit: &mut VisitUnits<'_>) -> Result<Option<ReadShard>> {
        let Some(parts) = self.parts else { return Ok(None) };
        let Some(summary) = parts.summary(shard)? else { return Ok(None) };
        let mut word_counts = Vec::new();
        visit_stored(parts, shard, &|_| true, &mut |index, words, ends| {
            word_counts.push(words.len() as u32);
            visit(index, words, ends)
        })?;
        Ok(Some(self.counted(summary, word_counts)))
    }

    /// Reads a shard again, up to the last document that is wanted. Calls `visit` with the index in the shard and the
    /// text of each wanted document, until `visit` fails.
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
    /// Returns the beginning of each repeated text in `texts`. Reads the documents in which these texts are again.
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

/// Returns the beginning of the byte range `bytes` of a text. The result has at most [`EXCERPT_BYTES`] bytes and does
/// not end inside a character.
fn excerpt(text: &[u8], bytes: &Range<u64>) -> Vec<u8> {
    let [start, end] = [bytes.start, bytes.end].map(|at| at.min(text.len() as u64) as usize);
    // Only a text that changed between two readings lacks the part.
    let part = text.get(start..end).unwrap_or_default();
    part[..character_border(part, EXCERPT_BYTES)].to_vec()
}

/// Calls `visit` with the index and the stored words of each document of a shard for which `is_wanted` returns true.
fn visit_stored(
    parts: &Parts<'_>,
    shard: usize,
    is_wanted: &dyn Fn(u32) -> bool,
    visit: &mut VisitUnits<'_>,
) -> Result<()> {
    parts.visit(shard, is_wanted, &mut |index, row| {
        let Some((words, ends)) = stored_units(row) else {
            let rule = "are not those of this program: remove the folder of parts";
            return Err(Error::limit("the stored words of a document", rule));
        };
        visit(index, words, &ends)
    })
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
        if self.read[shard].get().is_some() {
            if let Some(parts) = self.parts.filter(|parts| parts.has(shard)) {
                return visit_stored(parts, shard, is_wanted, visit);
            }
            let (mut found, mut ruled) = (UnitTokens::default(), RuledText::default());
            return self.read_again(shard, is_wanted, &mut |index, text| {
                self.words.tokenize(self.rules.apply(text, &mut ruled), &mut found);
                visit(index, &found.tokens.hashes, &found.ends)
            });
        }
        // A damaged shard is read from its file.
        let read = match self.read_stored(shard, visit)? {
            Some(read) => read,
            None => self.read_first(shard, visit)?,
        };
        // Only one thread reads a shard for the first time.
        drop(self.read[shard].set(read));
        Ok(())
    }

    fn origins(&self) -> Option<Vec<u32>> {
        // Without a scope, the documents have no values, and each is its own origin.
        self.origin.scope()?;
        let mut numbers = UnorderedMap::default();
        let read = self.read.iter().filter_map(OnceLock::get);
        let values = read.flat_map(|shard| shard.summary.traits().scope_values());
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
        let (mut found, mut ruled) = (UnitTokens::default(), RuledText::default());
        let mut places = Vec::new();
        let is_wanted = |index| !asked(index).is_empty();
        self.read_again(shard, &is_wanted, &mut |index, text| {
            places.clear();
            let text = self.rules.apply(text, &mut ruled);
            self.words.places(text, asked(index), &mut found, &mut places);
            let bytes = |place: &Range<usize>| place.start as u64..place.end as u64;
            visit(index, &places.iter().map(bytes).collect::<Vec<_>>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_words_has_no_share_of_repeated_words() {
        let share = |repeated, words| RepeatedWords { words, repeated }.share();
        assert_eq!([share(1, 4), share(0, 4), share(0, 0)], [Some(0.25), Some(0.0), None]);
    }
}
