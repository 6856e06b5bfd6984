//! Collects the data of the preview of a run: the results of the run, without writing them.

use super::affordable_texts::AffordableTexts;
use super::bands::{closeness_bands, size_bands};
use super::counts::{count_results, kept_documents};
use super::findings::Findings;
use super::listed_clusters::{list_clusters, shown_clusters};
use super::report::histograms;
use super::shown_pairs::{both, by_closeness, example};
use crate::cluster::{Removal, clusters};
use crate::pipeline::lost_words::pair_loss;
use crate::write::preview::{NearPair, RunPreview};
use crate::write::report::{Example, Report};
use crate::write::summary::Summary;
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_set_join::close::ClosePair;
use std::cmp::Reverse;

/// Number of pairs close to the limit of similarity or distance that the preview shows. If there are enough, half of
/// them just miss the limit.
pub(crate) const NEAR_PAIRS: usize = 20;

/// Collects the preview, and completes the counts of `summary`. `near_misses` are pairs just below the limit, or `None`
/// if they were not searched. The texts that the preview shows are read again.
///
/// # Errors
///
/// A file cannot be read again, or the work was cancelled. It is also an error, and a bug, if a document is neither
/// kept nor removed.
pub(crate) fn preview(
    findings: &Findings<'_>,
    near_misses: Option<Vec<ClosePair>>,
    summary: &mut Summary,
    context: &Context<'_>,
) -> Result<RunPreview> {
    let clusters = clusters(findings.removals);
    count_results(findings, &kept_documents(findings), clusters.len(), summary, context)?;
    // Each side gets half of the pairs. If one side has fewer, the other side gets the rest.
    let below = near_misses.map(|pairs| -> Vec<Removal> {
        let most = NEAR_PAIRS - findings.removals.len().min(NEAR_PAIRS / 2);
        pairs.into_iter().take(most).map(as_removal).collect()
    });
    let above = closest_to_limit(findings, NEAR_PAIRS - below.as_ref().map_or(0, Vec::len));
    let mut texts = AffordableTexts::at_any_price(findings, context.memory());
    for pair in above.iter().chain(below.iter().flatten()) {
        for wanted in both(pair) {
            texts.choose(wanted, 0);
        }
    }
    let listed = list_clusters(findings, &clusters, &mut texts);
    let texts = texts.read(findings, None, context)?;
    let near_pair = |pair: &Removal| {
        let documents = example(findings, pair, &texts)?;
        let (lost_words, first_lost) = (None, Vec::new());
        Some(NearPair { closeness: pair.closeness, documents, lost_words, first_lost })
    };
    let method = findings.plan.method();
    let removed_pair = |pair: &Removal| {
        let mut near = near_pair(pair)?;
        let lost = findings.lost_words(pair.row)?;
        let Example { kept_text, removed_text, .. } = &near.documents;
        let found = pair_loss([kept_text, removed_text], method, context.isa());
        near.lost_words = Some(lost.lost);
        // Long texts are cut, and boilerplate is not compared. Then the words that differ here may not be lost.
        if found.counts.lost == lost.lost {
            near.first_lost = found.examples;
        }
        Some(near)
    };
    let is_match = findings.sides.is_two();
    let report = Report {
        clusters: shown_clusters(findings, &listed, &texts, context)?,
        ..histograms(findings.removals, &clusters, is_match)
    };
    summary.templates = report.templates();
    Ok(RunPreview {
        by_closeness: match findings.coverage() {
            // Coverage compares no pairs, so no removal has a closeness.
            Some(_) => Vec::new(),
            None => closeness_bands(findings.removals),
        },
        by_size: size_bands(&clusters, is_match),
        above: above
            .iter()
            .filter_map(|pair| removed_pair(pair).or_else(|| near_pair(pair)))
            .collect(),
        below: below.map(|pairs| pairs.iter().filter_map(near_pair).collect()),
        report,
    })
}

/// Returns a pair of documents in the form of a removal, so that their texts are found in the same way.
fn as_removal(ClosePair { a, b, closeness }: ClosePair) -> Removal {
    Removal { row: a, kept: b, closeness: Some(closeness) }
}

/// Returns at most `most` removals in which the removed and the kept document are least similar, the least similar
/// first. With coverage, returns the removals that lose most words.
fn closest_to_limit(findings: &Findings<'_>, most: usize) -> Vec<Removal> {
    let is_coverage = findings.coverage().is_some();
    let is_proven = |removal: &&Removal| is_coverage || removal.closeness.is_some();
    let mut proven: Vec<Removal> = findings.removals.iter().filter(is_proven).copied().collect();
    if is_coverage {
        let lost = |row| findings.lost_words(row).map_or(0, |lost| lost.lost);
        proven.sort_by_key(|removal| (Reverse(lost(removal.row)), removal.row));
    } else {
        proven.sort_unstable_by(by_closeness);
    }
    proven.truncate(most);
    proven
}
