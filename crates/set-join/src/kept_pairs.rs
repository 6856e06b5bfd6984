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
//! A document that represents equal documents has a turn for each of them. A turn is a position in the order of
//! preference. For a removed document, only those pairs remain that name the most similar kept document at one of its
//! turns.

use crate::linking_pairs::linking_pairs;
use crate::pair_order::{PAIRS, RowPair, in_order};
use crate::pair_search::{FIRST_BATCH, GROWTH, NONE};
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;

// Callers of `deciding_pairs` need these types, too.
pub use crate::pair_search::{
    FoundPairs, MANY_PAIRS, PairLists, PairSearch, RowFilter, Turns, many_pairs,
};

/// Divisor for the time of the next reduction, which drops the pairs that no longer decide anything. If a reduction
/// left n pairs, the next one takes place when there are more than 2n + m pairs. Here, m is 1/`FEW_PAIRS` of the pairs
/// that fit in memory, but at most [`MORE_PAIRS`].
const FEW_PAIRS: u64 = 8;
/// Maximum of the number m in the rule for the next reduction, see [`FEW_PAIRS`].
const MORE_PAIRS: u64 = 1 << 20;

/// Rule for choosing the kept documents from similar pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidingRule {
    /// Documents are taken in the order of preference. A document is kept, unless it is similar to a document that was
    /// kept before. In this case, the most similar of the kept documents causes its removal.
    ClosestKept,
    /// The preferred document of each connected component of similar documents is kept.
    Component,
}

/// Finds enough pairs for two decisions, which are then the same as with all pairs: which documents are
/// kept by `rule`, and which kept document causes the removal of each other document. Returns the pairs in ascending
/// order. `turns` is the order in which documents are preferred, and `most` is the number of pairs that fit in memory.
///
/// # Complexity
/// The time of comparing all documents with the kept documents, or with each other for
/// [`DecidingRule::Component`].
///
/// # Errors
/// The search fails, more than `most` pairs are needed, or there is not enough memory.
pub fn deciding_pairs<S: PairSearch>(
    search: &mut S,
    turns: Turns,
    rule: DecidingRule,
    most: u64,
    context: &Context<'_>,
) -> Result<LargeBuffer<S::Pair>> {
    if rule == DecidingRule::Component {
        return linking_pairs(search, &turns, most, context);
    }
    let decisions = vec![Decision::Open; turns.rows.len()];
    KeptPairs { search, turns, most, decisions, pairs: Vec::new(), looked_through: 0, context }
        .find()
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

/// The decisions so far, and the pairs that cause them.
struct KeptPairs<'a, S: PairSearch> {
    search: &'a mut S,
    turns: Turns,
    /// Maximum number of pairs that fit in memory.
    most: u64,
    /// Decision about each document, by row number.
    decisions: Vec<Decision>,
    /// The pairs found so far. The first row is a removed document and the second a kept one.
    pairs: Vec<S::Pair>,
    /// Number of pairs that were left when the pairs were last reduced, see [`FEW_PAIRS`].
    looked_through: usize,
    context: &'a Context<'a>,
}

