//! Estimates a stratum, which is all shards of one kind, from sections of some of these shards. A
//! section is a part of a shard, or the whole shard.
//!
//! Numbers that a file declares, for example the rows of Parquet, are not estimated. Shards that are
//! read to their end are not estimated either.

use super::amounts::Amounts;
use super::budget::Budget;
use super::picks::{Pick, picks};
use super::section::{Section, SectionLimits, TextReceiver, read_section};
use super::stratum::Stratum;
use super::variance::AmountsWithVariances;
use simtool_read::{Corpus, LongestRecord, ReaderMemory, TableRows};
use std::time::Instant;

/// Estimated amounts (such as documents and seconds) of a stratum, which is all shards of one kind.
pub(super) struct StratumEstimate {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
    /// Seconds of one core for the slowest shard of the stratum.
    pub(super) longest_seconds: f64,
    pub(super) reader_memory: ReaderMemory,
    /// Whether every shard of the stratum was read from its first byte to its end.
    pub(super) is_complete: bool,
}

impl Stratum {
    /// Reads sections of the stratum within about `budget`, and passes their texts to `receiver`.
    /// Returns the estimate for the whole stratum.
    pub(super) fn sample(
        &self,
        corpus: &dyn Corpus,
        receiver: &mut dyn TextReceiver,
        budget: Budget,
    ) -> StratumEstimate {
        let picks = picks(self, corpus);
        let mut read = self.read_picks(&picks, corpus, receiver, budget);
        // The picks were read in an order in which neighbours are far apart. To get the variance, neighbours in the
        // input are compared, so the picks are sorted into the order of the input.
        read.sort_unstable_by_key(|(pick, _)| (pick.place, pick.from));
        self.estimate(&read)
    }

    /// Reads the sections of `picks` in their order, until the budget is spent and at least one
    /// section has a record. Returns the sections that have records, with their picks.
    #[expect(clippy::cast_sign_loss, reason = "no number of bytes is negative")]
    fn read_picks(
        &self,
        picks: &[Pick],
        corpus: &dyn Corpus,
        receiver: &mut dyn TextReceiver,
        budget: Budget,
    ) -> Vec<(Pick, Section)> {
        let begun = Instant::now();
        let mut read_bytes = 0;
        let mut read = Vec::with_capacity(picks.len());
        let mut without_record = Vec::new();
        for (at, &pick) in picks.iter().enumerate() {
            // Time or bytes of the budget that a section did not use can be used by later sections.
            let left = budget.less(begun.elapsed(), read_bytes);
            if left.is_spent() && !read.is_empty() {
                break;
            }
            let limits = self.limits(&picks[at..], left);
            receiver.begin_section(1.0 / picks.len() as f64);
            if let Some(section) = read_section(corpus, self.shards[pick.place], receiver, limits) {
                read_bytes += section.bytes as u64;
                read.push((pick, self.completed(corpus, pick, section)));
            } else {
                without_record.push(pick);
            }
        }
        pass_weights_on(&without_record, &mut read);
        read
    }

    /// Returns the limits for reading the section of the first pick. `picks` has all picks that are not
    /// yet read, and `left` is the budget for all of them together. The first pick gets a share in
    /// proportion to its weight. A small shard has no limit, because it is read whole.
    fn limits(&self, picks: &[Pick], left: Budget) -> SectionLimits {
        let Pick { from, until, weight, .. } = picks[0];
        let budget = if self.is_small {
            Budget::UNLIMITED
        } else {
            let weights: f64 = picks.iter().map(|pick| pick.weight).sum();
            left.share((weight / weights.max(f64::MIN_POSITIVE)).min(1.0))
        };
        // The beginning of an expensive shard says little about the rest of the shard. So it is better
        // to read far into the shard than to make terms of every text. With a budget of bytes, however,
        // every sample must make terms of the same texts, so all texts are used.
        let is_beginning = self.is_packed() && picks[0].is_open_ended();
        let takes_all_texts = !is_beginning || matches!(budget, Budget::Bytes(_));
        SectionLimits { from, until, budget, takes_all_texts }
    }

    /// Corrects the numbers of a section that begins at the first byte of a shard but does not reach
    /// its end.
    ///
    /// * If the file declares the length of its unpacked content, the fraction of the content that was
    ///   read is known. The number of read bytes is then taken to be the same fraction of the shard.
    /// * If no document ended within the section, the section counts as a fraction of one document.
    ///   This fraction is the section's share of the bytes of the shard.
    fn completed(&self, corpus: &dyn Corpus, pick: Pick, mut section: Section) -> Section {
        if section.is_whole || pick.from > 0 {
            return section;
        }
        let size = self.sizes[pick.place];
        if pick.is_open_ended()
            && section.half_content > 0.0
            && let Some(content) = corpus.content_bytes(self.shards[pick.place])
        {
            let part = size / (content as f64).max(section.content);
            section.bytes = section.content * part;
            section.half_bytes = section.half_content * part;
        }
        if section.amounts.documents < 1.0 {
            section.amounts.documents = section.bytes / size.max(1.0);
            section.amounts.text_bytes = section.bytes;
        }
        section
    }

