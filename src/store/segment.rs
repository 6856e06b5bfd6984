//! A segment: documents that were stored in a row, with the tables that find them, and what else was
//! learned meanwhile. It never changes.

use super::id_list::{self, BLOCK, IdEncoder};
use super::sealed_file::{Kind, Seal, SealedFile, SealedWriter, StoredArray};
use bytemuck::{Pod, Zeroable};
use simtool_base::error::Result;
use simtool_base::mapped_file::FileAccess;
use simtool_compute::lent_array::LentArray;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

/// First number, number of documents, words of a row as stored, number of tables.
const META: Kind = Kind(1);
const ROWS: Kind = Kind(2);
const NUMBERS: Kind = Kind(3);
const IDS: Kind = Kind(4);
const ID_BLOCKS: Kind = Kind(5);
const ORIGINS: Kind = Kind(6);
const REPEATS: Kind = Kind(7);
const REMOVED: Kind = Kind(8);
const INPUTS: Kind = Kind(9);
const DESCRIPTION: Kind = Kind(10);
/// The first kind of the tables, which have two each.
const TABLES: u32 = 16;
const STARTS: u32 = 0;
const ENTRIES: u32 = 1;
/// Tables at the most.
pub const MOST_TABLES: usize = 24;

/// What a section is called in messages.
fn section_name(Kind(kind): Kind) -> &'static str {
    const NAMES: [&str; 11] = [
        "",
        "its numbers",
        "fingerprints",
        "the documents' numbers",
        "IDs",
        "the places of IDs",
        "origins",
        "repeats",
        "removals",
        "inputs",
        "the method",
    ];
    NAMES.get(kind as usize).copied().unwrap_or("tables")
}

/// Where documents come from that were stored one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Origin {
    /// The row of the first of them, in its segment.
    pub row: u32,
    /// Number of the source.
    pub source: u32,
    /// When they were stored, in seconds since 1970.
    pub time: u64,
}

impl Origin {
    /// Adds the origin of documents from a row on to those of the rows before, unless it is the same.
    pub fn push(self, origins: &mut Vec<Self>) {
        let last = origins.last();
        if last.is_none_or(|last| (last.source, last.time) != (self.source, self.time)) {
            origins.push(self);
        }
    }

    /// Source and time of the document in a row, of origins that ascend.
    #[must_use]
    pub fn of_row(origins: &[Self], row: usize) -> (u32, u64) {
        let behind = origins.partition_point(|origin| origin.row as usize <= row);
        let found = behind.checked_sub(1).map(|at| origins[at]);
        found.map_or((0, 0), |origin| (origin.source, origin.time))
    }
}

/// Repeats of a document from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Repeats {
    /// The number of the document that is repeated.
    pub number: u64,
    /// Number of the source.
    pub source: u32,
    /// How many there were.
    pub count: u32,
    /// When the first came, in seconds since 1970.
    pub first: u64,
    /// When the last came.
    pub last: u64,
}

/// What a segment holds beside rows, IDs and tables.
#[derive(Clone, Debug, Default)]
pub struct SegmentRest {
    /// Where the documents come from, ascending by row.
    pub origins: Vec<Origin>,
    /// Repeats that came, ascending by number and source.
    pub repeats: Vec<Repeats>,
    /// Numbers of documents that were removed, ascending.
    pub removed: Vec<u64>,
    /// Inputs that were read, a line each.
    pub inputs: Vec<u8>,
}

/// The documents of a segment that is to be written.
#[derive(Clone, Debug)]
pub struct SegmentRows<'r> {
    /// The number of the first.
    pub first: u64,
    /// How much later each number is than the first, where some are left out between.
    pub numbers: Option<&'r [u32]>,
    /// Words of a row.
    pub row_words: usize,
    /// The rows.
    pub words: &'r [u64],
}

