//! Sketches of sets, sorted by size. A sketch has the number of terms, and a row of bits that is compared with the rows of
//! other sets. It may have the set's prefix, too.

use super::known_rows::RowPlace;
use super::large_vec::LargeVec;
use super::prune::MOST_TERMS;
use super::sketch_rows::words_of;
use super::sketching::{Sketching, have_prefixes, prefix_length};
use simtool_kernels::prefetch;
use simtool_model::similarity::Threshold;
use std::sync::Arc;

/// Sketches of documents, sorted by size and then by row number. The index of a sketch in this
/// order is called its place.
#[derive(Debug)]
pub(super) struct Sketches {
    threshold: Threshold,
    /// Row number of each document.
    pub(super) documents: Vec<u32>,
    /// Number of distinct terms of each document.
    pub(super) sizes: Vec<u32>,
    /// For each document, the number of its terms that no other document has. Its row of bits does not have them.
    /// Empty if they were not counted.
    unmatched: Vec<u32>,
    /// For each document, the first word of its row of bits.
    rows: Vec<RowPlace>,
    /// For each document, the first token of its prefix. Empty if the sketches have no prefixes.
    prefixes: Vec<RowPlace>,
    lists: Arc<RowLists>,
    /// Bytes of the rows and the prefixes of both collections while they are compared.
    pub(super) compared_bytes: u64,
}

/// The rows of bits and the prefixes, in the lists of the worker threads that made them.
#[derive(Debug)]
struct RowLists {
    bits: Vec<LargeVec<u64>>,
    /// The prefixes, in one list for each worker thread. Empty if the sketches have no prefixes.
    prefixes: Vec<LargeVec<u32>>,
}

/// Some of the sets of a list of sketches.
#[derive(Clone, Debug)]
pub(super) struct SomeSets<'s> {
    pub(super) sketches: &'s Sketches,
    /// Places of the sets, in ascending order.
    pub(super) places: Vec<u32>,
}

impl SomeSets<'_> {
    /// Returns the number of terms of each set.
    pub(super) fn sizes(&self) -> Vec<u32> {
        self.places.iter().map(|&place| self.sketches.sizes[place as usize]).collect()
    }

    /// Returns those of the sets that can be similar to a set of their size or a larger one.
    pub(super) fn with_larger(self) -> Self {
        let mut places = self.places;
        places.retain(|&place| self.sketches.has_larger(place as usize));
        Self { places, ..self }
    }
}

impl Sketches {
    /// Sorts the sketches that several worker threads have made. Returns the sketches of the first collection, and
    /// those of the second collection if `second_from` is given. The documents of the second collection are those from
    /// row number `second_from` on.
    pub(super) fn sorted(
        sketched: Vec<Sketching>,
        second_from: Option<u32>,
        threshold: Threshold,
    ) -> (Self, Option<Self>) {
        let from = second_from.unwrap_or(u32::MAX);
        let first = Self::order(&sketched, |row| row < from);
        let second = second_from.map(|_| Self::order(&sketched, |row| row >= from));
        let compared_bytes = sketched.iter().map(Sketching::compared_bytes).sum();
        let (bits, prefixes): (_, Vec<_>) =
            sketched.into_iter().map(|sketches| (sketches.bits, sketches.prefixes)).unzip();
        let prefixes = prefixes.into_iter().flatten().collect();
        let lists = Arc::new(RowLists { bits, prefixes });
        let with_rows = |order: Order| {
            let Order { documents, sizes, unmatched, rows, prefixes } = order;
            let lists = Arc::clone(&lists);
            Self { threshold, documents, sizes, unmatched, rows, prefixes, lists, compared_bytes }
        };
        (with_rows(first), second.map(with_rows))
    }

