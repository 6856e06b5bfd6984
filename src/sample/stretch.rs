//! Reads a stretch of a shard as the run reads it, and measures the time.

use super::amounts::Amounts;
use super::budget::Budget;
use simtool_model::document::{Content, Document, Record};
use simtool_read::{Corpus, Event, LongestRecord};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Minimum number of bytes to read from a shard, unless the shard is shorter.
const LEAST_BYTES: u64 = 32 << 10;
/// If not every text is passed on, texts are passed on during the first `RECEIVING` of every `PERIOD`.
/// These texts are neighbours, so that the sample shows how similar neighbours are.
const PERIOD: Duration = Duration::from_millis(6);
const RECEIVING: Duration = Duration::from_millis(1);

/// Receives the texts of a sample, for example to make terms of them.
pub(crate) trait TextReceiver {
    /// Begins a stretch, which represents this share of the shards of its kind.
    fn begin_stretch(&mut self, share: f64);

    /// Receives a text and returns the number of its terms.
    fn receive(&mut self, text: &[u8]) -> usize;
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
    /// Lengths of the longest record and of the longest text, including the records that only warm up
    /// the reader. A long record needs memory wherever it is.
    pub(super) longest: LongestRecord,
    /// The amounts when about half of the budget was spent. Comparing both halves shows how much the
    /// amounts vary within the stretch.
    pub(super) half: Amounts,
    pub(super) half_bytes: f64,
    pub(super) half_content: f64,
    /// Whether the whole shard was read.
    pub(super) is_whole: bool,
}

/// Limits and settings for reading a stretch.
#[derive(Clone, Copy)]
pub(super) struct StretchLimits {
    /// Byte of the shard at which the search for the first record begins.
    pub(super) from: u64,
    /// Byte at which the stretch ends, unless the budget ends it earlier.
    pub(super) until: u64,
    pub(super) budget: Budget,
    /// Whether every text is passed on. Terms vary little from text to text, but the number of
    /// documents varies much. So it can be better to make terms of fewer texts and to read further.
    pub(super) takes_all_texts: bool,
}

/// Reads a shard until the budget is spent, but at least `LEAST_BYTES`. Opening a shard takes time, and
/// a very short stretch would charge that time to every byte that the stretch represents.
///
/// Returns `None` if no record is found.
pub(super) fn read_stretch(
    corpus: &dyn Corpus,
    shard: usize,
    receiver: &mut dyn TextReceiver,
    limits: StretchLimits,
) -> Option<Stretch> {
    let mut reading = StretchReading::begin(receiver, limits);
    let visit = &mut |event: Event<'_>| Ok(reading.visit(&event));
    // An error is dropped: the run will meet the same error and report it. The estimate uses the records
    // before it.
    if limits.from == 0 {
        drop(corpus.read_shard(shard, visit));
    } else {
        drop(corpus.read_shard_behind(shard, limits.from, visit));
    }
    reading.finish(corpus.shard_bytes(shard))
}

/// Counts of the records read so far.
#[derive(Default)]
struct ReadCounts {
    amounts: Amounts,
    content: f64,
    records: f64,
    /// Bytes of the texts that were passed on.
    received_bytes: f64,
    /// Time of the receiver for these texts.
    receiving: Duration,
}

impl ReadCounts {
    /// Returns the amounts after `elapsed` time. If only some texts were passed on, the number of their
    /// terms and their time are scaled up to all texts.
    fn after(&self, elapsed: Duration) -> Amounts {
        let times = if self.received_bytes > 0.0 {
            self.amounts.text_bytes / self.received_bytes
        } else {
            // Without any such text there is nothing to scale.
            1.0
        };
        Amounts {
            terms: self.amounts.terms * times,
            make_seconds: self.receiving.as_secs_f64() * times,
            read_seconds: elapsed.saturating_sub(self.receiving).as_secs_f64(),
            ..self.amounts
        }
    }
}

/// State of reading one stretch.
struct StretchReading<'r> {
    receiver: &'r mut dyn TextReceiver,
    limits: StretchLimits,
    begun: Instant,
    /// Byte of the shard at which counting began. `None` while the reader warms up.
    first: Option<u64>,
    /// Byte of the shard up to which `stretch` is complete.
    last: u64,
    /// Time at which counting began.
    counting_since: Instant,
    counts: ReadCounts,
    stretch: Stretch,
    /// Whether the stretch ended before its shard.
    is_ended: bool,
}

