//! Recipes: rules by which documents become fingerprints. A sketch computes the fingerprint of a document from its
//! terms.

use super::document_terms::{DocumentTerms, TermScratch};
use super::fitted::Fitted;
use super::terms::Terms;
use simtool_base::stable_hash::{SHINGLE_BASE, mix, row_word};
use simtool_fingerprint::seeded::Seeded;
use simtool_fingerprint::{Scratch, Sketch, Sketcher};
use simtool_kernels::Isa;
use simtool_model::features::Features;
use simtool_model::fingerprint_rows::{Metric, Shape, recipe_difference};
use simtool_terms::extract::weighting::{Weigher, Weights};
use std::fmt;
use std::sync::Arc;

/// Minimum number of bits of a fingerprint, so that it may be filled with random bits. Two random fingerprints of so
/// many bits are practically never near each other.
const LEAST_RANDOM_BITS: u32 = 64;
/// Number of terms of a document whose buffers are freed after it, because the next documents are most likely
/// shorter.
const LONG_DOCUMENT: usize = 1 << 17;

/// Rules by which documents become sets of terms or fingerprints. Fingerprints that were made by two recipes
/// can be compared if `Display` writes the same text for both recipes.
#[derive(Clone, Debug)]
pub struct Recipe {
    terms: Terms,
    sketch: Option<Arc<dyn Sketch>>,
}

impl Recipe {
    /// Creates the recipe for comparing sets of terms directly, without fingerprints.
    #[must_use]
    pub fn sets(terms: Terms) -> Self {
        Self { terms, sketch: None }
    }

    /// Creates the recipe for fingerprints. `sketch` computes the fingerprint of a document from its terms.
    #[must_use]
    pub fn rows(terms: Terms, sketch: Arc<dyn Sketch>) -> Self {
        Self { terms, sketch: Some(sketch) }
    }

    /// Returns the same recipe with other hash functions, which `seed` selects, to measure how much a result depends on
    /// them. Returns `None` if sets are compared directly, because their similarity depends on no hash function.
    #[must_use]
    pub(crate) fn with_hash_seed(&self, seed: u64) -> Option<Self> {
        let sketch = Arc::new(Seeded::new(Arc::clone(self.sketch.as_ref()?), seed));
        Some(Self { terms: self.terms.clone(), sketch: Some(sketch) })
    }

    /// Returns the rules by which documents become terms.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns the sketch that computes fingerprints, or `None` if sets are compared directly.
    #[must_use]
    pub fn sketch(&self) -> Option<&dyn Sketch> {
        self.sketch.as_deref()
    }

    /// Returns a text that identifies this recipe and the words or frequencies in `fitted`. Two fingerprints
    /// can be compared only if this text is the same for both.
    #[must_use]
    pub(crate) fn rows_recipe(&self, fitted: &Fitted) -> String {
        let learned = fitted.recipe().map_or(String::new(), |learned| format!("/{learned}"));
        format!("{self}{learned}")
    }

    /// Returns the number of bytes of a fingerprint, or 0 if sets are compared directly.
    #[must_use]
    pub(crate) fn row_bytes(&self) -> u64 {
        self.sketch().map_or(0, |sketch| 8 * sketch.shape().words() as u64)
    }

    /// Returns a description for people of the differences between this recipe and `other`. Returns `None` if
    /// fingerprints that were made by the two recipes can be compared.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<String> {
        recipe_difference(&self.to_string(), &other.to_string())
    }
}

impl fmt::Display for Recipe {
    /// Writes all rules that affect sets or fingerprints, as items that are separated by slashes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (terms, weighting) = (self.terms.recipe(), self.terms.weighting_recipe());
        match self.sketch() {
            None if self.terms.are_weighed_in_sets() => {
                write!(f, "jaccard/{}/weight=idf", self.terms.sets_recipe())
            }
            None => write!(f, "jaccard/{}", self.terms.sets_recipe()),
            Some(sketch) => write!(f, "{}/{terms}/{weighting}", sketch.recipe()),
        }
    }
}

/// Computes fingerprints from texts. All threads share one value.
pub(crate) struct RowMaker {
    terms: DocumentTerms,
    /// Weights of the terms. `None` if each term counts as often as it occurs.
    weigher: Option<Weigher>,
    sketcher: Box<dyn Sketcher>,
    shape: Shape,
}

/// Buffers of one thread for computing fingerprints. They are used again for every document.
#[derive(Debug, Default)]
pub(crate) struct RowScratch {
    terms: TermScratch,
    weights: Weights,
    sketch: Scratch,
}

impl RowScratch {
    /// Creates buffers that also receive a hash of the sequence of tokens of each text.
    pub(crate) fn with_sequence() -> Self {
        Self { terms: TermScratch::with_sequence(), ..Self::default() }
    }

