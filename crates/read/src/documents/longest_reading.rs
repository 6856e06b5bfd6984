//! Detects that a shard is read differently than before in the same run.
//!
//! A run reads its input several times. If a file is moved, changed or unreadable during one of these readings, the
//! results of the readings contradict each other.

use crate::formats::{Event, Visit};
use simtool_base::error::{ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_base::stable_hash::GAMMA;
use simtool_model::document::{Content, Document, Record};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The longest reading of a shard so far. All other readings of the shard must have the same events.
#[derive(Debug, Default)]
pub(crate) struct LongestReading(Mutex<Reading>);

/// The events of one reading of a shard: their number, and a digest of their order and content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reading {
    /// Number of records and faults.
    events: u64,
    /// Number of faults that lost a part of the shard.
    losses: u64,
    digest: u64,
    /// Whether the reading reached the end of the shard. A visitor can stop a reading earlier.
    is_whole: bool,
}

impl LongestReading {
    /// Calls `read` to read the shard, and passes the events to `visit`. `file` is the name of the file for error
    /// messages.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Changed`] if the events differ from those of an earlier reading, or an error of
    /// `read` or `visit`.
    pub(crate) fn visit_same(
        &self,
        file: &Path,
        visit: &mut Visit<'_>,
        read: impl FnOnce(&mut Visit<'_>) -> Result<u64>,
    ) -> Result<u64> {
        let known = *self.lock();
        let mut reading = Reading::default();
        let mut is_stopped = false;
        let records = read(&mut |event| {
            reading.add(&event);
            if reading.goes_beyond(&known) {
                return Err(changed(file, &event));
            }
            let flow = visit(event)?;
            is_stopped = flow.is_break();
            Ok(flow)
        })?;
        reading.is_whole = !is_stopped;
        let mut longest = self.lock();
        if reading.events < longest.events {
            // The digest of the first events of the longest reading is not known.
            return if reading.is_whole { Err(shortened(file)) } else { Ok(records) };
        }
        if reading.goes_beyond(&longest) {
            return Err(shortened(file));
        }
        if !longest.is_whole {
            *longest = reading;
        }
        Ok(records)
    }

    fn lock(&self) -> MutexGuard<'_, Reading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reading {
    /// Adds the next event of the shard to the counts and the digest.
    fn add(&mut self, event: &Event<'_>) {
        let content = match event {
            Event::Record(record) => of_record(record),
            Event::Fault(fault) => {
                self.losses += u64::from(fault.severity == Severity::Loss);
                of_ends(fault.code.as_bytes()) ^ fault.byte.unwrap_or(u64::MAX)
            }
            // The same bytes may come in other portions.
            Event::Piece(_) | Event::Reached(_) => return,
        };
        self.events += 1;
        self.digest = (self.digest ^ content).wrapping_mul(GAMMA).rotate_left(29);
    }

    /// Returns whether this reading so far contradicts the earlier reading `known`. This is so if it has the same
    /// number of events with another digest, more events than a complete reading, or more losses.
    fn goes_beyond(&self, known: &Self) -> bool {
        let is_within = known.is_whole || self.events <= known.events;
        (self.events == known.events && self.digest != known.digest)
            || (known.is_whole && self.events > known.events)
            || (is_within && self.losses > known.losses)
    }
}

/// Returns a hash of the offset, the kind and the length of a record. For a document, the hash includes the length, the
/// first bytes and the last bytes of its text.
fn of_record(record: &Record<'_>) -> u64 {
    let content = match record.content {
        Content::Document(Document { text, .. }) => of_ends(text),
        Content::PassThrough => 1,
        Content::NonDocument(_) => 2,
        Content::PassedOver => 3,
        Content::Bad(bad) => bad.length.wrapping_mul(GAMMA) ^ of_ends(bad.code.as_bytes()),
    };
    content ^ record.byte.wrapping_mul(GAMMA) ^ (record.bytes.len() as u64).rotate_left(40)
}

/// Returns a hash of the length, the first 8 and the last 8 bytes of a text. The bytes between them are left out,
/// because hashing them would slow down every reading. If they change, the modification time of the file changes, too.
fn of_ends(text: &[u8]) -> u64 {
    let (mut first, mut last) = ([0; 8], [0; 8]);
    let count = text.len().min(8);
    first[..count].copy_from_slice(&text[..count]);
    last[..count].copy_from_slice(&text[text.len() - count..]);
    let ends = u64::from_le_bytes(first) ^ u64::from_le_bytes(last).rotate_left(31);
    ends.wrapping_mul(GAMMA) ^ text.len() as u64
}

/// Returns the error that `event` differs from the event of an earlier reading.
fn changed(file: &Path, event: &Event<'_>) -> simtool_base::error::Error {
    match event {
        Event::Fault(fault) => {
            // The fault reports that the rest of the input is still read, which is not so here.
            let detail = fault.detail.trim_end_matches("; skipped").trim_end_matches("; not read");
            let detail = format!(
                "{detail}; an earlier reading in this run was different. Run again when nothing changes \
                 the input"
            );
            ErrorKind::Changed { fault: Fault { detail, ..fault.clone() } }.into()
        }
        _ => shortened(file),
    }
}

/// Returns the error that a file has other records than in an earlier reading.
fn shortened(file: &Path) -> simtool_base::error::Error {
    let detail = "has other records than in an earlier reading in this run. Run again when nothing \
                  changes the input";
    let fault = Fault {
        severity: Severity::Loss,
        code: "changed",
        file: file.to_owned(),
        byte: None,
        detail: detail.to_owned(),
        lost_records: 0,
    };
    ErrorKind::Changed { fault }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::{Collection, Corpus, ReadOptions};
    use std::fs;
    use std::ops::ControlFlow;

    /// Reads the first shard up to record number `end`.
    fn read(collection: &Collection, end: u64) -> Result<u64> {
        let mut records = 0;
        collection.read_shard(0, &mut |event| {
            records += u64::from(matches!(event, Event::Record(_)));
            Ok(if records < end { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })
    }

    fn opened(folder: &Path, text: &str) -> Collection {
        let path = folder.join("a.jsonl");
        fs::write(&path, text).unwrap();
        Collection::of_paths(&[path], ReadOptions::default()).unwrap()
    }

    const LINES: &str = "{\"text\":\"a b c\"}\n{\"text\":\"d e f\"}\n{\"text\":\"g h i\"}\n";

    #[test]
    fn equal_readings_of_any_length_agree() {
        let folder = tempfile::tempdir().unwrap();
        let collection = opened(folder.path(), LINES);
        for end in [2, 1, 3, 2, u64::MAX, 1, u64::MAX] {
            assert_eq!(read(&collection, end).unwrap(), end.min(3));
        }
    }

    #[test]
    fn a_file_that_is_gone_or_changed_after_a_reading_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        for (first, second) in [(2, u64::MAX), (u64::MAX, u64::MAX), (u64::MAX, 2)] {
            let collection = opened(folder.path(), LINES);
            read(&collection, first).unwrap();
            fs::remove_file(&path).unwrap();
            let error = read(&collection, second).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Changed { .. }), "{error}");
            assert!(error.to_string().contains("a.jsonl"), "{error}");
            assert!(error.to_string().contains("an earlier reading"), "{error}");
            let collection = opened(folder.path(), LINES);
            read(&collection, first).unwrap();
            fs::write(&path, format!("{LINES}{LINES}")).unwrap();
            let error = read(&collection, second).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Changed { .. }), "{error}");
        }
    }

    #[test]
    fn a_file_that_comes_back_is_an_error_too() {
        let folder = tempfile::tempdir().unwrap();
        let collection = opened(folder.path(), LINES);
        let [here, away] = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
        fs::rename(&here, &away).unwrap();
        read(&collection, u64::MAX).unwrap();
        fs::rename(&away, &here).unwrap();
        assert!(read(&collection, u64::MAX).is_err());
    }

    #[test]
    fn other_records_in_a_file_of_the_same_length_and_time_are_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let collection = opened(folder.path(), LINES);
        let time = fs::metadata(&path).unwrap().modified().unwrap();
        read(&collection, u64::MAX).unwrap();
        for other in [LINES.replace("d e f", "d e g"), LINES.replace("}\n{", "}  ")] {
            fs::write(&path, &other[..LINES.len().min(other.len())]).unwrap();
            fs::File::options().append(true).open(&path).unwrap().set_modified(time).unwrap();
            let error = read(&collection, u64::MAX).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Changed { .. }), "{error}");
        }
    }
}
