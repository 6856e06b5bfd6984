//! Learns from a collection the words or the document frequencies that its terms need.

use super::document_terms::{DocumentTerms, TermScratch};
use super::fitted::Fitted;
use super::terms::Terms;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_base::work_cost::WorkCost;
use simtool_compute::context::Context;
use simtool_compute::threads::Threads;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::document::{Content, Document};
use simtool_read::{Corpus, Event};
use simtool_terms::extract::frequencies::{
    self, CountedTerm, Frequencies, FrequencyCounter, TermRange,
};
use simtool_terms::extract::vocabulary::{self, NumberRanks, Vocabulary};
use simtool_terms::extract::word_counter::{MOST_PLACES, WordCounter};
use simtool_terms::token_batch::TokenBatch;
use simtool_terms::tokenize::ascii_letters::AsciiLetters;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of times that the input is read to count terms. If the memory is so small that the input
/// would have to be read more often, learning fails.
const MOST_READINGS: u64 = 32;

/// Cost of learning and using the weight of one term of a set, if terms are shingles of words. It was
/// measured with both threads of a 2-core AMD EPYC in November 2026.
const WEIGHED_TERM_COST: WorkCost = WorkCost { seconds: 150e-9, bytes: 40.0 };

impl Terms {
    /// Estimates the time and memory for learning and using the weights of terms, without the time for reading texts.
    /// `terms` is the number of terms in all sets together. The cost is zero if these terms need no learning.
    pub(crate) fn weighing_cost(&self, terms: f64) -> WorkCost {
        let weighed = if self.is_learned() { terms } else { 0.0 };
        WEIGHED_TERM_COST.times(weighed)
    }
}

impl Fitted {
    /// Learns from `corpus` the words or document frequencies that `terms` need. The corpus is read once if there is
    /// enough memory, and otherwise several times. It is not read if `terms` need nothing.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read, or there is too little memory.
    pub(crate) fn learn(terms: &Terms, corpus: &dyn Corpus, context: &Context<'_>) -> Result<Self> {
        Ok(match terms {
            Terms::MostFrequent { count, stop_words } => {
                let words = words(*count, stop_words, corpus, context)?;
                Self::Words(Arc::new(words))
            }
            Terms::Shingles { weighting, .. } if weighting.is_learned() => {
                let frequencies = frequencies(terms, corpus, context)?;
                let terms = terms.sets_recipe();
                Self::Frequencies { terms, frequencies: Arc::new(frequencies) }
            }
            Terms::Shingles { .. } => Self::Nothing,
        })
    }
}

/// Learns the `count` most frequent words of `corpus`, except stop words. Reads the corpus once.
fn words(
    count: usize,
    stop_words: &[Vec<u8>],
    corpus: &dyn Corpus,
    context: &Context<'_>,
) -> Result<Vocabulary> {
    let threads = context.threads();
    context.progress().begin("counting words", Work::Bytes(corpus.bytes()));
    // Each thread reads about the same number of bytes, and its table gets the right size from the start.
    let bytes = usize::try_from(corpus.bytes()).unwrap_or(usize::MAX) / threads.count();
    let tokenizer = AsciiLetters::new(context.isa());
    let start = || CountedWords::new(bytes, stop_words);
    let states = read_texts(corpus, threads, start, |words, found| {
        words.add(found.document.text, tokenizer);
    })?;
    let counters: Vec<_> = states.into_iter().map(|words| words.counter).collect();
    Ok(most_frequent(threads, &counters, count).0)
}

/// Counter of the occurrences of each word in the documents that one thread reads.
pub(super) struct CountedWords {
    pub(super) counter: WordCounter,
    batch: TokenBatch,
    /// Buffer for the word numbers that `counter` writes. Only the counts are needed here, so the numbers are
    /// never read.
    written: Vec<u16>,
}

impl CountedWords {
    /// Creates a counter with enough memory for the words of about `bytes` bytes of text. `stop_words` are
    /// not counted.
    pub(super) fn new(bytes: usize, stop_words: &[Vec<u8>]) -> Self {
        let (batch, written) = Default::default();
        Self { counter: WordCounter::new(bytes, stop_words), batch, written }
    }

