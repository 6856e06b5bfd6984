//! Estimates all shards of one kind from stretches of some of them.
//!
//! * Small shards: some evenly spread ones are read whole.
//! * Large shards: evenly spread stretches are read, each as far as its share of the budget allows. They
//!   begin at the first byte, or at many places of each shard if reading can begin inside. The beginning
//!   of a file says little about the rest of it.
//!
//! Numbers that a file declares, for example the rows of Parquet, are not estimated. Shards that are read
//! to their end are not estimated either.

use super::amounts::Amounts;
use super::stretch::{Budget, Making, Stretch, Way, read_stretch};
use simtool_model::compression::Compression;
use simtool_read::{Corpus, Event, Format, LongestRecord, Price, ReaderMemory, TableRows};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// Maximum bytes of a small shard, which is read whole.
const SMALL_BYTES: u64 = 64 << 10;
/// Maximum number of sampled files per stratum. Opening a file takes time.
const FILE_PICKS: usize = 48;
/// Maximum number of sampled parts of plain files per stratum.
const PART_PICKS: usize = 512;
/// Maximum number of sampled small shards per stratum.
const SMALL_PICKS: usize = 1 << 14;
/// Maximum mean bytes of cheap shards that count as parts of plain files.
const PART_BYTES: f64 = 2e6;
/// Approximate number of sampled parts of a stratum, if reading can begin inside its shards.
const PARTS: f64 = 192.0;
/// Minimum bytes of such a part.
const LEAST_PART_BYTES: f64 = 256e3;
/// Strata of at most this many bytes are read from the beginning, because the whole stratum may fit
/// in the budget.
const FEW_BYTES: f64 = 8e6;
/// Number of stretches from which on their differences give the variance. With fewer stretches, the
/// halves of each stretch are compared.
const ENOUGH_STRETCHES: usize = 4;
/// Number of groups of stretches that is enough for a variance. More groups would not make it better.
const ENOUGH_UNITS: usize = 32;
/// Number of documents that is enough for a group.
const ENOUGH_DOCUMENTS: f64 = 32.0;

/// Shards of one kind.
pub(super) struct Stratum {
    pub(super) shards: Vec<usize>,
    /// Bytes of each shard.
    sizes: Vec<f64>,
    pub(super) bytes: f64,
    /// Number of records of all shards, if the files declare it.
    records: Option<f64>,
    is_small: bool,
    pub(super) is_dear: bool,
    kind: (Compression, Option<Format>),
}

/// Estimate of a stratum.
pub(super) struct Known {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
    pub(super) longest_seconds: f64,
    pub(super) reader_memory: ReaderMemory,
    pub(super) is_complete: bool,
}

/// Groups the shards by kind. Shards of one kind have the same compression and format by the names
/// of their files, are all small or all large, and are equally expensive. The number of records is
/// known for all of them or for none.
pub(super) fn strata(corpus: &dyn Corpus) -> Vec<Stratum> {
    let files = corpus.as_files();
    // Shards of one file are neighbours, so its kind is looked up only once.
    let mut last_file: Option<(usize, (Compression, Option<Format>))> = None;
    let mut strata: BTreeMap<_, Stratum> = BTreeMap::new();
    for shard in 0..corpus.shard_count() {
        let file = corpus.shard_file(shard);
        let kind = match last_file {
            Some((last, kind)) if last == file => kind,
            _ => files.map_or((Compression::None, None), |files| files.named_kind(file)),
        };
        last_file = Some((file, kind));
        let (bytes, known) = (corpus.shard_bytes(shard), corpus.known_records(shard));
        let is_small = bytes <= SMALL_BYTES;
        let price = corpus.price(shard);
        let is_dear = price != Price::Cheap;
        let key = (kind.0, kind.1.map(Format::name), known.is_some(), is_small, is_dear);
        let stratum = strata.entry(key).or_insert_with(|| Stratum {
            shards: Vec::new(),
            sizes: Vec::new(),
            bytes: 0.0,
            records: known.map(|_| 0.0),
            is_small,
            is_dear,
            kind,
        });
        stratum.shards.push(shard);
        stratum.sizes.push(bytes as f64);
        stratum.bytes += bytes as f64;
        stratum.records = stratum.records.zip(known).map(|(sum, known)| sum + known as f64);
    }
    strata.into_values().collect()
}

/// The place of a stretch.
#[derive(Clone, Copy)]
struct Pick {
    /// Index of the shard in the stratum.
    place: usize,
    /// Byte of the shard from which on the first record is searched.
    from: u64,
    /// Byte of the shard at which the stretch ends, unless the budget ends it earlier.
    until: u64,
    /// Bytes of the stratum that the stretch represents.
    weight: f64,
}

