//! The numbers of a run. The table on the terminal, `summary.json` and the page all show them.
//!
//! All three take their counts from [`Summary::figures`], so the counts cannot disagree.

mod json;
mod setting;
mod short;
mod table;

pub(in crate::write) use json::write_list;
pub use json::write_summary;
pub use setting::Setting;
pub(crate) use short::ShortSummary;
pub(in crate::write) use table::counts_table;
pub use table::table;

use super::shared_words::Templates;
use simtool_base::fault::{Fault, Severity};
use simtool_base::utc_time::UtcTime;
use simtool_model::non_document::NonDocumentCounts;
use simtool_model::sides::Sides;
use std::collections::BTreeMap;
use std::time::Duration;

/// The numbers and settings of a run.
///
/// ```
/// use simtool::sides::Sides;
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
    /// Beginnings of command lines that show the results in detail. `None` if the results do not come from
    /// the command line program.
    /// Folder in which the run was started. Relative paths of the command line and the output begin there. `None` if
    /// the system does not say it.
    pub working_folder: Option<String>,
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
    /// Dates by which kept documents are chosen. `None` if the date does not decide that.
    pub dates: Option<Dates>,
    /// Number of bytes of text of the removed documents.
    pub removed_bytes: u64,
    /// Number of kept documents in whose favour other documents are removed.
    pub clusters: u64,
    /// Listed clusters whose documents look like pages of one template.
    pub templates: Templates,
    /// Number of removed documents whose ID a kept document has, too.
    pub ambiguous_ids: u64,
    /// Number of documents whose records were copied without the columns that `--annotate=in-place` adds.
    pub unannotated: u64,
    /// Number of pairs of near-duplicates. `None` if there were too many pairs, so that only the pairs
    /// that affect the removals were searched.
    pub pairs: Option<u64>,
    /// Limits on the similarity or distance, each with the number of documents that a run with this limit
    /// would remove. Stricter limits come first, and the limit of the run is last. Empty if the run did not
    /// search all pairs.
    pub levels: Vec<LimitLevel>,
    /// Faults of the input, which are bad records, and damaged or unreadable files.
    pub faults: Faults,
    /// Name and wall-clock time of each stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// Dates of the documents, by which kept documents are chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dates {
    /// Names of the fields from which the dates are taken.
    pub fields: Vec<String>,
    /// Number of documents without a date. They are kept only if no similar document has a date.
    pub without: u64,
}

/// Beginnings of command lines that show results in detail.
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

/// Explanation of the number of pages without a main content.
const WHOLE_PAGES: &str = "pages without a main content: their whole text was compared";

/// Explanation of the number of documents that are outside the scope of the comparison.
const WITHOUT_SCOPE: &str = "without a value for within or across: kept";

/// Explanation of the number of documents whose copies have no added columns.
const UNANNOTATED: &str =
    "copied without columns: their records have no fields of their own, or have these";

/// Explanation of the number of documents that were compared without boilerplate.
const OWN_TEXTS: &str = "compared without lines that many documents have";

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
    /// Number of pages whose main content was wanted, but which have none and were read as a whole.
    pub whole_pages: u64,
    /// Number of documents that were compared without lines that many documents have.
    pub own_texts: u64,
    /// Number of bytes of these lines.
    pub left_out_bytes: u64,
    /// Number of files and parts of files that could not be read.
    pub file_faults: u64,
    /// Number of bytes of text of all documents.
    pub text_bytes: u64,
    /// Number of documents whose ID another document of the collection has, too.
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
    pub const PLACES: u64 = 1000;

    /// Counts a fault of this kind. If fewer than [`Self::PLACES`] faults of this kind were counted before,
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

    /// Returns the places of the first [`Self::PLACES`] faults of each kind, in the order in which they were
    /// added.
    #[must_use]
    pub fn places(&self) -> &[FaultPlace] {
        &self.places
    }
}

/// A count of the summary, such as the number of documents, with its names for programs and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Name of the field in `summary.json`.
    pub key: &'static str,
    /// Name of the count in the table on the terminal and on the page.
    pub name: &'static str,
    /// The count. `None` if it is not known.
    pub count: Option<u64>,
    /// Count that corresponds to 100 % when `count` is also shown as a percentage. `None` if no percentage is
    /// shown.
    pub whole: Option<u64>,
    /// Remark for people that is shown next to the count. May be empty.
    pub note: &'static str,
    /// Readers to whom the count is shown.
    pub audience: Audience,
}

/// Readers to whom a [`Figure`] is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Programs and people see the count.
    Everyone,
    /// Programs always see the count. People see it only if it is not 0.
    IfAny,
    /// Only programs see the count, in `summary.json`.
    Programs,
}

impl Figure {
    fn new(key: &'static str, name: &'static str, count: impl Into<Option<u64>>) -> Self {
        let count = count.into();
        Self { key, name, count, whole: None, note: "", audience: Audience::Everyone }
    }

    fn of(self, whole: u64) -> Self {
        Self { whole: Some(whole), ..self }
    }

    fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    fn if_any(self) -> Self {
        Self { audience: Audience::IfAny, ..self }
    }

    fn for_programs(self) -> Self {
        Self { audience: Audience::Programs, ..self }
    }

    /// Returns whether people see the count.
    #[must_use]
    pub(crate) fn is_for_people(&self) -> bool {
        match self.audience {
            Audience::Everyone => true,
            Audience::IfAny => self.count != Some(0),
            Audience::Programs => false,
        }
    }
}

