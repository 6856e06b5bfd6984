//! `audit`: checks a finished run by its receipt, and a random sample of its removals by their texts.
//!
//! The receipt says whether files were changed. A removal is checked without the rest of the run: its documents are
//! read again, and the plan of the run decides about them alone.

mod covered_words;
mod documents;
mod object;
mod pairs;
mod receipt_check;
mod sampled_rows;
mod verdict;

pub use receipt_check::{FileCounts, ReceiptCheck};
pub use verdict::Verdict;

use super::face::Face;
use super::recorded_inputs::recorded;
use super::recorded_run::RecordedRun;
use crate::evaluate::{Interval, share_interval};
use crate::output::coverage_rows::{KeptOfRemoved, kept_documents_of, place_of};
use crate::output::finished_rows::{RemovedRow, RowKind, RowsFile};
use crate::pipeline::OutputName;
use crate::pipeline::timings::Timings;
use crate::write::receipt::{RECEIPT, Receipt};
use documents::ReadDocuments;
use pairs::PairCheck;
use receipt_check::{check_inputs, check_outputs, check_request};
use sampled_rows::{conflicts, sample_rows};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::options::Options;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Maximum number of removals that are checked if the user names none. A removal is a removed document with the
/// document that is kept in its place.
const SAMPLE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(999);
/// Seed of the random sample of removals if the user names none.
const SEED: u64 = 1;

/// Request to check a finished run.
#[derive(Clone, Debug)]
pub struct AuditRequest {
    /// Path of the output folder of the run.
    pub output: PathBuf,
    /// Maximum number of removals that are checked.
    pub sample: NonZeroUsize,
    /// Seed of the random numbers by which the checked removals are chosen.
    pub seed: u64,
    /// Threads and memory.
    pub resources: Resources,
}

impl AuditRequest {
    /// Creates the request for the run in `output`. `options` may have `sample`, `seed` and the options of
    /// [`Resources`].
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(output: PathBuf, mut options: Options) -> Result<Self> {
        let least = "must be a whole number of at least 1";
        let request = Self {
            output,
            sample: options.take_parsed("sample", least)?.unwrap_or(SAMPLE),
            seed: options.take_parsed("seed", "must be a whole number")?.unwrap_or(SEED),
            resources: Resources::parse(&mut options)?,
        };
        options.refuse_rest("audit has no such option")?;
        Ok(request)
    }
}

/// A removal that was checked, which is one row of the output of the run.
#[derive(Clone, Debug)]
pub struct AuditedRow {
    /// The removed document.
    pub removed: OutputName,
    /// Document that is kept in place of the removed one.
    pub kept: OutputName,
    /// Result of the check.
    pub verdict: Verdict,
}

/// Result of an audit.
#[derive(Debug)]
pub struct Audit {
    /// Result of comparing the receipt, which has the hashes of inputs and outputs, with the files.
    pub receipt: ReceiptCheck,
    /// Number of all documents that the run removed.
    pub removals: u64,
    /// The checked removals, in the order of the output of the run.
    pub rows: Vec<AuditedRow>,
    /// Seed by which the removals were chosen.
    pub seed: u64,
    /// Time that each stage took.
    pub timings: Timings,
}

impl Audit {
    /// Returns the number of checked removals that hold, which means that the texts agree with the output of the run.
    #[must_use]
    pub fn holding(&self) -> u64 {
        self.rows.iter().filter(|row| row.verdict == Verdict::Holds).count() as u64
    }

    /// Returns the checked removals that do not agree with the texts of the documents, each with the reasons.
    pub fn failing(&self) -> impl Iterator<Item = (&AuditedRow, &[String])> {
        self.rows.iter().filter_map(|row| match &row.verdict {
            Verdict::Fails(reasons) => Some((row, &reasons[..])),
            Verdict::Holds | Verdict::Unchecked(_) => None,
        })
    }

    /// Returns the reasons why removals could not be checked, each with the number of removals that it concerns.
    #[must_use]
    pub fn unchecked(&self) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        for row in &self.rows {
            if let Verdict::Unchecked(reason) = &row.verdict {
                *counts.entry(reason.as_str()).or_default() += 1;
            }
        }
        counts
    }

    /// Returns a 95 % confidence interval for the share of correct removals among all removals of the run. A removal is
    /// correct if the texts of its documents agree with the output of the run. The interval is estimated from the
    /// checked removals. `None` if no removal could be checked.
    #[must_use]
    pub fn share(&self) -> Option<Interval> {
        let holding = self.holding();
        let checked = holding + self.failing().count() as u64;
        if checked == 0 {
            return None;
        }
        let share = holding as f64 / checked as f64;
        // If all removals were checked, the share is exact.
        let is_whole = checked == self.removals;
        Some(if is_whole {
            Interval { low: share, high: share }
        } else {
            share_interval(share, checked as f64)
        })
    }

    /// Returns whether a checked removal does not agree with the texts, or a file is not as the receipt says.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        !self.receipt.changed.is_empty() || self.failing().next().is_some()
    }

    /// Returns whether a removal or a file could not be checked.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        !self.receipt.unchecked.is_empty() || !self.unchecked().is_empty()
    }
}