    /// Sorts the sketches of the documents for whose row numbers `of_side` is true.
    fn order(sketched: &[Sketching], of_side: impl Fn(u32) -> bool) -> Order {
        let mut order: Vec<(u32, u32, (u32, u32))> = Vec::new();
        for (number, part) in (0..).zip(sketched) {
            let sets = (0..).zip(&part.sets).filter(|(_, set)| of_side(set.document));
            order.extend(sets.map(|(at, set)| (set.size, set.document, (number, at))));
        }
        // With ascending sizes, the candidates of a set are one window of neighbours.
        order.sort_unstable();
        let mut unmatched = Vec::new();
        if sketched.iter().any(|part| !part.unmatched.is_empty()) {
            let of_set = |(part, at): (u32, u32)| sketched[part as usize].unmatched[at as usize];
            unmatched.extend(order.iter().map(|&(.., place)| of_set(place)));
        }
        let have_prefixes = have_prefixes(sketched);
        let (mut rows, mut prefixes) = (Vec::with_capacity(order.len()), Vec::new());
        for &(.., (part, at)) in &order {
            let own = &sketched[part as usize];
            let (list, row) = own.row_of(&own.sets[at as usize], part as usize);
            let [row, prefix] =
                sketched[list].starts[row].map(|start| RowPlace::new(list, start as usize));
            rows.push(row);
            prefixes.extend(have_prefixes.then_some(prefix));
        }
        Order {
            documents: order.iter().map(|&(_, document, _)| document).collect(),
            sizes: order.iter().map(|&(size, ..)| size).collect(),
            unmatched,
            rows,
            prefixes,
        }
    }

