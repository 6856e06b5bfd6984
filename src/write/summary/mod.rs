//! The numbers of a run: the only source of the table on the terminal, `summary.json` and the page.
//!
//! All three show the counts of [`Summary::figures`], so they cannot disagree.

mod json;
mod setting;
mod table;

pub use json::write_summary;
pub use setting::Setting;
pub use table::table;

use simtool_base::fault::{Fault, Severity};
use simtool_base::utc_time::UtcTime;
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
    /// The command line.
    pub command: String,
    /// The folder of the results, as the user named it.
    pub output: String,
    /// Command lines for a closer look, if the results come from the program.
    pub commands: Option<Commands>,
    /// Settings that shaped the result, by name.
    pub parameters: Vec<(&'static str, Setting)>,
    /// Recipe of the method. Fingerprints and terms are comparable only between equal recipes.
    pub recipe: String,
    /// A sentence about the meaning of distances, if the method has them.
    pub distance_means: Option<String>,
    /// Start of the run, if the caller has a clock.
    pub begin: Option<UtcTime>,
    /// End of the run, before the summary and the page were written.
    pub end: Option<UtcTime>,
    /// Peak memory of the process in bytes, mapped files included, if the system reports it.
    pub peak_memory: Option<u64>,
    /// Counts of the collection that was read, or of the queries and the corpus.
    pub read: Sides<ReadCounts>,
    /// Documents that are kept.
    pub kept: u64,
    /// Documents that are removed.
    pub removed: u64,
    /// Bytes of text of the removed documents.
    pub removed_bytes: u64,
    /// Kept documents that others are removed for.
    pub clusters: u64,
    /// Number of pairs of close documents. `None` if they did not fit in memory: then only the pairs
    /// that decide what to remove were searched.
    pub pairs: Option<u64>,
    /// Numbers of documents that stricter limits would remove, strictest first. The limit of the run
    /// is last. Empty if not all pairs are known.
    pub levels: Vec<Level>,
    /// Faults of the input.
    pub faults: Faults,
    /// Wall time of each stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// Beginnings of command lines for a closer look at the results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Shows what happened to a document; its ID follows.
    pub why: String,
    /// Compares two documents; `FILE:RECORD` of each follows.
    pub compare: String,
}

/// Counts of a collection that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Input files.
    pub files: u64,
    /// Documents that were compared.
    pub documents: u64,
    /// Records that should have been documents.
    pub quarantined: u64,
    /// Records that were in damaged parts of files and are lost, as far as their number is known.
    pub lost: u64,
    /// Documents that the selection (for example `--limit`) excluded. They are kept, and not counted
    /// in `documents`.
    pub passed_over: u64,
    /// Documents without any term. They are kept.
    pub without_terms: u64,
    /// Documents in which bytes that are not text were replaced.
    pub mended: u64,
    /// Files and parts of files that could not be read.
    pub file_faults: u64,
    /// Bytes of text of all documents.
    pub text_bytes: u64,
}

impl ReadCounts {
    /// All records of the input. Each record is counted in exactly one of the fields added here.
    #[must_use]
    pub fn records(&self) -> u64 {
        let known = self.documents + self.quarantined + self.passed_over;
        // A damaged file can declare any number of lost records.
        known.saturating_add(self.lost)
    }
}

/// Number of documents that a limit would remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The limit: how close documents must be.
    pub least: Closest,
    /// Number of documents that would be removed.
    pub removed: u64,
}

/// A limit for similarities or for distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closest {
    /// Least similarity.
    Similarity(f64),
    /// Greatest distance in bits.
    Distance(u32),
}

/// Faults of the input: the number of each kind, and the first places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    counts: BTreeMap<&'static str, u64>,
    places: Vec<FaultPlace>,
}

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// Whether data was lost.
    pub severity: Severity,
    /// Stable name of the fault.
    pub kind: &'static str,
    /// The file, as the user named it.
    pub file: Vec<u8>,
    /// Number of the record in the file, if the fault is a bad record.
    pub record: Option<u64>,
    /// Offset in the file, if the fault has one.
    pub byte: Option<u64>,
    /// Description: what was found there, or what was expected.
    pub what: String,
}

