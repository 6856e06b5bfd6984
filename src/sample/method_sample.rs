//! A sample of a collection with the terms or fingerprints that a method makes of its texts.

use super::budget::Budget;
use super::collection_sample::Sample;
use super::sampled_terms::SampledTerms;
use super::section::TextReceiver;
use crate::method::{Criterion, DocumentTerms, Fitted, Method, RowMaker, RowScratch, TermScratch};
use simtool_compute::resources::Resources;
use simtool_model::document::Document;
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_read::Corpus;
use simtool_set_join::{SampledSets, TermShares};
use std::borrow::Cow;

/// Maximum number of fingerprints that a sample keeps. They are later compared with each other.
const KEPT_ROWS: usize = 2048;
/// Number of fingerprints that every section (a part of a shard) may keep, even if its share of [`KEPT_ROWS`] is
/// smaller. Several fingerprints of one section allow to compare documents that are close together in the input.
const LEAST_ROWS: usize = 8;
/// Lower bound for the fractions of terms in [`TermShares`]. A sample lacks most of the documents that are similar to a
/// sampled document, so the fractions that are measured in a sample are too small.
const LEAST_SHARE: f64 = 0.06;
/// Approximate maximum number of bytes of memory that the terms of a text take for each byte of text. A text is cut
/// when it is sampled, if it is longer than the memory limit in bytes divided by this number.
const MEMORY_A_TEXT_BYTE: u64 = 64;
/// Number of bytes up to which a text is sampled as a whole, even if the memory limit is small.
const ALWAYS_SAMPLED: usize = 256 << 10;
/// Minimum fraction of similar pairs in a sample. If the fraction is smaller, the estimate counts no memory for pairs.
/// From this fraction on, most documents are made from a few templates.
const LEAST_PAIR_SHARE: f64 = 0.05;

/// A sample of a collection, with facts about the terms or fingerprints that a method makes of the
/// sampled documents.
#[derive(Debug)]
pub(crate) struct MethodSample {
    pub(crate) collection: Sample,
    /// Fingerprints of some sampled documents. `None` if the method makes no fingerprints, or if their
    /// weights must first be learned from the whole collection.
    pub(crate) rows: Option<FingerprintRows<'static>>,
    /// Fraction of the sampled terms that belong to living documents. A document is living if, by the
    /// counts of its terms, it may have a similar document. The first round of an exact join keeps these
    /// documents. The fraction in the whole collection is larger, because there more documents share terms.
    living_share: f64,
    /// Fraction of the sampled terms that belong to documents which are similar to another sampled
    /// document.
    similar_share: f64,
    /// Fraction of the sampled terms that belong to documents which are equal to an earlier sampled document.
    repeated_share: f64,
    /// Average number of similar documents elsewhere in the collection, for a document that is equal to no earlier one.
    partners: f64,
    /// Fraction of all pairs of sampled documents that are similar and not equal.
    pair_share: f64,
    /// Number of terms of each document whose terms were sampled, in ascending order.
    sizes: Vec<u32>,
}

impl MethodSample {
    /// Reads a sample of a collection within about `budget`. Makes terms or fingerprints of the sampled
    /// texts as `method` does.
    pub(crate) fn read(
        corpus: &dyn Corpus,
        method: &Method,
        resources: &Resources,
        budget: Budget,
    ) -> Self {
        let isa = resources.isa;
        let mut maker = TextMaker::new(method, resources);
        let collection = Sample::read(corpus, &mut maker, budget);
        let similar = maker.terms.similar_shares(isa, collection.amounts.documents);
        Self {
            collection,
            living_share: maker.terms.living_share().max(similar.terms + similar.repeated_terms),
            similar_share: similar.terms,
            repeated_share: similar.repeated_terms,
            partners: similar.partners,
            pair_share: similar.pairs,
            sizes: maker.terms.sizes(),
            rows: maker.into_rows(),
        }
    }

    /// Returns the estimated numbers of documents and terms in the whole collection, and the numbers of terms of the
    /// sampled documents. The set of a document is made of its distinct terms.
    pub(crate) fn sets(&self) -> SampledSets {
        let amounts = &self.collection.amounts;
        SampledSets { sets: amounts.documents, terms: amounts.terms, sizes: self.sizes.clone() }
    }

