//! Estimates how many fingerprints are close although their documents are not similar.

use simtool_base::work_cost::WorkCost;
use simtool_model::fingerprint_rows::FingerprintRows;

/// Cost of a pair of fingerprints that a join finds: keeping it, sorting it and looking up the names of its documents.
/// It was measured with both threads of a 2-core AMD EPYC in November 2026.
const PAIR_COST: WorkCost = WorkCost { seconds: 100e-9, bytes: 60.0 };

/// Estimated number of fingerprints that are close although their documents are not similar.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CloseByChance {
    /// Number of pairs of fingerprints that are close by chance.
    pub pairs: f64,
    /// Fraction of the documents that are in at least one of these pairs.
    pub document_share: f64,
}

impl CloseByChance {
    /// Estimates how many of `all_pairs` pairs are close by chance. Compares pairs of the `sampled` rows, which must be
    /// in the order of the collection.
    ///
    /// Most pairs that are close by chance differ in nearly as many bits as allowed. If many sampled pairs are much
    /// closer, they are true near-duplicates, and their number does not grow with the square of the documents. Then the
    /// estimate is 0.
    ///
    /// ```
    /// use simtool_hamming::close_by_chance::CloseByChance;
    /// use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    ///
    /// // Each row has one of four bits, so about three quarters of the pairs have a distance of 2.
    /// let mut rows = RowsBuilder::new(Shape::bits(64));
    /// (0..100).for_each(|row| rows.push(Some(&[1 << (row % 4)])));
    /// let close = CloseByChance::estimate(&rows.finish(), 2, 1e6);
    /// assert!(close.pairs > 7e5 && close.document_share == 1.0);
    /// ```
    #[must_use]
    pub fn estimate(sampled: &FingerprintRows<'_>, max_distance: u32, all_pairs: f64) -> Self {
        let mut compared = 0_u64;
        let mut close = 0_u64;
        let mut much_closer = 0_u64;
        let mut has_partner = vec![false; sampled.len()];
        // Neighbours in a collection are more similar than other documents.
        let apart = (sampled.len() / 4).max(1);
        for b in apart..sampled.len() {
            for a in 0..=b - apart {
                let rows = sampled.row(a).zip(sampled.row(b));
                let distance = rows.map_or(0, |(a, b)| sampled.shape.distance(a, b));
                compared += 1;
                // A join stores equal fingerprints once.
                if distance > 0 && distance <= max_distance {
                    close += 1;
                    much_closer += u64::from(distance * 4 <= max_distance * 3);
                    has_partner[a] = true;
                    has_partner[b] = true;
                }
            }
        }
        if much_closer * 3 > close {
            return Self::default();
        }
        let with_partner = has_partner.iter().filter(|&&has| has).count();
        Self {
            pairs: close as f64 / compared.max(1) as f64 * all_pairs,
            document_share: with_partner as f64 / sampled.len().max(1) as f64,
        }
    }

    /// Estimates the cost of keeping and sorting the pairs and of looking up the names of their documents.
    #[must_use]
    pub fn cost(&self) -> WorkCost {
        PAIR_COST.times(self.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};

    #[test]
    fn pairs_that_are_much_closer_than_allowed_are_not_close_by_chance() {
        // Row `number` has one of four bits, so three quarters of the pairs have a distance of 2.
        let mut rows = RowsBuilder::new(Shape::bits(64));
        (0..100).for_each(|number| rows.push(Some(&[1 << (number % 4)])));
        let rows = rows.finish();
        let estimate = |max_distance| CloseByChance::estimate(&rows, max_distance, 1e6);
        let close = estimate(2);
        assert!((7e5..8e5).contains(&close.pairs), "{close:?}");
        assert_eq!(close.document_share.to_string(), "1");
        assert_eq!(estimate(8), CloseByChance::default());
    }
}
