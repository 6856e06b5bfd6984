//! Writes the results of a run to a folder.
//!
//! * Each output has a file here with its columns, its description and the function that writes it.
//!   [`output_descriptions`] lists the outputs, and [`write_outputs`] writes the outputs of a run.
//! * [`emit_pairs`] writes the pairs of fingerprints that a join of fingerprint files finds.
//! * [`write_fingerprints`] writes the fingerprints of a collection, with the IDs of its documents.
//! * [`finished_run`] reads the outputs of a finished run, to find what became of a document.

mod affordable_texts;
mod clusters;
pub mod emit_pairs;
mod findings;
pub mod finished_run;
pub(crate) mod index_rows;
pub(crate) mod input_search;
mod kept;
mod kept_copies;
mod leading_separator;
mod list;
mod named;
mod ordered_pieces;
mod output_kind;
mod pairs;
mod quarantine;
mod record_counts;
mod removed;
mod report;
mod results;
mod row_names;
mod settings;
mod shared_ids;
mod sources;
pub mod write_fingerprints;
pub(crate) mod write_groups;

pub use crate::write::columns::OutputDescription;
pub(crate) use affordable_texts::{affordable_part, shown_share};
pub use findings::{Findings, Side};
pub(crate) use findings::{document_name, document_name_at};
pub use kept_copies::BadRecords;
pub(crate) use kept_copies::write_kept_copies;
pub use list::output_descriptions;
pub(crate) use list::run_files;
pub use report::histograms;
pub use settings::Outputs;

use self::list::OUTPUTS;
use self::output_kind::{KEEP_STAGE, WRITE_STAGE};
use self::results::{Results, write_file};
use self::settings::MOST_PAIRS;
use self::shared_ids::SharedIds;
use crate::cluster::{self, Removal};
use crate::write::output_folder::OutputFolder;
use crate::write::report::{Report, write_report};
use crate::write::summary::{FaultPlace, ReadCounts, Summary, write_summary};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_base::progress::Work;
use simtool_base::quantity::{bytes, counted};
use simtool_compute::context::Context;
use simtool_model::document::DocOrdinal;
use std::time::{Duration, Instant};

/// Approximate number of bytes of a pair as a line of JSON.
const BYTES_A_PAIR: u64 = 200;

/// Writes the outputs of a run to `folder`, except the summary and the page, and completes the counts and
/// times of `summary`.
///
/// The work runs on the threads of `context`. Returns the data of the page. The caller completes the summary,
/// for example with the time of the end, and passes summary and page to [`write_summaries`].
///
/// # Errors
///
/// An output cannot be written, or there are too many pairs to write. It is also an error, and a bug, if a document is neither kept nor removed.
pub fn write_outputs(
    findings: &Findings<'_>,
    outputs: Outputs,
    folder: &OutputFolder,
    summary: &mut Summary,
    context: &Context<'_>,
) -> Result<Report> {
    refuse_flood_of_pairs(findings, outputs)?;
    context.progress().begin("writing", Work::Steps(0));
    let begun = Instant::now();
    let clusters = cluster::clusters(findings.removals);
    let kept = kept(findings);
    let shared_ids =
        context.threads().run(|| findings.sides.map(|side| SharedIds::find(&side.read.ids)))?;
    summary.ambiguous_ids = shared_ids.first().removed_with_kept(&kept);
    let results = Results {
        findings,
        clusters: &clusters,
        kept: &kept,
        has_ambiguous_ids: summary.ambiguous_ids > 0,
        recipe: &summary.recipe,
        outputs,
        folder,
        context,
    };
    let keeping = write_wanted(&results)?;
    if outputs.kept {
        summary.add_time(KEEP_STAGE, keeping);
    }
    count(findings, &kept, clusters.len(), summary)?;
    for (read, shared) in summary.read.iter_mut().zip(shared_ids.iter()) {
        read.shared_ids = shared.document_count();
    }
    summary.levels = findings.levels.to_vec();
    let page = report::report(findings, &clusters, context)?;
    summary.add_time(WRITE_STAGE, begun.elapsed().saturating_sub(keeping));
    Ok(page)
}

