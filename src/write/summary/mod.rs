//! The numbers of a run. The table on the terminal, `summary.json` and the page all show them.
//!
//! All three take their counts from `Summary::figures`, so the counts cannot disagree.

mod figures;
mod json;
mod setting;
mod short;
mod table;

pub use figures::{Audience, Figure};
pub(in crate::write) use json::write_list;
pub use json::write_summary;
pub use setting::Setting;
pub(crate) use short::ShortSummary;
pub(in crate::write) use table::counts_table;
pub use table::table;

use super::name::Name;
use super::shared_words::Templates;
use simtool_base::fault::{Fault, Severity};
use simtool_base::utc_time::UtcTime;
use simtool_model::non_document::NonDocumentCounts;
use simtool_model::page_text::PageTextCounts;
use simtool_model::sides::Sides;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// The numbers and settings of a run.
///
/// ```
/// use simtool::stages::sides::Sides;
/// use simtool::write::summary::{ReadCounts, Summary, table};
///
/// let read = ReadCounts { documents: 10, ..ReadCounts::default() };
/// let summary =
///     Summary { read: Sides::One(read), kept: 7, removed: 3, ..Summary::default() };
/// assert!(summary.is_conserved());
/// assert!(table(&summary).contains("30.0 %"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Command line of the run.
    pub command: String,
    /// Output folder, as the user named it.
    pub output: String,
    /// Folder in which the run was started. Relative paths of the command line and the output begin there. `None` if
    /// the system does not report it.
    pub working_folder: Option<String>,
    /// Beginnings of command lines, to which readers append documents to see more about them. `None` if the run was not
    /// started from the command line.
    pub commands: Option<Commands>,
    /// Names and values of the settings that affected the result.
    pub parameters: Vec<(&'static str, Setting)>,
    /// Recipe of the method: a text that identifies how fingerprints or terms are made. Only fingerprints or
    /// terms with equal recipes can be compared.
    pub recipe: String,
    /// Sentence for people that explains the meaning of distances. `None` if the method has no distances.
    pub distance_means: Option<String>,
    /// Share of the pairs at the maximum distance that the search finds on average, from 0 to 1. `None` if the
    /// search misses no pairs.
    pub found_share: Option<f64>,
    /// Time at which the run started. `None` if the caller has no clock.
    pub begin: Option<UtcTime>,
    /// Time at which the run ended, before the summary and the page were written.
    pub end: Option<UtcTime>,
    /// Peak memory of the process in bytes, including mapped files. `None` if the system does not report it.
    pub peak_memory: Option<u64>,
    /// Counts of the collection that was read, or of the queries and the corpus.
    pub read: Sides<ReadCounts>,
    /// Number of documents that are kept.
    pub kept: u64,
    /// Number of documents that are removed.
    pub removed: u64,
    /// Information about the dates of documents, by which the kept documents are chosen. `None` if no rule uses dates.
    pub dates: Option<Dates>,
    /// Number of field values that are not numbers, although a rule for choosing kept documents compares numbers in
    /// this field.
    pub unread_numbers: u64,
    /// Number of bytes of text of the removed documents.
    pub removed_bytes: u64,
    /// Number of documents that stay only because their removal would lose more words than `--lose` allows. `None` if
    /// there is no such limit.
    pub kept_for_words: Option<u64>,
    /// Number of decisions of people that were applied. A decision changes removals, for example keeps a removed
    /// document. `None` if the user gave no file of decisions.
    pub decisions: Option<u64>,
    /// Number of decisions of people that were not applied, for example because the run keeps the document anyway.
    /// `None` if the user gave no file of decisions.
    pub unfit_decisions: Option<u64>,
    /// Number of removed documents whose words are in several kept documents. `None` unless the method decides by
    /// coverage.
    pub covered_by_several: Option<u64>,
    /// Number of words of removed documents that are in none of the shingles that the removed and the kept document
    /// share. `None` if they were not counted.
    pub lost_words: Option<u64>,
    /// Number of removed documents with words that [`Self::lost_words`] counts. `None` if the words were not counted.
    pub losing_removals: Option<u64>,
    /// Number of kept documents in whose favour other documents are removed.
    pub clusters: u64,
    /// Number of sources (for example files) with at least 100 documents from which more than 90 % were removed.
    pub emptied_sources: u64,
    /// Number of clusters on the report page whose documents look like pages of one template, and of their removed
    /// documents.
    pub templates: Templates,
    /// Names of the kept documents of the clusters in [`Self::templates`]. A review finds these clusters by the names.
    pub template_kept: Vec<Name>,
    /// Number of removed documents with the same ID as a kept document.
    pub ambiguous_ids: u64,
    /// Number of documents whose records were copied without the columns that `--annotate=in-place` adds.
    pub unannotated: u64,
    /// Number of files without a copy in `kept`, because no record of them can be read.
    pub uncopied_files: u64,
    /// Number of pairs of near-duplicates. `None` if only the pairs that affect the removals were searched, because
    /// there were too many. Also `None` if the method decides by coverage, which compares no pairs.
    pub pairs: Option<u64>,
    /// Limits on the similarity or distance, each with the number of documents that a run with this limit
    /// would remove. Stricter limits come first, and the limit of the run is last. Empty if the run did not
    /// search all pairs.
    pub levels: Vec<LimitLevel>,
    /// Faults of the input, which are bad records, and damaged or unreadable files.
    pub faults: Faults,
    /// State of the input files when the run opened them, at most `Self::INPUTS` of them.
    pub inputs: Vec<InputState>,
    /// Paths of all files in the output folder except the summary, ascending.
    pub written_files: Vec<PathBuf>,
    /// Name and wall-clock time of each stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// State of an input file when a run opened it, by which users see later whether it has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputState {
    /// Name of the file, as the user wrote it.
    pub file: Vec<u8>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Time at which the file was written last.
    pub modified: UtcTime,
}

