//! Writes what was found in a collection to a folder.

use super::document_names::Names;
use super::kept_copies::{BadRecords, write_kept_copies};
use super::report;
use super::shard_summary::CollectionSummary;
use super::workers::Workers;
use crate::closeness::{CloseAcross, ClosePair, CloseRows};
use crate::cluster::{self, Removal};
use crate::document::DocOrdinal;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Collection, Corpus};
use crate::write::document_rows::{DocumentName, DocumentRows, RowFormat, RowKind, write_cluster};
use crate::write::output_folder::OutputFolder;
use crate::write::quarantine::write_bad_record;
use crate::write::report::write_report;
use crate::write::summary::{MatchedAgainst, Summary, write_summary};
use std::io::{self, Write};
use std::time::{Duration, Instant};

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
    /// What becomes of bad records in that.
    pub bad_records: BadRecords,
    /// Worker threads, at least 1.
    pub threads: usize,
}

/// A collection with what its reading told.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The collection.
    pub collection: &'s Collection,
    /// What its reading told.
    pub read: &'s CollectionSummary,
}

/// What was found, and in what.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'f> {
    /// The documents of which some are removed.
    pub documents: Side<'f>,
    /// The documents that are kept in their place: the same collection or another.
    pub originals: Side<'f>,
    /// The documents to remove, in reading order.
    pub removals: &'f [Removal],
    /// All that is close.
    pub close: Close<'f>,
}

/// All that is close.
#[derive(Clone, Copy, Debug)]
pub enum Close<'f> {
    /// In one collection.
    Within(&'f CloseRows),
    /// Between two.
    Across(&'f CloseAcross),
}

impl Close<'_> {
    fn pair_count(self) -> u64 {
        match self {
            Self::Within(close) => close.pair_count(),
            Self::Across(close) => close.pair_count(),
        }
    }

    fn for_each_pair(self, mut visit: impl FnMut(ClosePair) -> io::Result<()>) -> io::Result<()> {
        match self {
            Self::Within(close) => close.for_each_pair(visit),
            Self::Across(close) => close.for_each_row(|a, partners| {
                partners.iter().try_for_each(|&(b, closeness)| visit(ClosePair { a, b, closeness }))
            }),
        }
    }
}

/// Writes the outputs to `folder` and completes `summary`, which has what only the caller knows; the
/// time of writing is in it but for that of the summary itself.
///
/// # Errors
///
/// An output cannot be written, or what was read is not accounted for, which is a bug.
pub fn write_outputs(
    findings: &Findings<'_>,
    outputs: Outputs,
    folder: &OutputFolder,
    summary: &mut Summary,
) -> Result<()> {
    let begun = Instant::now();
    let workers = Workers::new(outputs.threads)?;
    let &Findings { documents, originals, removals, close } = findings;
    let clusters = cluster::clusters(removals);
    let recipe = &summary.recipe;
    let kind = if outputs.only_ids { RowKind::RemovedId } else { RowKind::Removed };
    let file = format!("removed.{}", outputs.rows.extension());
    write(folder, &file, |out| {
        let mut rows = DocumentRows::new(out, outputs.rows, kind, recipe)?;
        for &Removal { row, kept, closeness } in removals {
            rows.write([&documents.name(row), &originals.name(kept)], closeness)?;
        }
        rows.finish().map(drop)
    })?;
    write(folder, "clusters.jsonl", |out| {
        clusters.iter().try_for_each(|cluster| {
            let removed = cluster.removed.iter().map(|r| (documents.name(r.row), r.closeness));
            write_cluster(out, &originals.name(cluster.kept), removed)
        })
    })?;
    let across = matches!(close, Close::Across(_));
    let sides = if across { &[documents, originals][..] } else { &[documents] };
    write(folder, "quarantine.jsonl", |out| {
        for side in sides {
            for quarantined in &side.read.quarantined {
                let file = side.collection.file_name(quarantined.file);
                let record = &quarantined.record;
                write_bad_record(out, file, record.record, record.byte, &record.bad)?;
            }
        }
        Ok(())
    })?;
    if outputs.pairs {
        let file = format!("pairs.{}", outputs.rows.extension());
        write(folder, &file, |out| {
            let mut rows = DocumentRows::new(out, outputs.rows, RowKind::Pair, recipe)?;
            close.for_each_pair(|pair| {
                let names = [&documents.name(pair.a), &originals.name(pair.b)];
                rows.write(names, Some(pair.closeness))
            })?;
            rows.finish().map(drop)
        })?;
    }
    let Side { collection, read } = documents;
    let mut kept = vec![true; read.ids.len()];
    for removal in removals {
        kept[DocOrdinal(removal.row).index()] = false;
    }
    let mut keeping = Duration::ZERO;
    if outputs.kept {
        let begun = Instant::now();
        let is_kept = |document: DocOrdinal| kept[document.index()];
        let target = folder.aside().join("kept");
        let bad = outputs.bad_records;
        workers.run(|| write_kept_copies(collection, &read.ids, &is_kept, bad, &target))??;
        keeping = begun.elapsed();
        summary.add_time("keep", keeping);
    }

    summary.files = collection.file_count() as u64;
    summary.documents = read.ids.len() as u64;
    summary.kept = kept.iter().filter(|kept| **kept).count() as u64;
    summary.removed = removals.len() as u64;
    summary.quarantined = read.quarantined.len() as u64;
    summary.lost = read.lost_records();
    summary.without_terms = read.without_terms;
    summary.mended = read.mended;
    summary.passed_over = read.passed_over;
    summary.clusters = clusters.len() as u64;
    summary.pairs = close.pair_count();
    summary.text_bytes = sides.iter().map(|side| side.read.text_bytes()).sum();
    let faults = sides.iter().flat_map(|side| &side.read.faults);
    summary.faults = faults.map(ToString::to_string).collect();
    summary.matched_against = across.then(|| MatchedAgainst {
        files: originals.collection.file_count() as u64,
        documents: originals.read.ids.len() as u64,
        quarantined: originals.read.quarantined.len() as u64,
    });
    if !summary.is_conserved() {
        return Err(ErrorKind::NotConserved {
            documents: summary.documents,
            kept: summary.kept,
            removed: summary.removed,
        }
        .into());
    }
    let page = report::report(findings, &clusters, summary, &workers)?;
    write(folder, "report.html", |out| write_report(out, &page))?;
    summary.add_time("write", begun.elapsed().saturating_sub(keeping));
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

impl<'s> Side<'s> {
    /// The name of a document.
    pub(super) fn name(&self, row: u32) -> DocumentName<'s> {
        Names { collection: self.collection, ids: &self.read.ids }.of(row)
    }
}