/// Compares the receipt of a finished run with its files, and checks a random sample of its removals.
///
/// # Errors
///
/// The folder has no outputs of `dedup` or `match` with a receipt, one of these outputs cannot be read, or the work is
/// cancelled. An input that cannot be read is no error, but named in the result.
pub fn audit(request: &AuditRequest, face: &dyn Face) -> Result<Audit> {
    let mut timings = Timings::start();
    let AuditRequest { output, resources, .. } = request;
    let run = RecordedRun::open(output, resources, face)?;
    let rows = RowsFile::open(output, &resources.temporary_folder)?;
    if rows.kind() != RowKind::Removed {
        let reason = "audit checks the outputs of dedup and match";
        return Err(missing(output, "no removed documents", reason));
    }
    let Some((receipt, root)) = Receipt::read(output)? else {
        let reason = "dedup and match write the receipt with --receipt: run that command again with this option";
        return Err(missing(output, &format!("no {RECEIPT}"), reason));
    };
    let recorded = recorded(output)?;
    // The check of each removal is a small run of its own, which must not start threads.
    let context = &Context::with_pool(resources, face.progress())?;
    // Everything that the outputs say is read before the inputs, which may be large.
    let sampled = sample_rows(&rows, request.seed, request.sample.get())?;
    let pairs = PairCheck::new(&recorded, &receipt, context)?;
    let kept = kept_of_rows(output, &sampled.rows, pairs.is_coverage())?;
    timings.end("read outputs");

    let mut check = ReceiptCheck::default();
    check_request(&run, &recorded, &receipt, &sampled, face, &mut check)?;
    check_outputs(output, &receipt, &root, context, &mut check)?;
    timings.end("hash outputs");
    let needed = needed_files(&sampled.rows, &kept);
    check_inputs(&run, &receipt, &needed, context, &mut check)?;
    timings.end("hash inputs");

    let documents =
        ReadDocuments::read(&run, &receipt, pairs.reading(), &sampled.rows, &kept, context)?;
    timings.end("read inputs");
    let conflicts = conflicts(&rows, &sampled.rows, &kept, pairs.is_match())?;
    face.progress().begin("comparing", Work::Steps(sampled.rows.len() as u64));
    // Each removal is decided alone, so that a wrong row cannot hide behind others.
    let mut audited = Vec::new();
    let no_others = BTreeSet::new();
    for row in &sampled.rows {
        context.check_cancelled()?;
        face.progress().advance(1);
        let others = kept.get(&place_of(&row.removed)).unwrap_or(&no_others);
        let verdict = pairs.verdict(row, others, &documents, &conflicts)?;
        let (removed, kept) = (row.removed.clone(), row.kept.clone());
        audited.push(AuditedRow { removed, kept, verdict });
    }
    timings.end("compare");
    let removals = sampled.removals;
    Ok(Audit { receipt: check, removals, rows: audited, seed: request.seed, timings })
}

fn missing(output: &Path, what: &str, reason: &str) -> Error {
    let what = format!("{} has {what}", output.display());
    ErrorKind::Missing { what, reason: reason.to_owned() }.into()
}

/// Returns the kept documents that together have the words of each removed document of `rows`. The result is empty
/// unless `is_coverage` is true: only then can several kept documents take the place of a removed one.
fn kept_of_rows(folder: &Path, rows: &[RemovedRow], is_coverage: bool) -> Result<KeptOfRemoved> {
    if !is_coverage || rows.is_empty() {
        return Ok(KeptOfRemoved::new());
    }
    kept_documents_of(folder, &rows.iter().map(|row| place_of(&row.removed)).collect())
}

/// Returns the names of the files with the removed and kept documents of `rows` and with the documents in `kept`.
fn needed_files<'r>(rows: &'r [RemovedRow], kept: &'r KeptOfRemoved) -> BTreeSet<&'r str> {
    let of_rows = rows.iter().flat_map(|row| [&row.removed, &row.kept]).map(|name| &*name.file);
    of_rows.chain(kept.values().flatten().map(|(file, _)| &**file)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn audit_of(verdicts: Vec<Verdict>, removals: u64) -> Audit {
        let name = OutputName { id: "a".to_owned(), file: "a".to_owned(), record: 0 };
        let row = |verdict| AuditedRow { removed: name.clone(), kept: name.clone(), verdict };
        let rows = verdicts.into_iter().map(row).collect();
        let (receipt, timings) = (ReceiptCheck::default(), Timings::start());
        Audit { receipt, removals, rows, seed: 1, timings }
    }

    #[test]
    fn the_interval_is_about_the_removals_that_were_not_checked() {
        let verdicts = |hold: usize, unchecked: usize| {
            let unchecked = vec![Verdict::Unchecked("gone".to_owned()); unchecked];
            [vec![Verdict::Holds; hold], unchecked].concat()
        };
        let whole = audit_of(verdicts(20, 0), 20);
        assert_eq!(whole.share(), Some(Interval { low: 1.0, high: 1.0 }));
        assert!(!whole.has_failed() && !whole.has_gaps());
        // Removals that cannot be checked may be wrong.
        let gaps = audit_of(verdicts(20, 5), 25);
        assert!(gaps.share().is_some_and(|share| share.low < 0.9) && gaps.has_gaps());
        assert_eq!(gaps.unchecked(), BTreeMap::from([("gone", 5)]));
        assert_eq!(audit_of(verdicts(0, 5), 5).share(), None);
        let wrong = audit_of(vec![Verdict::Fails(vec!["wrong".to_owned()])], 2);
        assert!(wrong.has_failed() && wrong.failing().count() == 1);
    }
}
