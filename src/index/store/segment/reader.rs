//! Reads a segment of an index.

use super::{
    DESCRIPTION, ENTRIES, ID_BLOCKS, IDS, INPUTS, META, MOST_TABLES, NUMBERS, ORIGINS, Origin,
    REMOVED, REPEATS, ROWS, Repeats, STARTS, section_name, table_kind,
};
use crate::index::store::id_list::{self, BLOCK};
use crate::index::store::sealed_file::{Seal, SealedFile, StoredArray};
use bytemuck::Pod;
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use simtool_compute::lent_array::LentArray;
use std::ops::Range;
use std::path::Path;

/// A complete segment, which is a file with documents of an index. Each part of the file is checked when it is read.
#[derive(Debug)]
pub struct Segment {
    pub(super) file: SealedFile,
    first: u64,
    rows: usize,
    row_words: usize,
    tables: u32,
    /// Whether the file stores document numbers. If the numbers have no gaps, they follow from the positions
    /// and are not stored.
    has_numbers: bool,
}

impl Segment {
    pub(in crate::index::store) fn open(
        path: &Path,
        access: FileAccess,
        seal: Option<Seal>,
    ) -> Result<Self> {
        let file = SealedFile::open(path, access, seal, section_name)?;
        let &[first, rows, row_words, tables] = file.array::<u64>(META).all()? else {
            return Err(file.contradiction(META, "four numbers of a segment"));
        };
        let (rows, row_words) = (rows as usize, row_words as usize);
        let has_numbers = !file.array::<u32>(NUMBERS).is_empty();
        let segment = Self { file, first, rows, row_words, tables: tables as u32, has_numbers };
        segment.check_lengths()?;
        Ok(segment)
    }

    /// Checks that the lengths of the sections agree with the number of documents.
    fn check_lengths(&self) -> Result<()> {
        let Self { file, rows, row_words, tables, .. } = self;
        let words = file.array::<u64>(ROWS).len();
        if rows.checked_mul(*row_words) != Some(words) || *row_words == 0 {
            return Err(file.contradiction(ROWS, "as many words as the rows have"));
        }
        let last = rows.checked_sub(1).map_or(0, |last| last as u64);
        // Matches refer to rows by 32-bit numbers, and document numbers must not overflow 64 bits.
        if u32::try_from(*rows).is_err() || self.first.checked_add(last).is_none() {
            return Err(file.contradiction(META, "a number of rows that have numbers"));
        }
        let numbers = file.array::<u32>(NUMBERS).len();
        if numbers != 0 && numbers != *rows {
            return Err(file.contradiction(NUMBERS, "a number for each row"));
        }
        if file.array::<u64>(ID_BLOCKS).len() != rows.div_ceil(BLOCK) + 1 {
            return Err(file.contradiction(ID_BLOCKS, "a place for each block of IDs"));
        }
        if *tables as usize > MOST_TABLES {
            return Err(file.contradiction(META, "a number of tables"));
        }
        Ok(())
    }

    /// Returns the document number of the first document of the segment.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number of documents in the segment.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether the segment has no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the number of bytes of the file.
    #[must_use]
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the number of 64-bit words of a stored fingerprint. Shorter fingerprints are padded with
    /// zeros.
    #[must_use]
    pub(crate) fn row_words(&self) -> usize {
        self.row_words
    }

    /// Returns the number of tables by which fingerprints of the segment are looked up.
    #[must_use]
    pub(crate) fn table_count(&self) -> usize {
        self.tables as usize
    }

