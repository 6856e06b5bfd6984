//! The description of a task for which a method is chosen, and formulas that the estimates of several
//! methods use.
//!
//! Estimates only have to rank the methods correctly. Their constants were measured on a 2-core Intel
//! Xeon with AVX-512 in November 2026, and rounded.

use crate::collect::PAIR_BYTES;
use crate::split::effective_bits;
use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape};
use simtool_model::sides::Sides;
use std::ops::Add;

/// Nanoseconds for comparing two folds of 32 bits. A fold is the XOR of a fingerprint's words.
const FOLD_COMPARE: f64 = 0.02;
/// Nanoseconds for comparing two folds of 64 bits. A fold is the XOR of a fingerprint's words. Joins with a larger
/// maximum distance compare such folds.
const WIDE_FOLD_COMPARE: f64 = 0.04;
/// Nanoseconds per row for finding the groups of equal rows.
pub(super) const GROUPING: f64 = 20.0;
/// Nanoseconds that a pair takes if a method keeps its pairs in memory and sorts them.
const PAIR_TIME: f64 = 40.0;
/// Nanoseconds for one look-up in a table. This is the latency of a memory access.
const LATENCY: f64 = 120.0;
/// Minimum number of rows that one look-up in a table compares, because buckets have about this number
/// of rows.
const LEAST_BUCKET: f64 = 48.0;

/// The kind of pairs that a join finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinTask {
    /// All near pairs of one collection.
    SelfJoin,
    /// The partners of each query, which are the rows of a corpus near it. All queries are known before the first
    /// answer.
    Search {
        /// Number of queries.
        queries: usize,
    },
}

impl JoinTask {
    /// Returns the task of a join of collections with these numbers of rows.
    #[must_use]
    pub fn for_rows(rows: Sides<usize>) -> Self {
        match rows {
            Sides::One(_) => Self::SelfJoin,
            Sides::Two(queries, _) => Self::Search { queries },
        }
    }
}

/// Everything that the choice of a method depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The kind of pairs that the method must find.
    pub task: JoinTask,
    /// Number of rows of the corpus.
    pub rows: usize,
    /// Number of bits of a fingerprint, and the way in which distances are counted.
    pub shape: Shape,
    /// Number of independent random bits that would distinguish rows as well as their fingerprints do. The number
    /// is smaller than the number of bits of a fingerprint if some bits are constant, or mostly 0 or mostly 1.
    pub effective_bits: u32,
    /// Maximum distance of a pair, k.
    pub max_distance: u32,
    /// Maximum number of bytes that the method may use in addition to the corpus.
    pub memory: u64,
}

/// Estimated time and memory of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JoinEstimate {
    /// Nanoseconds of work of one core.
    pub nanoseconds: f64,
    /// Bytes of memory in addition to the corpus.
    pub bytes: f64,
}

impl Add for JoinEstimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { nanoseconds: self.nanoseconds + other.nanoseconds, bytes: self.bytes + other.bytes }
    }
}

impl Workload {
    /// Describes a task on `corpus`. The effective bits are estimated from a sample of its rows.
    ///
    /// ```
    /// use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    /// use simtool_hamming::workload::{JoinTask, Workload};
    ///
    /// let mut rows = RowsBuilder::new(Shape::bits(64));
    /// (0..1000).for_each(|row| rows.push(Some(&[row % 4])));
    /// let workload = Workload::of(JoinTask::SelfJoin, &rows.finish(), 3, 1 << 30);
    /// // Only the lowest two bits differ from row to row.
    /// assert_eq!(workload.effective_bits, 2);
    /// ```
    #[must_use]
    pub fn of(
        task: JoinTask,
        corpus: &FingerprintRows<'_>,
        max_distance: u32,
        memory: u64,
    ) -> Self {
        let shape = corpus.shape;
        let effective_bits = effective_bits(&corpus.words, shape);
        Self { task, rows: corpus.len(), shape, effective_bits, max_distance, memory }
    }

