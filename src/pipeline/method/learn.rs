//! Learns from a collection what its documents cannot become features without.

use super::document_terms::{DocumentTerms, TermScratch};
use super::fitted::Fitted;
use super::terms::Terms;
use crate::document::Content;
use crate::error::Result;
use crate::extract::frequencies::{self, Frequencies, FrequencyCounter};
use crate::extract::vocabulary::{self, NumberRanks, Vocabulary};
use crate::extract::word_counter::{MOST_PLACES, WordCounter};
use crate::kernels::Isa;
use crate::pipeline::workers::Workers;
use crate::progress::{Progress, Work};
use crate::read::{Corpus, Event};
use crate::token_batch::TokenBatch;
use crate::tokenize::ascii_letters::AsciiLetters;
use std::ops::ControlFlow;
use std::sync::Arc;

impl Fitted {
    /// Learns what `terms` need from `corpus`, in one reading if they need anything.
    ///
    /// # Errors
    ///
    /// The corpus cannot be read.
    pub(in crate::pipeline) fn learn(
        terms: &Terms,
        corpus: &dyn Corpus,
        workers: &Workers,
        isa: Isa,
        progress: &dyn Progress,
    ) -> Result<Self> {
        Ok(match terms {
            Terms::MostFrequent { count, stop_words } => {
                let words = words(*count, stop_words, corpus, workers, isa, progress)?;
                Self::Words(Arc::new(words))
            }
            Terms::Shingles { weighting, .. } if weighting.is_learned() => {
                let frequencies = frequencies(terms, corpus, workers, isa, progress)?;
                let terms = terms.sets_recipe();
                Self::Frequencies { terms, frequencies: Arc::new(frequencies) }
            }
            Terms::Shingles { .. } => Self::Nothing,
        })
    }
}

/// The most frequent words of `corpus`: one reading.
fn words(
    count: usize,
    stop_words: &[Vec<u8>],
    corpus: &dyn Corpus,
    workers: &Workers,
    isa: Isa,
    progress: &dyn Progress,
) -> Result<Vocabulary> {
    progress.begin("counting words", Work::Bytes(corpus.bytes()));
    let bytes = usize::try_from(corpus.bytes()).unwrap_or(usize::MAX) / workers.count();
    let tokenizer = AsciiLetters::new(isa);
    // With the numbers of words, which the second reading does not use.
    let start = || (WordCounter::new(bytes, stop_words), TokenBatch::default(), Vec::new());
    let states = read_texts(corpus, workers, start, |(counter, batch, written), text| {
        tokenizer.tokenize(text, batch, |piece, batch| {
            let room = (piece.len() / 2 + 2) * MOST_PLACES;
            written.resize(written.len().max(room), 0);
            counter.count(piece, batch, written, 0);
        });
    })?;
    let counters: Vec<_> = states.into_iter().map(|(counter, ..)| counter).collect();
    Ok(most_frequent(workers, &counters, count).0)
}

/// In how many documents of `corpus` each of the terms is: one reading.
fn frequencies(
    terms: &Terms,
    corpus: &dyn Corpus,
    workers: &Workers,
    isa: Isa,
    progress: &dyn Progress,
) -> Result<Frequencies> {
    progress.begin("counting terms", Work::Bytes(corpus.bytes()));
    let maker = DocumentTerms::new(terms, &Fitted::Nothing, isa);
    let start = || (FrequencyCounter::default(), TermScratch::default());
    let states = read_texts(corpus, workers, start, |(counter, scratch), text| {
        let terms = maker.of(text, scratch);
        terms.sort_unstable();
        terms.dedup();
        counter.add(terms);
    })?;
    let counters = states.into_iter().map(|(counter, _)| counter).collect();
    let counters = workers.map(counters, FrequencyCounter::finished);
    let parts = workers.count();
    let merge = |part| frequencies::merged(&counters, part, parts);
    Ok(Frequencies::new(&counters, workers.map((0..parts).collect(), merge)))
}

/// Calls `visit` with the text of every document of `corpus`, each worker with a state of its own,
/// which it returns.
fn read_texts<S: Send>(
    corpus: &dyn Corpus,
    workers: &Workers,
    start: impl Fn() -> S + Sync,
    visit: impl Fn(&mut S, &[u8]) + Sync,
) -> Result<Vec<S>> {
    workers.try_share(corpus.shard_count(), |shards| {
        let mut state = start();
        for shard in shards {
            let read = corpus.read_shard(shard, &mut |event| {
                if let Event::Record(record) = event
                    && let Content::Document(document) = record.content
                {
                    visit(&mut state, document.text);
                }
                Ok(ControlFlow::Continue(()))
            });
            read.map_err(|error| (shard, error))?;
        }
        Ok(state)
    })
}

/// The `most` most frequent words of what all workers counted, and what their numbers mean.
pub(in crate::pipeline) fn most_frequent(
    workers: &Workers,
    counters: &[WordCounter],
    most: usize,
) -> (Vocabulary, Vec<NumberRanks>) {
    let reached = workers
        .map(counters.iter().collect(), |counter| vocabulary::reached_count(counter, most))
        .into_iter()
        .max()
        .unwrap_or(0);
    let candidates = workers
        .map((0..counters.len()).collect(), |own| vocabulary::candidates(counters, own, reached));
    let vocabulary = Vocabulary::of_candidates(candidates.into_iter().flatten().collect(), most);
    let number_ranks =
        workers.map(counters.iter().collect(), |counter| vocabulary.number_ranks(counter));
    (vocabulary, number_ranks)
}
