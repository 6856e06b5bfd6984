//! Joins fingerprints that have hash values and the size of a set, from which a cosine is estimated.
//!
//! Pairs within a cosine distance differ in a bounded number of hash values, whatever the sizes are
//! ([`Shape::hash_lanes`]). So the hash values alone are joined as lanes, which are groups of bits that are either
//! equal or different. The pairs that this finds are compared in full.

use crate::collect::{KeepPairs, PAIR_BYTES};
use crate::group_pairs::GroupPairs;
use crate::partners::collect_in_room;
use crate::row_pairs::RowPairs;
use crate::votes::{Judged, in_room_of_candidates};
use crate::work::JoinWork;
use simtool_base::error::Result;
use simtool_model::fingerprint_rows::{FingerprintRows, SIZE_BITS, Shape};
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Finds the pairs of rows within the cosine distance of `work`, in ascending order. A row has hash values and the size
/// of a set. All rows of a collection must be different and have a fingerprint. `find` joins the hash values alone, as
/// rows of the shape `lanes`.
///
/// # Errors
///
/// The errors of `find`.
pub(super) fn cosine_pairs(
    rows: Sides<&FingerprintRows<'_>>,
    lanes: Shape,
    work: JoinWork<'_>,
    find: impl FnOnce(Sides<&FingerprintRows<'_>>, JoinWork<'_>) -> Result<GroupPairs>,
) -> Result<Vec<ValuePair>> {
    let hashes = rows.map(|rows| without_sizes(rows, lanes));
    let Some(met) = in_room_of_candidates(work, |work| find(hashes.as_ref(), work))? else {
        return Ok(Vec::new());
    };
    let _held = work.context.memory().hold(met.pairs.len() as u64 * PAIR_BYTES);
    let met = RowPairs::new(met, rows.first().len());
    let judged = Judged { met, lane: 0, rows, max_distance: work.reach.max_distance };
    Ok(collect_in_room(&judged, &KeepPairs::new(work), work.share))
}

/// Copies rows of hash values and set sizes, and sets the sizes to 0. The copies are rows of the shape `lanes`.
fn without_sizes(rows: &FingerprintRows<'_>, lanes: Shape) -> FingerprintRows<'static> {
    let mut words = rows.words.to_vec();
    for last in words.iter_mut().skip(rows.shape.words() - 1).step_by(rows.shape.words()) {
        *last &= u64::MAX >> SIZE_BITS;
    }
    FingerprintRows { shape: lanes, words: words.into(), validity: None, recipe: None }
}
