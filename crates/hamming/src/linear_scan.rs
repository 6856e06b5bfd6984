//! Compares everything: the oracle of all other indexes, and the best of them for few rows.

use crate::FingerprintIndex;
use simtool_kernels::{Isa, hamming_scan};
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::Match;

/// Rows compared at a time, so that the hits of a step stay in the cache.
const STEP_ROWS: usize = 1 << 16;

/// Appends every row of `corpus` that `query` reaches, in row order.
///
/// # Complexity
///
/// O(n) for n rows; bound by memory where the corpus is larger than the cache.
pub fn scan<L: Lane>(corpus: &[L], query: L, reach: Reach, isa: Isa, found: &mut Vec<Match>) {
    let mut hits = Vec::new();
    for (step, rows) in corpus.chunks(STEP_ROWS).enumerate() {
        let first = (step * STEP_ROWS) as u32;
        hamming_scan::scan(rows, query, reach, isa, &mut hits);
        found.extend(
            hits.drain(..)
                .map(|hit| Match { distance: hit as u32, row: first + (hit >> 32) as u32 }),
        );
    }
}

/// No structure at all: the corpus as it stands.
#[derive(Clone, Copy, Debug)]
pub struct LinearScan<'a, L> {
    /// The fingerprints that are searched.
    pub corpus: &'a [L],
    /// How far apart rows may be.
    pub reach: Reach,
    /// The instruction set to compare with.
    pub isa: Isa,
}

impl<L: Lane> FingerprintIndex<L> for LinearScan<'_, L> {
    fn max_distance(&self) -> u32 {
        self.reach.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        scan(self.corpus, query, self.reach, self.isa, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order_across_steps_and_the_limit_is_inclusive() {
        let mut corpus = vec![u64::MAX; STEP_ROWS + 3];
        corpus[2] = 0b111;
        corpus[5] = 0b1111;
        corpus[STEP_ROWS + 1] = 0;
        let mut found = Vec::new();
        scan(&corpus, 0, Reach::bits(64, 3), Isa::detected(), &mut found);
        let expected =
            [Match { distance: 3, row: 2 }, Match { distance: 0, row: STEP_ROWS as u32 + 1 }];
        assert_eq!(found, expected);
    }
}