    pub(super) fn add(&mut self, text: &[u8], tokenizer: AsciiLetters) {
        let Self { counter, batch, written } = self;
        tokenizer.tokenize(text, batch, |piece, batch| {
            // Words are separated, so there is at most one for every two bytes.
            let room = (piece.len() / 2 + 2) * MOST_PLACES;
            written.resize(written.len().max(room), 0);
            counter.count(piece, batch, written, 0);
        });
    }
}

/// Counter of document frequencies in the documents that one thread reads. The document frequency of a term
/// is the number of documents that contain it.
pub(super) struct CountedTerms {
    pub(super) counter: FrequencyCounter,
    scratch: TermScratch,
    distinct: DistinctTerms,
}

impl CountedTerms {
    /// Creates a counter for the terms whose hashes are in `range`. If `memory` bytes are too few for all
    /// these terms, the counter counts only the terms with the smallest hashes.
    pub(super) fn new(range: TermRange, memory: u64) -> Self {
        let (scratch, distinct) = Default::default();
        Self { counter: FrequencyCounter::new(range, memory), scratch, distinct }
    }

    /// Counts the terms of one document, which `find` returns. Sets the bits of `marks` in the marks of each of these
    /// terms, so that a term has the bits of all its documents.
    pub(super) fn add(
        &mut self,
        marks: u32,
        find: impl for<'s> FnOnce(&'s mut TermScratch) -> &'s mut Vec<u64>,
    ) {
        let terms = find(&mut self.scratch);
        // A document frequency counts each document once, however often the term occurs in it.
        self.distinct.deduplicate(terms);
        self.counter.add(terms, marks);
    }
}

/// Counts the documents of `corpus` that contain each term.
fn frequencies(terms: &Terms, corpus: &dyn Corpus, context: &Context<'_>) -> Result<Frequencies> {
    // Terms are counted without weights, so nothing has to be learned before.
    let maker = DocumentTerms::new(terms, &Fitted::Nothing, context.isa());
    let (documents, counted) = TermCount {
        stage: "counting terms",
        find: &|found, scratch| maker.find(found.document.text, scratch),
        marks: &|_| 0,
        // A term that is not stored counts as a term of one document.
        wanted: &|counted| counted.documents > 1,
    }
    .count(corpus, context)?;
    Ok(Frequencies::new(documents, counted))
}

/// A document, and the file that it is in.
#[derive(Clone, Copy)]
pub(crate) struct InFile<'d> {
    pub(crate) document: &'d Document<'d>,
    pub(crate) file: &'d Path,
}

/// Function that finds the terms of a document. A term may be listed several times.
pub(crate) type FindTerms<'f> =
    dyn for<'s> Fn(InFile<'_>, &'s mut TermScratch) -> &'s mut Vec<u64> + Sync + 'f;

/// Settings for counting the documents that contain each term.
pub(crate) struct TermCount<'c> {
    /// Name of the stage for the progress.
    pub(crate) stage: &'static str,
    /// Function that finds the terms of a document.
    pub(crate) find: &'c FindTerms<'c>,
    /// Function that returns a number of bits for a document. They are set in the marks of each term of the document,
    /// so a term gets the bits of all documents that contain it.
    pub(crate) marks: &'c (dyn Fn(InFile<'_>) -> u32 + Sync),
    /// Function that returns whether a counted term is wanted in the result.
    pub(crate) wanted: &'c (dyn Fn(&CountedTerm) -> bool + Sync),
}

