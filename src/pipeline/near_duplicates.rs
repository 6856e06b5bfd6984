//! Near-duplicates of one collection, or of one in another: what is close, and what goes.

use super::config::ClusterRule;
use super::find_close::{FoundClose, find_close};
use super::levels::{Found, levels, stricter_levels};
use super::plan::{Plan, Task};
use super::shard_summary::CollectionSummary;
use super::timings::Timings;
use crate::cluster::{Cluster, Removal, clusters, components, keep};
use crate::write::summary::Level;
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_set_join::close::{Close, Neighbourhood};

/// What was found.
#[derive(Clone, Debug)]
pub struct NearDuplicates {
    /// What the reading told: of the collection, or of queries and corpus.
    pub read: Sides<CollectionSummary>,
    /// All that is close, or what [decides](super::config::Config::may_leave_pairs_out) of it.
    pub close: Close,
    /// The documents to remove, in reading order: of one collection the near-duplicates of those
    /// that are kept; of queries those that have a match, each with the corpus document that is
    /// most like it, of equals the earlier one.
    pub removals: Vec<Removal>,
    /// What stricter limits would remove, strictest first, if all pairs are known; and what that of the
    /// run does.
    pub levels: Vec<Level>,
    /// Where the time went.
    pub timings: Timings,
    /// Bytes of terms that went to temporary files, so that what is dear to read was read once.
    pub spooled_bytes: u64,
}

impl NearDuplicates {
    /// The rows of the documents that stay, ascending. Documents, or queries, are numbered from 0 in
    /// reading order.
    pub fn kept(&self) -> impl Iterator<Item = usize> {
        let mut removals = self.removals.iter().map(|removal| removal.row as usize).peekable();
        (0..self.read.first().ids.len()).filter(move |&row| removals.next_if_eq(&row).is_none())
    }

    /// The documents that others are removed for, with these.
    #[must_use]
    pub fn clusters(&self) -> Vec<Cluster> {
        clusters(&self.removals)
    }
}

/// Finds all near-duplicates in one collection, and which to remove; or all pairs of queries and
/// documents of a corpus, the second side, that are near-duplicates.
///
/// The result is the same for any number of threads and any instruction set.
///
/// # Errors
///
/// The plan is for the other task, the threads cannot be started, there are more than 2³² − 1
/// documents, the memory is too little, a temporary file fails, or `progress` says that the work is
/// to stop. What is wrong with the input is part of the result.
pub fn find_near_duplicates(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    progress: &dyn Progress,
) -> Result<NearDuplicates> {
    find_in_context(corpora, plan, &Context::new(plan.resources(), progress)?)
}

/// Does the work of [`find_near_duplicates`] in the context of a run, which later steps of the run use,
/// too.
///
/// # Errors
///
/// As [`find_near_duplicates`], except that the threads run already.
pub(crate) fn find_in_context(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    context: &Context<'_>,
) -> Result<NearDuplicates> {
    if corpora.is_two() != (plan.task() == Task::Match) {
        let rule = "is not what the plan is for";
        return Err(Error::config(
            "queries",
            if corpora.is_two() { "given" } else { "none" },
            rule,
        ));
    }
    let FoundClose { read, close, mut timings, spooled_bytes } =
        find_close(corpora, plan, context)?;
    context.progress().begin("clustering", Work::Steps(0));
    let around = Neighbourhood::new(&close);
    let (removals, stricter) = context.threads().run(|| {
        let found = Found { read: &read, around: &around, plan };
        let stricter = || if close.is_complete { stricter_levels(&found) } else { Vec::new() };
        rayon::join(|| removals(&read, &around, plan), stricter)
    })?;
    let levels = levels(plan, stricter, removals.len() as u64);
    let stage = if read.is_two() { "match" } else { "cluster" };
    timings.end(stage);
    Ok(NearDuplicates { read, close, removals, levels, timings, spooled_bytes })
}

/// What goes, of what is close.
fn removals(
    read: &Sides<CollectionSummary>,
    around: &Neighbourhood<'_>,
    plan: &Plan,
) -> Vec<Removal> {
    let Sides::One(read) = read else { return closest_partners(around) };
    let prefer = |a: u32, b: u32| read.prefer(plan.keep(), a, b);
    match plan.clusters() {
        ClusterRule::Proven => keep::keep_preferred(around, prefer),
        ClusterRule::Components => components::keep_one_each(around, prefer),
    }
}

/// For each row of the first side that has any, the partner that is most like it.
fn closest_partners(around: &Neighbourhood<'_>) -> Vec<Removal> {
    let mut removals = Vec::new();
    around.visit_rows(|row, partners| {
        let closest =
            partners.iter().max_by(|(a, to_a), (b, to_b)| to_a.compare(*to_b).then(b.cmp(a)));
        removals.extend(closest.map(|&(kept, closeness)| Removal {
            row,
            kept,
            closeness: Some(closeness),
        }));
    });
    removals
}