impl Stratum {
    /// Samples the stratum and estimates all of it.
    #[expect(clippy::cast_sign_loss, reason = "no number of bytes is negative")]
    pub(super) fn look(
        &self,
        corpus: &dyn Corpus,
        making: &mut dyn Making,
        budget: Budget,
    ) -> Known {
        let begun = Instant::now();
        let picks = spread(self.parts(corpus, self.picks()));
        let mut reached = 0;
        let (mut read, mut passed) = (Vec::with_capacity(picks.len()), Vec::new());
        for (at, &pick) in picks.iter().enumerate() {
            // Time that one stretch did not use goes to the later ones.
            let left = budget.less(begun.elapsed(), reached);
            if left.is_spent() && !read.is_empty() {
                break;
            }
            let Pick { place, from, until, weight } = pick;
            let allowed = if self.is_small {
                Budget::Bytes(f64::INFINITY)
            } else {
                let behind: f64 = picks[at..].iter().map(|pick| pick.weight).sum();
                left.times((weight / behind.max(f64::MIN_POSITIVE)).min(1.0))
            };
            making.begin(1.0 / picks.len() as f64);
            // The beginning of an expensive shard says little about the rest. There it is better to
            // read far than to make terms of every text. A budget of bytes must make terms of the
            // same texts each time.
            let makes_all =
                !self.is_dear || until < u64::MAX || matches!(allowed, Budget::Bytes(_));
            let way = Way { from, until, allowed, makes_all };
            match read_stretch(corpus, self.shards[place], making, way) {
                Some(stretch) => {
                    reached += stretch.bytes as u64;
                    read.push((pick, self.completed(corpus, pick, stretch)));
                }
                None => passed.push(pick),
            }
        }
        // Some parts held no record that a reading could begin with. Another stretch of the same shard
        // represents them.
        for passed in passed {
            let is_of_it = |(pick, _): &&mut (Pick, _)| pick.place == passed.place;
            if let Some((pick, _)) = read.iter_mut().find(is_of_it) {
                pick.weight += passed.weight;
            }
        }
        // Picks were read in spread order. The variance compares neighbours, so they return to the
        // order of the input.
        read.sort_unstable_by_key(|(pick, _)| (pick.place, pick.from));
        self.known(&read)
    }

    /// Chooses evenly spread shards, with the bytes of the stratum that each one represents.
    fn picks(&self) -> Vec<Pick> {
        let (count, all) = (self.shards.len(), self.bytes);
        let mean_bytes = all / count.max(1) as f64;
        let most = match (self.is_small, self.is_dear) {
            (true, _) => SMALL_PICKS,
            (false, false) if mean_bytes <= PART_BYTES => PART_PICKS,
            _ => FILE_PICKS,
        };
        let pick = |place: usize, weight| Pick { place, from: 0, until: u64::MAX, weight };
        if count <= most {
            return (0..count).map(|place| pick(place, self.sizes[place])).collect();
        }
        let step = all / most as f64;
        if self.is_small {
            // Small shards are chosen by number, since each one is read whole.
            return (0..most).map(|at| pick(at * count / most, step)).collect();
        }
        // Large shards are chosen by evenly spread bytes. A long shard contains several of these
        // bytes, so it gets more weight and a larger share of the budget.
        let (mut behind, mut place) = (self.sizes[0], 0);
        let mut picks: Vec<Pick> = Vec::with_capacity(most);
        for at in 0..most {
            let at = (at as f64 + 0.5) * step;
            while behind < at && place + 1 < count {
                place += 1;
                behind += self.sizes[place];
            }
            match picks.last_mut() {
                Some(last) if last.place == place => last.weight += step,
                _ => picks.push(pick(place, step)),
            }
        }
        picks
    }

