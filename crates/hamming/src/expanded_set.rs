//! Stores every fingerprint under all values within k flips, so that a query is one look-up: right
//! where there are many queries and k and f are small.

use crate::FingerprintIndex;
use crate::bit_probing::visit_flips;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::fingerprint_table::Lane;
use simtool_model::matches::Match;

/// All values near to some fingerprint, with the rows of those.
#[derive(Debug)]
pub struct ExpandedSet<L> {
    max_distance: u32,
    matches: UnorderedMap<L, Vec<Match>>,
}

impl<L: Lane> ExpandedSet<L> {
    /// Builds the set over `values`, of which there are at most 2^32 - 1, to be compared bit by bit;
    /// neither they nor the queries have bits beyond the lowest `bits`.
    ///
    /// # Complexity
    ///
    /// n × ((f choose 0) + … + (f choose k)) entries.
    pub fn new(values: &[L], bits: u32, max_distance: u32) -> Self {
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

impl<L: Lane> FingerprintIndex<L> for ExpandedSet<L> {
    fn max_distance(&self) -> u32 {
        self.max_distance
    }

    fn search(&self, query: L, found: &mut Vec<Match>) {
        found.clear();
        found.extend(self.matches.get(&query).into_iter().flatten());
    }
}
