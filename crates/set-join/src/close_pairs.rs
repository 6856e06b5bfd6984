//! Pairs of similar documents, stored so compactly that hundreds of millions fit into memory.

use bytemuck::{Pod, Zeroable};
use simtool_base::large_buffer::LargeBuffer;
use simtool_model::closeness::Closeness;
use simtool_model::matches::ValuePair;
use simtool_model::similarity::{Similarity, Threshold};

/// Two documents that are close enough. They are given by their row numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClosePair {
    /// Row of the first document in reading order, or of the document in the first collection.
    pub a: u32,
    /// Row of the other document.
    pub b: u32,
    /// The similarity of the two documents, or their distance.
    pub closeness: Closeness,
}

impl ClosePair {
    /// Creates a pair whose closeness is the similarity of two sets.
    #[must_use]
    pub fn similar(a: u32, b: u32, similarity: Similarity) -> Self {
        Self { a, b, closeness: Closeness::Similarity(similarity) }
    }
}

/// Two documents, given by their row numbers, and the number of terms that their sets share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SetPair {
    /// Row of the first document in reading order, or of the document in the first collection.
    pub a: u32,
    /// Row of the other document.
    pub b: u32,
    /// Number of terms that both sets contain.
    pub shared: u32,
}

impl SetPair {
    /// Returns the similarity of the two sets, by the measure of `threshold`. `left` and `right` are
    /// the numbers of terms of the first and the second set.
    pub(crate) fn similarity(self, [left, right]: [u32; 2], threshold: Threshold) -> Similarity {
        // Sets cannot share more terms than they have. A file that changes while it is read is
        // reported elsewhere.
        let shared = self.shared.min(left).min(right);
        threshold.similarity(shared.into(), left.into(), right.into())
    }
}

/// Pairs of rows with their closeness. They are sorted by the first row, and pairs with the same first
/// row by the second.
#[derive(Clone)]
pub struct ClosePairs(StoredPairs);

/// Pairs of rows, with their closeness in one of three forms.
#[derive(Clone)]
enum StoredPairs {
    /// Each pair is stored with its closeness.
    Each(Vec<ClosePair>),
    /// The closeness of each pair is a distance.
    Distances(Vec<ValuePair>),
    /// The closeness follows from the number of shared terms and the sizes of two sets, which are
    /// stored once per row and not in each pair.
    Sets {
        pairs: LargeBuffer<SetPair>,
        /// Number of terms of each set, indexed by row. The rows of a second collection begin at index
        /// `second_from`. If there is only one collection, `second_from` is 0.
        sizes: Vec<u32>,
        second_from: u32,
        threshold: Threshold,
        /// Distance of each pair. Empty if no distances were measured.
        distances: Vec<u32>,
    },
}

impl ClosePairs {
    /// Creates the pairs of similar sets from `pairs`, which must be in ascending order. `sizes` has
    /// the number of terms of each set, indexed by row. The rows of a second collection begin at index
    /// `second_from`, which is 0 if there is only one collection. The similarities are computed by the
    /// measure of `threshold`.
    ///
    /// # Panics
    ///
    /// [`Self::closeness`] panics later if a row of the pair has no size. This function does not panic.
    #[must_use]
    pub(crate) fn of_sets(
        pairs: LargeBuffer<SetPair>,
        sizes: Vec<u32>,
        second_from: u32,
        threshold: Threshold,
    ) -> Self {
        let distances = Vec::new();
        Self(StoredPairs::Sets { pairs, sizes, second_from, threshold, distances })
    }

    /// Returns the same pairs, with their distances in addition to their similarities. `distance` returns the distance
    /// of two rows. Pairs whose closeness is a distance already do not change.
    #[must_use]
    pub(crate) fn with_distances(mut self, distance: impl Fn(u32, u32) -> u32) -> Self {
        let rows = (0..self.len()).map(|number| self.rows(number));
        let found: Vec<u32> = rows.map(|[a, b]| distance(a, b)).collect();
        match &mut self.0 {
            StoredPairs::Sets { distances, .. } => *distances = found,
            StoredPairs::Each(pairs) => {
                for (pair, distance) in pairs.iter_mut().zip(found) {
                    if let Closeness::Similarity(similarity) = pair.closeness {
                        pair.closeness = Closeness::Verified(similarity, distance);
                    }
                }
            }
            // Their closeness is a distance already.
            StoredPairs::Distances(_) => {}
        }
        self
    }

    /// Creates the pairs of similar fingerprints from `pairs`. The fields `a` and `b` of each pair are row numbers. The
    /// pairs must be in ascending order.
    #[must_use]
    pub fn of_distances(pairs: Vec<ValuePair>) -> Self {
        debug_assert!(pairs.is_sorted_by_key(|pair| (pair.a, pair.b)));
        Self(StoredPairs::Distances(pairs))
    }

