//! Writes what was found in a collection to a folder: one function an output.

mod affordable_texts;
mod findings;
mod kept_copies;
mod ordered_pieces;
mod report;
mod sources;

pub(super) use affordable_texts::affordable_part;
pub use findings::{Findings, Side};
pub(super) use findings::{document_name, document_name_at};
pub use kept_copies::{BadRecords, write_kept_copies};
pub use report::histograms;

use crate::cluster::{self, Cluster, Removal};
use crate::write::document_rows::{DocumentRows, RowFormat, write_cluster};
use crate::write::output_folder::OutputFolder;
use crate::write::quarantine::write_bad_record;
use crate::write::report::{Report, write_report};
use crate::write::row_fields::RowKind;
use crate::write::summary::{FaultPlace, ReadCounts, Summary, write_summary};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_base::progress::{Progress, Work};
use simtool_compute::threads::Threads;
use simtool_model::document::DocOrdinal;
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

/// Writes what was found to `folder`, all but summary and page, and completes the counts and times
/// of `summary`, which has what only the caller knows. `progress` is told how far this is.
///
/// Gives what the page shows beside the summary. The caller adds to the summary what it knows only
/// now, and hands both to [`write_summaries`].
///
/// # Errors
///
/// An output cannot be written, or what was read is not accounted for, which is a bug.
pub fn write_outputs(
    findings: &Findings<'_>,
    outputs: Outputs,
    folder: &OutputFolder,
    summary: &mut Summary,
    progress: &dyn Progress,
) -> Result<Report> {
    progress.begin("writing", Work::Steps(0));
    let begun = Instant::now();
    let workers = Threads::new(outputs.threads)?;
    let clusters = cluster::clusters(findings.removals);
    let files = Files { findings, outputs, folder, progress };
    files.removed(&summary.recipe)?;
    files.clusters(&clusters)?;
    files.quarantine()?;
    if outputs.pairs {
        files.pairs(&summary.recipe)?;
    }
    let kept = kept(findings);
    let mut keeping = Duration::ZERO;
    if outputs.kept {
        let begun = Instant::now();
        files.kept(&kept, &workers)?;
        keeping = begun.elapsed();
        summary.add_time("keep", keeping);
    }
    count(findings, &kept, clusters.len(), summary)?;
    summary.levels = findings.levels.to_vec();
    let page = report::report(findings, &clusters, &workers, progress)?;
    summary.add_time("write", begun.elapsed().saturating_sub(keeping));
    Ok(page)
}

/// Writes the summary, for programs, and the page, for people: of the same numbers.
///
/// # Errors
///
/// One of them cannot be written.
pub fn write_summaries(folder: &OutputFolder, summary: &Summary, page: &Report) -> Result<()> {
    write_file(folder, "report.html", |out| write_report(out, summary, page))?;
    write_file(folder, "summary.json", |out| write_summary(out, summary))
}

/// Which of the documents stay.
fn kept(findings: &Findings<'_>) -> Vec<bool> {
    let mut kept = vec![true; findings.documents().read.ids.len()];
    for removal in findings.removals {
        kept[DocOrdinal(removal.row).index()] = false;
    }
    kept
}

/// The files of a folder of outputs.
struct Files<'f> {
    findings: &'f Findings<'f>,
    outputs: Outputs,
    folder: &'f OutputFolder,
    progress: &'f dyn Progress,
}

