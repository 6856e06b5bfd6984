//! A sample of a collection with the terms or fingerprints that a method makes of its texts.

use super::budget::Budget;
use super::collection_sample::Sample;
use super::sampled_terms::SampledTerms;
use super::stretch::TextReceiver;
use crate::method::{Criterion, DocumentTerms, Fitted, Method, RowMaker, RowScratch, TermScratch};
use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_read::Corpus;
use simtool_set_join::{SampledSets, TermShares};
use std::borrow::Cow;

/// Maximum number of fingerprints that are kept for comparison with each other.
const KEPT_ROWS: usize = 2048;
/// Minimum number of fingerprints that each stretch keeps, so that near neighbours can be compared.
const LEAST_ROWS: usize = 8;
/// Least share of the terms that are in documents with a possible partner. A sample shows only a part of
/// these documents, because it lacks most of their partners.
const LEAST_SHARE: f64 = 0.06;

/// A sample of a collection, and facts about the terms or fingerprints of the sampled documents.
#[derive(Debug)]
pub(crate) struct MethodSample {
    pub(crate) collection: Sample,
    /// Fingerprints of some documents, if the method makes fingerprints.
    pub(crate) rows: Option<FingerprintRows<'static>>,
    /// The share of the terms in documents that the first round of an exact join of the sampled
    /// documents would keep. The share in the whole collection is larger, because more documents
    /// share terms.
    living_share: f64,
    /// The share of the terms in documents that are similar to another sampled document.
    similar_share: f64,
    /// Numbers of terms of some documents, ascending.
    sizes: Vec<u32>,
}

impl MethodSample {
    /// Samples a collection within about `budget`, and makes terms or fingerprints as `method` does.
    pub(crate) fn read(corpus: &dyn Corpus, method: &Method, isa: Isa, budget: Budget) -> Self {
        let mut maker = TextMaker::new(method, isa);
        let collection = Sample::read(corpus, &mut maker, budget);
        Self {
            collection,
            living_share: maker.terms.living_share(),
            similar_share: maker.terms.similar_share(isa),
            sizes: maker.terms.sizes(),
            rows: maker.into_rows(),
        }
    }

    /// Returns the numbers of sets and terms of the whole collection, with the sizes of the sampled
    /// sets.
    pub(crate) fn sets(&self) -> SampledSets {
        let amounts = &self.collection.amounts;
        SampledSets { sets: amounts.documents, terms: amounts.terms, sizes: self.sizes.clone() }
    }

    /// Returns the shares of the terms that a join of sets depends on, the larger ones of both
    /// collections.
    pub(crate) fn term_shares(samples: &Sides<Self>) -> TermShares {
        let living = samples.iter().map(|sample| sample.living_share);
        let similar = samples.iter().map(|sample| sample.similar_share);
        TermShares {
            living: living.fold(LEAST_SHARE, f64::max),
            similar: similar.fold(LEAST_SHARE, f64::max),
        }
    }
}

/// Makes terms or fingerprints of the sampled texts, as the run does, and keeps some of them.
struct TextMaker {
    kind: MakerKind,
    shape: Option<Shape>,
    row: Vec<u64>,
    kept: Vec<u64>,
    /// Number of fingerprints that may still be kept from this stretch.
    left: usize,
    terms: SampledTerms,
}

enum MakerKind {
    Rows(RowMaker, Box<RowScratch>),
    Terms(DocumentTerms, Box<TermScratch>),
}

impl TextMaker {
    fn new(method: &Method, isa: Isa) -> Self {
        let recipe = method.recipe();
        // Learned weights are not known before the run has read the whole collection. So only terms are
        // made for methods that learn, and the terms take most of the time anyway.
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
            // A method of distances has no threshold of similarity, so the sampled terms use the
            // default.
            Criterion::Distance(_) => Threshold::DEFAULT,
        };
        let terms = SampledTerms::new(threshold);
        Self { kind, shape, row: Vec::new(), kept: Vec::new(), left: 0, terms }
    }

    fn into_rows(self) -> Option<FingerprintRows<'static>> {
        let words = Cow::Owned(self.kept);
        self.shape.map(|shape| FingerprintRows { shape, words, validity: None, recipe: None })
    }
}

impl TextReceiver for TextMaker {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin_stretch(&mut self, share: f64) {
        self.left = ((KEPT_ROWS as f64 * share) as usize).max(LEAST_ROWS);
    }

    fn receive(&mut self, text: &[u8]) -> usize {
        match &mut self.kind {
            MakerKind::Terms(maker, scratch) => {
                let terms = maker.find(text, scratch);
                self.terms.push(terms);
                terms.len()
            }
            MakerKind::Rows(maker, scratch) => {
                self.row.clear();
                let (has_row, terms) = maker.push(text, &mut self.row, scratch);
                // Each stretch keeps its share only, so that early stretches do not use up the room
                // of later ones.
                if has_row && self.left > 0 && self.kept.len() < KEPT_ROWS * self.row.len() {
                    self.left -= 1;
                    self.kept.extend_from_slice(&self.row);
                }
                terms
            }
        }
    }
}
