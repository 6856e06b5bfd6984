//! The block index: k + 1 tables keyed by k + 1 blocks of bits, of which two near fingerprints
//! agree in one. For many queries one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::FingerprintIndex;
use crate::bucket_table::{Look, Table, TableKeys, TableParts};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use simtool_base::error::{Error, Result};
use simtool_compute::lent_array::{Arrays, InMemory, LentArray};
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::Match;
use std::ops::Deref;

/// Queries that are answered together: each step asks for the memory that the next one reads.
const BATCH: usize = 32;
/// Tables over an array of fingerprints, 5 or 6 bytes a row and table, in memory of its own or lent, as
/// that of a mapped file is.
///
/// Arrays that are lent are believed no further than that nothing outside of them is read: one that
/// holds something else makes answers that are wrong.
#[derive(Debug)]
pub struct BlockIndex<L: Lane, V, A: Arrays = InMemory> {
    values: V,
    keys: TableKeys,
    blocks: Vec<L>,
    isa: Isa,
    tables: Vec<Table<L, A>>,
}

impl<L: Lane, V: Deref<Target = [L]>> BlockIndex<L, V> {
    /// Builds the tables over `values`, of which there are at most 2^32 - 1.
    ///
    /// # Errors
    ///
    /// The memory cannot be had.
    ///
    /// # Complexity
    ///
    /// O(n) a table, k + 1 tables, built in parallel.
    pub fn new(values: V, keys: TableKeys, isa: Isa) -> Result<Self> {
        let (rows, numbers) = (&*values, 0..keys.tables());
        let tables = numbers.into_par_iter().map(|table| Table::new(rows, &keys, table));
        let tables: Result<_> = tables.collect();
        Ok(Self { blocks: keys.layout.blocks(), keys, isa, tables: tables?, values })
    }
}

impl<L: Lane, V: LentArray<L>, A: Arrays> BlockIndex<L, V, A> {
    /// An index of tables that were made before, by these keys and in their order.
    ///
    /// # Errors
    ///
    /// There is not a table for each key, or one is none of so many values.
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
        let of_parts = |(table, parts)| Table::of_parts(values.len(), &keys, table, parts);
        let tables: Result<_> = tables.into_iter().enumerate().map(of_parts).collect();
        Ok(Self { values, keys, blocks, isa, tables: tables? })
    }

    /// Its tables, in the order of the layout's blocks.
    #[must_use]
    pub fn tables(&self) -> &[Table<L, A>] {
        &self.tables
    }

    /// Whether a table finds a row by a query that differs from it so.
    #[inline]
    fn finds(&self, table: usize, difference: L) -> bool {
        let tags = &self.keys.tags[table];
        difference & self.blocks[table] == L::ZERO && tags.tag(difference).count_ones() <= tags.most
    }

    /// Hands to `found` what is near each of a few queries. The steps wait for memory, so all queries
    /// take one before the first takes the next.
    fn answer(&self, queries: &[L], room: &mut Room, found: &mut dyn FnMut(usize, &[Match])) {
        let Room { looks, places, candidates, near, matches } = room;
        looks.clear();
        for table in &self.tables {
            table.begin(queries, looks);
        }
        for (table, looks) in self.tables.iter().zip(looks.chunks_exact_mut(queries.len())) {
            table.approach(looks);
        }
        candidates.clear();
        for (number, looks) in looks.chunks_exact(queries.len()).enumerate() {
            for (query, &look) in looks.iter().enumerate() {
                let found = |at| candidates.push(Candidate { query, table: number, at });
                self.tables[number].find(look, self.isa, places, found);
            }
        }
        for candidate in &mut *candidates {
            let row = self.tables[candidate.table].row(candidate.at);
            // What leads nowhere is the row behind the last.
            candidate.at = row.map_or(self.values.len(), |row| row as usize);
            self.values.prefetch(candidate.at);
        }
        near.clear();
        for &Candidate { query, table, at: row } in &*candidates {
            if row >= self.values.len() {
                continue;
            }
            let Some(value) = self.values.at(row) else { continue };
            let difference = value ^ queries[query];
            if let Some(distance) = self.keys.reach.distance(difference)
                && self.finds(table, difference)
                && !(0..table).any(|before| self.finds(before, difference))
            {
                near.push((query, Match { distance, row: row as u32 }));
            }
        }
        // Few candidates are near, so they are put in order last.
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

/// What is needed on the way to answers.
#[derive(Debug, Default)]
struct Room {
    /// Those of each query into the first table, then those into the next.
    looks: Vec<Look>,
    places: Vec<u32>,
    candidates: Vec<Candidate>,
    /// Rows that are near a query, with the query.
    near: Vec<(usize, Match)>,
    matches: Vec<Match>,
}

/// A row that may be near a query.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    query: usize,
    table: usize,
    /// The byte of the table's entries where its number is; then the number.
    at: usize,
}

impl<L: Lane, V: LentArray<L>, A: Arrays> FingerprintIndex<L> for BlockIndex<L, V, A> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use simtool_base::stable_hash::mix;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Reach;

    /// Rows of which every third is a bit or two from the one before, and an index over them.
    fn rows() -> Vec<u64> {
        let near = |row: u64| if row % 3 == 1 { mix(row - 1) ^ 1 << (row % 64) } else { mix(row) };
        (0..3000).map(near).collect()
    }

    /// Starts and entries of a table.
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
        let copy = |table: &Table<u64>| {
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
        // What leads out of the arrays finds nothing there.
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
