//! Lists of the documents that contain each term. They are used to compute the number or the weight of the terms that
//! any two documents share.
//!
//! The list of a term with d documents has d²/2 pairs to visit. So terms that many documents contain are
//! stored as bits. Each document has one bit for each such term, and 64 bits are compared at a time. This
//! works only if all terms weigh the same.

use rayon::slice::ParallelSliceMut;
use simtool_base::error::Result;
use simtool_compute::threads::Threads;
use simtool_kernels::Isa;
use simtool_kernels::row_bits::shared_bits;
use std::ops::{AddAssign, Range};

/// Divisor for deciding how the documents of a term are stored. If more than 1/32 of all documents contain
/// the term, they are stored as bits, otherwise as a list.
const BIT_SHARE: usize = 32;

/// The terms of each document, and the documents of each term. Terms that only one document contains are left
/// out. Terms with a list of documents are numbered from 0, and frequent terms are stored as bits instead.
#[derive(Debug)]
pub(super) struct TermLists {
    /// Number of distinct terms of each document, including terms that no other document has.
    sizes: Vec<u32>,
    /// Weight of each term, and total weight of the terms of each document. `None` if all terms weigh the
    /// same.
    weights: Option<(Vec<u32>, Vec<u64>)>,
    /// For each document, the index in `terms` at which the terms of the document end.
    term_ends: Vec<usize>,
    /// Term numbers of the documents, one document after the other, ascending within a document.
    terms: Vec<u32>,
    /// For each term, the index in `lists` at which the documents of the term end.
    list_ends: Vec<usize>,
    /// For each term, the ascending numbers of the documents that contain it, one term after the other.
    lists: Vec<u32>,
    /// Bits for the frequent terms, in `width` 64-bit words for each document. Each frequent term has one bit, which is
    /// set if the document contains the term.
    bits: Vec<u64>,
    width: usize,
    isa: Isa,
}

impl TermLists {
    /// Creates the lists from the set of distinct terms of each document. `weight` returns the weight of a term. If
    /// it is `None`, all terms weigh the same.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    ///
    /// # Complexity
    ///
    /// O(m log m) if all documents together have m terms.
    pub(super) fn new(
        sets: &[Vec<u64>],
        weight: Option<&dyn Fn(u64) -> u32>,
        workers: &Threads,
        isa: Isa,
    ) -> Result<Self> {
        let sums = |weight: &dyn Fn(u64) -> u32| {
            let sum = |set: &Vec<u64>| set.iter().map(|&term| u64::from(weight(term))).sum();
            (Vec::new(), sets.iter().map(sum).collect())
        };
        let mut weights = weight.map(sums);
        let sizes: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let mut occurrences = occurrences(sets);
        workers.run(|| occurrences.par_sort_unstable())?;
        let mut lists = Vec::new();
        let mut list_ends = Vec::new();
        let mut term_ends = vec![0; sets.len()];
        let mut frequent = Vec::new();
        // A term of only one document is never shared, so it needs no list.
        for list in occurrences.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() > 1) {
            if let (Some(weight), Some((weights, _))) = (weight, &mut weights) {
                weights.push(weight(list[0].0));
            // A frequent term is cheaper as a bit than as a long list.
            } else if list.len() > sets.len() / BIT_SHARE {
                frequent.push(list);
                continue;
            }
            for &(_, document) in list {
                lists.push(document);
                term_ends[document as usize] += 1;
            }
            list_ends.push(lists.len());
        }
        let width = frequent.len().div_ceil(64);
        let mut bits = vec![0; width * sets.len()];
        for (bit, list) in frequent.into_iter().enumerate() {
            for &(_, document) in list {
                bits[document as usize * width + bit / 64] |= 1 << (bit % 64);
            }
        }
        // The largest buffer is released before the next buffers are allocated.
        drop(occurrences);
        let mut end = 0;
        for count in &mut term_ends {
            // For now, this is the start of the terms of the document. Inserting the terms moves it to their end.
            (*count, end) = (end, end + *count);
        }
        let mut terms = vec![0; lists.len()];
        let mut start = 0;
        for (term, &end) in (0_u32..).zip(&list_ends) {
            for &document in &lists[start..end] {
                let at = &mut term_ends[document as usize];
                terms[*at] = term;
                *at += 1;
            }
            start = end;
        }
        Ok(Self { sizes, weights, term_ends, terms, list_ends, lists, bits, width, isa })
    }

    /// Returns the number of documents in the lists.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns whether terms have different weights.
    pub(super) fn is_weighted(&self) -> bool {
        self.weights.is_some()
    }

    /// Returns the sum of the weights of a document's terms, or the number of its terms if all weigh the same.
    pub(super) fn weight(&self, document: u32) -> u64 {
        match &self.weights {
            Some((_, sums)) => sums[document as usize],
            None => self.sizes[document as usize].into(),
        }
    }

    fn weight_of_term(&self, term: u32) -> u32 {
        self.weights.as_ref().map_or(1, |(weights, _)| weights[term as usize])
    }

    /// Returns the mean number of bytes of the terms of a document, if each term takes 8 bytes.
    pub(super) fn bytes_per_document(&self) -> u64 {
        let terms: u64 = self.sizes.iter().copied().map(u64::from).sum();
        let count = (self.sizes.len() as u64).max(1);
        (8 * terms + count / 2) / count
    }

    fn terms(&self, document: u32) -> &[u32] {
        &self.terms[range(&self.term_ends, document as usize)]
    }

    fn bits(&self, document: u32) -> &[u64] {
        let start = document as usize * self.width;
        &self.bits[start..start + self.width]
    }

    /// Returns the number of frequent terms that two documents share. Only these terms are stored as bits.
    fn shared_bits(&self, a: u32, b: u32) -> u32 {
        // A document has fewer than 2³² terms.
        shared_bits(self.isa, self.bits(a), self.bits(b)) as u32
    }

    /// Returns the total weight of the terms that documents `a` and `b` share.
    pub(super) fn shared(&self, [a, b]: [u32; 2]) -> u64 {
        let mut rest = self.terms(b);
        let mut sum = self.shared_bits(a, b).into();
        for term in self.terms(a) {
            let at = rest.partition_point(|other| other < term);
            if rest.get(at) == Some(term) {
                sum += u64::from(self.weight_of_term(*term));
            }
            // Both lists ascend, so the next term cannot be before this index.
            rest = &rest[at..];
        }
        sum
    }

    /// Compares `document` with all later documents. Adds the total weight of the shared terms to `sums`,
    /// which has one element for each later document, beginning with document number `document + 1`.
    pub(super) fn add_shared<N: Copy + From<u32> + AddAssign>(
        &self,
        document: u32,
        sums: &mut [N],
    ) {
        for &term in self.terms(document) {
            let weight = N::from(self.weight_of_term(term));
            let list = &self.lists[range(&self.list_ends, term as usize)];
            // Each pair is counted once, from its first document.
            let behind = list.partition_point(|&other| other <= document);
            for &other in &list[behind..] {
                sums[(other - document) as usize - 1] += weight;
            }
        }
        if self.width > 0 {
            for (other, sum) in (document + 1..).zip(sums) {
                *sum += self.shared_bits(document, other).into();
            }
        }
    }
}

