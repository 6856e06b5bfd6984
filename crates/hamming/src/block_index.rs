//! The block index. The bits of fingerprints are divided into k + 1 blocks, and a table for each block
//! finds the fingerprints with given bits in the block.
//!
//! Two fingerprints that differ in at most k bits are equal in one of the blocks, so a query finds
//! every near fingerprint in one of the tables. The index serves many queries, one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::FingerprintIndex;
use crate::bucket_table::{BucketTable, Look, TableKeys, TableParts, building_bytes};
use crate::indexed_search::IndexedSearch;
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::partners::Partners;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload, table_look};
use simtool_base::error::{Error, Result};
use simtool_compute::lent_array::{Arrays, InMemory, LentArray};
use simtool_compute::tasks;
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;
use std::ops::Deref;

/// Number of queries that are answered together. An answer has several steps. Each step prefetches, for
/// all of these queries, the memory that the next step reads.
const BATCH: usize = 32;
/// An index of an array of fingerprints, with a table for each block of bits. A table takes 5 or 6
/// bytes per fingerprint. Tables have memory of their own or borrow it, for example from a mapped file.
///
/// Borrowed arrays may be damaged. Then answers may be wrong, but the index does not panic and reads
/// nothing outside the arrays.
#[derive(Debug)]
pub struct BlockIndex<L: Fingerprint, V, A: Arrays = InMemory> {
    values: V,
    keys: TableKeys,
    blocks: Vec<L>,
    isa: Isa,
    tables: Vec<BucketTable<L, A>>,
}

impl<L: Fingerprint, V: Deref<Target = [L]>> BlockIndex<L, V> {
    /// Builds an index over `values`, which are at most 2³² − 1 fingerprints. The index has one table for each block of
    /// bits in the layout of `keys`.
    ///
    /// ```
    /// use simtool_model::fingerprint_rows::Shape;
    /// use simtool_model::fingerprint_table::Reach;
    /// use simtool_hamming::FingerprintIndex;
    /// use simtool_hamming::block_index::BlockIndex;
    /// use simtool_hamming::bucket_table::TableKeys;
    /// use simtool_hamming::layout::Layout;
    /// use simtool_kernels::Isa;
    ///
    /// let values = [0b0000_u64, 0b0111, 0b1111];
    /// let keys = TableKeys::new(Layout::even(Shape::bits(64), 3), Reach::bits(64, 3));
    /// let index = BlockIndex::new(&values[..], keys, Isa::detected())?;
    /// let mut found = Vec::new();
    /// index.search(0b0000, &mut found);
    /// assert_eq!(found.iter().map(|found| found.row).collect::<Vec<_>>(), [0, 1]);
    /// # Ok::<(), simtool_base::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is too little memory.
    ///
    /// # Complexity
    ///
    /// O(n) for each of k + 1 tables, which are built in parallel.
    pub fn new(values: V, keys: TableKeys, isa: Isa) -> Result<Self> {
        let rows = &*values;
        let tables = tasks::map(keys.tables(), |table| BucketTable::new(rows, &keys, table));
        let tables = tables.into_iter().collect::<Result<_>>()?;
        Ok(Self { blocks: keys.layout.blocks(), keys, isa, tables, values })
    }
}

impl<L: Fingerprint, V: LentArray<L>, A: Arrays> BlockIndex<L, V, A> {
    /// Creates an index from `tables`, the tables of an earlier index over the same `values`. They must have the same
    /// keys and the same order.
    ///
    /// # Errors
    ///
    /// The number of tables differs from the number of blocks, or a table does not have as many rows as `values`.
    pub fn of_parts(
        values: V,
        keys: TableKeys,
        isa: Isa,
        tables: Vec<TableParts<A>>,
    ) -> Result<Self> {
        let blocks = keys.layout.blocks();
        if tables.len() != blocks.len() {
            let rule = format!("must be as many as the layout has blocks, {}", blocks.len());
            return Err(Error::config("tables", tables.len(), rule));
        }
        let of_parts = |(table, parts)| BucketTable::of_parts(values.len(), &keys, table, parts);
        let tables: Result<_> = tables.into_iter().enumerate().map(of_parts).collect();
        Ok(Self { values, keys, blocks, isa, tables: tables? })
    }

    /// Returns the tables of the index: one for each block of bits, in the order of the blocks.
    #[must_use]
    pub fn tables(&self) -> &[BucketTable<L, A>] {
        &self.tables
    }

