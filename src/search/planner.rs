//! Which index or join, and why.
//!
//! A plan is a pure function of the [`Workload`]. It compares estimates of time and memory, which
//! only have to be right in their order; the constants are rounded from measurements on a 2-core
//! Intel Xeon with AVX-512 in November 2026.

use crate::error::{Error, Result};
use crate::search::SearchLane;
use crate::search::split::effective_bits;
use std::fmt;
use std::str::FromStr;

/// A search method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexName {
    /// Compares everything.
    LinearScan,
    /// Looks up all flips of a query.
    BitProbing,
    /// Stores all flips of the corpus.
    ExpandedSet,
    /// Sorted tables under permutations.
    PermutedTables,
    /// k + 1 tables of buckets.
    BlockIndex,
    /// The queries in tables, the corpus scanned once.
    StreamedQueries,
    /// The recursive self-join, in memory.
    PartitionJoin,
    /// The recursive join of queries and corpus.
    BipartiteJoin,
    /// The recursive self-join with its first partition in files.
    SpilledJoin,
}

/// Every name, in the order of [`IndexName`].
const NAMES: [(IndexName, &str); 9] = [
    (IndexName::LinearScan, "linear-scan"),
    (IndexName::BitProbing, "bit-probing"),
    (IndexName::ExpandedSet, "expanded-set"),
    (IndexName::PermutedTables, "permuted-tables"),
    (IndexName::BlockIndex, "block-index"),
    (IndexName::StreamedQueries, "streamed-queries"),
    (IndexName::PartitionJoin, "partition-join"),
    (IndexName::BipartiteJoin, "bipartite-join"),
    (IndexName::SpilledJoin, "spilled-join"),
];

/// The methods that join a corpus with itself.
const SELF_JOINS: &[IndexName] =
    &[IndexName::LinearScan, IndexName::PartitionJoin, IndexName::SpilledJoin];
/// The methods that answer queries.
const SEARCHES: &[IndexName] = &[
    IndexName::LinearScan,
    IndexName::BitProbing,
    IndexName::ExpandedSet,
    IndexName::PermutedTables,
    IndexName::BlockIndex,
    IndexName::StreamedQueries,
    IndexName::BipartiteJoin,
];

impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(NAMES[*self as usize].1)
    }
}

impl FromStr for IndexName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = NAMES.iter().find(|known| known.1 == name);
        known.map(|known| known.0).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|known| known.1).collect();
            Error::config("index", name, format!("must be one of {}", names.join(", ")))
        })
    }
}

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
    /// Bits of a fingerprint.
    pub bits: u32,
    /// Bits' worth that fingerprints are told apart by: fewer where bits are skewed or constant.
    pub effective_bits: u32,
    /// k.
    pub max_distance: u32,
    /// Bytes that may be used, the corpus itself not counted.
    pub memory: u64,
}

impl Workload {
    /// The workload of a corpus, of which a sample is looked at.
    pub fn of<L: SearchLane>(task: Task, corpus: &[L], max_distance: u32, memory: u64) -> Self {
        let effective_bits = effective_bits(corpus);
        Self { task, rows: corpus.len(), bits: L::BITS, effective_bits, max_distance, memory }
    }
}

/// What a method would take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
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
    pub estimates: Vec<Estimate>,
}

impl Plan {
    /// The fastest method that fits in memory; the smallest one if none fits.
    #[must_use]
    pub fn new(workload: Workload) -> Self {
        Self::among(workload, methods(workload.task))
    }

    /// The same, of some methods that serve the task.
    #[must_use]
    pub fn among(workload: Workload, methods: &[IndexName]) -> Self {
        let mut estimates = workload.estimates(methods);
        estimates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let fitting = estimates.iter().find(|estimate| estimate.bytes <= workload.memory);
        let smallest = || estimates.iter().min_by_key(|estimate| estimate.bytes);
        let index = fitting.or_else(smallest).map_or(IndexName::LinearScan, |best| best.index);
        Self { workload, index, named: false, estimates }
    }

    /// The plan with a method that the user named.
    ///
    /// # Errors
    ///
    /// The method does not serve the task.
    pub fn named(workload: Workload, index: IndexName) -> Result<Self> {
        let methods = methods(workload.task);
        if methods.contains(&index) {
            return Ok(Self { index, named: true, ..Self::new(workload) });
        }
        let names: Vec<_> = methods.iter().map(IndexName::to_string).collect();
        let rule = format!("does not serve this command; it takes one of {}", names.join(", "));
        Err(Error::config("index", index, rule))
    }
}

fn methods(task: Task) -> &'static [IndexName] {
    match task {
        Task::SelfJoin => SELF_JOINS,
        Task::Batch { .. } => SEARCHES,
        // The last two need all queries at once.
        Task::Online => &SEARCHES[..5],
    }
}

impl Workload {
    #[expect(clippy::cast_sign_loss, reason = "no method takes a negative number of bytes")]
    fn estimates(&self, methods: &[IndexName]) -> Vec<Estimate> {
        let estimate = |&index: &IndexName| {
            let (nanoseconds, bytes) = self.estimate(index);
            Estimate { index, seconds: nanoseconds * 1e-9, bytes: bytes as u64 }
        };
        methods.iter().map(estimate).collect()
    }