/// Refuses to write a number of pairs that the user cannot have expected, such as the 31 billion pairs of
/// 250,000 equal documents.
///
/// # Errors
///
/// Pairs are wanted, and there are more than [`MOST_PAIRS`].
fn refuse_flood_of_pairs(findings: &Findings<'_>, outputs: Outputs) -> Result<()> {
    let count = findings.close.pair_count();
    if !outputs.pairs || outputs.any_number_of_pairs || count <= MOST_PAIRS {
        return Ok(());
    }
    let size = bytes(count.saturating_mul(BYTES_A_PAIR));
    let rule = format!(
        "would take about {size} as `pairs`; `force` writes them, and without `pairs` the output \
         clusters.jsonl has each kept document with the removed ones"
    );
    Err(Error::limit(counted(count, "pair"), rule))
}

/// Writes every output that the user requested. Returns the time that copying the inputs took, which the
/// summary shows as a stage of its own.
fn write_wanted(results: &Results<'_>) -> Result<Duration> {
    let mut keeping = Duration::ZERO;
    for output in OUTPUTS.iter().filter(|output| (output.is_wanted)(&results.outputs)) {
        let begun = Instant::now();
        (output.write)(results)?;
        if output.stage == KEEP_STAGE {
            keeping += begun.elapsed();
        }
    }
    Ok(keeping)
}

/// Writes the summary for programs and the page for people. Both show the same numbers.
///
/// # Errors
///
/// One of the files cannot be written.
pub fn write_summaries(folder: &OutputFolder, summary: &Summary, page: &Report) -> Result<()> {
    write_file(folder, "report.html", |out| write_report(out, summary, page))?;
    write_file(folder, "summary.json", |out| write_summary(out, summary))
}

/// Returns for each document whether it is kept.
fn kept(findings: &Findings<'_>) -> Vec<bool> {
    let mut kept = vec![true; findings.documents().read.ids.len()];
    for removal in findings.removals {
        kept[DocOrdinal(removal.row).index()] = false;
    }
    kept
}

/// Returns the counts of a collection that was read.
fn read_counts(Side { collection, read }: Side<'_>) -> ReadCounts {
    let is_loss = |fault: &&Fault| fault.severity == Severity::Loss;
    ReadCounts {
        files: collection.file_count() as u64,
        documents: read.ids.len() as u64,
        quarantined: read.quarantined.len() as u64,
        lost: read.lost_records(),
        passed_over: read.passed_over,
        non_documents: read.non_documents,
        without_terms: read.without_terms,
        repaired: read.repaired,
        whole_pages: read.whole_pages,
        own_texts: read.own_texts,
        left_out_bytes: read.left_out_bytes,
        file_faults: read.faults.iter().filter(is_loss).count() as u64,
        text_bytes: read.text_bytes(),
        shared_ids: 0,
    }
}

/// Completes the counts of a summary, and checks that every document is either kept or removed.
fn count(
    findings: &Findings<'_>,
    kept: &[bool],
    clusters: usize,
    summary: &mut Summary,
) -> Result<()> {
    let removed_length =
        |removal: &Removal| findings.documents().read.lengths[removal.row as usize];
    summary.read = findings.sides.map(read_counts);
    summary.kept = kept.iter().filter(|kept| **kept).count() as u64;
    summary.removed = findings.removals.len() as u64;
    summary.removed_bytes = findings.removals.iter().map(|r| u64::from(removed_length(r))).sum();
    summary.clusters = clusters as u64;
    summary.pairs = findings.close.is_complete.then(|| findings.close.pair_count());
    for side in findings.sides.iter() {
        side.read.faults.iter().for_each(|fault| summary.faults.add_fault(fault));
    }
    for side in findings.sides.iter() {
        for bad in side.read.quarantined.iter() {
            let file = side.collection.file_name(bad.file);
            summary.faults.add(bad.code, || FaultPlace {
                severity: Severity::Loss,
                kind: bad.code,
                file: file.as_os_str().as_encoded_bytes().to_vec(),
                record: Some(bad.record),
                byte: Some(bad.byte),
                what: format!("expected {}", bad.expected),
            });
        }
    }
    if !summary.is_conserved() {
        return Err(ErrorKind::NotConserved {
            documents: summary.read.first().documents,
            kept: summary.kept,
            removed: summary.removed,
        }
        .into());
    }
    Ok(())
}
