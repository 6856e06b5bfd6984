//! Documents and other data that were added to an index and are not in a segment yet.

use super::record_ranges::RecordRanges;
use crate::index::store::{Origin, Repeats, SegmentRest};
use simtool_base::stable_hash::hash;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::ParseIntError;
use std::path::Path;

/// Maximum number of entries about repeats (documents near a document of the index) that are not merged yet. If there
/// are more, entries about the same document and source are merged.
const MOST_REPEATS: usize = 1 << 20;

/// Data that the next segment of the index will hold: new documents, counts of repeats, numbers of removed documents,
/// and entries about input files. A repeat is a document that was not added, because it is near a document of the
/// index.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// Fingerprints of the documents, one after the other.
    pub(super) words: Vec<u64>,
    ids: Vec<u8>,
    /// For each document, the byte offset in `ids` at which its ID ends.
    ends: Vec<usize>,
    rest: SegmentRest,
    /// Number of entries at the start of the list of repeats (`rest.repeats`) that are already sorted and merged.
    sorted_repeats: usize,
}

impl Pending {
    /// Returns whether there is nothing that a commit must write: no documents, no counts of repeats, no removals of
    /// documents, and no entries about input files.
    pub(super) fn is_empty(&self) -> bool {
        let SegmentRest { repeats, removed, inputs, .. } = &self.rest;
        self.ends.is_empty() && repeats.is_empty() && removed.is_empty() && inputs.is_empty()
    }

    /// Returns the number of pending documents.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the approximate size of all pending data in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (size_of_val(&self.words[..]) + self.ids.len()) as u64 + self.rest_bytes()
    }

    /// Returns the approximate size of all pending data except documents, in bytes.
    pub(super) fn rest_bytes(&self) -> u64 {
        let SegmentRest { origins, repeats, removed, inputs } = &self.rest;
        let bytes = size_of_val(&origins[..]) + size_of_val(&repeats[..]);
        (bytes + size_of_val(&removed[..]) + inputs.len()) as u64
    }

    /// Returns the ID of the pending document with number `row`.
    pub(super) fn id(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.ids[start..self.ends[row]]
    }

    /// Adds a document. `words` is its fingerprint, `source` the number of its source, and `time` is in
    /// seconds since 1970.
    pub(super) fn push(&mut self, words: &[u64], id: &[u8], source: u32, time: u64) {
        let row = self.ends.len() as u32;
        Origin { row, source, time }.push(&mut self.rest.origins);
        self.words.extend_from_slice(words);
        self.ids.extend_from_slice(id);
        self.ends.push(self.ids.len());
    }

    /// Counts one more repeat of the document with the number `number`. A repeat is a document that was not added,
    /// because it is near that document. It comes from source number `source`, and was seen at `time`.
    pub(super) fn push_repeat(&mut self, number: u64, source: u32, time: u64) {
        let repeats = Repeats { number, source, count: 1, first: time, last: time };
        self.rest.repeats.push(repeats);
    }

    /// Adds an entry with the number of repeats of one document from one source. Repeats are documents near it that
    /// were not added.
    pub(super) fn push_repeats(&mut self, more: Repeats) {
        self.rest.repeats.push(more);
        self.merge_many_repeats();
    }

    /// Merges entries about repeats if there are many. Many repeats are of the same few documents, so merging
    /// entries from time to time limits the memory.
    pub(super) fn merge_many_repeats(&mut self) {
        let repeats = &mut self.rest.repeats;
        if repeats.len() - self.sorted_repeats > MOST_REPEATS {
            merge_repeats(repeats);
            self.sorted_repeats = repeats.len();
        }
    }

    /// Removes all documents after the first `documents` documents, and the last `repeats` repeats that were counted
    /// one by one.
    pub(super) fn truncate(&mut self, documents: usize, repeats: usize) {
        if documents < self.ends.len() {
            let row_words = self.words.len() / self.ends.len();
            self.words.truncate(documents * row_words);
            self.ends.truncate(documents);
            self.ids.truncate(self.ends.last().copied().unwrap_or(0));
            self.rest.origins.retain(|origin| (origin.row as usize) < documents);
        }
        // Entries that are merged already cannot be separated. They are of earlier calls.
        let kept = self.rest.repeats.len().saturating_sub(repeats);
        self.rest.repeats.truncate(kept.max(self.sorted_repeats));
    }

    /// Notes that a document in a segment is removed.
    pub(super) fn push_removed(&mut self, number: u64) {
        self.rest.removed.push(number);
    }

    /// Adds an entry about an input file. It says how many documents of the file were added.
    pub(super) fn push_input(&mut self, input: &InputEntry) {
        input.write(&mut self.rest.inputs);
    }

    /// Returns the entries about input files, one on each line.
    pub(super) fn inputs(&self) -> &[u8] {
        &self.rest.inputs
    }

    /// Removes and returns the pending data except fingerprints and IDs. Repeats and removals are sorted.
    pub(super) fn take_rest(&mut self) -> SegmentRest {
        merge_repeats(&mut self.rest.repeats);
        self.rest.removed.sort_unstable();
        self.rest.removed.dedup();
        self.sorted_repeats = 0;
        std::mem::take(&mut self.rest)
    }
}

