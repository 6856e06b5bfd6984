//! Measures how well methods find the near-duplicates of labelled collections.
//!
//! * [`truth`] reads the pairs or clusters of near-duplicates of a collection.
//! * [`Histogram`] counts pairs by the strictest threshold that finds them, and becomes a
//!   [`Curve`](crate::evaluation::Curve).
//! * [`step`] is the similarity of two sets as an exact step.
//! * [`common_threshold()`] finds the best threshold for several collections together.
//! * [`ratio_estimate()`] estimates recall and precision of a collection from a sample.

mod common_threshold;
mod histogram;
mod measure;
mod ratio_estimate;
pub mod truth;

pub use common_threshold::common_threshold;
pub use histogram::Histogram;
pub use measure::step;
pub use ratio_estimate::{Interval, RatioEstimate, SampledDocument, Share, ratio_estimate, wilson};
