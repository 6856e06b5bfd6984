//! Reads a collection as sets of terms for the exact join of sets.

use super::document_traits::WantedTraits;
use super::keep_order::KeepOrder;
use super::parts::{Parts, ShardShare};
use super::plan::Plan;
use super::shard_summary::{
    CollectionSummary, Compared, ShardSummary, read_again, read_summarized,
};
use crate::method::{DocumentTerms, TermScratch};
use simtool_base::error::Result;
use simtool_base::progress::Progress;
use simtool_compute::context::Context;
use simtool_model::document::Document;
use simtool_model::title_words::PageName;
use simtool_read::{Corpus, Price};
use simtool_set_join::{TermSource, Wanted};
use std::sync::OnceLock;

/// Approximate number of bytes of text per byte of a Zstandard or Parquet file. Gzip files are counted
/// without this factor, because they often hold HTML that is mostly tags.
const UNPACKED: u64 = 3;

/// Returns the approximate number of bytes of text of a collection.
pub(super) fn approximate_text_bytes(collection: &dyn Corpus) -> u64 {
    let text = |shard| match collection.price(shard) {
        Price::Cheap | Price::Expensive => collection.shard_bytes(shard),
        Price::Unpacked => collection.shard_bytes(shard).saturating_mul(UNPACKED),
    };
    (0..collection.shard_count()).map(text).sum()
}

/// Source of the terms of a collection for a join of sets. The collection is read in shards, which are parts that
/// threads read independently. The first reading of each shard also collects its summary.
pub(super) struct CorpusTerms<'c> {
    collection: &'c dyn Corpus,
    terms: &'c DocumentTerms,
    /// Settings that select the values of each document that the first reading collects, such as its date.
    wanted: WantedTraits<'c>,
    progress: &'c dyn Progress,
    /// Whether the terms of each document are returned in reading order with repetitions, and not as a set. If so, no
    /// hash of the token sequence of each document is collected.
    is_in_reading_order: bool,
    /// Terms of shards that were stored on disk before. Shards with stored terms are not read again.
    parts: Option<&'c Parts<'c>>,
    summaries: Vec<OnceLock<ShardSummary>>,
}

impl<'c> CorpusTerms<'c> {
    pub(super) fn new(
        collection: &'c dyn Corpus,
        terms: &'c DocumentTerms,
        wanted: WantedTraits<'c>,
        progress: &'c dyn Progress,
    ) -> Self {
        let summaries = (0..collection.shard_count()).map(|_| OnceLock::new()).collect();
        let (is_in_reading_order, parts) = (false, None);
        Self { collection, terms, wanted, progress, is_in_reading_order, parts, summaries }
    }

    /// Creates the source of terms for the method of `plan`. No terms are taken from disk. If the method decides by
    /// coverage, the terms of each document come in reading order, with repetitions.
    pub(super) fn of_plan(
        collection: &'c dyn Corpus,
        terms: &'c DocumentTerms,
        plan: &'c Plan,
        progress: &'c dyn Progress,
    ) -> Self {
        let is_in_reading_order = plan.method().is_coverage();
        let source = Self::new(collection, terms, plan.wanted_traits(), progress);
        Self { is_in_reading_order, ..source }
    }

    /// Sets the stored terms. Shards whose terms are in `parts` are not read from their files.
    pub(super) fn with_parts(self, parts: Option<&'c Parts<'c>>) -> Self {
        Self { parts, ..self }
    }

    /// Stores the terms of documents in `parts`, for each shard that is missing there. If `share` is given, only the
    /// shards of this share of the collection are stored.
    ///
    /// # Errors
    ///
    /// A shard cannot be read or stored.
    pub(super) fn fill(
        &self,
        parts: &Parts<'_>,
        share: Option<ShardShare>,
        context: &Context<'_>,
    ) -> Result<()> {
        parts.fill(share, context, &|shard, store| {
            self.read_first(shard, &mut |_, terms| store.push(terms))
        })
    }