    /// Splits the picks into parts of about equal weight, if reading can begin inside the shards.
    #[expect(clippy::cast_sign_loss, reason = "no number of bytes or parts is negative")]
    fn parts(&self, corpus: &dyn Corpus, picks: Vec<Pick>) -> Vec<Pick> {
        let Some(longest) = picks.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)) else {
            return picks;
        };
        // Only a trial shows whether reading can begin inside. The longest pick decides for all
        // shards of the kind.
        let begins_inside = |quarter: u64| {
            let shard = self.shards[longest.place];
            let from = corpus.shard_bytes(shard) / 4 * quarter;
            let visit = &mut |_: Event<'_>| Ok(ControlFlow::Break(()));
            corpus.read_shard_behind(shard, from, visit).unwrap_or(false)
        };
        if self.is_small || self.bytes <= FEW_BYTES || !(1..4).any(begins_inside) {
            return picks;
        }
        let parts = |pick: Pick| {
            let size = self.sizes[pick.place];
            let most = (size / LEAST_PART_BYTES).max(1.0);
            let count = (PARTS * pick.weight / self.bytes).round().clamp(1.0, most);
            let byte = move |part: f64| (size * part / count) as u64;
            (0..count as u32).map(f64::from).map(move |part| Pick {
                from: byte(part),
                until: byte(part + 1.0),
                weight: pick.weight / count,
                ..pick
            })
        };
        picks.into_iter().flat_map(parts).collect()
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
        if pick.until == u64::MAX
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
    fn known(&self, read: &[(Pick, Stretch)]) -> Known {
        let all = self.bytes;
        let stretches = || read.iter().map(|(_, stretch)| stretch);
        let longest = self.sizes.iter().fold(0.0, |a: f64, &b| a.max(b));
        let seen = stretches().fold(Amounts::default(), |sum, stretch| sum.plus(stretch.amounts));
        let sampled: f64 = stretches().map(|stretch| stretch.bytes).sum();
        let is_everything =
            read.len() == self.shards.len() && stretches().all(|stretch| stretch.is_whole);
        let seconds = |amounts: Amounts| amounts.read_seconds + amounts.make_seconds;
        if is_everything {
            let slowest = stretches().map(|stretch| seconds(stretch.amounts));
            let longest_seconds = slowest.fold(0.0, f64::max);
            let variances = Amounts::default();
            let reader_memory = self.reader_memory(read, seen);
            return Known {
                amounts: seen,
                variances,
                longest_seconds,
                reader_memory,
                is_complete: true,
            };
        }
        // The part that was read is exact, so the variance shrinks with the unread fraction.
        let unread = (1.0 - sampled / all.max(1.0)).clamp(0.0, 1.0);
        let (mut amounts, mut variances) = if self.is_small {
            self.by_shards_or_bytes(read, unread)
        } else {
            by_weights(&units(read), all, unread)
        };
        if let Some(all_records) = self.records {
            let records: f64 = stretches().map(|stretch| stretch.records).sum();
            // Files that declare their records give the exact number of documents.
            let each = seen.map(|amount| amount * all_records / records.max(1.0));
            (amounts.documents, amounts.id_bytes) = (each.documents, each.id_bytes);
            (variances.documents, variances.id_bytes) = (0.0, 0.0);
        }
        // Without a measurement of every shard, the longest one is assumed to take time in
        // proportion to its bytes.
        let longest_seconds = seconds(amounts) * longest / all.max(1.0);
        let reader_memory = self.reader_memory(read, amounts);
        Known { amounts, variances, longest_seconds, reader_memory, is_complete: false }
    }

    /// Estimates the memory of a reader if the stratum has the amounts `all`.
    fn reader_memory(&self, read: &[(Pick, Stretch)], all: Amounts) -> ReaderMemory {
        let stretches = || read.iter().map(|(_, stretch)| stretch);
        let longest = stretches().map(|stretch| stretch.longest);
        let longest = longest.fold(LongestRecord::default(), LongestRecord::max);
        let seen: f64 = stretches().map(|stretch| stretch.amounts.documents).sum();
        let rows = TableRows {
            text_bytes: all.text_bytes / all.documents.max(1.0),
            shard_bytes: self.sizes.iter().copied().fold(0.0, f64::max),
        };
        let (compression, format) = self.kind;
        let longest = longest.among_more(all.documents / seen.max(1.0));
        ReaderMemory::estimate(compression, format, rows, longest)
    }

    /// Estimates the stratum from shards that were read whole. Each amount is taken to be
    /// proportional to the number of shards or to their bytes, whichever has the smaller variance.
    fn by_shards_or_bytes(&self, read: &[(Pick, Stretch)], unread: f64) -> (Amounts, Amounts) {
        let of_equals = |measure: fn(&Stretch) -> f64, all: f64| {
            // The ratio of the sums is used, because an empty shard has no ratio of its own but
            // must count.
            let stretches = || read.iter().map(|(_, stretch)| stretch);
            let count = read.len().max(1) as f64;
            let mean = stretches().map(measure).sum::<f64>() / count;
            let sum = stretches().fold(Amounts::default(), |sum, s| sum.plus(s.amounts));
            let ratio = sum.map(|amount| amount / (mean * count).max(f64::MIN_POSITIVE));
            let squares = stretches().fold(Amounts::default(), |sum, stretch| {
                let expected = ratio.map(|ratio| ratio * measure(stretch));
                sum.plus(stretch.amounts.minus(expected).map(|residual| residual * residual))
            });
            let scale = all / mean.max(f64::MIN_POSITIVE);
            let variance = squares
                .map(|squares| squares / (count - 1.0).max(1.0) / count * scale * scale * unread);
            (ratio.map(|ratio| ratio * all), variance)
        };
        let (by_bytes, bytes_variance) = of_equals(|stretch| stretch.bytes, self.bytes);
        let (by_count, count_variance) = of_equals(|_| 1.0, self.shards.len() as f64);
        let best = |bytes: f64, count: f64| if count < bytes { 1.0 } else { 0.0 };
        let chosen = bytes_variance.with(count_variance, best);
        let choose = |bytes: Amounts, count: Amounts| {
            let difference = count.minus(bytes);
            bytes.plus(difference.with(chosen, |difference, chosen| difference * chosen))
        };
        (choose(by_bytes, by_count), choose(bytes_variance, count_variance))
    }
}

