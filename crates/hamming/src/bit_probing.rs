//! Looks up every fingerprint within k flips of the query: right where k and f are small.

use crate::FingerprintIndex;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::Match;

/// A hash table of an array of fingerprints.
#[derive(Debug)]
pub struct BitProbing<L> {
    max_distance: u32,
    /// The bits that are flipped: no fingerprint differs from another elsewhere.
    varying: L,
    /// Their numbers, ascending.
    flips: Vec<u32>,
    /// The bits of all fingerprints outside of `varying`.
    constant: L,
    rows: UnorderedMap<L, Vec<u32>>,
}

impl<L: Lane> BitProbing<L> {
    /// Builds the table over `values`, of which there are at most 2^32 - 1, to be compared bit by bit.
    pub fn new(values: &[L], max_distance: u32) -> Self {
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

/// Calls `visit` with each value that differs from `value` in 1 to `flips` of the `bits`, first ones
/// first, and in how many.
pub(super) fn visit_flips<L: Lane>(
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

impl<L: Lane> FingerprintIndex<L> for BitProbing<L> {
    fn max_distance(&self) -> u32 {
        self.max_distance
    }

    /// # Complexity
    ///
    /// One look-up for each of the (f choose 0) + … + (f choose k) probes, f the bits that vary.
    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        let varying = self.varying;
        // Where no fingerprint varies, the query's flips are forced.
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
