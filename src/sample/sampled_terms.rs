//! Terms of sampled documents, which show how many documents have a similar document.

use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::similarity::Threshold;
use simtool_set_join::{SetJoin, TermSource, Wanted};

/// Number of kept terms after which no more documents are added. The kept terms show which terms occur in at least two
/// documents.
const KEPT_TERMS: usize = 1 << 19;
/// Fraction of all terms that is kept, in eighths. A term is kept if its lowest three bits, read as a
/// number, are below this constant. So a term that occurs in several documents is kept either in all of
/// them or in none.
const KEPT_EIGHTHS: u64 = 2;
/// Maximum number of sampled documents that are compared with each other. The first documents are used.
const COMPARED_DOCUMENTS: usize = 2048;
/// Maximum bytes of memory for comparing the sampled documents.
const COMPARING_BYTES: u64 = 256 << 20;

/// Some terms of sampled documents. They show how many documents are similar to another sampled
/// document, and how many may be.
pub(super) struct SampledTerms {
    threshold: Threshold,
    terms: Vec<u64>,
    /// One entry for each document: the end of its kept terms in `terms`, and the number of all its
    /// terms, including the terms that are not kept.
    documents: Vec<(usize, usize)>,
}

impl SampledTerms {
    pub(super) fn new(threshold: Threshold) -> Self {
        Self { threshold, terms: Vec::new(), documents: Vec::new() }
    }

    /// Adds a document that has the terms `terms`. Does nothing if at least [`KEPT_TERMS`] terms are already kept.
    pub(super) fn push(&mut self, terms: &[u64]) {
        if self.terms.len() < KEPT_TERMS {
            self.terms.extend(terms.iter().filter(|&&term| term & 7 < KEPT_EIGHTHS));
            self.documents.push((self.terms.len(), terms.len()));
        }
    }

    /// Returns the number of terms of each document, in ascending order. Documents without terms are
    /// left out.
    pub(super) fn sizes(&self) -> Vec<u32> {
        let sizes = self.documents.iter().filter(|&&(_, size)| size > 0);
        let mut sizes: Vec<u32> =
            sizes.map(|&(_, size)| size.try_into().unwrap_or(u32::MAX)).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns, for each document, its kept terms and the number of all its terms.
    fn documents(&self) -> impl Iterator<Item = (&[u64], usize)> {
        let starts = std::iter::once(0).chain(self.documents.iter().map(|&(end, _)| end));
        let documents = starts.zip(&self.documents);
        documents.map(|(start, &(end, size))| (&self.terms[start..end], size))
    }

    /// Returns the fraction of the terms that belong to living documents. A document is living if, by the
    /// counts of its terms, it may have a similar document. The first round of an exact join of the
    /// sampled documents would keep these documents. The fraction in the whole collection is larger,
    /// because there more documents share terms.
    pub(super) fn living_share(&self) -> f64 {
        let mut counts: UnorderedMap<u64, u32> = UnorderedMap::default();
        for &term in &self.terms {
            *counts.entry(term).or_insert(0) += 1;
        }
        let is_living = |terms: &[u64], size: usize| {
            let unmatched = terms.iter().filter(|term| counts[*term] == 1).count();
            // Only `KEPT_EIGHTHS` eighths of the terms are kept. So the number of unshared terms among
            // the kept terms is compared with the same fraction of the maximum.
            let most = self.threshold.max_unshared(size.try_into().unwrap_or(u32::MAX));
            unmatched as f64 * 8.0 <= f64::from(most) * KEPT_EIGHTHS as f64
        };
        share_of_terms(self.documents().map(|(terms, size)| (size, is_living(terms, size))))
    }

    /// Returns the fraction of all terms that belong to the documents whose flags are true.
    fn share_of(&self, flags: &[bool; COMPARED_DOCUMENTS]) -> f64 {
        share_of_terms(self.documents().zip(flags).map(|((_, size), flag)| (size, *flag)))
    }

    /// Compares the first [`COMPARED_DOCUMENTS`] documents of the sample with each other. Returns the fractions of
    /// their terms and pairs that belong to similar documents.
    pub(super) fn similar_shares(&self, isa: Isa) -> SimilarShares {
        let context = Context::default().with_isa(isa).with_memory(COMPARING_BYTES);
        let join = SetJoin::new(self.threshold, &context);
        // If the join fails, for example for lack of memory, the estimate goes on without similar
        // documents.
        let Ok(close) = join.self_join(self) else { return SimilarShares::default() };
        let mut has_partner = [false; COMPARED_DOCUMENTS];
        // Of equal documents, only the first one has pairs, and the others are not compared.
        for row in close.pairs.iter().flat_map(|pair| [pair.a, pair.b]) {
            has_partner[row as usize] = true;
        }
        let mut is_repeated = [false; COMPARED_DOCUMENTS];
        for &row in close.groups.first().iter().flat_map(|group| &group[1..]) {
            is_repeated[row as usize] = true;
        }
        let compared = self.documents.len().min(COMPARED_DOCUMENTS) as f64;
        SimilarShares {
            terms: self.share_of(&has_partner),
            repeated_terms: self.share_of(&is_repeated),
            pairs: close.pairs.len() as f64 / (compared * (compared - 1.0) / 2.0).max(1.0),
        }
    }
}

/// Fractions of sampled documents that are similar or equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SimilarShares {
    /// Fraction of the terms that belong to documents which are similar to another document. Of equal documents, only
    /// the first one counts.
    pub(super) terms: f64,
    /// Fraction of the terms that belong to documents which are equal to an earlier document.
    pub(super) repeated_terms: f64,
    /// Fraction of all pairs of documents that are similar and not equal.
    pub(super) pairs: f64,
}