    /// Returns the fractions of terms that determine the cost of a join of sets. Each fraction is the
    /// largest one of all `samples`, but at least [`LEAST_SHARE`].
    pub(crate) fn term_shares(samples: &Sides<Self>) -> TermShares {
        let living = samples.iter().map(|sample| sample.living_share);
        let similar = samples.iter().map(|sample| sample.similar_share);
        let repeated = samples.iter().map(|sample| sample.repeated_share);
        let partners = samples.iter().map(|sample| sample.partners);
        let pairs = samples.iter().map(|sample| sample.pair_share).fold(0.0, f64::max);
        TermShares {
            living: living.fold(LEAST_SHARE, f64::max),
            similar: similar.fold(LEAST_SHARE, f64::max),
            // More repeated terms need less memory, so the smaller fraction is the safe one.
            repeated: repeated.fold(1.0, f64::min),
            partners: partners.fold(0.0, f64::max),
            // Sampled documents are close together in the input, and such documents are more often similar than others.
            pairs: if pairs < LEAST_PAIR_SHARE { 0.0 } else { pairs },
        }
    }
}

/// Makes terms or fingerprints of the sampled texts as the run does, and keeps some of them.
struct TextMaker {
    kind: MakerKind,
    shape: Option<Shape>,
    row: Vec<u64>,
    kept: Vec<u64>,
    /// Number of fingerprints that may still be kept from the current section.
    left: usize,
    terms: SampledTerms,
    /// Maximum number of bytes of a text. Only the beginning of a longer text is sampled.
    longest: usize,
}

enum MakerKind {
    Rows(RowMaker, Box<RowScratch>),
    Terms(DocumentTerms, Box<TermScratch>),
}

impl TextMaker {
    fn new(method: &Method, resources: &Resources) -> Self {
        let isa = resources.isa;
        let recipe = method.recipe();
        // Learned weights are known only when a run has read the whole collection. So the sample makes only terms for
        // methods that learn weights. Making terms takes most of the time anyway.
        let sketch = recipe.sketch().filter(|_| !recipe.terms().is_learned());
        let mut shape = None;
        let kind = if let Some(sketch) = sketch {
            let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, isa);
            shape = Some(maker.shape());
            MakerKind::Rows(maker, Box::default())
        } else {
            let terms = DocumentTerms::new(recipe.terms(), &Fitted::Nothing, isa);
            MakerKind::Terms(terms, Box::default())
        };
        let threshold = match method.close() {
            Criterion::Similarity(threshold) => threshold,
            // A method that compares no similarities has no similarity threshold, so the sampled terms use
            // the default threshold.
            Criterion::Distance(_) | Criterion::Coverage => Threshold::DEFAULT,
        };
        let terms = SampledTerms::new(threshold);
        let share = usize::try_from(resources.memory / MEMORY_A_TEXT_BYTE).unwrap_or(usize::MAX);
        let longest = share.max(ALWAYS_SAMPLED);
        Self { kind, shape, row: Vec::new(), kept: Vec::new(), left: 0, terms, longest }
    }

    fn into_rows(self) -> Option<FingerprintRows<'static>> {
        let words = Cow::Owned(self.kept);
        self.shape.map(|shape| FingerprintRows { shape, words, validity: None, recipe: None })
    }
}

impl TextReceiver for TextMaker {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin_section(&mut self, share: f64) {
        self.terms.begin_section(share);
        self.left = ((KEPT_ROWS as f64 * share) as usize).max(LEAST_ROWS);
    }

    fn receive(&mut self, document: &Document<'_>) -> usize {
        // The memory of a sample is not planned, so a text that needs much of it is cut.
        let text = &document.text[..document.text.len().min(self.longest)];
        let terms = match &mut self.kind {
            MakerKind::Terms(maker, scratch) => {
                let terms = maker.find(text, scratch);
                self.terms.push(terms);
                let count = terms.len();
                scratch.release();
                count
            }
            MakerKind::Rows(maker, scratch) => {
                self.row.clear();
                let (has_row, terms) = maker.push(text, &mut self.row, scratch);
                // A section keeps only its share of the fingerprints, so that later sections can keep
                // some, too.
                if has_row && self.left > 0 && self.kept.len() < KEPT_ROWS * self.row.len() {
                    self.left -= 1;
                    self.kept.extend_from_slice(&self.row);
                }
                terms
            }
        };
        // The rest of a long text has as many terms as its beginning.
        let terms = terms as u128 * document.text.len() as u128 / text.len().max(1) as u128;
        usize::try_from(terms).unwrap_or(usize::MAX)
    }
}
