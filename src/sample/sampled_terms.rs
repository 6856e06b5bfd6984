//! Terms of sampled documents, which show how many documents have a similar document.

use super::partners::Partners;
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_model::groups::Groups;
use simtool_model::similarity::Threshold;
use simtool_set_join::close::ClosePairs;
use simtool_set_join::{SetJoin, TermSource, Wanted};

/// Number of kept terms after which no more documents are added. The kept terms show which terms occur in at least two
/// documents.
const KEPT_TERMS: usize = 1 << 21;
/// Fraction of all terms that is kept, in eighths. A term is kept if its lowest three bits, read as a
/// number, are below this constant. So a term that occurs in several documents is kept either in all of
/// them or in none.
const KEPT_EIGHTHS: u64 = 2;
/// Maximum number of sampled documents that are compared with each other. The first documents are used.
const COMPARED_DOCUMENTS: usize = 8192;
/// Minimum number of terms that each section may keep, even if its share of [`KEPT_TERMS`] is smaller. The documents of a
/// section are next to each other in the input, so they show how similar such documents are.
const SECTION_TERMS: usize = KEPT_TERMS / 64;
/// Maximum bytes of memory for comparing the sampled documents.
const COMPARING_BYTES: u64 = 256 << 20;

/// Some terms of sampled documents. They show how many documents are similar to another sampled
/// document, and how many may be.
pub(super) struct SampledTerms {
    threshold: Threshold,
    terms: Vec<u64>,
    documents: Vec<SampledDocument>,
    /// Number of the section (a part of a shard) from which documents are added.
    section: u32,
    /// Number of terms after which no more documents of the section are added. So there are documents of many sections.
    section_end: usize,
}

/// A document whose terms were sampled.
#[derive(Clone, Copy)]
struct SampledDocument {
    /// End of its kept terms in [`SampledTerms::terms`].
    end: usize,
    /// Number of all its terms, including those that are not kept.
    size: usize,
    /// Number of its section.
    section: u32,
}

impl SampledTerms {
    pub(super) fn new(threshold: Threshold) -> Self {
        Self {
            threshold,
            terms: Vec::new(),
            documents: Vec::new(),
            section: 0,
            section_end: KEPT_TERMS,
        }
    }

    /// Begins a section, which is a part of a shard. It may keep the fraction `share` of [`KEPT_TERMS`], and
    /// at least [`SECTION_TERMS`].
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    pub(super) fn begin_section(&mut self, share: f64) {
        self.section += 1;
        let most = ((KEPT_TERMS as f64 * share) as usize).max(SECTION_TERMS);
        self.section_end = (self.terms.len() + most).min(KEPT_TERMS);
    }

    /// Adds a document that has the terms `terms`. Does nothing if enough terms are kept already, of all sections or of
    /// this one.
    pub(super) fn push(&mut self, terms: &[u64]) {
        if self.terms.len() < self.section_end {
            self.terms.extend(terms.iter().filter(|&&term| term & 7 < KEPT_EIGHTHS));
            let (end, size) = (self.terms.len(), terms.len());
            self.documents.push(SampledDocument { end, size, section: self.section });
        }
    }

    /// Returns the number of terms of each document, in ascending order. Documents without terms are
    /// left out.
    pub(super) fn sizes(&self) -> Vec<u32> {
        let sizes = self.documents.iter().map(|document| document.size).filter(|&size| size > 0);
        let mut sizes: Vec<u32> = sizes.map(|size| size.try_into().unwrap_or(u32::MAX)).collect();
        sizes.sort_unstable();
        sizes
    }

