//! The block index: k + 1 tables keyed by k + 1 blocks of bits, of which two near fingerprints
//! agree in one. For many queries one after the other.
//!
//! # References
//!
//! G. S. Manku, A. Jain, A. Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007.

use crate::error::{Error, Result};
use crate::fingerprint_table::{Lane, Reach};
use crate::kernels::Isa;
use crate::kernels::near_tags::near_tags;
use crate::kernels::partition::{BlockHash, Parts, count};
use crate::large_buffer::LargeBuffer;
use crate::lent_array::{Arrays, InMemory, LentArray};
use crate::matches::Match;
use crate::search::FingerprintIndex;
use crate::search::layout::Layout;
use crate::search::row_tags::{GATHERED_BITS, GatheredBits, RowTags};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Rows of a bucket that a table aims at.
const BUCKET_ROWS: usize = 48;
/// Bits of a bucket's number, at most.
const MAX_BITS: u32 = 24;
/// What the memory is for.
const TABLES: &str = "the tables of the block index";
/// Queries that are answered together: each step asks for the memory that the next one reads.
const BATCH: usize = 16;
/// Bytes of a tag.
const TAG_BYTES: usize = size_of::<u16>();
/// Bytes of a cache line.
const LINE: usize = 64;
/// Cache lines of a bucket that are asked for; what follows comes by itself.
const LINES: usize = 8;

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

/// One table: the tags of all rows, in buckets.
#[derive(Debug)]
pub struct Table<L, A: Arrays = InMemory> {
    buckets: Buckets<L>,
    parts: TableParts<A>,
}

/// Which bucket a row is in.
#[derive(Clone, Debug)]
enum Buckets<L> {
    /// By the bits of the block, of which there are so many.
    Block(Arc<GatheredBits>, u32),
    /// By a hash of the block, which has more bits than the table needs.
    Hash(BlockHash<L>),
}

impl<L: Lane> Buckets<L> {
    /// 2^`bits` of them, for the block of a table.
    fn new(keys: &TableKeys, table: usize, bits: u32) -> Self {
        let block = keys.layout.block::<L>(table);
        match &keys.blocks[table] {
            Some(gathered) if block.count_ones() == bits => Self::Block(Arc::clone(gathered), bits),
            _ => Self::Hash(BlockHash::new(block, 0, bits)),
        }
    }
}

impl<L: Lane> Parts<L> for Buckets<L> {
    #[inline]
    fn part(&self, value: L) -> usize {
        match self {
            Self::Block(gathered, _) => gathered.of(value).into(),
            Self::Hash(hash) => hash.part(value),
        }
    }

    fn parts(&self) -> usize {
        match self {
            Self::Block(_, bits) => 1 << bits,
            Self::Hash(hash) => hash.parts(),
        }
    }
}

/// By what tables are looked up: their blocks, and the tags of rows.
#[derive(Clone, Debug)]
pub struct TableKeys {
    layout: Layout,
    reach: Reach,
    tags: Arc<[RowTags]>,
    /// The bits of the blocks that have few.
    blocks: Vec<Option<Arc<GatheredBits>>>,
}

/// What a table stands on: arrays that may be kept, and lent to a table again.
#[derive(Debug)]
pub struct TableParts<A: Arrays = InMemory> {
    /// The number of rows before each bucket, and at the end of all.
    pub starts: A::Array<u32>,
    /// Of each bucket the tags of its rows, of two bytes, and then their numbers, of three bytes or
    /// four, the lowest first: side by side, since a query waits for memory more than for anything else.
    pub entries: A::Array<u8>,
}

/// Bytes of a row in a table of so many: its tag and its number.
#[must_use]
pub fn entry_bytes(rows: usize) -> usize {
    TAG_BYTES + if rows <= 1 << 24 { 3 } else { 4 }
}

impl TableKeys {
    /// The keys of tables of a layout, which is one for this reach.
    #[must_use]
    pub fn new(layout: Layout, reach: Reach) -> Self {
        let tables = 0..layout.masks().len();
        let tags = tables.clone().map(|table| RowTags::new(&layout, table, reach)).collect();
        let block = |table| {
            let is_small = layout.mask_bits(table).count() <= GATHERED_BITS;
            is_small.then(|| Arc::new(GatheredBits::new(layout.mask_bits(table))))
        };
        let blocks = tables.map(block).collect();
        Self { layout, reach, tags, blocks }
    }

    /// How many tables there are.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.tags.len()
    }
}

impl<L: Lane> Table<L> {
    /// The table of that number over `values`, of which there are at most 2^32 - 1.
    ///
    /// # Errors
    ///
    /// The memory cannot be had.
    pub fn new(values: &[L], keys: &TableKeys, table: usize) -> Result<Self> {
        let (block, tags_of) = (keys.layout.block::<L>(table), &keys.tags[table]);
        let wanted = (values.len() / BUCKET_ROWS).max(2).ilog2();
        let bits = wanted.min(MAX_BITS).min(block.count_ones()).max(1);
        let buckets = Buckets::new(keys, table, bits);
        let mut starts = LargeBuffer::<u32>::try_zeroed(buckets.parts() + 1, TABLES)?;
        count(values, &buckets, &mut starts);
        let mut place = 0;
        for start in starts.iter_mut() {
            place += std::mem::replace(start, place);
        }
        let entry = entry_bytes(values.len());
        let mut filled = LargeBuffer::<u32>::try_zeroed(buckets.parts(), TABLES)?;
        let mut entries = LargeBuffer::<u8>::try_zeroed(values.len() * entry, TABLES)?;
        for (row, &value) in (0u32..).zip(values) {
            let part = buckets.part(value);
            let bucket = starts[part] as usize..starts[part + 1] as usize;
            let place = filled[part] as usize;
            filled[part] += 1;
            let bytes = &mut entries[bucket.start * entry..bucket.end * entry];
            let (tags, rows) = bytes.split_at_mut(bucket.len() * TAG_BYTES);
            tags[place * TAG_BYTES..][..TAG_BYTES]
                .copy_from_slice(&tags_of.tag(value).to_le_bytes());
            let width = entry - TAG_BYTES;
            rows[place * width..][..width].copy_from_slice(&row.to_le_bytes()[..width]);
        }
        Ok(Self { buckets, parts: TableParts { starts, entries } })
    }
}

