//! What a run found, as one page for a person.
//!
//! One HTML file that needs nothing else: no network, no fonts (its own content policy forbids
//! them). What matters needs no script; the one that it has searches the clusters by ID. It follows
//! the reader's choice of light or dark, prints, is read on a telephone and by keyboard, and says in
//! tables what its charts show. What comes from outside passes `escape` on its way to the page, and
//! is cut where it is long, so the page has a bounded size. Equal data give equal bytes.
//!
//! All counts are those of the [`Summary`](super::summary::Summary), which the table and
//! `summary.json` show too.

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

/// Most example pairs on a page.
pub const EXAMPLES: usize = 12;
/// Most clusters that are listed.
pub const CLUSTERS: usize = 100;
/// Most removed documents of a cluster that are listed.
pub const MEMBERS: usize = 20;
/// Most sources that are listed, and most that they are held against.
pub const SOURCES: usize = 10;
/// Most quarantined records that are listed, and most faults of files.
pub const BAD_RECORDS: usize = 50;

/// What the page shows beside the summary. Bytes are from outside and may be anything; strings are
/// ours or the user's own.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What was read: the collection's name, or the queries' and the corpus's.
    pub titles: Vec<String>,
    /// Similarities of removed documents to the kept ones, if the method has any.
    pub similarities: Option<Similarities>,
    /// Number of removed documents by distance in bits, from 0, if the method has any.
    pub distances: Option<Vec<u64>>,
    /// Removed documents that only a chain of others links to the kept one.
    pub unlinked: u64,
    /// Number of clusters by number of documents; of documents of a corpus by number of queries.
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// The largest clusters, largest first; [`CLUSTERS`] are shown.
    pub clusters: Vec<Cluster>,
    /// Where what was removed came from.
    pub sources: Sources,
    /// Pairs to look at; [`EXAMPLES`] are shown.
    pub examples: Vec<Example>,
    /// Records that are no documents, in reading order; [`BAD_RECORDS`] are shown.
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
    /// Number of documents removed for it.
    pub removed: u64,
    /// Some of these; [`MEMBERS`] are shown.
    pub members: Vec<Member>,
    /// The beginning of a text, if one was read.
    pub preview: Option<Preview>,
}

/// A removed document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The document.
    pub name: Name,
    /// How alike it is to the kept one, in words; empty if only others link the two.
    pub closeness: String,
}

/// The beginning of a text that stands for a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// The text.
    pub text: Vec<u8>,
    /// Whether it is that of the kept document, and not of one that is like it.
    pub is_of_kept: bool,
}

/// Which files or folders repeat which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Those that most was removed from, most first.
    pub rows: Vec<Source>,
    /// Those that most is kept in, for which something was removed, most first.
    pub columns: Vec<Vec<u8>>,
    /// How many there are that something may be removed from.
    pub sources: u64,
    /// Whether both are of one collection.
    pub is_one_collection: bool,
}

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name.
    pub name: Vec<u8>,
    /// Number of its documents.
    pub documents: u64,
    /// Number of those that were removed.
    pub removed: u64,
    /// Number of those that were removed for a document of each of [`Sources::columns`].
    pub repeats: Vec<u64>,
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

#[cfg(test)]
mod tests;
