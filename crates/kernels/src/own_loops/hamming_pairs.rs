//! The buffer of near pairs, and the plain loops of [`crate::hamming_pairs`].

use std::ops::{BitXor, Range};

/// Number of buffered candidate pairs at which the buffer is passed to its receiver.
pub(crate) const FLUSH: usize = 4096;
/// Number of rows in a tile, which is a group of words. All rows of a tile are compared with the columns together.
pub(crate) const TILE: usize = 8;
/// Maximum number of candidates that one step of a tile finds: one for each of eight rows and sixteen
/// columns.
const STEP: usize = TILE * 16;

/// Buffer of pairs of indices whose words are near. The two indices of a pair are called row and column, and the row is
/// the smaller one.
#[derive(Debug)]
pub struct Candidates {
    pub(crate) rows: Box<[u32]>,
    pub(crate) columns: Box<[u32]>,
    pub(crate) length: usize,
}

impl Default for Candidates {
    fn default() -> Self {
        let places = FLUSH + STEP + 16;
        Self { rows: vec![0; places].into(), columns: vec![0; places].into(), length: 0 }
    }
}

impl Candidates {
    #[inline]
    fn push(&mut self, row: usize, column: usize) {
        self.rows[self.length] = row as u32;
        self.columns[self.length] = column as u32;
        self.length += 1;
    }

    #[inline]
    pub(crate) fn flush(&mut self, sink: &mut dyn FnMut(&[u32], &[u32])) {
        if self.length > 0 {
            sink(&self.rows[..self.length], &self.columns[..self.length]);
            self.length = 0;
        }
    }
}

/// The arguments of a search for pairs of words that differ in few bits. The two words of a pair are called row and
/// column.
#[derive(Clone, Debug)]
pub struct PairSearch<'a, W> {
    /// Words that are compared.
    pub words: &'a [W],
    /// Indices in `words` of the rows. A row is compared with the columns that have greater indices.
    pub rows: Range<usize>,
    /// Index in `words` of the first column. All later words are columns, too.
    pub first_column: usize,
    /// Maximum number of bits in which near words differ.
    pub max_distance: u32,
}

/// Number of columns that one step compares. The compiler turns a step into vector instructions.
const COLUMNS: usize = 32;

/// Compares one row after the other with all columns that have greater indices. The argument of `is_near` is the XOR of
/// the words of a row and a column. Passes near pairs to `sink` each time that `candidates` is full.
#[inline(always)]
fn plain<W: Copy + BitXor<Output = W>>(
    search: PairSearch<'_, W>,
    is_near: impl Fn(W) -> bool,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    let PairSearch { words, rows, first_column, .. } = search;
    for row in rows {
        let x = words[row];
        let first = first_column.max(row + 1).min(words.len());
        for (step, columns) in words[first..].chunks(COLUMNS).enumerate() {
            // One branch for the whole step: nearly always no pair is near.
            let any = columns.iter().fold(false, |any, &y| any | is_near(x ^ y));
            if any {
                for (column, &y) in (first + step * COLUMNS..).zip(columns) {
                    if is_near(x ^ y) {
                        candidates.push(row, column);
                    }
                }
                if candidates.length >= FLUSH {
                    candidates.flush(sink);
                }
            }
        }
    }
}

/// Finds the pairs of 32-bit words that differ in at most `search.max_distance` bits. Passes their rows and columns to
/// `sink` each time that `candidates` is full. The last pairs remain in `candidates`.
#[inline(always)]
pub(crate) fn near_pairs_32(
    search: PairSearch<'_, u32>,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    let max_distance = search.max_distance;
    if max_distance == 3 {
        // The lowest bit is cleared three times: fewer instructions than a count, which few levels
        // have as an instruction.
        let is_near = |mut bits: u32| {
            bits &= bits.wrapping_sub(1);
            bits &= bits.wrapping_sub(1);
            bits &= bits.wrapping_sub(1);
            bits == 0
        };
        plain(search, is_near, candidates, sink);
    } else {
        plain(search, |bits: u32| bits.count_ones() <= max_distance, candidates, sink);
    }
}

/// Finds the pairs of 64-bit words that differ in at most `search.max_distance` bits. Passes their rows and columns to
/// `sink` each time that `candidates` is full. The last pairs remain in `candidates`.
#[inline(always)]
pub(crate) fn near_pairs_64(
    search: PairSearch<'_, u64>,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    let max_distance = search.max_distance;
    plain(search, |bits: u64| bits.count_ones() <= max_distance, candidates, sink);
}
