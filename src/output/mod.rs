//! Writes the results of a run to a folder.
//!
//! * Each output has a file here with its columns, its description and the function that writes it.
//!   [`output_descriptions`] lists the outputs, and `write_outputs` writes the outputs of a run.
//! * [`emit_pairs`] writes the pairs of fingerprints that a join of fingerprint files finds.
//! * [`write_fingerprints`] writes the fingerprints of a collection, with the IDs of its documents.
//! * [`finished_run`] reads the outputs of a finished run, to find whether a document was kept or removed.
//! * [`found_parts`] reads the outputs of a finished search, to find its results about a document.

mod affordable_texts;
mod annotated;
mod annotation;
mod bands;
mod caught_texts;
mod cluster_weight;
mod clusters;
pub(crate) mod contamination;
pub(crate) mod contamination_page;
mod copy_check;
mod counts;
mod coverage;
pub(crate) mod coverage_rows;
pub(crate) mod cut_texts;
mod document_status;
mod documents;
pub mod emit_pairs;
mod findings;
pub(crate) mod finished_rows;
pub mod finished_run;
pub mod found_parts;
pub(crate) mod index_rows;
pub(crate) mod input_search;
pub(crate) mod item_sources;
mod kept;
mod kept_copies;
pub(crate) mod kept_without_items;
mod leading_separator;
mod list;
mod listed_clusters;
pub(crate) mod listed_documents;
mod named;
mod ordered_pieces;
mod output_kind;
mod pairs;
pub(crate) mod passages;
pub(crate) mod passages_page;
mod preview;
mod quarantine;
mod record_counts;
mod removed;
mod removed_texts;
mod report;
mod result_files;
mod results;
mod row_names;
mod settings;
mod shared_ids;
mod shared_words;
mod shown_pairs;
mod source_rows;
mod sources;
mod stored_copies;
pub(crate) mod texts;
mod uncut;
pub mod write_fingerprints;
pub(crate) mod write_groups;

pub use crate::write::columns::OutputDescription;
pub(crate) use affordable_texts::{affordable_part, shown_share};
pub use annotation::Annotation;
pub use cluster_weight::ClusterWeight;
pub use cut_texts::{CutCounts, CutRules};
pub(crate) use document_status::DocumentStatus;
pub use findings::{Findings, Side};
pub use kept_copies::BadRecords;
pub(crate) use kept_copies::{CopyRules, write_kept_copies};
pub use kept_without_items::{FreedDocuments, ItemRemoval};
pub use list::output_descriptions;
pub(crate) use list::{REQUEST, files_of_folders};
pub(crate) use preview::{NEAR_PAIRS, preview};
pub use report::histograms;
pub(crate) use result_files::ResultFiles;
pub use settings::Outputs;
pub(crate) use settings::{ONLY_IDS, READABLE};
pub(crate) use sources::SourceCounts;
pub(crate) use stored_copies::StoredCopies;
pub use texts::TextFormat;

use self::counts::{count_results, kept_documents};
use self::list::OUTPUTS;
use self::output_kind::{KEEP_STAGE, WRITE_STAGE};
use self::report::PageTexts;
use self::results::Results;
pub(crate) use self::results::write_file;
use self::settings::MOST_PAIRS;
use crate::cluster;
use crate::write::output_folder::OutputFolder;
use crate::write::report::{Report, write_report};
use crate::write::summary::{Summary, write_summary};
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_base::quantity::{bytes, counted};
use simtool_compute::context::Context;
use std::sync::atomic::AtomicU64;
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
/// An output cannot be written, or there are too many pairs to write. It is also an error, and a bug, if a document is
/// neither kept nor removed.
pub(crate) fn write_outputs(
    findings: &Findings<'_>,
    sources: &SourceCounts,
    outputs: &Outputs,
    folder: &OutputFolder,
    summary: &mut Summary,
    context: &Context<'_>,
) -> Result<Report> {
    refuse_flood_of_pairs(findings, outputs)?;
    context.progress().begin("writing", Work::Steps(0));
    let begun = Instant::now();
    let clusters = cluster::clusters(findings.removals);
    let kept = kept_documents(findings);
    count_results(findings, &kept, clusters.len(), summary, context)?;
    let page = PageTexts::choose(findings, &clusters, outputs.kept, context.memory());
    let texts = page.caught(context.memory());
    let results = Results {
        findings,
        clusters: &clusters,
        kept: &kept,
        has_ambiguous_ids: summary.ambiguous_ids > 0,
        recipe: &summary.recipe,
        outputs,
        sources,
        folder,
        unannotated: AtomicU64::new(0),
        uncopied_files: AtomicU64::new(0),
        texts: texts.as_ref(),
        context,
    };
    let keeping = write_wanted(&results)?;
    let unannotated = results.unannotated.into_inner();
    let uncopied_files = results.uncopied_files.into_inner();
    if outputs.kept || outputs.annotates_copies() {
        summary.add_time(KEEP_STAGE, keeping);
    }
    summary.unannotated = unannotated;
    summary.uncopied_files = uncopied_files;
    let page = page.report(findings, sources, &clusters, texts, context)?;
    summary.templates = page.templates();
    summary.template_kept = page.template_clusters().map(|cluster| cluster.kept.clone()).collect();
    summary.add_time(WRITE_STAGE, begun.elapsed().saturating_sub(keeping));
    Ok(page)
}

/// Refuses to write a number of pairs that the user cannot have expected, such as the 31 billion pairs of
/// 250,000 equal documents.
///
/// # Errors
///
/// Pairs are wanted, and there are more than [`MOST_PAIRS`].
fn refuse_flood_of_pairs(findings: &Findings<'_>, outputs: &Outputs) -> Result<()> {
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
    for output in OUTPUTS.iter().filter(|output| (output.is_wanted)(results)) {
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
pub(crate) fn write_summaries(
    folder: &OutputFolder,
    summary: &mut Summary,
    page: &Report,
) -> Result<()> {
    write_file(folder, "report.html", |out| write_report(out, summary, page))?;
    summary.written_files = folder.written_files()?;
    write_file(folder, "summary.json", |out| write_summary(out, summary))
}
