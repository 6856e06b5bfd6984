//! A look at a collection: stretches of its shards are read as the run reads them, and timed.
//! Whoever looks says what is made of the texts, and how much may be spent.
//!
//! Shards of one kind are a [stratum](super::stratum), looked at by itself: small files of one document
//! each tell nothing of the archive beside them.

use super::amounts::Amounts;
use super::maker::Maker;
use super::stratum::{Known, ReaderBytes, strata};
use super::stretch::{Budget, Making};
use crate::pipeline::plan::Plan;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_read::Corpus;
use std::time::Duration;

/// What a look at a collection says of all of it.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) amounts: Amounts,
    /// The square of how far each may well be off.
    pub(super) variances: Amounts,
    /// Seconds of one core for the shard that takes longest: no number of threads is faster.
    pub(super) longest_seconds: f64,
    /// Seconds of `amounts.read_seconds` that are for shards which are dear to read.
    pub(super) dear_seconds: f64,
    /// The share of the text that is in such shards.
    pub(super) dear_share: f64,
    /// How many such shards there are.
    pub(super) dear_shards: f64,
    /// Bytes of memory that a reader takes.
    pub(super) reader_bytes: ReaderBytes,
    /// How many can read at once.
    pub(super) shards: usize,
    /// Whether everything was read, so that nothing is guessed but times.
    pub(crate) is_complete: bool,
    /// Some fingerprints, if any are made.
    pub(super) rows: Option<FingerprintRows<'static>>,
    /// The shares of the terms that are in documents which the first round of an exact join would not
    /// drop, and which are alike, if there were no documents but the sampled ones: in all, it is more.
    pub(super) living_share: f64,
    pub(super) alike_share: f64,
    /// How many terms each of some documents has, ascending.
    pub(super) sizes: Vec<u32>,
}

impl Sample {
    /// Looks at a collection for about as long as `time`, and makes what the plan makes.
    pub(super) fn of(corpus: &dyn Corpus, plan: &Plan, time: Duration) -> Self {
        let mut maker = Maker::new(plan);
        let sample = Self::making(corpus, &mut maker, Budget::Time(time));
        let (living_share, sizes) = (maker.terms.living_share(), maker.terms.sizes());
        let alike_share = maker.terms.alike_share(plan.resources().isa);
        Self { living_share, alike_share, sizes, rows: maker.into_rows(), ..sample }
    }

    /// Looks at a collection for about as much as `budget`.
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
            reader_bytes: ReaderBytes::default(),
            shards: corpus.shard_count(),
            is_complete: true,
            rows: None,
            living_share: 0.0,
            alike_share: 0.0,
            sizes: Vec::new(),
        };
        let mut dear_text = 0.0;
        for stratum in &strata {
            let looked = stratum.look(corpus, making, budget.times(stratum.bytes / all_bytes));
            let Known { amounts, variances, longest_seconds, reader_bytes, is_complete } = looked;
            sample.is_complete &= is_complete;
            sample.reader_bytes = sample.reader_bytes.or(reader_bytes);
            sample.amounts = sample.amounts.plus(amounts);
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
