//! The result of a run as an HTML page for people.
//!
//! * The page is one file. It loads nothing, and its content security policy forbids loading.
//! * Its only script searches the clusters by ID. Everything else works without scripts.
//! * It supports light and dark mode, printing, small screens and keyboards. Tables repeat the numbers of the
//!   charts.
//! * Text from the input is escaped (see `escape`) and shortened, so the size of the page is limited.
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

/// Maximum number of example pairs on the page.
pub const EXAMPLES: usize = 12;
/// Maximum number of clusters that are listed.
pub(crate) const CLUSTERS: usize = 100;
/// Maximum number of removed documents that are listed for each cluster.
pub(crate) const MEMBERS: usize = 20;
/// Maximum number of rows in the table of sources, and maximum number of its columns.
pub(crate) const SOURCES: usize = 10;
/// Maximum number of bad records that are listed, and maximum number of faults of files that are listed.
pub(crate) const BAD_RECORDS: usize = 50;

/// Content of the page in addition to the summary. Fields of type `Vec<u8>` come from the input and may
/// contain any bytes. Strings come from simtool or from the command line.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Names of the collections for the heading: one name, or the names of the queries and the corpus.
    pub titles: Vec<String>,
    /// Similarities of removed documents to the kept ones. `None` if the method computes none.
    pub similarities: Option<Similarities>,
    /// For each distance from 0, the number of documents removed at this distance. `None` if the method has
    /// no fingerprints.
    pub distances: Option<Vec<u64>>,
    /// Number of removed documents that were not compared with the kept document, because only a chain of
    /// other documents links them to it.
    pub unlinked: u64,
    /// For each cluster size (number of documents), the number of clusters with this size. In a match, for
    /// each number of similar queries, the number of documents of the corpus with this number.
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// Largest clusters, largest first. The page shows at most the first 100.
    pub clusters: Vec<Cluster>,
    /// Table of the files or folders from which documents were removed, and of the places of the kept
    /// documents.
    pub sources: Sources,
    /// Pairs of a removed and a kept document. At most [`EXAMPLES`] are shown.
    pub examples: Vec<Example>,
    /// Records that could not be read as documents, in reading order. The page shows at most the first 50.
    pub quarantined: Vec<QuarantinedRecord>,
}

/// A histogram of similarities: 20 bins of equal width up to 1, and a separate count for similarity 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    from: f64,
    bins: [u64; Self::BINS],
    equal: u64,
}

impl Similarities {
    const BINS: usize = 20;

    /// Creates an empty histogram of similarities from `from` to 1. If `from` is not below 1, it begins at 0.
    #[must_use]
    pub fn new(from: f64) -> Self {
        // A lower end of 1 would give bins of width 0, and dividing by the width would fail.
        Self { from: if (0.0..1.0).contains(&from) { from } else { 0.0 }, bins: [0; 20], equal: 0 }
    }

    /// Adds `count` pairs with this similarity. Pairs with similarity 1 are counted separately.
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

/// Name of a document: its ID, its file and its record number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// ID of the document.
    pub id: Vec<u8>,
    /// File of the document, as the user named it.
    pub file: Vec<u8>,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
}

/// A kept document, with some of the documents that were removed in its favour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Name of the kept document.
    pub kept: Name,
    /// Number of documents that were removed in favour of the kept document.
    pub removed: u64,
    /// Some of the removed documents. The page shows at most the first 20.
    pub members: Vec<Member>,
    /// Beginning of the text of a document of the cluster. `None` if no text was read again.
    pub preview: Option<Preview>,
}

/// A removed document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Name of the document.
    pub name: Name,
    /// Similarity or distance to the kept document in words. Empty if the two were not compared, because only
    /// other documents link them.
    pub closeness: String,
}

/// Beginning of the text of one document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Bytes of the beginning of the text.
    pub text: Vec<u8>,
    /// Whether the text is from the kept document. Otherwise it is from a removed document.
    pub is_of_kept: bool,
}

/// Table of the sources of documents. A source is a file or a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Sources from which most documents were removed, in descending order. They are the rows of the table.
    pub rows: Vec<Source>,
    /// Names of the sources that hold the kept documents. They are the columns of the table. The first column
    /// is the source whose documents replace the most removed documents.
    pub columns: Vec<Vec<u8>>,
    /// Number of all sources, including sources without a row.
    pub sources: u64,
    /// Whether the rows and the columns are sources of the same collection, so that a source can have both a
    /// row and a column.
    pub is_one_collection: bool,
}

/// Row of the table of sources: a file or folder, and the number of documents that were removed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of the file or folder.
    pub name: Vec<u8>,
    /// Number of documents of the source.
    pub documents: u64,
    /// Number of documents of the source that were removed.
    pub removed: u64,
    /// For each column in [`Sources::columns`], the number of documents of this source that were removed in
    /// favour of a document of the column's source.
    pub repeats: Vec<u64>,
}

/// A removed document and the document that is kept in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of the kept document.
    pub kept: Name,
    /// Name of the removed document.
    pub removed: Name,
    /// Similarity or distance in words, for example `similarity 0.9`.
    pub closeness: String,
    /// Text of the kept document, possibly cut.
    pub kept_text: Vec<u8>,
    /// Text of the removed document, possibly cut.
    pub removed_text: Vec<u8>,
}

/// A record that could not be read as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedRecord {
    /// File of the record.
    pub file: Vec<u8>,
    /// Number of the record in the file, counted from 0.
    pub record: u64,
    /// Byte offset of the record in the file, after decompression.
    pub byte: u64,
    /// Stable name of the fault of the record.
    pub code: &'static str,
    /// Description of what a good record would have at this place.
    pub expected: String,
}

#[cfg(test)]
mod tests;