impl<S: PairSearch> KeptPairs<'_, S> {
    fn find(mut self) -> Result<LargeBuffer<S::Pair>> {
        let mut documents = self.search.documents();
        // Only the first of several equal documents, in the order of turns, can be kept.
        documents.sort_unstable_by_key(|&row| self.turns.first(row));
        let mut rest = &documents[..];
        let mut size = FIRST_BATCH;
        while !rest.is_empty() {
            let (batch, after) = rest.split_at(size.min(rest.len()));
            match self.choose(batch)? {
                // The same documents come again in a smaller batch. One document has no pairs, so
                // this ends.
                None => size = batch.len().div_ceil(2),
                Some(pairs) => {
                    rest = after;
                    if pairs.saturating_mul((GROWTH * GROWTH) as u64) < self.most_of_batch() {
                        size = size.saturating_mul(GROWTH);
                    }
                }
            }
        }
        self.reduce()?;
        // So far the removed document came first. The result has the smaller row first.
        for pair in &mut self.pairs {
            let [a, b] = pair.rows();
            *pair = pair.with_rows([a.min(b), a.max(b)]);
        }
        in_order(&[self.pairs], self.context)
    }

    /// Returns the maximum number of pairs inside a batch. It is limited even if there is much memory, because
    /// smaller batches find fewer pairs of documents that are removed in any case.
    fn most_of_batch(&self) -> u64 {
        self.most.min(MANY_PAIRS)
    }

    /// Decides which documents of a batch are kept. `batch` has their row numbers. Returns the number
    /// of similar pairs inside the batch, or `None` if they do not fit in memory. In this case, some
    /// documents of the batch may already be removed.
    fn choose(&mut self, batch: &[u32]) -> Result<Option<u64>> {
        for &row in batch {
            let decision = &mut self.decisions[row as usize];
            // A document that was removed in an attempt with a larger batch remains removed.
            if *decision == Decision::Open {
                *decision = Decision::Asked;
            }
        }
        self.compare(
            |_, decision| decision == Decision::Asked,
            |_, decision| decision == Decision::Kept,
        )?;
        let is_asked = |&row: &u32| self.decisions[row as usize] == Decision::Asked;
        let left: Vec<u32> = batch.iter().copied().filter(is_asked).collect();
        let mut places = filled(NONE, self.decisions.len(), PAIRS)?;
        for (place, &row) in (0..).zip(&left) {
            places[row as usize] = place;
        }
        let Some(pairs) = self.pairs_of_asked(&places)? else {
            // A smaller batch is tried next, so these documents must be undecided again.
            for &row in &left {
                self.decisions[row as usize] = Decision::Open;
            }
            return Ok(None);
        };
        let count = pairs.len() as u64;
        self.keep(&left, &pairs);
        drop(pairs);
        self.compare_with_new(&left, &places)?;
        Ok(Some(count))
    }

    /// Returns the similar pairs among the undecided documents of a batch, in the order of preference, or `None` if
    /// they are too many to fit in memory. `places` has, by row number, the index of each undecided document among all
    /// undecided documents of the batch. The rows of the returned pairs are such indices.
    fn pairs_of_asked(&mut self, places: &[u32]) -> Result<Option<LargeBuffer<S::Pair>>> {
        let decisions = &self.decisions;
        let is_asked = |row: u32| decisions[row as usize] == Decision::Asked;
        let held = self.pairs.len() as u64;
        let most = self.most_of_batch();
        let Some(mut lists) = self.search.within(&is_asked, most, held)? else {
            return Ok(None);
        };
        for pair in lists.iter_mut().flat_map(|list| &mut **list) {
            // Places ascend with the turns, so ascending pairs are in the order of preference.
            let [a, b] = pair.rows().map(|row| places[row as usize]);
            *pair = pair.with_rows([a.min(b), a.max(b)]);
        }
        in_order(&lists, self.context).map(Some)
    }

    /// Compares the kept documents of `left`, which are newly kept, with removed documents that are not in `left`. A
    /// removed document may be more similar to a newly kept document than to the documents kept before. Documents have
    /// turns, which are positions in the order of preference. A removed document is compared only if its last turn is
    /// after the first turn of the first newly kept one. `places` has, by row number, the index of each document in
    /// `left`.
    fn compare_with_new(&mut self, left: &[u32], places: &[u32]) -> Result<()> {
        let first_kept = left.iter().find(|&&row| self.decisions[row as usize] == Decision::Kept);
        let Some(since) = first_kept.map(|&row| self.turns.first(row)) else { return Ok(()) };
        let is_new = |row: u32| places[row as usize] != NONE;
        let last_turns: Vec<u32> = self.turns.of_row.iter().map(|&[_, last]| last).collect();
        self.compare(
            |row, decision| {
                decision == Decision::Removed && !is_new(row) && last_turns[row as usize] > since
            },
            |row, decision| decision == Decision::Kept && is_new(row),
        )
    }

    /// Decides about the documents in `left`, in their order. A document is kept if it is similar to no
    /// document of `left` that was kept before. All others are removed. Records the pairs that cause
    /// the removals. `pairs` holds indices into `left`, in ascending order.
    fn keep(&mut self, left: &[u32], pairs: &[S::Pair]) {
        let rows = |pair: &S::Pair| pair.rows().map(|place| left[place as usize]);
        // When a document is met here, all documents with earlier turns are decided.
        for of_one in pairs.chunk_by(|one, other| one.rows()[0] == other.rows()[0]) {
            let [row, _] = rows(&of_one[0]);
            if self.decisions[row as usize] != Decision::Asked {
                continue;
            }
            self.decisions[row as usize] = Decision::Kept;
            for pair in of_one {
                let [_, other] = rows(pair);
                self.decisions[other as usize] = Decision::Removed;
                self.pairs.push(pair.with_rows([other, row]));
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
                self.pairs.push(pair.with_rows([before, row]));
            }
        }
    }

    /// Compares the documents for which `is_one` is true with the kept documents for which `is_kept` is true. The
    /// arguments of both are a row number and the decision about the document. Removes each document that is similar to
    /// a kept document with an earlier turn, which is a position in the order of preference. Records these pairs.
    fn compare(
        &mut self,
        is_one: impl Fn(u32, Decision) -> bool,
        is_kept: impl Fn(u32, Decision) -> bool,
    ) -> Result<()> {
        // The decisions change while pairs are found, but the documents to compare do not.
        let before = self.decisions.clone();
        let is_one = |row: u32| is_one(row, before[row as usize]);
        let is_kept = |row: u32| is_kept(row, before[row as usize]);
        let Self { search, turns, most, decisions, pairs, looked_through, context } = self;
        let closest = ClosestPairs { turns, most: *most, context };
        search.across([&is_one, &is_kept], &mut |similar, closeness| {
            for pair in similar {
                let [a, b] = pair.rows();
                // Either of the two rows can be the kept document.
                let (row, other) =
                    if decisions[a as usize] == Decision::Kept { (a, b) } else { (b, a) };
                if turns.first(row) < turns.last(other) {
                    decisions[other as usize] = Decision::Removed;
                    pairs.push(pair.with_rows([other, row]));
                }
            }
            // Waiting until the pairs have doubled keeps the cost of all reductions in proportion
            // to the pairs.
            if pairs.len() > 2 * *looked_through + closest.more_pairs() {
                closest.retain(pairs, closeness);
                *looked_through = pairs.len();
            }
            Ok(pairs.len() as u64)
        })?;
        if self.pairs.len() as u64 > self.most { self.reduce() } else { Ok(()) }
    }

    /// Drops the collected pairs that no longer decide anything, see [`ClosestPairs::retain`]. Fails if the remaining
    /// pairs do not fit in memory.
    fn reduce(&mut self) -> Result<()> {
        let closest = ClosestPairs { turns: &self.turns, most: self.most, context: self.context };
        closest.retain(&mut self.pairs, &|pair| self.search.closeness(pair));
        self.looked_through = self.pairs.len();
        if self.pairs.len() as u64 > self.most {
            return Err(self.search.too_many_pairs(self.pairs.len() as u64));
        }
        Ok(())
    }
}

