//! Measures how well methods find the near-duplicates of labelled collections.
//!
//! * [`truth`] reads the pairs or clusters of near-duplicates of a collection.
//! * [`Histogram`] counts pairs by the strictest threshold that finds them, and becomes a
//!   [`Curve`](simtool_model::evaluation::Curve).
//! * [`step`] expresses the similarity of two sets in whole steps of 1/400.
//! * [`common_threshold()`] finds the best threshold for several collections together.
//! * [`ratio_estimate()`] estimates recall and precision of a collection from a sample.

mod common_threshold;
mod compared;
mod histogram;
mod labelled;
mod measure;
mod methods;
mod pair_label;
mod ratio_estimate;
mod sampled;
mod term_lists;
pub mod truth;

pub use common_threshold::common_threshold;
pub use histogram::Histogram;
pub use labelled::{DocumentsInMemory, Labelled, LabelledFolder, Labels};
pub use measure::step;
pub use methods::evaluate;
pub(crate) use ratio_estimate::share_interval;
pub use ratio_estimate::{Interval, RatioEstimate, SampledDocument, ratio_estimate};
pub use sampled::{SampleSettings, SampledMethod, estimate_by_sample};
