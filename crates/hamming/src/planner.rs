//! Which index or join, and why.
//!
//! A plan is a pure function of the [`Workload`]. It compares estimates of time and memory, those of
//! the pairs that unrelated rows are by chance among them, which only have to be right in their
//! order; the constants are rounded from measurements on a 2-core Intel Xeon with AVX-512 in November
//! 2026.

use crate::bucket_table::building_bytes;
use crate::key_blocks::KeyPlan;
use crate::split::effective_bits;
use simtool_base::error::{Error, Result};
use simtool_base::quantity::bytes;
use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape};
use std::fmt;

pub use crate::index_name::IndexName;

/// The methods that join a corpus with itself.
pub const SELF_JOINS: &[IndexName] = &[
    IndexName::LinearScan,
    IndexName::PartitionJoin,
    IndexName::MultiIndexJoin,
    IndexName::SpilledJoin,
];
/// The methods that answer queries.
pub const SEARCHES: &[IndexName] = &[
    IndexName::LinearScan,
    IndexName::BitProbing,
    IndexName::ExpandedSet,
    IndexName::PermutedTables,
    IndexName::BlockIndex,
    IndexName::StreamedQueries,
    IndexName::BipartiteJoin,
];

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// All pairs of the corpus.
    SelfJoin,
    /// That many queries, all known before the first answer.
    Batch {
        /// Number of queries.
        queries: usize,
    },
    /// Queries one after the other, for a long time: building is free.
    Online,
}

/// All that a plan depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What is to be done.
    pub task: Task,
    /// Rows of the corpus.
    pub rows: usize,
    /// Bits of a fingerprint, and what a distance counts.
    pub shape: Shape,
    /// Bits' worth that fingerprints are told apart by: fewer where bits are skewed or constant.
    pub effective_bits: u32,
    /// k.
    pub max_distance: u32,
    /// Bytes that may be used, the corpus itself not counted.
    pub memory: u64,
}

impl Workload {
    /// The workload of a corpus, of which a sample is looked at.
    #[must_use]
    pub fn of(task: Task, corpus: &FingerprintRows<'_>, max_distance: u32, memory: u64) -> Self {
        let (rows, shape) = (corpus.len(), corpus.shape);
        let effective_bits = effective_bits(&corpus.words, shape);
        Self { task, rows, shape, effective_bits, max_distance, memory }
    }

    /// That not all rows are within the distance of each other, whatever they hold.
    fn check(&self) -> Result<()> {
        let Self { shape, max_distance, .. } = self;
        if *max_distance < shape.units() {
            return Ok(());
        }
        let rule = format!(
            "must be below the {shape} of the fingerprints: all rows are within that distance"
        );
        Err(Error::config("max_distance", max_distance, rule))
    }
}

/// What a method would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// The method.
    pub index: IndexName,
    /// Seconds of one core; for [`Task::Online`], for each query.
    pub seconds: f64,
    /// Bytes besides the corpus.
    pub bytes: u64,
}

/// The chosen method, and what it was chosen from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the plan is for.
    pub workload: Workload,
    /// The method.
    pub index: IndexName,
    /// Whether the user named it.
    pub named: bool,
    /// All methods that serve the task, the fastest first.
    pub costs: Vec<Cost>,
}

impl Plan {
    /// The fastest method that fits in memory; the smallest one if none fits.
    ///
    /// # Errors
    ///
    /// The distance is one within which all rows are.
    pub fn new(workload: Workload) -> Result<Self> {
        Self::among(workload, &methods(workload))
    }

    /// The same, of those of some methods for the task that count what the metric does.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn among(workload: Workload, methods: &[IndexName]) -> Result<Self> {
        workload.check()?;
        let counts = |index: &IndexName| {
            *index == IndexName::LinearScan || index.counts(workload.shape.metric())
        };
        let methods: Vec<_> = methods.iter().copied().filter(counts).collect();
        let mut costs = workload.costs(&methods);
        costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let fitting = costs.iter().find(|cost| cost.bytes <= workload.memory);
        let smallest = || costs.iter().min_by_key(|cost| cost.bytes);
        let index = fitting.or_else(smallest).map_or(IndexName::LinearScan, |best| best.index);
        Ok(Self { workload, index, named: false, costs })
    }

    /// The plan with a method that the user named.
    ///
    /// # Errors
    ///
    /// The method does not serve the task; else as [`Self::new`].
    pub fn named(workload: Workload, index: IndexName) -> Result<Self> {
        let methods = methods(workload);
        if methods.contains(&index) {
            return Ok(Self { index, named: true, ..Self::new(workload)? });
        }
        let names: Vec<_> = methods.iter().map(IndexName::to_string).collect();
        let rule = format!("does not serve this command; it takes one of {}", names.join(", "));
        Err(Error::config("index", index, rule))
    }
}

