//! Finds only the pairs that decide which documents are kept, for collections with too many pairs.
//!
//! The number of pairs grows with the square of the copies, but few of them decide. Documents are taken
//! in an order of preference. Each document is kept, unless it is similar to one that was kept before.
//! So the similarity of two removed documents does not matter.
//!
//! Documents are compared in batches, in that order, and each batch takes three steps. First, it is
//! compared with the documents that were kept before. Then the documents that are similar to none of
//! these are compared with each other, and some of them are kept. Finally, the removed documents are
//! compared with the newly kept ones, because a removed document may be more similar to them than to
//! the documents kept before.
//!
//! A document that represents equal documents has a turn for each of them. For a removed document, only
//! the pairs remain that name the most similar kept document at one of its turns.

use super::pair_order::{PAIRS, in_order};
use super::sketch_join::{SketchJoin, SketchScan};
use super::sketches::Sketches;
use crate::close::SetPair;
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_model::groups::Groups;

/// Number of batches into which the documents are divided at first. With n batches of equal size, the
/// pairs inside one batch are about 1/n² of all pairs.
const FIRST_BATCHES: usize = 8;
/// If a batch had less than 1/`FEW_PAIRS` of the pairs that fit in memory, the next batch is twice
/// as large and has about four times as many pairs.
const FEW_PAIRS: u64 = 8;
/// Pairs are reduced again when they are more than twice as many as the last reduction left, plus this
/// number.
const MORE_PAIRS: usize = 1 << 20;
/// Value for a missing index, and for a document that is not in the order of preference.
const NONE: u32 = u32::MAX;

/// The turn of each document, which is its position in the order of preference. Equal documents are
/// represented by the one with the smallest row number.
pub(super) struct Turns {
    /// Row numbers of all documents, in the order of preference.
    rows: Vec<u32>,
    /// For each row, the first and the last turn of the equal documents that it represents. A row that
    /// represents no other has its own turn twice.
    of_row: Vec<[u32; 2]>,
}

impl Turns {
    /// Creates the turns from `rows`, which are all row numbers in the order of preference. `equal` has
    /// the groups of equal documents. The first row of a group represents the group, so it gets the
    /// first and the last turn of all its documents.
    pub(super) fn new(rows: Vec<u32>, equal: &Groups) -> Self {
        let mut of_row = vec![[NONE; 2]; rows.len()];
        for (turn, &row) in (0..).zip(&rows) {
            of_row[row as usize] = [turn; 2];
        }
        for group in equal.iter() {
            let representative = group[0] as usize;
            for &other in &group[1..] {
                // Only the representative is compared with others, so it must know the turns of
                // all.
                let [turn, _] = of_row[other as usize];
                let [first, last] = &mut of_row[representative];
                (*first, *last) = (turn.min(*first), turn.max(*last));
            }
        }
        Self { rows, of_row }
    }

    fn first(&self, row: u32) -> u32 {
        self.of_row[row as usize][0]
    }

    fn last(&self, row: u32) -> u32 {
        self.of_row[row as usize][1]
    }

    /// Returns the row that is kept if the documents represented by `row` are kept. It is the one that
    /// comes first in the order of preference.
    fn kept_row(&self, row: u32) -> u32 {
        self.rows[self.first(row) as usize]
    }
}

/// The decision whether a document is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    /// Nothing is decided yet, and the document is not in the batch that is being compared.
    Open,
    /// The document is in the batch that is being compared. So far, no kept document was found that is
    /// similar to it.
    Asked,
    Kept,
    Removed,
}

/// Search for the pairs that decide which documents are kept and which are removed.
pub(super) struct KeptPairs<'a> {
    join: &'a SketchJoin<'a>,
    turns: Turns,
    /// Maximum number of pairs that fit in memory.
    most: u64,
    /// Decision about each document, by row number.
    decisions: Vec<Decision>,
    /// The pairs found so far. `a` is a removed document and `b` a kept one.
    pairs: Vec<SetPair>,
    /// Number of pairs that the last call of [`Self::look_through`] left.
    looked_through: usize,
}

impl<'a> KeptPairs<'a> {
    pub(super) fn new(join: &'a SketchJoin<'a>, turns: Turns, most: u64) -> Self {
        let decisions = vec![Decision::Open; turns.rows.len()];
        Self { join, turns, most, decisions, pairs: Vec::new(), looked_through: 0 }
    }

