//! Fingerprints alone: joined with themselves, or searched for others.

use crate::output::emit_pairs::{PairForm, PairOutput, Sink, emit};
use crate::output::write_groups::write_groups;
use crate::pipeline::timings::{StageClock, Timings};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_compute::threads::Threads;
use simtool_hamming::door;
use simtool_hamming::join::Join;
use simtool_hamming::partners::{in_order, listed};
use simtool_hamming::planner::Plan;
use simtool_hamming::workload::{Task, Workload};
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// The plan of a self-join, by the method `index` where it is not left to the planner.
///
/// # Errors
///
/// The method is none for self-joins, or all rows are within the distance.
pub fn plan_self_join(
    rows: &FingerprintRows<'_>,
    max_distance: u32,
    index: Option<&'static dyn Join>,
    memory: u64,
) -> Result<Plan> {
    plan(Workload::of(Task::SelfJoin, rows, max_distance, memory), index)
}

/// The plan of a search, by the method `index` where it is not left to the planner.
///
/// # Errors
///
/// The method is none for searches, or all rows are within the distance.
pub fn plan_search(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    max_distance: u32,
    index: Option<&'static dyn Join>,
    memory: u64,
) -> Result<Plan> {
    let task = Task::Search { queries: queries.len() };
    plan(Workload::of(task, corpus, max_distance, memory), index)
}

fn plan(workload: Workload, index: Option<&'static dyn Join>) -> Result<Plan> {
    match index {
        Some(index) => Plan::named(workload, index),
        None => Plan::new(workload),
    }
}

/// Starts the threads of a join.
fn started<'p>(resources: &Resources, progress: &'p dyn Progress) -> Result<Context<'p>> {
    Ok(Context::of_threads(Threads::started(resources.threads)?, resources, progress))
}

/// Writes all pairs of rows within the distance of `plan`, and tells the time of each stage.
///
/// # Errors
///
/// The threads do not start, the [join](door::join) fails, or the sink does.
pub fn join_fingerprints(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    form: PairForm<'_, '_>,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<Timings> {
    let clock = StageClock::start(progress);
    let context = started(resources, &clock)?;
    context.threads().run(|| match form.output {
        PairOutput::Count => {
            let count = door::count_self_join(rows, plan, &context)?;
            clock.counted("pairs", count);
            sink(format!("{count}\n").as_bytes())
        }
        PairOutput::Groups => {
            let found = door::join(Sides::One(rows), plan, &context)?;
            clock.begin("listing groups", Work::Steps(0));
            clock.counted("pairs of groups", found.pairs.len() as u64);
            write_groups(&found, form.ids, sink)
        }
        PairOutput::Tsv | PairOutput::Numpy | PairOutput::Parquet => {
            emit(&*door::partners(Sides::One(rows), plan, &context)?, form, &clock, sink)
        }
    })??;
    Ok(clock.into_timings())
}

/// Writes all pairs of a query and a corpus row within the distance of `plan`, and tells the time of
/// each stage.
///
/// # Errors
///
/// Queries and corpus do not compare; else as [`join_fingerprints`].
pub fn search_fingerprints(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    form: PairForm<'_, '_>,
    progress: &dyn Progress,
    sink: &mut Sink<'_>,
) -> Result<Timings> {
    let clock = StageClock::start(progress);
    let context = started(resources, &clock)?;
    let rows = Sides::Two(queries, corpus);
    context.threads().run(|| match form.output {
        PairOutput::Groups => {
            let found = door::join(rows, plan, &context)?;
            clock.begin("listing groups", Work::Steps(0));
            clock.counted("pairs of groups", found.pairs.len() as u64);
            write_groups(&found, form.ids, sink)
        }
        PairOutput::Count | PairOutput::Tsv | PairOutput::Numpy | PairOutput::Parquet => {
            emit(&*door::partners(rows, plan, &context)?, form, &clock, sink)
        }
    })??;
    Ok(clock.into_timings())
}

/// All pairs of rows within the distance of `plan`, in memory: of a query and a row of `corpus`, or
/// without queries of two of its rows.
///
/// # Errors
///
/// As [`join_fingerprints`]; the pairs are more than the memory of `resources` has room for.
pub fn list_pairs(
    queries: Option<&FingerprintRows<'_>>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<ValuePair>> {
    let context = started(resources, progress)?;
    context.threads().run(|| {
        let rows = match queries {
            None => Sides::One(corpus),
            Some(queries) => Sides::Two(queries, corpus),
        };
        let partners = door::partners(rows, plan, &context)?;
        let (mut pairs, most) = (Vec::new(), resources.memory / size_of::<ValuePair>() as u64);
        in_order(
            &*partners,
            progress,
            |rows| listed(&*partners, rows),
            |part| {
                if progress.is_cancelled() {
                    return Err(ErrorKind::Cancelled.into());
                }
                if (pairs.len() + part.len()) as u64 > most {
                    let rule = "do not fit in `max_memory`: give more, or a smaller distance";
                    return Err(Error::limit("pairs", rule));
                }
                pairs.extend(part);
                Ok(())
            },
        )?;
        Ok(pairs)
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_hamming::joins::find;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use std::sync::Mutex;

    /// The stages with their steps, and those that were done.
    #[derive(Default)]
    struct Seen(Mutex<Vec<(&'static str, u64, u64)>>);

    impl Progress for Seen {
        fn begin(&self, stage: &'static str, work: Work) {
            self.0.lock().unwrap().push((stage, work.amount(), 0));
        }

        fn advance(&self, amount: u64) {
            self.0.lock().unwrap().last_mut().unwrap().2 += amount;
        }
    }

    #[test]
    fn every_output_tells_its_stages_and_counts_its_pairs() {
        let mut rows = RowsBuilder::new(Shape::bits(64));
        for row in 0..40_u64 {
            rows.push(Some(&[(row / 2).wrapping_mul(0x9E37_79B9_7F4A_7C15)]));
        }
        let rows = rows.finish();
        let resources = Resources { threads: 2, ..Resources::default() };
        for index in ["linear-scan", "partition-join"] {
            let plan = plan_self_join(&rows, 0, Some(find(index).unwrap()), u64::MAX).unwrap();
            for output in
                [PairOutput::Count, PairOutput::Tsv, PairOutput::Numpy, PairOutput::Groups]
            {
                let (seen, mut bytes) = (Seen::default(), Vec::new());
                let form = PairForm { output, ids: [None; 2] };
                let timings =
                    join_fingerprints(&rows, &plan, &resources, form, &seen, &mut |part| {
                        bytes.extend_from_slice(part);
                        Ok(())
                    })
                    .unwrap();
                let told: Vec<_> = timings.counts().iter().map(|count| count.count).collect();
                let pairs = if output == PairOutput::Groups { 0 } else { 20 };
                assert_eq!(told, [pairs], "{index}, {output:?}");
                assert!(!bytes.is_empty());
                // The rows are listed or counted one by one, to the last.
                let stages = seen.0.into_inner().unwrap();
                assert!(timings.stages().len() >= 2 || stages.len() == 1, "{stages:?}");
                for (stage, work, done) in stages {
                    let is_by_row = stage.ends_with("pairs");
                    assert!(!is_by_row || (work, done) == (40, 40), "{stage}: {done} of {work}");
                }
            }
        }
    }
}
