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

use crate::linking_pairs::linking_pairs;
use crate::pair_order::{PAIRS, RowPair, in_order};
use simtool_base::error::{Error, Result};
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;

/// Number of pairs above which only some pairs are found, if these are enough. More than 8 million pairs come
/// from documents that are all similar, such as 5000 pages of one template. Their number grows with the square
/// of the documents, and so would the time.
pub const MANY_PAIRS: u64 = 1 << 23;
/// Number of documents in the first batch. If all documents are similar, one of these is kept, and all
/// later documents are removed without any comparison among themselves.
pub(crate) const FIRST_BATCH: usize = 512;
/// Factor by which a batch is larger than the batch before it, as long as batches have few pairs. The
/// number of pairs grows with its square.
pub(crate) const GROWTH: usize = 4;
/// Divisor of the pairs that fit in memory. Its result is the number of new pairs that are collected
/// before the pairs are reduced.
const FEW_PAIRS: u64 = 8;
/// Pairs are reduced again when they are more than twice as many as the last reduction left, plus this
/// number or less.
const MORE_PAIRS: u64 = 1 << 20;
/// Value for a missing index, and for a document that is not in the order of preference.
const NONE: u32 = u32::MAX;

/// Condition for documents. Its argument is the row number of a document.
pub type RowFilter<'f> = dyn Fn(u32) -> bool + 'f;

/// Receiver of similar pairs. Its arguments are some pairs and a function that returns the closeness of
/// a pair. It returns the number of pairs that it keeps in memory.
pub type FoundPairs<'f, P> = dyn FnMut(&[P], &dyn Fn(&P) -> Closeness) -> Result<u64> + 'f;

/// Pairs of documents, in several lists.
pub type PairLists<P> = Vec<LargeBuffer<P>>;

/// Rule for choosing the kept documents from similar pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecidingRule {
    /// A document is kept, unless it is similar to one that was kept before. Otherwise the most similar of these
    /// causes its removal.
    ClosestKept,
    /// Of each connected component of similar documents, the preferred document is kept.
    Component,
}

/// A search for the similar pairs among some documents. It decides by [`deciding_pairs`] which documents
/// are kept.
pub trait PairSearch {
    /// Two row numbers and a number from which the closeness of the two documents follows.
    type Pair: RowPair;

    /// Returns the row numbers of the documents that may have similar ones. Equal documents are
    /// represented by the first of them.
    fn documents(&self) -> Vec<u32>;

    /// Finds the similar pairs among the documents for which `is_one` is true. Returns `None` if there
    /// are more than `most`. The caller holds `held` pairs in memory.
    ///
    /// # Errors
    /// The documents cannot be read, or there is not enough memory.
    fn within(
        &mut self,
        is_one: &RowFilter<'_>,
        most: u64,
        held: u64,
    ) -> Result<Option<PairLists<Self::Pair>>>;

    /// Finds the similar pairs of a document for which the first condition of `sides` is true, and a
    /// document for which the second one is true. No document fulfils both. Calls `found` with some
    /// pairs at a time. The rows of a pair can be in any order.
    ///
    /// # Errors
    /// The documents cannot be read, `found` fails, or there is not enough memory.
    fn across(
        &mut self,
        sides: [&RowFilter<'_>; 2],
        found: &mut FoundPairs<'_, Self::Pair>,
    ) -> Result<()>;

    /// Returns the closeness of the documents of a pair that was found.
    fn closeness(&self, pair: &Self::Pair) -> Closeness;

    /// Returns the error for a number of pairs that does not fit in memory.
    fn too_many_pairs(&self, pairs: u64) -> Error;
}

/// Finds enough pairs for two decisions, which are then the same as with all pairs: which documents are
/// kept by `rule`, and which kept document causes the removal of each other document. Returns the pairs in
/// ascending order. `most` is the number of pairs that fit in memory.
///
/// # Complexity
/// The time of comparing all documents with the kept documents, or with each other for
/// [`DecidingRule::Component`].
///
/// # Errors
/// The search fails, even these pairs are too many, or there is not enough memory.
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

/// The turn of each document, which is its position in the order of preference. Equal documents are
/// represented by the one with the smallest row number.
#[derive(Debug)]
pub struct Turns {
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
    #[must_use]
    pub fn new(rows: Vec<u32>, equal: &Groups) -> Self {
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

    /// Returns the number of documents.
    pub(crate) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the first turn of the documents that `row` represents.
    pub(crate) fn first(&self, row: u32) -> u32 {
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
    /// Number of pairs that the last reduction left.
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

    /// Returns the similar pairs among the asked documents of a batch, in the order of preference,
    /// or `None` if they are too many to fit in memory. `places` has the place of each asked
    /// document among all of them, by row number, and so do the pairs.
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

    /// Compares the newly kept documents of `left` with documents that were removed earlier, which
    /// may be more similar to them. This matters only if one of the equal documents of a removed
    /// one has a later turn than the kept one.
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

    /// Compares the documents for which `is_one` is true with the kept documents for which `is_kept` is
    /// true. The arguments of both are a row number and the decision about the document. Removes the
    /// documents that are similar to a kept document with an earlier turn, and records these pairs.
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

    /// Reduces the collected pairs to those that name the closest kept document. Fails if even these do
    /// not fit in memory.
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

/// Reduction of pairs to those that name the closest kept document.
struct ClosestPairs<'c> {
    turns: &'c Turns,
    /// Maximum number of pairs that fit in memory.
    most: u64,
    context: &'c Context<'c>,
}

impl ClosestPairs<'_> {
    /// Returns the number of new pairs after which pairs are reduced again.
    fn more_pairs(&self) -> usize {
        // The result is at most `MORE_PAIRS`, so the cast loses nothing.
        (self.most / FEW_PAIRS).min(MORE_PAIRS) as usize
    }

    /// Reduces the collected pairs of each removed document. A pair with a kept document remains only
    /// if this document is preferred to all kept documents with earlier turns. It is preferred if it is
    /// closer, or as close with a smaller row number.
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
