//! Finds only the pairs that decide which documents are linked, for collections with too many pairs.
//!
//! The preferred document of each connected component is kept, so only two kinds of pairs are needed. First, the pairs
//! of a spanning forest, because they connect the same documents as all pairs. Second, the pairs of a removed document
//! and the kept document of its component, because results list the similarity of the two. In such a pair, the kept
//! document is the preferred one of all documents that are similar to the removed document.
//!
//! Documents are compared in batches, with each other and then with all documents of earlier batches. So only the
//! pairs inside a batch are in memory together.

use crate::disjoint_sets::DisjointSets;
use crate::pair_order::{RowPair, in_order};
use crate::pair_search::{FIRST_BATCH, GROWTH, MANY_PAIRS, PairSearch, Turns};
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::context::Context;

/// Pairs that are no longer needed are dropped from time to time. If n pairs were left the last time, this happens
/// again when there are more than 2n + `FEW_PAIRS` pairs.
const FEW_PAIRS: usize = 1 << 20;

/// Finds only two kinds of pairs: enough pairs to connect each component, and the pair of each document with the
/// preferred document of its component, if the two are similar. Returns the pairs in ascending order. `turns` is the
/// order in which documents are preferred, and `most` is the number of pairs that fit in memory.
///
/// # Complexity
/// The time of comparing all documents with each other, and memory for two pairs for each document.
///
/// # Errors
/// The search fails, more than `most` pairs are needed, or there is not enough memory.
pub(crate) fn linking_pairs<S: PairSearch>(
    search: &mut S,
    turns: &Turns,
    most: u64,
    context: &Context<'_>,
) -> Result<LargeBuffer<S::Pair>> {
    let mut documents = search.documents();
    documents.sort_unstable_by_key(|&row| turns.first(row));
    let mut links = Links::new(turns);
    // A batch is a range of turns, which are positions in the order of preference. A document is in the batch if its
    // turn is in the range.
    let turn_at = |place: usize| documents.get(place).map_or(u32::MAX, |&row| turns.first(row));
    let mut start = 0;
    let mut size = FIRST_BATCH;
    let most_of_batch = most.min(MANY_PAIRS);
    while start < documents.len() {
        let end = documents.len().min(start + size);
        let is_new = |row: u32| (turn_at(start)..turn_at(end)).contains(&turns.first(row));
        let is_earlier = |row: u32| turns.first(row) < turn_at(start);
        let Some(lists) = search.within(&is_new, most_of_batch, links.count())? else {
            // One document has no pairs, so this ends.
            size = (end - start).div_ceil(2);
            continue;
        };
        let count: usize = lists.iter().map(|list| list.len()).sum();
        for list in &lists {
            links.add(list);
        }
        drop(lists);
        if start > 0 {
            search.across([&is_new, &is_earlier], &mut |pairs, _| {
                links.add(pairs);
                Ok(links.count())
            })?;
        }
        if links.count() > most {
            links.reduce();
        }
        if links.count() > most {
            return Err(search.too_many_pairs(links.count()));
        }
        if count.saturating_mul(GROWTH * GROWTH) < most_of_batch as usize {
            size = size.saturating_mul(GROWTH);
        }
        start = end;
    }
    links.reduce();
    in_order(&[links.pairs], context)
}

/// The pairs of a spanning forest of all pairs so far, and the pair of each document with its preferred partner. A
/// partner is a similar document.
struct Links<'t, P> {
    turns: &'t Turns,
    /// For each row, the position of its preferred partner so far in the order of preference. `u32::MAX` if the row has
    /// no partner yet.
    preferred: Vec<u32>,
    linked: DisjointSets,
    pairs: Vec<P>,
    /// Number of pairs that the last call of [`Self::reduce`] left.
    reduced: usize,
}

impl<'t, P: RowPair> Links<'t, P> {
    fn new(turns: &'t Turns) -> Self {
        let rows = turns.count();
        Self {
            turns,
            preferred: vec![u32::MAX; rows],
            linked: DisjointSets::new(rows as u32),
            pairs: Vec::new(),
            reduced: 0,
        }
    }

    fn count(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Adds some of `pairs`, and ignores the others. A pair is added if it connects two components, or if one of its
    /// documents is preferred to all earlier partners of the other document.
    fn add(&mut self, pairs: &[P]) {
        for pair in pairs {
            let [a, b] = pair.rows();
            let is_link = self.linked.join(a, b);
            let is_better = self.prefers(a, b) | self.prefers(b, a);
            if is_link || is_better {
                self.pairs.push(pair.with_rows([a.min(b), a.max(b)]));
            }
        }
        if self.pairs.len() > 2 * self.reduced + FEW_PAIRS {
            self.reduce();
        }
    }

    /// Returns whether `partner` is preferred to all earlier partners (similar documents) of `row`. If so, records it
    /// as the preferred partner.
    fn prefers(&mut self, row: u32, partner: u32) -> bool {
        let turn = self.turns.first(partner);
        let best = &mut self.preferred[row as usize];
        let is_better = turn < *best;
        *best = turn.min(*best);
        is_better
    }

    /// Drops the pairs in which neither document is the preferred partner of the other, unless a pair is needed to
    /// connect a component.
    fn reduce(&mut self) {
        let mut linked = DisjointSets::new(self.preferred.len() as u32);
        let is_best = |pair: &P| {
            let [a, b] = pair.rows();
            let best = |row: u32, of: u32| self.preferred[row as usize] == self.turns.first(of);
            best(a, b) || best(b, a)
        };
        // The pairs of preferred partners stay in any case. So other pairs are needed only where these pairs do not
        // connect a component.
        for pair in self.pairs.iter().filter(|pair| is_best(pair)) {
            let [a, b] = pair.rows();
            linked.join(a, b);
        }
        self.pairs.retain(|pair| {
            let [a, b] = pair.rows();
            linked.join(a, b) || is_best(pair)
        });
        self.reduced = self.pairs.len();
    }
}
