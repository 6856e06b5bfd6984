//! A collection as a source of terms for the join of sets.

use super::config::Keep;
use super::shard_summary::{CollectionSummary, ShardSummary, read_again, read_summarized};
use crate::method::{DocumentTerms, TermScratch};
use simtool_base::error::Result;
use simtool_base::progress::Progress;
use simtool_model::document::Document;
use simtool_read::{Corpus, Price};
use simtool_set_join::{TermSource, Wanted};
use std::sync::OnceLock;

/// Approximate bytes of text per term, to size tables before the text is read.
const BYTES_A_TERM: u64 = 6;
/// Approximate bytes of text per packed byte of zstd or Parquet. There is no such figure for gzip,
/// because it often holds HTML that is mostly tags.
const UNPACKED: u64 = 3;

/// A collection as terms, with the summary of its first reading.
pub(super) struct CorpusTerms<'c> {
    collection: &'c dyn Corpus,
    terms: &'c DocumentTerms,
    /// Whether a field decides which documents are kept.
    by_field: bool,
    progress: &'c dyn Progress,
    summaries: Vec<OnceLock<ShardSummary>>,
}

impl<'c> CorpusTerms<'c> {
    pub(super) fn new(
        collection: &'c dyn Corpus,
        terms: &'c DocumentTerms,
        by_field: bool,
        progress: &'c dyn Progress,
    ) -> Self {
        let summaries = (0..collection.shard_count()).map(|_| OnceLock::new()).collect();
        Self { collection, terms, by_field, progress, summaries }
    }

    /// Returns all rows in the order of preference. Every shard must have been read.
    pub(super) fn order(&self, keep: Keep) -> Vec<u32> {
        let told =
            CollectionSummary::of_preferences(self.summaries.iter().filter_map(OnceLock::get));
        let mut rows: Vec<u32> = (0..told.lengths.len() as u32).collect();
        rows.sort_by(|&a, &b| told.prefer(keep, a, b));
        rows
    }

    /// Returns the summary of the first reading. Every shard must have been read.
    ///
    /// # Errors
    ///
    /// There are more than 2³² − 1 documents.
    pub(super) fn into_summary(self) -> Result<CollectionSummary> {
        let summaries = self.summaries.into_iter().filter_map(OnceLock::into_inner).collect();
        CollectionSummary::new(self.collection, summaries)
    }
}

impl TermSource for CorpusTerms<'_> {
    fn shard_count(&self) -> usize {
        self.collection.shard_count()
    }

    fn term_count_hint(&self) -> u64 {
        let text = |shard| match self.collection.price(shard) {
            Price::Cheap | Price::Dear => self.collection.shard_bytes(shard),
            Price::Unpacked => self.collection.shard_bytes(shard).saturating_mul(UNPACKED),
        };
        (0..self.collection.shard_count()).map(text).sum::<u64>() / BYTES_A_TERM
    }

    fn told_bytes(&self) -> u64 {
        self.summaries.iter().filter_map(OnceLock::get).map(ShardSummary::bytes).sum()
    }

    fn is_weighted(&self) -> bool {
        self.terms.frequencies().is_some()
    }

    fn weight(&self, term: u64) -> u32 {
        self.terms.weight(term)
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.collection.shard_bytes(shard)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let mut scratch = TermScratch::default();
        if let Some(summary) = self.summaries[shard].get() {
            // A file without a wanted document is not opened, and a reading ends at the last wanted
            // one.
            let wanted = &|index| wanted.has(index);
            let last = (0..summary.document_count()).rev().find(|&index| wanted(index));
            let Some(last) = last else {
                self.progress.advance(self.collection.shard_bytes(shard));
                return Ok(());
            };
            return read_again(self.collection, shard, last + 1, wanted, &mut |index, text| {
                visit(index, self.terms.find(text, &mut scratch));
            });
        }
        let first = &mut |index, document: &Document<'_>| {
            let terms = self.terms.find(document.text, &mut scratch);
            visit(index, terms);
            Ok(!terms.is_empty())
        };
        let summary = read_summarized(self.collection, shard, self.by_field, first)?;
        // Two readers of one shard find the same summary, so the second one is dropped.
        drop(self.summaries[shard].set(summary));
        Ok(())
    }
}
