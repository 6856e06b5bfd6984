//! Reads a stretch of a shard as the run reads it, and measures the time.

use super::amounts::Amounts;
use simtool_model::document::Content;
use simtool_read::{Corpus, Event, LongestRecord};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Minimum number of bytes to read from a shard, unless the shard is shorter.
const LEAST_BYTES: u64 = 32 << 10;
/// If terms are not made of every text, they are made during the first `MAKING` of every `WHILE`. The
/// chosen texts are neighbours, so that the sample shows how similar neighbours are.
const WHILE: Duration = Duration::from_millis(6);
const MAKING: Duration = Duration::from_millis(1);

/// The limit of a look at a collection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// Maximum time.
    Time(Duration),
    /// Maximum bytes of the shards, without a limit of time. Every look reads the same bytes.
    Bytes(f64),
}

impl Budget {
    pub(super) fn times(self, share: f64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.mul_f64(share)),
            Self::Bytes(bytes) => Self::Bytes(bytes * share),
        }
    }

    /// Returns the rest of the budget after `elapsed` time and `reached` bytes.
    pub(super) fn less(self, elapsed: Duration, reached: u64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.saturating_sub(elapsed)),
            Self::Bytes(bytes) => Self::Bytes((bytes - reached as f64).max(0.0)),
        }
    }

    pub(super) fn is_spent(self) -> bool {
        match self {
            Self::Time(time) => time.is_zero(),
            Self::Bytes(bytes) => bytes <= 0.0,
        }
    }
}

/// Receives the texts of a look, and makes terms or fingerprints of them.
pub(crate) trait Making {
    /// Begins a stretch, which represents this share of the shards of its kind.
    fn begin(&mut self, share: f64);

    /// Makes terms or a fingerprint of a text, and returns the number of its terms.
    fn make(&mut self, text: &[u8]) -> usize;
}

/// The result of reading a stretch.
#[derive(Default)]
pub(super) struct Stretch {
    pub(super) amounts: Amounts,
    /// Bytes of the shard that were read.
    pub(super) bytes: f64,
    /// Bytes of the unpacked content.
    pub(super) content: f64,
    pub(super) records: f64,
    /// Bytes of the longest record and of the longest text.
    pub(super) longest: LongestRecord,
    /// The amounts when about half of the budget was spent. Comparing both halves shows how much the
    /// amounts vary within the stretch.
    pub(super) half: Amounts,
    pub(super) half_bytes: f64,
    pub(super) half_content: f64,
    /// Whether the whole shard was read.
    pub(super) is_whole: bool,
}

/// Counts of the records read so far.
#[derive(Default)]
struct Seen {
    amounts: Amounts,
    content: f64,
    records: f64,
    /// Bytes of the texts whose terms were made.
    made_bytes: f64,
    /// Time of making these terms.
    making: Duration,
}

impl Seen {
    /// Returns the amounts after `elapsed` time. If terms were made of some texts only, their number
    /// and time are scaled up to all texts.
    fn after(&self, elapsed: Duration) -> Amounts {
        // Without any made text there is nothing to scale, and the factor is 1.
        let all = self.amounts.text_bytes / self.made_bytes.max(f64::MIN_POSITIVE);
        let times = if self.made_bytes > 0.0 { all } else { 1.0 };
        Amounts {
            terms: self.amounts.terms * times,
            make_seconds: self.making.as_secs_f64() * times,
            read_seconds: elapsed.saturating_sub(self.making).as_secs_f64(),
            ..self.amounts
        }
    }
}

/// Limits and settings for reading a stretch.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Byte of the shard at which the search for the first record begins.
    pub(super) from: u64,
    /// Byte at which the stretch ends, unless the budget ends it earlier.
    pub(super) until: u64,
    pub(super) allowed: Budget,
    /// Whether terms are made of every text. Terms vary little from text to text, but the number of
    /// documents varies much. So it can be better to make fewer terms and to read further.
    pub(super) makes_all: bool,
}