    /// Returns the number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            StoredPairs::Each(pairs) => pairs.len(),
            StoredPairs::Distances(pairs) => pairs.len(),
            StoredPairs::Sets { pairs, .. } => pairs.len(),
        }
    }

    /// Returns whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the two rows of the pair with index `number`.
    #[must_use]
    pub fn rows(&self, number: usize) -> [u32; 2] {
        match &self.0 {
            StoredPairs::Each(pairs) => [pairs[number].a, pairs[number].b],
            StoredPairs::Distances(pairs) => [pairs[number].a, pairs[number].b],
            StoredPairs::Sets { pairs, .. } => [pairs[number].a, pairs[number].b],
        }
    }

    /// Returns the closeness of the two rows of the pair with index `number`.
    #[must_use]
    pub fn closeness(&self, number: usize) -> Closeness {
        match &self.0 {
            StoredPairs::Each(pairs) => pairs[number].closeness,
            StoredPairs::Distances(pairs) => Closeness::Distance(pairs[number].distance),
            StoredPairs::Sets { pairs, sizes, second_from, threshold, distances } => {
                let pair = pairs[number];
                let sizes = [pair.a, pair.b + second_from].map(|row| sizes[row as usize]);
                let similarity = pair.similarity(sizes, *threshold);
                match distances.get(number) {
                    Some(&distance) => Closeness::Verified(similarity, distance),
                    None => Closeness::Similarity(similarity),
                }
            }
        }
    }

    /// Returns all pairs in ascending order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ClosePair> {
        (0..self.len()).map(|number| {
            let [a, b] = self.rows(number);
            ClosePair { a, b, closeness: self.closeness(number) }
        })
    }
}

impl From<Vec<ClosePair>> for ClosePairs {
    fn from(ascending: Vec<ClosePair>) -> Self {
        debug_assert!(ascending.is_sorted_by_key(|pair| (pair.a, pair.b)));
        Self(StoredPairs::Each(ascending))
    }
}

/// Formats the pairs with their closeness, as a list.
impl std::fmt::Debug for ClosePairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for ClosePairs {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for ClosePairs {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_tell_as_much_as_each_pair() {
        let pair = |(a, b, shared)| SetPair { a, b, shared };
        let mut pairs = LargeBuffer::zeroed(3);
        pairs.copy_from_slice(&[(0, 1, 3), (0, 2, 2), (2, 0, 2)].map(pair));
        let similar = |a, b, shared, union| ClosePair::similar(a, b, Similarity { shared, union });
        let pairs_of = |sizes: &[u32], second_from| {
            let threshold = Threshold::new(1, 2).unwrap();
            ClosePairs::of_sets(pairs.clone(), sizes.to_vec(), second_from, threshold)
        };
        let within = pairs_of(&[4, 3, 2], 0);
        let expected = [similar(0, 1, 3, 4), similar(0, 2, 2, 4), similar(2, 0, 2, 4)];
        assert!(within.iter().eq(expected));
        assert_eq!(within, ClosePairs::from(expected.to_vec()));
        assert_eq!(format!("{within:?}"), format!("{expected:?}"));
        assert_eq!((within.len(), within.is_empty(), within.rows(2)), (3, false, [2, 0]));
        let across = pairs_of(&[3, 0, 2, 2, 4, 5], 3);
        let expected = [similar(0, 1, 3, 4), similar(0, 2, 2, 6), similar(2, 0, 2, 2)];
        assert!(across.iter().eq(expected));
        assert_ne!(within, across);
        let distances =
            [ValuePair { a: 1, b: 4, distance: 2 }, ValuePair { a: 3, b: 4, distance: 0 }];
        let near = |a, b, distance| ClosePair { a, b, closeness: Closeness::Distance(distance) };
        let expected = ClosePairs::from(vec![near(1, 4, 2), near(3, 4, 0)]);
        assert_eq!(ClosePairs::of_distances(distances.to_vec()), expected);
        // With distances, the similarities stay.
        for pairs in [pairs_of(&[4, 3, 2], 0), within.iter().collect::<Vec<_>>().into()] {
            let verified = pairs.with_distances(|a, b| a + b);
            let found = verified
                .iter()
                .map(|pair| (pair.closeness.exact_similarity(), pair.closeness.distance()));
            let expected = within
                .iter()
                .map(|pair| (pair.closeness.exact_similarity(), Some(pair.a + pair.b)));
            assert!(found.eq(expected));
        }
        // A file that was written while it was read.
        assert_eq!(pairs_of(&[1, 9, 9], 0).closeness(0), similar(0, 1, 1, 9).closeness);
    }
}
