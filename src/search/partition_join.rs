//! The self-join: all pairs of different fingerprints within a distance, and the groups of equal
//! ones.

use crate::kernels::Isa;
use crate::matches::ValuePair;
use crate::search::collect::{Collect, CountRows, KeepPairs};
use crate::search::grouping::{EqualGroups, group};
use crate::search::recursion::Join;
use crate::search::{Rows, SearchLane};

/// What a self-join found: groups of equal rows, and pairs of groups.
#[derive(Debug)]
pub struct SelfJoin<W> {
    /// The rows, by fingerprint.
    pub groups: EqualGroups<W>,
    /// Pairs of groups, ascending: `a` is below `b`.
    pub pairs: Vec<ValuePair>,
}

/// Finds all pairs of rows that differ in at most `max_distance` bits.
///
/// # Panics
///
/// As [`group`].
///
/// # Complexity
///
/// About (k + 1) partitions of the different fingerprints for small k and up to some hundred
/// million rows; the compares grow with n² / 2^(f / (k + 1)) and less, since big buckets are split
/// further.
pub fn self_join<L: SearchLane>(
    rows: Rows<'_, L>,
    max_distance: u32,
    isa: Isa,
) -> SelfJoin<L::Wide> {
    let mut groups = group(rows);
    let spare = groups.spare.take();
    let values = groups.values();
    let join = Join::new(values, 0, max_distance, isa, &KeepPairs, spare);
    let pairs = join.run(values).into_sorted();
    SelfJoin { groups, pairs }
}

/// Counts the pairs of rows that [`self_join`] finds, without keeping them.
///
/// # Panics
///
/// As [`group`].
pub fn count_pairs<L: SearchLane>(rows: Rows<'_, L>, max_distance: u32, isa: Isa) -> u64 {
    let mut groups = group(rows);
    let spare = groups.spare.take();
    let counting = CountRows { groups: (&groups, &groups) };
    let pairs = collect_pairs(&groups, max_distance, isa, &counting, spare);
    groups.equal_pairs() + pairs
}

/// Hands each pair of groups within `max_distance` to `collect`.
///
/// The order of the pairs does not depend on the number of threads.
pub fn collect_value_pairs<W: SearchLane<Wide = W>, C: Collect>(
    groups: &mut EqualGroups<W>,
    max_distance: u32,
    isa: Isa,
    collect: &C,
) -> C::Part {
    let spare = groups.spare.take();
    collect_pairs(groups, max_distance, isa, collect, spare)
}

fn collect_pairs<W: crate::fingerprint_table::Lane, C: Collect>(
    groups: &EqualGroups<W>,
    max_distance: u32,
    isa: Isa,
    collect: &C,
    spare: Option<(crate::large_buffer::LargeBuffer<W>, crate::large_buffer::LargeBuffer<u32>)>,
) -> C::Part {
    let values = groups.values();
    Join::new(values, 0, max_distance, isa, collect, spare).run(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_groups_and_limit() {
        let lanes = [0u64, 0b111, 0b1111, 0, 0b111 << 60, u64::MAX];
        let found = self_join(Rows::all(&lanes), 3, Isa::detected());
        assert_eq!(found.groups.len(), 5);
        let mut rows: Vec<_> = found
            .pairs
            .iter()
            .map(|p| {
                let [a, b] = [p.a, p.b].map(|g| found.groups.rows(g).to_vec());
                (a.clone().min(b.clone()), a.max(b), p.distance)
            })
            .collect();
        rows.sort();
        assert_eq!(
            rows,
            [(vec![0, 3], vec![1], 3), (vec![0, 3], vec![4], 3), (vec![1], vec![2], 1)]
        );
        assert_eq!(count_pairs(Rows::all(&lanes), 3, Isa::detected()), 6);
    }
}