impl Faults {
    /// Most places that are stored for each kind. Further faults are only counted.
    pub const PLACES: u64 = 1000;

    /// Counts a fault, and stores its place if there are few of its kind.
    pub fn add(&mut self, kind: &'static str, place: impl FnOnce() -> FaultPlace) {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        // A damaged file can have millions of faults, whose places would fill the memory.
        if *count <= Self::PLACES {
            self.places.push(place());
        }
    }

    /// Counts a fault of a file.
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

    /// Number of faults of each kind, by name.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Places of the first [`Self::PLACES`] faults of each kind, in the order in which they were
    /// added.
    #[must_use]
    pub fn places(&self) -> &[FaultPlace] {
        &self.places
    }
}

/// A count, with its names for programs and for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Key in `summary.json`.
    pub key: &'static str,
    /// Name in the table and on the page.
    pub name: &'static str,
    /// The count; `None` if it is not known.
    pub count: Option<u64>,
    /// The count of which this is a share, if the share is shown.
    pub whole: Option<u64>,
    /// A remark for people; may be empty.
    pub note: &'static str,
    /// Who sees the count.
    pub audience: Audience,
}

/// Who sees a [`Figure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone.
    Everyone,
    /// Programs always; people if it is not 0.
    IfAny,
    /// Only programs.
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

    /// Whether people see the count.
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
    /// Adds `time` to the time of `stage`. A new stage is appended.
    pub(crate) fn add_time(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// Total time of all stages.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }

    /// Bytes of text of all documents, queries and corpus together.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.read.iter().map(|read| read.text_bytes).sum()
    }

    /// Whether every document was either kept or removed.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.read.first().documents == self.kept + self.removed
    }

    /// Whether documents were matched against those of another collection.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.read.is_two()
    }

    /// Returns all counts in the order in which they are shown. The counts of the corpus follow those
    /// of the queries, if there are queries.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let read = self.read.first();
        let names = if self.is_match() { &OF_QUERIES } else { &OF_DOCUMENTS };
        let new = |key, name, count: u64| Figure::new(key, name, count);
        let pairs = Figure::new("pairs", "pairs", self.pairs);
        let many = "not counted: the pairs do not fit in memory";
        let mut figures = vec![
            new("files", names.files, read.files),
            new("records_in", "records", read.records()).for_programs(),
            new("documents", names.documents, read.documents),
            new("kept", "kept", self.kept).of(read.documents).note(names.kept),
            new("removed", "removed", self.removed).of(read.documents).note(names.removed),
            new("clusters", names.clusters, self.clusters).note(names.clusters_note),
            pairs.note(if self.pairs.is_none() { many } else { "" }),
            new("without_terms", "without words", read.without_terms),
            new("quarantined", "quarantined", read.quarantined),
            new("lost", "lost", read.lost).if_any().note("rows of damaged files"),
            new("passed_over", "passed over", read.passed_over)
                .if_any()
                .note("excluded by the selection: kept without comparison"),
            new("mended", "repaired", read.mended)
                .if_any()
                .note("bytes that are not text were replaced"),
            new("file_faults", "file faults", read.file_faults)
                .if_any()
                .note("files, or parts of them, that could not be read"),
            new("text_bytes", "bytes of text", read.text_bytes).for_programs(),
            new("removed_bytes", "bytes of text removed", self.removed_bytes).for_programs(),
        ];
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
                new("corpus_mended", "  repaired", corpus.mended)
                    .if_any()
                    .note("bytes that are not text were replaced"),
                new("corpus_file_faults", "  file faults", corpus.file_faults)
                    .if_any()
                    .note("files, or parts of them, that could not be read"),
                new("corpus_text_bytes", "bytes of text", corpus.text_bytes).for_programs(),
            ]);
        }
        figures
    }
}

/// Names of the counts, which differ between `dedup` and `match`.
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
