//! What was done and found, in numbers: the one source of the table, `summary.json` and the page.
//!
//! [`Summary::figures`] is the list of counts that all three show, so none of them can say another
//! number than the others.

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

/// What a summary tells.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The command line.
    pub command: String,
    /// The folder of the results, as it was named.
    pub output: String,
    /// What the user can type to look further, if there is a program for it.
    pub commands: Option<Commands>,
    /// What shaped the result, by name.
    pub parameters: Vec<(&'static str, Setting)>,
    /// What makes fingerprints and terms comparable with those of other runs.
    pub recipe: String,
    /// What a distance means, if the method has distances.
    pub distance_means: Option<String>,
    /// When the run began, if the caller has a clock.
    pub begin: Option<UtcTime>,
    /// When it ended, but for the writing of summary and page.
    pub end: Option<UtcTime>,
    /// Most bytes of memory that the process held, mapped files included, where that is known.
    pub peak_memory: Option<u64>,
    /// What was read: of the collection, or of the queries and the corpus that they are matched
    /// against.
    pub read: Sides<ReadCounts>,
    /// Documents that are kept.
    pub kept: u64,
    /// Documents that are removed.
    pub removed: u64,
    /// Bytes of text of these.
    pub removed_bytes: u64,
    /// Kept documents that others are removed for.
    pub clusters: u64,
    /// Pairs of close documents; none if they were more than the memory holds, so that not all were
    /// looked for.
    pub pairs: Option<u64>,
    /// What stricter settings would remove, the strictest first, if all pairs are known; that of the run
    /// is the last.
    pub levels: Vec<Level>,
    /// What is wrong with the input.
    pub faults: Faults,
    /// Wall time by stage.
    pub stages: Vec<(&'static str, Duration)>,
}

/// What the user can type to look further: the beginnings of command lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commands {
    /// Tells what became of a document; its ID follows.
    pub why: String,
    /// Compares two documents; `FILE:RECORD` of both follow.
    pub compare: String,
}

/// What was read of a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadCounts {
    /// Input files.
    pub files: u64,
    /// Documents that were compared.
    pub documents: u64,
    /// Records that should have been documents.
    pub quarantined: u64,
    /// Records that damaged stretches of files are known to have held, and that are lost.
    pub lost: u64,
    /// Documents that were not chosen, which are kept and not counted as documents.
    pub passed_over: u64,
    /// Documents that have no term, which are kept.
    pub without_terms: u64,
    /// Documents of which something was mended.
    pub mended: u64,
    /// Files and stretches of files that could not be read.
    pub file_faults: u64,
    /// Bytes of text of all documents.
    pub text_bytes: u64,
}

impl ReadCounts {
    /// All that went in: each record is one of these, and of nothing else.
    #[must_use]
    pub fn records(&self) -> u64 {
        let known = self.documents + self.quarantined + self.passed_over;
        // Damaged files declare what they like.
        known.saturating_add(self.lost)
    }
}

/// What settings that are as strict or stricter would remove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// How close documents must be.
    pub least: Closest,
    /// How many would be removed.
    pub removed: u64,
}

/// How close documents must be, by what is known of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Closest {
    /// At least so similar.
    Similarity(f64),
    /// At most so many bits apart.
    Distance(u32),
}

/// What is wrong with the input: how much of each kind, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    counts: BTreeMap<&'static str, u64>,
    places: Vec<FaultPlace>,
}

/// Something that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultPlace {
    /// How much it costs.
    pub severity: Severity,
    /// Stable name of the fault.
    pub kind: &'static str,
    /// The file, as the user named it.
    pub file: Vec<u8>,
    /// Number of the record in the file, if it is one that is bad.
    pub record: Option<u64>,
    /// Offset in the file, if that means anything.
    pub byte: Option<u64>,
    /// What was found there, or is expected there.
    pub what: String,
}

impl Faults {
    /// Most places of a kind that are told; the others are counted.
    pub const PLACES: u64 = 1000;

    /// Adds one.
    pub fn add(&mut self, kind: &'static str, place: impl FnOnce() -> FaultPlace) {
        let count = self.counts.entry(kind).or_insert(0);
        *count += 1;
        if *count <= Self::PLACES {
            self.places.push(place());
        }
    }

    /// Adds that of a file.
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

    /// How many there are of each kind, by name.
    #[must_use]
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// The first [`Self::PLACES`] of each kind, in the order in which they were added.
    #[must_use]
    pub fn places(&self) -> &[FaultPlace] {
        &self.places
    }
}

/// A count with its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What programs call it.
    pub key: &'static str,
    /// What people call it.
    pub name: &'static str,
    /// The count; none if it is not known.
    pub count: Option<u64>,
    /// What it is a part of, where the share is worth telling.
    pub whole: Option<u64>,
    /// What to know of it; may be empty.
    pub note: &'static str,
    /// For whom it is.
    pub audience: Audience,
}

/// For whom a [`Figure`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Everyone.
    Everyone,
    /// Programs; people where it is not 0.
    IfAny,
    /// Programs.
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

    /// Whether people are shown it.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        match self.audience {
            Audience::Everyone => true,
            Audience::IfAny => self.count != Some(0),
            Audience::Programs => false,
        }
    }
}

impl Summary {
    /// Adds to the time of a stage.
    pub fn add_time(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => self.stages.push((stage, time)),
        }
    }

    /// The time of all stages.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.stages.iter().map(|(_, time)| *time).sum()
    }

    /// Bytes of text of all that was read.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        self.read.iter().map(|read| read.text_bytes).sum()
    }

    /// Whether everything that was read is accounted for.
    #[must_use]
    pub fn is_conserved(&self) -> bool {
        self.read.first().documents == self.kept + self.removed
    }

    /// Whether documents were matched against those of another collection.
    #[must_use]
    pub fn is_match(&self) -> bool {
        self.read.is_two()
    }

    /// All counts, in the order in which they are shown: of the documents of which some may go, and
    /// behind them of the corpus that they were matched against, if it is another.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        let read = self.read.first();
        let names = if self.is_match() { &OF_QUERIES } else { &OF_DOCUMENTS };
        let new = |key, name, count: u64| Figure::new(key, name, count);
        let pairs = Figure::new("pairs", "pairs", self.pairs);
        let many = "more than the memory holds: not all were looked for";
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
                .note("not chosen: kept, and compared with nothing"),
            new("mended", "mended", read.mended)
                .if_any()
                .note("bytes that were no text were replaced"),
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
                    .note("not chosen: compared with nothing"),
                new("corpus_mended", "  mended", corpus.mended)
                    .if_any()
                    .note("bytes that were no text were replaced"),
                new("corpus_file_faults", "  file faults", corpus.file_faults)
                    .if_any()
                    .note("files, or parts of them, that could not be read"),
                new("corpus_text_bytes", "bytes of text", corpus.text_bytes).for_programs(),
            ]);
        }
        figures
    }
}

/// What people call the counts of the documents of which some may go.
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
    kept: "like no document of the corpus",
    removed: "like one of the corpus",
    clusters: "matched",
    clusters_note: "documents of the corpus that queries are like",
};

#[cfg(test)]
mod tests;
