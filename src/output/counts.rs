//! Counts the documents, removals and faults of a run for its summary.

use super::findings::{Findings, Side};
use super::shared_ids::SharedIds;
use crate::cluster::Removal;
use crate::write::summary::{FaultPlace, Faults, ReadCounts, Summary};
use simtool_base::error::{ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_compute::context::Context;
use simtool_model::document::DocOrdinal;
use simtool_model::sides::Sides;

/// Returns for each document whether it is kept.
pub(super) fn kept_documents(findings: &Findings<'_>) -> Vec<bool> {
    let mut kept = vec![true; findings.documents().read.ids.len()];
    for removal in findings.removals {
        kept[DocOrdinal(removal.row).index()] = false;
    }
    kept
}

/// Returns the counts of a collection that was read.
pub(super) fn read_counts(Side { collection, read }: Side<'_>) -> ReadCounts {
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
        skipped_elements: read.skipped_elements,
        without_scope: read.without_scope(),
        pages: read.pages,
        own_texts: read.left_out.own_texts,
        few_own_words: read.left_out.few_own_words,
        left_out_bytes: read.left_out.bytes,
        file_faults: read.faults.iter().filter(is_loss).count() as u64,
        text_bytes: read.text_bytes(),
        shared_ids: 0,
    }
}

/// Returns the faults of the collections `sides`: first the faults of files, and then the records that could not be
/// read.
pub(super) fn faults(sides: &Sides<Side<'_>>) -> Faults {
    let mut faults = Faults::default();
    for fault in sides.iter().flat_map(|side| &side.read.faults) {
        faults.add_fault(fault);
    }
    for side in sides.iter() {
        for bad in side.read.quarantined.iter() {
            let file = side.collection.file_name(bad.file);
            faults.add(bad.code, || FaultPlace {
                severity: Severity::Loss,
                kind: bad.code,
                file: file.as_os_str().as_encoded_bytes().to_vec(),
                record: Some(bad.record),
                byte: Some(bad.byte),
                what: format!("expected {}", bad.expected),
            });
        }
    }
    faults
}

/// Completes the counts of a summary, and checks that every document is either kept or removed. `kept` has a flag for
/// each document, and `clusters` is the number of clusters.
pub(super) fn count_results(
    findings: &Findings<'_>,
    kept: &[bool],
    clusters: usize,
    summary: &mut Summary,
    context: &Context<'_>,
) -> Result<()> {
    let removed_length =
        |removal: &Removal| findings.documents().read.lengths[removal.row as usize];
    let shared_ids =
        context.threads().run(|| findings.sides.map(|side| SharedIds::find(&side.read.ids)))?;
    summary.ambiguous_ids = shared_ids.first().removed_with_kept(kept);
    summary.read = findings.sides.map(read_counts);
    for (read, shared) in summary.read.iter_mut().zip(shared_ids.iter()) {
        read.shared_ids = shared.document_count();
    }
    summary.levels = findings.levels.to_vec();
    summary.kept = kept.iter().filter(|kept| **kept).count() as u64;
    summary.removed = findings.removals.len() as u64;
    summary.removed_bytes = findings.removals.iter().map(|r| u64::from(removed_length(r))).sum();
    summary.kept_for_words = findings.kept_for_words();
    summary.decisions = findings.decided.map(|decided| decided.applied);
    summary.unfit_decisions = findings.decided.map(|decided| decided.unfit.len() as u64);
    summary.covered_by_several = findings.covered_by_several();
    if findings.counts_lost_words() {
        let lost = |removal: &Removal| u64::from(findings.lost_words(removal.row)?.lost).into();
        let lost = findings.removals.iter().filter_map(lost).filter(|&lost: &u64| lost > 0);
        summary.losing_removals = Some(lost.clone().count() as u64);
        summary.lost_words = Some(lost.sum());
    }
    summary.clusters = clusters as u64;
    // Coverage compares no pairs.
    let has_pairs = findings.close.is_complete && findings.coverage().is_none();
    summary.pairs = has_pairs.then(|| findings.close.pair_count());
    summary.faults = faults(&findings.sides);
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
