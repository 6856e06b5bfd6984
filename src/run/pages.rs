//! Settings of collections of web pages, unless the user gives others.

use super::dedup_request::Request;
use crate::method::Criterion;
use crate::pipeline::{Boilerplate, Plan};
use simtool_base::error::Result;
use simtool_model::document::Content;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
use simtool_read::{Collection, Corpus, Event};
use std::ops::ControlFlow;

/// Returns `plan` with the settings for web pages if all inputs are web pages, and `plan` unchanged otherwise.
/// `is_default_similarity` says whether the user gave no minimum similarity.
///
/// # Errors
///
/// A corpus cannot be read.
pub(super) fn adapted(
    plan: Plan,
    is_default_similarity: bool,
    corpora: Sides<&dyn Corpus>,
) -> Result<Plan> {
    for corpus in corpora.iter() {
        if !are_pages(*corpus)? {
            return Ok(plan);
        }
    }
    Ok(plan.for_pages(is_default_similarity))
}

/// Returns a note about settings of `plan` that have special values because all inputs are web pages. Settings that the
/// user gave are left out. Returns `None` if there are no such settings.
pub(super) fn note_of_pages(request: &Request, plan: &Plan) -> Option<String> {
    let by_pages = Some(Criterion::Similarity(Threshold::DEFAULT_OF_PAGES));
    let limit = Some(plan.method().close()).filter(|_| request.is_default_similarity());
    let similarity = (limit == by_pages).then(|| {
        let number = Threshold::DEFAULT_OF_PAGES.number();
        format!("near-duplicates have a similarity of at least {number}")
    });
    let is_rule_open = request.config.boilerplate.is_none();
    let lines = (is_rule_open && plan.boilerplate() == Some(Boilerplate::Pages))
        .then(|| "lines that many pages of a host have do not count".to_owned());
    let settings: Vec<String> = similarity.into_iter().chain(lines).collect();
    (!settings.is_empty()).then(|| format!("all inputs are web pages: {}", settings.join(", and ")))
}

/// Returns the rule for the lines that are left out of the comparison of `corpus`: the rule that the user gave or, for
/// web pages, the rule for pages.
///
/// # Errors
///
/// The corpus cannot be read.
pub(super) fn boilerplate(
    given: Option<Boilerplate>,
    corpus: &dyn Corpus,
) -> Result<Option<Boilerplate>> {
    let is_of_pages = given.is_none() && are_pages(corpus)?;
    Ok(if is_of_pages { Some(Boilerplate::Pages) } else { given })
}

/// Returns whether each file is an HTML page, or a web archive whose first document is one. Files that cannot be read
/// are not counted, but at least one file must be a page.
fn are_pages(corpus: &dyn Corpus) -> Result<bool> {
    let Some(files) = corpus.as_files() else { return Ok(false) };
    let mut is_any_page = false;
    let mut last = None;
    for shard in 0..corpus.shard_count() {
        let file = corpus.shard_file(shard);
        if last.replace(file) == Some(file) {
            continue;
        }
        match is_page(files, file, shard)? {
            Some(true) => is_any_page = true,
            Some(false) => return Ok(false),
            None => {}
        }
    }
    Ok(is_any_page)
}

/// Returns whether the first document of a file is an HTML page. `first_shard` is the number of the first part of the
/// file in the collection. Returns `None` if the format of the file cannot be recognized, or if that part has no
/// document.
fn is_page(files: &Collection, file: usize, first_shard: usize) -> Result<Option<bool>> {
    let Ok(recognized) = files.recognize(file) else { return Ok(None) };
    let format = recognized.format;
    // Only records with headers, those of web archives, can be something else than a page.
    if !format.has_pages() || !format.has_values() {
        return Ok(Some(format.has_pages()));
    }
    let mut is_page = None;
    files.read_shard(first_shard, &mut |event| {
        if let Event::Record(record) = event
            && let Content::Document(document) = record.content
        {
            is_page = Some(document.page_text.is_some());
            return Ok(ControlFlow::Break(()));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(is_page)
}
