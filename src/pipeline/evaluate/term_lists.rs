//! Sets of terms as lists of documents: how many terms any two documents share.

use crate::error::Result;
use crate::pipeline::workers::Workers;
use rayon::slice::ParallelSliceMut;
use std::ops::Range;

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
    pub(super) fn new(sets: &[Vec<u64>], workers: &Workers) -> Result<Self> {
        let sizes: Vec<u32> = sets.iter().map(|set| set.len() as u32).collect();
        let of_set = |(document, set): (u32, &Vec<u64>)| {
            set.iter().map(move |&term| (term, document)).collect::<Vec<_>>()
        };
        let mut occurrences: Vec<(u64, u32)> = (0..).zip(sets).flat_map(of_set).collect();
        workers.run(|| occurrences.par_sort_unstable())?;
        let (mut lists, mut list_ends) = (Vec::new(), Vec::new());
        let mut term_ends = vec![0; sets.len()];
        for list in occurrences.chunk_by(|a, b| a.0 == b.0).filter(|list| list.len() > 1) {
            for &(_, document) in list {
                lists.push(document);
                term_ends[document as usize] += 1;
            }
            list_ends.push(lists.len());
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
        Ok(Self { sizes, term_ends, terms, list_ends, lists })
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

    /// How many terms two documents share.
    pub(super) fn shared(&self, [a, b]: [u32; 2]) -> u32 {
        let (mut rest, mut count) = (self.terms(b), 0);
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

    #[test]
    fn shared_terms_are_those_of_both_sets() {
        let sets: Vec<Vec<u64>> = vec![
            vec![1, 5, 9, u64::MAX],
            vec![],
            vec![5, 9, 10],
            vec![7],
            vec![1, 5, 10, u64::MAX],
        ];
        let lists = TermLists::new(&sets, &Workers::new(2).unwrap()).unwrap();
        assert_eq!((lists.len(), lists.size(0), lists.bytes_per_document()), (5, 4, 19));
        for a in 0..5_u32 {
            let mut counts = vec![0; 4 - a as usize];
            lists.add_shared(a, &mut counts);
            for b in a + 1..5 {
                let (left, right) = (&sets[a as usize], &sets[b as usize]);
                let both = left.iter().filter(|term| right.contains(term)).count() as u32;
                assert_eq!(lists.shared([a, b]), both, "{a} {b}");
                assert_eq!(counts[(b - a) as usize - 1], both, "{a} {b}");
            }
        }
    }
}
