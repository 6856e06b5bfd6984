//! Lists all outputs. A run writes its files from this list, and the reference pages are made from it.

use super::output_kind::Output;
use super::{
    annotated, clusters, contamination, coverage, cut_texts, documents, emit_pairs, index_rows,
    kept, pairs, passages, quarantine, removed, removed_texts, source_rows, texts, uncut,
};
use crate::write::columns::OutputDescription;
use crate::write::receipt::RECEIPT;

/// Outputs that a run writes to its folder. A new output needs its own file and an entry here.
pub(super) const OUTPUTS: &[Output] = &[
    removed::OUTPUT,
    documents::OUTPUT,
    clusters::OUTPUT,
    source_rows::OUTPUT,
    quarantine::OUTPUT,
    pairs::OUTPUT,
    coverage::OUTPUT,
    kept::OUTPUT,
    kept::REMOVED,
    annotated::OUTPUT,
];

/// Descriptions of outputs that [`OUTPUTS`] lacks, because another output, the end of a run, or another
/// command writes them.
const OTHER_OUTPUTS: &[OutputDescription] = &[
    kept::LIST,
    SUMMARY,
    REQUESTED,
    RECEIPTS,
    REPORT,
    emit_pairs::OUTPUT,
    passages::OUTPUT,
    contamination::OUTPUT,
    texts::OUTPUT,
    cut_texts::OUTPUT,
    removed_texts::OUTPUT,
    uncut::OUTPUT,
    index_rows::REPEATS_OUTPUT,
    index_rows::NEAR_OUTPUT,
    index_rows::EXPORT_OUTPUT,
    index_rows::DUPLICATES_OUTPUT,
    index_rows::SIZE_OUTPUT,
];

/// Returns the descriptions of all outputs of all commands, with their columns.
///
/// ```
/// let outputs = simtool::output::output_descriptions();
/// let removed = outputs.iter().find(|output| output.name == "removed").unwrap();
/// assert_eq!((removed.columns)()[0].name, "id");
/// ```
#[must_use]
pub fn output_descriptions() -> Vec<OutputDescription> {
    let run_outputs = OUTPUTS.iter().map(|output| output.description);
    run_outputs.chain(OTHER_OUTPUTS.iter().copied()).collect()
}

/// Returns the names of all files and folders that any command may write to its output folder.
#[must_use]
pub(crate) fn files_of_folders() -> Vec<&'static str> {
    // Every command that writes a folder writes a summary there.
    let has_folder = |command: &str| SUMMARY.command.split(", ").any(|name| name == command);
    let is_in_folder = |output: &OutputDescription| output.command.split(", ").any(has_folder);
    let outputs = output_descriptions().into_iter().filter(is_in_folder);
    outputs.flat_map(|output| output.files.iter().copied()).collect()
}

const SUMMARY: OutputDescription = OutputDescription {
    name: "summary",
    files: &["summary.json"],
    command: "dedup, match, passages, contamination",
    description: "Settings, counts, faults and times of the run, as one JSON object.",
    columns: Vec::new,
};

/// Name of the file with the request of a run, which has its command, paths and settings.
pub(crate) const REQUEST: &str = "request.json";

const REQUESTED: OutputDescription = OutputDescription {
    name: "request",
    files: &[REQUEST],
    command: "dedup, match, passages, contamination",
    description: "The command, paths and settings of the run as data, each setting with the place that it came from. Later commands \
                  read it.",
    columns: Vec::new,
};

const RECEIPTS: OutputDescription = OutputDescription {
    name: "receipt",
    files: &[RECEIPT],
    command: "dedup, match",
    description: "With --receipt: the SHA-256 of every input, the request, the recipe, the counts, and the Merkle root of each \
                  output, by which `simtool audit` and others check the results. Equal runs write equal receipts.",
    columns: Vec::new,
};

const REPORT: OutputDescription = OutputDescription {
    name: "report",
    files: &["report.html"],
    command: "dedup, match, passages, contamination",
    description: "A page for people: counts, charts, the largest clusters and examples, or the most repeated texts or items.",
    columns: Vec::new,
};
