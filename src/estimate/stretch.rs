//! A stretch of a shard, read as the run reads it, and timed.

use super::amounts::Amounts;
use simtool_model::document::Content;
use simtool_read::{Corpus, Event};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Bytes of a shard that are read at the least, if it has as many.
const LEAST_BYTES: u64 = 32 << 10;
/// Where little is made, that is of the texts of the first part of every so long a while: of texts that
/// are neighbours, so that it is seen how alike they are.
const WHILE: Duration = Duration::from_millis(6);
const MAKING: Duration = Duration::from_millis(1);

/// What a look may take.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// So long.
    Time(Duration),
    /// So many bytes of the shards, whatever they take: the same is read every time.
    Bytes(f64),
}

impl Budget {
    pub(super) fn times(self, share: f64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.mul_f64(share)),
            Self::Bytes(bytes) => Self::Bytes(bytes * share),
        }
    }

    /// What is left of it when so much was taken.
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

/// What is made of the texts that are looked at.
pub(crate) trait Making {
    /// A stretch begins, which stands for that share of its kind.
    fn begin(&mut self, share: f64);

    /// Makes something of a text; the number of its terms.
    fn make(&mut self, text: &[u8]) -> usize;
}

/// Bytes of what is longest.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Longest {
    pub(super) record: f64,
    pub(super) text: f64,
}

impl Longest {
    pub(super) fn or(self, other: Self) -> Self {
        Self { record: self.record.max(other.record), text: self.text.max(other.text) }
    }
}

/// What was read.
#[derive(Default)]
pub(super) struct Stretch {
    pub(super) amounts: Amounts,
    /// Bytes of the shard, and of its content.
    pub(super) bytes: f64,
    pub(super) content: f64,
    pub(super) records: f64,
    /// Bytes of the longest record and of the longest text.
    pub(super) longest: Longest,
    /// The same when about half of the time was over.
    pub(super) half: Amounts,
    pub(super) half_bytes: f64,
    pub(super) half_content: f64,
    /// Whether that is all of the shard.
    pub(super) is_whole: bool,
}

/// What has been seen so far.
#[derive(Default)]
struct Seen {
    amounts: Amounts,
    content: f64,
    records: f64,
    /// Bytes of the texts of which something was made, and how long that took.
    made_bytes: f64,
    making: Duration,
}

impl Seen {
    /// The amounts after so long a time, as if something had been made of all texts.
    fn after(&self, elapsed: Duration) -> Amounts {
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

/// How a stretch is read.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// The byte of the shard from which on a record is looked for, if it is not the first one.
    pub(super) from: u64,
    /// The byte at which the stretch ends, at the latest.
    pub(super) until: u64,
    pub(super) allowed: Budget,
    /// Whether something is made of every text: it is much alike from text to text, and how many there
    /// are is not, so that it can be better to get further.
    pub(super) makes_all: bool,
}

/// Reads a shard until what is allowed is spent, but not without having come some way: to begin takes
/// time of its own, which would count for every byte that the stretch stands for. `None` if no record is
/// found.
pub(super) fn read_stretch(
    corpus: &dyn Corpus,
    shard: usize,
    making: &mut dyn Making,
    Way { from, until, allowed, makes_all }: Way,
) -> Option<Stretch> {
    let (mut seen, mut told) = (Seen::default(), Stretch::default());
    let (mut first, mut last, mut is_over) = ((from == 0).then_some(0), 0, false);
    // Also of those that warm up.
    let mut longest = Longest::default();
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
            // What comes first inside a shard warms up, and takes longer than the rest.
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
    // A reader that fails reads nothing for the run either.
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
        told.bytes = corpus.shard_bytes(shard).saturating_sub(first) as f64;
        (told.records, told.is_whole) = (seen.records, from == 0);
    }
    told.longest = longest;
    Some(told)
}
