//! The block index: k + 1 tables keyed by k + 1 blocks of bits, of which two near fingerprints
//! agree in one. For many queries one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::error::{Error, Result};
use crate::fingerprint_table::{Lane, Reach};
use crate::kernels::partition::{BlockHash, Parts, count};
use crate::kernels::{Isa, hamming_scan};
use crate::large_buffer::LargeBuffer;
use crate::lent_array::LentArray;
use crate::matches::Match;
use crate::search::FingerprintIndex;
use crate::search::layout::{Layout, is_first_agreeing};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use std::ops::{Deref, Range};

/// Rows of a bucket that a table aims at.
const BUCKET_ROWS: usize = 48;
/// Bits of a bucket's number, at most.
const MAX_BITS: u32 = 24;
/// What the memory is for.
const TABLES: &str = "the tables of the block index";
/// Queries whose memory is asked for before the first of them is answered.
const BATCH: usize = 8;

/// Tables over an array of fingerprints, 8 bytes a row and table, in memory of its own or lent, as
/// that of a mapped file is.
///
/// Arrays that are lent are believed no further than that nothing outside of them is read: one that
/// holds something else makes answers that are wrong.
#[derive(Debug)]
pub struct BlockIndex<L: Lane, V, S = LargeBuffer<u32>> {
    values: V,
    reach: Reach,
    isa: Isa,
    blocks: Vec<L>,
    tables: Vec<Table<L, S>>,
}

/// One table: the folds of all rows, in buckets.
#[derive(Debug)]
pub struct Table<L, S = LargeBuffer<u32>> {
    hash: BlockHash<L>,
    parts: TableParts<S>,
}

/// What a table stands on: arrays that may be kept, and lent to a table again.
#[derive(Clone, Copy, Debug)]
pub struct TableParts<S> {
    /// Where each bucket starts, and at the end the number of rows.
    pub starts: S,
    /// The fold of each row to 32 bits, by buckets.
    pub folds: S,
    /// The number of each of these rows.
    pub rows: S,
}

impl<L: Lane> Table<L> {
    /// The table of `values` for a block.
    ///
    /// # Errors
    ///
    /// The memory cannot be had.
    pub fn new(values: &[L], block: L) -> Result<Self> {
        let wanted = (values.len() / BUCKET_ROWS).max(2).ilog2();
        let bits = wanted.min(MAX_BITS).min(block.count_ones()).max(1);
        let hash = BlockHash::new(block, 0, bits);
        let mut starts = LargeBuffer::<u32>::try_zeroed(hash.parts() + 1, TABLES)?;
        count(values, &hash, &mut starts);
        let mut place = 0;
        for start in starts.iter_mut() {
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
        Ok(Self { hash, parts: TableParts { starts, folds, rows } })
    }
}

impl<L: Lane, S: LentArray<u32>> Table<L, S> {
    /// The table of so many rows for a block, which these parts were of.
    ///
    /// # Errors
    ///
    /// Their lengths are none of a table of so many rows for this block.
    pub fn of_parts(rows: usize, block: L, parts: TableParts<S>) -> Result<Self> {
        let buckets = parts.starts.len().saturating_sub(1);
        let is_table = buckets.is_power_of_two()
            && (1..=MAX_BITS.min(block.count_ones())).contains(&buckets.ilog2())
            && [parts.folds.len(), parts.rows.len()] == [rows; 2];
        if !is_table {
            let given = format!("of {} rows in {buckets} buckets", parts.rows.len());
            return Err(Error::config("table", given, format!("must be one of {rows} rows")));
        }
        Ok(Self { hash: BlockHash::new(block, 0, buckets.ilog2()), parts })
    }

    /// What it stands on.
    #[must_use]
    pub fn parts(&self) -> &TableParts<S> {
        &self.parts
    }

    /// Where the rows of the query's bucket are; nowhere if that is not lent.
    #[inline]
    fn bucket(&self, query: L) -> Range<usize> {
        let part = self.hash.part(query);
        match self.parts.starts.lend(part..part + 2) {
            &[start, end] => start as usize..end as usize,
            _ => 0..0,
        }
    }
}

impl<L: Lane, V: Deref<Target = [L]>> BlockIndex<L, V> {
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
    pub fn new(values: V, layout: &Layout, reach: Reach, isa: Isa) -> Result<Self> {
        let (blocks, rows) = (layout.blocks(), &*values);
        let tables: Result<_> = blocks.par_iter().map(|&block| Table::new(rows, block)).collect();
        Ok(Self { reach, isa, blocks, tables: tables?, values })
    }
}

impl<L: Lane, V: LentArray<L>, S: LentArray<u32>> BlockIndex<L, V, S> {
    /// An index of tables that were made before, for this layout and in its order.
    ///
    /// # Errors
    ///
    /// There is not a table for each block of the layout, or one is none of so many values.
    pub fn of_parts(
        values: V,
        layout: &Layout,
        reach: Reach,
        isa: Isa,
        tables: Vec<TableParts<S>>,
    ) -> Result<Self> {
        let blocks = layout.blocks();
        if tables.len() != blocks.len() {
            let rule = format!("must be as many as the layout has blocks, {}", blocks.len());
            return Err(Error::config("tables", tables.len(), rule));
        }
        let tables = blocks.iter().zip(tables);
        let tables: Result<_> =
            tables.map(|(&block, parts)| Table::of_parts(values.len(), block, parts)).collect();
        Ok(Self { values, reach, isa, blocks, tables: tables? })
    }

