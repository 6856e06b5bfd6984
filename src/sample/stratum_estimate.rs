//! Estimates all shards of one kind from stretches of some of them.
//!
//! Numbers that a file declares, for example the rows of Parquet, are not estimated. Shards that are read
//! to their end are not estimated either.

use super::amounts::Amounts;
use super::budget::Budget;
use super::picks::{Pick, picks};
use super::stratum::Stratum;
use super::stretch::{Stretch, StretchLimits, TextReceiver, read_stretch};
use super::variance::AmountsWithVariances;
use simtool_read::{Corpus, LongestRecord, ReaderMemory, TableRows};
use std::time::Instant;

/// Estimate of a stratum.
pub(super) struct StratumEstimate {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
    /// Seconds of one core for the slowest shard.
    pub(super) longest_seconds: f64,
    pub(super) reader_memory: ReaderMemory,
    /// Whether all shards were read whole.
    pub(super) is_complete: bool,
}

impl Stratum {
    /// Reads a sample of the stratum and estimates all of it.
    pub(super) fn sample(
        &self,
        corpus: &dyn Corpus,
        receiver: &mut dyn TextReceiver,
        budget: Budget,
    ) -> StratumEstimate {
        let picks = picks(self, corpus);
        let mut read = self.read_picks(&picks, corpus, receiver, budget);
        // Picks were read in spread order. The variance compares neighbours, so they return to the
        // order of the input.
        read.sort_unstable_by_key(|(pick, _)| (pick.place, pick.from));
        self.estimate(&read)
    }

    /// Reads stretches until the budget is spent, at least one of them.
    #[expect(clippy::cast_sign_loss, reason = "no number of bytes is negative")]
    fn read_picks(
        &self,
        picks: &[Pick],
        corpus: &dyn Corpus,
        receiver: &mut dyn TextReceiver,
        budget: Budget,
    ) -> Vec<(Pick, Stretch)> {
        let begun = Instant::now();
        let mut read_bytes = 0;
        let mut read = Vec::with_capacity(picks.len());
        let mut without_record = Vec::new();
        for (at, &pick) in picks.iter().enumerate() {
            // Time that one stretch did not use goes to the later ones.
            let left = budget.less(begun.elapsed(), read_bytes);
            if left.is_spent() && !read.is_empty() {
                break;
            }
            let limits = self.limits(&picks[at..], left);
            receiver.begin_stretch(1.0 / picks.len() as f64);
            if let Some(stretch) = read_stretch(corpus, self.shards[pick.place], receiver, limits) {
                read_bytes += stretch.bytes as u64;
                read.push((pick, self.completed(corpus, pick, stretch)));
            } else {
                without_record.push(pick);
            }
        }
        pass_weights_on(&without_record, &mut read);
        read
    }

    /// Returns the limits for the first one of the picks that are left. The others must still get their
    /// shares of the budget `left`.
    fn limits(&self, picks: &[Pick], left: Budget) -> StretchLimits {
        let Pick { from, until, weight, .. } = picks[0];
        let budget = if self.is_small {
            Budget::UNLIMITED
        } else {
            let weights: f64 = picks.iter().map(|pick| pick.weight).sum();
            left.share((weight / weights.max(f64::MIN_POSITIVE)).min(1.0))
        };
        // The beginning of an expensive shard says little about the rest. There it is better to read far
        // than to make terms of every text. A budget of bytes must make terms of the same texts each
        // time.
        let is_beginning = self.is_expensive && picks[0].is_open_ended();
        let takes_all_texts = !is_beginning || matches!(budget, Budget::Bytes(_));
        StretchLimits { from, until, budget, takes_all_texts }
    }