    /// Checks that the maximum distance does not include every pair.
    ///
    /// # Errors
    ///
    /// The maximum distance is so large that every pair of this shape is within it.
    pub(super) fn check(&self) -> Result<()> {
        let Self { shape, max_distance, .. } = self;
        if *max_distance < shape.units() {
            return Ok(());
        }
        let rule = format!(
            "must be below the {shape} of the fingerprints: all rows are within that distance"
        );
        Err(Error::config("max_distance", max_distance, rule))
    }

    /// Returns the workload of joining only one 64-bit word of each fingerprint. With the metric
    /// [`Metric::Votes`], fingerprints are joined word by word.
    pub(super) fn of_one_lane(&self) -> Self {
        Self {
            shape: Shape::bits(u64::BITS),
            effective_bits: self.effective_bits / self.shape.words() as u32,
            ..*self
        }
    }

    /// Returns the workload of joining only the hash values of fingerprints that also hold the sizes of sets. Returns
    /// the same workload if fingerprints hold no sizes, or if all hash values of a pair may differ.
    pub(super) fn of_hash_lanes(&self) -> Self {
        let Some((lanes, max_distance)) = self.shape.hash_lanes(self.max_distance) else {
            return *self;
        };
        let effective_bits = self.effective_bits.min(lanes.row_bits());
        Self { shape: lanes, max_distance, effective_bits, ..*self }
    }

    /// Returns the number of rows of the corpus as a floating-point number.
    pub(super) fn row_count(&self) -> f64 {
        self.rows as f64
    }

    /// Returns the number of rows for which near rows are searched: the queries, or all rows in a self-join.
    pub(super) fn query_count(&self) -> f64 {
        match self.task {
            JoinTask::SelfJoin => self.rows as f64,
            JoinTask::Search { queries } => queries as f64,
        }
    }

    /// Returns the number of blocks into which the bits are divided, which is k + 1. Two rows within
    /// the maximum distance k are equal in at least one block.
    pub(super) fn blocks(&self) -> f64 {
        f64::from(self.max_distance) + 1.0
    }

    /// Returns the number of effective bits of one of the [`Self::blocks`], into which the bits of a fingerprint are
    /// divided. This many random bits would distinguish rows as well as the block does.
    pub(super) fn block_bits(&self) -> f64 {
        f64::from(self.effective_bits) / self.blocks()
    }

    /// Returns the number of 64-bit words of the type that stores a fingerprint, for example 4 for a
    /// fingerprint of 3 words.
    pub(super) fn fingerprint_words(&self) -> f64 {
        self.shape.words().next_power_of_two() as f64
    }

    /// Returns the number of bytes of the type that stores a fingerprint.
    pub(super) fn fingerprint_bytes(&self) -> f64 {
        self.fingerprint_words() * 8.0
    }

    /// Estimates the number of rows in the bucket of a table in which a query is looked up. These are one near row, and
    /// the rows that are equal to the query in the table's block of bits by chance.
    pub(super) fn bucket_rows(&self) -> f64 {
        self.row_count() * (-self.block_bits()).exp2() + 1.0
    }

    /// Returns the number of values within the maximum distance of a fingerprint, including the
    /// fingerprint itself.
    pub(super) fn flips(&self) -> f64 {
        let bits = self.shape.row_bits();
        let mut choices = 1.0;
        let mut sum = 1.0;
        for flipped in 1..=self.max_distance.min(bits) {
            choices *= f64::from(bits + 1 - flipped) / f64::from(flipped);
            sum += choices;
        }
        sum
    }

    /// Returns the nanoseconds for comparing two folds. A fold is the XOR of a fingerprint's words.
    pub(super) fn compare(&self) -> f64 {
        if self.max_distance <= 6 || self.shape.row_bits() <= 32 {
            FOLD_COMPARE
        } else {
            WIDE_FOLD_COMPARE
        }
    }

