//! The self-join: all pairs of different fingerprints within a distance, and the groups of equal
//! ones.

use crate::Rows;
use crate::collect::{Collect, CountRows, KeepPairs};
use crate::first_level::SKETCHED_WORDS;
use crate::first_rows::{CountFirst, first_rows};
use crate::grouping::{EqualGroups, Groups, group};
use crate::recursion::Join;
use simtool_base::error::Result;
use simtool_base::progress::Share;
use simtool_kernels::Isa;
use simtool_model::fingerprint_table::{Lane, Reach};
use simtool_model::matches::ValuePair;

/// Rows that are left where they are if their pairs are only counted: of more, copies take memory
/// that has to be cleared first, of fewer, the caches hold them.
const MANY_ROWS: usize = 1 << 15;

/// What a self-join found: groups of equal rows, and pairs of groups.
#[derive(Debug)]
pub struct SelfJoin {
    /// The rows, by fingerprint.
    pub groups: Groups,
    /// Pairs of groups, ascending: `a` is below `b`.
    pub pairs: Vec<ValuePair>,
}

/// Finds all pairs of rows within reach of each other; `share` is told how much of the work is done.
///
/// # Errors
///
/// As [`group`].
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
pub fn self_join<L: Lane>(
    rows: Rows<'_, L>,
    reach: Reach,
    isa: Isa,
    share: Share<'_>,
) -> Result<SelfJoin> {
    let mut groups = group(rows)?;
    let pairs = collect_value_pairs(&mut groups, reach, isa, &KeepPairs, share)?.into_sorted();
    Ok(SelfJoin { groups: groups.groups, pairs })
}

/// Counts the pairs of rows that [`self_join`] finds, without keeping them.
///
/// # Errors
///
/// As [`group`].
///
/// # Panics
///
/// As [`group`].
pub fn count_pairs<L: Lane>(
    rows: Rows<'_, L>,
    reach: Reach,
    isa: Isa,
    share: Share<'_>,
) -> Result<u64> {
    if L::WORDS < SKETCHED_WORDS && rows.lanes.len() >= MANY_ROWS {
        let (first_rows, spare) = first_rows(rows)?;
        let counting = CountFirst(&first_rows);
        let join = Join::new(rows.lanes, 0, reach, isa, &counting, Some(spare));
        let pairs = counting.total(join.run_valid(rows.lanes, &first_rows.first, share)?);
        return Ok(first_rows.equal_pairs() + pairs);
    }
    let mut groups = group(rows)?;
    let spare = groups.spare.take();
    let counting = CountRows { groups: (&groups.groups, &groups.groups) };
    let values = groups.values();
    let pairs = Join::new(values, 0, reach, isa, &counting, spare).run(values, share)?;
    Ok(groups.groups.equal_pairs() + pairs)
}

/// Hands each pair of groups within reach to `collect`.
///
/// The order of the pairs does not depend on the number of threads.
///
/// # Errors
///
/// The memory cannot be had.
pub fn collect_value_pairs<L: Lane, C: Collect>(
    groups: &mut EqualGroups<L>,
    reach: Reach,
    isa: Isa,
    collect: &C,
    share: Share<'_>,
) -> Result<C::Part> {
    let spare = groups.spare.take();
    let values = groups.values();
    Join::new(values, 0, reach, isa, collect, spare).run(values, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_groups_and_limit() {
        let lanes = [0u64, 0b111, 0b1111, 0, 0b111 << 60, u64::MAX];
        let reach = Reach::bits(64, 3);
        let found = self_join(Rows::all(&lanes), reach, Isa::detected(), Share::untold()).unwrap();
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
        assert_eq!(
            count_pairs(Rows::all(&lanes), reach, Isa::detected(), Share::untold()).unwrap(),
            6
        );
    }
}
