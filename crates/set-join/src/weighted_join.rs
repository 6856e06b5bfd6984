//! The join of sets whose terms have weights.
//!
//! It works as the join of sets without weights, with sums of weights instead of numbers of terms.
//! A set is dropped if its unmatched terms weigh too much. Its prefix consists of its rarest terms,
//! until the rest weighs less than the set must share with any partner. All sums are whole numbers.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data
//! cleaning. ICDE 2006 (prefixes of weighted sets).

use super::prune::{self, Shard, Stored, shard_of};
use super::ranked_sets::{RankedSets, Ranking};
use super::sketches::{SketchScratch, Sketching};
use super::{INDEX, SetJoin, Sources, Survivors, TermSource as _, Wanted};
use crate::close::ClosePair;
use simtool_base::error::Result;
use simtool_base::large_buffer::filled;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::similarity::Threshold;
use std::cmp::Ordering;

/// Sets that a worker takes at a time.
const CHUNK: usize = 64;

impl SetJoin<'_> {
    /// Reads all documents, with the weights of their sets and signatures.
    pub(super) fn weighed(&self, sources: &Sources<'_>) -> Result<Survivors> {
        self.context.progress().begin("read and weigh", Work::Bytes(sources.bytes()));
        let read = self.context.threads().try_map(
            sources.shard_count(),
            || Ok((DistinctTerms::default(), SketchScratch::default())),
            |(distinct, scratch), number| {
                let mut sizes = Vec::new();
                let mut weights = Vec::new();
                let mut sketches = Sketching::new(self.threshold, false);
                sources.try_visit(number, Wanted::All, &mut |index, terms| {
                    sizes.push(prune::document_size(terms.len())?);
                    let distinct = distinct.replace(terms)?;
                    weights.push(distinct.iter().map(|&term| weight(sources, term)).sum());
                    sketches.push(index, distinct, scratch)
                })?;
                Ok((sizes, weights, sketches))
            },
        )?;
        let mut shards = Vec::new();
        let mut all = Vec::new();
        let mut row = 0;
        for (sizes, weights, mut sketches) in read {
            sketches.number_from(row);
            let shard = Shard { weights, ..Shard::new(row, sizes) };
            row = prune::row_after(row, shard.sizes.len())?;
            shards.push(shard);
            all.push(sketches);
        }
        self.count_living(&shards);
        Ok(Survivors { shards, sketches: all, is_scanned: false })
    }

    /// Joins documents in memory, as `join_stored` does.
    pub(super) fn join_weighted(
        &self,
        sources: &Sources<'_>,
        shards: &[Shard],
        mut stored: Vec<Stored>,
        second_from: Option<u32>,
    ) -> Result<Vec<ClosePair>> {
        let threshold = self.threshold;
        let threads = self.context.threads();
        let progress = self.context.progress();
        let weight = |term| sources.weight(term);
        let weight_of = |row: u32| {
            let shard = &shards[shard_of(shards, row)];
            shard.weights[(row - shard.first_row) as usize]
        };
        progress.begin("rank", Work::Steps(0));
        let cells = prune::rounds(&mut stored, second_from, threads, |row, terms, cells| {
            let limit = weight_of(row) - threshold.min_weight(weight_of(row));
            !prune::outweighs(terms, limit, cells, weight)
        })?;
        let weight = Some(&weight as _);
        let ranking =
            Ranking { stored: &stored, cells: &cells, second_from, weight, context: self.context };
        let sets = ranking.rank(|size, unmatched| unmatched < size)?;
        drop((stored, cells));
        progress.counted("rows", sets.len() as u64);
        progress.counted("terms", sets.ranks.len() as u64);

        let mut order: Vec<(u64, u32)> =
            (0..).zip(&sets.rows).map(|(set, &row)| (weight_of(row), set)).collect();
        order.sort_unstable();
        let across = second_from.is_some();
        let context = self.context;
        WeightedJoin { sets: &sets, order: &order, across, threshold, context }.pairs()
    }
}

