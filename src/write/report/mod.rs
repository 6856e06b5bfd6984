//! The result of a run as one page for people.
//!
//! * The page is one HTML file. It loads nothing, and its content policy forbids loading.
//! * Its only script searches the clusters by ID; everything else works without scripts.
//! * It supports light and dark mode, printing, small screens and keyboards. Tables repeat the
//!   numbers of the charts.
//! * Text from the input is escaped (see `escape`) and shortened, so the page has a bounded size.
//! * Equal results give equal bytes.
//!
//! All counts come from the [`Summary`](super::summary::Summary), so they agree with the table on
//! the terminal and with `summary.json`.

mod charts;
mod clusters;
mod escape;
mod examples;
mod head;
mod histograms;
mod levels;
mod page;
mod piece;
mod run;
mod sources;
mod tables;
mod unread;

pub(super) use escape::{Cut, Line, Lines};
pub(super) use page::STYLE;
pub use page::write_report;
pub use piece::write_charts;

use std::collections::BTreeMap;

/// Most example pairs on the page.
pub const EXAMPLES: usize = 12;
/// Most clusters that are listed.
pub(crate) const CLUSTERS: usize = 100;
/// Most removed documents of a cluster that are listed.
pub(crate) const MEMBERS: usize = 20;
/// Most rows and most columns in the table of sources.
pub(crate) const SOURCES: usize = 10;
/// Most quarantined records that are listed, and most faults of files.
pub(crate) const BAD_RECORDS: usize = 50;

/// The content of the page in addition to the summary. Bytes come from the input and may be anything;
/// strings come from simtool or from the command line.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Name of the collection, or names of the queries and the corpus.
    pub titles: Vec<String>,
    /// Similarities of removed documents to the kept ones, if the method has any.
    pub similarities: Option<Similarities>,
    /// Number of removed documents by distance in bits, from 0, if the method has any.
    pub distances: Option<Vec<u64>>,
    /// Removed documents that only a chain of others links to the kept one.
    pub unlinked: u64,
    /// Number of clusters by number of documents. For queries: number of documents of the corpus by
    /// number of similar queries.
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// The largest clusters, largest first; [`CLUSTERS`] are shown.
    pub clusters: Vec<Cluster>,
    /// Files or folders that the removed documents came from.
    pub sources: Sources,
    /// Pairs to look at; [`EXAMPLES`] are shown.
    pub examples: Vec<Example>,
    /// Records that are not documents, in reading order; [`BAD_RECORDS`] are shown.
    pub quarantined: Vec<QuarantinedRecord>,
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

    /// Creates an empty histogram of similarities from `from`, which is below 1, to 1.
    #[must_use]
    pub fn new(from: f64) -> Self {
        // A threshold of 1 would give bins without width, and dividing by the width would fail.
        Self { from: if (0.0..1.0).contains(&from) { from } else { 0.0 }, bins: [0; 20], equal: 0 }
    }

    /// Adds `count` pairs with this similarity. Similarity 1 has its own count.
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
    /// ID of the document.
    pub id: Vec<u8>,
    /// File of the document, as the user named it.
    pub file: Vec<u8>,
    /// Number of its record in the file.
    pub record: u64,
}

/// A kept document with documents that were removed for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// The kept document.
    pub kept: Name,
    /// Number of documents removed for it.
    pub removed: u64,
    /// Some of the removed documents; [`MEMBERS`] are shown.
    pub members: Vec<Member>,
    /// The beginning of a text, if one was read.
    pub preview: Option<Preview>,
}

/// A removed document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The document.
    pub name: Name,
    /// Similarity or distance to the kept document, in words. Empty if only other documents link the
    /// two.
    pub closeness: String,
}

/// The beginning of a text from a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The text.
    pub text: Vec<u8>,
    /// Whether the text is of the kept document, and not of a removed one.
    pub is_of_kept: bool,
}

/// Files or folders, and the files or folders whose documents they repeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The sources from which most documents were removed, in descending order.
    pub rows: Vec<Source>,
    /// Names of the sources of the kept documents, in descending order of the documents that were
    /// removed for them.
    pub columns: Vec<Vec<u8>>,
    /// Number of all sources, including those without a row.
    pub sources: u64,
    /// Whether rows and columns are sources of one collection.
    pub is_one_collection: bool,
}

/// A file or folder, and how much was removed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the file or folder.
    pub name: Vec<u8>,
    /// Number of its documents.
    pub documents: u64,
    /// Number of its documents that were removed.
    pub removed: u64,
    /// For each of [`Sources::columns`], the number of documents that were removed for a document
    /// there.
    pub repeats: Vec<u64>,
}

/// A removed document and the document that is kept in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// The kept document.
    pub kept: Name,
    /// The removed document.
    pub removed: Name,
    /// Similarity or distance in words, for example `similarity 0.9`.
    pub closeness: String,
    /// The kept text.
    pub kept_text: Vec<u8>,
    /// The removed text.
    pub removed_text: Vec<u8>,
}

/// A record that is not a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedRecord {
    /// The file.
    pub file: Vec<u8>,
    /// Number of the record in the file.
    pub record: u64,
    /// Offset of its first byte.
    pub byte: u64,
    /// Stable name of the fault.
    pub code: &'static str,
    /// Description of a good record.
    pub expected: String,
}

#[cfg(test)]
mod tests;
