//! Labels × distances → what a method gets right.
//!
//! * [`truth`] reads which pairs are near-duplicates, as pairs or as clusters.
//! * [`Histogram`] counts pairs by the strictest threshold that finds them, and becomes a
//!   [`Curve`](crate::evaluation::Curve).
//! * [`step`] is the similarity of two sets in exact steps.
//! * [`common_threshold()`] is one threshold for all collections.
//! * [`ratio_estimate()`] tells what a sample says of a collection without labels.

mod common_threshold;
mod histogram;
mod measure;
mod ratio_estimate;
pub mod truth;

pub use common_threshold::common_threshold;
pub use histogram::Histogram;
pub use measure::step;
pub use ratio_estimate::{Interval, RatioEstimate, SampledDocument, Share, ratio_estimate, wilson};
