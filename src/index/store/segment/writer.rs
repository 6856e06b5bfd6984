//! Writes a segment of an index.

use super::{
    DESCRIPTION, ENTRIES, ID_BLOCKS, IDS, INPUTS, META, NUMBERS, ORIGINS, REMOVED, REPEATS, ROWS,
    STARTS, Segment, SegmentRest, table_kind,
};
use crate::index::store::id_list::{BLOCK, IdEncoder};
use crate::index::store::sealed_file::{Seal, SealedWriter};
use simtool_base::error::Result;
use std::fs::File;
use std::path::Path;

/// Fingerprints and numbers of the documents of a new segment.
#[derive(Clone, Debug)]
pub struct SegmentRows<'r> {
    /// Number of the first document of the segment.
    pub first: u64,
    /// For each document, the difference of its number from `first`. `None` if the numbers have no gaps.
    pub numbers: Option<&'r [u32]>,
    /// Number of 64-bit words of a fingerprint.
    pub row_words: usize,
    /// Fingerprints, one after the other.
    pub words: &'r [u64],
}

impl<'r> SegmentRows<'r> {
    /// Creates the rows of a segment from fingerprints of `row_words` words. `numbers` holds the difference
    /// of each document number from `first`.
    #[must_use]
    pub fn new(first: u64, numbers: &'r [u32], row_words: usize, words: &'r [u64]) -> Self {
        // Document numbers have gaps only after removals. Without gaps, they need not be stored.
        let is_dense = numbers.iter().enumerate().all(|(row, &later)| row == later as usize);
        Self { first, numbers: (!is_dense).then_some(numbers), row_words, words }
    }

    /// Returns the number of documents in the segment.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / self.row_words
    }

    /// Returns whether the segment has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A segment that is being written. The fingerprints are written first, then all IDs, all tables, and the
/// [rest](SegmentRest).
#[derive(Debug)]
pub struct SegmentWriter<'f> {
    file: SealedWriter<'f>,
    ids: IdEncoder,
    encoded: Vec<u8>,
    id_blocks: Vec<u64>,
    tables: u32,
    meta: [u64; 3],
}

/// Number of bytes of compressed IDs that are collected before they are written.
const ID_PIECE: usize = 1 << 16;

impl<'f> SegmentWriter<'f> {
    /// Writes the fingerprints to an empty file. `path` is for error messages.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub fn new(file: &'f mut File, path: &'f Path, rows: &SegmentRows<'_>) -> Result<Self> {
        let mut file = SealedWriter::new(file, path)?;
        file.section(ROWS, rows.words)?;
        if let Some(numbers) = rows.numbers {
            file.section(NUMBERS, numbers)?;
        }
        file.begin::<u8>(IDS)?;
        Ok(Self {
            file,
            ids: IdEncoder::default(),
            encoded: Vec::new(),
            id_blocks: Vec::new(),
            tables: 0,
            meta: [rows.first, rows.len() as u64, rows.row_words as u64],
        })
    }

    /// Appends the ID of the next document.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(crate) fn push_id(&mut self, id: &[u8]) -> Result<()> {
        self.id_blocks.extend(self.ids.push(id, &mut self.encoded));
        if self.encoded.len() >= ID_PIECE { self.write_ids() } else { Ok(()) }
    }

    /// Appends the IDs of the documents of another segment, except documents for which `stays` is false.
    ///
    /// # Errors
    ///
    /// The file cannot be written to, or the segment is damaged.
    pub(crate) fn push_ids_of(&mut self, segment: &Segment, stays: &[bool]) -> Result<()> {
        // Blocks of IDs before the first removed document stay the same. If a block starts here, their bytes
        // are copied.
        let mut copied = 0;
        if self.ids.starts_block() {
            let first_gone = stays.iter().position(|&stays| !stays).unwrap_or(stays.len());
            copied = self.copy_id_blocks(segment, first_gone / BLOCK)?;
        }
        segment.visit_ids_from(copied, &mut |row, id| {
            if stays[row] { self.push_id(id) } else { Ok(()) }
        })
    }

    /// Copies the bytes of the first `blocks` blocks of IDs of a segment, which must be full blocks. Returns
    /// the number of copied blocks, which is 0 if the segment is damaged.
    fn copy_id_blocks(&mut self, segment: &Segment, blocks: usize) -> Result<usize> {
        let places = segment.file.array::<u64>(ID_BLOCKS).get(0..blocks + 1);
        // The caller then reads the IDs one by one, and that reports the damage.
        let &[start, .., end] = places else { return Ok(0) };
        if !places.is_sorted() {
            return Ok(0);
        }
        let bytes = segment.id_bytes(start, end)?;
        self.write_ids()?;
        self.file.write(bytes)?;
        // Offsets count from the start of the section of IDs, so the offsets of copied blocks must be moved.
        let moved = self.ids.bytes();
        self.id_blocks.extend(places[..blocks].iter().map(|place| moved + (place - start)));
        self.ids.skip_blocks(blocks, bytes.len());
        Ok(blocks)
    }

    fn write_ids(&mut self) -> Result<()> {
        self.file.write(&self.encoded)?;
        self.encoded.clear();
        Ok(())
    }

    /// Finishes the IDs. One ID must have been appended for each document.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(crate) fn end_ids(&mut self) -> Result<()> {
        self.write_ids()?;
        self.id_blocks.push(self.ids.bytes());
        self.file.section(ID_BLOCKS, &self.id_blocks)
    }

    /// Writes the next table. `starts` has the index of the first row of each bucket, and `entries` the entries of all
    /// rows, bucket by bucket.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(crate) fn push_table(&mut self, starts: &[u32], entries: &[u8]) -> Result<()> {
        self.file.section(table_kind(self.tables, STARTS), starts)?;
        self.file.section(table_kind(self.tables, ENTRIES), entries)?;
        self.tables += 1;
        Ok(())
    }

    /// Writes `rest` and `description` (the method and the recipe), and finishes the file. Returns the seal of the
    /// file.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(in crate::index::store) fn finish(
        mut self,
        rest: &SegmentRest,
        description: &str,
    ) -> Result<Seal> {
        self.file.section(ORIGINS, &rest.origins)?;
        self.file.section(REPEATS, &rest.repeats)?;
        self.file.section(REMOVED, &rest.removed)?;
        self.file.section(INPUTS, &rest.inputs)?;
        self.file.section(DESCRIPTION, description.as_bytes())?;
        let [first, rows, row_words] = self.meta;
        // The number of tables is only known now, so these four numbers come last.
        self.file.section(META, &[first, rows, row_words, u64::from(self.tables)])?;
        self.file.finish()
    }
}
