//! A stored shard: rows of numbers, one for each document, in the frames of a file.

use super::journal::{Frame, FrameKind, Journal, content, frames};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::unordered_map::UnorderedMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Maximum number of 64-bit numbers in a frame, which is a block of rows that is written at once. Only the row of a
/// single document may have more.
const FRAME_NUMBERS: usize = 128 << 10;

/// Positions of a stored shard in its file: its frames with rows of numbers, and the frame at its end.
#[derive(Debug)]
pub(super) struct StoredShard {
    pub(super) journal: Arc<Path>,
    pub(super) rows: Vec<Frame>,
    pub(super) end: Frame,
    /// Whether the shard cannot be used, so that its file is read again.
    pub(super) is_damaged: AtomicBool,
}

/// Writer of the rows of a shard, one row of numbers for each document. It collects rows and appends them to a file in
/// blocks.
pub(crate) struct StoreRow<'j> {
    journal: &'j Journal,
    key: u128,
    /// For each document that is not in a frame yet, the length of its row, in numbers.
    lengths: Vec<u32>,
    /// Rows of the documents of `lengths`, one after the other.
    numbers: Vec<u64>,
    rows: Vec<Frame>,
    /// First error of writing, which ends the storing.
    failed: Option<Error>,
}

impl<'j> StoreRow<'j> {
    pub(super) fn new(journal: &'j Journal, key: u128) -> Self {
        let (lengths, numbers, rows) = (Vec::new(), Vec::new(), Vec::new());
        Self { journal, key, lengths, numbers, rows, failed: None }
    }

    /// Adds the row of numbers of the next document. If writing fails, [`end`](Self::end) returns the error.
    pub(crate) fn push(&mut self, row: &[u64]) {
        // A document without numbers still has a length, so both lists are limited.
        let is_full = self.numbers.len() + row.len() > FRAME_NUMBERS;
        if (is_full || self.lengths.len() == FRAME_NUMBERS)
            && let Err(error) = self.write()
        {
            self.failed.get_or_insert(error);
        }
        // A text with 2³² terms does not fit into a record.
        self.lengths.push(row.len() as u32);
        self.numbers.extend_from_slice(row);
    }

    /// Appends the collected rows to the file as one frame.
    fn write(&mut self) -> Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if self.lengths.is_empty() {
            return Ok(());
        }
        // All bytes are written by one call, so that frames of several threads are never mixed.
        let mut content = content();
        content.extend(self.lengths.iter().flat_map(|length| length.to_le_bytes()));
        content.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        let documents = self.lengths.len() as u32;
        self.rows.push(self.journal.append(FrameKind::Rows, self.key, documents, content)?);
        self.lengths.clear();
        self.numbers.clear();
        Ok(())
    }

    /// Writes the remaining rows, and then the end of the shard: the number of its documents, and the bytes `end`, such
    /// as a summary. Returns the positions of the stored shard.
    pub(super) fn end(mut self, documents: u32, end: &[u8]) -> Result<StoredShard> {
        // The end comes last: a shard without it was not read to its end, and is not used.
        self.write()?;
        let mut bytes = content();
        bytes.extend(end);
        let end = self.journal.append(FrameKind::End, self.key, documents, bytes)?;
        let (journal, is_damaged) = (self.journal.path().into(), AtomicBool::new(false));
        Ok(StoredShard { journal, rows: self.rows, end, is_damaged })
    }
}

/// Rows that were read from a frame, which is a block of rows that was written at once. Each document of the frame has
/// one row, which is a list of numbers.
pub(super) struct Rows {
    lengths: Vec<u32>,
    numbers: Vec<u64>,
}

impl Rows {
    /// Parses the content of a frame with the rows of `documents` documents. Returns `None` if the lengths of the rows
    /// contradict the length of the content.
    pub(super) fn parse(content: &[u8], documents: u32) -> Option<Self> {
        let (lengths, numbers) = content.split_at_checked(documents as usize * size_of::<u32>())?;
        let lengths: Vec<u32> =
            lengths.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let numbers: Vec<u64> =
            numbers.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let sum: u64 = lengths.iter().copied().map(u64::from).sum();
        (sum == numbers.len() as u64).then_some(Self { lengths, numbers })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u64]> {
        let mut end = 0;
        self.lengths.iter().map(move |&length| {
            let start = end;
            end += length as usize;
            &self.numbers[start..end]
        })
    }
}

impl StoredShard {
    /// Returns the number of bytes that the rows of the shard take in the file.
    pub(super) fn bytes(&self) -> u64 {
        self.rows.iter().map(|frame| frame.bytes).sum()
    }

    pub(super) fn open(&self) -> Result<File> {
        File::open(&self.journal).map_err(|error| Error::io(&*self.journal, "read", error))
    }

    /// Reads the rows of a frame from `file`. Returns `None` if the frame is damaged.
    pub(super) fn rows_of(&self, frame: &Frame, file: &mut File) -> Result<Option<Rows>> {
        let content = frame.read(file);
        let content = content.map_err(|error| Error::io(&self.journal, "read", error))?;
        Ok(content.and_then(|content| Rows::parse(&content, frame.documents)))
    }

    /// Returns the error for a frame that is damaged now, but was undamaged earlier in this run.
    pub(super) fn changed(&self, frame: &Frame) -> Error {
        let expected = "the bytes that were there before in this run; run again".to_owned();
        ErrorKind::Format { path: (*self.journal).to_owned(), byte: frame.start, expected }.into()
    }
}

/// Finds the shards in the file `journal` that were stored completely.
pub(super) fn stored_shards(journal: &Path) -> Result<Vec<StoredShard>> {
    let found = frames(journal).map_err(|error| Error::io(journal, "read", error))?;
    let path: Arc<Path> = journal.into();
    let mut rows: UnorderedMap<u128, Vec<Frame>> = UnorderedMap::default();
    let mut shards = Vec::new();
    for frame in found {
        match frame.kind {
            // Several threads append to a file, so frames of shards alternate.
            FrameKind::Rows => rows.entry(frame.key).or_default().push(frame),
            FrameKind::End => shards.push(StoredShard {
                journal: Arc::clone(&path),
                rows: rows.remove(&frame.key).unwrap_or_default(),
                end: frame,
                is_damaged: AtomicBool::new(false),
            }),
        }
    }
    Ok(shards)
}
