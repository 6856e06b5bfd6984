//! Plans: chooses an index or join for a workload, and records the reasons.
//!
//! A plan is a pure function of the [`Workload`]: it compares the estimates of all methods that can do
//! the task. The same workload gets the same plan on every machine.

use crate::join::Join;
use crate::joins::{JOINS, LINEAR_SCAN};
use crate::workload::{JoinTask, Workload};
use simtool_base::error::{Error, Result};
use simtool_base::quantity::bytes;
use simtool_model::fingerprint_rows::Metric;
use std::fmt;

/// Maximum length of a fingerprint in 64-bit words for most methods. Only the linear scan takes longer fingerprints,
/// unless their words vote.
const MOST_WORDS: usize = 8;

/// Estimated time and memory of a method for a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JoinCost {
    /// The method that the estimate is for.
    pub join: &'static dyn Join,
    /// Seconds of work of one core.
    pub seconds: f64,
    /// Bytes of memory in addition to the corpus.
    pub bytes: u64,
}

/// The chosen method, and the estimates of all methods that could be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct JoinPlan {
    /// The task and the data that the plan is for.
    pub workload: Workload,
    /// The chosen method.
    pub join: &'static dyn Join,
    /// Whether the user selected the method by name.
    pub named: bool,
    /// The estimates of all methods that can do the task, the fastest first.
    pub costs: Vec<JoinCost>,
}

impl JoinPlan {
    /// Chooses the fastest method that fits in memory. If none fits, chooses the one that needs the
    /// least memory.
    ///
    /// # Errors
    ///
    /// The maximum distance is so large that every pair is within it.
    ///
    /// ```
    /// use simtool_model::fingerprint_rows::Shape;
    /// use simtool_hamming::planner::JoinPlan;
    /// use simtool_hamming::workload::{JoinTask, Workload};
    ///
    /// let workload = Workload {
    ///     task: JoinTask::SelfJoin,
    ///     rows: 1_000_000,
    ///     shape: Shape::bits(64),
    ///     effective_bits: 64,
    ///     max_distance: 3,
    ///     memory: 1 << 30,
    /// };
    /// assert_eq!(JoinPlan::new(workload)?.join.name(), "partition-join");
    /// // A thousand rows are compared faster than they are partitioned.
    /// assert_eq!(JoinPlan::new(Workload { rows: 1000, ..workload })?.join.name(), "linear-scan");
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    pub fn new(workload: Workload) -> Result<Self> {
        Self::among(workload, methods(&workload))
    }

    /// Chooses a method like [`Self::new`], but only among the methods that are fast enough to join whole collections
    /// of documents.
    ///
    /// If none of these can compare the fingerprints, chooses the linear scan.
    ///
    /// # Errors
    ///
    /// The maximum distance is so large that every pair is within it.
    pub fn for_collections(workload: Workload) -> Result<Self> {
        let metric = workload.shape.metric();
        let methods = JOINS.iter().copied().filter(|join| {
            let limits = join.limits();
            limits.is_for_collections && limits.has(workload.task) && limits.counts(metric)
        });
        Self::among(workload, methods.collect())
    }

    fn among(workload: Workload, methods: Vec<&'static dyn Join>) -> Result<Self> {
        workload.check()?;
        let mut costs: Vec<JoinCost> =
            methods.into_iter().map(|join| cost(join, &workload)).collect();
        // The sort is stable, so methods of equal cost keep the order of the table.
        costs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let fitting = costs.iter().find(|cost| cost.bytes <= workload.memory);
        let best = fitting.or_else(|| costs.iter().min_by_key(|cost| cost.bytes));
        let join = best.map_or(LINEAR_SCAN, |best| best.join);
        Ok(Self { workload, join, named: false, costs })
    }

    /// Returns the estimate of the chosen method, or `None` if the plan has no estimate of it.
    #[must_use]
    pub fn cost(&self) -> Option<&JoinCost> {
        self.costs.iter().find(|cost| cost.join == self.join)
    }

    /// Returns the estimated bytes of temporary files that the chosen method writes.
    #[must_use]
    pub fn temporary_bytes(&self) -> f64 {
        self.join.temporary_bytes(&self.workload)
    }

    /// Creates a plan with the method that the user selected by name.
    ///
    /// # Errors
    ///
    /// The method cannot do the task, or the maximum distance is so large that every pair is within it.
    pub fn named(workload: Workload, join: &'static dyn Join) -> Result<Self> {
        let methods = methods(&workload);
        if methods.contains(&join) {
            return Ok(Self { join, named: true, ..Self::new(workload)? });
        }
        let names: Vec<_> = methods.iter().map(|join| join.name()).collect();
        let rule = format!("does not serve this command; it takes one of {}", names.join(", "));
        Err(Error::config("index", join, rule))
    }
}

