//! Permuted sorted tables: each a copy of the fingerprints with some blocks moved to the top, sorted,
//! so that the fingerprints that agree with a query in those blocks stand together.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007,
//! section 3: their f = 64, k = 3 with 6 blocks gives 20 tables.

use crate::FingerprintIndex;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator, ParallelSliceMut};
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::Match;

/// Rows that a probe may meet by chance before more blocks, and so more tables, pay.
const CHANCE_ROWS: usize = 256;
/// Tables, at most.
const MAX_TABLES: usize = 64;
/// Bits of a top, at most: those that tell a table's rows apart, in one word.
const MAX_PREFIX: u32 = u64::BITS;

/// Sorted tables over an array of fingerprints.
#[derive(Debug)]
pub struct PermutedTables<L> {
    reach: Reach,
    tables: Vec<Table<L>>,
}

/// The fingerprints under one permutation, sorted.
#[derive(Debug)]
struct Table<L> {
    /// The blocks that go to the top: (lowest bit, width), top first.
    top: Vec<(u32, u32)>,
    /// The same blocks as a mask.
    mask: L,
    /// Bits of the top.
    prefix: u32,
    /// Fingerprint, its top blocks, and its row, in the order of the top blocks and rows.
    rows: Vec<(u64, L, u32)>,
}

impl<L: Lane> Table<L> {
    fn new(values: &[L], mut top: Vec<(u32, u32)>) -> Self {
        // Of longer tops the first bits tell as much.
        let (mut prefix, mut mask) = (0, L::ZERO);
        for (low, width) in &mut top {
            *width = (*width).min(MAX_PREFIX - prefix);
            prefix += *width;
            mask = mask | L::lowest_bits(*low + *width) & !L::lowest_bits(*low);
        }
        let mut table = Self { top, mask, prefix, rows: Vec::new() };
        let permuted = values.iter().zip(0..).map(|(&value, row)| (table.key(value), value, row));
        let mut rows: Vec<_> = permuted.collect();
        rows.par_sort_unstable_by_key(|&(key, _, row)| (key, row));
        table.rows = rows;
        table
    }

    /// The top blocks of `value`, side by side.
    fn key(&self, value: L) -> u64 {
        let words = value.words();
        let blocks = self.top.iter().filter(|block| block.1 > 0);
        blocks.fold(0, |key, &(low, width)| {
            let (word, shift) = (low as usize / 64, low % 64);
            let mut bits = words[word] >> shift;
            if shift + width > 64 {
                bits |= words[word + 1] << (64 - shift);
            }
            let block = bits & (u64::MAX >> (64 - width));
            // A key of one whole word has no other block.
            if width == 64 { block } else { key << width | block }
        })
    }

    /// A place near the first row of `key`, as if keys were uniform: interpolation, as in the paper.
    fn guess(&self, key: u64) -> usize {
        if self.prefix == 0 {
            return 0;
        }
        let share = u128::from(key << (MAX_PREFIX - self.prefix));
        ((share * self.rows.len() as u128) >> 64) as usize
    }

    /// The rows with these top blocks: the guess, then steps of doubling width, then halving.
    fn matching(&self, key: u64) -> &[(u64, L, u32)] {
        let rows = &self.rows;
        let (mut low, mut high) = (0, rows.len());
        let guess = self.guess(key);
        let mut step = 16;
        if guess < rows.len() && rows[guess].0 < key {
            low = guess + 1;
            while low + step < rows.len() && rows[low + step].0 < key {
                low += step + 1;
                step *= 2;
            }
            high = rows.len().min(low + step);
        } else if guess < rows.len() {
            high = guess;
            while high > step && rows[high - step].0 >= key {
                high -= step;
                step *= 2;
            }
            low = high.saturating_sub(step);
        }
        let first = low + rows[low..high].partition_point(|row| row.0 < key);
        let end = rows[first..].iter().position(|row| row.0 != key).unwrap_or(rows.len() - first);
        &rows[first..first + end]
    }
}

