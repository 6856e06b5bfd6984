//! A table of two-bit counters, called cells, that shows for each term whether another set may
//! contain it, too. A hash of the term selects its cell.
//!
//! In a self-join, a cell counts the occurrences of its terms: none, one, or more. In a join of two
//! collections, it holds the collections in which its terms occurred. If several terms have the
//! same cell, a term may look shared although it is not. The opposite never happens, so no match is
//! lost. Worker threads fill the table without atomic operations. Each worker has a small buffer of
//! cell numbers per section of the table, and locks the section when the buffer is full.
//!
//! A cell has the value 3 if its terms are matched: they have occurred at least twice, or in both collections of a join
//! of two.

use simtool_base::error::Result;
use simtool_base::large_buffer::{self, LargeBuffer};
use simtool_base::memory_ledger::Ledger;
use simtool_kernels::prefetch;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Number of cells in a section of the table. A cell is a two-bit counter, and a section is a part of
/// the table with a lock. A cell's position in its section fits into 16 bits.
const SECTION_CELLS: usize = 1 << 16;
/// Number of cell numbers that a worker thread collects for a section before it updates the table. On
/// average, these cells touch each cache line of the section four times. So most updates find the line
/// in the nearest cache.
const BUFFERED: usize = 1024;
/// Number of cells that are written or read together, so that the processor loads their memory at the same time.
const TOGETHER: usize = 32;
/// Number of bytes of a section of the table. A section is a part of the table with a lock.
const SECTION_BYTES: usize = SECTION_CELLS / Cells::A_BYTE as usize;

/// Number of bytes of two 64-bit words. The size of a table is a multiple of it, because [`Cells::keep_matched`]
/// replaces two words of two-bit counters by one word with one bit for each counter.
const TWO_WORDS: usize = 2 * size_of::<u64>();

/// Description of the memory for the table of cells. Out-of-memory messages contain it.
const TABLE: &str = "the table of terms";

/// The change that an occurrence of a term makes to the term's cell, which is a two-bit counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    /// In a self-join: the cell counts one more occurrence. It does not count beyond two.
    Occurrence,
    /// In a join of two collections: the cell's bit for the first collection is set.
    First,
    /// In a join of two collections: the cell's bit for the second collection is set.
    Second,
}

/// Function from a term to the number of its cell, which is the two-bit counter for the term.
#[derive(Clone, Copy, Debug)]
pub struct CellNumbers {
    cells: u64,
    /// Number of bits by which a term is rotated before its cell is computed. Each round of counting
    /// uses another number, so terms that share a cell in one round rarely share one in the next.
    rotation: u32,
}

impl CellNumbers {
    /// Returns the number of the cell (two-bit counter) for a term.
    #[inline]
    pub fn of(self, term: u64) -> u64 {
        let chosen = u128::from(term.rotate_left(self.rotation));
        // The upper half of the product is always below `cells`, and needs no division.
        ((chosen * u128::from(self.cells)) >> 64) as u64
    }
}

/// A table of two-bit counters, which are called cells. Each term has one cell, and several terms can
/// share it.
#[derive(Debug)]
pub struct Cells {
    bytes: LargeBuffer<u8>,
    /// Whether each cell has become one bit, see [`Cells::keep_matched`].
    has_single_bits: bool,
    numbers: CellNumbers,
    /// Ledger that counts the memory of the table and of the writers that fill it.
    ledger: Ledger,
}

impl Cells {
    /// Number of cells (two-bit counters) in a byte.
    pub(super) const A_BYTE: u64 = 4;
    /// Number of cells (two-bit counters) of the smallest table.
    pub(super) const LEAST: u64 = 1 << 10;
    /// Size of the buffers of one [`CellWriter`], in eighths of the size of the table.
    pub(super) const EIGHTHS_A_WRITER: u64 =
        (BUFFERED * size_of::<u16>() * 8 / SECTION_BYTES) as u64;

