//! A table of the block index. It sorts all rows into buckets by the bits of one block, and stores a
//! tag and the number of each row. A tag is a 16-bit summary of the bits outside the block.
//!
//! The rows of a bucket are sorted by the weight of their tags, which is the number of bits that are
//! set. Tags that differ in at most t bits have weights that differ by at most t. So the candidates of
//! a query are in one range of the bucket. A query starts where this range would be if tags were
//! random, and extends the range until the weights differ too much. So it reads less than half of a
//! large bucket.

use crate::layout::Layout;
use crate::row_tags::{GATHERED_BITS, GatheredBits, RowTags, WEIGHTS};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::lent_array::{Arrays, InMemory, LentArray};
use simtool_kernels::Isa;
use simtool_kernels::near_tags::{TagQuery, near_tags};
use simtool_kernels::partition::{BlockHash, Parts, counts_to_starts};
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use std::sync::Arc;

/// Average number of rows in a bucket of a table, if the bits of the table's block divide the rows evenly.
const BUCKET_ROWS: usize = 48;
/// Maximum number of bits of a bucket number. With b bits, there are 2^b buckets.
const MAX_BITS: u32 = 24;
/// Description of the memory for the tables of an index. Out-of-memory messages contain it.
const TABLES: &str = "the lookup tables of the fingerprints";
/// Number of bytes of a tag, which is a 16-bit summary of a fingerprint.
const TAG_BYTES: usize = size_of::<u16>();
/// Number of bytes of a cache line.
const LINE: usize = 64;
/// Maximum number of consecutive cache lines of a bucket that are prefetched. The processor itself
/// detects the sequence and fetches the lines after them.
const LINES: usize = 8;

/// One table of the block index. It holds a tag (a 16-bit summary) and the row number of each fingerprint, sorted into
/// buckets.
#[derive(Debug)]
pub struct BucketTable<L, A: Arrays = InMemory> {
    buckets: Buckets<L>,
    tags: Arc<RowTags>,
    /// Number of bytes of a row in [`TableParts::entries`], for its 16-bit tag and its row number.
    entry: usize,
    parts: TableParts<A>,
}

/// Function from a fingerprint to the number of its bucket.
#[derive(Clone, Debug)]
enum Buckets<L> {
    /// The bits of the table's block are the bucket number. The first field extracts them, and the second is their
    /// number.
    Block(Arc<GatheredBits>, u32),
    /// The bucket number is a hash of the bits of the table's block, because the block has more bits than a bucket
    /// number.
    Hash(BlockHash<L>),
}

impl<L: Fingerprint> Buckets<L> {
    /// Chooses the function from a fingerprint to its bucket in table number `table`, which has 2^`bits` buckets.
    fn new(keys: &TableKeys, table: usize, bits: u32) -> Self {
        let block = keys.layout.block::<L>(table);
        match &keys.blocks[table] {
            Some(gathered) if block.count_ones() == bits => Self::Block(Arc::clone(gathered), bits),
            _ => Self::Hash(BlockHash::new(block, 0, bits)),
        }
    }
}

impl<L: Fingerprint> Parts<L> for Buckets<L> {
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

/// The functions that all tables of an index use: the extraction of the bits of each block, and the computation of
/// tags. A tag is a 16-bit summary of a fingerprint.
#[derive(Clone, Debug)]
pub struct TableKeys {
    pub(super) layout: Layout,
    pub(super) reach: Reach,
    pub(super) tags: Vec<Arc<RowTags>>,
    /// For each block, a fast function that extracts the bits of the block from a fingerprint. `None`
    /// if the block has more bits than the function supports.
    blocks: Vec<Option<Arc<GatheredBits>>>,
}

impl TableKeys {
    /// Creates the functions of an index with one table for each mask of `layout`. If two fingerprints are within the
    /// maximum distance of `reach`, they must be equal in at least one of the masks.
    #[must_use]
    pub fn new(layout: Layout, reach: Reach) -> Self {
        let tables = 0..layout.masks().len();
        let tags = |table| Arc::new(RowTags::new(&layout, table, reach));
        let tags = tables.clone().map(tags).collect();
        let block = |table| {
            let is_small = layout.mask_bits(table).count() <= GATHERED_BITS;
            is_small.then(|| Arc::new(GatheredBits::new(layout.mask_bits(table))))
        };
        let blocks = tables.map(block).collect();
        Self { layout, reach, tags, blocks }
    }