impl<'r> SegmentRows<'r> {
    /// Rows of `row_words` words; `numbers` says how much later each number is than the first.
    #[must_use]
    pub fn new(first: u64, numbers: &'r [u32], row_words: usize, words: &'r [u64]) -> Self {
        let is_dense = numbers.iter().enumerate().all(|(row, &later)| row == later as usize);
        Self { first, numbers: (!is_dense).then_some(numbers), row_words, words }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / self.row_words
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

/// A segment that is being written: rows first, then all IDs, all tables, and the rest.
#[derive(Debug)]
pub struct SegmentWriter<'f> {
    file: SealedWriter<'f>,
    ids: IdEncoder,
    encoded: Vec<u8>,
    id_blocks: Vec<u64>,
    tables: u32,
    meta: [u64; 3],
}

/// Bytes of IDs that are written together.
const ID_PIECE: usize = 1 << 16;

impl<'f> SegmentWriter<'f> {
    /// Writes the rows to an empty file; `path` is for messages.
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

    /// Adds the ID of the next row.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub fn push_id(&mut self, id: &[u8]) -> Result<()> {
        self.id_blocks.extend(self.ids.push(id, &mut self.encoded));
        if self.encoded.len() >= ID_PIECE { self.write_ids() } else { Ok(()) }
    }

    /// Adds the IDs of the rows of a segment that stay.
    ///
    /// # Errors
    ///
    /// The file cannot be written to, or the segment is damaged.
    pub fn push_ids_of(&mut self, segment: &Segment, stays: &[bool]) -> Result<()> {
        let mut copied = 0;
        if self.ids.starts_block() {
            let first_gone = stays.iter().position(|&stays| !stays).unwrap_or(stays.len());
            copied = self.copy_id_blocks(segment, first_gone / BLOCK)?;
        }
        segment.visit_ids_from(copied, &mut |row, id| {
            if stays[row] { self.push_id(id) } else { Ok(()) }
        })
    }

    /// Copies the first blocks of a segment's IDs, which are full, as they are; returns how many.
    fn copy_id_blocks(&mut self, segment: &Segment, blocks: usize) -> Result<usize> {
        let places = segment.file.array::<u64>(ID_BLOCKS).get(0..blocks + 1);
        // Whoever reads them next tells what is wrong with them.
        let &[start, .., end] = places else { return Ok(0) };
        if !places.is_sorted() {
            return Ok(0);
        }
        let bytes = segment.id_bytes(start, end)?;
        self.write_ids()?;
        self.file.write(bytes)?;
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

    /// Ends the IDs, of which there were as many as rows.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub fn end_ids(&mut self) -> Result<()> {
        self.write_ids()?;
        self.id_blocks.push(self.ids.bytes());
        self.file.section(ID_BLOCKS, &self.id_blocks)
    }

    /// Adds a table.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub fn push_table(&mut self, starts: &[u32], entries: &[u8]) -> Result<()> {
        self.file.section(table_kind(self.tables, STARTS), starts)?;
        self.file.section(table_kind(self.tables, ENTRIES), entries)?;
        self.tables += 1;
        Ok(())
    }

    /// Adds the rest, and ends the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(super) fn finish(mut self, rest: &SegmentRest, description: &str) -> Result<Seal> {
        self.file.section(ORIGINS, &rest.origins)?;
        self.file.section(REPEATS, &rest.repeats)?;
        self.file.section(REMOVED, &rest.removed)?;
        self.file.section(INPUTS, &rest.inputs)?;
        self.file.section(DESCRIPTION, description.as_bytes())?;
        let [first, rows, row_words] = self.meta;
        self.file.section(META, &[first, rows, row_words, u64::from(self.tables)])?;
        self.file.finish()
    }
}

fn table_kind(table: u32, part: u32) -> Kind {
    Kind(TABLES + 2 * table + part)
}

/// A segment that was written.
#[derive(Debug)]
pub struct Segment {
    file: SealedFile,
    first: u64,
    rows: usize,
    row_words: usize,
    tables: u32,
    /// Whether numbers are left out between those of its documents.
    has_numbers: bool,
}