/// Lists every term of every document as a pair: the term, and the number of the document.
fn occurrences(sets: &[Vec<u64>]) -> Vec<(u64, u32)> {
    let mut occurrences = Vec::new();
    for (document, set) in (0..).zip(sets) {
        occurrences.extend(set.iter().map(|&term| (term, document)));
    }
    occurrences
}

/// Returns one of several consecutive ranges of indexes, the first one of which begins at 0. `ends` has the end of each
/// range, and `part` is the number of the range, from 0.
fn range(ends: &[usize], part: usize) -> Range<usize> {
    let start = part.checked_sub(1).map_or(0, |before| ends[before]);
    start..ends[part]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn shared_terms_are_those_of_both_sets() {
        let few: Vec<Vec<u64>> = vec![
            vec![1, 5, 9, u64::MAX],
            vec![],
            vec![5, 9, 10],
            vec![7],
            vec![1, 5, 10, u64::MAX],
        ];
        let lists = TermLists::new(&few, None, &Threads::new(2).unwrap(), Isa::PORTABLE).unwrap();
        assert_eq!((lists.len(), lists.weight(0), lists.bytes_per_document()), (5, 4, 19));
        // If there are many documents, the terms that two documents have are stored in lists, and most others as bits.
        let many = (0..100_u64).map(|document| {
            let terms = (0..40).map(|term| term * term * (document + 1) % 210);
            let terms = terms.chain([1000 + document / 2]);
            terms.collect::<BTreeSet<_>>().into_iter().collect()
        });
        for sets in [few, many.collect()] {
            for &isa in Isa::available() {
                check(&sets, isa);
            }
        }
    }

    fn check(sets: &[Vec<u64>], isa: Isa) {
        let workers = Threads::new(2).unwrap();
        let lists = TermLists::new(sets, None, &workers, isa).unwrap();
        assert!(lists.width > 0);
        check_lists::<u32>(sets, &lists, |_| 1);
        let weight = |term| if term == u64::MAX { u32::MAX } else { 1 + (term % 5) as u32 };
        let lists = TermLists::new(sets, Some(&weight), &workers, isa).unwrap();
        check_lists::<u64>(sets, &lists, weight);
    }

    fn check_lists<N: Copy + From<u32> + AddAssign + Into<u64>>(
        sets: &[Vec<u64>],
        lists: &TermLists,
        weight: impl Fn(u64) -> u32,
    ) {
        let end = sets.len() as u32;
        let sum = |terms: &mut dyn Iterator<Item = &u64>| -> u64 {
            terms.map(|&term| u64::from(weight(term))).sum()
        };
        for a in 0..end {
            let mut sums = vec![N::from(0); (end - a) as usize - 1];
            lists.add_shared(a, &mut sums);
            assert_eq!(lists.weight(a), sum(&mut sets[a as usize].iter()));
            for b in a + 1..end {
                let left = &sets[a as usize];
                let right = &sets[b as usize];
                let both = sum(&mut left.iter().filter(|term| right.contains(term)));
                assert_eq!(lists.shared([a, b]), both, "{a} {b}");
                assert_eq!(sums[(b - a) as usize - 1].into(), both, "{a} {b}");
            }
        }
    }
}