    /// Whether a search in table number `table` compares a query with a fingerprint. It does if both are equal in the
    /// table's block and their tags (16-bit summaries) are near. `difference` is the XOR of the fingerprint and the
    /// query.
    #[inline]
    fn finds(&self, table: usize, difference: L) -> bool {
        let tags = &self.keys.tags[table];
        difference & self.blocks[table] == L::ZERO && tags.tag(difference).count_ones() <= tags.most
    }

    /// Finds the matches of a few queries. Calls `found` for each query, with its index in `queries` and its matches.
    /// Each step of the search is done for all queries before the next step, so that all queries wait for memory at the
    /// same time. `room` holds buffers.
    fn answer(&self, queries: &[L], room: &mut Room, found: &mut dyn FnMut(usize, &[Match])) {
        let Room { looks, places, candidates, near, matches } = room;
        // First the bucket number of each query in every table, then the bounds of these buckets.
        looks.clear();
        for table in &self.tables {
            table.begin(queries, looks);
        }
        for (table, looks) in self.tables.iter().zip(looks.chunks_exact_mut(queries.len())) {
            table.approach(looks);
        }
        // The rows of a bucket whose tags are near the tag of the query are candidates.
        candidates.clear();
        for (number, looks) in looks.chunks_exact(queries.len()).enumerate() {
            for (query, &look) in looks.iter().enumerate() {
                let found = |at| candidates.push(RowCandidate { query, table: number, at });
                self.tables[number].find(look, self.isa, places, found);
            }
        }
        // The row number of a candidate replaces the byte offset at which it is stored.
        for candidate in &mut *candidates {
            let row = self.tables[candidate.table].row(candidate.at);
            // An offset outside a damaged table becomes the number behind the last row.
            candidate.at = row.map_or(self.values.len(), |row| row as usize);
            self.values.prefetch(candidate.at);
        }
        near.clear();
        for &RowCandidate { query, table, at: row } in &*candidates {
            if row >= self.values.len() {
                continue;
            }
            let Some(value) = self.values.at(row) else { continue };
            let difference = value ^ queries[query];
            // A row that several tables find is reported by the first of them only.
            if let Some(distance) = self.keys.reach.distance(difference)
                && self.finds(table, difference)
                && !(0..table).any(|before| self.finds(before, difference))
            {
                near.push((query, Match { distance, row: row as u32 }));
            }
        }
        // Only few candidates are near, so sorting comes last.
        near.sort_unstable_by_key(|&(query, found)| (query, found.row));
        let mut rest = &near[..];
        for query in 0..queries.len() {
            let (of_query, behind) = rest.split_at(rest.partition_point(|&(of, _)| of == query));
            rest = behind;
            matches.clear();
            matches.extend(of_query.iter().map(|&(_, found)| found));
            found(query, matches);
        }
    }
}

/// Buffers for the steps in which queries are answered. All batches of queries use the same buffers.
#[derive(Debug, Default)]
struct Room {
    /// The look-ups of all queries of the batch in the first table, then their look-ups in the second
    /// table, and so on.
    looks: Vec<Look>,
    places: Vec<u32>,
    candidates: Vec<RowCandidate>,
    /// Matches, each with the number of its query in the batch.
    near: Vec<(usize, Match)>,
    matches: Vec<Match>,
}

/// A row that may be near a query. `query` is the number of the query in its batch. `table` is the
/// number of the table in which the row was found.
#[derive(Clone, Copy, Debug)]
struct RowCandidate {
    query: usize,
    table: usize,
    /// Byte offset of the row number in [`TableParts::entries`]. A later step replaces this offset by
    /// the row number itself.
    at: usize,
}

impl<L: Fingerprint, V: LentArray<L>, A: Arrays> FingerprintIndex<L> for BlockIndex<L, V, A> {
    fn max_distance(&self) -> u32 {
        self.keys.reach.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        self.answer(&[query], &mut Room::default(), &mut |_, matches| found.extend(matches));
    }

    fn search_batch(&self, queries: &[L], found: &mut dyn FnMut(usize, &[Match])) {
        let mut room = Room::default();
        for (batch, queries) in queries.chunks(BATCH).enumerate() {
            self.answer(queries, &mut room, &mut |number, matches| {
                found(batch * BATCH + number, matches);
            });
        }
    }
}

/// The block index as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It finds the fingerprints
/// near a query by tables of blocks of bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockIndexJoin;