/// Reads a shard until the budget is spent, but at least `LEAST_BYTES`. Opening a shard takes time, and
/// a very short stretch would charge that time to every byte that the stretch represents.
///
/// Returns `None` if no record is found.
pub(super) fn read_stretch(
    corpus: &dyn Corpus,
    shard: usize,
    making: &mut dyn Making,
    Way { from, until, allowed, makes_all }: Way,
) -> Option<Stretch> {
    let (mut seen, mut told) = (Seen::default(), Stretch::default());
    let (mut first, mut last, mut is_over) = ((from == 0).then_some(0), 0, false);
    // Records that only warm up the reader count here too, because a long record needs memory anywhere.
    let mut longest = LongestRecord::default();
    let begun = Instant::now();
    let mut reading_since = begun;
    let visit = &mut |event: Event<'_>| {
        match (event, first) {
            (Event::Record(record), _) => {
                seen.records += 1.0;
                seen.content = (record.byte + record.bytes.len() as u64) as f64;
                longest.record = longest.record.max(record.bytes.len() as f64);
                if let Content::Document(document) = record.content {
                    let bytes = document.text.len() as f64;
                    longest.text = longest.text.max(bytes);
                    // The clock chooses the texts, so that making takes a fixed share of the time.
                    // At least one text is needed, else nothing could be scaled up.
                    let in_while = reading_since.elapsed().as_nanos() % WHILE.as_nanos();
                    if makes_all || in_while < MAKING.as_nanos() || seen.made_bytes == 0.0 {
                        let start = Instant::now();
                        seen.amounts.terms += making.make(document.text) as f64;
                        seen.making += start.elapsed();
                        seen.made_bytes += bytes;
                    }
                    seen.amounts.documents += 1.0;
                    seen.amounts.text_bytes += bytes;
                    seen.amounts.id_bytes += document.id.map_or(0, <[u8]>::len) as f64;
                }
            }
            // The first records inside a shard warm up the reader and take longer than the rest.
            // Counting starts again behind them.
            (Event::Reached(reached), None) if seen.records > 0.0 => {
                (first, last, seen) = (Some(reached), reached, Seen::default());
                reading_since = Instant::now();
            }
            (Event::Reached(reached), Some(first)) if reached > first.max(last) => {
                last = reached;
                let read = reached - first;
                told.amounts = seen.after(reading_since.elapsed());
                (told.bytes, told.content) = (read as f64, seen.content);
                told.records = seen.records;
                let elapsed = begun.elapsed();
                // The first place is stored at once, so that a stretch with only one place has a
                // half, too.
                if told.half_bytes == 0.0 || !allowed.times(0.5).less(elapsed, read).is_spent() {
                    (told.half, told.half_bytes) = (told.amounts, told.bytes);
                    told.half_content = told.content;
                }
                let is_enough = allowed.less(elapsed, read).is_spent() || reached >= until;
                if read >= LEAST_BYTES && is_enough {
                    is_over = true;
                    return Ok(ControlFlow::Break(()));
                }
            }
            (Event::Reached(_) | Event::Stretch(_) | Event::Fault(_), _) => {}
        }
        Ok(ControlFlow::Continue(()))
    };
    // An error is dropped: the run will meet the same error and report it. The estimate uses the records
    // before it.
    let read = if from == 0 {
        corpus.read_shard(shard, visit).map(|_| true)
    } else {
        corpus.read_shard_behind(shard, from, visit)
    };
    drop(read);
    let first = first?;
    if !is_over {
        told.amounts = seen.after(reading_since.elapsed());
        told.content = seen.content;
        // The reading ended with the shard, so no event reported the last bytes.
        told.bytes = corpus.shard_bytes(shard).saturating_sub(first) as f64;
        (told.records, told.is_whole) = (seen.records, from == 0);
    }
    told.longest = longest;
    Some(told)
}
