//! Data that all outputs are written from: the results of a run, and the collections that it read.

use super::stored_copies::StoredCopies;
use crate::cluster::Removal;
use crate::pipeline::document_names::document_name;
use crate::pipeline::excerpts::Excerpts;
use crate::pipeline::{
    CollectionSummary, Decided, LostWords, NearDuplicates, Plan, RemovalLosses, RepeatedWords,
};
use crate::write::summary::LimitLevel;
use simtool_coverage::Coverage;
use simtool_model::document::DocOrdinal;
use simtool_model::document_name::DocumentName;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_set_join::close::Close;

/// One collection that a run read: its only collection, the queries, or the corpus.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// Collection that was read.
    pub collection: &'s dyn Corpus,
    /// Summary of reading the collection, with the names of its documents.
    pub read: &'s CollectionSummary,
}

impl<'s> Side<'s> {
    /// Returns the name of the document with number `row`.
    pub(crate) fn name(&self, row: u32) -> DocumentName<'s> {
        document_name(self.collection, &self.read.ids, row)
    }
}

/// Results of a run, and the collections that it read.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'f> {
    /// The one collection of a dedup, or the queries and the corpus of a match.
    pub sides: Sides<Side<'f>>,
    /// The documents to remove, in reading order.
    pub removals: &'f [Removal],
    /// Limits of similarity or distance, each with the number of documents that a run with this limit would
    /// remove. Stricter limits come first, and the limit of this run is last.
    pub levels: &'f [LimitLevel],
    /// Words that are lost with each removed document, because the documents kept in its place lack them. `None` if
    /// they were not counted.
    losses: Option<&'f RemovalLosses>,
    /// Kept documents that have the words of removed ones. `None` unless the run decides by coverage, which removes a
    /// document if kept documents together have its words.
    coverage: Option<&'f Coverage>,
    /// Number of documents that are kept only because their removal would lose too many words.
    kept_for_words: u64,
    /// Number of decisions of people that were applied to the removals, and the reasons why other decisions were not.
    /// `None` if there are no decisions.
    pub(super) decided: Option<&'f Decided>,
    /// All pairs of near-duplicates. If the memory was too small, the list may have only the pairs that
    /// affect the removals.
    pub close: &'f Close,
    /// Summary of reading each collection.
    pub read: &'f Sides<CollectionSummary>,
    /// Plan by which the run found the near-duplicates.
    pub plan: &'f Plan,
    /// Beginnings of texts that are expensive to read again. `None` if the run did not store any.
    excerpts: Option<&'f Sides<Excerpts>>,
    /// Number of repeated words of each document. `None` if they were not counted.
    repeated: Option<&'f [RepeatedWords]>,
    /// Store of the copies of input files. `None` if the run stores nothing.
    stored_copies: Option<&'f StoredCopies>,
}

impl<'f> Findings<'f> {
    /// Combines the results `found` with the collections that the run compared and the `plan` that it followed.
    ///
    /// Panics if the run read one collection but `collections` has two, or the reverse.
    #[must_use]
    pub fn new(
        found: &'f NearDuplicates,
        collections: Sides<&'f dyn Corpus>,
        plan: &'f Plan,
    ) -> Self {
        let sides = collections.zip(found.read.as_ref());
        let sides = sides.map(|(collection, read)| Side { collection, read });
        let NearDuplicates {
            read,
            close,
            removals,
            losses,
            coverage,
            kept_for_words,
            decided,
            levels,
            ..
        } = found;
        Self {
            sides,
            removals,
            losses: losses.as_ref(),
            coverage: coverage.as_ref(),
            kept_for_words: *kept_for_words,
            decided: decided.as_ref(),
            levels,
            close,
            read,
            plan,
            excerpts: None,
            repeated: None,
            stored_copies: None,
        }
    }

    /// Adds the beginnings of texts that were stored in memory while the collections were read.
    pub(crate) fn with_excerpts(self, excerpts: Option<&'f Sides<Excerpts>>) -> Self {
        Self { excerpts, ..self }
    }

    /// Adds the store of the copies of input files.
    pub(crate) fn with_stored_copies(self, stored_copies: Option<&'f StoredCopies>) -> Self {
        Self { stored_copies, ..self }
    }

    /// Returns the store of the copies of input files. `None` if the run stores nothing.
    pub(crate) fn stored_copies(&self) -> Option<&'f StoredCopies> {
        self.stored_copies
    }

    /// Adds the number of repeated words of each document.
    pub(crate) fn with_repeated_words(self, repeated: Option<&'f [RepeatedWords]>) -> Self {
        Self { repeated, ..self }
    }

    /// Returns the share of the words of a document that are in repeated passages. `None` if they were not counted,
    /// or if the document has no words.
    pub(crate) fn repeated_share(&self, row: u32) -> Option<f64> {
        self.repeated?.get(row as usize)?.share()
    }

    /// Returns the number of documents that are kept only because their removal would lose too many words. `None` if
    /// there is no limit for lost words.
    pub(crate) fn kept_for_words(&self) -> Option<u64> {
        // With coverage, the method itself obeys the limit, so there are no proposed removals that the limit refuses.
        self.plan.lose().filter(|_| self.coverage.is_none()).map(|_| self.kept_for_words)
    }

    /// Returns the number of kept documents that together have the words of a removed document. `at` is the index of
    /// its removal. `None` unless the run decides by coverage, which removes a document if kept documents together have
    /// its words.
    pub(crate) fn covered_by(&self, at: usize) -> Option<u32> {
        Some(self.coverage?.documents.get(at)?.covering)
    }

    /// Returns the kept documents that have the words of removed ones. `None` unless the run decides by coverage, which
    /// removes a document if kept documents together have its words.
    pub(crate) fn coverage(&self) -> Option<&'f Coverage> {
        self.coverage
    }

    /// Returns the number of removed documents whose words are in several kept documents. `None` unless the run decides
    /// by coverage, which removes a document if kept documents together have its words.
    pub(crate) fn covered_by_several(&self) -> Option<u64> {
        let documents = &self.coverage?.documents;
        Some(documents.iter().filter(|document| document.covering > 1).count() as u64)
    }

    /// Returns whether the run counted the words that are lost with each removed document.
    pub(crate) fn counts_lost_words(&self) -> bool {
        self.losses.is_some()
    }

    /// Returns the number of words of the removed document number `row`, and the number of these words that its kept
    /// document lacks. `None` if the words were not counted.
    pub(crate) fn lost_words(&self, row: u32) -> Option<LostWords> {
        self.losses?.get(row)
    }

    /// Returns the beginning of the text of a document that may be kept in place of removed ones, if it was kept in
    /// memory.
    pub(crate) fn original_excerpt(&self, row: u32) -> Option<&'f [u8]> {
        self.excerpts?.second().get(&self.originals().read.ids, DocOrdinal(row))
    }

    /// Returns the beginning of the text of a document that may be removed, if it was kept in memory.
    pub(crate) fn document_excerpt(&self, row: u32) -> Option<&'f [u8]> {
        self.excerpts?.first().get(&self.documents().read.ids, DocOrdinal(row))
    }

    /// Returns the collection whose documents may be removed.
    #[must_use]
    pub fn documents(&self) -> Side<'f> {
        *self.sides.first()
    }

    /// Returns the collection whose documents may be kept in place of removed ones.
    #[must_use]
    pub(crate) fn originals(&self) -> Side<'f> {
        *self.sides.second()
    }
}