/// Returns the methods that can do the task of a workload with fingerprints of its shape.
fn methods(workload: &Workload) -> Vec<&'static dyn Join> {
    let metric = workload.shape.metric();
    let is_voting = matches!(metric, Metric::Votes { .. });
    // Words that vote are joined one by one, so their number does not matter.
    let is_narrow = workload.shape.words() <= MOST_WORDS || is_voting;
    let can_take = |join: &&dyn Join| {
        let limits = join.limits();
        let takes_rows = limits.takes_any_rows() || (is_narrow && limits.counts(metric));
        limits.has(workload.task) && takes_rows
    };
    JOINS.iter().copied().filter(can_take).collect()
}

/// Estimates the time and memory of a method for a workload.
#[expect(clippy::cast_sign_loss, reason = "no method takes a negative number of bytes")]
fn cost(join: &'static dyn Join, workload: &Workload) -> JoinCost {
    let estimate = match workload.shape.metric() {
        Metric::Votes { needed } if !join.limits().takes_any_rows() => {
            let words = workload.shape.words() as u32;
            let mut lane = join.estimate(&workload.of_one_lane());
            // So many words are joined that each near pair is near in one of them.
            lane.nanoseconds *= f64::from(words - needed + 1);
            // The different fingerprints are copied first.
            lane.bytes += workload.row_count() * f64::from(words) * 8.0;
            lane
        }
        _ => join.estimate(&workload.of_hash_lanes()),
    };
    JoinCost { join, seconds: estimate.nanoseconds * 1e-9, bytes: estimate.bytes as u64 }
}

impl fmt::Display for JoinPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workload { task, rows, shape, effective_bits, max_distance, memory } = self.workload;
        match task {
            JoinTask::SelfJoin => write!(f, "self-join of {rows} rows")?,
            JoinTask::Search { queries } => write!(f, "{queries} queries against {rows} rows")?,
        }
        writeln!(
            f,
            ", {shape} (worth {effective_bits} bits), distance up to {max_distance}, {} of memory",
            ByteQuantity(memory)
        )?;
        for cost in &self.costs {
            let chosen = match (cost.join == self.join, self.named) {
                (true, true) => "  <- named",
                (true, false) => "  <- chosen: the fastest that fits",
                (false, _) if cost.bytes > memory => "  does not fit",
                (false, _) => "",
            };
            let join = cost.join;
            let seconds = Seconds(cost.seconds);
            writeln!(f, "  {join:<16} {seconds:>10} {:>10}{chosen}", ByteQuantity(cost.bytes))?;
        }
        Ok(())
    }
}

/// Prints seconds in a readable unit.
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

/// Prints a number of bytes in a readable unit.
struct ByteQuantity(u64);