/// The methods that serve a task with rows of this shape.
fn methods(Workload { task, shape, .. }: Workload) -> Vec<IndexName> {
    let methods = match task {
        Task::SelfJoin => SELF_JOINS,
        Task::Batch { .. } => SEARCHES,
        // The last two need all queries at once.
        Task::Online => &SEARCHES[..5],
    };
    // Lanes that vote are joined one by one; what is null stands in no table.
    let (is_voting, is_asked_null) = match shape.metric() {
        Metric::Bits | Metric::Cosine { .. } => (false, false),
        Metric::Lanes { null, .. } => (false, null && task == Task::Online),
        Metric::Votes { .. } => (true, false),
    };
    let serves = |index: &IndexName| match index {
        IndexName::LinearScan => true,
        _ if is_asked_null => false,
        index => (shape.words() <= MOST_WORDS || is_voting) && index.counts(shape.metric()),
    };
    methods.iter().copied().filter(serves).collect()
}

/// Words of rows that anything but the linear scan serves.
const MOST_WORDS: usize = 8;
/// Nanoseconds of one compare of two folds.
const FOLD_COMPARE: f64 = 0.02;
/// Nanoseconds of a row that is grouped with those equal to it.
const GROUPING: f64 = 20.0;
/// Nanoseconds and bytes of a pair for a method that keeps its pairs and sorts them.
const PAIR: (f64, f64) = (40.0, 28.0);

impl Workload {
    #[expect(clippy::cast_sign_loss, reason = "no method takes a negative number of bytes")]
    fn costs(&self, methods: &[IndexName]) -> Vec<Cost> {
        let cost = |&index: &IndexName| {
            let (nanoseconds, bytes) = self.estimate(index);
            Cost { index, seconds: nanoseconds * 1e-9, bytes: bytes as u64 }
        };
        methods.iter().map(cost).collect()
    }

    /// Nanoseconds of one core, and bytes.
    fn estimate(&self, index: IndexName) -> (f64, f64) {
        if let Metric::Votes { needed } = self.shape.metric()
            && index != IndexName::LinearScan
        {
            let words = self.shape.words() as u32;
            let lane = Self {
                shape: Shape::bits(u64::BITS),
                effective_bits: self.effective_bits / words,
                ..*self
            };
            let (nanoseconds, bytes) = lane.estimate(index);
            // The different rows are copied first.
            let rows = self.rows as f64 * f64::from(words) * 8.0;
            return (nanoseconds * f64::from(words - needed + 1), bytes + rows);
        }
        let rows = self.rows as f64;
        let groups = f64::from(self.max_distance) + 1.0;
        let words = self.shape.words().next_power_of_two() as f64;
        let lane_bytes = words * 8.0;
        let compare = self.compare();
        // A fold stands for a row of many words everywhere but in a scan.
        let compare_rows = compare * if words > 2.0 { words } else { 1.0 };
        // Rows that share a query's block by chance.
        let block_bits = f64::from(self.effective_bits) / groups;
        let bucket = rows * (-block_bits).exp2() + 1.0;
        let probes = flips(self.shape.row_bits(), self.max_distance);
        let (online, queries) = match self.task {
            Task::Batch { queries } => (0.0, queries as f64),
            Task::Online => (1.0, 1.0),
            Task::SelfJoin => (0.0, rows),
        };
        // What building costs counts only where it is not shared by queries to come.
        let built = |build: f64, query: f64| build * (1.0 - online) + queries * query;
        let (kept_time, kept_bytes) = self.kept_pairs(index, queries);
        let (time, bytes) = match index {
            IndexName::LinearScan if self.task == Task::SelfJoin => {
                (rows * rows / 2.0 * compare_rows, rows * 4.0)
            }
            IndexName::LinearScan => (queries * (rows * 2.0 * compare_rows + 100.0), 0.0),
            IndexName::BitProbing => {
                (built(rows * 100.0, probes * 20.0), rows * (lane_bytes + 40.0))
            }
            IndexName::ExpandedSet => {
                let bytes = rows * probes * (lane_bytes + 24.0);
                // A look-up beyond the caches.
                let query = if bytes > 1e7 { 120.0 } else { 40.0 };
                (built(rows * probes * 100.0, query), bytes)
            }
            IndexName::PermutedTables => {
                let build = rows * groups * 100.0;
                let bytes = rows * groups * (2.0 * lane_bytes + 8.0);
                (built(build, groups * (250.0 + bucket)), bytes)
            }
            IndexName::BlockIndex => {
                let build = rows * groups * 15.0;
                let query = groups * of_table(bucket, compare);
                (built(build, query), rows * groups * building_bytes(self.rows) as f64)
            }
            IndexName::StreamedQueries => {
                let meetings = queries * (-block_bits.min(16.0)).exp2();
                // A bucket with one query takes no look at the query.
                let crowded = (meetings * meetings / 2.0).min(1.0);
                let row =
                    groups * (1.3 + crowded * 5.0 + meetings.max(1.0).log2() * 2.0 * meetings);
                (rows * row + queries * 200.0, groups * queries * (16.0 + 16.0 * 8.0))
            }
            IndexName::PartitionJoin => {
                // Rows of many words are joined by their sketches.
                let sketch = if words > 2.0 { 60.0 } else { 0.0 };
                (self.recursion(rows, rows), rows * (2.0 * lane_bytes + 12.0 + sketch))
            }
            IndexName::MultiIndexJoin => {
                let (plan, time) = KeyPlan::cheapest(
                    rows,
                    self.shape.row_bits(),
                    self.effective_bits,
                    self.max_distance,
                );
                (rows * GROUPING + time, rows * (2.0 * lane_bytes + 12.0) + plan.table_bytes())
            }
            IndexName::BipartiteJoin => {
                let both = rows + queries;
                let pairs = 2.0 * queries * rows / both.max(1.0);
                (self.recursion(both, pairs), both * (3.0 * lane_bytes + 12.0))
            }
            IndexName::SpilledJoin => {
                let disk = rows * groups * (lane_bytes + 4.0) * 1.5;
                (
                    self.recursion(rows, rows) + disk,
                    // All that the pairs leave, if it is needed.
                    (self.memory as f64 - kept_bytes).clamp(0.0, rows * 2.0 * lane_bytes),
                )
            }
        };
        (time + kept_time, bytes + kept_bytes)
    }