/// Orders the picks so that any number of the first ones are about evenly spread. Reading may stop after
/// any of them, when the budget is spent.
fn spread(picks: Vec<Pick>) -> Vec<Pick> {
    let bits = usize::BITS - picks.len().leading_zeros();
    let mut spread: Vec<(usize, Pick)> = picks.into_iter().enumerate().collect();
    // The order of reversed bits visits the halves first, then the quarters, and so on.
    spread.sort_by_key(|&(at, _)| at.reverse_bits() >> (usize::BITS - bits.max(1)));
    spread.into_iter().map(|(_, pick)| pick).collect()
}

/// Returns the weight, bytes and amounts of each unit of comparison. A unit is one of these:
///
/// * half of a stretch, if there are few stretches
/// * several neighbours together, if each stretch has few documents: a long document would be most of its
///   stretch, and its ratio would count only as much as the ratio of the stretch
/// * otherwise one stretch
fn units(read: &[(Pick, Stretch)]) -> Vec<(f64, f64, Amounts)> {
    if read.len() >= ENOUGH_STRETCHES {
        let documents: f64 = read.iter().map(|(_, stretch)| stretch.amounts.documents).sum();
        let have_enough = |&stretches: &usize| {
            documents * stretches as f64 >= ENOUGH_DOCUMENTS * read.len() as f64
        };
        let most = (read.len() / ENOUGH_UNITS).max(1);
        let together = (1..most).find(have_enough).unwrap_or(most);
        let sum = |neighbours: &[(Pick, Stretch)]| {
            neighbours.iter().fold((0.0, 0.0, Amounts::default()), |sum, (pick, stretch)| {
                (sum.0 + pick.weight, sum.1 + stretch.bytes, sum.2.plus(stretch.amounts))
            })
        };
        return read.chunks(together).map(sum).filter(|&(_, bytes, _)| bytes > 0.0).collect();
    }
    let halves = read.iter().flat_map(|(Pick { weight, .. }, stretch)| {
        let Stretch { bytes, half_bytes, amounts, half, .. } = stretch;
        let share = half_bytes / bytes.max(f64::MIN_POSITIVE);
        [
            (weight * share, *half_bytes, *half),
            (weight * (1.0 - share), bytes - half_bytes, amounts.minus(*half)),
        ]
    });
    halves.filter(|&(_, bytes, _)| bytes > 0.0).collect()
}

/// Estimates amounts and their variances from units, each weighted by the bytes that it represents.
fn by_weights(units: &[(f64, f64, Amounts)], all: f64, unread: f64) -> (Amounts, Amounts) {
    let weights = units.iter().map(|(weight, ..)| weight).sum::<f64>().max(f64::MIN_POSITIVE);
    let ratio =
        |bytes: f64, amounts: Amounts| amounts.map(|amount| amount / bytes.max(f64::MIN_POSITIVE));
    let mean = units.iter().fold(Amounts::default(), |sum, &(weight, bytes, amounts)| {
        sum.plus(ratio(bytes, amounts).map(|ratio| ratio * weight / weights))
    });
    let squares = if units.len() < ENOUGH_UNITS {
        units.iter().fold(Amounts::default(), |sum, &(weight, bytes, amounts)| {
            let off = ratio(bytes, amounts).minus(mean);
            sum.plus(off.map(|off| (off * weight / weights).powi(2)))
        })
    } else {
        // Evenly spread units follow a trend from one end to the other, so a trend adds no
        // uncertainty. Only the differences between neighbours do.
        units.windows(2).fold(Amounts::default(), |sum, two| {
            let [weight, other] = [0, 1].map(|at| two[at].0 / weights);
            let [left, right] = [0, 1].map(|at| ratio(two[at].1, two[at].2));
            let off = left.minus(right).map(|off| off * (weight + other) / 2.0);
            sum.plus(off.map(|off| off * off / 2.0))
        })
    };
    let count = units.len() as f64;
    let variance =
        // Dividing by one less than the count corrects for the mean, which comes from the same
        // units.
        squares.map(|squares| squares * count / (count - 1.0).max(1.0) * all * all * unread);
    (mean.map(|ratio| ratio * all), variance)
}