impl Segment {
    pub(super) fn open(path: &Path, access: FileAccess, seal: Option<Seal>) -> Result<Self> {
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

    /// That the sections are as long as the rows ask for.
    fn check_lengths(&self) -> Result<()> {
        let Self { file, rows, row_words, tables, .. } = self;
        let words = file.array::<u64>(ROWS).len();
        if rows.checked_mul(*row_words) != Some(words) || *row_words == 0 {
            return Err(file.contradiction(ROWS, "as many words as the rows have"));
        }
        let last = rows.checked_sub(1).map_or(0, |last| last as u64);
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

    /// The number of its first document; its numbers begin there.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Documents in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are no documents in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Bytes of its file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.file.len() as u64
    }

    /// Where its file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Words of a row as it is stored: a row that has fewer ends in words of 0.
    #[must_use]
    pub fn row_words(&self) -> usize {
        self.row_words
    }

    /// How many tables there are.
    #[must_use]
    pub fn table_count(&self) -> usize {
        self.tables as usize
    }

    /// The rows as elements of that many words.
    #[must_use]
    pub fn rows<L: Pod>(&self) -> StoredArray<'_, L> {
        debug_assert_eq!(size_of::<L>(), self.row_words * size_of::<u64>());
        self.file.array(ROWS)
    }

    /// The words of all rows.
    ///
    /// # Errors
    ///
    /// Some are damaged.
    pub fn words(&self) -> Result<&[u64]> {
        self.file.array::<u64>(ROWS).all()
    }

    /// Starts and entries of a table.
    #[must_use]
    pub fn table(&self, table: usize) -> (StoredArray<'_, u32>, StoredArray<'_, u8>) {
        let kind = |part| table_kind(table as u32, part);
        (self.file.array(kind(STARTS)), self.file.array(kind(ENTRIES)))
    }

    /// The number of the document in a row; of damage it is told by [`Self::check`].
    #[must_use]
    pub fn number(&self, row: usize) -> u64 {
        let later = if self.has_numbers {
            self.file.array::<u32>(NUMBERS).at(row).map_or(0, u64::from)
        } else {
            row as u64
        };
        self.first.saturating_add(later)
    }

    /// The row of the document with a number, if it is here.
    #[must_use]
    pub fn row_of(&self, number: u64) -> Option<usize> {
        let later = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let numbers = self.file.array::<u32>(NUMBERS);
        if numbers.is_empty() {
            return (later < self.rows).then_some(later);
        }
        let row = numbers.get(0..self.rows).binary_search(&u32::try_from(later).ok()?);
        row.ok()
    }

    /// Appends the ID of a row to `id`, which is emptied before.
    ///
    /// # Errors
    ///
    /// It is damaged.
    pub fn read_id(&self, row: usize, id: &mut Vec<u8>) -> Result<()> {
        let mut found = false;
        self.visit_ids_of_block(row / BLOCK, id, &mut |number, _| {
            found = number == row;
            !found
        })?;
        if found { Ok(()) } else { Err(self.file.contradiction(IDS, "an ID for each row")) }
    }

    /// Calls `visit` with every row and its ID, in order.
    ///
    /// # Errors
    ///
    /// Some are damaged; the first error of `visit`.
    pub fn visit_ids(&self, visit: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        self.visit_ids_from(0, visit)
    }

    /// The same from a block of IDs on.
    fn visit_ids_from(
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

    /// These bytes of the IDs.
    fn id_bytes(&self, start: u64, end: u64) -> Result<&[u8]> {
        let (start, end) = (start as usize, end as usize);
        let bytes = self.file.array::<u8>(IDS).get(start..end);
        if bytes.len() != end.wrapping_sub(start) {
            self.file.check()?;
        }
        Ok(bytes)
    }

    /// Where its documents come from.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn origins(&self) -> Result<&[Origin]> {
        self.file.array(ORIGINS).all()
    }

