//! Samples of collections: parts of the input are read as a run reads them, and timed.
//!
//! * [`Sample`] estimates the amounts of a whole collection, such as its documents and the time to read
//!   them. A [`TextReceiver`] gets the texts.
//! * [`MethodSample`] is such a sample with the terms or fingerprints that a method makes of the texts.
//!
//! A sample measures and knows no costs of later stages.

mod amounts;
mod budget;
mod collection_sample;
mod method_sample;
mod picks;
mod sampled_terms;
mod stratum;
mod stratum_estimate;
mod stretch;
mod variance;

pub(crate) use amounts::Amounts;
pub(crate) use budget::Budget;
pub(crate) use collection_sample::Sample;
pub(crate) use method_sample::MethodSample;
pub(crate) use stretch::TextReceiver;
