//! Stores what a run reads of a share of its input, so that several machines read one collection.

use super::dedup::{announce, choose, corpora, depends_on_all, excerpts, open_inputs, parts_plan};
use super::dedup_request::Request;
use super::face::Face;
use super::job::Job;
use super::parts_folder::StoredParts;
use crate::pipeline::Plan;
use crate::pipeline::excerpts::WithExcerpts;
use crate::pipeline::find_close::store_shards;
use simtool_base::error::Result;
use simtool_model::sides::Sides;
use simtool_read::{Corpus, Strict};

/// Reads the share of the input that the option `shard` of `request` names, and stores its fingerprints or terms next
/// to the output folder. Writes no results.
///
/// # Errors
///
/// Settings contradict each other, or need documents of all shards at once. The parts cannot be stored, or they belong
/// to runs with other settings. A part of the input cannot be read and `on_error` is `fail`, or the work is cancelled.
pub fn store_shard(request: &Request, face: &dyn Face) -> Result<StoredParts> {
    let plan = request.plan(request.method(face)?)?;
    refuse_learned(request, &plan)?;
    let job = Job::open(&request.job, &request.config.resources, face)?;
    let inputs = open_inputs(request, &job)?;
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let corpora = corpora(&inputs, &strict);
    let chosen = choose(request, plan, corpora, face)?;
    refuse_learned(request, &chosen.plan)?;
    announce(&chosen, corpora, face);

    let excerpts = excerpts(request, corpora, &job.context);
    // The page of the combined run shows texts, which are taken from this reading.
    let excerpts = excerpts.as_ref().map(Sides::first);
    let stored = job.stored(|| Ok(parts_plan(&inputs.first().collection, &chosen.plan)))?;
    let corpus = *corpora.first();
    let watched = excerpts.map(|excerpts| WithExcerpts { corpus, excerpts });
    let corpus = watched.as_ref().map_or(corpus, |view| view as &dyn Corpus);
    stored.with_excerpts(excerpts).fill(request.job.share(), |parts, share| {
        store_shards(corpus, &chosen.plan, parts, share, &job.context)
    })
}

/// Returns an error if the plan depends on all documents, for example by weights that are learned from them. Each shard
/// would have to read all documents first, which gains nothing.
fn refuse_learned(request: &Request, plan: &Plan) -> Result<()> {
    if !depends_on_all(plan) {
        return Ok(());
    }
    // The user may not know that web pages have this default, and leaving an option away would not help.
    let is_default = request.config.boilerplate.is_none() && plan.boilerplate().is_some();
    request.job.parts.refuse_share(if is_default {
        "does not go with web pages, because the lines of the template of a host are found only among all pages: add \
         `boilerplate` none to compare these lines, too, or leave `shard` away and use `resume` on one machine"
    } else {
        "does not go with weights, words or lines that are learned from all documents: leave them away, or use \
         `resume` on one machine"
    })
}
