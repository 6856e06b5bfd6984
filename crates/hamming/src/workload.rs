//! The work that a plan is made for, and the arithmetic that the estimates of the methods share.
//!
//! Estimates only have to rank the methods correctly. Their constants are rounded from measurements on
//! a 2-core Intel Xeon with AVX-512 in November 2026.

use crate::split::effective_bits;
use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape};
use std::ops::Add;

/// Nanoseconds of one compare of two folds.
const FOLD_COMPARE: f64 = 0.02;
/// Nanoseconds of one compare of two folds to 64 bits, which larger distances need.
const WIDE_FOLD_COMPARE: f64 = 0.04;
/// Nanoseconds that grouping takes for each row.
pub(super) const GROUPING: f64 = 20.0;
/// Nanoseconds of a pair, for a method that keeps its pairs and sorts them.
const PAIR_TIME: f64 = 40.0;
/// Bytes of a pair, for a method that keeps its pairs and sorts them.
const PAIR_BYTES: f64 = 28.0;
/// Nanoseconds of one look into a table: the latency of the memory.
const LATENCY: f64 = 120.0;
/// Rows of a bucket that a look into a table compares, at least.
const LEAST_BUCKET: f64 = 48.0;

/// The work that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// All pairs of the corpus.
    SelfJoin,
    /// The partners of each query, where all queries are known before the first answer.
    Search {
        /// Number of queries.
        queries: usize,
    },
}

/// Everything that a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The work that is asked for.
    pub task: Task,
    /// Number of rows of the corpus.
    pub rows: usize,
    /// Number of bits of a fingerprint, and how distances are counted.
    pub shape: Shape,
    /// Number of random bits that would distinguish rows equally well: fewer than the rows have if
    /// bits are skewed or constant.
    pub effective_bits: u32,
    /// The largest distance of a pair, k.
    pub max_distance: u32,
    /// Bytes that the method may use in addition to the corpus.
    pub memory: u64,
}

/// Time and memory that a method would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Nanoseconds of one core.
    pub nanoseconds: f64,
    /// Bytes in addition to the corpus.
    pub bytes: f64,
}

impl Add for Estimate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { nanoseconds: self.nanoseconds + other.nanoseconds, bytes: self.bytes + other.bytes }
    }
}

impl Workload {
    /// Describes a task on `corpus`, whose effective bits are counted in a sample.
    ///
    /// ```
    /// use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    /// use simtool_hamming::workload::{Task, Workload};
    ///
    /// let mut rows = RowsBuilder::new(Shape::bits(64));
    /// (0..1000).for_each(|row| rows.push(Some(&[row % 4])));
    /// let workload = Workload::of(Task::SelfJoin, &rows.finish(), 3, 1 << 30);
    /// // Only the lowest two bits differ from row to row.
    /// assert_eq!(workload.effective_bits, 2);
    /// ```
    #[must_use]
    pub fn of(task: Task, corpus: &FingerprintRows<'_>, max_distance: u32, memory: u64) -> Self {
        let shape = corpus.shape;
        let effective_bits = effective_bits(&corpus.words, shape);
        Self { task, rows: corpus.len(), shape, effective_bits, max_distance, memory }
    }

    /// Checks that the distance excludes some pairs.
    ///
    /// # Errors
    ///
    /// Any two rows of this shape are within the distance.
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

    /// The work of one lane, if lanes vote and are joined one after the other.
    pub(super) fn of_one_lane(&self) -> Self {
        Self {
            shape: Shape::bits(u64::BITS),
            effective_bits: self.effective_bits / self.shape.words() as u32,
            ..*self
        }
    }

    /// Number of rows of the corpus, as the estimates need it.
    pub(super) fn row_count(&self) -> f64 {
        self.rows as f64
    }

    /// Number of rows that ask for partners: the queries, or in a self-join all rows.
    pub(super) fn query_count(&self) -> f64 {
        match self.task {
            Task::SelfJoin => self.rows as f64,
            Task::Search { queries } => queries as f64,
        }
    }

    /// Number of blocks, k + 1: two rows within the distance agree in one of them.
    pub(super) fn blocks(&self) -> f64 {
        f64::from(self.max_distance) + 1.0
    }

