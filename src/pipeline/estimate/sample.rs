//! A look at a collection: stretches of its shards are read as the run reads them, and timed.
//! Whoever looks says what is made of the texts, and how much may be spent.
//!
//! Shards of one kind are a *stratum*, looked at by itself: small files of one document each tell
//! nothing of the archive beside them. In a stratum of small shards some are read whole, evenly
//! spread; of large ones as many bytes here as there, each as far as its share of the budget allows.
//! What a file says of itself, such as the rows of Parquet, and what is read to its end is no guess.

use crate::document::Content;
use crate::fingerprint_rows::{FingerprintRows, Shape};
use crate::input_format::{Compression, Format};
use crate::pipeline::method::{
    Criterion, DocumentTerms, Fitted, RowMaker, RowScratch, TermScratch,
};
use crate::pipeline::plan::Plan;
use crate::read::{Corpus, Event};
use crate::similarity::Threshold;
use crate::unordered_map::UnorderedMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A shard of at most so many bytes is read whole.
const SMALL_BYTES: u64 = 64 << 10;
/// Shards of a stratum that are looked into at the most: files that it takes time to begin with, parts
/// of plain files, and small ones.
const FILE_PICKS: usize = 48;
const PART_PICKS: usize = 512;
const SMALL_PICKS: usize = 1 << 14;
/// Bytes of a larger one that are read at the least.
const LEAST_BYTES: u64 = 32 << 10;
/// A shard of at most so many bytes, which is not small, is a part of a plain file.
const PART_BYTES: f64 = 2e6;
/// Fingerprints that are kept to be compared with each other.
const KEPT_ROWS: usize = 2048;
/// Terms that are kept to see which are in two documents.
const KEPT_TERMS: usize = 1 << 19;
/// Stretches from which their differences say how sure one can be; of fewer, halves are compared.
const ENOUGH_STRETCHES: usize = 4;

/// What a look may take.
#[derive(Clone, Copy, Debug)]
pub(in crate::pipeline) enum Budget {
    /// So long.
    Time(Duration),
    /// So many bytes of the shards, whatever they take: the same is read every time.
    Bytes(f64),
}

impl Budget {
    fn times(self, share: f64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.mul_f64(share)),
            Self::Bytes(bytes) => Self::Bytes(bytes * share),
        }
    }

    /// What is left of it when so much was taken.
    fn less(self, elapsed: Duration, reached: u64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.saturating_sub(elapsed)),
            Self::Bytes(bytes) => Self::Bytes((bytes - reached as f64).max(0.0)),
        }
    }

    fn is_spent(self) -> bool {
        match self {
            Self::Time(time) => time.is_zero(),
            Self::Bytes(bytes) => bytes <= 0.0,
        }
    }
}

/// What is made of the texts that are looked at.
pub(in crate::pipeline) trait Making {
    /// A stretch begins, which stands for that share of its kind.
    fn begin(&mut self, share: f64);

    /// Makes something of a text; the number of its terms.
    fn make(&mut self, text: &[u8]) -> usize;
}

/// How much there is of everything that is estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::pipeline) struct Amounts {
    pub(in crate::pipeline) documents: f64,
    pub(in crate::pipeline) text_bytes: f64,
    pub(super) id_bytes: f64,
    /// Occurrences of terms, or of the words that fingerprints are of.
    pub(super) terms: f64,
    /// Seconds of one core for unpacking and parsing.
    pub(super) read_seconds: f64,
    /// Seconds of one core for terms, and for fingerprints where these are made.
    pub(super) make_seconds: f64,
}

impl Amounts {
    /// Each amount by a function of it and that of another.
    fn with(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            documents: of(self.documents, other.documents),
            text_bytes: of(self.text_bytes, other.text_bytes),
            id_bytes: of(self.id_bytes, other.id_bytes),
            terms: of(self.terms, other.terms),
            read_seconds: of(self.read_seconds, other.read_seconds),
            make_seconds: of(self.make_seconds, other.make_seconds),
        }
    }

    fn map(self, of: impl Fn(f64) -> f64) -> Self {
        self.with(self, |amount, _| of(amount))
    }

    fn plus(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }
}

