//! The preview of `dedup` and `match`: finds near-duplicates as the run does, and writes nothing.

use super::dedup::{announce, begin_summary, choose, complete, corpora, notes, open_inputs};
use super::dedup_request::Request;
use super::face::Face;
use super::job::Job;
use super::reading_faults::has_losses;
use crate::output::{Findings, NEAR_PAIRS, preview as collect};
use crate::pipeline::near_misses::{WithNearMisses, find_with_near_misses};
use crate::pipeline::timings::Count;
use crate::write::preview::RunPreview;
use crate::write::summary::Summary;
use simtool_base::error::Result;
use simtool_base::fault::Fault;
use simtool_base::utc_time::UtcTime;
use simtool_read::Strict;
use std::time::SystemTime;

/// Result of [`preview`], from which callers make their output and exit code.
#[derive(Debug)]
pub struct Previewed {
    /// Exact counts of the run that is previewed.
    pub summary: Summary,
    /// Pairs near the limit, numbers of removed documents by similarity and by size of their cluster, and the largest
    /// clusters.
    pub preview: RunPreview,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Notes about the result for the user, one sentence each.
    pub notes: Vec<String>,
    /// Counts that stages reported, for example numbers of pairs.
    pub counts: Vec<Count>,
}

/// Rule in the error message for an option that stores data for a later run, such as `resume`, in a preview.
pub(super) const WRITES_NOTHING: &str = "does not go with `preview`, which writes nothing";

/// Finds the near-duplicates that `request` asks for, and returns what a run would remove. Writes nothing.
///
/// # Errors
///
/// The same as for [`dedup`](super::dedup()), except that the output folder need not be writable.
pub fn preview(request: &Request, face: &dyn Face) -> Result<Previewed> {
    let begin = UtcTime::from(SystemTime::now());
    request.job.parts.refuse(WRITES_NOTHING)?;
    let plan = request.plan(request.method(face)?)?;
    let job = Job::open(&request.job, &request.config.resources, face)?;
    let inputs = open_inputs(request, &job)?;
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let corpora = corpora(&inputs, &strict);
    let mut chosen = choose(request, plan, corpora, face)?;
    // A preview shows what would be lost, whatever the reading costs.
    chosen.plan = chosen.plan.with_lost_words();
    announce(&chosen, corpora, face);

    let context = &job.context.with_turns(inputs.first().collection.turns());
    let WithNearMisses { mut found, near_misses } =
        find_with_near_misses(corpora, &chosen.plan, NEAR_PAIRS, context)?;
    let faults = complete(request, &inputs, &mut found, face)?;
    let mut summary = begin_summary(request, &chosen, &found, begin);
    request.describe_inputs(&inputs, &found.read, &mut summary);
    let findings = Findings::new(&found, corpora, &chosen.plan);
    let preview = collect(&findings, near_misses, &mut summary, context)?;
    Ok(Previewed {
        faults,
        has_losses: has_losses(found.read.iter()),
        notes: notes(request, &chosen.plan, &inputs, &found, &summary),
        counts: found.timings.counts().to_vec(),
        preview,
        summary,
    })
}
