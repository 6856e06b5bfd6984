//! Queries in tables, the corpus scanned once: nothing is built over the corpus, which may be a
//! mapped file larger than memory.

use crate::Rows;
use crate::layout::{Layout, is_first_agreeing};
use rayon::prelude::{IntoParallelIterator, ParallelIterator};
use simtool_kernels::Isa;
use simtool_kernels::bucket_filter::{CROWDED, places, rows_near_buckets};
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::ValuePair;

/// Most bits of the hash of a block: the words of a table's buckets then fit the second cache.
const MOST_BITS: u32 = 16;
/// Buckets for each query, as a power of two, if these bits allow it: few have several.
const BITS_A_QUERY: u32 = 3;
/// Corpus rows that one task scans.
const CHUNK_ROWS: usize = 1 << 16;
/// Corpus rows whose candidates are collected before any is looked at: enough for the words of a
/// table to come into the first caches for many of them.
const STEP_ROWS: usize = 1 << 15;

/// Tables of queries.
#[derive(Debug)]
pub struct StreamedQueries<'a, L> {
    queries: &'a [L],
    reach: Reach,
    isa: Isa,
    blocks: Vec<L>,
    tables: Vec<Table<L>>,
}

#[derive(Debug)]
struct Table<L> {
    hash: BlockHash<L>,
    /// A word for each bucket, as [`rows_near_buckets`] wants them.
    words: Vec<u32>,
    starts: Vec<u32>,
    /// Queries and their numbers, by bucket.
    queries: Vec<(L, u32)>,
}

impl<L: Lane> Table<L> {
    fn new(queries: &[L], block: L) -> Self {
        let bits = (queries.len().max(1).ilog2() + BITS_A_QUERY).min(MOST_BITS);
        let hash = BlockHash::new(block, 0, bits);
        let mut numbered: Vec<_> = queries.iter().copied().zip(0..).collect();
        numbered.sort_unstable_by_key(|&(query, number)| (hash.part(query), number));
        let mut words = vec![0; hash.parts()];
        let mut starts = vec![0; hash.parts() + 1];
        for &(query, _) in &numbered {
            let part = hash.part(query);
            starts[part + 1] += 1;
            words[part] = if starts[part + 1] == 1 { query.fold32() } else { CROWDED };
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { hash, words, starts, queries: numbered }
    }
}

impl<'a, L: Lane> StreamedQueries<'a, L> {
    /// Builds the tables over `queries`, of which there are at most 2^32 - 1, by the masks of
    /// `layout`, which is one for this reach. Scans run on `isa`.
    pub fn new(queries: &'a [L], layout: &Layout, reach: Reach, isa: Isa) -> Self {
        let blocks: Vec<L> = layout.blocks();
        let tables = blocks.iter().map(|&block| Table::new(queries, block)).collect();
        Self { queries, reach, isa, blocks, tables }
    }

    /// Finds every query (`a`) and corpus row (`b`) within the distance, ascending.
    ///
    /// # Complexity
    ///
    /// k + 1 look-ups in a table of 256 KB for each of n corpus rows, and the candidates.
    pub fn scan(&self, corpus: Rows<'_, L>) -> Vec<ValuePair> {
        let rows = corpus.lanes.len();
        let chunks: Vec<Vec<ValuePair>> = (0..rows.div_ceil(CHUNK_ROWS))
            .into_par_iter()
            .map(|chunk| {
                let mut found = Vec::new();
                let mut candidates = vec![0; places(STEP_ROWS)];
                let end = rows.min((chunk + 1) * CHUNK_ROWS);
                for first in (chunk * CHUNK_ROWS..end).step_by(STEP_ROWS) {
                    let step = &corpus.lanes[first..end.min(first + STEP_ROWS)];
                    for table in 0..self.tables.len() {
                        self.scan_step(table, step, first, corpus, &mut candidates, &mut found);
                    }
                }
                found
            })
            .collect();
        let mut pairs = chunks.concat();
        pairs.sort_unstable();
        pairs
    }

    /// One table against some rows: first which may be near a query, then those rows' buckets.
    fn scan_step(
        &self,
        number: usize,
        step: &[L],
        first: usize,
        corpus: Rows<'_, L>,
        candidates: &mut [u32],
        found: &mut Vec<ValuePair>,
    ) {
        let table = &self.tables[number];
        let (hash, words, limit) = (&table.hash, &table.words, self.reach.most_bits());
        let count = rows_near_buckets(step, hash, words, limit, self.isa, candidates);
        for &at in &candidates[..count] {
            let lane = step[at as usize];
            let part = table.hash.part(lane);
            let bucket = table.starts[part] as usize..table.starts[part + 1] as usize;
            for &(query, a) in &table.queries[bucket] {
                let difference = query ^ lane;
                let row = first + at as usize;
                if let Some(distance) = self.reach.distance(difference)
                    && is_first_agreeing(&self.blocks, number, difference)
                    && corpus.has_fingerprint(row)
                {
                    found.push(ValuePair { a, b: row as u32, distance });
                }
            }
        }
    }

    /// The queries.
    pub fn queries(&self) -> &'a [L] {
        self.queries
    }
}