impl Files<'_> {
    /// Each removed document with the one that is kept in its place.
    fn removed(&self, recipe: &str) -> Result<()> {
        let (documents, originals) = (self.findings.documents(), self.findings.originals());
        let kind = if self.outputs.only_ids { RowKind::RemovedId } else { RowKind::Removed };
        self.rows("removed", kind, recipe, |rows| {
            self.findings.removals.iter().try_for_each(|&Removal { row, kept, closeness }| {
                rows.write([&documents.name(row), &originals.name(kept)], closeness)
            })
        })
    }

    /// Every pair.
    fn pairs(&self, recipe: &str) -> Result<()> {
        let (documents, originals) = (self.findings.documents(), self.findings.originals());
        self.rows("pairs", RowKind::Pair, recipe, |rows| {
            self.findings.close.for_each_pair(|pair| {
                let names = [&documents.name(pair.a), &originals.name(pair.b)];
                rows.write(names, Some(pair.closeness))
            })
        })
    }

    /// The same as removed documents by kept document.
    fn clusters(&self, clusters: &[Cluster]) -> Result<()> {
        let (documents, originals) = (self.findings.documents(), self.findings.originals());
        self.write("clusters.jsonl", |out| {
            clusters.iter().try_for_each(|cluster| {
                let removed = cluster.removed.iter().map(|r| (documents.name(r.row), r.closeness));
                write_cluster(out, &originals.name(cluster.kept), removed)
            })
        })
    }

    /// The bad records.
    fn quarantine(&self) -> Result<()> {
        self.write("quarantine.jsonl", |out| {
            for side in self.findings.sides.iter() {
                for quarantined in &side.read.quarantined {
                    let file = side.collection.file_name(quarantined.file);
                    let record = &quarantined.record;
                    write_bad_record(out, file, record.record, record.byte, &record.bad)?;
                }
            }
            Ok(())
        })
    }

    /// The inputs without what is removed.
    fn kept(&self, kept: &[bool], workers: &Threads) -> Result<()> {
        let documents = self.findings.documents();
        let Some(files) = documents.collection.as_files() else {
            let rule = "needs documents that are in files";
            return Err(Error::config("write_kept", "these documents", rule));
        };
        let is_kept = |document: DocOrdinal| kept[document.index()];
        let target = self.folder.aside().join("kept");
        let bad = self.outputs.bad_records;
        let (ids, progress) = (&documents.read.ids, self.progress);
        workers.run(|| write_kept_copies(files, ids, &is_kept, bad, &target, progress))?
    }

    /// Writes a file of rows.
    fn rows(
        &self,
        name: &str,
        kind: RowKind,
        recipe: &str,
        fill: impl FnOnce(&mut DocumentRows<&mut (dyn Write + Send)>) -> io::Result<()>,
    ) -> Result<()> {
        let format = self.outputs.rows;
        self.write(&format!("{name}.{}", format.extension()), |out| {
            let mut rows = DocumentRows::new(out, format, kind, recipe)?;
            fill(&mut rows)?;
            rows.finish().map(drop)
        })
    }

    /// Writes one file of the folder.
    fn write(
        &self,
        file: &str,
        content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<()> {
        write_file(self.folder, file, content)
    }
}

/// Writes one file of a folder.
fn write_file(
    folder: &OutputFolder,
    file: &str,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<()> {
    let mut out = folder.file(file)?;
    content(&mut out)
        .and_then(|()| out.flush())
        .map_err(|e| Error::io(folder.name(file), "write", e))
}

/// What was read of a collection.
fn read_counts(Side { collection, read }: Side<'_>) -> ReadCounts {
    let is_loss = |fault: &&Fault| fault.severity == Severity::Loss;
    ReadCounts {
        files: collection.file_count() as u64,
        documents: read.ids.len() as u64,
        quarantined: read.quarantined.len() as u64,
        lost: read.lost_records(),
        passed_over: read.passed_over,
        without_terms: read.without_terms,
        mended: read.mended,
        file_faults: read.faults.iter().filter(is_loss).count() as u64,
        text_bytes: read.text_bytes(),
    }
}

/// Completes the counts of a summary, and checks that nothing was lost on the way.
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
        for bad in &side.read.quarantined {
            let file = side.collection.file_name(bad.file);
            summary.faults.add(bad.record.bad.code, || FaultPlace {
                severity: Severity::Loss,
                kind: bad.record.bad.code,
                file: file.as_os_str().as_encoded_bytes().to_vec(),
                record: Some(bad.record.record),
                byte: Some(bad.record.byte),
                what: format!("expected {}", bad.record.bad.expected),
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