impl Summary {
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
    pub fn text_bytes(&self) -> u64 {
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
    pub fn is_match(&self) -> bool {
        self.read.is_two()
    }

    /// Returns all counts in the order in which they are shown. In a match, the counts of the corpus follow
    /// the counts of the queries.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let read = self.read.first();
        let names = if self.is_match() { &OF_QUERIES } else { &OF_DOCUMENTS };
        let new = |key, name, count: u64| Figure::new(key, name, count);
        let pairs = Figure::new("pairs", "pairs", self.pairs);
        let many = "not counted: there are too many pairs";
        let mut figures = vec![
            new("files", names.files, read.files),
            new("records_in", "records", read.records()).for_programs(),
            new("documents", names.documents, read.documents),
            new("kept", "kept", self.kept).of(read.documents).note(names.kept),
            new("removed", "removed", self.removed).of(read.documents).note(names.removed),
            new("clusters", names.clusters, self.clusters).note(names.clusters_note),
            new("template_clusters", "templates", self.templates.clusters)
                .if_any()
                .note("clusters that may be pages of one template: look at them before you delete"),
            new("template_removed", "removed as templates", self.templates.removed).for_programs(),
            pairs.note(if self.pairs.is_none() { many } else { "" }),
            new("without_terms", "without words", read.without_terms),
            new("quarantined", "quarantined", read.quarantined),
            new("lost", "lost", read.lost).if_any().note("rows of damaged files"),
            new("passed_over", "passed over", read.passed_over)
                .if_any()
                .note("excluded by the selection: kept without comparison"),
            new("not_compared", "not compared", read.without_scope).if_any().note(WITHOUT_SCOPE),
            new("mended", "repaired", read.repaired)
                .if_any()
                .note("bytes that are not text were replaced"),
            new("whole_pages", "whole pages", read.whole_pages).if_any().note(WHOLE_PAGES),
            new("own_texts", "without boilerplate", read.own_texts).if_any().note(OWN_TEXTS),
            new("left_out_bytes", "bytes left out", read.left_out_bytes).if_any().for_programs(),
            new("file_faults", "file faults", read.file_faults)
                .if_any()
                .note("files, or parts of them, that could not be read"),
            new("shared_ids", "shared IDs", read.shared_ids)
                .if_any()
                .note("documents whose ID another document has, too"),
            new("ambiguous_ids", "ambiguous IDs", self.ambiguous_ids)
                .if_any()
                .note("removed documents whose ID a kept document has, too"),
            new("unannotated", "not annotated", self.unannotated).if_any().note(UNANNOTATED),
            new("text_bytes", "bytes of text", read.text_bytes).for_programs(),
            new("removed_bytes", "bytes of text removed", self.removed_bytes).for_programs(),
        ];
        if let Some(dates) = &self.dates {
            let without = new("without_date", "without date", dates.without);
            figures.push(
                without.note(
                    "no date, or none that is understood: documents with a date are preferred",
                ),
            );
        }
        if let Sides::Two(_, corpus) = &self.read {
            figures.extend([
                new("corpus_files", "corpus files", corpus.files),
                new("corpus_documents", "corpus documents", corpus.documents),
                new("corpus_without_terms", "  without words", corpus.without_terms).if_any(),
                new("corpus_quarantined", "  quarantined", corpus.quarantined).if_any(),
                new("corpus_lost", "  lost", corpus.lost).if_any().note("rows of damaged files"),
                new("corpus_passed_over", "  passed over", corpus.passed_over)
                    .if_any()
                    .note("excluded by the selection: not compared"),
                new("corpus_not_compared", "  not compared", corpus.without_scope)
                    .if_any()
                    .note(WITHOUT_SCOPE),
                new("corpus_mended", "  repaired", corpus.repaired)
                    .if_any()
                    .note("bytes that are not text were replaced"),
                new("corpus_whole_pages", "  whole pages", corpus.whole_pages)
                    .if_any()
                    .note(WHOLE_PAGES),
                new("corpus_own_texts", "  without boilerplate", corpus.own_texts)
                    .if_any()
                    .note(OWN_TEXTS),
                new("corpus_left_out_bytes", "bytes left out", corpus.left_out_bytes)
                    .if_any()
                    .for_programs(),
                new("corpus_file_faults", "  file faults", corpus.file_faults)
                    .if_any()
                    .note("files, or parts of them, that could not be read"),
                new("corpus_shared_ids", "  shared IDs", corpus.shared_ids)
                    .if_any()
                    .note("documents whose ID another document has, too"),
                new("corpus_text_bytes", "bytes of text", corpus.text_bytes).for_programs(),
            ]);
        }
        figures.extend(self.non_document_figures());
        figures
    }

    /// Returns the counts of records of web archives that are no documents, for the kinds that occur. People
    /// do not see kinds that ordinary archives have.
    fn non_document_figures(&self) -> impl Iterator<Item = Figure> {
        let mut counts = NonDocumentCounts::default();
        self.read.iter().for_each(|read| counts += read.non_documents);
        let kinds: Vec<_> = counts.kinds().collect();
        kinds.into_iter().map(|(kind, count)| {
            let figure = Figure::new(kind.key(), kind.title(), count)
                .note("records of web archives without a text to compare");
            if kind.is_routine() { figure.for_programs() } else { figure }
        })
    }
}

/// Names and remarks of some counts, which are different for `dedup` and for `match`.
struct Names {
    files: &'static str,
    documents: &'static str,
    kept: &'static str,
    removed: &'static str,
    clusters: &'static str,
    clusters_note: &'static str,
}

const OF_DOCUMENTS: Names = Names {
    files: "files",
    documents: "documents",
    kept: "",
    removed: "",
    clusters: "clusters",
    clusters_note: "",
};

const OF_QUERIES: Names = Names {
    files: "query files",
    documents: "queries",
    kept: "similar to no document of the corpus",
    removed: "similar to a document of the corpus",
    clusters: "matched",
    clusters_note: "documents of the corpus that queries are similar to",
};

#[cfg(test)]
mod tests;