    /// Its tables, in the order of the layout's blocks.
    #[must_use]
    pub fn tables(&self) -> &[Table<L, S>] {
        &self.tables
    }

    fn answer(&self, query: L, hits: &mut Vec<u64>, found: &mut Vec<Match>) {
        found.clear();
        let (fold, most) = (query.fold32(), self.reach.most_bits());
        for (number, table) in self.tables.iter().enumerate() {
            let bucket = table.bucket(query);
            let folds = table.parts.folds.lend(bucket.clone());
            hits.clear();
            hamming_scan::scan_32(folds, fold, most, self.isa, hits);
            for hit in hits.iter() {
                let at = bucket.start + (hit >> 32) as usize;
                let Some(row) = table.parts.rows.at(at) else { continue };
                let Some(value) = self.values.at(row as usize) else { continue };
                let difference = value ^ query;
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

impl<L: Lane, V: LentArray<L>, S: LentArray<u32>> FingerprintIndex<L> for BlockIndex<L, V, S> {
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
                    table.parts.starts.prefetch(table.hash.part(query));
                }
            }
            for &query in queries {
                for table in &self.tables {
                    let bucket = table.bucket(query);
                    for line in bucket.step_by(16).take(8) {
                        table.parts.folds.prefetch(line);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::Shape;
    use crate::stable_hash::mix;

    /// Rows of which every third is a bit or two from the one before, and an index over them.
    fn rows() -> Vec<u64> {
        let near = |row: u64| if row % 3 == 1 { mix(row - 1) ^ 1 << (row % 64) } else { mix(row) };
        (0..3000).map(near).collect()
    }

    #[test]
    fn an_index_over_lent_tables_finds_the_same() {
        let (rows, isa) = (rows(), Isa::detected());
        let shape = Shape::bits(64);
        let reach = Reach { shape, max_distance: 3 };
        let layout = Layout::even(shape, 3);
        let made = BlockIndex::new(&rows[..], &layout, reach, isa).unwrap();
        let lent_parts = |table: &Table<u64>| {
            let TableParts { starts, folds, rows } = table.parts();
            TableParts { starts: starts.to_vec(), folds: folds.to_vec(), rows: rows.to_vec() }
        };
        let parts: Vec<_> = made.tables().iter().map(lent_parts).collect();
        let lent = |parts: &[TableParts<Vec<u32>>]| {
            BlockIndex::of_parts(&rows[..], &layout, reach, isa, parts.to_vec())
        };
        let found = |index: &dyn FingerprintIndex<u64>| {
            let mut found = Vec::new();
            index.search_batch(&rows, &mut |query, matches| found.push((query, matches.to_vec())));
            found
        };
        let expected = found(&made);
        assert!(expected.iter().filter(|(_, matches)| matches.len() > 1).count() >= 2000);
        assert!(found(&lent(&parts).unwrap()) == expected);

        let refused = |parts: &[TableParts<Vec<u32>>]| lent(parts).unwrap_err().to_string();
        assert!(refused(&parts[1..]).starts_with("tables 3: must be as many"));
        let changed = |change: &dyn Fn(&mut TableParts<Vec<u32>>)| {
            let mut parts = parts.clone();
            change(&mut parts[0]);
            parts
        };
        for wrong in [
            changed(&|table| table.folds.truncate(2999)),
            changed(&|table| table.starts.truncate(2)),
            changed(&|table| table.starts.clear()),
        ] {
            let message = refused(&wrong);
            assert!(message.ends_with("must be one of 3000 rows"), "{message}");
        }
        // What leads out of the arrays finds nothing there.
        for wrong in [
            changed(&|table| table.rows.fill(3000)),
            changed(&|table| table.starts.reverse()),
            changed(&|table| table.starts.fill(u32::MAX)),
        ] {
            let index = lent(&wrong).unwrap();
            assert!(found(&index).len() <= expected.len());
        }
    }
}
