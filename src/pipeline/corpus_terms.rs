//! A collection as documents with terms, and what its first reading tells besides.

use super::config::Shingle;
use super::progress::Progress;
use crate::document::{Bad, Content, ShardIds};
use crate::error::Result;
use crate::extract::shingles::Shingles;
use crate::fault::Fault;
use crate::field_value::FieldValue;
use crate::kernels::Isa;
use crate::read::{Collection, Corpus, Event};
use crate::search::set_join::TermSource;
use crate::tokenize::characters::Characters;
use crate::tokenize::hashed_tokens::{HashTokenizer, HashedTokens};
use crate::tokenize::unicode_words::UnicodeWords;
use std::sync::OnceLock;

/// Bytes of text for each term, about, to size tables before the text was read.
const BYTES_A_TERM: u64 = 6;

/// A bad record, with the place that only the reader of its shard knows.
#[derive(Clone, Debug)]
pub struct BadRecord {
    /// Number within the shard.
    pub record: u64,
    /// Offset in the file.
    pub byte: u64,
    /// What is wrong.
    pub bad: Bad,
}

/// What the first reading of a shard told.
#[derive(Clone, Debug)]
pub(super) struct ShardSummary {
    pub(super) ids: ShardIds,
    pub(super) bad: Vec<BadRecord>,
    pub(super) faults: Vec<Fault>,
    /// The value of the field that decides which document is kept, if one does.
    pub(super) preferences: Vec<FieldValue>,
    /// Documents that have no term, and so are like nothing.
    pub(super) without_terms: u64,
    /// Documents of which something was mended.
    pub(super) mended: u64,
    /// Bytes of text of each document.
    pub(super) lengths: Vec<u64>,
}

/// A collection as terms.
pub(super) struct CorpusTerms<'c> {
    collection: &'c Collection,
    shingles: Shingles,
    tokenizer: Box<dyn HashTokenizer>,
    /// Whether a field decides which documents are kept.
    by_field: bool,
    progress: &'c dyn Progress,
    summaries: Vec<OnceLock<ShardSummary>>,
}

/// What a reader of terms reuses from document to document.
#[derive(Debug, Default)]
struct Scratch {
    tokens: HashedTokens,
    terms: Vec<u64>,
}

impl<'c> CorpusTerms<'c> {
    pub(super) fn new(
        collection: &'c Collection,
        shingle: Shingle,
        by_field: bool,
        isa: Isa,
        progress: &'c dyn Progress,
    ) -> Self {
        let (tokenizer, length): (Box<dyn HashTokenizer>, _) = match shingle {
            Shingle::Words(length) => (Box::new(UnicodeWords::new(isa)), length),
            Shingle::Characters(length) => (Box::new(Characters), length),
        };
        Self {
            collection,
            shingles: Shingles::new(isa, length),
            tokenizer,
            by_field,
            progress,
            summaries: (0..collection.shard_count()).map(|_| OnceLock::new()).collect(),
        }
    }

    /// The summaries of all shards, after each was read.
    pub(super) fn into_summaries(self) -> Vec<ShardSummary> {
        self.summaries.into_iter().filter_map(OnceLock::into_inner).collect()
    }

    fn terms<'s>(&self, text: &[u8], scratch: &'s mut Scratch) -> &'s [u64] {
        scratch.tokens.clear();
        scratch.terms.clear();
        self.tokenizer.tokenize(text, &mut scratch.tokens);
        self.shingles.extract(&scratch.tokens.hashes, &mut scratch.terms);
        &scratch.terms
    }

    /// Reads a shard and takes down what it tells.
    fn read_first(&self, shard: usize, visit: &mut dyn FnMut(u32, &[u64])) -> Result<ShardSummary> {
        let mut summary = ShardSummary {
            ids: ShardIds::new(self.collection.shard_file(shard) as u32),
            bad: Vec::new(),
            faults: Vec::new(),
            preferences: Vec::new(),
            without_terms: 0,
            mended: 0,
            lengths: Vec::new(),
        };
        let mut scratch = Scratch::default();
        let records = self.collection.read_shard(shard, &mut |event| {
            let record = match event {
                Event::Record(record) => record,
                Event::Fault(fault) => {
                    summary.faults.push(fault);
                    return Ok(());
                }
            };
            match record.content {
                Content::Document(document) => {
                    let index = summary.ids.len();
                    summary.ids.push(record.number, document.id)?;
                    if self.by_field {
                        summary.preferences.push(FieldValue::parse(document.field));
                    }
                    summary.mended += u64::from(document.mended.is_some());
                    summary.lengths.push(document.text.len() as u64);
                    let terms = self.terms(document.text, &mut scratch);
                    summary.without_terms += u64::from(terms.is_empty());
                    visit(index, terms);
                }
                Content::PassThrough => {}
                Content::Bad(bad) => summary.bad.push(BadRecord {
                    record: record.number,
                    byte: record.byte,
                    bad: bad.clone(),
                }),
            }
            Ok(())
        })?;
        summary.ids.close(records);
        Ok(summary)
    }
}

impl TermSource for CorpusTerms<'_> {
    fn shard_count(&self) -> usize {
        self.collection.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        let bytes = (0..self.shard_count()).map(|shard| self.collection.shard_bytes(shard));
        bytes.sum::<u64>() / BYTES_A_TERM
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        if self.summaries[shard].get().is_none() {
            let summary = self.read_first(shard, visit)?;
            // Two readers of one shard would have found the same.
            drop(self.summaries[shard].set(summary));
            self.progress.advance(self.collection.shard_bytes(shard));
            return Ok(());
        }
        let mut scratch = Scratch::default();
        let mut index = 0;
        self.collection.read_shard(shard, &mut |event| {
            if let Event::Record(record) = event
                && let Content::Document(document) = record.content
            {
                if wanted(index) {
                    visit(index, self.terms(document.text, &mut scratch));
                }
                index += 1;
            }
            Ok(())
        })?;
        Ok(())
    }
}
