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
mod contamination;
mod escape;
mod examples;
mod head;
mod histograms;
mod levels;
mod page;
mod passages;
mod piece;
mod run;
mod sources;
mod tables;
mod texts;
mod unread;
mod wording;

pub(crate) use contamination::{ContaminationPage, FoundItem, write_contamination_page};
pub(super) use escape::{EscapedLine, EscapedLines, EscapedName};
pub(super) use page::STYLE;
pub use page::write_report;
pub(crate) use passages::{PassagesPage, write_passages_page};
pub use piece::write_charts;
pub(crate) use texts::{MarkedDocument, begin_marked_texts, end_marked_texts, write_marked_text};

use crate::write::name::Name;
use crate::write::shared_words::{SharedWords, Templates};
use std::collections::BTreeMap;

/// Maximum number of example pairs on the page.
pub(crate) const EXAMPLES: usize = 12;
/// Maximum number of clusters that the page lists.
pub(crate) const CLUSTERS: usize = 100;
/// Maximum number of removed documents that the page lists for each cluster.
pub(crate) const MEMBERS: usize = 20;
/// Maximum number of rows, and maximum number of columns, of the table of sources. Sources are the files or
/// folders of the documents.
pub(crate) const SOURCES: usize = 10;
/// Maximum number of bad records that the page lists. It is also the maximum number of faults of files that
/// the page lists.
pub(crate) const BAD_RECORDS: usize = 50;

/// Content of the page in addition to the summary. Fields of type `Vec<u8>` come from the input and may
/// contain any bytes. Strings come from simtool or from the command line.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Names of the collections for the heading: one name, or the names of the queries and the corpus.
    pub titles: Vec<String>,
    /// Histogram of the similarities of removed documents to the documents that are kept in their place.
    /// `None` if the method computes no similarities.
    pub similarities: Option<Similarities>,
    /// For each distance from 0, the number of documents removed at this distance. `None` if the method has
    /// no fingerprints.
    pub distances: Option<Vec<u64>>,
    /// Number of removed documents that were not compared with the kept document, because only a chain of
    /// other documents links them to it.
    pub unlinked: u64,
    /// Histogram of cluster sizes. A key is a number of documents, and its value is the number of clusters
    /// with so many documents. In a match, a key is a number of queries. Its value is the number of documents
    /// of the corpus to which so many queries are similar.
    pub cluster_sizes: BTreeMap<u64, u64>,
    /// Largest clusters, in descending order of size. The page shows at most the first 100.
    pub clusters: Vec<ReportCluster>,
    /// Table that counts removed documents by their file or folder, and by the file or folder of the
    /// documents that are kept in their place.
    pub sources: Sources,
    /// Pairs of a removed and a kept document. At most `EXAMPLES` are shown.
    pub examples: Vec<Example>,
    /// HTML pages whose main content is a small share of their text, with the most words that are not compared first.
    pub little_pages: Vec<PartOfPage>,
    /// Records that could not be read as documents, in reading order. The page shows at most the first 50.
    pub quarantined: Vec<QuarantinedRecord>,
}

impl Report {
    /// Counts the listed clusters whose documents look like pages of one template, for example with the same menu but
    /// different contents.
    #[must_use]
    pub fn templates(&self) -> Templates {
        self.template_clusters().fold(Templates::default(), |counted, cluster| Templates {
            clusters: counted.clusters + 1,
            removed: counted.removed + cluster.removed,
        })
    }

    /// Returns the listed clusters whose documents look like pages of one template, for example with the same menu but
    /// different contents.
    pub(crate) fn template_clusters(&self) -> impl Iterator<Item = &ReportCluster> {
        let is_template = |cluster: &&ReportCluster| cluster.shared.is_some_and(|s| s.is_template);
        self.clusters.iter().filter(is_template)
    }
}

/// A histogram of similarities. It has 20 bins of equal width that end at similarity 1, and a separate count
/// of pairs with similarity 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Similarities {
    from: f64,
    bins: [u64; Self::BINS],
    equal: u64,
}

impl Similarities {
    const BINS: usize = 20;

    /// Creates an empty histogram of similarities from `from` to 1. If `from` is not at least 0 and below 1,
    /// the histogram begins at 0.
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

/// A kept document, with some of the documents that were removed in its favour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportCluster {
    /// Name of the kept document.
    pub kept: Name,
    /// Number of documents that were removed in favour of the kept document.
    pub removed: u64,
    /// Some of the removed documents. The page shows at most the first 20.
    pub members: Vec<ReportMember>,
    /// Beginning of the text of a document of the cluster. `None` if no text was read again.
    pub preview: Option<Preview>,
    /// Words that the documents share. `None` if too few of their texts were read again.
    pub shared: Option<SharedWords>,
}

/// A removed document of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportMember {
    /// Name of the document.
    pub name: Name,
    /// Similarity or distance to the kept document, in words. Empty if this document was not compared with
    /// the kept document, because only a chain of other documents links them.
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
    /// Rows of the table: the sources with the greatest numbers of removed documents, in descending order of
    /// this number.
    pub rows: Vec<Source>,
    /// Columns of the table: names of the sources of kept documents. The first column is the source whose documents are
    /// kept in place of the most removed documents.
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
    /// Numbers of removed documents, one for each column in [`Sources::columns`]. They count documents of
    /// this source that were removed in favour of a document of the column.
    pub repeats: Vec<u64>,
}

/// A removed document and the document that is kept in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Name of the kept document.
    pub kept: Name,
    /// Name of the removed document.
    pub removed: Name,
    /// Similarity or distance of the two documents in words, for example `similarity 0.9`.
    pub closeness: String,
    /// Text of the kept document, possibly cut.
    pub kept_text: Vec<u8>,
    /// Text of the removed document, possibly cut.
    pub removed_text: Vec<u8>,
}

/// An HTML page whose main content is a small share of its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOfPage {
    /// Name of the page.
    pub name: Name,
    /// Number of words of the page that are compared.
    pub words: u32,
    /// Number of words of the page that are not compared.
    pub left_out_words: u32,
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
    /// Description of the content that a good record has at the place of the fault.
    pub expected: String,
}

#[cfg(test)]
mod tests;
