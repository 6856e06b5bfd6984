//! The search with streamed queries: builds tables of the queries, and scans the corpus once.
//!
//! Nothing is built for the corpus, so it may be a mapped file that is larger than memory.

use crate::Rows;
use crate::collect::{Collect, KeepPairs};
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::layout::{Layout, is_first_agreeing};
use crate::on_demand::search_on_demand;
use crate::partners::Partners;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::Result;
use simtool_compute::tasks;
use simtool_kernels::Isa;
use simtool_kernels::bucket_filter::{BucketSearch, CROWDED, places, rows_near_buckets};
use simtool_kernels::partition::{BlockHash, Parts};
use simtool_model::fingerprint_table::{Fingerprint, Reach};
use simtool_model::matches::{Match, ValuePair};
use std::ops::Range;

/// Maximum number of bits of a bucket number. With so few buckets, [`QueryTable::words`] fits into the second-level
/// cache.
const MOST_BITS: u32 = 16;
/// A table has about 2 to this power buckets for each query, unless [`MOST_BITS`] allows fewer. With so many buckets,
/// few of them have several queries.
const BITS_A_QUERY: u32 = 3;
/// Number of corpus rows that one task scans.
const CHUNK_ROWS: usize = 1 << 16;
/// Number of corpus rows that are compared with one table before the next table is used. The [`QueryTable::words`] of
/// the table then stay in the caches for many rows.
const STEP_ROWS: usize = 1 << 15;

/// Tables in which the queries near a row of the corpus are looked up. There is one table for each mask of a layout,
/// which is a list of bit masks.
#[derive(Debug)]
pub struct StreamedQueries<L> {
    reach: Reach,
    isa: Isa,
    blocks: Vec<L>,
    tables: Vec<QueryTable<L>>,
}

#[derive(Debug)]
struct QueryTable<L> {
    hash: BlockHash<L>,
    /// One 32-bit word for each bucket, which [`rows_near_buckets`] compares with rows. It is 0 if the bucket has no
    /// query, and [`CROWDED`] if the bucket has several. Otherwise it is the XOR of the 32-bit words of the only query.
    words: Vec<u32>,
    starts: Vec<u32>,
    /// Queries with their numbers, sorted by the number of their bucket.
    queries: Vec<(L, u32)>,
}

impl<L: Fingerprint> QueryTable<L> {
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
        // The counts become starts. Each count was stored one position behind its bucket.
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        Self { hash, words, starts, queries: numbered }
    }
}

impl<L: Fingerprint> StreamedQueries<L> {
    /// Builds tables of at most 2³² − 1 `queries`, one for each mask of `layout`. The layout must miss
    /// no pair within `reach`, the maximum distance. Scans use the instruction set `isa`.
    pub fn new(queries: &[L], layout: &Layout, reach: Reach, isa: Isa) -> Self {
        let blocks: Vec<L> = layout.blocks();
        let tables = blocks.iter().map(|&block| QueryTable::new(queries, block)).collect();
        Self { reach, isa, blocks, tables }
    }

    /// Finds all pairs of a query (`a`) and a row of the corpus (`b`) within the maximum distance, in
    /// ascending order.
    ///
    /// # Complexity
    ///
    /// For each of n corpus rows, k + 1 look-ups in a table of 256 KB, and the comparisons of the
    /// candidates.
    pub fn scan(&self, corpus: Rows<'_, L>) -> Vec<ValuePair> {
        self.scan_in_room(corpus, &KeepPairs::all())
    }

    /// Finds all pairs of a query and a row of the corpus within the maximum distance. Passes them to `keep`, which may
    /// leave out pairs that do not fit in memory. Returns the kept pairs in ascending order.
    fn scan_in_room(&self, corpus: Rows<'_, L>, keep: &KeepPairs<'_>) -> Vec<ValuePair> {
        let rows = corpus.fingerprints.len();
        let chunks = tasks::map(rows.div_ceil(CHUNK_ROWS), |chunk| {
            let mut found = keep.part();
            if keep.is_full() {
                return found;
            }
            let mut candidates = vec![0; places(STEP_ROWS)];
            let end = rows.min((chunk + 1) * CHUNK_ROWS);
            for first in (chunk * CHUNK_ROWS..end).step_by(STEP_ROWS) {
                let step = first..end.min(first + STEP_ROWS);
                // All tables process the same rows, which stay in the caches.
                for table in 0..self.tables.len() {
                    self.scan_step(table, corpus, step.clone(), &mut candidates, |pair| {
                        keep.pair(&mut found, pair.a, pair.b, pair.distance);
                    });
                }
            }
            found
        });
        // Chunks are in row order. The result is ordered by query.
        let mut pairs = keep.part();
        for chunk in chunks {
            keep.merge(&mut pairs, chunk);
        }
        pairs.into_sorted()
    }