    /// Nanoseconds and bytes of the pairs by chance, for a method that has all of them in memory.
    fn kept_pairs(&self, index: IndexName, queries: f64) -> (f64, f64) {
        // Of different rows there are not more than there are fingerprints.
        let different = |rows: f64| rows.min(f64::from(self.effective_bits).exp2());
        let rows = self.rows as f64;
        let pairs = match index {
            IndexName::PartitionJoin | IndexName::MultiIndexJoin | IndexName::SpilledJoin => {
                different(rows) * different(rows) / 2.0
            }
            IndexName::BipartiteJoin => different(queries) * different(rows),
            IndexName::StreamedQueries => queries * rows,
            IndexName::LinearScan
            | IndexName::BitProbing
            | IndexName::ExpandedSet
            | IndexName::PermutedTables
            | IndexName::BlockIndex => 0.0,
        };
        let pairs = pairs * self.share_within();
        (pairs * PAIR.0, pairs * PAIR.1)
    }

    /// The share of pairs of unrelated rows that are within the distance.
    fn share_within(&self) -> f64 {
        let effective_bits = f64::from(self.effective_bits);
        // Independent units, and the probability that two rows agree in one.
        let (units, agree) = match self.shape.metric() {
            Metric::Bits => (effective_bits, 0.5),
            // A lane's share is more than that of rows that meet in several.
            Metric::Votes { .. } => (effective_bits / self.shape.words() as f64, 0.5),
            // Compared one by one: no pairs by chance are kept before they are judged.
            Metric::Cosine { .. } => return 0.0,
            Metric::Lanes { .. } => {
                let lanes = f64::from(self.shape.units());
                (lanes, (-effective_bits / lanes).exp2())
            }
        };
        let odds = (1.0 - agree) / agree;
        // In logarithms, since the share of equal rows may be less than there are numbers for.
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

    /// Nanoseconds of one compare of two rows or folds.
    fn compare(&self) -> f64 {
        if self.max_distance <= 6 || self.shape.row_bits() <= 32 { FOLD_COMPARE } else { 0.04 }
    }

    /// The recursive join of `rows` rows, each of which meets its share of `others`.
    fn recursion(&self, rows: f64, others: f64) -> f64 {
        let groups = f64::from(self.max_distance) + 1.0;
        let block_bits = f64::from(self.effective_bits) / groups;
        let compare = self.compare();
        let all = rows * others / 2.0 * compare;
        let one_level = rows * groups * (20.0 + others * (-block_bits).exp2() * compare / 2.0);
        let tables = groups * (groups + 3.0) / 2.0;
        let pairs = others * (-1.7 * block_bits).exp2() * compare / 2.0;
        let two_levels = rows * (groups * 20.0 + tables * (10.0 + pairs));
        GROUPING * rows + all.min(one_level).min(two_levels)
    }
}

/// Nanoseconds of a query that looks into so many tables, which are in memory, and meets `bucket` rows
/// in each.
#[must_use]
pub fn query_of_tables(tables: f64, bucket: f64) -> f64 {
    tables * of_table(bucket, FOLD_COMPARE)
}

/// Nanoseconds of a look into a table: the memory's latency, and the rows of a bucket.
fn of_table(bucket: f64, compare: f64) -> f64 {
    120.0 + bucket.max(48.0) * 4.0 * compare
}

/// Number of values within `max_distance` flips of one of `bits` bits.
fn flips(bits: u32, max_distance: u32) -> f64 {
    let mut choices = 1.0;
    let mut sum = 1.0;
    for flipped in 1..=max_distance.min(bits) {
        choices *= f64::from(bits + 1 - flipped) / f64::from(flipped);
        sum += choices;
    }
    sum
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workload { task, rows, shape, effective_bits, max_distance, memory } = self.workload;
        match task {
            Task::SelfJoin => write!(f, "self-join of {rows} rows")?,
            Task::Batch { queries } => write!(f, "{queries} queries against {rows} rows")?,
            Task::Online => write!(f, "queries one by one against {rows} rows")?,
        }
        writeln!(
            f,
            ", {shape} (worth {effective_bits} bits), distance up to {max_distance}, {} of memory",
            Bytes(memory)
        )?;
        for cost in &self.costs {
            let chosen = match (cost.index == self.index, self.named) {
                (true, true) => "  <- named",
                (true, false) => "  <- chosen: the fastest that fits",
                (false, _) if cost.bytes > memory => "  does not fit",
                (false, _) => "",
            };
            let (index, seconds) = (cost.index, Seconds(cost.seconds));
            writeln!(f, "  {index:<16} {seconds:>10} {:>10}{chosen}", Bytes(cost.bytes))?;
        }
        Ok(())
    }
}

