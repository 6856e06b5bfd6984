//! The quarantine: a list of the records of a collection that could not be read as documents.
//!
//! A file may have millions of bad records, so a record takes 32 bytes, and records with the same fault share
//! its description.

use super::stored_bytes::{BytesReader, BytesWriter};
use simtool_model::document::Bad;

/// Number of descriptions of faults that are compared with the fault of a new bad record. If one of the latest
/// descriptions is equal, it is not stored again. Most shards have few different faults.
const LATEST_FAULTS: usize = 16;

/// A record that could not be read as a document, with its place in the collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quarantined<'q> {
    /// Number of the file in the collection, counted from 0.
    pub file: usize,
    /// Number of the record in its file, counted from 0.
    pub record: u64,
    /// Byte offset of the record in the file.
    pub byte: u64,
    /// Length of the record in bytes.
    pub length: u64,
    /// Stable name of the fault, such as `json` or `warc-length`.
    pub code: &'static str,
    /// Description of a valid record, or of the missing part of the record.
    pub expected: &'q str,
}

/// Bad records of a collection, in reading order. A bad record could not be read as a document.
#[derive(Clone, Debug, Default)]
pub struct Quarantine {
    /// Shards with bad records.
    shards: Vec<QuarantineOfShard>,
}

/// Bad records of a shard, and the position of the shard in its file. A bad record could not be read as a document.
#[derive(Clone, Debug)]
struct QuarantineOfShard {
    /// Number of the file that the shard is a part of.
    file: usize,
    /// Number of the first record of the shard in its file.
    first_record: u64,
    bad: ShardQuarantine,
}

/// Bad records of a shard, before it is known where the shard begins in its file.
#[derive(Clone, Debug, Default)]
pub(super) struct ShardQuarantine {
    records: Vec<BadPlace>,
    faults: Vec<BadFault>,
}

/// Place of a bad record, and the index of its fault among the faults of the shard.
#[derive(Clone, Copy, Debug)]
struct BadPlace {
    /// Number of the record, counted from the beginning of the shard.
    record: u64,
    byte: u64,
    length: u64,
    fault: u32,
}

/// Description of a fault. Several bad records can share it.
#[derive(Clone, Debug)]
struct BadFault {
    code: &'static str,
    expected: Box<str>,
}

impl ShardQuarantine {
    /// Adds the bad record with the number `record`, which begins at byte `byte` of its file.
    pub(super) fn push(&mut self, record: u64, byte: u64, bad: &Bad) {
        let is_same = |fault: &BadFault| fault.code == bad.code && *fault.expected == *bad.expected;
        let first = self.faults.len().saturating_sub(LATEST_FAULTS);
        let known = self.faults[first..].iter().rposition(is_same).map(|at| first + at);
        let fault = known.unwrap_or_else(|| {
            self.faults.push(BadFault { code: bad.code, expected: (&*bad.expected).into() });
            self.faults.len() - 1
        });
        // The number fits into 32 bits: four billion different faults would not fit in memory.
        let fault = fault as u32;
        self.records.push(BadPlace { record, byte, length: bad.length, fault });
    }

    /// Appends the records to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        out.number(self.faults.len() as u64);
        for BadFault { code, expected } in &self.faults {
            out.bytes(code.as_bytes());
            out.bytes(expected.as_bytes());
        }
        out.number(self.records.len() as u64);
        for &BadPlace { record, byte, length, fault } in &self.records {
            for number in [record, byte, length, fault.into()] {
                out.number(number);
            }
        }
    }

    /// Reads the records that [`store`](Self::store) has appended. Returns `None` if the bytes do not begin with such
    /// records.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let fault = |from: &mut BytesReader<'_>| {
            Some(BadFault { code: from.code()?, expected: from.text()?.into() })
        };
        let faults = from.list(fault)?;
        let place = |from: &mut BytesReader<'_>| {
            let [record, byte, length] = [from.number()?, from.number()?, from.number()?];
            let fault = from.short_number().filter(|&fault| (fault as usize) < faults.len())?;
            Some(BadPlace { record, byte, length, fault })
        };
        let records = from.list(place)?;
        Some(Self { records, faults })
    }

    /// Frees the memory that is reserved for further records.
    pub(super) fn shrink(&mut self) {
        self.records.shrink_to_fit();
    }

    /// Returns the number of bytes of memory that the records take.
    pub(super) fn bytes(&self) -> usize {
        let texts: usize = self.faults.iter().map(|fault| fault.expected.len()).sum();
        size_of_val(&self.records[..]) + size_of_val(&self.faults[..]) + texts
    }
}

