//! Shards of one kind, of which some stretches say what all are like.
//!
//! Of small shards some are read whole, evenly spread; of large ones as many bytes here as there, each
//! as far as its share of the budget allows: from the beginning, and where reading can begin inside,
//! from many places of each, since the beginning of a file says little of the rest. What a file says of
//! itself, such as the rows of Parquet, and what is read to its end is no guess.

use super::amounts::Amounts;
use super::stretch::{Budget, Longest, Making, Stretch, Way, read_stretch};
use simtool_model::compression::Compression;
use simtool_read::{Corpus, Event, Format, Price, TableRows};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Instant;

/// A shard of at most so many bytes is read whole.
const SMALL_BYTES: u64 = 64 << 10;
/// Shards of a stratum that are looked into at the most: files that it takes time to begin with, parts
/// of plain files, and small ones.
const FILE_PICKS: usize = 48;
const PART_PICKS: usize = 512;
const SMALL_PICKS: usize = 1 << 14;
/// A shard of at most so many bytes, which is not small, is a part of a plain file.
const PART_BYTES: f64 = 2e6;
/// Parts of a stratum, about, each of which is looked into, where reading can begin inside the shards;
/// and how long they are at the least.
const PARTS: f64 = 192.0;
const LEAST_PART_BYTES: f64 = 256e3;
/// Fewer bytes than that are read from their beginning: it may be that all of it is read.
const FEW_BYTES: f64 = 8e6;
/// Stretches from which their differences say how sure one can be; of fewer, halves are compared.
const ENOUGH_STRETCHES: usize = 4;
/// Groups of stretches whose differences say that as well as those of more, and documents of a group.
const ENOUGH_UNITS: usize = 32;
const ENOUGH_DOCUMENTS: f64 = 32.0;

// What a reader takes was measured on a real crawl in every format, with one thread and with two. The
// tenth longest of its pages is a third as long as the longest, so that of as many times as many
// documents the longest is taken to be longer by the root of that.

/// Bytes of a window on packed bytes for each byte of the longest record: it grows twofold, and what it
/// had before is not always given back.
const WINDOW: f64 = 3.0;
/// Bytes for each byte of the longest text, for what is made of it.
const BYTES_A_TEXT_BYTE: f64 = 1.5;
/// Bytes of a decoder, and of what it looks back on as files are packed by default.
const GZIP_BYTES: f64 = 0.5e6;
const ZSTD_BYTES: f64 = 4e6;

/// Shards of one kind.
pub(super) struct Stratum {
    pub(super) shards: Vec<usize>,
    /// Bytes of each.
    sizes: Vec<f64>,
    pub(super) bytes: f64,
    /// Records of all, where that is known.
    records: Option<f64>,
    is_small: bool,
    pub(super) is_dear: bool,
    kind: (Compression, Option<Format>),
}

/// What is known of a stratum.
pub(super) struct Known {
    pub(super) amounts: Amounts,
    pub(super) variances: Amounts,
    pub(super) longest_seconds: f64,
    pub(super) reader_bytes: ReaderBytes,
    pub(super) is_complete: bool,
}

/// Bytes of memory that a reader takes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReaderBytes {
    /// Whatever it reads.
    pub(super) any: f64,
    /// For what is longest.
    pub(super) longest: f64,
}

impl ReaderBytes {
    pub(super) fn or(self, other: Self) -> Self {
        Self { any: self.any.max(other.any), longest: self.longest.max(other.longest) }
    }
}

