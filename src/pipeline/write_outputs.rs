//! Writes what was found in a collection to a folder.

use super::deduplicate::Deduplicated;
use super::document_names::Names;
use super::kept_copies::write_kept_copies;
use super::report;
use super::workers::Workers;
use crate::cluster::{self, Removal};
use crate::document::DocOrdinal;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Collection, Corpus};
use crate::write::document_rows::{DocumentRows, RowFormat, RowKind, write_cluster};
use crate::write::output_folder::OutputFolder;
use crate::write::quarantine::write_bad_record;
use crate::write::report::write_report;
use crate::write::summary::{Summary, write_summary};
use std::io::{self, Write};

/// Which outputs are written beside clusters, removed documents, bad records and the summary.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Format of rows of documents.
    pub rows: RowFormat,
    /// Whether rows of removed documents hold only their IDs.
    pub only_ids: bool,
    /// Whether every pair is written.
    pub pairs: bool,
    /// Whether the collection is written without what is removed.
    pub kept: bool,
    /// Worker threads, at least 1.
    pub threads: usize,
}

/// Writes the outputs to `folder` and completes `summary`, which has what only the caller knows.
///
/// # Errors
///
/// An output cannot be written, or what was read is not accounted for, which is a bug.
pub fn write_outputs(
    collection: &Collection,
    found: &Deduplicated,
    outputs: Outputs,
    folder: &OutputFolder,
    summary: &mut Summary,
) -> Result<()> {
    let workers = Workers::new(outputs.threads)?;
    let names = Names { collection, ids: &found.read.ids };
    let clusters = cluster::clusters(&found.removals);
    let recipe = &summary.recipe;
    let kind = if outputs.only_ids { RowKind::RemovedId } else { RowKind::Removed };
    let file = format!("removed.{}", outputs.rows.extension());
    write(folder, &file, |out| {
        let mut rows = DocumentRows::new(out, outputs.rows, kind, recipe)?;
        for &Removal { row, kept, closeness } in &found.removals {
            rows.write([&names.of(row), &names.of(kept)], closeness)?;
        }
        rows.finish().map(drop)
    })?;
    write(folder, "clusters.jsonl", |out| {
        clusters.iter().try_for_each(|cluster| {
            let removed = cluster.removed.iter().map(|r| (names.of(r.row), r.closeness));
            write_cluster(out, &names.of(cluster.kept), removed)
        })
    })?;
    write(folder, "quarantine.jsonl", |out| {
        found.read.quarantined.iter().try_for_each(|quarantined| {
            let file = collection.file_name(quarantined.file);
            let record = &quarantined.record;
            write_bad_record(out, file, record.record, record.byte, &record.bad)
        })
    })?;
    if outputs.pairs {
        let file = format!("pairs.{}", outputs.rows.extension());
        write(folder, &file, |out| {
            let mut rows = DocumentRows::new(out, outputs.rows, RowKind::Pair, recipe)?;
            found.close.for_each_pair(|pair| {
                rows.write([&names.of(pair.a), &names.of(pair.b)], Some(pair.closeness))
            })?;
            rows.finish().map(drop)
        })?;
    }
    let kept = found.kept();
    if outputs.kept {
        let is_kept = |document: DocOrdinal| kept[document.index()];
        let target = folder.aside().join("kept");
        workers.run(|| write_kept_copies(collection, &found.read.ids, &is_kept, &target))??;
    }

    summary.files = collection.file_count() as u64;
    summary.documents = found.read.ids.len() as u64;
    summary.kept = kept.iter().filter(|kept| **kept).count() as u64;
    summary.removed = found.removals.len() as u64;
    summary.quarantined = found.read.quarantined.len() as u64;
    summary.without_terms = found.read.without_terms;
    summary.mended = found.read.mended;
    summary.clusters = clusters.len() as u64;
    summary.pairs = found.close.pair_count();
    summary.text_bytes = found.read.text_bytes();
    summary.faults = found.read.faults.iter().map(ToString::to_string).collect();
    if !summary.is_conserved() {
        return Err(ErrorKind::NotConserved {
            documents: summary.documents,
            kept: summary.kept,
            removed: summary.removed,
        }
        .into());
    }
    let page = report::report(collection, found, &clusters, summary, &workers)?;
    write(folder, "report.html", |out| write_report(out, &page))?;
    write(folder, "summary.json", |out| write_summary(out, summary))
}

/// Writes one file of the folder.
fn write(
    folder: &OutputFolder,
    file: &str,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let mut out = folder.file(file)?;
    content(&mut out)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io(folder.name(file), "write", e))
}