    /// Creates a table of about `cells` two-bit counters, which are 0. Terms are counted in several rounds, each with a
    /// new table, and `round` is the number of the round. Terms that share a cell in one round rarely share one in
    /// another round.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn new(cells: u64, round: u32, ledger: &Ledger) -> Result<Self> {
        let cells = cells.max(Self::LEAST);
        let bytes = cells.div_ceil(Self::A_BYTE) as usize;
        let bytes = LargeBuffer::try_resident(bytes.next_multiple_of(TWO_WORDS), TABLE)?;
        let bytes = bytes.entered_in(ledger);
        let numbers = CellNumbers { cells, rotation: round.wrapping_mul(13) % 64 };
        Ok(Self { bytes, has_single_bits: false, numbers, ledger: ledger.clone() })
    }

    /// Returns the function from terms to the cells of this table.
    pub fn numbers(&self) -> CellNumbers {
        self.numbers
    }

    /// Divides the table into sections with locks, so that several threads can write to it.
    pub fn filling(&mut self) -> Filling<'_> {
        let sections = self.bytes.chunks_mut(SECTION_BYTES).map(Mutex::new).collect();
        Filling { sections, ledger: &self.ledger, writers: AtomicUsize::new(0) }
    }

    /// Replaces each two-bit counter by one bit, which is 1 if the terms of the cell may be in another set, too. This
    /// releases half of the memory. After that, no more terms can be counted.
    pub(super) fn keep_matched(&mut self) {
        if self.has_single_bits {
            return;
        }
        let words: &mut [u64] = bytemuck::cast_slice_mut(&mut self.bytes);
        for at in 0..words.len() / 2 {
            // Only words that were read are overwritten, because `at` is at most `2 * at`.
            let [low, high] = [2 * at, 2 * at + 1].map(|at| matched_bits(u64::from_le(words[at])));
            words[at] = (high << 32 | low).to_le();
        }
        self.bytes.truncate(self.bytes.len() / 2);
        self.has_single_bits = true;
    }

    /// Returns whether the terms of cell number `cell` may be matched. Matched terms occur in two sets,
    /// or in both collections of a join of two.
    #[inline]
    pub fn is_matched(&self, cell: u64) -> bool {
        if self.has_single_bits {
            is_matched::<1>(&self.bytes, cell)
        } else {
            is_matched::<2>(&self.bytes, cell)
        }
    }

    /// Returns whether `term` may occur in two sets, or in both collections of a join of two. Terms share cells, so the
    /// result can be true by mistake, but never false by mistake.
    #[inline]
    pub fn may_match(&self, term: u64) -> bool {
        self.is_matched(self.numbers.of(term))
    }

    /// Appends the result of [`Self::is_matched`] for each of `cells` to `matched`. Most cells of a large table are in
    /// no cache, so reading many cells together takes a fraction of the time.
    pub fn look_up(&self, cells: impl IntoIterator<Item = u64>, matched: &mut Vec<bool>) {
        if self.has_single_bits {
            look_up_bits::<1>(&self.bytes, cells, matched);
        } else {
            look_up_bits::<2>(&self.bytes, cells, matched);
        }
    }

    /// Appends the result of [`Self::may_match`] for each of `terms` to `matched`.
    pub(super) fn look_up_terms(&self, terms: &[u64], matched: &mut Vec<bool>) {
        self.look_up(terms.iter().map(|&term| self.numbers.of(term)), matched);
    }
}

/// Returns whether the terms of cell number `cell` may occur in two sets. `bytes` is a table whose cells have `BITS`
/// bits.
#[inline]
fn is_matched<const BITS: u64>(bytes: &[u8], cell: u64) -> bool {
    let (cells_a_byte, matched) = (8 / BITS, (1 << BITS) - 1);
    bytes[(cell / cells_a_byte) as usize] >> (cell % cells_a_byte * BITS) & matched == matched
}

/// Appends to `matched`, for each of `cells`, whether its terms may occur in two sets. `bytes` is a table whose cells
/// have `BITS` bits.
fn look_up_bits<const BITS: u64>(
    bytes: &[u8],
    cells: impl IntoIterator<Item = u64>,
    matched: &mut Vec<bool>,
) {
    for_each_chunk(cells, |chunk| {
        for &cell in chunk {
            prefetch(bytes, (cell / (8 / BITS)) as usize);
        }
        matched.extend(chunk.iter().map(|&cell| is_matched::<BITS>(bytes, cell)));
    });
}