    /// Compares the rows of `corpus` in the range `rows` with table number `number` of the queries. First selects the
    /// rows that may be near a query, then compares these rows with the queries of their buckets. Calls `found` for
    /// each near pair. `candidates` is a buffer.
    fn scan_step(
        &self,
        number: usize,
        corpus: Rows<'_, L>,
        rows: Range<usize>,
        candidates: &mut [u32],
        mut found: impl FnMut(ValuePair),
    ) {
        let table = &self.tables[number];
        let first = rows.start;
        let step = &corpus.fingerprints[rows];
        let search = BucketSearch {
            rows: step,
            hash: &table.hash,
            words: &table.words,
            max_distance: self.reach.most_bits(),
        };
        let count = rows_near_buckets(search, self.isa, candidates);
        for &at in &candidates[..count] {
            let fingerprint = step[at as usize];
            let part = table.hash.part(fingerprint);
            let bucket = table.starts[part] as usize..table.starts[part + 1] as usize;
            for &(query, a) in &table.queries[bucket] {
                let difference = query ^ fingerprint;
                // A pair that is equal in several blocks is reported for the first of them only.
                let row = first + at as usize;
                if let Some(distance) = self.reach.distance(difference)
                    && is_first_agreeing(&self.blocks, number, difference)
                    && corpus.has_fingerprint(row)
                {
                    found(ValuePair { a, b: row as u32, distance });
                }
            }
        }
    }
}

/// The search with streamed queries as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It scans
/// the corpus once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamedQueriesJoin;

impl JoinKind for StreamedQueriesJoin {
    fn name(&self) -> &'static str {
        "streamed-queries"
    }

    fn help(&self) -> &'static str {
        "Builds tables of the queries and reads the corpus once: best if the corpus is much larger."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Lanes, is_for_collections: true }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let queries = workload.query_count();
        let tables = workload.blocks();
        // Number of queries in the same bucket of a table as a corpus row, by chance.
        let meetings = queries * (-workload.block_bits().min(16.0)).exp2();
        // A bucket with one query is compared without reading the query.
        let crowded = (meetings * meetings / 2.0).min(1.0);
        let row = tables * (1.3 + crowded * 5.0 + meetings.max(1.0).log2() * 2.0 * meetings);
        let scan = JoinEstimate {
            nanoseconds: rows * row + queries * 200.0,
            bytes: tables * queries * (16.0 + 16.0 * 8.0),
        };
        scan + workload.kept_pairs(queries * rows)
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for StreamedQueriesJoin {
    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let query_count = queries.fingerprints.len();
        let (fingerprints, query_rows) = queries.clone().valid();
        let scan = |work: JoinWork<'_>| {
            let layout = work.layout(&fingerprints);
            let streamed = StreamedQueries::new(&fingerprints, &layout, work.reach, work.isa());
            Ok(streamed.scan_in_room(corpus.rows(), &KeepPairs::new(work)))
        };
        match work.in_own_room(u64::MAX, scan)? {
            Some(found) => Ok(Box::new(StreamedPairs { found, query_rows, query_count })),
            None => search_on_demand(queries, corpus, work),
        }
    }
}

/// The pairs that a scan has found, sorted by query.
struct StreamedPairs {
    /// Pairs of a query (`a`) and a row of the corpus (`b`). The number of a query counts only queries that have a
    /// fingerprint.
    found: Vec<ValuePair>,
    /// The row number of each query that has a fingerprint. `None` if all queries have one, because the
    /// numbers are then equal.
    query_rows: Option<Vec<u32>>,
    query_count: usize,
}

impl StreamedPairs {
    fn pairs(&self, row: usize) -> &[ValuePair] {
        let place = match &self.query_rows {
            None => row,
            Some(rows) => match rows.binary_search(&(row as u32)) {
                Ok(place) => place,
                Err(_) => return &[],
            },
        };
        let first = self.found.partition_point(|pair| (pair.a as usize) < place);
        let rest = &self.found[first..];
        &rest[..rest.partition_point(|pair| pair.a as usize == place)]
    }
}

impl Partners for StreamedPairs {
    fn rows(&self) -> usize {
        self.query_count
    }

    fn bound(&self, row: usize) -> usize {
        self.pairs(row).len()
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        found.clear();
        let pairs = self.pairs(row).iter();
        found.extend(pairs.map(|pair| Match { distance: pair.distance, row: pair.b }));
    }
}