    /// Returns the number of tables, which is the number of blocks.
    #[must_use]
    pub fn tables(&self) -> usize {
        self.tags.len()
    }
}

/// The arrays of a [`BucketTable`]. They can be stored, and a table can be created from them again.
#[derive(Debug)]
pub struct TableParts<A: Arrays = InMemory> {
    /// For each bucket, the number of rows in all buckets before it. The last element is the number of
    /// all rows.
    pub starts: A::Array<u32>,
    /// The tags and row numbers of all rows, bucket by bucket. Each bucket has first the tags of its
    /// rows, of two bytes each. Then come their row numbers, of three or four bytes each, with the
    /// lowest byte first. Both are in one array, because a query mostly waits for memory. The rows of a
    /// bucket are sorted by the weight of their tags, and then by their numbers.
    pub entries: A::Array<u8>,
}

/// Returns the number of bytes of an entry in a table of `rows` rows. An entry is the 16-bit tag and the number of a
/// row.
#[must_use]
pub fn entry_bytes(rows: usize) -> usize {
    TAG_BYTES + if rows <= 1 << 24 { 3 } else { 4 }
}

/// Returns the number of bytes that each row takes while a table of `rows` rows is built. These are its
/// entry in the table and a temporary record for sorting.
#[must_use]
pub fn building_bytes(rows: usize) -> usize {
    entry_bytes(rows) + size_of::<TableRecord>()
}

/// A row during the construction of a table. One 64-bit number holds the lower bits of its bucket
/// number, its tag and its row number.
#[derive(Clone, Copy)]
struct TableRecord(u64);

impl TableRecord {
    fn new(bucket: usize, tag: u16, row: u32) -> Self {
        Self((bucket as u64) << 48 | u64::from(tag) << 32 | u64::from(row))
    }

    fn bucket(self) -> usize {
        (self.0 >> 48) as usize
    }

    fn tag(self) -> u16 {
        (self.0 >> 32) as u16
    }

    fn row(self) -> u32 {
        self.0 as u32
    }