    /// Estimates the amounts of the whole stratum from `read`, the sections (parts of shards) that were read.
    fn estimate(&self, read: &[(Pick, Section)]) -> StratumEstimate {
        let is_complete =
            read.len() == self.shards.len() && read.iter().all(|(_, section)| section.is_whole);
        let seen = Amounts::sum(read.iter().map(|(_, section)| section.amounts));
        let AmountsWithVariances { amounts, variances } = if is_complete {
            AmountsWithVariances { amounts: seen, variances: Amounts::default() }
        } else {
            self.estimate_unread(read, seen)
        };
        let longest_seconds = if is_complete {
            let seconds = read.iter().map(|(_, section)| section.amounts.seconds());
            seconds.fold(0.0, f64::max)
        } else {
            // Without a measurement of every shard, the longest one is assumed to take time in
            // proportion to its bytes.
            amounts.seconds() * self.longest_shard() / self.bytes.max(1.0)
        };
        let reader_memory = self.reader_memory(read, amounts);
        StratumEstimate { amounts, variances, longest_seconds, reader_memory, is_complete }
    }

    /// Estimates the amounts of the whole stratum if some of its bytes were not read. `seen` is the sum
    /// of the amounts of the sections in `read`.
    fn estimate_unread(&self, read: &[(Pick, Section)], seen: Amounts) -> AmountsWithVariances {
        let bytes: f64 = read.iter().map(|(_, section)| section.bytes).sum();
        // The amounts of the bytes that were read are exact, so the variance shrinks with the fraction
        // of the bytes that were not read.
        let unread = (1.0 - bytes / self.bytes.max(1.0)).clamp(0.0, 1.0);
        let mut estimated = if self.is_small {
            let shards = self.shards.len() as f64;
            AmountsWithVariances::from_whole_shards(read, shards, self.bytes, unread)
        } else {
            AmountsWithVariances::from_sections(read, self.bytes, unread)
        };
        if let Some(all_records) = self.records {
            // If the files declare the number of their records, the number of documents is exact.
            let records: f64 = read.iter().map(|(_, section)| section.records).sum();
            let scaled = seen.map(|amount| amount * all_records / records.max(1.0));
            estimated.amounts.documents = scaled.documents;
            estimated.amounts.id_bytes = scaled.id_bytes;
            estimated.variances.documents = 0.0;
            estimated.variances.id_bytes = 0.0;
        }
        estimated
    }

    /// Estimates the memory of one thread that reads shards of this stratum. `read` has the sections that were read,
    /// and `all` the estimated amounts of the whole stratum.
    fn reader_memory(&self, read: &[(Pick, Section)], all: Amounts) -> ReaderMemory {
        let longest = read.iter().map(|(_, section)| section.longest);
        let longest = longest.fold(LongestRecord::default(), LongestRecord::max);
        let seen: f64 = read.iter().map(|(_, section)| section.amounts.documents).sum();
        let longest = longest.among_more(all.documents / seen.max(1.0));
        let rows = TableRows {
            text_bytes: all.text_bytes / all.documents.max(1.0),
            shard_bytes: self.longest_shard(),
        };
        let (compression, format) = self.kind;
        ReaderMemory::estimate(compression, format, rows, longest)
    }
}

/// Moves weights of picks between sections of one shard. Each pick in `without_record` chose a section without records.
/// Adds its weight to the pick of another section of the same shard in `read`, if there is one, which then represents
/// the bytes of both.
fn pass_weights_on(without_record: &[Pick], read: &mut [(Pick, Section)]) {
    for empty in without_record {
        if let Some((pick, _)) = read.iter_mut().find(|(pick, _)| pick.place == empty.place) {
            pick.weight += empty.weight;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::error::Result;
    use simtool_model::compression::Compression;
    use simtool_read::{Price, Visit};
    use std::path::Path;

    /// A compressed file of 100 bytes that declares 1000 bytes of content.
    #[derive(Debug)]
    struct Declaring;

    impl Corpus for Declaring {
        fn file_count(&self) -> usize {
            1
        }

        fn file_name(&self, _file: usize) -> &Path {
            Path::new("a.gz")
        }

        fn shard_count(&self) -> usize {
            1
        }

        fn shard_file(&self, _shard: usize) -> usize {
            0
        }

        fn shard_bytes(&self, _shard: usize) -> u64 {
            100
        }

        fn content_bytes(&self, _shard: usize) -> Option<u64> {
            Some(1000)
        }

        fn price(&self, _shard: usize) -> Price {
            Price::Expensive
        }

        fn read_shard(&self, _shard: usize, _visit: &mut Visit<'_>) -> Result<u64> {
            Ok(0)
        }
    }

    #[test]
    fn the_declared_content_says_how_far_a_section_reaches() {
        let stratum = Stratum {
            shards: vec![0],
            sizes: vec![100.0],
            bytes: 100.0,
            records: None,
            is_small: false,
            price: Price::Expensive,
            kind: (Compression::Gzip, None),
        };
        let pick = Pick { place: 0, from: 0, until: u64::MAX, weight: 100.0 };
        let read = Section {
            bytes: 90.0,
            content: 400.0,
            half_bytes: 80.0,
            half_content: 250.0,
            ..Section::default()
        };
        let Section { bytes, half_bytes, amounts, .. } = stratum.completed(&Declaring, pick, read);
        assert_eq!(format!("{bytes} {half_bytes} {}", amounts.documents), "40 25 0.4");
    }
}
