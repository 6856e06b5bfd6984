//! The join by bands. A band is a mask of some bits. Only fingerprints that are equal in all bits of a
//! band are compared.
//!
//! If many hashes of a fingerprint may differ, as with MinHash, masks that miss no pair are very short.
//! Then nearly all pairs of fingerprints are equal in one of the masks. Longer masks miss some pairs,
//! with a probability that the layout computes.
//!
//! A pair that agrees in several masks is reported for the first of them only.
//!
//! # References
//!
//! J. Leskovec, A. Rajaraman, J. Ullman, "Mining of Massive Datasets", chapter 3.

use crate::collect::{Collect, KeepPairs};
use crate::layout::{Layout, agree};
use crate::work::JoinWork;
use rayon::prelude::{IntoParallelIterator, ParallelIterator, ParallelSliceMut};
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Finds the pairs of fingerprints that are equal in all bits of at least one mask of `layout` and have
/// at most the maximum distance of `work`. Returns them in ascending order. With two collections, a pair has
/// one row of each. All rows must have a fingerprint.
///
/// # Complexity
///
/// One sort of the rows for each mask, and one comparison for each pair that is equal in the mask.
pub(super) fn band_join(
    rows: Sides<&FingerprintRows<'_>>,
    layout: &Layout,
    work: JoinWork<'_>,
) -> Vec<ValuePair> {
    let keep = &KeepPairs::new(work);
    let share = work.share;
    let max_distance = work.reach.max_distance;
    let rows = BandRows::new(rows);
    let queries = rows.queries;
    let masks: Vec<&[u64]> = layout.masks().collect();
    let mut pairs = keep.part();
    for number in 0..masks.len() {
        if share.is_cancelled() {
            break;
        }
        let keyed = |row: u32| (layout.key(number, rows.row(row)), row);
        let mut keyed: Vec<(u64, u32)> =
            (0..rows.count() as u32).into_par_iter().map(keyed).collect();
        keyed.par_sort_unstable();
        let keyed = &keyed;
        let band = Band { masks: &masks, number, rows: &rows, max_distance };
        let band = &band;
        // Rows with the same key are neighbours after the sort.
        let found = (0..keyed.len()).into_par_iter().fold(
            || keep.part(),
            |mut part, at| {
                // A join that ends early has no use for the rest of a key with many rows.
                if share.is_cancelled() {
                    return part;
                }
                let (key, a) = keyed[at];
                let behind = keyed[at + 1..].iter().take_while(|behind| behind.0 == key);
                let partners = behind
                    .map(|behind| behind.1)
                    .filter(|&b| queries == 0 || ((a as usize) < queries && b as usize >= queries));
                for pair in partners.filter_map(|b| band.near_pair(a, b)) {
                    // The rows of the second collection are numbered from 0 again.
                    keep.pair(&mut part, pair.a, pair.b - queries as u32, pair.distance);
                }
                part
            },
        );
        for part in found.collect::<Vec<_>>() {
            keep.merge(&mut pairs, part);
        }
        share.part(1, masks.len()).done();
    }
    pairs.into_sorted()
}

/// The rows of one or two collections. The rows of the second collection are numbered after the rows of the first.
struct BandRows<'r> {
    first: &'r FingerprintRows<'r>,
    second: Option<&'r FingerprintRows<'r>>,
    /// Number of rows of the first collection if there are two. They are the queries of a search. 0 if there is only
    /// one collection.
    queries: usize,
    /// Number of words of a row.
    words: usize,
}

impl<'r> BandRows<'r> {
    fn new(rows: Sides<&'r FingerprintRows<'r>>) -> Self {
        let (first, second) = match rows {
            Sides::One(rows) => (rows, None),
            Sides::Two(queries, corpus) => (queries, Some(corpus)),
        };
        let queries = second.map_or(0, |_| first.len());
        Self { first, second, queries, words: first.shape.words() }
    }

    fn count(&self) -> usize {
        self.first.len() + self.second.map_or(0, FingerprintRows::len)
    }

    #[inline]
    fn row(&self, number: u32) -> &'r [u64] {
        let (rows, number) = match self.second {
            Some(corpus) if number as usize >= self.queries => {
                (corpus, number as usize - self.queries)
            }
            _ => (self.first, number as usize),
        };
        &rows.words[number * self.words..(number + 1) * self.words]
    }
}

/// The mask with index `number`, by whose bits rows are joined, and the masks before it. Pairs that are equal in an
/// earlier mask were found with that mask.
struct Band<'b> {
    masks: &'b [&'b [u64]],
    number: usize,
    rows: &'b BandRows<'b>,
    max_distance: u32,
}

impl Band<'_> {
    /// Returns the pair of rows `a` and `b` if they are within the maximum distance and this mask is the first in which
    /// they are equal. Otherwise, returns `None`.
    #[inline]
    fn near_pair(&self, a: u32, b: u32) -> Option<ValuePair> {
        let one = self.rows.row(a);
        let other = self.rows.row(b);
        let distance = self.rows.first.shape.distance(one, other);
        let is_first =
            || !self.masks[..self.number].iter().any(|earlier| agree(earlier, one, other));
        // A key is a hash, so rows with different bits may have the same key. Therefore the bits
        // are compared, too.
        let is_taken = distance <= self.max_distance
            && agree(self.masks[self.number], one, other)
            && is_first();
        is_taken.then_some(ValuePair { a, b, distance })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_compute::context::Context;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use simtool_model::fingerprint_table::Reach;

    /// Returns `count` rows near seven random centres. In each word of a row, one bit is flipped with
    /// probability 1/3.
    fn rows(shape: Shape, count: u64, seed: u64) -> FingerprintRows<'static> {
        let mut rows = RowsBuilder::new(shape);
        for row in 0..count {
            let centre = |word: u64| mix(mix(row % 7) ^ word);
            let change = |word: u64| {
                let random = mix(row ^ seed ^ word << 40);
                u64::from(random.is_multiple_of(3)) << (random >> 32 & 63)
            };
            let words: Vec<u64> =
                (0..shape.words() as u64).map(|word| centre(word) ^ change(word)).collect();
            rows.push(Some(&words));
        }
        rows.finish()
    }

    #[test]
    fn all_near_pairs_that_agree_in_a_mask_are_found() {
        for (shape, max_distance, bands) in
            [(Shape::bits(128), 4, 2), (Shape::lanes(64, 4), 7, 5), (Shape::lanes(64, 32), 40, 9)]
        {
            let (queries, corpus) = (rows(shape, 20, 1), rows(shape, 60, 2));
            let layout = Layout::bands(shape, bands);
            let agree = |a: &[u64], b: &[u64]| {
                layout.masks().any(|mask| {
                    mask.iter().zip(a).zip(b).all(|((mask, a), b)| a & mask == b & mask)
                })
            };
            for sides in [Sides::One(&corpus), Sides::Two(&queries, &corpus)] {
                let first = *sides.first();
                let mut expected = Vec::new();
                for a in 0..first.len() {
                    for b in if sides.is_two() { 0 } else { a + 1 }..corpus.len() {
                        let (one, other) = (first.row(a).unwrap(), corpus.row(b).unwrap());
                        let distance = shape.distance(one, other);
                        if distance <= max_distance && agree(one, other) {
                            expected.push(ValuePair { a: a as u32, b: b as u32, distance });
                        }
                    }
                }
                let context = Context::default();
                let work = JoinWork::new(Reach { shape, max_distance }, &context);
                let found = band_join(sides, &layout, work);
                assert_eq!(found, expected, "{shape}");
                assert!(!found.is_empty(), "{shape}");
            }
        }
    }
}
