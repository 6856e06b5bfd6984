//! Permuted sorted tables. Each is a copy of the fingerprints that is sorted by some blocks of bits, so the
//! fingerprints that agree with a query in these blocks are neighbours.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007,
//! section 3: their f = 64, k = 3 with 6 blocks gives 20 tables.

use crate::FingerprintIndex;
use crate::indexed_search::IndexedSearch;
use crate::join::{JoinKind, JoinLanes, Limits, RowKind, Tasks};
use crate::partners::Partners;
use crate::work::{LaneRows, Work};
use crate::workload::{Estimate, Workload};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator, ParallelSliceMut};
use simtool_base::error::Result;
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::Match;

/// Rows that a probe may meet by chance. With more, more blocks and so more tables pay.
const CHANCE_ROWS: usize = 256;
/// Most tables.
const MAX_TABLES: usize = 64;
/// Most bits of a top, which is held in one word.
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
    /// The blocks that the table is sorted by, as (lowest bit, width), the most important first.
    top: Vec<(u32, u32)>,
    /// The bits of these blocks.
    mask: L,
    /// Number of bits of these blocks.
    prefix: u32,
    /// Fingerprint, its top blocks, and its row, in the order of the top blocks and rows.
    rows: Vec<(u64, L, u32)>,
}

impl<L: Lane> Table<L> {
    fn new(values: &[L], mut top: Vec<(u32, u32)>) -> Self {
        // The first 64 bits distinguish rows well enough, so a longer top is cut.
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

    /// Guesses the place of the first row of `key` as if keys were uniform: interpolation, as in the paper.
    fn guess(&self, key: u64) -> usize {
        if self.prefix == 0 {
            return 0;
        }
        let share = u128::from(key << (MAX_PREFIX - self.prefix));
        ((share * self.rows.len() as u128) >> 64) as usize
    }

    /// Finds the rows with these top blocks: from the guess by steps of doubling width, then by halving.
    fn matching(&self, key: u64) -> &[(u64, L, u32)] {
        let rows = &self.rows;
        let (mut low, mut high) = (0, rows.len());
        let guess = self.guess(key);
        let mut step = 16;
        // The first row of the key is behind the guess: the steps go up.
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
        // The first row of the key is now between `low` and `high`.
        let first = low + rows[low..high].partition_point(|row| row.0 < key);
        let end = rows[first..].iter().position(|row| row.0 != key).unwrap_or(rows.len() - first);
        &rows[first..first + end]
    }
}

impl<L: Lane> PermutedTables<L> {
    /// Builds the tables over at most 2^32 - 1 `values`, whose distance counts bits.
    ///
    /// # Complexity
    ///
    /// One sort of n rows for each table. There are (b choose k) tables for b blocks, and b follows from
    /// n, f and k.
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
        // All tables are prefetched before the first one is read.
        for table in &self.tables {
            prefetch(&table.rows, table.guess(table.key(query)));
        }
        for (number, table) in self.tables.iter().enumerate() {
            for &(_, value, row) in table.matching(table.key(query)) {
                let difference = value ^ query;
                // A row that agrees in the top of an earlier table was found there.
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

/// Permuted tables as a line of [`JOINS`](crate::joins::JOINS).
#[derive(Clone, Copy, Debug)]
pub(crate) struct PermutedTablesJoin;

impl JoinKind for PermutedTablesJoin {
    fn name(&self) -> &'static str {
        "permuted-tables"
    }

    fn help(&self) -> &'static str {
        "Sorts the corpus under several permutations of its bits, as Manku et al. describe."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Bits, is_for_collections: false }
    }

    fn estimate(&self, workload: &Workload) -> Estimate {
        let rows = workload.row_count();
        let tables = workload.blocks();
        let build = rows * tables * 100.0;
        let query = tables * (250.0 + workload.bucket_rows());
        Estimate {
            nanoseconds: build + workload.query_count() * query,
            bytes: rows * tables * (2.0 * workload.lane_bytes() + 8.0),
        }
    }
}

impl<L: Lane> JoinLanes<L> for PermutedTablesJoin {
    fn partners<'a>(
        &self,
        queries: LaneRows<'a, L>,
        corpus: LaneRows<'a, L>,
        work: Work<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let (lanes, corpus_rows) = corpus.valid();
        let index = PermutedTables::new(&lanes, work.reach);
        Ok(Box::new(IndexedSearch { queries, index, corpus_rows }))
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