impl JoinKind for BlockIndexJoin {
    fn name(&self) -> &'static str {
        "block-index"
    }

    fn help(&self) -> &'static str {
        "Builds k + 1 tables of the corpus: best for many queries over a long time."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Lanes, is_for_collections: false }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let tables = workload.blocks();
        let build = rows * tables * 15.0;
        let query = tables * table_look(workload.bucket_rows(), workload.compare());
        JoinEstimate {
            nanoseconds: build + workload.query_count() * query,
            bytes: rows * tables * building_bytes(workload.rows) as f64,
        }
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for BlockIndexJoin {
    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let (fingerprints, corpus_rows) = corpus.valid();
        let keys = TableKeys::new(work.layout(&fingerprints), work.reach);
        let index = BlockIndex::new(fingerprints, keys, work.isa())?;
        Ok(Box::new(IndexedSearch { queries, index, corpus_rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use simtool_base::stable_hash::mix;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Reach;

    /// Returns fingerprints. Every third fingerprint differs by one or two bits from the fingerprint before it.
    fn rows() -> Vec<u64> {
        let near = |row: u64| if row % 3 == 1 { mix(row - 1) ^ 1 << (row % 64) } else { mix(row) };
        (0..3000).map(near).collect()
    }

    /// Copies of the two arrays of a table: `starts` and `entries`.
    type Copied = (Vec<u32>, Vec<u8>);

    #[derive(Debug)]
    struct Vectors;

    impl Arrays for Vectors {
        type Array<T: bytemuck::Pod + Sync + std::fmt::Debug> = Vec<T>;
    }

    #[test]
    fn numbers_of_four_bytes_are_read() {
        let values: Vec<u64> = (0..(1 << 24) + 3).map(|row: u64| (row << 20) | (row % 7)).collect();
        let reach = Reach { shape: Shape::bits(64), max_distance: 0 };
        let keys = TableKeys::new(Layout::even(reach.shape, 0), reach);
        let index = BlockIndex::new(&values[..], keys, Isa::detected()).unwrap();
        let mut found = Vec::new();
        for row in [0, 5, 1 << 23, (1 << 24) - 1, 1 << 24, (1 << 24) + 2] {
            index.search(values[row], &mut found);
            assert_eq!(found, [Match { distance: 0, row: row as u32 }]);
        }
    }

    #[test]
    fn an_index_over_lent_tables_finds_the_same() {
        let (rows, isa) = (rows(), Isa::detected());
        let shape = Shape::bits(64);
        let reach = Reach { shape, max_distance: 3 };
        let keys = TableKeys::new(Layout::even(shape, 3), reach);
        let made = BlockIndex::new(&rows[..], keys.clone(), isa).unwrap();
        let copy = |table: &BucketTable<u64>| {
            let TableParts { starts, entries } = table.parts();
            (starts.to_vec(), entries.to_vec())
        };
        let parts: Vec<Copied> = made.tables().iter().map(copy).collect();
        let lent = |parts: &[Copied]| {
            let parts = parts.iter().cloned();
            let parts = parts.map(|(starts, entries)| TableParts { starts, entries });
            BlockIndex::<_, _, Vectors>::of_parts(&rows[..], keys.clone(), isa, parts.collect())
        };
        let found = |index: &dyn FingerprintIndex<u64>| {
            let mut found = Vec::new();
            index.search_batch(&rows, &mut |query, matches| found.push((query, matches.to_vec())));
            found
        };
        let expected = found(&made);
        assert!(expected.iter().filter(|(_, matches)| matches.len() > 1).count() >= 2000);
        assert!(found(&lent(&parts).unwrap()) == expected);

        let refused = |parts: &[Copied]| lent(parts).unwrap_err().to_string();
        assert!(refused(&parts[1..]).starts_with("tables 3: must be as many"));
        let changed = |change: &dyn Fn(&mut Copied)| {
            let mut parts = parts.clone();
            change(&mut parts[0]);
            parts
        };
        for wrong in [
            changed(&|(_, entries)| entries.truncate(14999)),
            changed(&|(starts, _)| starts.truncate(2)),
            changed(&|(starts, _)| starts.clear()),
        ] {
            let message = refused(&wrong);
            assert!(message.ends_with("must be one of 3000 rows"), "{message}");
        }
        // Offsets outside the arrays find nothing.
        for wrong in [
            changed(&|(_, entries)| entries.fill(0xFF)),
            changed(&|(starts, _)| starts.reverse()),
            changed(&|(starts, _)| starts.fill(u32::MAX)),
        ] {
            let index = lent(&wrong).unwrap();
            assert!(found(&index).len() <= expected.len());
        }
    }
}
