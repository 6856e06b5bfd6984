//! Joins fingerprints in memory: plans a join, and writes or returns its pairs.

use crate::output::emit_pairs::{PairForm, PairOutput, Sink, emit};
use crate::output::write_groups::write_groups;
use crate::pipeline::timings::{StageClock, Timings};
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_base::quantity::bytes;
use simtool_compute::context::Context;
use simtool_hamming::door;
use simtool_hamming::join::Join;
use simtool_hamming::partners::{in_order, listed};
use simtool_hamming::planner::JoinPlan;
use simtool_hamming::workload::{JoinTask, Workload};
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Plans the join of `rows`, which are one collection to join with itself, or queries and a corpus. Uses the
/// join method `index`. If `index` is `None`, the planner chooses the method.
///
/// # Errors
///
/// `index` cannot do this task, or `max_distance` is so large that all fingerprints are near each other.
pub fn plan_join(
    rows: Sides<&FingerprintRows<'_>>,
    max_distance: u32,
    index: Option<&'static dyn Join>,
    memory: u64,
) -> Result<JoinPlan> {
    let task = JoinTask::for_rows(rows.map(FingerprintRows::len));
    let workload = Workload::of(task, rows.second(), max_distance, memory);
    match index {
        Some(index) => JoinPlan::named(workload, index),
        None => JoinPlan::new(workload),
    }
}

/// Writes all pairs of fingerprints within the distance of `plan` to `sink`, in ascending order. If `rows`
/// are queries and a corpus, each pair has one fingerprint of each. Returns the time of each stage.
///
/// # Errors
///
/// Fingerprints of queries and corpus have different shapes, or the [join](door::join) or the sink fails.
pub(crate) fn write_pairs(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    form: PairForm<'_, '_>,
    context: &Context<'_>,
    sink: &mut Sink<'_>,
) -> Result<Timings> {
    let clock = StageClock::start(context.progress());
    let context = &context.with_progress(&clock);
    context.threads().run(|| match (form.output, rows) {
        (PairOutput::Groups, _) => {
            let found = door::join_if_fits(rows, plan, u64::MAX, context)?;
            // A cancelled join ends early, and its incomplete result must not be used.
            context.check_cancelled()?;
            let found = found.ok_or_else(|| too_many_pairs(context))?;
            clock.begin("listing groups", Work::Steps(0));
            clock.counted("pairs of groups", found.pairs.len() as u64);
            write_groups(&found, form.ids, sink)
        }
        // The pairs of one collection with itself can be counted without listing them.
        (PairOutput::Count, Sides::One(rows)) => {
            let count = door::count_self_join(rows, plan, context)?;
            clock.counted("pairs", count);
            sink(format!("{count}\n").as_bytes())
        }
        _ => emit(&*door::partners(rows, plan, context)?, form, &clock, sink),
    })??;
    Ok(clock.into_timings())
}

/// Returns all pairs of fingerprints within the distance of `plan`. If `rows` are queries and a corpus, each
/// pair has one fingerprint of each.
///
/// # Errors
///
/// Fingerprints of queries and corpus have different shapes, the [join](door::join) fails, or the pairs need
/// more memory than the context allows.
pub fn list_pairs(
    rows: Sides<&FingerprintRows<'_>>,
    plan: &JoinPlan,
    context: &Context<'_>,
) -> Result<Vec<ValuePair>> {
    context.threads().run(|| {
        let partners = door::partners(rows, plan, context)?;
        // The list must be in memory as a whole, because it is returned.
        let most = context.memory().limit() / size_of::<ValuePair>() as u64;
        let mut pairs = Vec::new();
        in_order(
            &*partners,
            context.progress(),
            |rows| listed(&*partners, rows),
            |part| {
                context.check_cancelled()?;
                if (pairs.len() + part.len()) as u64 > most {
                    return Err(too_many_pairs(context));
                }
                pairs.extend(part);
                Ok(())
            },
        )?;
        Ok(pairs)
    })?
}

/// Returns the error for pairs that must be in memory together and do not fit.
fn too_many_pairs(context: &Context<'_>) -> Error {
    let limit = bytes(context.memory().limit());
    let rule = format!(
        "do not fit in `max_memory`, which is {limit}: allow more, use a smaller `max_distance`, or write \
         all pairs to a file with `simtool join` without `groups`"
    );
    Error::limit("the pairs of fingerprints", rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_compute::resources::Resources;
    use simtool_hamming::joins::find;
    use simtool_model::fingerprint_rows::{RowsBuilder, Shape};
    use std::sync::Mutex;

    /// Records the name of each stage, its number of steps, and the number of steps that were done.
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
    fn every_output_reports_its_stages_and_counts_its_pairs() {
        let mut rows = RowsBuilder::new(Shape::bits(64));
        for row in 0..40_u64 {
            rows.push(Some(&[(row / 2).wrapping_mul(0x9E37_79B9_7F4A_7C15)]));
        }
        let rows = rows.finish();
        let resources = Resources { threads: 2, ..Resources::default() };
        for index in ["linear-scan", "partition-join"] {
            let plan =
                plan_join(Sides::One(&rows), 0, Some(find(index).unwrap()), u64::MAX).unwrap();
            for output in
                [PairOutput::Count, PairOutput::Tsv, PairOutput::Numpy, PairOutput::Groups]
            {
                let (seen, mut bytes) = (Seen::default(), Vec::new());
                let form = PairForm { output, ids: [None; 2] };
                let context = Context::new(&resources, &seen).unwrap();
                let timings = write_pairs(Sides::One(&rows), &plan, form, &context, &mut |part| {
                    bytes.extend_from_slice(part);
                    Ok(())
                })
                .unwrap();
                drop(context);
                let counts: Vec<_> = timings.counts().iter().map(|count| count.count).collect();
                let pairs = if output == PairOutput::Groups { 0 } else { 20 };
                assert_eq!(counts, [pairs], "{index}, {output:?}");
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