impl<L: Lane> PermutedTables<L> {
    /// Builds the tables over `values`, of which there are at most 2^32 - 1, to be compared bit by
    /// bit.
    ///
    /// # Complexity
    ///
    /// t sorts of n rows, for t tables: (b choose k) of b blocks, b chosen for n, f and k.
    pub fn new(values: &[L], reach: Reach) -> Self {
        let layout = layout(values.len(), reach.shape.row_bits(), reach.max_distance);
        let tables = layout.par_iter().map(|top| Table::new(values, top.clone())).collect();
        Self { reach, tables }
    }

    /// Number of tables.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }
}

/// For each table the blocks of its top: all choices of b - k of b blocks.
///
/// More blocks give longer tops, and more tables. The fewest blocks are taken with which a probe of
/// uniform fingerprints meets no more than [`CHANCE_ROWS`] by chance.
fn layout(rows: usize, bits: u32, max_distance: u32) -> Vec<Vec<(u32, u32)>> {
    let nothing = vec![vec![]];
    if max_distance >= bits {
        return nothing;
    }
    let mut best = nothing;
    for blocks in max_distance + 1..=bits {
        let chosen = blocks - max_distance;
        if choices(blocks, chosen) > MAX_TABLES {
            break;
        }
        let edge = |i: u32| bits * i / blocks;
        let all: Vec<_> = (0..blocks).map(|i| (edge(i), edge(i + 1) - edge(i))).collect();
        best = Vec::new();
        choose(&all, chosen as usize, &mut Vec::new(), &mut best);
        let prefix = bits * chosen / blocks;
        if rows.checked_shr(prefix).unwrap_or(0) <= CHANCE_ROWS {
            break;
        }
    }
    best
}

/// `of` choose `count`, or more than [`MAX_TABLES`].
fn choices(of: u32, count: u32) -> usize {
    let mut result = 1usize;
    for i in 0..count.min(of - count) as usize {
        result = result * (of as usize - i) / (i + 1);
        if result > MAX_TABLES {
            break;
        }
    }
    result
}

/// Appends every choice of `count` of `blocks` to `found`, with `chosen` before it.
fn choose(
    blocks: &[(u32, u32)],
    count: usize,
    chosen: &mut Vec<(u32, u32)>,
    found: &mut Vec<Vec<(u32, u32)>>,
) {
    if count == 0 {
        found.push(chosen.clone());
        return;
    }
    for (i, &block) in blocks.iter().enumerate().take(blocks.len() + 1 - count) {
        chosen.push(block);
        choose(&blocks[i + 1..], count - 1, chosen, found);
        chosen.pop();
    }
}

impl<L: Lane> FingerprintIndex<L> for PermutedTables<L> {
    fn max_distance(&self) -> u32 {
        self.reach.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        for table in &self.tables {
            prefetch(&table.rows, table.guess(table.key(query)));
        }
        for (number, table) in self.tables.iter().enumerate() {
            for &(_, value, row) in table.matching(table.key(query)) {
                let difference = value ^ query;
                let known = || {
                    let earlier = &self.tables[..number];
                    earlier.iter().any(|table| difference & table.mask == L::ZERO)
                };
                if let Some(distance) = self.reach.distance(difference)
                    && !known()
                {
                    found.push(Match { distance, row });
                }
            }
        }
        found.sort_unstable_by_key(|found| found.row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_follows_the_paper_and_the_rows() {
        // Four blocks of sixteen bits serve a million rows; a longer top needs more tables.
        assert_eq!(layout(1_000_000, 64, 3).len(), 4);
        assert_eq!(layout(1 << 30, 64, 3).len(), 10);
        assert_eq!(layout(usize::MAX >> 8, 64, 3).len(), 56);
        assert_eq!(layout(1000, 64, 0), [[(0, 64)]]);
        assert_eq!(layout(1000, 16, 16), [[]; 1]);
        let tops = layout(1 << 30, 64, 3);
        assert!(tops.iter().all(|top| top.iter().map(|block| block.1).sum::<u32>() >= 24));
    }
}