    /// Effective bits of one block.
    pub(super) fn block_bits(&self) -> f64 {
        f64::from(self.effective_bits) / self.blocks()
    }

    /// Number of words of the lane that a row is held in.
    pub(super) fn lane_words(&self) -> f64 {
        self.shape.words().next_power_of_two() as f64
    }

    /// Number of bytes of the lane that a row is held in.
    pub(super) fn lane_bytes(&self) -> f64 {
        self.lane_words() * 8.0
    }

    /// Number of rows in the bucket of a query: its own, and those that agree in the block by chance.
    pub(super) fn bucket_rows(&self) -> f64 {
        self.row_count() * (-self.block_bits()).exp2() + 1.0
    }

    /// Number of values within the distance of one value.
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

    /// Nanoseconds of one compare of two folds.
    pub(super) fn compare(&self) -> f64 {
        if self.max_distance <= 6 || self.shape.row_bits() <= 32 {
            FOLD_COMPARE
        } else {
            WIDE_FOLD_COMPARE
        }
    }

    /// Nanoseconds of the recursive join of `rows` rows that meet `others` other rows each.
    ///
    /// The recursion chooses the cheapest depth for each bucket, so the estimate takes the cheapest of
    /// three: compare everything, partition by one block, or partition by two.
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

    /// Number of pairs of different rows of the corpus.
    pub(super) fn different_pairs(&self) -> f64 {
        self.different(self.row_count()) * self.different(self.row_count()) / 2.0
    }

    /// Number of different rows among `rows`: no more than there are fingerprints.
    pub(super) fn different(&self, rows: f64) -> f64 {
        rows.min(f64::from(self.effective_bits).exp2())
    }

    /// Time and memory of the pairs that are near by chance among `compared` pairs, for a method that
    /// has all of its pairs in memory.
    pub(super) fn kept_pairs(&self, compared: f64) -> Estimate {
        let pairs = compared * self.share_within();
        Estimate { nanoseconds: pairs * PAIR_TIME, bytes: pairs * PAIR_BYTES }
    }

    /// The share of pairs of unrelated rows that are within the distance: a binomial sum.
    pub(super) fn share_within(&self) -> f64 {
        let effective_bits = f64::from(self.effective_bits);
        // Independent units, and the probability that two rows agree in one.
        let (units, agree) = match self.shape.metric() {
            Metric::Bits => (effective_bits, 0.5),
            // The share of one lane: that of rows that meet in several lanes is smaller.
            Metric::Votes { .. } => (effective_bits / self.shape.words() as f64, 0.5),
            // All pairs are compared, and no pair is kept before it was compared.
            Metric::Cosine { .. } => return 0.0,
            Metric::Lanes { .. } => {
                let lanes = f64::from(self.shape.units());
                (lanes, (-effective_bits / lanes).exp2())
            }
        };
        let odds = (1.0 - agree) / agree;
        // In logarithms, since the share of equal rows may be too small for a number.
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

/// Returns the nanoseconds of a query that looks into `tables` tables in memory and meets `bucket` rows
/// in each.
#[must_use]
pub(crate) fn query_of_tables(tables: f64, bucket: f64) -> f64 {
    tables * table_look(bucket, FOLD_COMPARE)
}

/// Nanoseconds of one look into a table: the latency of the memory, and the compares of the bucket.
pub(super) fn table_look(bucket: f64, compare: f64) -> f64 {
    LATENCY + bucket.max(LEAST_BUCKET) * 4.0 * compare
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_pairs_by_chance_is_binomial() {
        let share = |shape, effective_bits, max_distance| {
            let task = Task::SelfJoin;
            let workload =
                Workload { task, rows: 1, shape, effective_bits, max_distance, memory: 1 };
            workload.share_within()
        };
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(share(Shape::bits(64), 10, 1), 11.0 / 1024.0));
        // Two of three lanes of one bit agree.
        assert!(near(share(Shape::lanes(3, 4), 3, 1), 4.0 / 8.0));
        assert!(near(share(Shape::bits(64), 0, 3), 1.0) && near(share(Shape::bits(64), 5, 9), 1.0));
        assert!(share(Shape::bits(512), 512, 24) < 1e-90);
    }
}