    /// Returns enough pairs for two decisions, which are then the same as with all pairs: which
    /// documents are kept, and which kept document causes the removal of each other document. `sizes`
    /// receives the number of distinct terms of each document, by row number.
    ///
    /// # Complexity
    /// The time of comparing all documents with the kept documents.
    ///
    /// # Errors
    /// The source fails, even these pairs are too many, or there is not enough memory.
    pub(super) fn find(mut self, sizes: &mut [u32]) -> Result<LargeBuffer<SetPair>> {
        let mut documents = self.join.sketches.documents.clone();
        // Only the first of several equal documents, in the order of turns, can be kept.
        documents.sort_unstable_by_key(|&row| self.turns.first(row));
        let mut rest = &documents[..];
        let mut size = documents.len().div_ceil(FIRST_BATCHES);
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(size.min(rest.len()));
            match self.choose(batch, sizes)? {
                // The same documents come again in a smaller batch. One document has no pairs, so
                // this ends.
                None => size = batch.len().div_ceil(2),
                Some(pairs) => {
                    rest = after;
                    if pairs < self.most / FEW_PAIRS {
                        size = size.saturating_mul(2);
                    }
                }
            }
        }
        self.look_through(sizes)?;
        // So far the removed document came first. The result has the smaller row first.
        for pair in &mut self.pairs {
            (pair.a, pair.b) = (pair.a.min(pair.b), pair.a.max(pair.b));
        }
        in_order(&[self.pairs], self.join.context())
    }

    /// Decides which documents of a batch are kept. `batch` has their row numbers. Returns the number
    /// of similar pairs inside the batch, or `None` if they do not fit in memory. In this case, some
    /// documents of the batch may already be removed.
    fn choose(&mut self, batch: &[u32], sizes: &mut [u32]) -> Result<Option<u64>> {
        for &row in batch {
            let decision = &mut self.decisions[row as usize];
            // A document that was removed in an attempt with a larger batch remains removed.
            if *decision == Decision::Open {
                *decision = Decision::Asked;
            }
        }
        let asked = self.only(|_, decision| decision == Decision::Asked)?;
        let kept = self.only(|_, decision| decision == Decision::Kept)?;
        self.compare(&SketchScan::across(&asked, &kept), sizes)?;
        // These copies of sketches would take memory from the comparison that follows.
        drop((asked, kept));

        let is_asked = |&row: &u32| self.decisions[row as usize] == Decision::Asked;
        let left: Vec<u32> = batch.iter().copied().filter(is_asked).collect();
        let mut places = filled(NONE, self.decisions.len(), PAIRS)?;
        for (place, &row) in (0..).zip(&left) {
            places[row as usize] = place;
        }
        let Some(pairs) = self.pairs_of_asked(&places, sizes)? else {
            // A smaller batch is tried next, so these documents must be undecided again.
            for &row in &left {
                self.decisions[row as usize] = Decision::Open;
            }
            return Ok(None);
        };
        let count = pairs.len() as u64;
        self.keep(&left, &pairs);
        drop(pairs);
        self.compare_with_new(&left, &places, sizes)?;
        Ok(Some(count))
    }

    /// Returns the similar pairs among the asked documents of a batch, in the order of preference,
    /// or `None` if they are too many to fit in memory. `places` has the place of each asked
    /// document among all of them, by row number, and so do the pairs.
    fn pairs_of_asked(
        &self,
        places: &[u32],
        sizes: &mut [u32],
    ) -> Result<Option<LargeBuffer<SetPair>>> {
        let asked = self.only(|_, decision| decision == Decision::Asked)?;
        let mut parts = Vec::new();
        let mut count = 0;
        let found = &mut |mut pairs: LargeBuffer<SetPair>, _: &[u32]| {
            count += pairs.len() as u64;
            for pair in &mut *pairs {
                // Places ascend with the turns, so ascending pairs are in the order of preference.
                let [a, b] = [pair.a, pair.b].map(|row| places[row as usize]);
                (pair.a, pair.b) = (a.min(b), a.max(b));
            }
            parts.push(pairs);
            if count > self.most {
                return Err(self.join.join.too_many_pairs(count));
            }
            Ok(count + self.pairs.len() as u64)
        };
        let visited = self.join.visit(&SketchScan::within(&asked), sizes, found);
        // The error of `found` only ended the visit.
        if count > self.most {
            return Ok(None);
        }
        visited?;
        drop(asked);
        in_order(&parts, self.join.context()).map(Some)
    }

    /// Compares the newly kept documents of `left` with documents that were removed earlier, which
    /// may be more similar to them. This matters only if one of the equal documents of a removed
    /// one has a later turn than the kept one.
    fn compare_with_new(&mut self, left: &[u32], places: &[u32], sizes: &mut [u32]) -> Result<()> {
        let first_kept = left.iter().find(|&&row| self.decisions[row as usize] == Decision::Kept);
        let Some(since) = first_kept.map(|&row| self.turns.first(row)) else { return Ok(()) };
        let is_new = |row: u32| places[row as usize] != NONE;
        let kept = self.only(|row, decision| decision == Decision::Kept && is_new(row))?;
        let removed = self.only(|row, decision| {
            decision == Decision::Removed && !is_new(row) && self.turns.last(row) > since
        })?;
        self.compare(&SketchScan::across(&removed, &kept), sizes)
    }

    /// Decides about the documents in `left`, in their order. A document is kept if it is similar to no
    /// document of `left` that was kept before. All others are removed. Records the pairs that cause
    /// the removals. `pairs` holds indices into `left`, in ascending order.
    fn keep(&mut self, left: &[u32], pairs: &[SetPair]) {
        let rows = |pair: &SetPair| [pair.a, pair.b].map(|place| left[place as usize]);
        // When a document is met here, all documents with earlier turns are decided.
        for of_one in pairs.chunk_by(|one, other| one.a == other.a) {
            let [row, _] = rows(&of_one[0]);
            if self.decisions[row as usize] != Decision::Asked {
                continue;
            }
            self.decisions[row as usize] = Decision::Kept;
            for pair in of_one {
                let [_, other] = rows(pair);
                self.decisions[other as usize] = Decision::Removed;
                self.pairs.push(SetPair { a: other, b: row, shared: pair.shared });
            }
        }
        for &row in left {
            let decision = &mut self.decisions[row as usize];
            if *decision == Decision::Asked {
                *decision = Decision::Kept;
            }
        }
        // Of equal removed documents, some have later turns. These may be more similar to a
        // document that was kept in between.
        for pair in pairs {
            let [before, row] = rows(pair);
            let decisions = [before, row].map(|row| self.decisions[row as usize]);
            if decisions == [Decision::Removed, Decision::Kept]
                && self.turns.first(row) < self.turns.last(before)
            {
                self.pairs.push(SetPair { a: before, b: row, shared: pair.shared });
            }
        }
    }

    /// Compares documents with kept documents, as `scans` says. Removes the documents that are similar
    /// to a kept document with an earlier turn, and records these pairs.
    fn compare(&mut self, scans: &[SketchScan<'_>], sizes: &mut [u32]) -> Result<()> {
        self.join.visit(scans, sizes, &mut |similar, sizes| {
            for &SetPair { a, b, shared } in &*similar {
                // A pair has its smaller row first, so either of the two can be the kept document.
                let (row, other) =
                    if self.decisions[a as usize] == Decision::Kept { (a, b) } else { (b, a) };
                if self.turns.first(row) < self.turns.last(other) {
                    self.decisions[other as usize] = Decision::Removed;
                    self.pairs.push(SetPair { a: other, b: row, shared });
                }
            }
            // Waiting until the pairs have doubled keeps the cost of all reductions in proportion
            // to the pairs.
            if self.pairs.len() > 2 * self.looked_through + MORE_PAIRS {
                self.look_through(sizes)?;
            }
            Ok(self.pairs.len() as u64)
        })
    }

    /// Reduces the collected pairs of each removed document. A pair with a kept document remains only
    /// if this document is preferred to all kept documents with earlier turns. It is preferred if it is
    /// more similar, or as similar with a smaller row number.
    fn look_through(&mut self, sizes: &[u32]) -> Result<()> {
        let threshold = self.join.join.threshold;
        let turns = &self.turns;
        self.join
            .context()
            .threads()
            .sort_by_key(&mut self.pairs, |pair| (pair.a, turns.first(pair.b)));
        let mut closest = None;
        self.pairs.retain(|pair| {
            let similarity =
                pair.similarity([pair.a, pair.b].map(|row| sizes[row as usize]), threshold);
            let row = turns.kept_row(pair.b);
            // If two documents are equally similar, the document with the smaller row number is
            // preferred.
            let is_closer = closest.is_none_or(|(other, to_other, kept)| {
                other != pair.a || similarity.cmp(&to_other).then(u32::cmp(&kept, &row)).is_gt()
            });
            if is_closer {
                closest = Some((pair.a, similarity, row));
            }
            is_closer
        });
        self.looked_through = self.pairs.len();
        if self.pairs.len() as u64 > self.most {
            return Err(self.join.join.too_many_pairs(self.pairs.len() as u64));
        }
        Ok(())
    }

    /// Copies the sketches of the documents for which `is_one` is true. The arguments of `is_one` are
    /// the row number and the decision about the document.
    fn only(&self, is_one: impl Fn(u32, Decision) -> bool) -> Result<Sketches> {
        let is_one = |row: u32| is_one(row, self.decisions[row as usize]);
        self.join.sketches.only(is_one, self.join.join.threshold, self.join.context())
    }
}