impl Quarantine {
    /// Adds the bad records of the next shard. The shard is a part of the file with the number `file`, and
    /// its first record has the number `first_record` in the file.
    pub(super) fn push_shard(&mut self, file: usize, first_record: u64, bad: ShardQuarantine) {
        if !bad.records.is_empty() {
            self.shards.push(QuarantineOfShard { file, first_record, bad });
        }
    }

    /// Adds all bad records of `more`, which come after the records of `self`.
    pub(super) fn append(&mut self, more: Self) {
        self.shards.extend(more.shards);
    }

    /// Adds `records` to the record numbers of all bad records of the file with the number `file`.
    pub(crate) fn renumber(&mut self, file: usize, records: u64) {
        for shard in self.shards.iter_mut().filter(|shard| shard.file == file) {
            shard.first_record += records;
        }
    }

    /// Replaces the description of each fault by the text that `rewrite` returns for its code and
    /// description. `None` leaves the description as it is.
    pub(crate) fn rewrite(&mut self, rewrite: impl Fn(&'static str, &str) -> Option<Box<str>>) {
        for fault in self.shards.iter_mut().flat_map(|shard| &mut shard.bad.faults) {
            if let Some(expected) = rewrite(fault.code, &fault.expected) {
                fault.expected = expected;
            }
        }
    }

    /// Returns the number of bad records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.bad.records.len()).sum()
    }

    /// Returns whether there are no bad records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// Returns the bad records in reading order.
    pub fn iter(&self) -> impl Iterator<Item = Quarantined<'_>> {
        self.shards.iter().flat_map(|QuarantineOfShard { file, first_record, bad }| {
            bad.records.iter().map(move |&BadPlace { record, byte, length, fault }| {
                let BadFault { code, expected } = &bad.faults[fault as usize];
                let record = first_record + record;
                Quarantined { file: *file, record, byte, length, code, expected }
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(code: &'static str, expected: &str) -> Bad {
        Bad { code, expected: expected.to_owned().into(), length: 7 }
    }

    #[test]
    fn records_share_their_faults_and_keep_their_order() {
        let mut all = Quarantine::default();
        let mut expected = Vec::new();
        for shard in 0..3_u64 {
            let mut records = ShardQuarantine::default();
            // Every second record has a fault of its own.
            for record in 0..100 {
                let number = if record % 2 == 0 { 0 } else { record };
                let fault = bad("json", &format!("fault {number}"));
                records.push(record, record * 10, &fault);
                let file = usize::from(shard > 0);
                let record = if shard == 2 { record + 500 } else { record };
                expected.push((file, record, fault.expected.into_owned()));
            }
            all.push_shard(usize::from(shard > 0), 0, records);
            all.push_shard(9, 0, ShardQuarantine::default());
        }
        // The second file continues.
        let last = all.shards.pop().unwrap();
        let mut rest = Quarantine { shards: vec![last] };
        rest.renumber(1, 500);
        rest.renumber(0, 7);
        all.append(rest);
        let found: Vec<_> =
            all.iter().map(|bad| (bad.file, bad.record, bad.expected.to_owned())).collect();
        assert_eq!(found, expected);
        assert_eq!((all.len(), all.is_empty()), (300, false));
        all.rewrite(|_, fault| (fault == "fault 1").then(|| "one".into()));
        assert_eq!(all.iter().filter(|bad| bad.expected == "one").count(), 3);
    }

    #[test]
    fn records_whose_faults_alternate_take_little_memory() {
        let mut records = ShardQuarantine::default();
        for record in 0..10_000 {
            let fault = bad("csv", &format!("{} columns as in the first row", record % 5));
            records.push(record, record, &fault);
        }
        records.shrink();
        assert!(records.bytes() < 32 * 10_000 + 1000, "{}", records.bytes());
        // The same text in another kind of fault is another fault.
        records.push(0, 0, &bad("json", "4 columns as in the first row"));
        assert_eq!(records.faults.len(), 6);
    }
}