    /// Returns the sort key of a row: the stored bits of its bucket number, and then the weight of its tag, which is
    /// the number of set bits of the tag.
    fn key(self) -> usize {
        self.bucket() * WEIGHTS + self.tag().count_ones() as usize
    }
}

impl<L: Fingerprint> BucketTable<L> {
    /// Builds table number `table` of an index over `values`, which are at most 2³² − 1 fingerprints. `keys` has the
    /// functions of all tables of the index.
    ///
    /// Rows are first partitioned by the upper half of the bits of their bucket numbers. Each part is then small enough
    /// to be sorted within the caches.
    ///
    /// # Errors
    ///
    /// There is too little memory.
    pub fn new(values: &[L], keys: &TableKeys, table: usize) -> Result<Self> {
        let (block, tags) = (keys.layout.block::<L>(table), Arc::clone(&keys.tags[table]));
        let wanted = (values.len() / BUCKET_ROWS).max(2).ilog2();
        let bits = wanted.min(MAX_BITS).min(block.count_ones()).max(1);
        let buckets = Buckets::new(keys, table, bits);
        // First pass: partition by the upper bits of the bucket.
        let lower = bits / 2;
        let mut ends = vec![0u32; 1 << (bits - lower)];
        for &value in values {
            ends[buckets.part(value) >> lower] += 1;
        }
        counts_to_starts(&mut ends, 0);
        // Each start advances to the end of its part while the part is filled.
        let mut records = LargeBuffer::<u64>::try_zeroed(values.len(), TABLES)?;
        for (row, &value) in (0u32..).zip(values) {
            let bucket = buckets.part(value);
            let end = &mut ends[bucket >> lower];
            let record = TableRecord::new(bucket & ((1 << lower) - 1), tags.tag(value), row);
            records[*end as usize] = record.0;
            *end += 1;
        }
        let entry = entry_bytes(values.len());
        let mut starts = LargeBuffer::<u32>::try_zeroed(buckets.parts() + 1, TABLES)?;
        let mut entries = LargeBuffer::<u8>::try_zeroed(values.len() * entry, TABLES)?;
        // Second pass: a counting sort of each part by bucket and weight.
        let mut places = vec![0u32; WEIGHTS << lower];
        let mut first = 0;
        for (end, starts_at) in ends.into_iter().zip((0..).step_by(1 << lower)) {
            let records = &records[first as usize..end as usize];
            let starts = &mut starts[starts_at..=starts_at + (1 << lower)];
            places.fill(0);
            for &record in records {
                places[TableRecord(record).key()] += 1;
            }
            counts_to_starts(&mut places, first);
            // A bucket starts where its tags with the lowest weight start.
            for (start, weights) in starts.iter_mut().zip(places.chunks_exact(WEIGHTS)) {
                *start = weights[0];
            }
            starts[1 << lower] = end;
            for &record in records {
                let record = TableRecord(record);
                let place = &mut places[record.key()];
                let bucket = &starts[record.bucket()..];
                let (start, end, at) = (bucket[0] as usize, bucket[1] as usize, *place as usize);
                *place += 1;
                // In a bucket, all tags come before all numbers.
                let tag = start * entry + (at - start) * TAG_BYTES;
                entries[tag..][..TAG_BYTES].copy_from_slice(&record.tag().to_le_bytes());
                let number = record.row().to_le_bytes();
                if entry == TAG_BYTES + 3 {
                    entries[end * TAG_BYTES + at * 3..][..3].copy_from_slice(&number[..3]);
                } else {
                    entries[end * TAG_BYTES + at * 4..][..4].copy_from_slice(&number);
                }
            }
            first = end;
        }
        Ok(Self { buckets, tags, entry, parts: TableParts { starts, entries } })
    }
}

/// The state of the look-up of one query in one table. A look-up has several steps. Each step is done for many queries,
/// so that all of them wait for memory at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Index of the first row of the bucket. In the first step, the number of the bucket.
    start: usize,
    /// Index behind the last row of the bucket. In the first step, 0.
    end: usize,
    /// Tag of the query, which is a 16-bit summary of its fingerprint.
    tag: u16,
    /// Start and end of the range of the bucket's rows whose tags are likely to be near the query's tag. Both are
    /// counted from the start of the bucket.
    expected: (usize, usize),
}

impl<L: Fingerprint, A: Arrays> BucketTable<L, A> {
    /// Creates table number `table` of an index from arrays that were stored.
    ///
    /// # Errors
    ///
    /// The arrays do not have the lengths for a table of `rows` rows.
    pub(super) fn of_parts(
        rows: usize,
        keys: &TableKeys,
        table: usize,
        parts: TableParts<A>,
    ) -> Result<Self> {
        let block = keys.layout.block::<L>(table);
        let buckets = parts.starts.len().saturating_sub(1);
        let entry = entry_bytes(rows);
        // Stored parts may be damaged, so their lengths are checked before anything is read.
        let is_table = buckets.is_power_of_two()
            && (1..=MAX_BITS.min(block.count_ones())).contains(&buckets.ilog2())
            && Some(parts.entries.len()) == rows.checked_mul(entry);
        if !is_table {
            let given = format!("of {} bytes in {buckets} buckets", parts.entries.len());
            return Err(Error::config("table", given, format!("must be one of {rows} rows")));
        }
        let buckets = Buckets::new(keys, table, buckets.ilog2());
        Ok(Self { buckets, tags: Arc::clone(&keys.tags[table]), entry, parts })
    }

    /// Returns the arrays of the table, for example to store them.
    #[must_use]
    pub fn parts(&self) -> &TableParts<A> {
        &self.parts
    }

    /// Begins the look-up of each query. Appends to `looks` one look-up for each query, which holds the
    /// number of the query's bucket. Prefetches the start and end of that bucket.
    pub(super) fn begin(&self, queries: &[L], looks: &mut Vec<Look>) {
        looks.extend(queries.iter().map(|&query| {
            let bucket = self.buckets.part(query);
            self.parts.starts.prefetch(bucket);
            Look { start: bucket, end: 0, tag: self.tags.tag(query), expected: (0, 0) }
        }));
    }

