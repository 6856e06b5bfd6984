//! A sample of a collection: stretches of its shards are read as the run reads them, and timed.
//!
//! Shards of one kind are a [stratum](super::stratum). Each stratum is sampled separately, because small
//! files of one document each say nothing about an archive in the same folder.

use super::amounts::Amounts;
use super::budget::Budget;
use super::stratum::{Stratum, strata};
use super::stratum_estimate::StratumEstimate;
use super::stretch::TextReceiver;
use simtool_read::{Corpus, ReaderMemory};

/// Estimated amounts of a whole collection, from parts of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) amounts: Amounts,
    /// Variance of each amount.
    pub(crate) variances: Amounts,
    /// Seconds of one core for the slowest shard. More threads cannot make the run faster than that,
    /// because one thread reads the whole shard.
    pub(crate) longest_seconds: f64,
    /// The seconds of `amounts.read_seconds` that expensive shards take.
    pub(crate) expensive_seconds: f64,
    /// The share of the text that is in expensive shards.
    pub(crate) expensive_share: f64,
    /// Number of expensive shards.
    pub(crate) expensive_shards: f64,
    /// Memory of each reader.
    pub(crate) reader_memory: ReaderMemory,
    /// Number of shards, which is the largest number of readers at the same time.
    pub(crate) shards: usize,
    /// Whether the whole collection was read. Then only times are estimates.
    pub(crate) is_complete: bool,
}

impl Sample {
    /// Samples a collection within about `budget`, and passes the texts to `receiver`.
    pub(crate) fn read(
        corpus: &dyn Corpus,
        receiver: &mut dyn TextReceiver,
        budget: Budget,
    ) -> Self {
        let strata = strata(corpus);
        let all_bytes = strata.iter().map(|stratum| stratum.bytes).sum::<f64>().max(1.0);
        let mut sample = Self {
            amounts: Amounts::default(),
            variances: Amounts::default(),
            longest_seconds: 0.0,
            expensive_seconds: 0.0,
            expensive_share: 0.0,
            expensive_shards: 0.0,
            reader_memory: ReaderMemory::default(),
            shards: corpus.shard_count(),
            is_complete: true,
        };
        let mut expensive_text = 0.0;
        for stratum in &strata {
            // Each stratum gets a share of the budget in proportion to its bytes.
            let budget = budget.share(stratum.bytes / all_bytes);
            let estimate = stratum.sample(corpus, receiver, budget);
            sample.add(stratum, &estimate);
            if stratum.is_expensive {
                expensive_text += estimate.amounts.text_bytes;
            }
        }
        sample.expensive_share = expensive_text / sample.amounts.text_bytes.max(1.0);
        sample
    }

    /// Adds the estimate of a stratum.
    fn add(&mut self, stratum: &Stratum, estimate: &StratumEstimate) {
        self.is_complete &= estimate.is_complete;
        self.reader_memory = self.reader_memory.max(estimate.reader_memory);
        self.amounts = self.amounts.plus(estimate.amounts);
        // Variances add up, because the strata are sampled independently.
        self.variances = self.variances.plus(estimate.variances);
        self.longest_seconds = self.longest_seconds.max(estimate.longest_seconds);
        if stratum.is_expensive {
            self.expensive_seconds += estimate.amounts.read_seconds;
            self.expensive_shards += stratum.shards.len() as f64;
        }
    }
}