/// Data for dropping pairs that no longer decide anything. A pair has a removed and a kept document. For each removed
/// document, only pairs with the closest kept documents remain, see [`Self::retain`].
struct ClosestPairs<'c> {
    turns: &'c Turns,
    /// Maximum number of pairs that fit in memory.
    most: u64,
    context: &'c Context<'c>,
}

impl ClosestPairs<'_> {
    /// Returns the number of new pairs that are allowed before pairs are reduced again, see [`FEW_PAIRS`].
    fn more_pairs(&self) -> usize {
        // The result is at most `MORE_PAIRS`, so the cast loses nothing.
        (self.most / FEW_PAIRS).min(MORE_PAIRS) as usize
    }

    /// Reduces the collected pairs of each removed document. A turn is a position in the order of preference. A pair
    /// with a kept document remains only if this document is better than all kept documents with earlier turns. It is
    /// better if it is closer to the removed document, or as close with a smaller row number.
    fn retain<P: RowPair>(&self, pairs: &mut Vec<P>, closeness: &dyn Fn(&P) -> Closeness) {
        let turns = self.turns;
        self.context.threads().sort_by_key(pairs, |pair| {
            let [removed, kept] = pair.rows();
            (removed, turns.first(kept))
        });
        let mut closest = None;
        pairs.retain(|pair| {
            let [removed, kept] = pair.rows();
            let to_kept = closeness(pair);
            let row = turns.kept_row(kept);
            // If two documents are equally close, the document with the smaller row number is
            // preferred.
            let is_closer = closest.is_none_or(|(other, to_other, kept)| {
                other != removed || to_kept.compare(to_other).then(u32::cmp(&kept, &row)).is_gt()
            });
            if is_closer {
                closest = Some((removed, to_kept, row));
            }
            is_closer
        });
    }
}
