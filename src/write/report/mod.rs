//! What a run found, as one page for a person.
//!
//! One HTML file that needs nothing else: no network, no fonts, no script (its own content policy
//! forbids them). It follows the reader's choice of light or dark, prints, and says in tables what
//! its charts show. What comes from outside passes `escape` on its way to the page. Equal data
//! give equal bytes.

mod charts;
mod escape;
mod numbers;
mod page;

use crate::fault::Fault;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

/// Most example pairs on a page.
pub const EXAMPLES: usize = 20;
/// Most clusters that are listed.
pub const CLUSTERS: usize = 10;
/// Most sources that are listed.
pub const SOURCES: usize = 10;
/// Most quarantined records that are listed.
pub const BAD_RECORDS: usize = 50;

/// Everything that the page shows. Bytes are from outside and may be anything; strings are ours
/// or the user's own.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the page is about, such as the inputs' names.
    pub title: String,
    /// The command line.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Settings by name.
    pub parameters: Vec<(String, String)>,
    /// What went in and out.
    pub counts: Counts,
    /// Time by stage.
    pub stages: Vec<Stage>,
    /// Similarities of the pairs or removals, if the method has any.
    pub similarities: Option<Similarities>,
    /// Number of pairs or removals by distance in bits, from 0, if the method has any.
    pub distances: Option<Vec<u64>>,
    /// What a distance means, as the end of a sentence; empty if the method has none.
    pub distance_means: String,
    /// Number of clusters by number of documents.
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// The largest clusters, largest first; [`CLUSTERS`] are shown.
    pub largest_clusters: Vec<Cluster>,
    /// Where most of what was removed came from, most first; [`SOURCES`] are shown.
    pub sources: Vec<Source>,
    /// Pairs to look at; [`EXAMPLES`] are shown.
    pub examples: Vec<Example>,
    /// Records that are no documents, in reading order; [`BAD_RECORDS`] are shown.
    pub quarantined: Vec<QuarantinedRecord>,
    /// What was wrong with files.
    pub faults: Vec<Fault>,
}

/// What went in and out. Documents are those kept, removed and quarantined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Documents that went in.
    pub documents: u64,
    /// Documents that stay.
    pub kept: u64,
    /// Documents like one that was kept.
    pub removed: u64,
    /// Records that could not be read.
    pub quarantined: u64,
    /// Documents without any word, which are kept.
    pub without_words: u64,
    /// Pairs that were found.
    pub pairs: u64,
    /// Bytes of text that went in.
    pub bytes: u64,
    /// Bytes of text that were removed.
    pub removed_bytes: u64,
}

/// A part of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What was done.
    pub name: String,
    /// How long it took.
    pub time: Duration,
    /// Bytes that went through it, 0 where that means nothing.
    pub bytes: u64,
}

/// A histogram of similarities, in bins of equal width from the threshold to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    from: f64,
    bins: [u64; Self::BINS],
    equal: u64,
}

impl Similarities {
    const BINS: usize = 20;

    /// No similarities yet, all to be at least `from`, which is below 1.
    #[must_use]
    pub fn new(from: f64) -> Self {
        Self { from: if (0.0..1.0).contains(&from) { from } else { 0.0 }, bins: [0; 20], equal: 0 }
    }

    /// Counts `count` pairs of that similarity; 1 is counted by itself.
    pub fn add(&mut self, similarity: f64, count: u64) {
        if similarity >= 1.0 {
            self.equal += count;
        } else {
            let share = (similarity - self.from) / (1.0 - self.from);
            #[expect(clippy::cast_sign_loss, reason = "the number is from 0 to the number of bins")]
            let bin = (share * Self::BINS as f64).clamp(0.0, Self::BINS as f64 - 1.0) as usize;
            self.bins[bin] += count;
        }
    }
}

/// A document by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Its ID.
    pub id: Vec<u8>,
    /// Its file, as the user named it.
    pub file: Vec<u8>,
    /// Its record in the file.
    pub record: u64,
}

/// A kept document with those removed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The kept document.
    pub kept: Name,
    /// Number of documents, the kept one included.
    pub size: u64,
}

/// A file or host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: Vec<u8>,
    /// Number of documents removed from it.
    pub removed: u64,
}

/// A removed document beside the one kept in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The kept document.
    pub kept: Name,
    /// The removed one.
    pub removed: Name,
    /// How alike they are, in words: `similarity 0.9`, `distance 3`.
    pub closeness: String,
    /// The kept text.
    pub kept_text: Vec<u8>,
    /// The removed text.
    pub removed_text: Vec<u8>,
}

/// A record that is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedRecord {
    /// The file.
    pub file: Vec<u8>,
    /// Number of the record in the file.
    pub record: u64,
    /// Offset of its first byte.
    pub byte: u64,
    /// Stable name of what is wrong.
    pub code: &'static str,
    /// What a good record has there.
    pub expected: String,
}

/// Writes the page.
///
/// # Errors
///
/// Those of `out`.
pub fn write_report(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    page::write(out, report)
}

#[cfg(test)]
mod tests;
