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

/// Documents that a run would remove: the data of the page of the run, and pairs near its limit.
#[derive(Clone, Debug, Default)]
pub struct RunPreview {
    /// Data that the page of the run would have.
    pub report: Report,
    /// Removed documents by their similarity or distance to the kept document, the closest first.
    pub by_closeness: Vec<Band>,
    /// Removed documents by the size of their cluster, the smallest clusters first.
    pub by_size: Vec<Band>,
    /// Removed documents that are least similar to the kept document, the least similar first.
    pub above: Vec<NearPair>,
    /// Kept documents that are similar to another kept document but do not reach the limit, the most similar first.
    /// `None` if they were not searched.
    pub below: Option<Vec<NearPair>>,
}

/// Two documents whose closeness is near the limit of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct NearPair {
    /// Similarity or distance of the documents.
    pub closeness: Option<Closeness>,
    /// Names and texts of the documents. If both are kept, `removed` has the second one.
    pub documents: Example,
    /// Number of words of the removed document that the kept one lacks. `None` if both are kept, or if the words were not
    /// counted.
    pub lost_words: Option<u32>,
    /// The first of the lost words. Empty if the texts are too long.
    pub first_lost: Vec<String>,
}

/// A range of similarities, distances or sizes of clusters, with the number of removed documents in this range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// Name of the band, for example `similarity 0.80 to 0.85` or `3 to 5 documents`.
    pub name: String,
    /// Number of removed documents in the band.
    pub removed: u64,
    /// Number of clusters in the band. `None` if the band is not one of sizes.
    pub clusters: Option<u64>,
}
