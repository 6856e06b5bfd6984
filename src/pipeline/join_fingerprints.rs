//! Fingerprints alone: joined with themselves, or searched for others.

use crate::error::Result;
use crate::fingerprint_file::RowIds;
use crate::fingerprint_rows::FingerprintRows;
use crate::pipeline::emit_pairs::{PairOutput, SideIds, Sink, emit};
use crate::pipeline::workers;
use crate::pipeline::write_groups::{write_groups, write_query_groups};
use crate::progress::NoProgress;
use crate::resources::Resources;
use crate::search::door;
use crate::search::planner::{IndexName, Plan, Task, Workload};

/// The plan of a self-join, by the method `index` where it is not left to the planner.
///
/// # Errors
///
/// The method is none for self-joins, or all rows are within the distance.
pub fn plan_self_join(
    rows: &FingerprintRows<'_>,
    max_distance: u32,
    index: Option<IndexName>,
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
    index: Option<IndexName>,
    memory: u64,
) -> Result<Plan> {
    let task = Task::Batch { queries: queries.len() };
    plan(Workload::of(task, corpus, max_distance, memory), index)
}

fn plan(workload: Workload, index: Option<IndexName>) -> Result<Plan> {
    match index {
        Some(index) => Plan::named(workload, index),
        None => Plan::new(workload),
    }
}

/// Writes all pairs of rows within the distance of `plan`. In lines, rows are called by `ids`.
///
/// # Errors
///
/// The threads do not start, the [join](door::self_join) fails, or the sink does.
pub fn join_fingerprints(
    rows: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    output: PairOutput,
    ids: Option<&RowIds<'_>>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let ids = [ids, ids];
    workers::start(resources.threads)?.install(|| match output {
        PairOutput::Count => {
            let count = door::count_self_join(rows, plan, resources)?;
            sink(format!("{count}\n").as_bytes())
        }
        PairOutput::Groups => {
            write_groups(&door::self_join(rows, plan, resources, &NoProgress)?, ids, sink)
        }
        PairOutput::Tsv | PairOutput::Numpy | PairOutput::Parquet => {
            emit(&*door::self_partners(rows, plan, resources)?, output, ids, sink)
        }
    })
}

/// Writes all pairs of a query and a corpus row within the distance of `plan`. In lines, rows are
/// called by `ids`, those of the queries first.
///
/// # Errors
///
/// Queries and corpus do not compare; else as [`join_fingerprints`].
pub fn search_fingerprints(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    plan: &Plan,
    resources: &Resources,
    output: PairOutput,
    ids: SideIds<'_, '_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    workers::start(resources.threads)?.install(|| match output {
        PairOutput::Groups => {
            let join = door::join(queries, corpus, plan, resources, &NoProgress)?;
            write_query_groups(&join, ids, sink)
        }
        PairOutput::Count | PairOutput::Tsv | PairOutput::Numpy | PairOutput::Parquet => {
            emit(&*door::partners(queries, corpus, plan, resources)?, output, ids, sink)
        }
    })
}
