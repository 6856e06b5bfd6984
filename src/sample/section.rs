//! Reads a section, which is a part of a shard or a whole shard, as the run reads it. Measures the
//! time that the processor takes. A run does not wait for the disk as the sample does, because it reads ahead.

use super::amounts::Amounts;
use super::budget::Budget;
use simtool_base::work_time::work_time;
use simtool_model::document::{Content, Document, Record};
use simtool_read::{Corpus, Event, LongestRecord};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Minimum number of bytes to read for a section, unless its shard ends earlier.
const LEAST_BYTES: u64 = 32 << 10;
/// Length of a period of reading. The receiver gets only the texts that are read in the first [`RECEIVING`] of each
/// period, unless it gets all texts.
const PERIOD: Duration = Duration::from_millis(6);
/// Time at the start of each [`PERIOD`] in which the receiver gets all texts. These texts are next to each other in the
/// input, so the sample shows how similar such texts are.
const RECEIVING: Duration = Duration::from_millis(1);

/// Receives the texts of a sample, for example to make terms of them.
pub(crate) trait TextReceiver {
    /// Begins a section, which is a part of a shard. `share` is 1 divided by the number of sections that were chosen
    /// for its stratum (all shards of one kind). The receiver may use it to limit the texts or fingerprints that it
    /// keeps of the section.
    fn begin_section(&mut self, share: f64);

    /// Receives a document and returns the number of its terms.
    fn receive(&mut self, document: &Document<'_>) -> usize;
}

/// Numbers that were measured while a section was read. A section is a part of a shard, or the whole
/// shard.
#[derive(Default)]
pub(super) struct Section {
    pub(super) amounts: Amounts,
    /// Number of bytes of the shard that were read. If the shard is compressed, compressed bytes are
    /// counted.
    pub(super) bytes: f64,
    /// End of the last record that was read, in bytes of the unpacked content.
    pub(super) content: f64,
    pub(super) records: f64,
    /// Lengths of the longest record and of the longest text. Unlike the other numbers, they include the first records,
    /// which only warm up the reader, because any long record needs memory.
    pub(super) longest: LongestRecord,
    /// Amounts after about half of the budget of the section was spent. Comparing the amounts of both halves shows how
    /// much the amounts vary within the section.
    pub(super) half: Amounts,
    pub(super) half_bytes: f64,
    pub(super) half_content: f64,
    /// Whether the whole shard was read, from its first byte to its end.
    pub(super) is_whole: bool,
}

/// Limits and settings for reading a section.
#[derive(Clone, Copy)]
pub(super) struct SectionLimits {
    /// Byte of the shard at which the search for the first record begins.
    pub(super) from: u64,
    /// Byte of the shard at which the section ends, unless the budget is spent earlier.
    pub(super) until: u64,
    pub(super) budget: Budget,
    /// Whether the receiver gets every text. If it gets only some texts, more of the shard can be read
    /// in the same time. This can make the estimate better: the number of terms varies little from text
    /// to text, but the number of documents varies much within a shard.
    pub(super) takes_all_texts: bool,
}

/// Reads a section of a shard until its budget is spent or its end is reached, but at least
/// [`LEAST_BYTES`]. Opening a shard takes time, which is then counted as a cost of the bytes in the
/// section. If the section were very short, the estimated time per byte would be far too long.
///
/// Returns `None` if the section has no record, or only records that warm up the reader.
pub(super) fn read_section(
    corpus: &dyn Corpus,
    shard: usize,
    receiver: &mut dyn TextReceiver,
    limits: SectionLimits,
) -> Option<Section> {
    let mut reading = SectionReading::begin(receiver, limits);
    let visit = &mut |event: Event<'_>| Ok(reading.visit(&event));
    // An error is dropped here, because the run will meet the same error and report it. The estimate
    // uses the records before the error.
    if limits.from == 0 {
        drop(corpus.read_shard(shard, visit));
    } else {
        drop(corpus.read_shard_behind(shard, limits.from, visit));
    }
    reading.finish(corpus.shard_bytes(shard))
}

/// Counts of the records that were read since counting began, after the reader has warmed up.
#[derive(Default)]
struct SectionCounts {
    amounts: Amounts,
    content: f64,
    records: f64,
    /// Number of bytes of the texts that the receiver got.
    received_bytes: f64,
    /// Time that the receiver took for the texts that it got.
    receiving: Duration,
}

impl SectionCounts {
    /// Returns the amounts of the section after the processor has worked on it for the time `worked`. If the receiver
    /// got only some texts, their number of terms and the time of the receiver are scaled up to all texts.
    fn after(&self, worked: Duration) -> Amounts {
        let times = if self.received_bytes > 0.0 {
            self.amounts.text_bytes / self.received_bytes
        } else {
            // If the receiver got no text, there is nothing to scale.
            1.0
        };
        Amounts {
            terms: self.amounts.terms * times,
            make_seconds: self.receiving.as_secs_f64() * times,
            read_seconds: worked.saturating_sub(self.receiving).as_secs_f64(),
            ..self.amounts
        }
    }
}

/// State while one section of a shard is read.
struct SectionReading<'r> {
    receiver: &'r mut dyn TextReceiver,
    limits: SectionLimits,
    begun: Instant,
    /// Byte of the shard at which counting began. `None` while the first records warm up the reader and
    /// do not count.
    first: Option<u64>,
    /// Byte offset in the shard up to which records are counted in `section`.
    last: u64,
    /// Time at which counting began.
    counting_since: Instant,
    /// Time that this thread had worked when counting began.
    worked_before: Duration,
    counts: SectionCounts,
    section: Section,
    /// Whether reading was stopped before the end of the shard.
    is_ended: bool,
}

