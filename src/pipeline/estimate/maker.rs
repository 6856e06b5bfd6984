//! What the run makes of documents, made of those that are looked at.

use super::stretch::Making;
use crate::fingerprint_rows::{FingerprintRows, Shape};
use crate::pipeline::method::{
    Criterion, DocumentTerms, Fitted, RowMaker, RowScratch, TermScratch,
};
use crate::pipeline::plan::Plan;
use crate::similarity::Threshold;
use crate::unordered_map::UnorderedMap;
use std::borrow::Cow;

/// Fingerprints that are kept to be compared with each other.
const KEPT_ROWS: usize = 2048;
/// Terms that are kept to see which are in two documents.
const KEPT_TERMS: usize = 1 << 19;

/// Makes of documents what the run makes of them.
pub(super) struct Maker {
    made: Made,
    shape: Option<Shape>,
    row: Vec<u64>,
    kept: Vec<u64>,
    /// Fingerprints of this stretch that are still kept.
    left: usize,
    pub(super) terms: SampledTerms,
}

/// Some terms of some documents, by which those are told that have a partner among these.
pub(super) struct SampledTerms {
    threshold: Threshold,
    /// Terms whose lowest bits are below it are looked at.
    below: u64,
    terms: Vec<u64>,
    /// Where those of each document end, and how many it has.
    documents: Vec<(usize, usize)>,
}

impl SampledTerms {
    fn new(threshold: Threshold) -> Self {
        Self { threshold, below: 2, terms: Vec::new(), documents: Vec::new() }
    }

    fn push(&mut self, terms: &[u64]) {
        if self.terms.len() < KEPT_TERMS {
            let below = self.below;
            self.terms.extend(terms.iter().filter(|&&term| term & 7 < below));
            self.documents.push((self.terms.len(), terms.len()));
        }
    }

    /// How many terms each document has, ascending.
    pub(super) fn sizes(&self) -> Vec<u32> {
        let sizes = self.documents.iter().filter(|&&(_, size)| size > 0);
        let mut sizes: Vec<u32> =
            sizes.map(|&(_, size)| size.try_into().unwrap_or(u32::MAX)).collect();
        sizes.sort_unstable();
        sizes
    }

    pub(super) fn living_share(&self) -> f64 {
        let mut counts: UnorderedMap<u64, u32> = UnorderedMap::default();
        for &term in &self.terms {
            *counts.entry(term).or_insert(0) += 1;
        }
        let (mut start, mut living, mut all) = (0, 0, 0);
        for &(end, size) in &self.documents {
            let unmatched = self.terms[start..end].iter().filter(|term| counts[*term] == 1).count();
            // Of a part of the terms, about that part may be unmatched.
            let most = self.threshold.max_unshared(size.try_into().unwrap_or(u32::MAX));
            let is_living = unmatched as f64 * 8.0 <= f64::from(most) * self.below as f64;
            living += if is_living { size } else { 0 };
            all += size;
            start = end;
        }
        living as f64 / all.max(1) as f64
    }
}

enum Made {
    Rows(RowMaker, Box<RowScratch>),
    Terms(DocumentTerms, Box<TermScratch>),
}

impl Maker {
    pub(super) fn new(plan: &Plan) -> Self {
        let (recipe, isa) = (plan.method().recipe(), plan.resources().isa);
        // What a collection teaches is not known here; the terms of the texts take most of the time.
        let sketch = recipe.sketch().filter(|_| !recipe.terms().is_learned());
        let (made, shape) = if let Some(sketch) = sketch {
            let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, isa);
            let shape = maker.shape();
            (Made::Rows(maker, Box::default()), Some(shape))
        } else {
            let terms = DocumentTerms::new(recipe.terms(), &Fitted::Nothing, isa);
            (Made::Terms(terms, Box::default()), None)
        };
        let threshold = match plan.method().close() {
            Criterion::Similarity(threshold) => threshold,
            Criterion::Distance(_) => Threshold::DEFAULT,
        };
        let terms = SampledTerms::new(threshold);
        Self { made, shape, row: Vec::new(), kept: Vec::new(), left: 0, terms }
    }

    pub(super) fn into_rows(self) -> Option<FingerprintRows<'static>> {
        let words = Cow::Owned(self.kept);
        self.shape.map(|shape| FingerprintRows { shape, words, validity: None, recipe: None })
    }
}

impl Making for Maker {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin(&mut self, share: f64) {
        self.left = ((KEPT_ROWS as f64 * share) as usize).max(8);
    }

    /// Terms or a fingerprint.
    fn make(&mut self, text: &[u8]) -> usize {
        match &mut self.made {
            Made::Terms(maker, scratch) => {
                let terms = maker.of(text, scratch);
                self.terms.push(terms);
                terms.len()
            }
            Made::Rows(maker, scratch) => {
                self.row.clear();
                let (has_row, terms) = maker.push(text, &mut self.row, scratch);
                if has_row && self.left > 0 && self.kept.len() < KEPT_ROWS * self.row.len() {
                    self.left -= 1;
                    self.kept.extend_from_slice(&self.row);
                }
                terms
            }
        }
    }
}