/// The shards by kind: how their files are packed and what is in them, as their names tell, whether
/// their records are known, and whether they are small.
pub(super) fn strata(corpus: &dyn Corpus) -> Vec<Stratum> {
    let files = corpus.as_files();
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

/// Where a stretch lies.
#[derive(Clone, Copy)]
struct Pick {
    /// Which of the shards.
    place: usize,
    /// Bytes of the shard between which it begins and ends, at the most.
    from: u64,
    until: u64,
    /// Bytes of the stratum that it stands for.
    weight: f64,
}

impl Stratum {
    /// Reads some of the shards.
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
            // From a beginning it is better to get far than to make much.
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
        // What can only be read from its beginning stands for all that it is.
        for passed in passed {
            let is_of_it = |(pick, _): &&mut (Pick, _)| pick.place == passed.place;
            if let Some((pick, _)) = read.iter_mut().find(is_of_it) {
                pick.weight += passed.weight;
            }
        }
        read.sort_unstable_by_key(|(pick, _)| (pick.place, pick.from));
        self.known(&read)
    }

    /// Some of the shards, with the bytes of the stratum that each stands for.
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
            return (0..most).map(|at| pick(at * count / most, step)).collect();
        }
        // Where evenly spread bytes lie: a long shard is looked into for longer.
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

    /// The same, in parts of about equal weight, where reading can begin inside the shards.
    #[expect(clippy::cast_sign_loss, reason = "no number of bytes or parts is negative")]
    fn parts(&self, corpus: &dyn Corpus, picks: Vec<Pick>) -> Vec<Pick> {
        let Some(longest) = picks.iter().max_by(|a, b| a.weight.total_cmp(&b.weight)) else {
            return picks;
        };
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

    /// The stretch, with what is known of the shard besides: the part of it that was read is that of its
    /// content, where the file says how long this is, and of a document that is so long that none ended
    /// there is a part too.
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

    /// What the stretches say of all.
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
            let reader_bytes = self.reader_bytes(read, seen);
            return Known {
                amounts: seen,
                variances,
                longest_seconds,
                reader_bytes,
                is_complete: true,
            };
        }
        let unread = (1.0 - sampled / all.max(1.0)).clamp(0.0, 1.0);
        let (mut amounts, mut variances) = if self.is_small {
            self.by_shards_or_bytes(read, unread)
        } else {
            by_weights(&units(read), all, unread)
        };
        if let Some(all_records) = self.records {
            let records: f64 = stretches().map(|stretch| stretch.records).sum();
            let each = seen.map(|amount| amount * all_records / records.max(1.0));
            (amounts.documents, amounts.id_bytes) = (each.documents, each.id_bytes);
            (variances.documents, variances.id_bytes) = (0.0, 0.0);
        }
        let longest_seconds = seconds(amounts) * longest / all.max(1.0);
        let reader_bytes = self.reader_bytes(read, amounts);
        Known { amounts, variances, longest_seconds, reader_bytes, is_complete: false }
    }

    /// Bytes of memory of a reader, where there is so much of everything.
    fn reader_bytes(&self, read: &[(Pick, Stretch)], all: Amounts) -> ReaderBytes {
        let stretches = || read.iter().map(|(_, stretch)| stretch);
        let longest = stretches().fold(Longest::default(), |a, stretch| a.or(stretch.longest));
        let seen: f64 = stretches().map(|stretch| stretch.amounts.documents).sum();
        let times = (all.documents / seen.max(1.0)).max(1.0).sqrt();
        let rows = TableRows {
            text_bytes: all.text_bytes / all.documents.max(1.0),
            shard_bytes: self.sizes.iter().copied().fold(0.0, f64::max),
        };
        let (compression, format) = self.kind;
        let of_table = format.and_then(|format| format.table_bytes(rows));
        let (any, window) = match (of_table, compression) {
            (Some(table_bytes), _) => (table_bytes, 0.0),
            (None, Compression::Zstd) => (ZSTD_BYTES, WINDOW * longest.record),
            (None, Compression::Gzip) => (GZIP_BYTES, WINDOW * longest.record),
            (None, Compression::None) => (0.0, 0.0),
        };
        ReaderBytes { any, longest: times * (window + BYTES_A_TEXT_BYTE * longest.text) }
    }

    /// Of shards that were read whole: each amount goes by their number or by their bytes, whichever
    /// fits better.
    fn by_shards_or_bytes(&self, read: &[(Pick, Stretch)], unread: f64) -> (Amounts, Amounts) {
        let of_equals = |measure: fn(&Stretch) -> f64, all: f64| {
            // One that is empty has no ratio, and counts.
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

/// The picks in such an order that any number of the first ones are about evenly spread.
fn spread(picks: Vec<Pick>) -> Vec<Pick> {
    let bits = usize::BITS - picks.len().leading_zeros();
    let mut spread: Vec<(usize, Pick)> = picks.into_iter().enumerate().collect();
    spread.sort_by_key(|&(at, _)| at.reverse_bits() >> (usize::BITS - bits.max(1)));
    spread.into_iter().map(|(_, pick)| pick).collect()
}

/// Weight, bytes and amounts of the stretches: of their halves where they are few, of neighbours together
/// where each has few documents, since a long one would be most of its stretch, and count as little as it.
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

/// Amounts, and how far they may be off, by the ratios of units that stand for more than themselves.
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
        // What differs from one end to the other and is evenly looked at makes nothing unsure: only
        // what differs from neighbour to neighbour does.
        units.windows(2).fold(Amounts::default(), |sum, two| {
            let [weight, other] = [0, 1].map(|at| two[at].0 / weights);
            let [left, right] = [0, 1].map(|at| ratio(two[at].1, two[at].2));
            let off = left.minus(right).map(|off| off * (weight + other) / 2.0);
            sum.plus(off.map(|off| off * off / 2.0))
        })
    };
    let count = units.len() as f64;
    let variance =
        squares.map(|squares| squares * count / (count - 1.0).max(1.0) * all * all * unread);
    (mean.map(|ratio| ratio * all), variance)
}
