//! A sample of a collection: sections of its shards are read as the run reads them, and timed.
//!
//! A section is a part of a shard, or the whole shard. Shards of one kind are a
//! [stratum](super::stratum). Each stratum is sampled separately, because small files of one document
//! each say nothing about an archive in the same folder.

use super::amounts::Amounts;
use super::budget::Budget;
use super::section::TextReceiver;
use super::stratum::{Stratum, strata};
use super::stratum_estimate::StratumEstimate;
use simtool_read::{Corpus, Price, ReaderMemory};

/// Estimated amounts of a whole collection. The estimate uses the parts of the collection that were
/// read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) amounts: Amounts,
    /// Variance of each estimated amount.
    pub(crate) variances: Amounts,
    /// Seconds of one core for the slowest shard. One thread reads the whole shard, so a run takes at
    /// least this time, with any number of threads.
    pub(crate) longest_seconds: f64,
    /// The shards with [`Price::Unpacked`], for example files of zstd.
    pub(crate) unpacked: PricedPart,
    /// The shards with [`Price::Expensive`], for example files of gzip.
    pub(crate) expensive: PricedPart,
    /// Estimated memory of one thread that reads the shards that need most memory.
    pub(crate) reader_memory: ReaderMemory,
    /// Number of shards in the collection. At most this number of threads can read at the same time.
    pub(crate) shards: usize,
    /// Whether the sample has read the whole collection. If so, the numbers of documents, bytes and
    /// terms are exact, and only the times are estimates.
    pub(crate) is_complete: bool,
}

/// The shards of a collection that cost the same [`Price`] to read again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PricedPart {
    /// Seconds of one core for reading these shards once.
    pub(crate) read_seconds: f64,
    /// Fraction of the bytes of all texts that are in these shards.
    pub(crate) text_share: f64,
    /// Number of these shards.
    pub(crate) shards: f64,
}

impl PricedPart {
    fn plus(self, other: Self) -> Self {
        Self {
            read_seconds: self.read_seconds + other.read_seconds,
            text_share: self.text_share + other.text_share,
            shards: self.shards + other.shards,
        }
    }
}

impl Sample {
    /// Reads a sample of a collection within about `budget`, and passes the sampled texts to
    /// `receiver`. Returns the estimates for the whole collection.
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
            unpacked: PricedPart::default(),
            expensive: PricedPart::default(),
            reader_memory: ReaderMemory::default(),
            shards: corpus.shard_count(),
            is_complete: true,
        };
        for stratum in &strata {
            // Each stratum gets a share of the budget in proportion to its bytes.
            let budget = budget.share(stratum.bytes / all_bytes);
            let estimate = stratum.sample(corpus, receiver, budget);
            sample.add(stratum, &estimate);
        }
        let text_bytes = sample.amounts.text_bytes.max(1.0);
        for part in [&mut sample.unpacked, &mut sample.expensive] {
            part.text_share /= text_bytes;
        }
        sample
    }

    /// Adds the estimate of a stratum, which is the group of all shards of one kind.
    fn add(&mut self, stratum: &Stratum, estimate: &StratumEstimate) {
        self.is_complete &= estimate.is_complete;
        self.reader_memory = self.reader_memory.max(estimate.reader_memory);
        self.amounts = self.amounts.plus(estimate.amounts);
        // Variances add up, because the strata are sampled independently.
        self.variances = self.variances.plus(estimate.variances);
        self.longest_seconds = self.longest_seconds.max(estimate.longest_seconds);
        let part = match stratum.price {
            Price::Cheap => return,
            Price::Unpacked => &mut self.unpacked,
            Price::Expensive => &mut self.expensive,
        };
        *part = part.plus(PricedPart {
            read_seconds: estimate.amounts.read_seconds,
            text_share: estimate.amounts.text_bytes,
            shards: stratum.shards.len() as f64,
        });
    }

    /// Returns the shards that cost clearly more to read than scanning their bytes.
    pub(crate) fn packed(&self) -> PricedPart {
        self.unpacked.plus(self.expensive)
    }
}