    /// Returns the fingerprints as elements of type `L`, which must have the size of a stored fingerprint.
    #[must_use]
    pub fn rows<L: Pod>(&self) -> StoredArray<'_, L> {
        debug_assert_eq!(size_of::<L>(), self.row_words * size_of::<u64>());
        self.file.array(ROWS)
    }

    /// Returns the words of all fingerprints, one fingerprint after the other.
    ///
    /// # Errors
    ///
    /// Some words are damaged.
    pub fn words(&self) -> Result<&[u64]> {
        self.file.array::<u64>(ROWS).all()
    }

    /// Returns the two arrays of table number `table`. The first has the index of the first row of each bucket, and the
    /// second has the entries of all rows, bucket by bucket.
    #[must_use]
    pub fn table(&self, table: usize) -> (StoredArray<'_, u32>, StoredArray<'_, u8>) {
        let kind = |part| table_kind(table as u32, part);
        (self.file.array(kind(STARTS)), self.file.array(kind(ENTRIES)))
    }

    /// Returns the document number of the document at position `row`. If the stored number is damaged,
    /// [`check`](Self::check) reports that.
    #[must_use]
    pub fn number(&self, row: usize) -> u64 {
        let later = if self.has_numbers {
            self.file.array::<u32>(NUMBERS).at(row).map_or(0, u64::from)
        } else {
            row as u64
        };
        self.first.saturating_add(later)
    }

    /// Returns the position of the document with this number, or `None` if the segment does not have it.
    #[must_use]
    pub(crate) fn row_of(&self, number: u64) -> Option<usize> {
        let later = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let numbers = self.file.array::<u32>(NUMBERS);
        if numbers.is_empty() {
            // If the numbers have no gaps, they are not stored, because they follow from the position.
            return (later < self.rows).then_some(later);
        }
        let row = numbers.get(0..self.rows).binary_search(&u32::try_from(later).ok()?);
        row.ok()
    }

    /// Writes the ID of the document at position `row` to `id`, which is cleared first.
    ///
    /// # Errors
    ///
    /// The ID is damaged.
    pub(crate) fn read_id(&self, row: usize, id: &mut Vec<u8>) -> Result<()> {
        let mut found = false;
        self.visit_ids_of_block(row / BLOCK, id, &mut |number, _| {
            found = number == row;
            !found
        })?;
        if found { Ok(()) } else { Err(self.file.contradiction(IDS, "an ID for each row")) }
    }

    /// Calls `visit` with the position and the ID of every document, in order.
    ///
    /// # Errors
    ///
    /// Some IDs are damaged, or `visit` fails.
    pub(crate) fn visit_ids(
        &self,
        visit: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.visit_ids_from(0, visit)
    }

    /// Calls `visit` with the position and the ID of the documents from block number `block` on. A block has 16 IDs,
    /// see [`id_list`].
    pub(super) fn visit_ids_from(
        &self,
        block: usize,
        visit: &mut dyn FnMut(usize, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let (mut id, mut visited) = (Vec::new(), Ok(()));
        for block in block..self.rows.div_ceil(BLOCK) {
            self.visit_ids_of_block(block, &mut id, &mut |row, id| {
                visited = visit(row, id);
                visited.is_ok()
            })?;
            visited?;
            visited = Ok(());
        }
        Ok(())
    }

    fn visit_ids_of_block(
        &self,
        block: usize,
        id: &mut Vec<u8>,
        visit: &mut dyn FnMut(usize, &[u8]) -> bool,
    ) -> Result<()> {
        let contradiction = || self.file.contradiction(IDS, "an ID for each row");
        let &[start, end] = self.file.array::<u64>(ID_BLOCKS).get(block..block + 2) else {
            self.file.check()?;
            return Err(contradiction());
        };
        let bytes = self.id_bytes(start, end)?;
        let count = (self.rows - block * BLOCK).min(BLOCK);
        let first = block * BLOCK;
        let is_whole =
            id_list::visit_block(bytes, count, id, &mut |number, id| visit(first + number, id));
        if is_whole { Ok(()) } else { Err(contradiction()) }
    }

    /// Returns the bytes from offset `start` to `end` of the section of compressed IDs.
    pub(super) fn id_bytes(&self, start: u64, end: u64) -> Result<&[u8]> {
        let (start, end) = (start as usize, end as usize);
        let bytes = self.file.array::<u8>(IDS).get(start..end);
        // Damaged bytes read as empty, and the check returns an error for them.
        if bytes.len() != end.wrapping_sub(start) {
            self.file.check()?;
        }
        Ok(bytes)
    }

    /// Returns the sources and times of the documents. Each entry applies to consecutive documents with the same source
    /// and time.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub(crate) fn origins(&self) -> Result<&[Origin]> {
        self.file.array(ORIGINS).all()
    }

    /// Returns the entries about repeats that were seen while this segment was collected. A repeat is a near
    /// document that was not added. An entry can be about a document in an earlier segment.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub fn repeats(&self) -> Result<&[Repeats]> {
        self.file.array(REPEATS).all()
    }

    /// Returns the entries of this segment about repeats of the document with this number.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub(crate) fn repeats_of(&self, number: u64) -> Result<&[Repeats]> {
        let all = self.file.array::<Repeats>(REPEATS);
        // Bisection over single elements checks only the few blocks that it reads, and not the whole section.
        let bound = |is_before: &dyn Fn(u64) -> bool| {
            let mut range: Range<usize> = 0..all.len();
            while !range.is_empty() {
                let middle = range.start + range.len() / 2;
                match all.at(middle) {
                    Some(repeats) if is_before(repeats.number) => range.start = middle + 1,
                    _ => range.end = middle,
                }
            }
            range.start
        };
        let start = bound(&|at| at < number);
        let found = all.get(start..bound(&|at| at <= number).max(start));
        self.file.check()?;
        Ok(found)
    }

    /// Returns the numbers of the documents that were removed while this segment was collected. The removed
    /// documents can be in earlier segments.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub fn removed(&self) -> Result<&[u64]> {
        self.file.array(REMOVED).all()
    }

    /// Returns the intact entries about repeats, and the number of damaged entries.
    pub(crate) fn intact_repeats(&self) -> (Vec<Repeats>, usize) {
        let all = self.file.array::<Repeats>(REPEATS);
        let intact: Vec<Repeats> = all.intact().collect();
        let lost = all.count() - intact.len();
        (intact, lost)
    }

    /// Returns the intact numbers of removed documents, and the number of damaged ones.
    pub(crate) fn intact_removed(&self) -> (Vec<u64>, usize) {
        let all = self.file.array::<u64>(REMOVED);
        let intact: Vec<u64> = all.intact().collect();
        let lost = all.count() - intact.len();
        (intact, lost)
    }

    /// Returns the entries about input files that were read while this segment was collected, one on each
    /// line.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub fn inputs(&self) -> Result<&[u8]> {
        self.file.array(INPUTS).all()
    }

    /// Returns the method and the recipe by which the fingerprints are made, each on a line of its own.
    ///
    /// # Errors
    ///
    /// The section is damaged.
    pub(crate) fn description(&self) -> Result<&str> {
        let bytes = self.file.array(DESCRIPTION).all()?;
        let text = str::from_utf8(bytes);
        text.map_err(|_| self.file.contradiction(DESCRIPTION, "a method in UTF-8"))
    }

    /// Calls `visit` for every document whose number, ID and fingerprint are intact. `visit` gets the position of the
    /// document in this segment, its number in the whole index, its ID, and its fingerprint.
    pub(crate) fn visit_intact(&self, mut visit: impl FnMut(usize, u64, &[u8], &[u64])) {
        let (words, numbers) = (self.file.array::<u64>(ROWS), self.file.array::<u32>(NUMBERS));
        let mut id = Vec::new();
        for block in 0..self.rows.div_ceil(BLOCK) {
            // Damaged blocks are skipped, and the caller counts the missing documents.
            drop(self.visit_ids_of_block(block, &mut id, &mut |row, id| {
                let words = words.get(row * self.row_words..(row + 1) * self.row_words);
                let later = if numbers.is_empty() { Some(row as u32) } else { numbers.at(row) };
                if let (false, Some(later)) = (words.is_empty(), later) {
                    visit(row, self.first.saturating_add(u64::from(later)), id, words);
                }
                true
            }));
        }
    }

    /// Checks that everything that was read so far is intact. Damaged parts read as empty, so callers must
    /// check before they use results that were computed from the segment.
    ///
    /// # Errors
    ///
    /// A part that was read is damaged.
    pub fn check(&self) -> Result<()> {
        self.file.check()
    }

    /// Checks every byte of the file.
    ///
    /// # Errors
    ///
    /// The segment is damaged.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }
}