    /// Estimates the nanoseconds of a recursive join of `rows` rows, in which each row may form a pair with `others`
    /// rows.
    ///
    /// The recursion chooses the cheapest depth for each bucket. So the estimate is the minimum of
    /// three ways: comparing every pair, partitioning by one block, and partitioning by two blocks.
    pub(super) fn recursion(&self, rows: f64, others: f64) -> f64 {
        let blocks = self.blocks();
        let block_bits = self.block_bits();
        let compare = self.compare();
        let all = rows * others / 2.0 * compare;
        let one_level = rows * blocks * (20.0 + others * (-block_bits).exp2() * compare / 2.0);
        let tables = blocks * (blocks + 3.0) / 2.0;
        let pairs = others * (-1.7 * block_bits).exp2() * compare / 2.0;
        let two_levels = rows * (blocks * 20.0 + tables * (10.0 + pairs));
        GROUPING * rows + all.min(one_level).min(two_levels)
    }

    /// Estimates the number of pairs of rows of the corpus if equal rows count as one row.
    pub(super) fn different_pairs(&self) -> f64 {
        self.different(self.row_count()) * self.different(self.row_count()) / 2.0
    }

    /// Estimates the number of different fingerprints among `rows` rows. The estimate is at most 2 to the power of
    /// the effective bits, the number of possible fingerprints.
    pub(super) fn different(&self, rows: f64) -> f64 {
        rows.min(f64::from(self.effective_bits).exp2())
    }

    /// Estimates the time and memory for keeping the found pairs in memory, if `compared` pairs of unrelated rows are
    /// compared. Some of them are found, because they are near by chance.
    pub(super) fn kept_pairs(&self, compared: f64) -> JoinEstimate {
        let pairs = compared * self.share_within();
        JoinEstimate { nanoseconds: pairs * PAIR_TIME, bytes: pairs * PAIR_BYTES as f64 }
    }

    /// Returns the fraction of pairs of unrelated rows that are within the maximum distance. It is a
    /// sum of binomial probabilities.
    pub(super) fn share_within(&self) -> f64 {
        let effective_bits = f64::from(self.effective_bits);
        // Number of independent units, and the probability that two rows are equal in one.
        let (units, agree) = match self.shape.metric() {
            Metric::Bits => (effective_bits, 0.5),
            // The fraction for one word. The fraction of rows that are near in several words is
            // smaller.
            Metric::Votes { .. } => (effective_bits / self.shape.words() as f64, 0.5),
            // All pairs are compared, and no pair is kept before it was compared.
            Metric::Cosine { .. } => return 0.0,
            Metric::Lanes { .. } => {
                let lanes = f64::from(self.shape.units());
                (lanes, (-effective_bits / lanes).exp2())
            }
        };
        let odds = (1.0 - agree) / agree;
        // Logarithms are used, because the fraction of equal rows may be too small for a floating-point
        // number.
        let mut term = units * agree.ln();
        let mut sum = term.exp();
        for differing in 1..=self.max_distance {
            let left = units + 1.0 - f64::from(differing);
            if left < 1.0 {
                return 1.0;
            }
            term += (left / f64::from(differing) * odds).ln();
            sum += term.exp();
        }
        sum.min(1.0)
    }
}

/// Returns the nanoseconds of a query that looks up `tables` tables in memory and compares `bucket`
/// rows in each.
#[must_use]
pub(crate) fn query_of_tables(tables: f64, bucket: f64) -> f64 {
    tables * table_look(bucket, FOLD_COMPARE)
}

/// Returns the nanoseconds of one look-up in a table: the latency of the memory, and the comparisons of
/// `bucket` rows. `compare` is the time of one comparison.
pub(super) fn table_look(bucket: f64, compare: f64) -> f64 {
    LATENCY + bucket.max(LEAST_BUCKET) * 4.0 * compare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_pairs_by_chance_is_binomial() {
        let share = |shape, effective_bits, max_distance| {
            let task = JoinTask::SelfJoin;
            let workload =
                Workload { task, rows: 1, shape, effective_bits, max_distance, memory: 1 };
            workload.share_within()
        };
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(share(Shape::bits(64), 10, 1), 11.0 / 1024.0));
        // Two of three lanes of one bit are equal.
        assert!(near(share(Shape::lanes(3, 4), 3, 1), 4.0 / 8.0));
        assert!(near(share(Shape::bits(64), 0, 3), 1.0) && near(share(Shape::bits(64), 5, 9), 1.0));
        assert!(share(Shape::bits(512), 512, 24) < 1e-90);
    }
}
