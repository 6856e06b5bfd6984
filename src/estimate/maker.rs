//! What the run makes of documents, made of those that are looked at.

use super::stretch::Making;
use crate::method::{Criterion, DocumentTerms, Fitted, RowMaker, RowScratch, TermScratch};
use crate::pipeline::plan::Plan;
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::fingerprint_rows::{FingerprintRows, Shape};
use simtool_model::similarity::Threshold;
use simtool_set_join::{SetJoin, TermSource, Wanted};
use std::borrow::Cow;

/// Fingerprints that are kept to be compared with each other.
const KEPT_ROWS: usize = 2048;
/// Terms that are kept to see which are in two documents.
const KEPT_TERMS: usize = 1 << 19;
/// Documents at the most that are compared with each other, and bytes that this may take.
const COMPARED_DOCUMENTS: usize = 2048;
const COMPARING_BYTES: u64 = 256 << 20;

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

/// Some terms of some documents, by which those are told that have, or may have, a partner among these.
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

    /// The terms that were kept of each document, and how many it has.
    fn documents(&self) -> impl Iterator<Item = (&[u64], usize)> {
        let starts = std::iter::once(0).chain(self.documents.iter().map(|&(end, _)| end));
        let documents = starts.zip(&self.documents);
        documents.map(|(start, &(end, size))| (&self.terms[start..end], size))
    }

    /// The share of the terms that is in documents which the first round of an exact join would not
    /// drop, if there were no documents but these: in all, it is more.
    pub(super) fn living_share(&self) -> f64 {
        let mut counts: UnorderedMap<u64, u32> = UnorderedMap::default();
        for &term in &self.terms {
            *counts.entry(term).or_insert(0) += 1;
        }
        let is_living = |terms: &[u64], size: usize| {
            let unmatched = terms.iter().filter(|term| counts[*term] == 1).count();
            // Of a part of the terms, about that part may be unmatched.
            let most = self.threshold.max_unshared(size.try_into().unwrap_or(u32::MAX));
            unmatched as f64 * 8.0 <= f64::from(most) * self.below as f64
        };
        share(self.documents().map(|(terms, size)| (size, is_living(terms, size))))
    }

    /// The share of the terms that is in documents which are like another one of these.
    pub(super) fn alike_share(&self, isa: Isa) -> f64 {
        let context = Context::default().with_isa(isa).with_memory(COMPARING_BYTES);
        let join = SetJoin::new(self.threshold, &context);
        let Ok(close) = join.self_join(self) else { return 0.0 };
        let mut has_partner = [false; COMPARED_DOCUMENTS];
        let of_pairs = close.pairs.iter().flat_map(|pair| [pair.a, pair.b]);
        for row in of_pairs.chain(close.groups.first().iter().flatten().copied()) {
            has_partner[row as usize] = true;
        }
        share(self.documents().zip(has_partner).map(|((_, size), has)| (size, has)))
    }
}

/// The share of what is so large that has something.
fn share(sizes: impl Iterator<Item = (usize, bool)>) -> f64 {
    let (having, all) = sizes
        .fold((0, 0), |(having, all), (size, has)| (having + size * usize::from(has), all + size));
    having as f64 / all.max(1) as f64
}

/// The documents that are compared, with the terms that were kept of them.
impl TermSource for SampledTerms {
    fn shard_count(&self) -> usize {
        1
    }

    fn term_count_hint(&self) -> u64 {
        self.terms.len() as u64
    }

    fn visit_shard(
        &self,
        _shard: usize,
        wanted: Wanted<'_>,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        for (index, (terms, _)) in (0..).zip(self.documents().take(COMPARED_DOCUMENTS)) {
            if wanted.has(index) {
                visit(index, terms);
            }
        }
        Ok(())
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
                let terms = maker.find(text, scratch);
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

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    fn shares(documents: impl Iterator<Item = Vec<u64>>) -> [f64; 2] {
        let mut sampled = SampledTerms::new(Threshold::DEFAULT);
        for terms in documents {
            sampled.push(&terms);
        }
        [sampled.living_share(), sampled.alike_share(Isa::detected())]
    }

    #[test]
    fn documents_that_are_alike_are_told_from_those_whose_terms_are_elsewhere_too() {
        // A quarter is made of a template with something of their own, a quarter is equal.
        let alike = (0..200).map(|document| {
            let own = (document + 1) << 32;
            let of_template = [380, 400, 0, 0][document as usize % 4];
            (0..400).map(|at| mix(if at < of_template { at } else { own | at })).collect()
        });
        let [living, alike] = shares(alike);
        assert!((living - 0.5).abs() < 0.01 && (alike - 0.5).abs() < 0.01, "{living}, {alike}");
        // Two halves each, which are put together anew every time.
        let quoting = (0..200).map(|document| {
            let halves = [document / 20, 100 + document % 20];
            halves.iter().flat_map(|half| (0..200).map(move |at| mix(half << 32 | at))).collect()
        });
        let [living, alike] = shares(quoting);
        assert!(living > 0.99 && alike < 0.01, "{living}, {alike}");
    }
}