/// Sorts entries about repeats by document number and source. Merges entries with the same document number and source
/// into one entry, which has the sum of their counts and their first and last time.
pub(super) fn merge_repeats(repeats: &mut Vec<Repeats>) {
    repeats.sort_by_key(|repeats| (repeats.number, repeats.source));
    repeats.dedup_by(|later, merged| {
        let is_same = (later.number, later.source) == (merged.number, merged.source);
        if is_same {
            merged.count = merged.count.saturating_add(later.count);
            merged.first = merged.first.min(later.first);
            merged.last = merged.last.max(later.last);
        }
        is_same
    });
}

/// Digests of the options that select the documents of a file. `None` means that all options have their default
/// values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SelectionDigests {
    /// Digest of the options that decide what a document is, for example the field of the text.
    pub(crate) reading: Option<u64>,
    /// Digest of the options that leave out some documents, for example short documents.
    pub(crate) choice: Option<u64>,
    /// Digest of the source and the time of the documents and of the field of their IDs, if the user gave any of them. A
    /// file that arrives once more, from another source or at another time, is read again, and its documents are repeats.
    pub(crate) arrival: Option<u64>,
}

/// Entry about an input file, which says how many of its documents were added. A file is recognized by name,
/// length and content, and each choice of its documents by reading options has an entry of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InputEntry {
    /// Hash of the bytes of the file.
    pub(super) digest: u64,
    /// Number of bytes of the file.
    pub(super) bytes: u64,
    /// Options that selected the documents of the file.
    pub(super) selection: SelectionDigests,
    /// Numbers of the records in the file whose documents were processed.
    pub(super) records: RecordRanges,
    /// Number of documents at the start of the file that were processed so far, whether they are new or not.
    pub(super) documents: u64,
    /// Whether all documents of the file were read.
    pub(super) is_whole: bool,
    /// Name of the file as the user wrote it, with line ends escaped.
    pub(super) name: String,
}