    /// Reads a shard for the first time. Calls `visit` with the index in the shard and the terms of each document.
    /// Returns the summary of the shard.
    fn read_first(&self, shard: usize, visit: &mut dyn FnMut(u32, &[u64])) -> Result<ShardSummary> {
        let has_sequence = !self.is_in_reading_order;
        let mut scratch =
            if has_sequence { TermScratch::with_sequence() } else { TermScratch::default() };
        let first = &mut |index, document: &Document<'_>| {
            let terms = self.found(document.text, &mut scratch);
            visit(index, terms);
            let has_terms = !terms.is_empty();
            scratch.release();
            Ok(Compared {
                has_terms,
                tokens: scratch.token_count(),
                sequence: has_sequence.then(|| scratch.sequence()),
            })
        };
        read_summarized(self.collection, shard, self.wanted, first)
    }

    /// Finds the terms of a text. If `is_in_reading_order` is set, they come in reading order, with repetitions.
    /// Otherwise their order and their repetitions have no meaning.
    fn found<'s>(&self, text: &[u8], scratch: &'s mut TermScratch) -> &'s mut Vec<u64> {
        if self.is_in_reading_order {
            self.terms.find(text, scratch)
        } else {
            self.terms.find_set(text, scratch)
        }
    }

    /// Calls `visit` with the index in the shard and the stored terms of each document that `wanted` selects.
    fn visit_stored(
        &self,
        parts: &Parts<'_>,
        shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        self.progress.advance(self.collection.shard_bytes(shard));
        let visit = &mut |index, terms: &[u64]| {
            visit(index, terms);
            Ok(())
        };
        parts.visit(shard, &|index| wanted.has(index), visit)
    }

    /// Returns the numbers of all documents, sorted by the rules `keep`: documents that should rather be kept
    /// come first. Every shard must have been read before this call.
    pub(super) fn order(&self, keep: &KeepOrder) -> Vec<u32> {
        let read =
            CollectionSummary::of_preferences(self.summaries.iter().filter_map(OnceLock::get));
        read.order(keep)
    }

    /// Returns the hash of the scope value of each document. This value, for example the language, decides which other
    /// documents a document is compared with. Every shard must have been read before this call.
    pub(super) fn scope_values(&self) -> Vec<u64> {
        let summaries = self.summaries.iter().filter_map(OnceLock::get);
        summaries.flat_map(|summary| summary.traits().scope_values()).copied().collect()
    }

    /// Returns the own words of the title of each document, which are the words that few titles of the same site have.
    /// Every shard must have been read before this call.
    pub(super) fn names(&self) -> Vec<PageName> {
        let summaries = self.summaries.iter().filter_map(OnceLock::get);
        summaries.flat_map(|summary| summary.traits().names()).copied().collect()
    }

    /// Returns the number of documents. Every shard must have been read before this call.
    pub(super) fn document_count(&self) -> u32 {
        self.summaries.iter().filter_map(OnceLock::get).map(ShardSummary::document_count).sum()
    }

    /// Returns the summary of the collection. Every shard must have been read before this call.
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
        approximate_text_bytes(self.collection) / self.terms.bytes_a_term()
    }

    fn held_bytes(&self) -> u64 {
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
        let parts = self.parts;
        if let Some(summary) = self.summaries[shard].get() {
            // Reading terms takes much less time than finding them in the text.
            if let Some(parts) = parts.filter(|parts| parts.has(shard)) {
                return self.visit_stored(parts, shard, wanted, visit);
            }
            let mut scratch = TermScratch::default();
            // A file without wanted documents is not opened. Reading ends after the last wanted document.
            let wanted = &|index| wanted.has(index);
            let last = (0..summary.document_count()).rev().find(|&index| wanted(index));
            let Some(last) = last else {
                self.progress.advance(self.collection.shard_bytes(shard));
                return Ok(());
            };
            return read_again(self.collection, shard, last + 1, wanted, &mut |index, text| {
                visit(index, self.found(text, &mut scratch));
                scratch.release();
            });
        }
        let stored = match parts {
            Some(parts) => parts.summary(shard)?.map(|summary| (parts, summary)),
            None => None,
        };
        let summary = if let Some((parts, summary)) = stored {
            self.visit_stored(parts, shard, wanted, visit)?;
            summary
        } else {
            self.read_first(shard, visit)?
        };
        // Another thread may have read the same shard. Its summary is equal, so this one is dropped.
        drop(self.summaries[shard].set(summary));
        Ok(())
    }
}