    /// Repeats that came while it was written, of any documents up to then.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn repeats(&self) -> Result<&[Repeats]> {
        self.file.array(REPEATS).all()
    }

    /// The repeats of one document.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn repeats_of(&self, number: u64) -> Result<&[Repeats]> {
        let all = self.file.array::<Repeats>(REPEATS);
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

    /// Numbers of documents of any segment that were removed while it was written.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn removed(&self) -> Result<&[u64]> {
        self.file.array(REMOVED).all()
    }

    /// Inputs that were read while it was written, a line each.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn inputs(&self) -> Result<&[u8]> {
        self.file.array(INPUTS).all()
    }

    /// The method and the recipe of the rows, in a line each.
    ///
    /// # Errors
    ///
    /// They are damaged.
    pub fn description(&self) -> Result<&str> {
        let bytes = self.file.array(DESCRIPTION).all()?;
        let text = str::from_utf8(bytes);
        text.map_err(|_| self.file.contradiction(DESCRIPTION, "a method in UTF-8"))
    }

    /// Calls `visit` with row, number, ID and words of every document of which all these are intact.
    pub fn visit_intact(&self, mut visit: impl FnMut(usize, u64, &[u8], &[u64])) {
        let (words, numbers) = (self.file.array::<u64>(ROWS), self.file.array::<u32>(NUMBERS));
        let mut id = Vec::new();
        for block in 0..self.rows.div_ceil(BLOCK) {
            // What is damaged is left out, and told by what is missing.
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

    /// Whether nothing that was lent so far was damaged. To be asked before what was made of it is
    /// believed.
    ///
    /// # Errors
    ///
    /// Something was.
    pub fn check(&self) -> Result<()> {
        self.file.check()
    }

    /// Checks every byte.
    ///
    /// # Errors
    ///
    /// Something is damaged.
    pub fn verify(&self) -> Result<()> {
        self.file.verify()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a segment of rows of one word, whose IDs `push` gives; what was written.
    fn written(
        folder: &Path,
        name: &str,
        rows: usize,
        push: impl FnOnce(&mut SegmentWriter<'_>) -> Result<()>,
    ) -> Segment {
        let path = folder.join(name);
        let mut file = File::create(&path).unwrap();
        let (numbers, words): (Vec<u32>, Vec<u64>) = (vec![0; rows], vec![7; rows]);
        let rows = SegmentRows::new(0, &numbers, 1, &words);
        let mut writer = SegmentWriter::new(&mut file, &path, &rows).unwrap();
        push(&mut writer).unwrap();
        writer.end_ids().unwrap();
        let seal = writer.finish(&SegmentRest::default(), "").unwrap();
        Segment::open(&path, FileAccess::READ, Some(seal)).unwrap()
    }

    #[test]
    fn ids_of_segments_are_as_if_pushed_one_by_one() {
        let folder = tempfile::tempdir().unwrap();
        let id = |row: usize| {
            format!("page-{:x}", simtool_base::stable_hash::mix(row as u64) >> (row % 60))
        };
        let rows = 5 * BLOCK + 3;
        let old = written(folder.path(), "old", rows, |writer| {
            (0..rows).try_for_each(|row| writer.push_id(id(row).as_bytes()))
        });
        for gone in [
            vec![],
            vec![0],
            vec![2 * BLOCK],
            vec![3, rows - 1],
            vec![rows - 1],
            (0..rows).collect(),
        ] {
            let stays: Vec<bool> = (0..rows).map(|row| !gone.contains(&row)).collect();
            // Twice, so that the second begins within a block.
            let expected: Vec<usize> =
                (0..2 * rows).map(|at| at % rows).filter(|&row| stays[row]).collect();
            let copied = written(folder.path(), "copied", expected.len(), |writer| {
                writer.push_ids_of(&old, &stays)?;
                writer.push_ids_of(&old, &stays)
            });
            let pushed = written(folder.path(), "pushed", expected.len(), |writer| {
                expected.iter().try_for_each(|&row| writer.push_id(id(row).as_bytes()))
            });
            assert!(std::fs::read(copied.path()).unwrap() == std::fs::read(pushed.path()).unwrap());
            let mut found = Vec::new();
            let visit = &mut |_, id: &[u8]| {
                found.push(String::from_utf8(id.to_vec()).unwrap());
                Ok(())
            };
            copied.visit_ids(visit).unwrap();
            assert_eq!(found, expected.into_iter().map(id).collect::<Vec<_>>());
        }
    }
}
