//! Sets of terms as lists of documents: how many terms any two documents share.
//!
//! A list of d documents takes d²/2 steps, so terms that many documents have are bits of a row instead,
//! which are compared 64 at a time.

use crate::error::Result;
use crate::kernels::Isa;
use crate::kernels::shared_bits::shared_bits;
use crate::pipeline::workers::Workers;
use rayon::slice::ParallelSliceMut;
use std::ops::Range;

/// A term that more than one of so many documents have is a bit.
const BIT_SHARE: usize = 32;

/// The terms that several documents have, renumbered, with the documents of each.
#[derive(Debug)]
pub(super) struct TermLists {
    /// Number of terms of each document, those that it alone has included.
    sizes: Vec<u32>,
    /// Where the terms of each document end.
    term_ends: Vec<usize>,
    /// The terms of each document, ascending.
    terms: Vec<u32>,
    /// Where the documents of each term end.
    list_ends: Vec<usize>,
    /// The documents of each term, ascending.
    lists: Vec<u32>,
    /// Of each document so many words of bits, one for each term that many documents have.
    bits: Vec<u64>,
    width: usize,
    isa: Isa,
}

impl TermLists {
    /// The lists of sets of distinct terms.
    ///
    /// # Errors
    ///
    /// A thread cannot be started.
    ///
    /// # Complexity
    ///
    /// O(m log m) for m terms of all documents.
    pub(super) fn new(sets: &[Vec<u64>], workers: &Workers, isa: Isa) -> Result<Self> {
        let sizes: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let of_set = |(document, set): (u32, &Vec<u64>)| {
            set.iter().map(move |&term| (term, document)).collect::<Vec<_>>()
        };
        let mut occurrences: Vec<(u64, u32)> = (0..).zip(sets).flat_map(of_set).collect();
        workers.run(|| occurrences.par_sort_unstable())?;
        let (mut lists, mut list_ends) = (Vec::new(), Vec::new());
        let mut term_ends = vec![0; sets.len()];
        let mut frequent = Vec::new();
        for list in occurrences.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() > 1) {
            if list.len() > sets.len() / BIT_SHARE {
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
        drop(occurrences);
        let mut end = 0;
        for count in &mut term_ends {
            // Where the terms of the document begin, until they are put there.
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
        Ok(Self { sizes, term_ends, terms, list_ends, lists, bits, width, isa })
    }

    /// Number of documents.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Number of terms of a document.
    pub(super) fn size(&self, document: u32) -> u32 {
        self.sizes[document as usize]
    }

    /// Bytes of the sets as terms of 64 bits, in the mean.
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

    /// How many of the terms that are bits two documents share.
    fn shared_bits(&self, a: u32, b: u32) -> u32 {
        // A document has fewer than 2^32 terms.
        shared_bits(self.isa, self.bits(a), self.bits(b)) as u32
    }

    /// How many terms two documents share.
    pub(super) fn shared(&self, [a, b]: [u32; 2]) -> u32 {
        let (mut rest, mut count) = (self.terms(b), self.shared_bits(a, b));
        for term in self.terms(a) {
            let at = rest.partition_point(|other| other < term);
            count += u32::from(rest.get(at) == Some(term));
            rest = &rest[at..];
        }
        count
    }

    /// Adds to each document of `counts`, whose first is the one behind `document`, the number of
    /// terms that it shares with that.
    pub(super) fn add_shared(&self, document: u32, counts: &mut [u32]) {
        for &term in self.terms(document) {
            let list = &self.lists[range(&self.list_ends, term as usize)];
            let behind = list.partition_point(|&other| other <= document);
            for &other in &list[behind..] {
                counts[(other - document) as usize - 1] += 1;
            }
        }
        if self.width > 0 {
            for (other, count) in (document + 1..).zip(counts) {
                *count += self.shared_bits(document, other);
            }
        }
    }
}

/// The range of a part, of parts that end there.
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
        let lists = TermLists::new(&few, &Workers::new(2).unwrap(), Isa::Portable).unwrap();
        assert_eq!((lists.len(), lists.size(0), lists.bytes_per_document()), (5, 4, 19));
        // Of many documents those terms are in lists that two have, and most others are bits.
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
        let lists = TermLists::new(sets, &Workers::new(2).unwrap(), isa).unwrap();
        assert!(lists.width > 0);
        let end = sets.len() as u32;
        for a in 0..end {
            let mut counts = vec![0; (end - a) as usize - 1];
            lists.add_shared(a, &mut counts);
            for b in a + 1..end {
                let (left, right) = (&sets[a as usize], &sets[b as usize]);
                let both = left.iter().filter(|term| right.contains(term)).count() as u32;
                assert_eq!(lists.shared([a, b]), both, "{a} {b}");
                assert_eq!(counts[(b - a) as usize - 1], both, "{a} {b}");
            }
        }
    }
}
