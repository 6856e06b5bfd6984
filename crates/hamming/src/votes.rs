//! Rows of which some lanes must be near: the lanes are joined, one after the other, and rows that
//! meet in one are judged as a whole.
//!
//! Of w lanes, v of which must be near, any w - v + 1 have a near one among them: the joins of the
//! first w - v + 1 miss no pair.

use crate::Rows;
use crate::bipartite_join::bipartite_join;
use crate::lane_rows::Work;
use crate::partition_join;
use crate::partners::{Partners, collect};
use crate::row_pairs::RowPairs;
use simtool_base::error::Result;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::fingerprint_table::Reach;
use simtool_model::matches::{Match, ValuePair};

/// The pairs of different rows, all of which have a fingerprint, ascending.
pub(super) fn self_pairs(
    rows: &FingerprintRows<'_>,
    needed: u32,
    work: Work<'_>,
) -> Result<Vec<ValuePair>> {
    pairs([rows, rows], needed, work, |lane, reach| {
        let lanes = column(rows, lane);
        let found =
            partition_join::self_join(Rows::all(&lanes), reach, work.resources.isa, work.share)?;
        Ok(RowPairs::of_self_join(found, rows.len()))
    })
}

/// The pairs of a query and a row of the corpus, all of which have a fingerprint, ascending.
pub(super) fn cross_pairs(
    queries: &FingerprintRows<'_>,
    corpus: &FingerprintRows<'_>,
    needed: u32,
    work: Work<'_>,
) -> Result<Vec<ValuePair>> {
    pairs([queries, corpus], needed, work, |lane, reach| {
        let [asking, asked] = [queries, corpus].map(|rows| column(rows, lane));
        let (asking, asked) = (Rows::all(&asking), Rows::all(&asked));
        let found = bipartite_join(asking, asked, reach, work.resources.isa, work.share)?;
        Ok(RowPairs::of_join(found, queries.len()))
    })
}

fn pairs(
    sides: [&FingerprintRows<'_>; 2],
    needed: u32,
    work: Work<'_>,
    meet: impl Fn(usize, Reach) -> Result<RowPairs>,
) -> Result<Vec<ValuePair>> {
    let max_distance = work.reach.max_distance;
    let mut pairs = Vec::new();
    for lane in 0..=work.reach.shape.words() - needed as usize {
        let met = meet(lane, Reach::bits(u64::BITS, max_distance))?;
        pairs.extend(collect(&Judged { met, lane, sides, max_distance }));
    }
    pairs.sort_unstable();
    Ok(pairs)
}

/// A lane of all rows.
fn column(rows: &FingerprintRows<'_>, lane: usize) -> Vec<u64> {
    rows.words.iter().skip(lane).step_by(rows.shape.words()).copied().collect()
}

/// Rows that meet in a lane, of which those are left that are near as a whole and have met in no
/// lane before.
struct Judged<'a> {
    met: RowPairs,
    lane: usize,
    sides: [&'a FingerprintRows<'a>; 2],
    max_distance: u32,
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
        let [asking, asked] = self.sides;
        let (words, shape) = (asked.shape.words(), asked.shape);
        let row = &asking.words[row * words..][..words];
        found.retain_mut(|found| {
            let other = &asked.words[found.row as usize * words..][..words];
            let mut before = row.iter().zip(other).take(self.lane);
            let has_met = before.any(|(a, b)| (a ^ b).count_ones() <= self.max_distance);
            found.distance = shape.distance(row, other);
            !has_met && found.distance <= self.max_distance
        });
    }
}