/// What a look at a collection says of all of it.
#[derive(Debug)]
pub(in crate::pipeline) struct Sample {
    pub(in crate::pipeline) amounts: Amounts,
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
    /// Bytes of memory that a reader takes at the most.
    pub(super) reader_bytes: f64,
    /// Whether everything was read, so that nothing is guessed but times.
    pub(in crate::pipeline) is_complete: bool,
    /// Some fingerprints, if any are made.
    pub(super) rows: Option<FingerprintRows<'static>>,
    /// The share of the terms that is in documents which the first round of an exact join would not
    /// drop, if there were no documents but the sampled ones: in all, it is more.
    pub(super) living_share: f64,
}

impl Sample {
    /// Looks at a collection for about as long as `time`, and makes what the plan makes.
    pub(super) fn of(corpus: &dyn Corpus, plan: &Plan, time: Duration) -> Self {
        let mut maker = Maker::new(plan);
        let sample = Self::making(corpus, &mut maker, Budget::Time(time));
        Self { living_share: maker.terms.living_share(), rows: maker.into_rows(), ..sample }
    }

    /// Looks at a collection for about as much as `budget`.
    pub(in crate::pipeline) fn making(
        corpus: &dyn Corpus,
        making: &mut dyn Making,
        budget: Budget,
    ) -> Self {
        let strata = strata(corpus);
        let all_bytes = strata.iter().map(|stratum| stratum.bytes).sum::<f64>().max(1.0);
        let mut sample = Self {
            amounts: Amounts::default(),
            variances: Amounts::default(),
            longest_seconds: 0.0,
            dear_seconds: 0.0,
            dear_share: 0.0,
            dear_shards: 0.0,
            reader_bytes: 0.0,
            is_complete: true,
            rows: None,
            living_share: 0.0,
        };
        let mut dear_text = 0.0;
        for stratum in &strata {
            let looked = stratum.look(corpus, making, budget.times(stratum.bytes / all_bytes));
            let Known { amounts, variances, longest_seconds, is_complete } = looked;
            sample.is_complete &= is_complete;
            sample.reader_bytes = sample.reader_bytes.max(stratum.reader_bytes);
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

/// Shards of one kind.
struct Stratum {
    shards: Vec<usize>,
    /// Bytes of each.
    sizes: Vec<f64>,
    bytes: f64,
    /// Records of all, where that is known.
    records: Option<f64>,
    is_small: bool,
    is_dear: bool,
    reader_bytes: f64,
}

/// What is known of a stratum.
struct Known {
    amounts: Amounts,
    variances: Amounts,
    longest_seconds: f64,
    is_complete: bool,
}

/// The shards by kind: how their files are packed and what is in them, as their names tell, whether
/// their records are known, and whether they are small.
fn strata(corpus: &dyn Corpus) -> Vec<Stratum> {
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
        let is_dear = price != crate::read::Price::Cheap;
        let key =
            (kind.0 as u8, kind.1.map(|format| format as u8), known.is_some(), is_small, is_dear);
        let stratum = strata.entry(key).or_insert_with(|| Stratum {
            shards: Vec::new(),
            sizes: Vec::new(),
            bytes: 0.0,
            records: known.map(|_| 0.0),
            is_small,
            is_dear,
            reader_bytes: reader_bytes(kind),
        });
        stratum.shards.push(shard);
        stratum.sizes.push(bytes as f64);
        stratum.bytes += bytes as f64;
        stratum.records = stratum.records.zip(known).map(|(sum, known)| sum + known as f64);
    }
    strata.into_values().collect()
}

/// Bytes of memory of a reader, about: windows, and what a decoder looks back on.
fn reader_bytes(kind: (Compression, Option<Format>)) -> f64 {
    match kind {
        (_, Some(Format::Parquet | Format::Warc)) => 6e6,
        (Compression::Zstd, _) => 9e6,
        (Compression::Gzip, _) => 2e6,
        (Compression::None, _) => 1e6,
    }
}

/// A stretch of a shard that was read.
struct Stretch {
    /// Bytes of the stratum that it stands for.
    weight: f64,
    /// Bytes that were read: in all, and up to about the middle.
    bytes: f64,
    half_bytes: f64,
    records: f64,
    amounts: Amounts,
    half: Amounts,
    is_whole: bool,
}

impl Stratum {
    /// Reads some of the shards.
    fn look(&self, corpus: &dyn Corpus, making: &mut dyn Making, budget: Budget) -> Known {
        let picks = self.picks();
        let begun = Instant::now();
        let mut reached = 0;
        let mut stretches = Vec::with_capacity(picks.len());
        for (at, &(place, weight)) in picks.iter().enumerate() {
            let left = budget.less(begun.elapsed(), reached);
            if left.is_spent() && at > 0 {
                break;
            }
            let allowed = if self.is_small {
                Budget::Bytes(f64::INFINITY)
            } else {
                let behind: f64 = picks[at..].iter().map(|&(_, weight)| weight).sum();
                left.times((weight / behind.max(f64::MIN_POSITIVE)).min(1.0))
            };
            making.begin(1.0 / picks.len() as f64);
            let shard = self.shards[place];
            let stretch = read_stretch(corpus, shard, making, allowed);
            reached += if stretch.is_whole { corpus.shard_bytes(shard) } else { stretch.reached };
            stretches.push(self.stretch(place, weight, &stretch));
        }
        self.known(&stretches)
    }

    /// Places among the shards, with the bytes of the stratum that each stands for; any number of the
    /// first ones are about evenly spread.
    fn picks(&self) -> Vec<(usize, f64)> {
        let (count, all) = (self.shards.len(), self.bytes);
        let mean_bytes = all / count.max(1) as f64;
        let most = match (self.is_small, self.is_dear) {
            (true, _) => SMALL_PICKS,
            (false, false) if mean_bytes <= PART_BYTES => PART_PICKS,
            _ => FILE_PICKS,
        };
        let mut picks: Vec<(usize, f64)> = if count <= most {
            (0..count).map(|place| (place, self.sizes[place])).collect()
        } else if self.is_small {
            let weight = all / most as f64;
            (0..most).map(|pick| (pick * count / most, weight)).collect()
        } else {
            // Where evenly spread bytes lie: a long shard is looked into for longer.
            let (step, mut behind, mut place) = (all / most as f64, self.sizes[0], 0);
            let mut picks: Vec<(usize, f64)> = Vec::with_capacity(most);
            for pick in 0..most {
                let at = (pick as f64 + 0.5) * step;
                while behind < at && place + 1 < count {
                    place += 1;
                    behind += self.sizes[place];
                }
                match picks.last_mut() {
                    Some(last) if last.0 == place => last.1 += step,
                    _ => picks.push((place, step)),
                }
            }
            picks
        };
        let bits = usize::BITS - picks.len().leading_zeros();
        let mut spread: Vec<_> = (0..).zip(picks.drain(..)).collect();
        spread
            .sort_by_key(|&(at, _): &(usize, _)| at.reverse_bits() >> (usize::BITS - bits.max(1)));
        spread.into_iter().map(|(_, pick)| pick).collect()
    }

    /// A stretch of the shard at `place`.
    fn stretch(&self, place: usize, weight: f64, read: &Read) -> Stretch {
        let all = self.sizes[place];
        let &Read { mut amounts, reached, records, half, half_reached, is_whole } = read;
        let bytes = if is_whole { all } else { (reached as f64).min(all) };
        if !is_whole && amounts.documents < 1.0 {
            // Not even one document ended: there is one that is long.
            amounts.documents = bytes / all.max(1.0);
            amounts.text_bytes = reached as f64;
        }
        let half_bytes = (half_reached as f64).min(bytes);
        Stretch { weight, bytes, half_bytes, records, amounts, half, is_whole }
    }

    /// What the stretches say of all.
    fn known(&self, stretches: &[Stretch]) -> Known {
        let all = self.bytes;
        let longest = self.sizes.iter().fold(0.0, |a: f64, &b| a.max(b));
        let read: Amounts =
            stretches.iter().fold(Amounts::default(), |sum, stretch| sum.plus(stretch.amounts));
        let sampled: f64 = stretches.iter().map(|stretch| stretch.bytes).sum();
        let is_everything = stretches.len() == self.shards.len()
            && stretches.iter().all(|stretch| stretch.is_whole);
        let seconds = |amounts: Amounts| amounts.read_seconds + amounts.make_seconds;
        if is_everything {
            let slowest = stretches.iter().map(|stretch| seconds(stretch.amounts));
            let longest_seconds = slowest.fold(0.0, f64::max);
            let variances = Amounts::default();
            return Known { amounts: read, variances, longest_seconds, is_complete: true };
        }
        let unread = (1.0 - sampled / all.max(1.0)).clamp(0.0, 1.0);
        let (mut amounts, mut variances) = if self.is_small {
            self.by_shards_or_bytes(stretches, unread)
        } else {
            by_weights(&units(stretches), all, unread)
        };
        if let Some(all_records) = self.records {
            let records: f64 = stretches.iter().map(|stretch| stretch.records).sum();
            let each = read.map(|amount| amount * all_records / records.max(1.0));
            (amounts.documents, amounts.id_bytes) = (each.documents, each.id_bytes);
            (variances.documents, variances.id_bytes) = (0.0, 0.0);
        }
        let longest_seconds = seconds(amounts) * longest / all.max(1.0);
        Known { amounts, variances, longest_seconds, is_complete: false }
    }

    /// Of shards that were read whole: each amount goes by their number or by their bytes, whichever
    /// fits better.
    fn by_shards_or_bytes(&self, stretches: &[Stretch], unread: f64) -> (Amounts, Amounts) {
        let of_equals = |measure: fn(&Stretch) -> f64, all: f64| {
            // One that is empty has no ratio, and counts.
            let mean = stretches.iter().map(measure).sum::<f64>() / stretches.len().max(1) as f64;
            let sum = stretches.iter().fold(Amounts::default(), |sum, s| sum.plus(s.amounts));
            let count = stretches.len().max(1) as f64;
            let ratio = sum.map(|amount| amount / (mean * count).max(f64::MIN_POSITIVE));
            let squares = stretches.iter().fold(Amounts::default(), |sum, stretch| {
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

/// Weight, bytes and amounts of the stretches; of their halves where they are few.
fn units(stretches: &[Stretch]) -> Vec<(f64, f64, Amounts)> {
    if stretches.len() >= ENOUGH_STRETCHES {
        return stretches.iter().map(|s| (s.weight, s.bytes, s.amounts)).collect();
    }
    let halves = stretches.iter().flat_map(|stretch| {
        let Stretch { weight, bytes, half_bytes, amounts, half, .. } = stretch;
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
    let squares = units.iter().fold(Amounts::default(), |sum, &(weight, bytes, amounts)| {
        let off = ratio(bytes, amounts).minus(mean);
        sum.plus(off.map(|off| (off * weight / weights).powi(2)))
    });
    let count = units.len() as f64;
    let variance =
        squares.map(|squares| squares * count / (count - 1.0).max(1.0) * all * all * unread);
    (mean.map(|ratio| ratio * all), variance)
}

/// What was read of a shard.
struct Read {
    amounts: Amounts,
    /// Bytes of the shard.
    reached: u64,
    records: f64,
    /// The same when about half of the time was over.
    half: Amounts,
    half_reached: u64,
    is_whole: bool,
}

/// Reads a shard until `allowed` is spent, but not without having come some way: to begin takes time of
/// its own, which would count for every byte that the stretch stands for.
fn read_stretch(
    corpus: &dyn Corpus,
    shard: usize,
    made_by: &mut dyn Making,
    allowed: Budget,
) -> Read {
    let mut seen = Amounts::default();
    let mut records = 0.0;
    let mut told =
        Read { amounts: seen, reached: 0, records, half: seen, half_reached: 0, is_whole: true };
    let begun = Instant::now();
    let mut making = Duration::ZERO;
    let timed = |seen: Amounts, making: Duration| {
        let elapsed = begun.elapsed();
        let read_seconds = elapsed.saturating_sub(making).as_secs_f64();
        (elapsed, Amounts { read_seconds, make_seconds: making.as_secs_f64(), ..seen })
    };
    let read = corpus.read_shard(shard, &mut |event| {
        match event {
            Event::Record(record) => {
                records += 1.0;
                if let Content::Document(document) = record.content {
                    let start = Instant::now();
                    seen.terms += made_by.make(document.text) as f64;
                    making += start.elapsed();
                    seen.documents += 1.0;
                    seen.text_bytes += document.text.len() as f64;
                    seen.id_bytes += document.id.map_or(0, <[u8]>::len) as f64;
                }
            }
            Event::Reached(reached) if reached > told.reached => {
                let (elapsed, amounts) = timed(seen, making);
                (told.amounts, told.reached, told.records) = (amounts, reached, records);
                if told.half_reached == 0 || !allowed.times(0.5).less(elapsed, reached).is_spent() {
                    (told.half, told.half_reached) = (amounts, reached);
                }
                if reached >= LEAST_BYTES && allowed.less(elapsed, reached).is_spent() {
                    told.is_whole = false;
                    return Ok(ControlFlow::Break(()));
                }
            }
            Event::Reached(_) | Event::Stretch(_) | Event::Fault(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    });
    // A reader that fails reads nothing for the run either.
    if told.is_whole || read.is_err() {
        (told.amounts, told.records, told.is_whole) = (timed(seen, making).1, records, true);
    }
    told
}

/// Makes of documents what the run makes of them.
struct Maker {
    made: Made,
    shape: Option<Shape>,
    row: Vec<u64>,
    kept: Vec<u64>,
    /// Fingerprints of this stretch that are still kept.
    left: usize,
    terms: SampledTerms,
}

/// Some terms of some documents, by which those are told that have a partner among these.
struct SampledTerms {
    threshold: Threshold,
    /// Terms whose lowest bits are below it are looked at.
    below: u64,
    terms: Vec<u64>,
    /// Where those of each document end, and how many it has.
    documents: Vec<(usize, usize)>,
}

impl SampledTerms {
    fn new(threshold: Threshold) -> Self {
        Self { threshold, below: 2, terms: Vec::new(), documents: Vec::new() }
    }

    fn push(&mut self, terms: &[u64]) {
        if self.terms.len() < KEPT_TERMS {
            let below = self.below;
            self.terms.extend(terms.iter().filter(|&&term| term & 7 < below));
            self.documents.push((self.terms.len(), terms.len()));
        }
    }

    fn living_share(&self) -> f64 {
        let mut counts: UnorderedMap<u64, u32> = UnorderedMap::default();
        for &term in &self.terms {
            *counts.entry(term).or_insert(0) += 1;
        }
        let (mut start, mut living, mut all) = (0, 0, 0);
        for &(end, size) in &self.documents {
            let unmatched = self.terms[start..end].iter().filter(|term| counts[*term] == 1).count();
            // Of a part of the terms, about that part may be unmatched.
            let most = self.threshold.max_unshared(size.try_into().unwrap_or(u32::MAX));
            let is_living = unmatched as f64 * 8.0 <= f64::from(most) * self.below as f64;
            living += if is_living { size } else { 0 };
            all += size;
            start = end;
        }
        living as f64 / all.max(1) as f64
    }
}

enum Made {
    Rows(RowMaker, Box<RowScratch>),
    Terms(DocumentTerms, Box<TermScratch>),
}

impl Maker {
    fn new(plan: &Plan) -> Self {
        let (recipe, isa) = (plan.method().recipe(), plan.resources().isa);
        // What a collection teaches is not known here; the terms of the texts take most of the time.
        let sketch = recipe.sketch().filter(|_| !recipe.terms().is_learned());
        let (made, shape) = if let Some(sketch) = sketch {
            let maker = RowMaker::new(recipe.terms(), sketch, &Fitted::Nothing, isa);
            let shape = maker.shape();
            (Made::Rows(maker, Box::default()), Some(shape))
        } else {
            let terms = DocumentTerms::new(recipe.terms(), &Fitted::Nothing, isa);
            (Made::Terms(terms, Box::default()), None)
        };
        let threshold = match plan.method().close() {
            Criterion::Similarity(threshold) => threshold,
            Criterion::Distance(_) => Threshold::DEFAULT,
        };
        let terms = SampledTerms::new(threshold);
        Self { made, shape, row: Vec::new(), kept: Vec::new(), left: 0, terms }
    }

    fn into_rows(self) -> Option<FingerprintRows<'static>> {
        let words = Cow::Owned(self.kept);
        self.shape.map(|shape| FingerprintRows { shape, words, validity: None, recipe: None })
    }
}

impl Making for Maker {
    #[expect(clippy::cast_sign_loss, reason = "no share is negative")]
    fn begin(&mut self, share: f64) {
        self.left = ((KEPT_ROWS as f64 * share) as usize).max(8);
    }

    /// Terms or a fingerprint.
    fn make(&mut self, text: &[u8]) -> usize {
        match &mut self.made {
            Made::Terms(maker, scratch) => {
                let terms = maker.of(text, scratch);
                self.terms.push(terms);
                terms.len()
            }
            Made::Rows(maker, scratch) => {
                self.row.clear();
                let (has_row, terms) = maker.push(text, &mut self.row, scratch);
                if has_row && self.left > 0 && self.kept.len() < KEPT_ROWS * self.row.len() {
                    self.left -= 1;
                    self.kept.extend_from_slice(&self.row);
                }
                terms
            }
        }
    }
}