    /// Returns the [hash](TermScratch::sequence) of the sequence of tokens of the last text.
    pub(crate) fn sequence(&self) -> u64 {
        self.terms.sequence()
    }

    /// Returns the number of tokens of the last text, with its stop words.
    pub(crate) fn token_count(&self) -> u32 {
        self.terms.token_count()
    }

    /// Returns the [hash](TermScratch::sequence) of the sequence of tokens that `terms` find in a text.
    pub(crate) fn sequence_of(&mut self, text: &[u8], terms: &DocumentTerms) -> u64 {
        terms.sequence(text, &mut self.terms)
    }
}

impl RowMaker {
    /// Creates a value that computes fingerprints. `terms` defines how texts become terms, and `sketch`
    /// computes fingerprints from the terms. `fitted` holds the words or frequencies that were learned for
    /// such terms.
    pub(crate) fn new(terms: &Terms, sketch: &dyn Sketch, fitted: &Fitted, isa: Isa) -> Self {
        // Plain weights are numbers of occurrences, which need no computation for each term.
        let weighting = Some(terms.weighting()).filter(|weighting| !weighting.is_plain());
        let weigher = weighting.map(|weighting| Weigher::new(weighting, fitted.frequencies()));
        let terms = DocumentTerms::new(terms, fitted, isa);
        Self { terms, weigher, sketcher: sketch.sketcher(isa), shape: sketch.shape() }
    }

    /// Returns whether fingerprints are computed from the same tokens of a text that `terms` finds.
    pub(crate) fn has_tokens_of(&self, terms: &DocumentTerms) -> bool {
        self.terms.has_tokens_of(terms)
    }

    /// Returns the shape of the fingerprints, which is their number of bits and the unit in which distances
    /// are counted.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Computes the fingerprint of a text and appends it to `rows` as 64-bit words. Returns whether the text
    /// has a fingerprint, and the number of its terms. If the text has no fingerprint, the appended words
    /// have no meaning.
    ///
    /// The sketch may give no fingerprint to a text that is short or has no words. Then the fingerprint
    /// consists of random bits that depend on all terms that are compared. So equal texts are near each other in
    /// every method. Other texts are not, unless the terms that `top` chooses are the same.
    pub(crate) fn push(
        &self,
        text: &[u8],
        rows: &mut Vec<u64>,
        scratch: &mut RowScratch,
    ) -> (bool, usize) {
        let terms = self.terms.find_of_tokens(text, &mut scratch.terms);
        let start = rows.len();
        let count = terms.len();
        // The fingerprint is written directly after the fingerprints of earlier documents.
        rows.resize(start + self.shape.words(), 0);
        let features = match &self.weigher {
            None => Features::occurrences(terms),
            Some(weigher) => {
                weigher.weigh(terms, &mut scratch.weights);
                Features { terms, weights: Some(&scratch.weights.weights) }
            }
        };
        let row = &mut rows[start..];
        let has_row = self.sketcher.make(&features, row, &mut scratch.sketch)
            || self.identity(terms, text).is_some_and(|identity| self.fill(identity, row));
        // Otherwise every thread would keep the memory of the longest text that it has seen.
        scratch.terms.release();
        if count > LONG_DOCUMENT {
            scratch.weights = Weights::default();
            scratch.sketch = Scratch::default();
        }
        (has_row, count)
    }

    /// Returns a hash of all terms of a text, or of all its characters if it has no terms. Returns `None` for
    /// a blank text, and if fingerprints are so short that random ones would often be near each other.
    fn identity(&self, terms: &[u64], text: &[u8]) -> Option<u64> {
        if self.shape.row_bits() < LEAST_RANDOM_BITS {
            return None;
        }
        let next = |sum: u64, &term: &u64| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(term);
        if terms.is_empty() {
            self.terms.whole(text)
        } else {
            Some(mix(terms.iter().fold(0, next)))
        }
    }

    /// Fills the fingerprint `row` with random bits that depend only on `identity`. Always returns `true`, which means
    /// that the text has a fingerprint.
    fn fill(&self, identity: u64, row: &mut [u64]) -> bool {
        // If lanes may be empty, the highest bit of a lane marks that it has a value.
        let is_lane = matches!(self.shape.metric(), Metric::Lanes { null: true, .. });
        let value = u64::from(is_lane) << (u64::BITS - 1);
        for (index, word) in (1..).zip(&mut *row) {
            *word = row_word(identity, index) | value;
        }
        let unused = (u64::BITS - self.shape.row_bits() % u64::BITS) % u64::BITS;
        if let Some(last) = row.last_mut() {
            *last &= u64::MAX >> unused;
        }
        true
    }
}
