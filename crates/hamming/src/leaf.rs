//! The leaves of the recursion: buckets in which every pair is compared.
//!
//! A leaf first compares the folds of two fingerprints, which are the XOR of their words. Whole
//! fingerprints are compared only for the few pairs with near folds. Every pair is checked against all
//! conditions of the path, so a bucket may become a leaf at any depth.

use crate::collect::Collect;
use crate::parallel_partition::NumberedValues;
use crate::recursion::Recursion;
use crate::recursion_memory::{Folds, RecursionScratch};
use crate::split::Path;
use simtool_base::progress::Share;
use simtool_compute::tasks;
use simtool_kernels::hamming_accept::{CandidatePairs, PairTest, accept};
use simtool_kernels::hamming_pairs::{Candidates, PairSearch, near_pairs_32, near_pairs_64};
use simtool_model::fingerprint_table::Fingerprint;
use std::ops::Range;

/// Number of rows that one task compares with all other rows of a leaf, which is a bucket whose pairs are all compared.
/// It is a multiple of the number of rows that the vectorized loop compares at once.
const LEAF_ROWS: usize = 1024;

/// A bucket in which every pair is compared. It has the bucket's records, the XOR of the words of each fingerprint
/// (`folds`), and the conditions that a pair must meet (`path`).
#[derive(Clone, Copy)]
struct Leaf<'l, W> {
    records: NumberedValues<'l, W>,
    folds: &'l Folds,
    path: &'l Path<W>,
    /// Number of records that are queries. Queries come first in the bucket. The number is 0 in a
    /// self-join.
    queries: usize,
}

impl<W: Fingerprint, C: Collect> Recursion<'_, W, C> {
    /// Compares all pairs of a bucket with the given `records`. The first `queries` records are queries, and each is
    /// only compared with records that are not queries. In a self-join, `queries` is 0, and every two records are
    /// compared. The near pairs that meet the conditions of `path` are collected in `part`.
    pub(super) fn leaf(
        &self,
        records: NumberedValues<'_, W>,
        queries: usize,
        path: &Path<W>,
        scratch: &mut RecursionScratch<W>,
        part: &mut C::Part,
    ) {
        let RecursionScratch { folds, candidates, .. } = scratch;
        folds.fill(records.values, self.has_short_folds);
        let rows = 0..self.first_rows(records.len(), queries);
        self.compare(Leaf { records, folds, path, queries }, rows, candidates, part);
    }

    /// Compares all pairs of a large bucket with several threads, like [`Self::leaf`] with one thread. Returns the near
    /// pairs that meet the conditions of `path`. `share` reports the progress.
    pub(super) fn leaf_large(
        &self,
        records: NumberedValues<'_, W>,
        path: &Path<W>,
        share: Share<'_>,
    ) -> C::Part {
        let queries = self.compares(records.numbers).0;
        let rows = self.first_rows(records.len(), queries);
        let mut folds = Folds::default();
        folds.fill(records.values, self.has_short_folds);
        let leaf = Leaf { records, folds: &folds, path, queries };
        let count = rows.div_ceil(LEAF_ROWS);
        let parts = tasks::map(count, |task| {
            let mut part = self.collect.part();
            if share.is_cancelled() {
                return part;
            }
            let rows = task * LEAF_ROWS..rows.min((task + 1) * LEAF_ROWS);
            self.pool.with_scratch(|scratch| {
                self.compare(leaf, rows, &mut scratch.candidates, &mut part);
            });
            share.part(1, count).done();
            part
        });
        self.merged(parts)
    }

    /// Returns the number of records of a leaf that can be the first member of a pair. In a self-join, all `records`
    /// can be. In a search, only the `queries` can be.
    fn first_rows(&self, records: usize, queries: usize) -> usize {
        if self.boundary == 0 { records } else { queries }
    }

    /// Compares each record of a leaf in the range `rows` with all later records that are not queries. Collects the
    /// near pairs in `part`.
    fn compare(
        &self,
        leaf: Leaf<'_, W>,
        rows: Range<usize>,
        candidates: &mut Candidates,
        part: &mut C::Part,
    ) {
        let Leaf { records, folds, path, queries } = leaf;
        let isa = self.isa;
        // The folds of two fingerprints never differ in more bits than the fingerprints, so no near
        // pair is missed.
        let limit = self.reach.most_bits();
        let test = self.test(path);
        let mut sink = |rows: &[u32], columns: &[u32]| {
            let pairs = CandidatePairs { values: records.values, rows, columns };
            accept(pairs, &test, isa, &mut |row, column, distance| {
                let a = records.numbers[row as usize];
                let b = records.numbers[column as usize];
                self.collect.pair(part, a, b, distance);
            });
        };
        if self.has_short_folds {
            let words = &folds.words_32;
            let search = PairSearch { words, rows, first_column: queries, max_distance: limit };
            near_pairs_32(search, isa, candidates, &mut sink);
        } else {
            let words = &folds.words_64;
            let search = PairSearch { words, rows, first_column: queries, max_distance: limit };
            near_pairs_64(search, isa, candidates, &mut sink);
        }
    }

    /// Returns the conditions that a pair must meet to be found in a bucket of `path`: the distance and
    /// the masks of the path.
    pub(super) fn test<'p>(&self, path: &'p Path<W>) -> PairTest<'p, W> {
        PairTest { reach: self.reach, equal: path.equal, unequal: &path.unequal }
    }
}
