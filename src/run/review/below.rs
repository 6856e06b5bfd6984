//! Pairs of kept documents whose similarity is just below the limit of the run, so that the run did not find them.
//! People judge some of these pairs to estimate how many near-duplicates the run misses.

use super::quiet::Quiet;
use crate::output::Findings;
use crate::pipeline::OutputName;
use crate::pipeline::near_misses::find_with_near_misses;
use crate::run::dedup::{choose, corpora, open_inputs};
use crate::run::dedup_request::{Paths, Request};
use crate::run::job::Job;
use crate::run::recorded_request::RecordedRequest;
use simtool_base::error::{Error, Result};
use simtool_model::document_name::DocumentName;
use simtool_read::Strict;
use std::path::{Path, PathBuf};

/// Maximum number of pairs below the limit. More are not counted.
const MOST: usize = 1_000_000;

/// A pair of kept documents whose similarity is just below the limit of the run.
#[derive(Clone, Debug)]
pub(super) struct BelowPair {
    pub(super) first: OutputName,
    pub(super) second: OutputName,
    pub(super) similarity: f64,
}

/// Searches the inputs of a run again, with a slightly lower limit of the similarity, and returns the pairs below the
/// limit of the run. `place` is the folder in which the run was started. It is empty if this is the present folder.
///
/// # Errors
///
/// An input cannot be read, or the search fails as the run would.
pub(super) fn find_below(
    recorded: &RecordedRequest,
    place: &Path,
    face: &Quiet<'_>,
) -> Result<Vec<BelowPair>> {
    // The paths of the request are relative to the folder in which the run was started.
    let at = |paths: &[PathBuf]| paths.iter().map(|path| place.join(path)).collect();
    let paths = Paths { corpus: at(&recorded.paths), queries: at(&recorded.queries) };
    let words = recorded.words.clone();
    let request = Request::parse_with_words(paths, words, recorded.options.clone())?;
    let plan = request.plan(request.method(face)?)?;
    let job = Job::open(&request.job, &request.config.resources, face)?;
    let inputs = open_inputs(&request, &job)?;
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let corpora = corpora(&inputs, &strict);
    let plan = choose(&request, plan, corpora, face)?.plan;
    let context = &job.context.with_turns(inputs.first().collection.turns());
    let found = find_with_near_misses(corpora, &plan, MOST, context)?;
    // Distances have no near misses, because the next larger distance finds many more pairs.
    let pairs = found.near_misses.ok_or_else(|| {
        let rule =
            "has no similarity as its limit, or there are too many pairs below it for the memory";
        Error::config("method", plan.method(), rule)
    })?;
    let findings = Findings::new(&found.found, corpora, &plan);
    let name = |document: DocumentName<'_>| {
        let file = document.file.strip_prefix(place).unwrap_or(document.file);
        OutputName::of(&DocumentName { file, ..document })
    };
    Ok(pairs
        .into_iter()
        .filter_map(|pair| {
            Some(BelowPair {
                first: name(findings.documents().name(pair.a)),
                second: name(findings.originals().name(pair.b)),
                similarity: pair.closeness.similarity()?,
            })
        })
        .collect())
}