impl<'r> SectionReading<'r> {
    fn begin(receiver: &'r mut dyn TextReceiver, limits: SectionLimits) -> Self {
        let begun = Instant::now();
        Self {
            receiver,
            limits,
            begun,
            first: (limits.from == 0).then_some(0),
            last: 0,
            counting_since: begun,
            worked_before: work_time(),
            counts: SectionCounts::default(),
            section: Section::default(),
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
            Event::Piece(_) | Event::Fault(_) => ControlFlow::Continue(()),
        }
    }

    fn count_record(&mut self, record: &Record<'_>) {
        self.counts.records += 1.0;
        self.counts.content = (record.byte + record.bytes.len() as u64) as f64;
        let longest = &mut self.section.longest;
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
            self.counts.amounts.terms += self.receiver.receive(document) as f64;
            self.counts.receiving += start.elapsed();
            self.counts.received_bytes += bytes;
        }
        let amounts = &mut self.counts.amounts;
        amounts.documents += 1.0;
        amounts.text_bytes += bytes;
        amounts.id_bytes += document.id.map_or(0, |id| id.bytes().len()) as f64;
    }

    /// Returns whether the receiver gets the next text. If the receiver gets only some texts, the clock decides: the
    /// receiver gets the texts of a fixed fraction of the time.
    fn is_text_wanted(&self) -> bool {
        // The receiver needs at least one text, because its numbers are scaled up to all texts.
        if self.limits.takes_all_texts || self.counts.received_bytes == 0.0 {
            return true;
        }
        let in_period = self.counting_since.elapsed().as_nanos() % PERIOD.as_nanos();
        in_period < RECEIVING.as_nanos()
    }

    /// Handles a progress event: all records before byte `byte` of the shard were visited. Stops the
    /// reading if the budget is spent or the end of the section is reached.
    fn reach(&mut self, byte: u64) -> ControlFlow<()> {
        match self.first {
            // If a section begins inside a shard, its first records warm up the reader and take longer
            // than the rest. So counting starts again after these records.
            None if self.counts.records > 0.0 => {
                self.first = Some(byte);
                self.last = byte;
                self.counts = SectionCounts::default();
                self.counting_since = Instant::now();
                self.worked_before = work_time();
            }
            Some(first) if byte > first.max(self.last) => {
                self.last = byte;
                return self.extend_to(byte, byte - first);
            }
            None | Some(_) => {}
        }
        ControlFlow::Continue(())
    }

    /// Moves the end of `self.section` to byte offset `byte` of the shard, and updates the section's counts and times
    /// to all records before it. `read` is the number of bytes between the start of the section and `byte`. Returns
    /// `Break` if the section is long enough, and its budget is spent or its end `limits.until` is reached.
    fn extend_to(&mut self, byte: u64, read: u64) -> ControlFlow<()> {
        let section = &mut self.section;
        section.amounts = self.counts.after(work_time().saturating_sub(self.worked_before));
        section.bytes = read as f64;
        section.content = self.counts.content;
        section.records = self.counts.records;
        let budget = self.limits.budget;
        let elapsed = self.begun.elapsed();
        // The numbers at the first reported byte are stored as the first half in any case. So a section
        // with only one progress event has a half, too.
        let is_first_place = section.half_bytes == 0.0;
        if is_first_place || !budget.share(0.5).less(elapsed, read).is_spent() {
            section.half = section.amounts;
            section.half_bytes = section.bytes;
            section.half_content = section.content;
        }
        let is_enough = budget.less(elapsed, read).is_spent() || byte >= self.limits.until;
        if read >= LEAST_BYTES && is_enough {
            self.is_ended = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Ends the reading and returns the section, or `None` if counting never began, for example because
    /// no record was found. `shard_bytes` is the length of the shard.
    fn finish(mut self, shard_bytes: u64) -> Option<Section> {
        let first = self.first?;
        if !self.is_ended {
            // Reading continued to the end of the shard, so no progress event reported the last bytes.
            let worked = work_time().saturating_sub(self.worked_before);
            self.section.amounts = self.counts.after(worked);
            self.section.bytes = shard_bytes.saturating_sub(first) as f64;
            self.section.content = self.counts.content;
            self.section.records = self.counts.records;
            self.section.is_whole = self.limits.from == 0;
        }
        Some(self.section)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl TextReceiver for Nothing {
        fn begin_section(&mut self, _share: f64) {}

        fn receive(&mut self, _document: &Document<'_>) -> usize {
            0
        }
    }

    #[test]
    fn counting_begins_after_the_first_records_of_a_section_inside_a_shard() {
        let reach = |from, records| {
            let (until, budget) = (u64::MAX, Budget::UNLIMITED);
            let limits = SectionLimits { from, until, budget, takes_all_texts: true };
            let mut receiver = Nothing;
            let mut reading = SectionReading::begin(&mut receiver, limits);
            reading.counts.records = records;
            assert!(reading.reach(700).is_continue());
            (reading.first, reading.counts.records.to_string())
        };
        assert_eq!(reach(0, 3.0), (Some(0), "3".to_owned()));
        assert_eq!(reach(500, 3.0), (Some(700), "0".to_owned()));
        // The first record may begin behind the first progress event.
        assert_eq!(reach(500, 0.0), (None, "0".to_owned()));
    }
}