impl InputEntry {
    /// Creates the entry of a file whose documents were not read yet. Reads its `content` to compute its
    /// hash. `selection` has the options that select its documents.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(super) fn of_file(
        name: &Path,
        content: &mut dyn Read,
        selection: SelectionDigests,
    ) -> io::Result<Self> {
        let mut digest = simtool_base::stable_hash::StreamedHash::default();
        let (mut bytes, mut piece) = (0, vec![0; 1 << 20]);
        loop {
            match content.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => {
                    digest.update(&piece[..count]);
                    bytes += count as u64;
                }
                // A signal can interrupt a read, and then the read is tried again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self {
            digest: digest.digest(),
            bytes,
            selection,
            records: RecordRanges::default(),
            documents: 0,
            is_whole: false,
            name: in_a_line(name),
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let Self { digest, bytes, selection, records, documents, is_whole, name } = self;
        let state = if *is_whole { "whole" } else { "part" };
        let SelectionDigests { reading, choice, arrival } = *selection;
        let state = if self.has_all_documents() && reading.is_none() && arrival.is_none() {
            state.to_owned()
        } else {
            let [reading, choice, arrival] = [reading, choice, arrival].map(digest_text);
            format!("{state}:{reading}:{choice}:{records}:{arrival}")
        };
        out.extend_from_slice(
            format!("{digest:016x} {bytes} {documents} {state} {name}\n").as_bytes(),
        );
    }

    /// Parses the entries about input files in `lines`, one on each line. Skips invalid lines.
    pub(super) fn all(lines: &[u8]) -> impl Iterator<Item = Self> {
        String::from_utf8_lossy(lines)
            .lines()
            .filter_map(Self::of_line)
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn of_line(line: &str) -> Option<Self> {
        // The name is the last part because it may contain spaces.
        let mut parts = line.splitn(5, ' ');
        let mut next = || parts.next();
        let digest = u64::from_str_radix(next()?, 16).ok()?;
        let bytes = next()?.parse().ok()?;
        let documents = next()?.parse().ok()?;
        let mut state = next()?.split(':');
        let is_whole = state.next() == Some("whole");
        // An entry without options and records has no parts after the first colon.
        let reading = parse_digest(state.next().unwrap_or_default()).ok()?;
        let choice = parse_digest(state.next().unwrap_or_default()).ok()?;
        let records = state.next().unwrap_or_default().parse().ok()?;
        let arrival = parse_digest(state.next().unwrap_or_default()).ok()?;
        let selection = SelectionDigests { reading, choice, arrival };
        let name = next()?.to_owned();
        Some(Self { digest, bytes, selection, records, documents, is_whole, name })
    }

    /// Returns whether all documents of the file were processed, with none left out by options.
    fn has_all_documents(&self) -> bool {
        self.is_whole && self.selection.choice.is_none()
    }

    /// Returns whether the document in the record with the number `record` was processed. `reading` is the digest of
    /// the options that decide what a document is.
    pub(super) fn has_record(&self, record: u64, reading: Option<u64>) -> bool {
        self.selection.reading == reading
            && (self.has_all_documents() || self.records.contains(record))
    }

    /// Returns the name, the hash and the length of the file.
    fn content(&self) -> InputContent {
        (self.name.clone(), self.digest, self.bytes)
    }

    /// Forgets which documents of the file were added. If the file is added again, its documents are looked up in the
    /// index.
    pub(super) fn forget_documents(&mut self) {
        (self.documents, self.is_whole) = (0, false);
        self.records = RecordRanges::default();
    }

    /// Returns the newest entry about each input file, one on each line. Each element of `lines` has entries,
    /// one on each line. Later elements are newer.
    pub(super) fn merged(lines: &[&[u8]]) -> Vec<u8> {
        let all: Vec<Self> = lines.iter().flat_map(|lines| Self::all(lines)).collect();
        let mut last = BTreeMap::new();
        for (at, input) in all.iter().enumerate() {
            last.insert((&input.name, input.digest, input.bytes, input.selection), at);
        }
        // Entries stay in the order in which they were written, so the newest entry still comes last.
        let mut order: Vec<_> = last.into_values().collect();
        order.sort_unstable();
        let mut merged = Vec::new();
        for at in order {
            all[at].write(&mut merged);
        }
        merged
    }
}

/// Returns a digest as a text, which is empty for `None`.
fn digest_text(digest: Option<u64>) -> String {
    digest.map_or_else(String::new, |digest| format!("{digest:016x}"))
}

/// Parses a digest. An empty text is a missing digest.
fn parse_digest(text: &str) -> Result<Option<u64>, ParseIntError> {
    if text.is_empty() { Ok(None) } else { u64::from_str_radix(text, 16).map(Some) }
}

/// Name, hash and length of an input file.
type InputContent = (String, u64, u64);

/// The newest entries about all input files that were ever added to an index.
#[derive(Debug, Default)]
pub(super) struct KnownInputs(BTreeMap<InputContent, Vec<InputEntry>>);

impl KnownInputs {
    /// Adds the entries in `lines`, one on each line. An entry replaces the earlier one about the same file and the
    /// same selection of its documents.
    pub(super) fn add(&mut self, lines: &[u8]) {
        for input in InputEntry::all(lines) {
            let entries = self.0.entry(input.content()).or_default();
            entries.retain(|earlier| earlier.selection != input.selection);
            entries.push(input);
        }
    }

    /// Returns all entries.
    pub(super) fn into_entries(self) -> impl Iterator<Item = InputEntry> {
        self.0.into_values().flatten()
    }

    /// Returns the entries about the file of `input`: entries with the same name, length, hash and `arrival`. There is
    /// one entry for each selection of the documents of the file by options.
    pub(super) fn of(&self, input: &InputEntry) -> Vec<InputEntry> {
        let all = self.0.get(&input.content()).into_iter().flatten();
        all.filter(|entry| entry.selection.arrival == input.selection.arrival).cloned().collect()
    }
}

/// Returns the name of a file with line ends escaped. For a name that is not UTF-8, it returns a hash of the
/// name.
fn in_a_line(name: &Path) -> String {
    match name.to_str() {
        // A line end in a name would begin another entry.
        Some(name) => name.escape_default().to_string(),
        None => format!("{:016x}", hash(name.as_os_str().as_encoded_bytes())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_of_one_document_from_one_source_are_one() {
        let mut pending = Pending::default();
        for (number, source, time) in [(7, 0, 5), (3, 1, 4), (7, 0, 2), (7, 1, 9), (7, 0, 3)] {
            pending.push_repeat(number, source, time);
        }
        let rest = pending.take_rest();
        let found: Vec<_> = rest
            .repeats
            .iter()
            .map(|repeats| {
                (repeats.number, repeats.source, repeats.count, repeats.first, repeats.last)
            })
            .collect();
        assert_eq!(found, [(3, 1, 1, 4, 4), (7, 0, 3, 2, 5), (7, 1, 1, 9, 9)]);
        assert!(pending.is_empty());
    }

    #[test]
    fn origins_are_those_of_pieces() {
        let mut pending = Pending::default();
        for (id, source, time) in [("a", 0, 1), ("b", 0, 1), ("", 0, 2), ("cd", 1, 2)] {
            pending.push(&[1], id.as_bytes(), source, time);
        }
        assert_eq!([0, 1, 2, 3].map(|row| pending.id(row)), [&b"a"[..], b"b", b"", b"cd"]);
        let rows: Vec<_> = pending.take_rest().origins.iter().map(|origin| origin.row).collect();
        assert_eq!(rows, [0, 2, 3]);
    }

    #[test]
    fn documents_and_repeats_that_are_taken_back_leave_nothing() {
        let mut pending = Pending::default();
        pending.push(&[1, 2], b"a", 0, 1);
        pending.push_repeat(0, 0, 1);
        let before = pending.clone();
        pending.push(&[3, 4], b"bc", 0, 1);
        pending.push(&[5, 6], b"d", 1, 1);
        pending.push_repeat(2, 1, 1);
        pending.truncate(1, 1);
        assert_eq!(format!("{pending:?}"), format!("{before:?}"));
        pending.truncate(0, 1);
        assert!(pending.is_empty() && pending.words.is_empty());
    }

    #[test]
    fn of_each_input_the_last_line_counts() {
        let input = |documents, is_whole, name: &str| InputEntry {
            digest: 0xAB,
            bytes: 9,
            selection: SelectionDigests {
                choice: (documents > 2).then_some(7),
                ..SelectionDigests::default()
            },
            records: if documents > 2 {
                "0-4,8-9".parse().unwrap()
            } else {
                RecordRanges::default()
            },
            documents,
            is_whole,
            name: in_a_line(Path::new(name)),
        };
        let (mut one, mut two) = (Vec::new(), Vec::new());
        input(5, false, "a b\nc").write(&mut one);
        input(2, true, "é").write(&mut one);
        input(8, true, "a b\nc").write(&mut two);
        let merged = InputEntry::merged(&[&one, &two]);
        let all: Vec<_> = InputEntry::all(&merged).collect();
        assert_eq!(all, [input(2, true, "é"), input(8, true, "a b\nc")]);
        let mut known = KnownInputs::default();
        known.add(&one);
        known.add(&two);
        assert_eq!(known.of(&input(0, false, "a b\nc")), [input(8, true, "a b\nc")]);
        assert!(all[1].has_record(8, None) && !all[1].has_record(5, None));
        assert!(all[0].has_record(5, None) && !all[0].has_record(5, Some(1)));
        // Another selection of the documents of a file is another entry.
        known.add(b"00000000000000ab 9 3 whole a b\\nc\n");
        assert_eq!(known.of(&input(0, false, "a b\nc")).len(), 2);
        // Another arrival of the same file is not known.
        let mut arrived = input(0, false, "a b\nc");
        arrived.selection.arrival = Some(5);
        assert!(known.of(&arrived).is_empty());
        arrived.is_whole = true;
        let mut lines = Vec::new();
        arrived.write(&mut lines);
        known.add(&lines);
        assert_eq!(known.of(&arrived), [arrived]);
        assert!(known.of(&input(0, false, "other")).is_empty());
    }

    #[test]
    fn the_size_counts_fingerprints_and_ids() {
        let mut pending = Pending::default();
        pending.push(&[1, 2], b"abc", 0, 1);
        assert_eq!(pending.bytes() - pending.rest_bytes(), 2 * 8 + 3);
    }
}