/// Returns one bit for each of the 32 two-bit counters in `word`. The bit is 1 if the counter has the value 3. The
/// result has these bits in its lower half.
fn matched_bits(word: u64) -> u64 {
    let mut bits = word & word >> 1 & 0x5555_5555_5555_5555;
    // Each step halves the distances between the bits.
    for (shift, mask) in [
        (1, 0x3333_3333_3333_3333),
        (2, 0x0f0f_0f0f_0f0f_0f0f),
        (4, 0x00ff_00ff_00ff_00ff),
        (8, 0x0000_ffff_0000_ffff),
        (16, 0x0000_0000_ffff_ffff),
    ] {
        bits = (bits | bits >> shift) & mask;
    }
    bits
}

/// Calls `work` with the numbers of cells in order, at most [`TOGETHER`] at a time.
#[inline(always)]
fn for_each_chunk(cells: impl IntoIterator<Item = u64>, mut work: impl FnMut(&[u64])) {
    let mut cells = cells.into_iter();
    let mut chunk = [0; TOGETHER];
    loop {
        let mut count = 0;
        // The chunk comes first in `zip`, so a full chunk takes no cell that it has no place for.
        for (place, cell) in chunk.iter_mut().zip(cells.by_ref()) {
            *place = cell;
            count += 1;
        }
        work(&chunk[..count]);
        if count < TOGETHER {
            return;
        }
    }
}

/// The table of cells while threads write to it. It is divided into sections, and each section has a
/// lock.
#[derive(Debug)]
pub struct Filling<'a> {
    sections: Vec<Mutex<&'a mut [u8]>>,
    ledger: &'a Ledger,
    /// Number of writers that were created so far.
    writers: AtomicUsize,
}

impl<'t> Filling<'t> {
    /// Creates two writers for a worker thread. If `across` is true, one is for terms of the first
    /// collection and the other for terms of the second. In a self-join, either can be used. The table
    /// is complete once all writers are dropped.
    ///
    /// # Errors
    /// Not enough memory.
    pub fn writers(&self, across: bool) -> Result<[CellWriter<'_, 't>; 2]> {
        let notes = if across { [Note::First, Note::Second] } else { [Note::Occurrence; 2] };
        let [first, second] = notes.map(|note| self.writer(note));
        Ok([first?, second?])
    }