    /// Replaces the bucket number of each look-up by the range of the bucket's rows. Prefetches the tags (16-bit
    /// summaries of the rows) that are likely to be read. If [`TableParts::starts`] is damaged and has no such bucket,
    /// the bucket counts as empty.
    pub(super) fn approach(&self, looks: &mut [Look]) {
        for look in looks {
            (look.start, look.end) = match self.parts.starts.lend(look.start..look.start + 2) {
                &[start, end] if start < end => (start as usize, end as usize),
                _ => (0, 0),
            };
            // Near tags are expected in this range, as if tags were random. Other near tags are found
            // by extending the range.
            let expected = self.tags.expected(look.tag, look.end - look.start);
            look.expected = (expected.start, expected.end);
            let at = |place: usize| look.start * self.entry + place * TAG_BYTES;
            let tags = at(expected.start)..at(expected.end);
            // Tags need not be aligned to cache lines, so the last tag may be in one more line.
            let end = tags.end.saturating_sub(1);
            for line in tags.step_by(LINE).take(LINES).chain([end]) {
                self.parts.entries.prefetch(line);
            }
        }
    }

    /// Finds the rows of the query's bucket whose tags are near the query's tag. A tag is a 16-bit summary of a
    /// fingerprint. Calls `found` for each of these rows with the byte offset of its row number in
    /// [`TableParts::entries`], and prefetches the row number. `places` is a buffer.
    pub(super) fn find(
        &self,
        look: Look,
        isa: Isa,
        places: &mut Vec<u32>,
        mut found: impl FnMut(usize),
    ) {
        let (first, rows) = (look.start * self.entry, look.end - look.start);
        let numbers = first + rows * TAG_BYTES;
        let tags = bytemuck::cast_slice(self.parts.entries.lend(first..numbers));
        places.clear();
        let expected = look.expected.0..look.expected.1;
        let query = TagQuery { tag: look.tag, most: self.tags.most, expected };
        near_tags(tags, query, isa, places);
        for &place in &*places {
            let at = numbers + place as usize * (self.entry - TAG_BYTES);
            self.parts.entries.prefetch(at);
            found(at);
        }
    }

    /// Reads the row number at byte offset `at` of [`TableParts::entries`]. Returns `None` if the
    /// offset is outside the array.
    #[inline]
    pub(super) fn row(&self, at: usize) -> Option<u32> {
        match *self.parts.entries.lend(at..at + self.entry - TAG_BYTES) {
            [a, b, c] => Some(u32::from_le_bytes([a, b, c, 0])),
            [a, b, c, d] => Some(u32::from_le_bytes([a, b, c, d])),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;
    use simtool_model::fingerprint_rows::Shape;

    /// Checks that a table holds its rows in the same order as a simple sort by bucket, weight of the
    /// tag and row number.
    #[test]
    fn rows_are_sorted_by_bucket_weight_and_number() {
        let reach = Reach { shape: Shape::bits(64), max_distance: 3 };
        let keys = TableKeys::new(Layout::even(reach.shape, 3), reach);
        for rows in [0, 1, 95, 5000] {
            // Few different values, so that many rows have the same bucket and tag.
            let values: Vec<u64> = (0..rows).map(|row| mix(row % (rows / 3 + 1))).collect();
            for number in 0..keys.tables() {
                let table = BucketTable::new(&values, &keys, number).unwrap();
                let mut sorted: Vec<_> = (0u32..)
                    .zip(&values)
                    .map(|(row, &value)| {
                        let tag = table.tags.tag(value);
                        (table.buckets.part(value), tag.count_ones(), row, tag)
                    })
                    .collect();
                sorted.sort_unstable();
                let starts: Vec<u32> = (0..=table.buckets.parts())
                    .map(|bucket| sorted.partition_point(|row| row.0 < bucket) as u32)
                    .collect();
                assert_eq!(table.parts.starts[..], starts);
                let mut entries = Vec::new();
                for bucket in sorted.chunk_by(|a, b| a.0 == b.0) {
                    entries.extend(bucket.iter().flat_map(|row| row.3.to_le_bytes()));
                    for row in bucket {
                        entries.extend_from_slice(&row.2.to_le_bytes()[..3]);
                    }
                }
                assert!(table.parts.entries[..] == entries, "{rows} rows, table {number}");
            }
        }
    }
}