impl TermCount<'_> {
    /// Counts terms. Returns the number of documents of `corpus`, and the wanted terms in ascending order, divided into
    /// several lists. The corpus is read once if the counts of all terms fit in memory. Otherwise terms, which are
    /// hashes, are divided into ranges, and the corpus is read once for each range.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read, or there is too little memory.
    pub(crate) fn count(
        &self,
        corpus: &dyn Corpus,
        context: &Context<'_>,
    ) -> Result<(u64, Vec<Vec<CountedTerm>>)> {
        let threads = context.threads();
        // The counters may take half of the memory; the other half is for the frequencies made of them.
        let memory = context.memory().free();
        let memory_of_counter = memory / 2 / threads.count() as u64;
        let parts = threads.count();
        let mut next = Some(TermRange::default());
        let mut documents = 0;
        let mut merged = Vec::new();
        while let Some(range) = next {
            context.progress().begin(self.stage, Work::Bytes(corpus.bytes()));
            let start = || CountedTerms::new(range, memory_of_counter);
            let states = read_texts(corpus, threads, start, |terms: &mut CountedTerms, found| {
                terms.add((self.marks)(found), |scratch| (self.find)(found, scratch));
            })?;
            let counters: Vec<_> = states.into_iter().map(|terms| terms.counter).collect();
            documents = counters.iter().map(FrequencyCounter::documents).sum();
            // Counters that ran out of memory stopped at different terms. Sums are right only for the terms that
            // all of the counters counted.
            let counted = frequencies::common_range(&counters);
            let merge = |part| frequencies::merged(&counters, part, parts, self.wanted);
            merged.extend(threads.map((0..parts).collect(), merge));
            // Terms are hashes, so each other range has about as many terms as this one.
            let known = merged.iter().map(Vec::len).sum::<usize>() as u64;
            let readings = counted.count();
            let needed = Frequencies::bytes(known) / (counted.done() + 1) * readings;
            // An error after the first reading is better than an error after many readings.
            if needed > memory / 2 || readings > MOST_READINGS {
                return Err(too_little_memory(memory, needed, readings));
            }
            next = counted.next();
        }
        Ok((documents, merged))
    }
}

/// Returns the error for too little memory to count terms. `memory` is the number of bytes that the run may use, and
/// `needed` the number of bytes that the counts would take. `readings` is the number of times that the corpus would
/// have to be read.
fn too_little_memory(memory: u64, needed: u64, readings: u64) -> Error {
    let enough = (memory / MOST_READINGS).saturating_mul(readings).max(needed.saturating_mul(2));
    let rule = format!(
        "`max_memory` of {memory} bytes is too little to count the documents of each term or line. Use at least \
         {}M, or a `weight` that needs no counts (binary, tf or log-tf) without `idf_band`, `top` and \
         `boilerplate`",
        enough.div_ceil(1_000_000)
    );
    Error::limit("the terms or lines of the collection", rule)
}

/// Calls `visit` with every document of `corpus`. `start` creates a value for each thread, which
/// `visit` may change. Returns the values of all threads.
fn read_texts<S: Send>(
    corpus: &dyn Corpus,
    threads: &Threads,
    start: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, InFile<'_>) + Sync,
) -> Result<Vec<S>> {
    threads.try_fold(
        corpus.shard_count(),
        || Ok(start()),
        |state, shard| {
            let file = corpus.file_name(corpus.shard_file(shard));
            corpus.read_shard(shard, &mut |event| {
                if let Event::Record(record) = event
                    && let Content::Document(document) = &record.content
                {
                    visit(state, InFile { document, file });
                }
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(())
        },
    )
}

/// Returns the `most` most frequent words of all counters together. Each counter numbers words in its own
/// way. So this function also returns a table for each counter, which maps the word numbers of the counter to
/// the ranks of the words.
pub(crate) fn most_frequent(
    workers: &Threads,
    counters: &[WordCounter],
    most: usize,
) -> (Vocabulary, Vec<NumberRanks>) {
    // If one thread alone has `most` words that occur this often, rarer words cannot be among the most
    // frequent of all.
    let reached = workers
        .map(counters.iter().collect(), |counter| vocabulary::reached_count(counter, most))
        .into_iter()
        .max()
        .unwrap_or(0);
    let candidates = workers
        .map((0..counters.len()).collect(), |own| vocabulary::candidates(counters, own, reached));
    let vocabulary = Vocabulary::from_candidates(candidates.into_iter().flatten().collect(), most);
    let number_ranks =
        workers.map(counters.iter().collect(), |counter| vocabulary.number_ranks(counter));
    (vocabulary, number_ranks)
}