    fn writer(&self, note: Note) -> Result<CellWriter<'_, 't>> {
        let lengths = large_buffer::filled(0, self.sections.len(), TABLE)?;
        let buffers = LargeBuffer::try_zeroed(self.sections.len() * BUFFERED, TABLE)?;
        let buffers = buffers.entered_in(self.ledger);
        // Numbers times the golden ratio are spread evenly, however many writers there are.
        let number = self.writers.fetch_add(1, Ordering::Relaxed) as u64;
        let turn = u128::from(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let first = ((turn * self.sections.len() as u128) >> 64) as usize;
        Ok(CellWriter { filling: self, note, first, lengths, buffers })
    }
}

/// Buffers in which a worker thread collects the numbers of cells (two-bit counters) before it updates the table. There
/// is one buffer for each section of the table.
#[derive(Debug)]
pub struct CellWriter<'f, 't> {
    filling: &'f Filling<'t>,
    note: Note,
    /// Index of the section to which the buffered cell numbers are written first when the writer is dropped. If all
    /// threads began with the same section, they would wait for each other.
    first: usize,
    lengths: Vec<u16>,
    buffers: LargeBuffer<u16>,
}

impl CellWriter<'_, '_> {
    /// Records one occurrence of each of several terms. `cells` are the numbers of the terms' cells.
    ///
    /// The buffers of all sections are too large for the near caches. So the memory for several cell numbers is loaded
    /// at the same time, before the numbers are written there.
    #[inline]
    pub fn push_all(&mut self, cells: impl IntoIterator<Item = u64>) {
        for_each_chunk(cells, |chunk| {
            let (buffers, lengths) = (&mut self.buffers[..], &mut self.lengths[..]);
            for &cell in chunk {
                let section = cell as usize / SECTION_CELLS;
                prefetch(buffers, section * BUFFERED + usize::from(lengths[section]));
            }
            for &cell in chunk {
                let section = cell as usize / SECTION_CELLS;
                let length = usize::from(lengths[section]);
                // The section is known, so the lowest 16 bits of the number identify the cell in it.
                buffers[section * BUFFERED + length] = cell as u16;
                lengths[section] = length as u16 + 1;
                if length + 1 == BUFFERED {
                    lengths[section] = 0;
                    let full = &buffers[section * BUFFERED..][..BUFFERED];
                    write(self.filling, self.note, section, full);
                }
            }
        });
    }
}

/// Makes the change `note` to some cells of the section with index `section`. `cells` are the positions of these cells
/// in the section.
#[cold]
fn write(filling: &Filling<'_>, note: Note, section: usize, cells: &[u16]) {
    // A worker that panics ends the join, so a table that it left incomplete is never read.
    let mut bytes = filling.sections[section].lock().unwrap_or_else(PoisonError::into_inner);
    match note {
        // The first occurrence makes a cell 1, and every further one makes it 3.
        Note::Occurrence => note_all(&mut bytes, cells, |cell| cell << 1 | 1),
        Note::First => note_all(&mut bytes, cells, |cell| cell | 1),
        Note::Second => note_all(&mut bytes, cells, |cell| cell | 2),
    }
}

/// Changes some cells of the section `bytes`. `cells` are their positions in the section, and `note` returns the new
/// value of a cell from its old value. A cell may be listed several times.
#[inline]
fn note_all(bytes: &mut [u8], cells: &[u16], note: impl Fn(u8) -> u8) {
    for &cell in cells {
        let byte = &mut bytes[usize::from(cell) / Cells::A_BYTE as usize];
        let shift = u64::from(cell) % Cells::A_BYTE * 2;
        // The mask leaves the other cells of the byte unchanged. Bits are only ever set.
        *byte |= (note(*byte >> shift) & 3) << shift;
    }
}

impl Drop for CellWriter<'_, '_> {
    fn drop(&mut self) {
        for section in (self.first..self.filling.sections.len()).chain(0..self.first) {
            let length = usize::from(self.lengths[section]);
            if length > 0 {
                let cells = &self.buffers[section * BUFFERED..][..length];
                write(self.filling, self.note, section, cells);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    fn filled(terms: &[(u64, Note)], cells: u64) -> Cells {
        let mut table = Cells::new(cells, 1, &Ledger::new(0)).unwrap();
        let numbers = table.numbers();
        let filling = table.filling();
        for note in [Note::Occurrence, Note::First, Note::Second] {
            let mut writer = filling.writer(note).unwrap();
            let terms = terms.iter().filter(|(_, of)| *of == note);
            writer.push_all(terms.map(|&(term, _)| numbers.of(term)));
        }
        drop(filling);
        table
    }

    #[test]
    fn a_term_matches_when_it_occurred_twice() {
        let terms: Vec<u64> = (0..100_000).map(mix).collect();
        let notes: Vec<_> =
            (terms.iter().chain(&terms[..1000])).map(|&term| (term, Note::Occurrence)).collect();
        let mut table = filled(&notes, 50_000_000);
        let matched = |term: &u64| table.is_matched(table.numbers().of(*term));
        assert!(terms[..1000].iter().all(matched));
        let collisions = terms[1000..].iter().filter(|term| matched(term)).count();
        assert!(collisions < 1000, "{collisions}");
        let expected: Vec<bool> = terms.iter().map(matched).collect();
        let ledger = table.ledger.clone();
        let bytes = ledger.used();
        for share in [1, 2, 2] {
            let mut together = Vec::new();
            table.look_up_terms(&terms, &mut together);
            assert_eq!(together, expected);
            assert!(terms.iter().map(|&term| table.may_match(term)).eq(expected.iter().copied()));
            assert_eq!(ledger.used(), bytes / share);
            table.keep_matched();
        }
    }

    #[test]
    fn a_term_matches_when_it_was_seen_on_both_sides() {
        let first = (5, Note::First);
        let second = (5 << 40, Note::Second);
        let table = filled(&[first, first, second, second], 1 << 20);
        assert!(!table.is_matched(table.numbers().of(5)));
        let table = filled(&[first, (5, Note::Second)], 1 << 20);
        assert!(table.is_matched(table.numbers().of(5)));
    }

    #[test]
    fn the_smallest_table_takes_every_term() {
        let terms: Vec<_> = (0..5000).map(|i| (mix(i), Note::Occurrence)).collect();
        filled(
            &[&terms[..], &[(u64::MAX, Note::Occurrence)], &[(0, Note::Occurrence)]].concat(),
            0,
        );
    }
}