    /// Returns, for each document, its kept terms and the number of all its terms.
    fn documents(&self) -> impl Iterator<Item = (&[u64], usize)> {
        let starts = std::iter::once(0).chain(self.documents.iter().map(|document| document.end));
        let documents = starts.zip(&self.documents);
        documents.map(|(start, document)| (&self.terms[start..document.end], document.size))
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

    /// Returns the fraction of all terms that belong to the documents for whose counterparts `has_flag` is true.
    fn share_of(&self, found: &[Counterparts], has_flag: impl Fn(&Counterparts) -> bool) -> f64 {
        let documents = self.documents().zip(found);
        share_of_terms(documents.map(|((_, size), found)| (size, has_flag(found))))
    }

    /// Returns the number of documents that are compared with each other.
    fn compared(&self) -> usize {
        self.documents.len().min(COMPARED_DOCUMENTS)
    }

    fn section(&self, row: u32) -> u32 {
        self.documents[row as usize].section
    }

    /// Returns for each compared document what is known of its equal documents. `groups` are the groups of equal
    /// documents.
    fn equal_counterparts(&self, groups: &Groups) -> Vec<Counterparts> {
        let mut found = vec![Counterparts::default(); self.compared()];
        for group in groups.iter() {
            // Rows ascend, and so do their sections.
            for of_section in
                group.chunk_by(|&one, &other| self.section(one) == self.section(other))
            {
                for (at, &row) in of_section.iter().enumerate() {
                    found[row as usize] = Counterparts {
                        elsewhere: (group.len() - of_section.len()) as u32,
                        is_nearby: at > 0,
                        is_earlier: row != group[0],
                    };
                }
            }
        }
        found
    }

    /// Returns for each compared document what is known of its similar documents. Of equal documents, only the first one
    /// has pairs.
    fn similar_counterparts(&self, pairs: &ClosePairs) -> Vec<Counterparts> {
        let mut found = vec![Counterparts::default(); self.compared()];
        for pair in pairs.iter() {
            let is_same = self.section(pair.a) == self.section(pair.b);
            for row in [pair.a, pair.b] {
                let counterparts = &mut found[row as usize];
                counterparts.elsewhere += u32::from(!is_same);
                counterparts.is_nearby |= is_same;
            }
        }
        found
    }

    /// Returns the numbers of counterparts in other sections. Documents that are equal to an earlier one count only if
    /// `with_repeated` is true.
    fn partners(
        &self,
        found: &[Counterparts],
        equal: &[Counterparts],
        with_repeated: bool,
    ) -> Partners {
        let rows = (0..).zip(found).zip(equal);
        let rows = rows.filter(|(_, equal)| with_repeated || !equal.is_earlier);
        Partners::count(rows.map(|((row, found), _)| (self.section(row), found.elsewhere)))
    }

    /// Compares the first [`COMPARED_DOCUMENTS`] documents of the sample with each other. Returns the fractions of
    /// terms and pairs that belong to similar documents, in a collection of `documents` documents. A document may have
    /// more partners there than in the sample.
    pub(super) fn similar_shares(&self, isa: Isa, documents: f64) -> SimilarShares {
        let context = Context::default().with_isa(isa).with_memory(COMPARING_BYTES);
        let join = SetJoin::new(self.threshold, &context);
        // If the join fails, for example for lack of memory, the estimate goes on without similar
        // documents.
        let Ok(close) = join.self_join(self) else { return SimilarShares::default() };
        let equal = self.equal_counterparts(close.groups.first());
        let similar = self.similar_counterparts(&close.pairs);
        let later = self.partners(&equal, &equal, true).later_share(documents);
        let repeated = either(self.share_of(&equal, |equal| equal.is_nearby), later);
        let distinct = 1.0 - repeated;
        let of_distinct = 1.0 - self.share_of(&equal, |equal| equal.is_earlier);
        let nearby = self.share_of(&similar, |similar| similar.is_nearby) / of_distinct;
        let similar = self.partners(&similar, &equal, false);
        let compared = self.compared() as f64;
        let pairs = compared * (compared - 1.0) / 2.0;
        SimilarShares {
            terms: distinct * either(nearby.min(1.0), similar.share(documents * distinct)),
            repeated_terms: repeated,
            partners: similar.mean(documents * distinct),
            pairs: close.pairs.len() as f64 / pairs.max(1.0),
        }
    }
}

/// The documents of the sample that are similar to a document, or equal to it.
#[derive(Clone, Copy, Default)]
struct Counterparts {
    /// Number of them in other sections.
    elsewhere: u32,
    /// Whether one is in the section of the document. An equal document counts if it is an earlier one.
    is_nearby: bool,
    /// Whether an earlier document is equal.
    is_earlier: bool,
}

/// Fractions of sampled documents that are similar or equal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SimilarShares {
    /// Fraction of the terms that belong to documents which are similar to another document. Of equal documents, only
    /// the first one counts.
    pub(super) terms: f64,
    /// Fraction of the terms that belong to documents which are equal to an earlier document.
    pub(super) repeated_terms: f64,
    /// Average number of similar documents elsewhere in the collection, for a document that is equal to no earlier one.
    pub(super) partners: f64,
    /// Fraction of all pairs of documents that are similar and not equal.
    pub(super) pairs: f64,
}

/// Returns the probability that at least one of two independent events happens.
fn either(first: f64, second: f64) -> f64 {
    1.0 - (1.0 - first) * (1.0 - second)
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
        let similar = sampled.similar_shares(Isa::detected(), sampled.documents.len() as f64);
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
    fn a_copy_in_another_section_shows_that_most_documents_of_a_large_collection_have_copies() {
        let mut sampled = SampledTerms::new(Threshold::DEFAULT);
        for section in 0..4_u64 {
            sampled.begin_section(0.25);
            for document in 0..100 {
                // The first documents of the first two sections are similar, and those of the others are equal.
                let is_copy = document < 5;
                let original = if is_copy { section / 2 } else { section + 2 };
                let own = if section == 1 && is_copy { 4 } else { 0 };
                let term = |at: u64| mix(original << 48 | document << 32 | at);
                let terms = (0..400).map(|at| if at < own { mix(at << 16) } else { term(at) });
                sampled.push(&terms.collect::<Vec<u64>>());
            }
        }
        let shares = [400.0, 4e6].map(|all| sampled.similar_shares(Isa::detected(), all));
        let [small, large] = shares.map(|shares| [shares.terms, shares.repeated_terms]);
        assert!(small.iter().all(|share| *share < 0.05), "{small:?}");
        assert!(large.iter().sum::<f64>() > 0.5, "{large:?}");
        let partners = shares.map(|shares| shares.partners);
        assert!(partners[0] < 0.1 && partners[1] > 10.0 * partners[0], "{partners:?}");
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
