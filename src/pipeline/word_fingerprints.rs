//! A collection of any format × its own most frequent words: the fingerprints of `simtool N M`.
//!
//! The words of all documents are counted in a first reading; a second one makes the fingerprints.

use super::config::WordFeatures;
use super::fingerprint_collection::{FingerprintedCollection, Shards};
use super::fit::learn;
use super::workers::Workers;
use crate::document::Content;
use crate::error::Result;
use crate::extract::vocabulary::Vocabulary;
use crate::extract::word_counter::{MOST_PLACES, WordCounter};
use crate::fingerprint::table_simhash::{Accumulator, TableSimhash};
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::fingerprint_table::{Lane, Wide};
use crate::kernels::Isa;
use crate::read::{Collection, Corpus, Event};
use crate::token_batch::TokenBatch;
use crate::tokenize::ascii_letters::AsciiLetters;
use std::borrow::Cow;

/// Fingerprints over a vocabulary.
pub(super) struct WordFingerprints {
    vocabulary: Vocabulary,
    simhash: TableSimhash,
    tokenizer: AsciiLetters,
    bits: u32,
    recipe: String,
}

/// What a reader reuses from document to document.
#[derive(Default)]
struct Scratch {
    batch: TokenBatch,
    ranks: Vec<u32>,
    accumulator: Accumulator,
}

impl WordFingerprints {
    /// Learns the most frequent words of `collection`.
    ///
    /// # Errors
    ///
    /// The collection cannot be read.
    pub(super) fn fit(
        collection: &Collection,
        features: &WordFeatures,
        workers: &Workers,
        isa: Isa,
    ) -> Result<Self> {
        let shards = collection.shard_count();
        let bytes = usize::try_from(collection.bytes()).unwrap_or(usize::MAX) / workers.count();
        let tokenizer = AsciiLetters::new(isa);
        let counters = workers.share(shards, |numbers| {
            let mut counter = WordCounter::new(bytes, &features.stop_words);
            let mut batch = TokenBatch::default();
            // The numbers of words, which the second reading does not use.
            let mut written = Vec::new();
            for shard in numbers {
                collection.read_shard(shard, &mut |event| {
                    if let Event::Record(record) = event
                        && let Content::Document(document) = record.content
                    {
                        tokenizer.tokenize(document.text, &mut batch, |piece, batch| {
                            let room = (piece.len() / 2 + 2) * MOST_PLACES;
                            written.resize(written.len().max(room), 0);
                            counter.count(piece, batch, &mut written, 0);
                        });
                    }
                    Ok(())
                })?;
            }
            Ok(counter)
        });
        let counters: Vec<WordCounter> = counters.into_iter().collect::<Result<_>>()?;
        let table = &features.hash_table;
        let (vocabulary, _) = learn(workers, &counters, table.rows().len());
        Ok(Self {
            vocabulary,
            simhash: TableSimhash::new(isa, table),
            tokenizer,
            bits: table.bits(),
            recipe: features.recipe(),
        })
    }

    /// The fingerprints of a collection. A document without any of the words has none.
    ///
    /// # Errors
    ///
    /// More than 2³² − 1 documents.
    pub(super) fn of(&self, shards: &Shards<'_>) -> Result<FingerprintedCollection> {
        let (lanes, validity, summary) = if self.bits <= u64::BITS {
            let (lanes, validity, summary) =
                shards.read(Scratch::default, |text, scratch| self.fingerprint(text, scratch))?;
            (Lanes::Bits64(Cow::Owned(lanes)), validity, summary)
        } else {
            let (lanes, validity, summary) = shards.read(Scratch::default, |text, scratch| {
                self.fingerprint::<Wide<2>>(text, scratch).map(u128::from)
            })?;
            (Lanes::Bits128(Cow::Owned(lanes)), validity, summary)
        };
        let recipe = Some(self.recipe.clone());
        let rows = FingerprintRows { lanes, bits: self.bits, validity, recipe };
        Ok(FingerprintedCollection { rows, summary })
    }

    fn fingerprint<L: Lane>(&self, text: &[u8], scratch: &mut Scratch) -> Option<L> {
        let Scratch { batch, ranks, accumulator } = scratch;
        let mut has_features = false;
        self.tokenizer.tokenize(text, batch, |piece, batch| {
            ranks.clear();
            self.vocabulary.ranks(piece, batch, ranks);
            has_features |= !ranks.is_empty();
            self.simhash.add(ranks, accumulator);
        });
        let fingerprint = self.simhash.finish::<L>(accumulator);
        has_features.then_some(fingerprint)
    }
}