    /// Corrects a stretch from the beginning of a shard.
    ///
    /// * If the file declares the length of its content, the fraction of the content that was read gives
    ///   the fraction of the shard.
    /// * If no document ended within the stretch, the stretch counts as a fraction of one document.
    fn completed(&self, corpus: &dyn Corpus, pick: Pick, mut stretch: Stretch) -> Stretch {
        if stretch.is_whole || pick.from > 0 {
            return stretch;
        }
        let size = self.sizes[pick.place];
        if pick.is_open_ended()
            && stretch.half_content > 0.0
            && let Some(content) = corpus.content_bytes(self.shards[pick.place])
        {
            let part = size / (content as f64).max(stretch.content);
            stretch.bytes = stretch.content * part;
            stretch.half_bytes = stretch.half_content * part;
        }
        if stretch.amounts.documents < 1.0 {
            stretch.amounts.documents = stretch.bytes / size.max(1.0);
            stretch.amounts.text_bytes = stretch.bytes;
        }
        stretch
    }

    /// Estimates the whole stratum from the stretches that were read.
    fn estimate(&self, read: &[(Pick, Stretch)]) -> StratumEstimate {
        let is_complete =
            read.len() == self.shards.len() && read.iter().all(|(_, stretch)| stretch.is_whole);
        let seen = Amounts::sum(read.iter().map(|(_, stretch)| stretch.amounts));
        let AmountsWithVariances { amounts, variances } = if is_complete {
            AmountsWithVariances { amounts: seen, variances: Amounts::default() }
        } else {
            self.estimate_unread(read, seen)
        };
        let longest_seconds = if is_complete {
            let seconds = read.iter().map(|(_, stretch)| stretch.amounts.seconds());
            seconds.fold(0.0, f64::max)
        } else {
            // Without a measurement of every shard, the longest one is assumed to take time in
            // proportion to its bytes.
            amounts.seconds() * self.longest_shard() / self.bytes.max(1.0)
        };
        let reader_memory = self.reader_memory(read, amounts);
        StratumEstimate { amounts, variances, longest_seconds, reader_memory, is_complete }
    }

    /// Estimates the stratum if parts of it were not read. `seen` is the sum of the parts that were.
    fn estimate_unread(&self, read: &[(Pick, Stretch)], seen: Amounts) -> AmountsWithVariances {
        let bytes: f64 = read.iter().map(|(_, stretch)| stretch.bytes).sum();
        // The part that was read is exact, so the variance shrinks with the unread fraction.
        let unread = (1.0 - bytes / self.bytes.max(1.0)).clamp(0.0, 1.0);
        let mut estimated = if self.is_small {
            let shards = self.shards.len() as f64;
            AmountsWithVariances::from_whole_shards(read, shards, self.bytes, unread)
        } else {
            AmountsWithVariances::from_stretches(read, self.bytes, unread)
        };
        if let Some(all_records) = self.records {
            // Files that declare their records give the exact number of documents.
            let records: f64 = read.iter().map(|(_, stretch)| stretch.records).sum();
            let scaled = seen.map(|amount| amount * all_records / records.max(1.0));
            estimated.amounts.documents = scaled.documents;
            estimated.amounts.id_bytes = scaled.id_bytes;
            estimated.variances.documents = 0.0;
            estimated.variances.id_bytes = 0.0;
        }
        estimated
    }

    /// Estimates the memory of a reader if the stratum has the amounts `all`.
    fn reader_memory(&self, read: &[(Pick, Stretch)], all: Amounts) -> ReaderMemory {
        let longest = read.iter().map(|(_, stretch)| stretch.longest);
        let longest = longest.fold(LongestRecord::default(), LongestRecord::max);
        let seen: f64 = read.iter().map(|(_, stretch)| stretch.amounts.documents).sum();
        let longest = longest.among_more(all.documents / seen.max(1.0));
        let rows = TableRows {
            text_bytes: all.text_bytes / all.documents.max(1.0),
            shard_bytes: self.longest_shard(),
        };
        let (compression, format) = self.kind;
        ReaderMemory::estimate(compression, format, rows, longest)
    }
}

/// Passes the weights of picks without any record on to other picks of the same shards, which then
/// represent them.
fn pass_weights_on(without_record: &[Pick], read: &mut [(Pick, Stretch)]) {
    for empty in without_record {
        if let Some((pick, _)) = read.iter_mut().find(|(pick, _)| pick.place == empty.place) {
            pick.weight += empty.weight;
        }
    }
}
