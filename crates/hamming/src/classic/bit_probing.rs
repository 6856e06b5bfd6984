//! Bit probing: looks up every value that differs from the query in at most k bits. Good for small k
//! and few bits.

use crate::FingerprintIndex;
use crate::indexed_search::IndexedSearch;
use crate::join::{JoinFixedRows, JoinKind, Limits, RowKind, Tasks};
use crate::partners::Partners;
use crate::work::{FixedRows, JoinWork};
use crate::workload::{JoinEstimate, Workload};
use simtool_base::error::Result;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::fingerprint_table::Fingerprint;
use simtool_model::matches::Match;

/// A hash table from fingerprints to the numbers of their rows.
#[derive(Debug)]
pub(crate) struct BitProbing<L> {
    max_distance: u32,
    /// Mask of the bits in which at least two fingerprints differ. All fingerprints are equal in the
    /// other bits, so only these bits are flipped.
    varying: L,
    /// Positions of the bits in `varying`, in ascending order.
    flips: Vec<u32>,
    /// The bits outside `varying`, which are the same in all fingerprints.
    constant: L,
    rows: UnorderedMap<L, Vec<u32>>,
}

impl<L: Fingerprint> BitProbing<L> {
    /// Builds the table over `values`, which are at most 2³² − 1 fingerprints. The distance is the
    /// number of different bits.
    pub(crate) fn new(values: &[L], max_distance: u32) -> Self {
        let mut rows = UnorderedMap::<L, Vec<u32>>::default();
        let first = values.first().copied().unwrap_or(L::ZERO);
        let mut varying = L::ZERO;
        for (row, &value) in values.iter().enumerate() {
            rows.entry(value).or_default().push(row as u32);
            varying = varying | (value ^ first);
        }
        let constant = first & !varying;
        let flips = varying.set_bits().collect();
        Self { max_distance, varying, flips, constant, rows }
    }
}

/// Calls `visit` with each value that results from `value` by flipping at least one and at most `flips`
/// bits. Only bits whose positions are in `bits` are flipped. The second argument of `visit` is
/// `flipped` plus the number of bits that were flipped in this value.
pub(super) fn visit_flips<L: Fingerprint>(
    value: L,
    bits: &[u32],
    flips: u32,
    flipped: u32,
    visit: &mut impl FnMut(L, u32),
) {
    if flips == 0 {
        return;
    }
    for (at, &bit) in bits.iter().enumerate() {
        let near = value.flipped(bit);
        visit(near, flipped + 1);
        visit_flips(near, &bits[at + 1..], flips - 1, flipped + 1, visit);
    }
}

impl<L: Fingerprint> FingerprintIndex<L> for BitProbing<L> {
    fn max_distance(&self) -> u32 {
        self.max_distance
    }

    /// # Complexity
    ///
    /// (f choose 0) + … + (f choose k) look-ups. Here k is the maximum distance, and f is the number of bits that are
    /// not the same in all fingerprints of the table.
    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        let varying = self.varying;
        // Bits that are the same in all fingerprints must be flipped if the query has other values
        // there.
        let forced = ((query & !varying) ^ self.constant).count_ones();
        let Some(left) = self.max_distance.checked_sub(forced) else { return };
        let start = query & varying | self.constant;
        let mut take = |value: L, distance: u32| {
            let rows = self.rows.get(&value).into_iter().flatten();
            found.extend(rows.map(|&row| Match { distance, row }));
        };
        take(start, forced);
        visit_flips(start, &self.flips, left, forced, &mut take);
        found.sort_unstable_by_key(|found| found.row);
    }
}

/// Bit probing as an entry of [`JOINS`](crate::joins::JOINS), the table of all methods. It looks up all values near a
/// query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BitProbingJoin;

impl JoinKind for BitProbingJoin {
    fn name(&self) -> &'static str {
        "bit-probing"
    }

    fn help(&self) -> &'static str {
        "Looks up every value within k flips of a query: good for k = 1 and 2 and few bits."
    }

    fn limits(&self) -> Limits {
        Limits { tasks: Tasks::Searches, rows: RowKind::Bits, is_for_collections: false }
    }

    fn estimate(&self, workload: &Workload) -> JoinEstimate {
        let rows = workload.row_count();
        let build = rows * 100.0;
        let query = workload.flips() * 20.0;
        JoinEstimate {
            nanoseconds: build + workload.query_count() * query,
            bytes: rows * (workload.fingerprint_bytes() + 40.0),
        }
    }
}

impl<L: Fingerprint> JoinFixedRows<L> for BitProbingJoin {
    fn partners<'a>(
        &self,
        queries: FixedRows<'a, L>,
        corpus: FixedRows<'a, L>,
        work: JoinWork<'a>,
    ) -> Result<Box<dyn Partners + 'a>> {
        let (fingerprints, corpus_rows) = corpus.valid();
        let index = BitProbing::new(&fingerprints, work.reach.max_distance);
        Ok(Box::new(IndexedSearch { queries, index, corpus_rows }))
    }
}