/// Returns the fraction of all terms that belong to documents whose flag is true. `documents` gives the number of terms
/// and the flag of each document.
fn share_of_terms(documents: impl Iterator<Item = (usize, bool)>) -> f64 {
    let mut with_flag = 0;
    let mut all = 0;
    for (terms, has_flag) in documents {
        with_flag += if has_flag { terms } else { 0 };
        all += terms;
    }
    with_flag as f64 / all.max(1) as f64
}

/// Gives the kept terms of the first [`COMPARED_DOCUMENTS`] documents to a join, as one shard.
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

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    fn shares(documents: impl Iterator<Item = Vec<u64>>) -> [f64; 3] {
        let mut sampled = SampledTerms::new(Threshold::DEFAULT);
        for terms in documents {
            sampled.push(&terms);
        }
        let similar = sampled.similar_shares(Isa::detected());
        [sampled.living_share(), similar.terms, similar.repeated_terms]
    }

    #[test]
    fn similar_documents_differ_from_documents_that_only_share_terms_with_many() {
        // A quarter of the documents is a template with a few own terms, and another quarter is equal. Of the equal ones,
        // one document counts as similar.
        let copies = (0..200).map(|document| {
            let own = (document + 1) << 32;
            let of_template = [380, 400, 0, 0][document as usize % 4];
            (0..400).map(|at| mix(if at < of_template { at } else { own | at })).collect()
        });
        let [living, similar, repeated] = shares(copies);
        assert!((repeated - 0.245).abs() < 0.01, "{repeated}");
        assert!(
            (living - 0.5).abs() < 0.01 && (similar - 0.25).abs() < 0.01,
            "{living}, {similar}"
        );
        // Each document joins two halves, and no two documents have the same pair of halves.
        let quoting = (0..200).map(|document| {
            let halves = [document / 20, 100 + document % 20];
            halves.iter().flat_map(|half| (0..200).map(move |at| mix(half << 32 | at))).collect()
        });
        let [living, similar, repeated] = shares(quoting);
        assert!(living > 0.99 && similar + repeated < 0.01, "{living}, {similar}, {repeated}");
    }

    #[test]
    fn sizes_are_sorted_and_leave_out_documents_without_terms() {
        let mut sampled = SampledTerms::new(Threshold::DEFAULT);
        for terms in [&[8, 9, 15][..], &[], &[7], &[1, 2]] {
            sampled.push(terms);
        }
        assert_eq!(sampled.sizes(), [1, 2, 3]);
    }
}
