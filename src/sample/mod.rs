//! Samples of collections: parts of the input are read as a run reads them, and timed.
//!
//! * [`Sample`] estimates the amounts of a whole collection, such as its documents and the time to read
//!   them. A [`TextReceiver`] gets the sampled texts.
//! * [`MethodSample`] is a sample that also has the terms or fingerprints that a method makes of the
//!   texts.
//!
//! Shards of one kind are a stratum, for example all large Parquet files. A section is a part of a
//! shard that is read for the sample, or the whole shard.
//!
//! A sample only measures. The costs of later stages are estimated elsewhere.

mod amounts;
mod budget;
mod collection_sample;
mod method_sample;
mod partners;
mod picks;
mod sampled_terms;
mod section;
mod stratum;
mod stratum_estimate;
mod variance;

pub(crate) use amounts::Amounts;
pub(crate) use budget::Budget;
pub(crate) use collection_sample::{PricedPart, Sample};
pub(crate) use method_sample::MethodSample;
pub(crate) use section::TextReceiver;