fn weight(sources: &Sources<'_>, term: u64) -> u64 {
    u64::from(sources.weight(term))
}

/// A term of a set's prefix.
#[derive(Clone, Copy, Default)]
struct Posting {
    /// The place of the set in the order.
    place: u32,
    /// The weight of the matched terms of the set from this one on.
    rest: u64,
}

/// The weight that a set is known to share with the set being probed.
#[derive(Clone, Copy, Default)]
struct Overlap {
    /// The weight that the set must share at least; 0 before the two sets met, `DROPPED` once they
    /// cannot share enough.
    needed: u64,
    shared: u64,
}

/// No sum of weights is so great.
const DROPPED: u64 = u64::MAX;

/// The sets to join and the threshold.
struct WeightedJoin<'a> {
    sets: &'a RankedSets,
    /// The weight and the number of each set, ascending.
    order: &'a [(u64, u32)],
    /// Whether only pairs of the two sides count.
    across: bool,
    threshold: Threshold,
    context: &'a Context<'a>,
}

impl WeightedJoin<'_> {
    /// Returns the pairs in an arbitrary order that is always the same.
    fn pairs(&self) -> Result<Vec<ClosePair>> {
        let (offsets, postings) = self.index()?;
        let chunks = self.order.len().div_ceil(CHUNK);
        self.context.progress().begin("join", Work::Steps(chunks as u64));
        let found = self.context.threads().try_map(
            chunks,
            || Ok((filled(Overlap::default(), self.order.len(), INDEX)?, Vec::new())),
            |(overlaps, touched), chunk| {
                // The heaviest sets cost the most, so they come first.
                let chunk = chunks - 1 - chunk;
                self.context.check_cancelled()?;
                self.context.progress().advance(1);
                let mut found = Vec::new();
                for place in chunk * CHUNK..self.order.len().min((chunk + 1) * CHUNK) {
                    let postings_of =
                        |rank: u32| &postings[offsets[rank as usize]..offsets[rank as usize + 1]];
                    self.probe(postings_of, place, overlaps, touched, &mut found);
                }
                Ok(found)
            },
        )?;
        Ok(found.concat())
    }

    /// Returns the matched terms in the prefix of the set at a place. Each comes with the weight of
    /// the matched terms of the set from it on; the prefix ends where that weight falls below
    /// `least`.
    fn prefix(&self, place: usize, least: u64) -> impl Iterator<Item = (u32, u64)> {
        let ranks = self.ranks(place);
        let weights = &self.sets.weights;
        let mut rest = self.weight(ranks);
        let with_rest = ranks.iter().map(move |&rank| {
            let from_here = rest;
            rest -= u64::from(weights[rank as usize]);
            (rank, from_here)
        });
        with_rest.take_while(move |&(_, rest)| rest >= least)
    }

    fn ranks(&self, place: usize) -> &[u32] {
        self.sets.ranks_of(self.order[place].1 as usize)
    }

    fn weight(&self, ranks: &[u32]) -> u64 {
        ranks.iter().map(|&rank| u64::from(self.sets.weights[rank as usize])).sum()
    }

    /// For each number where its postings begin, and where those of the last one end; and the
    /// postings, ascending by place.
    fn index(&self) -> Result<(Vec<usize>, Vec<Posting>)> {
        // Every later set weighs as much or more.
        let indexed = |place: usize| {
            let weight = self.order[place].0;
            self.prefix(place, self.threshold.min_shared_weight(weight, weight))
        };
        let mut offsets = filled(0, self.sets.rank_count as usize + 2, INDEX)?;
        for place in 0..self.order.len() {
            for (rank, _) in indexed(place) {
                offsets[rank as usize + 2] += 1;
            }
        }
        let mut sum = 0;
        for offset in &mut offsets {
            sum += *offset;
            *offset = sum;
        }
        let mut postings = filled(Posting::default(), sum, INDEX)?;
        for place in 0..self.order.len() {
            for (rank, rest) in indexed(place) {
                // One place further, each offset runs from its number's start to its end.
                let next = &mut offsets[rank as usize + 1];
                postings[*next] = Posting { place: place as u32, rest };
                *next += 1;
            }
        }
        Ok((offsets, postings))
    }

    /// Finds the sets before `place` that are similar enough to the set at `place`.
    fn probe<'p>(
        &self,
        postings_of: impl Fn(u32) -> &'p [Posting],
        place: usize,
        overlaps: &mut [Overlap],
        touched: &mut Vec<u32>,
        found: &mut Vec<ClosePair>,
    ) {
        let (sets, (weight, set)) = (self.sets, self.order[place]);
        let is_second = |set: u32| sets.second[set as usize];
        let least = self.threshold.min_weight(weight);
        let first = self.order.partition_point(|&(weight, _)| weight < least) as u32;
        for (rank, rest) in self.prefix(place, least) {
            let postings = postings_of(rank);
            let from = postings.partition_point(|posting| posting.place < first);
            for posting in &postings[from..] {
                if posting.place as usize >= place {
                    break;
                }
                let (other_weight, other) = self.order[posting.place as usize];
                if self.across && is_second(other) == is_second(set) {
                    continue;
                }
                let overlap = &mut overlaps[posting.place as usize];
                if overlap.needed == 0 {
                    touched.push(posting.place);
                    // 0 marks sets that have not met yet, so the needed weight must not be 0.
                    overlap.needed = self.threshold.min_shared_weight(weight, other_weight).max(1);
                }
                if overlap.needed == DROPPED {
                    continue;
                }
                if overlap.shared + rest.min(posting.rest) < overlap.needed {
                    overlap.needed = DROPPED;
                }
                overlap.shared += u64::from(sets.weights[rank as usize]);
            }
        }
        for other in touched.drain(..) {
            let Overlap { needed, .. } = std::mem::take(&mut overlaps[other as usize]);
            if needed == DROPPED {
                continue;
            }
            let (other_weight, other_set) = self.order[other as usize];
            let weighted = |place: usize| {
                self.ranks(place).iter().map(|&rank| (rank, sets.weights[rank as usize]))
            };
            let one = weighted(place);
            let other = weighted(other as usize);
            let shared = shared_weight_if_enough(one, other, [weight, other_weight], needed);
            let similarity =
                shared.and_then(|shared| self.threshold.reached(shared, weight, other_weight));
            if let Some(similarity) = similarity {
                let [a, b] = [set, other_set].map(|set| sets.rows[set as usize]);
                found.push(ClosePair::similar(a.min(b), a.max(b), similarity));
            }
        }
    }
}

/// Returns the weight of the terms that two ascending lists share, each given with its weights.
/// Returns `None` as soon as that weight must stay below `needed`. `weights` are the sums of the
/// weights of the two lists, or more.
pub fn shared_weight_if_enough<T: Ord>(
    left: impl IntoIterator<Item = (T, u32)>,
    right: impl IntoIterator<Item = (T, u32)>,
    weights: [u64; 2],
    needed: u64,
) -> Option<u64> {
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    // The weight that each list may still lack.
    let [mut of_left, mut of_right] =
        [weights[0].checked_sub(needed)?, weights[1].checked_sub(needed)?];
    let mut shared = 0;
    let mut next = (left.next(), right.next());
    while let (Some((a, weight)), Some((b, other_weight))) = &next {
        match a.cmp(b) {
            Ordering::Less => {
                of_left = of_left.checked_sub(u64::from(*weight))?;
                next.0 = left.next();
            }
            Ordering::Greater => {
                of_right = of_right.checked_sub(u64::from(*other_weight))?;
                next.1 = right.next();
            }
            Ordering::Equal => {
                shared += u64::from(*weight);
                next = (left.next(), right.next());
            }
        }
    }
    (shared >= needed).then_some(shared)
}
