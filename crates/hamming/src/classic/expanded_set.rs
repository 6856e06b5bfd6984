//! The expanded set: stores every fingerprint under all values that differ from it in at most k bits.
//! So a query is one look-up. Good for many queries, small k and few bits.

use crate::FingerprintIndex;
use crate::classic::bit_probing::visit_flips;
use crate::indexed_search::IndexedSearch;
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::partners::Partners;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;

/// A hash table that stores each fingerprint under every value within the maximum distance. It returns
/// for such a value the rows with near fingerprints and their distances.
#[derive(Debug)]
pub(crate) struct ExpandedSet<L> {
    max_distance: u32,
    matches: UnorderedMap<L, Vec<Match>>,
}

impl<L: Fingerprint> ExpandedSet<L> {
    /// Builds the set over `values`, which are at most 2³² − 1 fingerprints. The distance is the number
    /// of different bits. In values and queries, only the lowest `bits` bits may be set.
    ///
    /// # Complexity
    ///
    /// n × ((f choose 0) + … + (f choose k)) entries for n fingerprints of f bits and the maximum distance k.
    pub(crate) fn new(values: &[L], bits: u32, max_distance: u32) -> Self {
        let mut matches = UnorderedMap::<L, Vec<Match>>::default();
        let all: Vec<u32> = (0..bits.min(L::BITS)).collect();
        for (&value, row) in values.iter().zip(0..) {
            let mut take = |near: L, distance: u32| {
                matches.entry(near).or_default().push(Match { distance, row });
            };
            take(value, 0);
            visit_flips(value, &all, max_distance, 0, &mut take);
        }
        Self { max_distance, matches }
    }
}

impl<L: Fingerprint> FingerprintIndex<L> for ExpandedSet<L> {
    fn max_distance(&self) -> u32 {
        self.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        found.extend(self.matches.get(&query).into_iter().flatten());
    }
}

/// The expanded set as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It stores each fingerprint
/// under all values near it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExpandedSetJoin;

impl JoinKind for ExpandedSetJoin {
    fn name(&self) -> &'static str {
        "expanded-set"
    }

    fn help(&self) -> &'static str {
        "Stores every value within k flips of the corpus: one look-up a query, much memory."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Bits, is_for_collections: false }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let flips = workload.flips();
        let build = rows * flips * 100.0;
        let bytes = rows * flips * (workload.fingerprint_bytes() + 24.0);
        // A look-up beyond the caches waits for memory.
        let query = if bytes > 1e7 { 120.0 } else { 40.0 };
        JoinEstimate { nanoseconds: build + workload.query_count() * query, bytes }
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for ExpandedSetJoin {
    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let (fingerprints, corpus_rows) = corpus.valid();
        let index =
            ExpandedSet::new(&fingerprints, work.reach.shape.row_bits(), work.reach.max_distance);
        Ok(Box::new(IndexedSearch { queries, index, corpus_rows }))
    }
}
