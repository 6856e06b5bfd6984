//! The preview of a run: what a run would remove, before anything is removed.
//!
//! * [`preview_text`] is the preview for people, and [`write_preview`] writes the same as JSON.
//! * All counts are those of the run itself. Only words that documents share come from some documents of each
//!   cluster.

mod json;
mod lines;

pub use json::write_preview;
pub use lines::preview_text;

use super::report::{Example, Report};
use simtool_model::closeness::Closeness;

/// Preview of the documents that a run would remove: data for the report page, counts by closeness and by cluster size,
/// and pairs near the limit.
#[derive(Clone, Debug, Default)]
pub struct RunPreview {
    /// Data of the report page: clusters and histograms. All other parts are empty.
    pub report: Report,
    /// Number of removed documents for each range of similarity or distance to the kept document, the closest first.
    /// Empty for a method that decides by coverage.
    pub by_closeness: Vec<Band>,
    /// Number of removed documents and of clusters for each range of cluster sizes, the smallest sizes first.
    pub by_size: Vec<Band>,
    /// Removed documents that are least similar to the kept document, the least similar first. For a method that
    /// decides by coverage, removed documents that lose most words, the most words first.
    pub above: Vec<NearPair>,
    /// Kept documents that are similar to another kept document but do not reach the limit, the most similar first.
    /// `None` if they were not searched.
    pub below: Option<Vec<NearPair>>,
}

/// Two documents whose similarity or distance is near the limit at which the run removes documents.
#[derive(Clone, Debug, PartialEq)]
pub struct NearPair {
    /// Similarity or distance of the documents. `None` if they were not compared, for example because the method
    /// decides by coverage.
    pub closeness: Option<Closeness>,
    /// Names and texts of the documents. If both are kept, `removed` has the second one.
    pub documents: Example,
    /// Number of words of the removed document that the kept one lacks. `None` if both are kept, or if the words were
    /// not counted.
    pub lost_words: Option<u32>,
    /// The first of the lost words. Empty if they are not known, for example because the texts were cut.
    pub first_lost: Vec<String>,
}

/// A range of similarities, distances or sizes of clusters, with the number of removed documents in this range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Name of the range, for example `similarity 0.80 to 0.85` or `3 to 5 documents`.
    pub name: String,
    /// Number of removed documents in the range.
    pub removed: u64,
    /// Number of clusters in the range. `None` if it is not a range of cluster sizes.
    pub clusters: Option<u64>,
}