impl<'r> StretchReading<'r> {
    fn begin(receiver: &'r mut dyn TextReceiver, limits: StretchLimits) -> Self {
        let begun = Instant::now();
        Self {
            receiver,
            limits,
            begun,
            first: (limits.from == 0).then_some(0),
            last: 0,
            counting_since: begun,
            counts: ReadCounts::default(),
            stretch: Stretch::default(),
            is_ended: false,
        }
    }

    fn visit(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        match event {
            Event::Record(record) => {
                self.count_record(record);
                ControlFlow::Continue(())
            }
            Event::Reached(byte) => self.reach(*byte),
            Event::Stretch(_) | Event::Fault(_) => ControlFlow::Continue(()),
        }
    }

    fn count_record(&mut self, record: &Record<'_>) {
        self.counts.records += 1.0;
        self.counts.content = (record.byte + record.bytes.len() as u64) as f64;
        let longest = &mut self.stretch.longest;
        longest.record = longest.record.max(record.bytes.len() as f64);
        if let Content::Document(document) = &record.content {
            longest.text = longest.text.max(document.text.len() as f64);
            self.count_document(document);
        }
    }

    fn count_document(&mut self, document: &Document<'_>) {
        let bytes = document.text.len() as f64;
        if self.is_text_wanted() {
            let start = Instant::now();
            self.counts.amounts.terms += self.receiver.receive(document.text) as f64;
            self.counts.receiving += start.elapsed();
            self.counts.received_bytes += bytes;
        }
        let amounts = &mut self.counts.amounts;
        amounts.documents += 1.0;
        amounts.text_bytes += bytes;
        amounts.id_bytes += document.id.map_or(0, <[u8]>::len) as f64;
    }

    /// Returns whether the next text is passed on. If not all texts are, the clock chooses them, so that
    /// the receiver takes a fixed share of the time.
    fn is_text_wanted(&self) -> bool {
        // At least one text is needed, because nothing could be scaled up without it.
        if self.limits.takes_all_texts || self.counts.received_bytes == 0.0 {
            return true;
        }
        let in_period = self.counting_since.elapsed().as_nanos() % PERIOD.as_nanos();
        in_period < RECEIVING.as_nanos()
    }

    /// Notes that all records before this byte of the shard were visited, and ends the stretch if its
    /// budget is spent.
    fn reach(&mut self, byte: u64) -> ControlFlow<()> {
        match self.first {
            // The first records inside a shard warm up the reader and take longer than the rest.
            // Counting starts again after them.
            None if self.counts.records > 0.0 => {
                self.first = Some(byte);
                self.last = byte;
                self.counts = ReadCounts::default();
                self.counting_since = Instant::now();
            }
            Some(first) if byte > first.max(self.last) => {
                self.last = byte;
                return self.extend_to(byte, byte - first);
            }
            None | Some(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Extends the stretch to `byte`, after `read` bytes since its beginning.
    fn extend_to(&mut self, byte: u64, read: u64) -> ControlFlow<()> {
        let stretch = &mut self.stretch;
        stretch.amounts = self.counts.after(self.counting_since.elapsed());
        stretch.bytes = read as f64;
        stretch.content = self.counts.content;
        stretch.records = self.counts.records;
        let budget = self.limits.budget;
        let elapsed = self.begun.elapsed();
        // The first place is stored at once, so that a stretch with only one place has a half, too.
        let is_first_place = stretch.half_bytes == 0.0;
        if is_first_place || !budget.share(0.5).less(elapsed, read).is_spent() {
            stretch.half = stretch.amounts;
            stretch.half_bytes = stretch.bytes;
            stretch.half_content = stretch.content;
        }
        let is_enough = budget.less(elapsed, read).is_spent() || byte >= self.limits.until;
        if read >= LEAST_BYTES && is_enough {
            self.is_ended = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Returns the stretch, or `None` if no record was found. `shard_bytes` is the length of the shard.
    fn finish(mut self, shard_bytes: u64) -> Option<Stretch> {
        let first = self.first?;
        if !self.is_ended {
            // The reading ended with the shard, so no event reported the last bytes.
            self.stretch.amounts = self.counts.after(self.counting_since.elapsed());
            self.stretch.bytes = shard_bytes.saturating_sub(first) as f64;
            self.stretch.content = self.counts.content;
            self.stretch.records = self.counts.records;
            self.stretch.is_whole = self.limits.from == 0;
        }
        Some(self.stretch)
    }
}
