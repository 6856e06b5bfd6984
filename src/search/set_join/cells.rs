//! A table that tells, per term, whether it can match: two bits a cell, several cells a term.
//!
//! A cell counts never, once, more than once (in a self-join), or holds which of two sides it was
//! seen on. Terms that share a cell only make each other look matched, so nothing that could match
//! is ever lost. Workers fill the table without atomic operations: each keeps a small buffer of
//! cell numbers per section of the table and takes a section's lock when its buffer is full.

use std::sync::{Mutex, PoisonError};

/// Sections of a table, at most.
const SECTIONS: usize = 256;
/// Cell numbers that a worker gathers per section: with all sections a part of the L2 cache.
const BUFFERED: usize = 256;
/// Cells of one byte.
const PER_BYTE: u32 = 4;
/// The value of a cell whose terms can match.
const MATCHED: u8 = 3;

/// What is noted in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// One more occurrence, for a self-join.
    Occurrence,
    /// An occurrence on the first side of a join of two.
    First,
    /// An occurrence on the second side.
    Second,
}

impl Note {
    /// The cell's value after the note.
    #[inline]
    fn after(self, cell: u8) -> u8 {
        match self {
            Self::Occurrence => cell << 1 | 1,
            Self::First => cell | 1,
            Self::Second => cell | 2,
        }
    }
}

/// How terms map to cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct CellNumbers {
    cells: u32,
    /// Which 32 bits of a term choose the cell: other ones in each round.
    rotation: u32,
}

impl CellNumbers {
    /// The cell of a term.
    #[inline]
    pub(super) fn of(self, term: u64) -> u32 {
        let chosen = term.rotate_left(self.rotation) >> 32;
        ((chosen * u64::from(self.cells)) >> 32) as u32
    }
}

/// The table of cells.
#[derive(Debug)]
pub(super) struct Cells {
    bytes: Vec<u8>,
    numbers: CellNumbers,
    /// A cell's number without this many low bits is its section.
    section_bits: u32,
}

impl Cells {
    /// An empty table of about `cells` cells; `round` changes which terms share a cell.
    pub(super) fn new(cells: u64, round: u32) -> Self {
        let cells = cells.clamp(1 << 10, 1 << 31) as u32;
        let section_bits = cells.div_ceil(SECTIONS as u32).next_power_of_two().ilog2();
        let bytes = vec![0; cells.div_ceil(PER_BYTE) as usize];
        let rotation = round.wrapping_mul(13) % 64;
        Self { bytes, numbers: CellNumbers { cells, rotation }, section_bits }
    }

    /// How terms map to the cells of this table.
    pub(super) fn numbers(&self) -> CellNumbers {
        self.numbers
    }

    /// Lets workers write to the table.
    pub(super) fn filling(&mut self) -> Filling<'_> {
        let section_bytes = (1_usize << self.section_bits) / PER_BYTE as usize;
        Filling {
            sections: self.bytes.chunks_mut(section_bytes).map(Mutex::new).collect(),
            section_bits: self.section_bits,
        }
    }

    /// Whether the terms of the cell can match.
    #[inline]
    pub(super) fn is_matched(&self, cell: u32) -> bool {
        self.bytes[(cell / PER_BYTE) as usize] >> (cell % PER_BYTE * 2) & 3 == MATCHED
    }
}

/// A table that is being written to.
#[derive(Debug)]
pub(super) struct Filling<'a> {
    sections: Vec<Mutex<&'a mut [u8]>>,
    section_bits: u32,
}

impl<'t> Filling<'t> {
    /// A worker's hand on the table; what it noted is there once it is dropped.
    pub(super) fn writer(&self, note: Note) -> Writer<'_, 't> {
        Writer {
            filling: self,
            note,
            lengths: [0; SECTIONS],
            buffers: vec![0; SECTIONS * BUFFERED],
        }
    }
}

/// A worker's buffers.
#[derive(Debug)]
pub(super) struct Writer<'f, 't> {
    filling: &'f Filling<'t>,
    note: Note,
    lengths: [u16; SECTIONS],
    buffers: Vec<u32>,
}

impl Writer<'_, '_> {
    /// Notes an occurrence of a term of the cell.
    #[inline]
    pub(super) fn push(&mut self, cell: u32) {
        let section = (cell >> self.filling.section_bits) as usize;
        let length = usize::from(self.lengths[section]);
        self.buffers[section * BUFFERED + length] = cell;
        if length + 1 == BUFFERED {
            self.lengths[section] = BUFFERED as u16;
            self.flush(section);
        } else {
            self.lengths[section] = length as u16 + 1;
        }
    }

    #[cold]
    fn flush(&mut self, section: usize) {
        let length = usize::from(std::mem::take(&mut self.lengths[section]));
        let first = (section as u32) << self.filling.section_bits;
        // A worker that panics ends the join, so what it left behind is never read.
        let mut bytes =
            self.filling.sections[section].lock().unwrap_or_else(PoisonError::into_inner);
        let note = self.note;
        for &cell in &self.buffers[section * BUFFERED..][..length] {
            let within = cell - first;
            let byte = &mut bytes[(within / PER_BYTE) as usize];
            let shift = within % PER_BYTE * 2;
            *byte |= (note.after(*byte >> shift & 3) & 3) << shift;
        }
    }
}

impl Drop for Writer<'_, '_> {
    fn drop(&mut self) {
        for section in 0..self.filling.sections.len() {
            self.flush(section);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    fn filled(terms: &[(u64, Note)], cells: u64) -> Cells {
        let mut table = Cells::new(cells, 1);
        let numbers = table.numbers();
        let filling = table.filling();
        for note in [Note::Occurrence, Note::First, Note::Second] {
            let mut writer = filling.writer(note);
            for &(term, _) in terms.iter().filter(|(_, of)| *of == note) {
                writer.push(numbers.of(term));
            }
        }
        drop(filling);
        table
    }

    #[test]
    fn a_term_matches_when_it_occurred_twice() {
        let terms: Vec<u64> = (0..100_000).map(mix).collect();
        let notes: Vec<_> =
            (terms.iter().chain(&terms[..1000])).map(|&term| (term, Note::Occurrence)).collect();
        let table = filled(&notes, 50_000_000);
        let matched = |term: &u64| table.is_matched(table.numbers().of(*term));
        assert!(terms[..1000].iter().all(matched));
        let collisions = terms[1000..].iter().filter(|term| matched(term)).count();
        assert!(collisions < 1000, "{collisions}");
    }

    #[test]
    fn a_term_matches_when_it_was_seen_on_both_sides() {
        let (first, second) = ((5, Note::First), (5 << 40, Note::Second));
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
