//! The block index: k + 1 tables keyed by k + 1 blocks of bits, of which two near fingerprints
//! agree in one. For many queries one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::error::Result;
use crate::fingerprint_table::{Lane, Reach};
use crate::kernels::partition::{BlockHash, count};
use crate::kernels::{Isa, hamming_scan, prefetch};
use crate::large_buffer::{LargeBuffer, filled};
use crate::matches::Match;
use crate::search::FingerprintIndex;
use crate::search::layout::{Layout, is_first_agreeing};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use std::borrow::Cow;
use std::ops::Range;

/// Rows of a bucket that a table aims at.
const BUCKET_ROWS: usize = 48;
/// Bits of a bucket's number, at most.
const MAX_BITS: u32 = 24;
/// What the memory is for.
const TABLES: &str = "the tables of the block index";
/// Queries whose memory is asked for before the first of them is answered.
const BATCH: usize = 8;

/// Tables over an array of fingerprints, 8 bytes a row and table.
#[derive(Debug)]
pub struct BlockIndex<'a, L: Lane> {
    values: Cow<'a, [L]>,
    reach: Reach,
    isa: Isa,
    blocks: Vec<L>,
    tables: Vec<Table<L>>,
}

/// One table: the folds of all rows, in buckets.
#[derive(Debug)]
struct Table<L> {
    hash: BlockHash<L>,
    /// Where each bucket starts, and at the end the number of rows.
    starts: Vec<u32>,
    folds: LargeBuffer<u32>,
    rows: LargeBuffer<u32>,
}

impl<L: Lane> Table<L> {
    fn new(values: &[L], block: L) -> Result<Self> {
        let wanted = (values.len() / BUCKET_ROWS).max(2).ilog2();
        let bits = wanted.min(MAX_BITS).min(block.count_ones()).max(1);
        let hash = BlockHash::new(block, 0, bits);
        let mut starts = filled(0, hash.parts() + 1, TABLES)?;
        count(values, &hash, &mut starts);
        let mut place = 0;
        for start in &mut starts {
            place += std::mem::replace(start, place);
        }
        let mut folds = LargeBuffer::<u32>::try_zeroed(values.len(), TABLES)?;
        let mut rows = LargeBuffer::<u32>::try_zeroed(values.len(), TABLES)?;
        for (row, &value) in values.iter().enumerate() {
            let place = &mut starts[hash.part(value)];
            folds[*place as usize] = value.fold32();
            rows[*place as usize] = row as u32;
            *place += 1;
        }
        // Each place has advanced to its bucket's end, which is the next one's start.
        let last = starts.len() - 1;
        starts.copy_within(..last, 1);
        starts[0] = 0;
        Ok(Self { hash, starts, folds, rows })
    }

    #[inline]
    fn bucket(&self, query: L) -> Range<usize> {
        let part = self.hash.part(query);
        self.starts[part] as usize..self.starts[part + 1] as usize
    }
}

impl<'a, L: Lane> BlockIndex<'a, L> {
    /// Builds the tables over `values`, of which there are at most 2^32 - 1, by the masks of
    /// `layout`, which is one for this reach.
    ///
    /// # Errors
    ///
    /// The memory cannot be had.
    ///
    /// # Complexity
    ///
    /// O(n) a table, k + 1 tables, built in parallel.
    pub fn new(
        values: impl Into<Cow<'a, [L]>>,
        layout: &Layout,
        reach: Reach,
        isa: Isa,
    ) -> Result<Self> {
        let (values, blocks) = (values.into(), layout.blocks());
        let tables: Result<_> =
            blocks.par_iter().map(|&block| Table::new(&values, block)).collect();
        Ok(Self { values, reach, isa, blocks, tables: tables? })
    }

    fn answer(&self, query: L, hits: &mut Vec<u64>, found: &mut Vec<Match>) {
        found.clear();
        let (fold, values, most) = (query.fold32(), &self.values[..], self.reach.most_bits());
        for (number, table) in self.tables.iter().enumerate() {
            let bucket = table.bucket(query);
            let rows = &table.rows[bucket.clone()];
            hits.clear();
            hamming_scan::scan_32(&table.folds[bucket], fold, most, self.isa, hits);
            for hit in hits.iter() {
                let row = rows[(hit >> 32) as usize];
                let difference = values[row as usize] ^ query;
                if let Some(distance) = self.reach.distance(difference)
                    && is_first_agreeing(&self.blocks, number, difference)
                {
                    found.push(Match { distance, row });
                }
            }
        }
        found.sort_unstable_by_key(|found| found.row);
    }
}

impl<L: Lane> FingerprintIndex<L> for BlockIndex<'_, L> {
    fn max_distance(&self) -> u32 {
        self.reach.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        self.answer(query, &mut Vec::new(), found);
    }

    fn search_batch(&self, queries: &[L], found: &mut dyn FnMut(usize, &[Match])) {
        let (mut hits, mut matches) = (Vec::new(), Vec::new());
        for (batch, queries) in queries.chunks(BATCH).enumerate() {
            for &query in queries {
                for table in &self.tables {
                    prefetch(&table.starts, table.hash.part(query));
                }
            }
            for &query in queries {
                for table in &self.tables {
                    let bucket = table.bucket(query);
                    for line in bucket.step_by(16).take(8) {
                        prefetch(&table.folds, line);
                    }
                }
            }
            for (i, &query) in queries.iter().enumerate() {
                self.answer(query, &mut hits, &mut matches);
                found(batch * BATCH + i, &matches);
            }
        }
    }
}