/// Information about the dates of documents, by which the kept documents are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dates {
    /// Names of the fields from which the dates are taken.
    pub fields: Vec<String>,
    /// Number of documents without a date. They are kept only if no similar document has a date.
    pub without: u64,
    /// Number of documents that have a date which is not understood. They are counted in `without`, too.
    pub unread: u64,
}

/// Beginnings of command lines, to which readers append the names of documents to see more about them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Command that shows what became of a document. The ID of the document must be appended.
    pub why: String,
    /// Command that compares two documents. For each document, `FILE:RECORD` must be appended, the name of
    /// its file and the number of its record.
    pub compare: String,
    /// Text that must precede each `FILE:RECORD` after [`Commands::compare`]: the output folder and `#`, if
    /// the documents must be read as the run read them. Otherwise empty.
    pub compared_in: String,
}

/// Counts of one collection that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Number of input files.
    pub files: u64,
    /// Number of documents that were compared.
    pub documents: u64,
    /// Number of bad records, which could not be read as documents.
    pub quarantined: u64,
    /// Number of records that could not be read because they are in damaged parts of files, as far as this
    /// number is known.
    pub lost: u64,
    /// Number of documents that the user excluded from the comparison, for example by `--limit`. These
    /// documents are kept and not counted in `documents`.
    pub passed_over: u64,
    /// Number of records of web archives that are no documents, by kind.
    pub non_documents: NonDocumentCounts,
    /// Number of documents without any term. These documents are kept.
    pub without_terms: u64,
    /// Number of documents that were compared with no other, because they lack the value of the option `within`
    /// or `across`. These documents are kept.
    pub without_scope: u64,
    /// Number of documents with bytes that are not valid text and were replaced.
    pub repaired: u64,
    /// Number of list elements that the selector of the text field skipped, because they have no text.
    pub skipped_elements: u64,
    /// Number of HTML pages for each part of a page that was compared, for example the main content.
    pub pages: PageTextCounts,
    /// Number of documents that were compared without the lines that many documents have.
    pub own_texts: u64,
    /// Number of documents that were compared as a whole, because few words would remain without the lines that many
    /// documents have.
    pub few_own_words: u64,
    /// Number of bytes of the lines that were not compared, because many documents have them.
    pub left_out_bytes: u64,
    /// Number of files and parts of files that could not be read.
    pub file_faults: u64,
    /// Number of bytes of text of all documents.
    pub text_bytes: u64,
    /// Number of documents with the same ID as another document of the collection.
    pub shared_ids: u64,
}