    /// Nanoseconds of one core, and bytes.
    fn estimate(&self, index: IndexName) -> (f64, f64) {
        let rows = self.rows as f64;
        let groups = f64::from(self.max_distance) + 1.0;
        let lane_bytes = f64::from((self.bits / 8).max(8));
        let compare = if self.max_distance <= 6 || self.bits <= 32 { 0.02 } else { 0.04 };
        // Rows that share a query's block by chance.
        let block_bits = f64::from(self.effective_bits) / groups;
        let bucket = rows * (-block_bits).exp2() + 1.0;
        let probes = flips(self.bits, self.max_distance);
        let (online, queries) = match self.task {
            Task::Batch { queries } => (0.0, queries as f64),
            Task::Online => (1.0, 1.0),
            Task::SelfJoin => (0.0, rows),
        };
        // What building costs counts only where it is not shared by queries to come.
        let built = |build: f64, query: f64| build * (1.0 - online) + queries * query;
        match index {
            IndexName::LinearScan if self.task == Task::SelfJoin => {
                (rows * rows / 2.0 * compare, rows * 4.0)
            }
            IndexName::LinearScan => (queries * (rows * 2.0 * compare + 100.0), 0.0),
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
                let query = groups * (120.0 + bucket.max(48.0) * 4.0 * compare);
                (built(build, query), rows * groups * 8.0)
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
                (self.recursion(rows, rows), rows * (2.0 * lane_bytes + 12.0))
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
                    (self.memory as f64).min(rows * 2.0 * lane_bytes),
                )
            }
        }
    }

    /// The recursive join of `rows` rows, each of which meets its share of `others`.
    fn recursion(&self, rows: f64, others: f64) -> f64 {
        let groups = f64::from(self.max_distance) + 1.0;
        let block_bits = f64::from(self.effective_bits) / groups;
        let compare = if self.max_distance <= 6 || self.bits <= 32 { 0.02 } else { 0.04 };
        let all = rows * others / 2.0 * compare;
        let one_level = rows * groups * (20.0 + others * (-block_bits).exp2() * compare / 2.0);
        let tables = groups * (groups + 3.0) / 2.0;
        let pairs = others * (-1.7 * block_bits).exp2() * compare / 2.0;
        let two_levels = rows * (groups * 20.0 + tables * (10.0 + pairs));
        20.0 * rows + all.min(one_level).min(two_levels)
    }
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
        let Workload { task, rows, bits, effective_bits, max_distance, memory } = self.workload;
        match task {
            Task::SelfJoin => write!(f, "self-join of {rows} rows")?,
            Task::Batch { queries } => write!(f, "{queries} queries against {rows} rows")?,
            Task::Online => write!(f, "queries one by one against {rows} rows")?,
        }
        writeln!(
            f,
            ", {bits} bits (worth {effective_bits}), distance up to {max_distance}, {} of memory",
            Bytes(memory)
        )?;
        for estimate in &self.estimates {
            let chosen = match (estimate.index == self.index, self.named) {
                (true, true) => "  <- named",
                (true, false) => "  <- chosen: the fastest that fits",
                (false, _) if estimate.bytes > memory => "  does not fit",
                (false, _) => "",
            };
            let (index, seconds) = (estimate.index, Seconds(estimate.seconds));
            writeln!(f, "  {index:<16} {seconds:>10} {:>10}{chosen}", Bytes(estimate.bytes))?;
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
        let text = match self.0 as f64 {
            b if b >= 1e15 => "unlimited".to_owned(),
            b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
            b => format!("{:.1} MB", b / 1e6),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (SELF, 10_000_000, 64, 64, 10, GB, PartitionJoin),
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
        ];
        for (task, rows, bits, effective_bits, max_distance, memory, expected) in cases {
            let workload = Workload { task, rows, bits, effective_bits, max_distance, memory };
            let plan = Plan::new(workload);
            assert_eq!(plan.index, expected, "{plan}");
        }
    }

    #[test]
    fn names_are_read_and_written_and_must_serve_the_task() {
        for (at, (index, name)) in NAMES.into_iter().enumerate() {
            assert_eq!(index as usize, at);
            assert_eq!(name.parse::<IndexName>().unwrap(), index);
            assert_eq!(index.to_string(), name);
        }
        let error = "tree".parse::<IndexName>().unwrap_err().to_string();
        assert!(error.starts_with("index tree: must be one of linear-scan, "), "{error}");
        let workload = Workload::of(SELF, &[1u64, 2, 3], 3, u64::MAX);
        let error = Plan::named(workload, IndexName::BlockIndex).unwrap_err().to_string();
        assert!(error.ends_with("linear-scan, partition-join, spilled-join"), "{error}");
        let plan = Plan::named(workload, IndexName::LinearScan).unwrap();
        assert!(plan.to_string().contains("linear-scan") && plan.named);
    }
}