impl<L: Lane, A: Arrays> Table<L, A> {
    /// The table of that number of so many rows, which these parts were of.
    ///
    /// # Errors
    ///
    /// Their lengths are none of such a table.
    fn of_parts(rows: usize, keys: &TableKeys, table: usize, parts: TableParts<A>) -> Result<Self> {
        let block = keys.layout.block::<L>(table);
        let buckets = parts.starts.len().saturating_sub(1);
        let is_table = buckets.is_power_of_two()
            && (1..=MAX_BITS.min(block.count_ones())).contains(&buckets.ilog2())
            && Some(parts.entries.len()) == rows.checked_mul(entry_bytes(rows));
        if !is_table {
            let given = format!("of {} bytes in {buckets} buckets", parts.entries.len());
            return Err(Error::config("table", given, format!("must be one of {rows} rows")));
        }
        Ok(Self { buckets: Buckets::new(keys, table, buckets.ilog2()), parts })
    }

    /// What it stands on.
    #[must_use]
    pub fn parts(&self) -> &TableParts<A> {
        &self.parts
    }

    /// Where the rows of the query's bucket are; nowhere if that is not lent.
    #[inline]
    fn bucket(&self, query: L) -> Range<usize> {
        let part = self.buckets.part(query);
        match self.parts.starts.lend(part..part + 2) {
            &[start, end] => start as usize..end as usize,
            _ => 0..0,
        }
    }

    /// The row whose number is at a byte.
    #[inline]
    fn row(&self, at: usize, bytes: usize) -> Option<u32> {
        match *self.parts.entries.lend(at..at + bytes) {
            [a, b, c] => Some(u32::from_le_bytes([a, b, c, 0])),
            [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    }
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
        let Room { buckets, places, candidates, matches } = room;
        for &query in queries {
            for table in &self.tables {
                table.parts.starts.prefetch(table.buckets.part(query));
            }
        }
        buckets.clear();
        let entry = entry_bytes(self.values.len());
        for &query in queries {
            for table in &self.tables {
                let bucket = table.bucket(query);
                let tags = bucket.start * entry..bucket.start * entry + bucket.len() * TAG_BYTES;
                // A bucket begins anywhere in a line, so its end may be in one more.
                let end = tags.end.saturating_sub(1);
                for line in tags.step_by(LINE).take(LINES).chain([end]) {
                    table.parts.entries.prefetch(line);
                }
                buckets.push(bucket);
            }
        }
        candidates.clear();
        let mut buckets = buckets.iter();
        for (number, &query) in queries.iter().enumerate() {
            for (table, bucket) in (0..self.tables.len()).zip(&mut buckets) {
                let (tags, entries) = (&self.keys.tags[table], &self.tables[table].parts.entries);
                let first_row = bucket.start * entry + bucket.len() * TAG_BYTES;
                let bytes = entries.lend(bucket.start * entry..first_row);
                places.clear();
                let bucket_tags = bytemuck::cast_slice(bytes);
                near_tags(bucket_tags, tags.tag(query), tags.most, self.isa, places);
                for &place in &*places {
                    let at = first_row + place as usize * (entry - TAG_BYTES);
                    entries.prefetch(at);
                    candidates.push(Candidate { query: number, table, at });
                }
            }
        }
        for candidate in &mut *candidates {
            let row = self.tables[candidate.table].row(candidate.at, entry - TAG_BYTES);
            // What leads nowhere is the row behind the last.
            candidate.at = row.map_or(self.values.len(), |row| row as usize);
            self.values.prefetch(candidate.at);
        }
        let mut candidates = candidates.iter().peekable();
        for (number, &query) in queries.iter().enumerate() {
            matches.clear();
            while let Some(&Candidate { table, at: row, .. }) =
                candidates.next_if(|candidate| candidate.query == number)
            {
                if row >= self.values.len() {
                    continue;
                }
                let Some(value) = self.values.at(row) else { continue };
                let difference = value ^ query;
                if let Some(distance) = self.keys.reach.distance(difference)
                    && self.finds(table, difference)
                    && !(0..table).any(|before| self.finds(before, difference))
                {
                    matches.push(Match { distance, row: row as u32 });
                }
            }
            matches.sort_unstable_by_key(|found| found.row);
            found(number, matches);
        }
    }
}

/// What is needed on the way to answers.
#[derive(Debug, Default)]
struct Room {
    /// For each look of a query into a table, the places of its bucket.
    buckets: Vec<Range<usize>>,
    places: Vec<u32>,
    candidates: Vec<Candidate>,
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
    use crate::fingerprint_rows::Shape;
    use crate::stable_hash::mix;

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