/// Time in a readable unit.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            s if s >= 1.0 => format!("{s:.1} s"),
            s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
            s => format!("{:.2} us", s * 1e6),
        };
        f.pad(&text)
    }
}

/// Memory in a readable unit.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            1_000_000_000_000_000.. => "unlimited".to_owned(),
            size => bytes(size),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::RowsBuilder;

    const SELF: Task = Task::SelfJoin;

    fn batch(queries: usize) -> Task {
        Task::Batch { queries }
    }

    #[test]
    fn choices_are_pinned() {
        use IndexName::*;
        const GB: u64 = 1_000_000_000;
        let cases = [
            // task, rows, bits, effective bits, k, memory, choice
            (SELF, 1_000, 64, 64, 3, GB, LinearScan),
            (SELF, 20_000, 64, 64, 3, GB, PartitionJoin),
            (SELF, 1_000_000, 64, 64, 3, GB, PartitionJoin),
            (SELF, 1_000_000, 64, 30, 3, GB, PartitionJoin),
            (SELF, 1_000_000, 64, 64, 4, GB, PartitionJoin),
            (SELF, 1_000_000, 64, 64, 6, GB, MultiIndexJoin),
            (SELF, 1_000_000, 64, 64, 10, GB, MultiIndexJoin),
            (SELF, 100_000, 64, 64, 10, GB, MultiIndexJoin),
            (SELF, 1_000_000, 128, 128, 3, GB, PartitionJoin),
            (SELF, 10_000_000, 64, 64, 10, GB, MultiIndexJoin),
            (SELF, 100_000_000, 64, 64, 3, GB, SpilledJoin),
            (SELF, 100_000_000, 64, 64, 3, 6 * GB, PartitionJoin),
            (batch(10), 10_000_000, 64, 64, 3, GB, LinearScan),
            (batch(10_000), 10_000_000, 64, 64, 3, GB, StreamedQueries),
            (batch(1_000_000), 10_000_000, 64, 64, 3, GB, BipartiteJoin),
            (batch(1_000_000), 1_000_000_000, 64, 64, 3, GB, StreamedQueries),
            (batch(1_000_000), 1_000, 16, 16, 1, GB, BipartiteJoin),
            (Task::Online, 10_000_000, 64, 64, 3, GB, BlockIndex),
            (Task::Online, 100, 64, 64, 3, GB, LinearScan),
            (Task::Online, 1_000_000, 16, 16, 1, 10 * GB, ExpandedSet),
            (Task::Online, 10_000_000, 16, 16, 1, 2 * GB, BitProbing),
            // Rows of many words.
            (SELF, 1_000, 512, 512, 24, GB, PartitionJoin),
            (SELF, 1_000_000, 256, 256, 12, GB, PartitionJoin),
            (SELF, 1_000_000, 512, 512, 24, GB, PartitionJoin),
            (SELF, 100_000_000, 512, 512, 24, 4 * GB, SpilledJoin),
            (batch(1_000_000), 1_000_000, 512, 512, 24, GB, BipartiteJoin),
            (Task::Online, 1_000_000, 512, 512, 24, GB, BlockIndex),
            // Half of all pairs are near: who keeps them takes their memory.
            (batch(16_000), 16_000, 64, 64, 31, GB / 10, LinearScan),
            (batch(16_000), 16_000, 64, 64, 31, 100 * GB, LinearScan),
            (SELF, 16_000, 64, 64, 31, GB / 10, LinearScan),
        ];
        for (task, rows, bits, effective_bits, max_distance, memory, expected) in cases {
            let shape = Shape::bits(bits);
            let workload = Workload { task, rows, shape, effective_bits, max_distance, memory };
            let plan = Plan::new(workload).unwrap();
            assert_eq!(plan.index, expected, "{plan}");
        }
    }

    #[test]
    fn lanes_and_rows_of_many_words_have_fewer_methods() {
        let workload = |shape: Shape, max_distance| {
            let rows = 1_000_000;
            let effective_bits = shape.row_bits();
            let memory = 1_000_000_000;
            Workload { task: Task::Online, rows, shape, effective_bits, max_distance, memory }
        };
        let plan = Plan::new(workload(Shape::lanes(128, 4), 20)).unwrap();
        let names: Vec<_> = plan.costs.iter().map(|cost| cost.index).collect();
        assert_eq!(names, [IndexName::BlockIndex, IndexName::LinearScan]);
        let plan = Plan::new(workload(Shape::bits(1024), 3)).unwrap();
        assert_eq!((plan.index, plan.costs.len()), (IndexName::LinearScan, 1));
    }

    #[test]
    fn a_distance_within_which_all_rows_are_is_refused() {
        let of = |shape: Shape, max_distance| {
            let (rows, effective_bits) = (10, shape.row_bits());
            let workload =
                Workload { task: SELF, rows, shape, effective_bits, max_distance, memory: 1 };
            let named = Plan::named(workload, IndexName::PartitionJoin).map(|_| ());
            let chosen = Plan::new(workload).map(|_| ());
            assert_eq!(named.is_ok(), chosen.is_ok());
            chosen
        };
        assert!(of(Shape::bits(64), 63).is_ok() && of(Shape::lanes(16, 4), 15).is_ok());
        let error = of(Shape::bits(64), 300).unwrap_err().to_string();
        let rule = "max_distance 300: must be below the 64 bits of the fingerprints";
        assert!(error.starts_with(rule), "{error}");
        assert!(of(Shape::lanes(16, 4), 16).is_err());
    }

    #[test]
    fn the_share_of_pairs_by_chance_is_that_of_the_binomial() {
        let share = |shape, effective_bits, max_distance| {
            let workload =
                Workload { task: SELF, rows: 1, shape, effective_bits, max_distance, memory: 1 };
            workload.share_within()
        };
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(share(Shape::bits(64), 10, 1), 11.0 / 1024.0));
        // Two of three lanes of one bit agree.
        assert!(near(share(Shape::lanes(3, 4), 3, 1), 4.0 / 8.0));
        assert!(near(share(Shape::bits(64), 0, 3), 1.0) && near(share(Shape::bits(64), 5, 9), 1.0));
        assert!(share(Shape::bits(512), 512, 24) < 1e-90);
    }

    #[test]
    fn a_named_method_must_serve_the_task() {
        let mut rows = RowsBuilder::new(Shape::bits(64));
        (1..4).for_each(|row| rows.push(Some(&[row])));
        let workload = Workload::of(SELF, &rows.finish(), 3, u64::MAX);
        let error = Plan::named(workload, IndexName::BlockIndex).unwrap_err().to_string();
        assert!(
            error.ends_with("linear-scan, partition-join, multi-index-join, spilled-join"),
            "{error}"
        );
        let plan = Plan::named(workload, IndexName::LinearScan).unwrap();
        assert!(plan.to_string().contains("linear-scan") && plan.named);
    }
}