    /// Returns all sets.
    pub(super) fn all(&self) -> SomeSets<'_> {
        SomeSets { sketches: self, places: (0..self.len() as u32).collect() }
    }

    /// Returns the sets of the documents for whose row numbers `is_one` is true.
    pub(super) fn some(&self, is_one: impl Fn(u32) -> bool) -> SomeSets<'_> {
        let rows = (0..).zip(&self.documents).filter(|&(_, &row)| is_one(row));
        SomeSets { sketches: self, places: rows.map(|(place, _)| place).collect() }
    }

    /// Returns the limit of the set with index `place`. If two sets are similar, the number of bits in which their rows
    /// differ is at most the sum of their limits.
    pub(super) fn own_limit(&self, place: usize) -> u32 {
        (self.threshold.difference_share(self.sizes[place]) + 1)
            .saturating_sub(self.unmatched(place))
    }

    /// Returns whether the set with index `place` can be similar to a set of its size or a larger one.
    pub(super) fn has_larger(&self, place: usize) -> bool {
        self.unshared_with_larger(place).is_some()
    }

    /// Returns how many matched terms of the set with index `place` a similar set of its size or a larger one may lack.
    /// `None` if there is no such set.
    fn unshared_with_larger(&self, place: usize) -> Option<u32> {
        let size = self.sizes[place];
        (size - self.unmatched(place)).checked_sub(self.threshold.min_shared(size, size))
    }

    /// Returns the number of 64-bit words in the row of bits of the sketch with index `place`.
    #[inline]
    pub(super) fn words(&self, place: usize) -> usize {
        words_of(self.sizes[place], self.threshold)
    }

    /// Returns the row of bits of the sketch with index `place`.
    #[inline]
    pub(super) fn row(&self, place: usize) -> &[u64] {
        let (list, start) = self.rows[place].list_and_index();
        &self.lists.bits[list][start..start + self.words(place)]
    }

    /// Makes the processor load two numbers of the sketch with index `place`: the position of its row of bits, and the
    /// number of its unmatched terms.
    pub(super) fn prefetch(&self, place: usize) {
        prefetch(&self.rows, place);
        prefetch(&self.unmatched, place);
    }

    /// Makes the processor load the row of bits of the sketch with index `place`.
    pub(super) fn prefetch_row(&self, place: usize) {
        const WORDS_A_LINE: usize = 8;
        let row = self.row(place);
        (0..row.len()).step_by(WORDS_A_LINE).for_each(|word| prefetch(row, word));
    }

    /// Returns the tokens of the prefix of the set with index `place`. A similar set has one of them in its prefix,
    /// too.
    pub(super) fn prefix(&self, place: usize) -> &[u32] {
        let length = prefix_length(self.sizes[place], self.unmatched(place), self.threshold);
        let (list, start) = self.prefixes[place].list_and_index();
        &self.lists.prefixes[list][start..start + length]
    }

    /// Whether the sketches have prefixes.
    pub(super) fn have_prefixes(&self) -> bool {
        !self.prefixes.is_empty()
    }

    /// Returns the first tokens of the prefix of the set with index `place`. A similar set of the same size or a larger
    /// one has one of them in its prefix, too.
    pub(super) fn prefix_for_larger(&self, place: usize) -> &[u32] {
        let unshared = self.unshared_with_larger(place);
        unshared.map_or(&[], |unshared| &self.prefix(place)[..=unshared as usize])
    }

    /// Returns the size of the largest set that can be similar to the set with index `place`. It is smaller than the
    /// set itself if many of its terms are unmatched.
    pub(super) fn most_size(&self, place: usize) -> u32 {
        let size = self.sizes[place];
        let matched = size - self.unmatched(place);
        // The similar sets have sizes from the first to the last number. Larger sets must share more terms.
        let [mut least, mut most] = [self.threshold.min_size(size), MOST_TERMS as u32];
        while least < most {
            let middle = least + (most - least).div_ceil(2);
            if self.threshold.min_shared(size, middle) <= matched {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        least
    }

    /// Returns the number of terms of a document that no other document has, or 0 if they were not counted. The row of
    /// bits of the document does not have these terms. `place` is the index of its sketch.
    #[inline]
    pub(super) fn unmatched(&self, place: usize) -> u32 {
        self.unmatched.get(place).copied().unwrap_or(0)
    }

    /// Whether the terms that no other document has were counted when the sketches were made.
    pub(super) fn are_counted(&self) -> bool {
        !self.unmatched.is_empty()
    }

    /// Returns the number of sketches.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }
}

/// The sketches of a collection in order, without their rows of bits.
struct Order {
    documents: Vec<u32>,
    sizes: Vec<u32>,
    unmatched: Vec<u32>,
    rows: Vec<RowPlace>,
    prefixes: Vec<RowPlace>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sketching::SketchScratch;
    use simtool_base::stable_hash::mix;
    use simtool_compute::context::Context;

    #[test]
    fn no_set_is_similar_to_a_larger_one_than_its_matched_terms_allow() {
        let context = Context::default();
        let terms: Vec<u64> = (0..40).map(mix).collect();
        for threshold in ["0.7", "0.5", "1", "dice:0.8", "cosine:0.6", "containment:0.9"] {
            let threshold: Threshold = threshold.parse().unwrap();
            for unmatched in 0..=threshold.max_unshared(40) {
                let mut sketching = Sketching::new(threshold, true, context.memory());
                let own = &terms[..unmatched as usize];
                let matched = |terms: &[u64], matched: &mut Vec<bool>| {
                    matched.extend(terms.iter().map(|term| !own.contains(term)));
                };
                let mut scratch = SketchScratch::default();
                sketching.push_counted(0, &terms, matched, |_| 0, &mut scratch).unwrap();
                let sketches = Sketches::sorted(vec![sketching], None, threshold).0;
                let matched = 40 - unmatched;
                let can_be_similar = |size: &u32| {
                    let shared = u64::from(matched.min(*size));
                    threshold.reached(shared, 40, u64::from(*size)).is_some()
                };
                let largest = (1..1000).filter(can_be_similar).max().unwrap();
                let most = sketches.most_size(0);
                assert_eq!(most.min(999), largest, "{threshold:?}, {unmatched} unmatched");
                assert_eq!(sketches.has_larger(0), largest >= 40);
            }
        }
    }
}