impl ReadCounts {
    /// Returns the number of all records of the input: compared documents, excluded documents, bad records
    /// and lost records.
    #[must_use]
    pub fn records(&self) -> u64 {
        let known = self.documents + self.quarantined + self.passed_over;
        // A damaged file can claim any number of lost records, so the sum must not overflow.
        known.saturating_add(self.lost)
    }
}

/// A limit on the similarity or distance, and the number of documents that a run with this limit would
/// remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimitLevel {
    /// The limit: the minimum similarity or the maximum distance of near-duplicates.
    pub least: Closest,
    /// Number of documents that a run with this limit would remove.
    pub removed: u64,
}

/// A limit on the similarity or the distance of two documents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closest {
    /// Minimum similarity, from 0 to 1.
    Similarity(f64),
    /// Maximum number of positions in which fingerprints may differ.
    Distance(u32),
}

/// Faults of the input: the number of faults of each kind, and the places of the first faults of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    counts: BTreeMap<&'static str, u64>,
    places: Vec<FaultPlace>,
}

/// A fault of the input, with its place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// Severity of the fault: whether data was lost, or something was only unusual.
    pub severity: Severity,
    /// Stable name of the kind of fault.
    pub kind: &'static str,
    /// Name of the file, as the user wrote it.
    pub file: Vec<u8>,
    /// Number of the record in the file. `None` if the fault is not about one record.
    pub record: Option<u64>,
    /// Byte offset of the fault in the file. `None` if the fault does not belong to one offset.
    pub byte: Option<u64>,
    /// Description of what was found or expected at the place of the fault.
    pub what: String,
}

impl Faults {
    /// Maximum number of faults of each kind whose places are stored. Further faults are only counted.
    pub(crate) const PLACES: u64 = 1000;

    /// Counts a fault of this kind. If fewer than `Self::PLACES` faults of this kind were counted before,
    /// calls `place` and stores the result.
    pub fn add(&mut self, kind: &'static str, place: impl FnOnce() -> FaultPlace) {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        // A damaged file can have millions of faults, whose places would fill the memory.
        if *count <= Self::PLACES {
            self.places.push(place());
        }
    }

    /// Counts a fault that concerns a file and not one record.
    pub fn add_fault(&mut self, fault: &Fault) {
        self.add(fault.code, || FaultPlace {
            severity: fault.severity,
            kind: fault.code,
            file: fault.file.as_os_str().as_encoded_bytes().to_vec(),
            record: None,
            byte: fault.byte,
            what: fault.detail.clone(),
        });
    }

    /// Returns the number of faults of each kind. The key is the name of the kind.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Returns the places of the first `Self::PLACES` faults of each kind, in the order in which they were
    /// added.
    #[must_use]
    pub fn places(&self) -> &[FaultPlace] {
        &self.places
    }
}

impl Summary {
    /// Maximum number of input files whose state is stored. A collection may have millions of files.
    pub(crate) const INPUTS: usize = 1000;

    /// Adds `time` to the time of the stage called `stage`. If there is no such stage, it is added at the end
    /// of the list.
    pub(crate) fn add_time(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// Returns the total time of all stages.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }

    /// Returns the number of bytes of text of all documents, in queries and corpus together.
    #[must_use]
    pub(crate) fn text_bytes(&self) -> u64 {
        self.read.iter().map(|read| read.text_bytes).sum()
    }

    /// Returns whether the numbers of kept and removed documents add up to the number of compared documents,
    /// so that no document was lost.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.read.first().documents == self.kept + self.removed
    }

    /// Returns whether queries were matched with a corpus.
    #[must_use]
    pub(crate) fn is_match(&self) -> bool {
        self.read.is_two()
    }
}

#[cfg(test)]
mod tests;
