//! Candidate pairs of documents as a graph, with its connected components.

use super::pair_order::Candidate;
use crate::disjoint_sets::DisjointSets;
use simtool_compute::threads::Threads;
use simtool_kernels::partition::counts_to_starts;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Number of pairs that a worker thread filters or renumbers in one task.
pub(super) const PART: usize = 64 << 10;
/// Value for "no index" in a list of indices. A document with this value has no candidates or no set.
pub(super) const NONE: u32 = u32::MAX;

/// Returns the row numbers of all documents in `candidates`, in ascending order. In `candidates`, replaces each row
/// number by its index in the result. All row numbers are below `end_row`.
pub(super) fn linked_rows(
    candidates: &mut [Candidate],
    end_row: u32,
    threads: &Threads,
) -> Vec<u32> {
    let is_linked: Vec<AtomicBool> = (0..end_row).map(|_| AtomicBool::new(false)).collect();
    threads.map(candidates.chunks(PART).collect(), |part: &[Candidate]| {
        for &row in part.as_flattened() {
            // Every thread stores the same value, so the order of the stores does not matter.
            is_linked[row as usize].store(true, Ordering::Relaxed);
        }
    });
    let mut rows = Vec::new();
    let mut places = vec![NONE; end_row as usize];
    for (row, is_linked) in (0..).zip(is_linked) {
        if is_linked.into_inner() {
            places[row as usize] = rows.len() as u32;
            rows.push(row);
        }
    }
    threads.map(candidates.chunks_mut(PART).collect(), |part: &mut [Candidate]| {
        for row in part.as_flattened_mut() {
            *row = places[*row as usize];
        }
    });
    rows
}

/// Returns a list of `count` booleans. The elements whose indices are in `places` are true, and all others are false.
pub(super) fn marked(places: impl Iterator<Item = u32>, count: usize) -> Vec<bool> {
    let mut is_marked = vec![false; count];
    for place in places {
        is_marked[place as usize] = true;
    }
    is_marked
}

/// The candidate pairs as a graph. It has connected components, which are called groups, and for each
/// document the pairs that begin with it. Documents are given by indices and not by row numbers.
pub(super) struct Links {
    /// All documents that have pairs, one connected component after the other. Within a component,
    /// documents are in ascending order.
    pub(super) order: Vec<u32>,
    /// For each connected component, the range of its documents in `order`.
    pub(super) groups: Vec<Range<usize>>,
    /// For each element of `order`, the number of pairs that begin with this document or with an
    /// earlier one in `order`.
    pub(super) ends: Vec<usize>,
    /// For each document, the index of the first pair that begins with the document, in the list of pairs in ascending
    /// order.
    pub(super) starts: Vec<usize>,
}

impl Links {
    /// Finds the connected components of the graph of `pairs`, which must be in ascending order. Pairs hold indices of
    /// documents, and all indices are below `places`.
    pub(super) fn new(pairs: &[Candidate], places: usize) -> Self {
        let mut sets = DisjointSets::new(places as u32);
        let mut starts = vec![0; places + 1];
        let mut is_linked = vec![false; places];
        for run in pairs.chunk_by(|one, other| one[0] == other[0]) {
            // Pairs ascend, so all pairs that begin with a place form one run.
            starts[run[0][0] as usize] = run.len();
            for &[a, b] in run {
                sets.join(a, b);
                is_linked[b as usize] = true;
            }
        }
        let mut linked: Vec<(u32, u32)> = Vec::new();
        for place in 0..places {
            // `starts` still holds counts. A place that begins no pair can still end one.
            if starts[place] > 0 || is_linked[place] {
                linked.push((sets.smallest(place as u32), place as u32));
            }
        }
        counts_to_starts(&mut starts, 0);
        // The documents of a component become neighbours and ascend within it.
        linked.sort_unstable();
        let mut groups = Vec::new();
        let mut ends = Vec::with_capacity(linked.len());
        let mut end = 0;
        for group in linked.chunk_by(|a, b| a.0 == b.0) {
            groups.push(ends.len()..ends.len() + group.len());
            ends.extend(group.iter().map(|&(_, place)| {
                end += starts[place as usize + 1] - starts[place as usize];
                end
            }));
        }
        Self { order: linked.into_iter().map(|(_, place)| place).collect(), groups, ends, starts }
    }

    /// Divides some of the pairs into runs. All pairs of a run begin with the same document. Returns for each run this
    /// document, and the indices of the pairs in the list of pairs in ascending order. `range` selects pairs by their
    /// positions in another order, in which they are sorted by the position of their first document in `order`.
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (u32, Range<usize>)> {
        let mut at = self.ends.partition_point(|&end| end <= range.start);
        let mut next = range.start;
        std::iter::from_fn(move || {
            if next >= range.end {
                return None;
            }
            // Some documents begin no pair.
            while self.ends[at] <= next {
                at += 1;
            }
            let place = self.order[at];
            let end = self.ends[at].min(range.end);
            // Number of pairs of this document that are still to come.
            let run_end = self.starts[place as usize + 1];
            let first = run_end - (self.ends[at] - next);
            let run = first..first + (end - next);
            next = end;
            Some((place, run))
        })
    }
}