impl fmt::Display for ByteQuantity {
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
    use crate::joins::find;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};

    const SELF: JoinTask = JoinTask::SelfJoin;

    fn batch(queries: usize) -> JoinTask {
        JoinTask::Search { queries }
    }

    #[test]
    fn choices_are_pinned() {
        const GB: u64 = 1_000_000_000;
        let cases = [
            // task, rows, bits, effective bits, k, memory, choice
            (SELF, 1_000, 64, 64, 3, GB, "linear-scan"),
            (SELF, 20_000, 64, 64, 3, GB, "partition-join"),
            (SELF, 1_000_000, 64, 64, 3, GB, "partition-join"),
            (SELF, 1_000_000, 64, 30, 3, GB, "partition-join"),
            (SELF, 1_000_000, 64, 64, 4, GB, "partition-join"),
            (SELF, 1_000_000, 64, 64, 6, GB, "multi-index-join"),
            (SELF, 1_000_000, 64, 64, 10, GB, "multi-index-join"),
            (SELF, 100_000, 64, 64, 10, GB, "multi-index-join"),
            (SELF, 1_000_000, 128, 128, 3, GB, "partition-join"),
            (SELF, 10_000_000, 64, 64, 10, GB, "multi-index-join"),
            (SELF, 100_000_000, 64, 64, 3, GB, "spilled-join"),
            (SELF, 100_000_000, 64, 64, 3, 6 * GB, "partition-join"),
            (batch(10), 10_000_000, 64, 64, 3, GB, "linear-scan"),
            (batch(10_000), 10_000_000, 64, 64, 3, GB, "streamed-queries"),
            (batch(1_000_000), 10_000_000, 64, 64, 3, GB, "bipartite-join"),
            (batch(1_000_000), 1_000_000_000, 64, 64, 3, GB, "streamed-queries"),
            (batch(1_000_000), 1_000, 16, 16, 1, GB, "bipartite-join"),
            // Long fingerprints.
            (SELF, 1_000, 512, 512, 24, GB, "partition-join"),
            (SELF, 1_000_000, 256, 256, 12, GB, "partition-join"),
            (SELF, 1_000_000, 512, 512, 24, GB, "partition-join"),
            (SELF, 100_000_000, 512, 512, 24, 4 * GB, "spilled-join"),
            (batch(1_000_000), 1_000_000, 512, 512, 24, GB, "bipartite-join"),
            // Half of all pairs are near, so methods that keep all pairs need memory for them.
            (batch(16_000), 16_000, 64, 64, 31, GB / 10, "linear-scan"),
            (batch(16_000), 16_000, 64, 64, 31, 100 * GB, "linear-scan"),
            (SELF, 16_000, 64, 64, 31, GB / 10, "linear-scan"),
        ];
        for (task, rows, bits, effective_bits, max_distance, memory, expected) in cases {
            let shape = Shape::bits(bits);
            let workload = Workload { task, rows, shape, effective_bits, max_distance, memory };
            let plan = JoinPlan::new(workload).unwrap();
            assert_eq!(plan.join.name(), expected, "{plan}");
        }
    }

    #[test]
    fn lanes_and_rows_of_many_words_have_fewer_methods() {
        let workload = |shape: Shape, max_distance| {
            let rows = 1_000_000;
            let effective_bits = shape.row_bits();
            let memory = 1_000_000_000;
            Workload { task: batch(1000), rows, shape, effective_bits, max_distance, memory }
        };
        let plan = JoinPlan::new(workload(Shape::lanes(128, 4), 20)).unwrap();
        let mut names: Vec<_> = plan.costs.iter().map(|cost| cost.join.name()).collect();
        names.sort_unstable();
        assert_eq!(names, ["bipartite-join", "block-index", "linear-scan", "streamed-queries"]);
        let plan = JoinPlan::new(workload(Shape::bits(1024), 3)).unwrap();
        assert_eq!((plan.join.name(), plan.costs.len()), ("linear-scan", 1));
    }

    #[test]
    fn a_distance_within_which_all_rows_are_is_refused() {
        let of = |shape: Shape, max_distance| {
            let (rows, effective_bits) = (10, shape.row_bits());
            let workload =
                Workload { task: SELF, rows, shape, effective_bits, max_distance, memory: 1 };
            let named = JoinPlan::named(workload, find("partition-join").unwrap()).map(|_| ());
            let chosen = JoinPlan::new(workload).map(|_| ());
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
    fn a_named_method_must_serve_the_task() {
        let mut rows = RowsBuilder::new(Shape::bits(64));
        (1..4).for_each(|row| rows.push(Some(&[row])));
        let workload = Workload::of(SELF, &rows.finish(), 3, u64::MAX);
        let error =
            JoinPlan::named(workload, find("block-index").unwrap()).unwrap_err().to_string();
        assert!(
            error.ends_with("linear-scan, partition-join, multi-index-join, spilled-join"),
            "{error}"
        );
        let plan = JoinPlan::named(workload, find("linear-scan").unwrap()).unwrap();
        assert!(plan.to_string().contains("linear-scan") && plan.named);
    }

    #[test]
    fn a_plan_lists_the_time_and_memory_of_each_method_and_marks_the_chosen_one() {
        let workload = Workload {
            task: batch(10_000),
            rows: 10_000_000,
            shape: Shape::bits(64),
            effective_bits: 64,
            max_distance: 3,
            memory: 1_000_000_000,
        };
        let plan = JoinPlan::new(workload).unwrap().to_string();
        let expected = [
            "10000 queries against 10000000 rows, 64 bits (worth 64 bits), distance up to 3, \
             1.0 GB of memory",
            "  streamed-queries    56.3 ms     5.8 MB  <- chosen: the fastest that fits",
            "  block-index        605.3 ms   520.0 MB",
            "  bipartite-join        1.0 s   360.4 MB",
            "  linear-scan           4.0 s        0 B",
            "  permuted-tables       4.0 s   960.0 MB",
            "  bit-probing           9.7 s   480.0 MB",
            "  expanded-set      43745.0 s    14.0 TB  does not fit",
        ];
        assert_eq!(plan.lines().collect::<Vec<_>>(), expected);
        let workload = Workload { task: SELF, memory: 100_000_000, ..workload };
        let plan = JoinPlan::named(workload, find("spilled-join").unwrap()).unwrap().to_string();
        let expected = [
            "self-join of 10000000 rows, 64 bits (worth 64 bits), distance up to 3, \
             100.0 MB of memory",
            "  partition-join        1.1 s   280.0 MB  does not fit",
            "  multi-index-join      1.3 s   281.0 MB  does not fit",
            "  spilled-join          1.8 s   100.0 MB  <- named",
            "  linear-scan        1000.0 s    40.0 MB",
        ];
        assert_eq!(plan.lines().collect::<Vec<_>>(), expected);
    }
}
