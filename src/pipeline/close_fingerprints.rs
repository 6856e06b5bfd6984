//! Fingerprints × a plan: the rows that are close, in groups of equal ones.

use super::join_fingerprints::{JoinConfig, groups_and_pairs, with_lanes};
use crate::closeness::{ClosePair, CloseRows, Closeness};
use crate::error::Result;
use crate::fingerprint_rows::{FingerprintRows, Lanes};
use crate::fingerprint_table::Lane;
use crate::matches::ValuePair;
use crate::search::Rows;
use crate::search::grouping::EqualGroups;
use crate::search::planner::IndexName;

/// All rows within the distance of each other, by the method `index`; in the threads of the caller's
/// pool.
///
/// # Errors
///
/// A temporary file fails.
pub(super) fn close_within(
    rows: &FingerprintRows<'_>,
    index: IndexName,
    config: &JoinConfig,
) -> Result<CloseRows> {
    let validity = rows.validity.as_ref();
    with_lanes!(rows, |lanes| {
        let (groups, pairs) =
            groups_and_pairs(Rows { lanes: &lanes[..], validity }, index, config)?;
        let pairs = named(&pairs, &groups, &groups, |a, b| (a.min(b), a.max(b)));
        Ok(CloseRows { groups: repeated(&groups), pairs, of_equal: Closeness::Distance(0) })
    })
}

/// The groups of two rows and more, by their first row.
fn repeated<W: Lane>(groups: &EqualGroups<W>) -> Vec<Vec<u32>> {
    let mut repeated: Vec<_> = groups.repeated().map(|group| groups.rows(group).to_vec()).collect();
    repeated.sort_unstable_by_key(|group| group[0]);
    repeated
}

/// Pairs of groups by their first rows, as `order` puts them, ascending.
fn named<W: Lane>(
    pairs: &[ValuePair],
    of_a: &EqualGroups<W>,
    of_b: &EqualGroups<W>,
    order: impl Fn(u32, u32) -> (u32, u32),
) -> Vec<ClosePair> {
    let named = pairs.iter().map(|pair| {
        let (a, b) = order(of_a.rows(pair.a)[0], of_b.rows(pair.b)[0]);
        ClosePair { a, b, closeness: Closeness::Distance(pair.distance) }
    });
    let mut named: Vec<_> = named.collect();
    named.sort_unstable_by_key(|pair| (pair.a, pair.b));
    named
}
