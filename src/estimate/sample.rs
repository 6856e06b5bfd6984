//! A sample of a collection: stretches of its shards are read as the run reads them, and timed. The
//! caller chooses the budget, and receives the texts through [`Making`].
//!
//! Shards of one kind are a [stratum](super::stratum). Each stratum is sampled separately, because small
//! files of one document each say nothing about an archive in the same folder.

use super::amounts::Amounts;
use super::maker::Maker;
use super::stratum::{Known, strata};
use super::stretch::{Budget, Making};
use crate::pipeline::plan::Plan;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_read::{Corpus, ReaderMemory};
use std::time::Duration;

/// Estimated amounts of a whole collection, from a look at parts of it.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) amounts: Amounts,
    /// Variance of each amount.
    pub(super) variances: Amounts,
    /// Seconds of one core for the slowest shard. More threads cannot make the run faster than that,
    /// because one thread reads the whole shard.
    pub(super) longest_seconds: f64,
    /// The seconds of `amounts.read_seconds` that expensive shards take.
    pub(super) dear_seconds: f64,
    /// The share of the text that is in expensive shards.
    pub(super) dear_share: f64,
    /// Number of expensive shards.
    pub(super) dear_shards: f64,
    /// Memory of each reader.
    pub(super) reader_memory: ReaderMemory,
    /// Number of shards, which is the largest number of readers at the same time.
    pub(super) shards: usize,
    /// Whether the whole collection was read. Then only times are estimates.
    pub(crate) is_complete: bool,
    /// Fingerprints of some documents, if the method makes fingerprints.
    pub(super) rows: Option<FingerprintRows<'static>>,
    /// The share of the terms in documents that the first round of an exact join of the sampled
    /// documents would keep. The share in the whole collection is larger, because more documents
    /// share terms.
    pub(super) living_share: f64,
    /// The share of the terms in documents that are similar to another sampled document.
    pub(super) alike_share: f64,
    /// Numbers of terms of some documents, ascending.
    pub(super) sizes: Vec<u32>,
}

impl Sample {
    /// Samples a collection for about `time`, and makes terms or fingerprints as `plan` does.
    pub(super) fn of(corpus: &dyn Corpus, plan: &Plan, time: Duration) -> Self {
        let mut maker = Maker::new(plan);
        let sample = Self::making(corpus, &mut maker, Budget::Time(time));
        let (living_share, sizes) = (maker.terms.living_share(), maker.terms.sizes());
        let alike_share = maker.terms.alike_share(plan.resources().isa);
        Self { living_share, alike_share, sizes, rows: maker.into_rows(), ..sample }
    }

    /// Samples a collection for about `budget`, and passes the texts to `making`.
    pub(crate) fn making(corpus: &dyn Corpus, making: &mut dyn Making, budget: Budget) -> Self {
        let strata = strata(corpus);
        let all_bytes = strata.iter().map(|stratum| stratum.bytes).sum::<f64>().max(1.0);
        let mut sample = Self {
            amounts: Amounts::default(),
            variances: Amounts::default(),
            longest_seconds: 0.0,
            dear_seconds: 0.0,
            dear_share: 0.0,
            dear_shards: 0.0,
            reader_memory: ReaderMemory::default(),
            shards: corpus.shard_count(),
            is_complete: true,
            rows: None,
            living_share: 0.0,
            alike_share: 0.0,
            sizes: Vec::new(),
        };
        let mut dear_text = 0.0;
        for stratum in &strata {
            // Each stratum gets a share of the budget in proportion to its bytes.
            let looked = stratum.look(corpus, making, budget.times(stratum.bytes / all_bytes));
            let Known { amounts, variances, longest_seconds, reader_memory, is_complete } = looked;
            sample.is_complete &= is_complete;
            sample.reader_memory = sample.reader_memory.max(reader_memory);
            sample.amounts = sample.amounts.plus(amounts);
            // Variances add up, because the strata are sampled independently.
            sample.variances = sample.variances.plus(variances);
            sample.longest_seconds = sample.longest_seconds.max(longest_seconds);
            if stratum.is_dear {
                sample.dear_seconds += amounts.read_seconds;
                sample.dear_shards += stratum.shards.len() as f64;
                dear_text += amounts.text_bytes;
            }
        }
        sample.dear_share = dear_text / sample.amounts.text_bytes.max(1.0);
        sample
    }
}
