//! The similarity of two sets: the measures, their values as exact ratios, and the threshold that a
//! pair must reach.
//!
//! Similarities and thresholds are compared exactly, by products of whole numbers. In floating point, 0.8 / 1.8 * 63 is
//! a little more than 28, so a pair with 28 shared elements would be lost.
//!
//! A measure is one file of this folder and one line of [`MEASURES`]. The join, `verify`, `eval`,
//! `suggest`, the help texts, Python and Spark take the measure from the table.

mod containment;
mod cosine;
mod dice;
mod jaccard;
mod measure;
mod ratio;
mod root_bounds;
mod threshold;
mod tversky;

pub use cosine::COSINE;
pub use jaccard::JACCARD;
pub use measure::{Formula, Measure, Ratio};
pub use ratio::Similarity;
pub use threshold::Threshold;

/// Table of all measures of similarity. The first one, Jaccard similarity, is the default.
pub const MEASURES: &[&Measure] =
    &[&JACCARD, &COSINE, &containment::CONTAINMENT, &tversky::TVERSKY, &dice::DICE];

/// Returns the measure with this name, for example "cosine", or `None` if there is no such measure.
///
/// ```
/// let cosine = simtool_model::similarity::measure("cosine");
/// assert_eq!(cosine.map(|measure| measure.described), Some("cosine"));
/// assert_eq!(simtool_model::similarity::measure("hamming"), None);
/// ```
#[must_use]
pub fn measure(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().copied().find(|measure| measure.name == name)
}
