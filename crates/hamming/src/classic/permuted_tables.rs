//! Permuted sorted tables. Each table has all fingerprints, sorted by some blocks of bits. So the
//! fingerprints that are equal to a query in these blocks are neighbours.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007,
//! section 3: their f = 64, k = 3 with 6 blocks gives 20 tables.

use crate::FingerprintIndex;
use crate::indexed_search::IndexedSearch;
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::partners::Partners;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use rayon::prelude::ParallelSliceMut;
use simtool_base::error::Result;
use simtool_compute::tasks;
use simtool_kernels::prefetch;
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::matches::Match;

/// Maximum number of fingerprints that a look-up may visit only because they have the sort key of the query by chance.
/// If there would be more, the bits of fingerprints are divided into more blocks, which gives more tables with longer
/// keys.
const CHANCE_ROWS: usize = 256;
/// Maximum number of tables. Each table holds all fingerprints.
const MAX_TABLES: usize = 64;
/// Maximum number of bits of a sort key, which is one 64-bit word.
const MAX_PREFIX: u32 = u64::BITS;

/// An index that finds the fingerprints near a query. It holds several tables of all fingerprints, and each table is
/// sorted by other blocks of bits.
#[derive(Debug)]
pub struct PermutedTables<L> {
    reach: Reach,
    tables: Vec<PermutedTable<L>>,
}

/// One table: all fingerprints, sorted by the bits of some blocks.
#[derive(Debug)]
struct PermutedTable<L> {
    /// The blocks that the table is sorted by, the most important first. Each block is given as its
    /// lowest bit position and its number of bits.
    top: Vec<(u32, u32)>,
    /// Mask of the bits of the blocks that the table is sorted by.
    mask: L,
    /// Number of bits of the blocks that the table is sorted by.
    prefix: u32,
    /// The sort key, the fingerprint and the row number of each row, sorted by key and row number.
    rows: Vec<(u64, L, u32)>,
}

impl<L: Fingerprint> PermutedTable<L> {
    fn new(values: &[L], mut top: Vec<(u32, u32)>) -> Self {
        // The first 64 bits distinguish rows well enough, so a longer sort key is cut.
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

    /// Returns the sort key of `value`: the bits of the table's blocks, one block after the other.
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

    /// Estimates the index of the first row with sort key `key`. Interpolates as if keys were evenly distributed, like
    /// the paper of Manku, Jain and Das Sarma.
    fn guess(&self, key: u64) -> usize {
        if self.prefix == 0 {
            return 0;
        }
        let share = u128::from(key << (MAX_PREFIX - self.prefix));
        ((share * self.rows.len() as u128) >> 64) as usize
    }

    /// Finds the rows with sort key `key`. Starts at the estimated index and moves away from it in
    /// steps that double. A binary search then finds the first row.
    fn matching(&self, key: u64) -> &[(u64, L, u32)] {
        let rows = &self.rows;
        let (mut low, mut high) = (0, rows.len());
        let guess = self.guess(key);
        let mut step = 16;
        // The first row of the key is behind the estimate, so the steps go up.
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

impl<L: Fingerprint> PermutedTables<L> {
    /// Builds the tables over `values`, which are at most 2³² − 1 fingerprints. The distance must be
    /// the number of different bits.
    ///
    /// # Complexity
    ///
    /// One sort of n rows for each of (b choose k) tables, where k is the maximum distance. The number of blocks b
    /// depends on the number of rows, the number of bits and k.
    pub fn new(values: &[L], reach: Reach) -> Self {
        let layout = layout(values.len(), reach.shape.row_bits(), reach.max_distance);
        let tables = tasks::map_items(layout, |top| PermutedTable::new(values, top));
        Self { reach, tables }
    }

    /// Returns the number of tables. Each table holds all fingerprints in another order.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }
}

/// Returns the blocks of each table's sort key, as lowest bit position and number of bits. The bits are
/// divided into b blocks, and each choice of b − k of them makes a table. Here k is the maximum
/// distance.
///
/// With more blocks, sort keys are longer, but there are more tables. The result has the fewest blocks
/// with which a look-up visits at most [`CHANCE_ROWS`] evenly distributed fingerprints by chance.
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

/// Returns the binomial coefficient "`of` choose `count`", or some number above [`MAX_TABLES`] if it is
/// larger than that.
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

/// Appends to `found` all lists that begin with the blocks in `chosen` and continue with `count` of `blocks`. A block
/// is given as its lowest bit position and its number of bits.
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

impl<L: Fingerprint> FingerprintIndex<L> for PermutedTables<L> {
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
                // A row that is equal to the query in the blocks of an earlier table was found there.
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

/// The permuted tables as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. They find the
/// fingerprints near a query in several sorted copies of the fingerprints.
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

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let tables = workload.blocks();
        let build = rows * tables * 100.0;
        let query = tables * (250.0 + workload.bucket_rows());
        JoinEstimate {
            nanoseconds: build + workload.query_count() * query,
            bytes: rows * tables * (2.0 * workload.fingerprint_bytes() + 8.0),
        }
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for PermutedTablesJoin {
    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let (fingerprints, corpus_rows) = corpus.valid();
        let index = PermutedTables::new(&fingerprints, work.reach);
        Ok(Box::new(IndexedSearch { queries, index, corpus_rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_follows_the_paper_and_the_rows() {
        // Four blocks of sixteen bits are enough for a million rows. Longer sort keys need more tables.
        assert_eq!(layout(1_000_000, 64, 3).len(), 4);
        assert_eq!(layout(1 << 30, 64, 3).len(), 10);
        assert_eq!(layout(usize::MAX >> 8, 64, 3).len(), 56);
        assert_eq!(layout(1000, 64, 0), [[(0, 64)]]);
        assert_eq!(layout(1000, 16, 16), [[]; 1]);
        let tops = layout(1 << 30, 64, 3);
        assert!(tops.iter().all(|top| top.iter().map(|block| block.1).sum::<u32>() >= 24));
    }
}
