//! Joins fingerprints that consist of several 64-bit words which vote: a pair is near if enough of its
//! words are near.
//!
//! The words are joined one after the other. Rows that are near in one word are then compared in full.
//! If v of w words must be near, then any w − v + 1 words include a near one. So the joins of the first
//! w − v + 1 words miss no pair.

use crate::Rows;
use crate::bipartite_join::bipartite_join;
use crate::collect::{KeepPairs, PAIR_BYTES};
use crate::group_pairs::GroupPairs;
use crate::partition_join::self_join;
use crate::partners::{Partners, collect_in_room};
use crate::row_pairs::RowPairs;
use crate::work::JoinWork;
use simtool_base::error::Result;
use simtool_base::progress::Share;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::Reach;
use simtool_model::matches::{Match, ValuePair};
use simtool_model::sides::Sides;

/// Finds the pairs of rows that have at least `needed` near words, in ascending order. All rows of a
/// collection must be different and have a fingerprint.
pub(super) fn voting_pairs(
    rows: Sides<&FingerprintRows<'_>>,
    needed: u32,
    work: JoinWork<'_>,
) -> Result<Vec<ValuePair>> {
    let reach = Reach::bits(u64::BITS, work.reach.max_distance);
    let of_lane = JoinWork { reach, ..work };
    let keep = KeepPairs::new(work);
    let mut pairs = Vec::new();
    let mut held = work.context.memory().hold(0);
    for lane in 0..=work.reach.shape.words() - needed as usize {
        let columns = rows.map(|rows| column(rows, lane));
        let columns = columns.as_ref().map(Vec::as_slice);
        let near = |work: JoinWork<'_>| match columns {
            Sides::One(words) => self_join(Rows::all(words), work),
            Sides::Two(queries, corpus) => {
                bipartite_join(Rows::all(queries), Rows::all(corpus), work)
            }
        };
        let Some(met) = in_room_of_candidates(of_lane, near)? else { break };
        if work.share.is_cancelled() {
            break;
        }
        let _held = work.context.memory().hold(met.pairs.len() as u64 * PAIR_BYTES);
        let met = RowPairs::new(met, rows.first().len());
        let max_distance = reach.max_distance;
        let judged = Judged { met, lane, rows, max_distance };
        pairs.extend(collect_in_room(&judged, &keep, Share::silent()));
        if keep.is_full() {
            break;
        }
        held.grow(pairs.len() as u64 * PAIR_BYTES - held.bytes());
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// Calls `find`, which finds candidates: pairs that are compared in full later. Limits for candidates are counted
/// separately from the pairs of `work`, because most candidates may turn out not to be near. If candidates exceed the
/// limits, returns `None`, and records in `work` that pairs do not fit in memory.
///
/// # Errors
///
/// The errors of `find`.
pub(super) fn in_room_of_candidates(
    work: JoinWork<'_>,
    find: impl FnOnce(JoinWork<'_>) -> Result<GroupPairs>,
) -> Result<Option<GroupPairs>> {
    let Some(room) = work.room else { return find(work).map(Some) };
    let found = work.in_own_room(room.most(), find)?;
    if found.is_none() {
        room.exceed();
    }
    Ok(found)
}

/// Copies word number `lane` of all rows.
fn column(rows: &FingerprintRows<'_>, lane: usize) -> Vec<u64> {
    rows.words.iter().skip(lane).step_by(rows.shape.words()).copied().collect()
}

/// The pairs of rows that are near in word number `lane`. Two kinds of pairs are left out: pairs whose
/// whole fingerprints are not near, and pairs that are near in an earlier word.
pub(super) struct Judged<'a> {
    pub(super) met: RowPairs,
    pub(super) lane: usize,
    pub(super) rows: Sides<&'a FingerprintRows<'a>>,
    pub(super) max_distance: u32,
}

impl Partners for Judged<'_> {
    fn rows(&self) -> usize {
        self.met.rows()
    }

    fn bound(&self, row: usize) -> usize {
        self.met.bound(row)
    }

    fn partners(&self, row: usize, found: &mut Vec<Match>) {
        self.met.partners(row, found);
        let asking = self.rows.first();
        let asked = self.rows.second();
        let (words, shape) = (asked.shape.words(), asked.shape);
        let row = &asking.words[row * words..][..words];
        // A pair is reported for the first word in which it is near.
        found.retain_mut(|found| {
            let other = &asked.words[found.row as usize * words..][..words];
            let mut before = row.iter().zip(other).take(self.lane);
            let has_met = before.any(|(a, b)| (a ^ b).count_ones() <= self.max_distance);
            found.distance = shape.distance(row, other);
            !has_met && found.distance <= self.max_distance
        });
    }
}
