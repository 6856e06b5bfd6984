//! The join of sets whose terms have weights.
//!
//! It works like the join of sets without weights, but with sums of weights instead of numbers of
//! terms. A set is dropped if its unmatched terms, which no other set has, weigh too much. The
//! prefix of a set has its rarest terms. It ends when the remaining terms weigh less than any
//! similar set must share. All sums are whole numbers.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data
//! cleaning. ICDE 2006 (prefixes of weighted sets).

use super::memory_texts::INDEX;
use super::prune::{self, JoinShard, Stored, shard_of};
use super::ranked_sets::{RankedSets, Ranking};
use super::set_join::SetJoin;
use super::sketching::{SketchScratch, Sketching};
use super::survivors::Survivors;
use super::term_source::{TermSource as _, TermSources, Wanted};
use crate::close::ClosePair;
use simtool_base::error::Result;
use simtool_base::large_buffer::filled;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::distinct_terms::DistinctTerms;
use simtool_model::similarity::Threshold;
use std::cmp::Ordering;

/// Number of sets for which a worker thread finds partners in one task.
const CHUNK: usize = 64;

impl SetJoin<'_> {
    /// Reads all documents, and computes the total weight and the signature of each set.
    pub(super) fn weighed(&self, sources: &TermSources<'_>) -> Result<Survivors> {
        self.context.progress().begin("read and weigh", Work::Bytes(sources.bytes()));
        let read = self.context.threads().try_map(
            sources.shard_count(),
            || Ok((DistinctTerms::default(), SketchScratch::default())),
            |(distinct, scratch), number| {
                let mut sizes = Vec::new();
                let mut weights = Vec::new();
                let mut sketches = Sketching::new(self.threshold, false, self.context.memory());
                sources.try_visit(number, Wanted::All, &mut |index, terms| {
                    sizes.push(prune::document_size(terms.len())?);
                    let distinct = distinct.distinct(terms)?;
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
            let shard = JoinShard { weights, ..JoinShard::new(row, sizes) };
            row = prune::row_after(row, shard.sizes.len())?;
            shards.push(shard);
            all.push(sketches);
        }
        self.count_living(&shards);
        Ok(Survivors { shards, sketches: all, is_scanned: false })
    }

    /// Returns the similar pairs of the documents in `stored`, by the weights of their terms. Joins the documents by
    /// prefixes, which are their rarest terms. In a join of two collections, the rows of the second begin at
    /// `second_from`.
    pub(super) fn join_weighted(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        mut stored: Vec<Stored>,
        second_from: Option<u32>,
    ) -> Result<Vec<ClosePair>> {
        let threshold = self.threshold;
        let progress = self.context.progress();
        let weight = |term| sources.weight(term);
        let weight_of = |row: u32| {
            let shard = &shards[shard_of(shards, row)];
            shard.weights[(row - shard.first_row) as usize]
        };
        progress.begin("rank", Work::Steps(0));
        let cells = prune::rounds(&mut stored, second_from, self.context, |row, terms, cells| {
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

fn weight(sources: &TermSources<'_>, term: u64) -> u64 {
    u64::from(sources.weight(term))
}

/// Occurrence of a term in the prefix of a set. The prefix of a set consists of its rarest terms.
#[derive(Clone, Copy, Default)]
struct Posting {
    /// Index of the set in [`WeightedJoin::order`].
    place: u32,
    /// Total weight of this term and of the set's later matched terms. A term is matched if another
    /// set also contains it.
    rest: u64,
}

/// State of the comparison with one set: the weight that it must share, and the weight that it is known
/// to share so far.
#[derive(Clone, Copy, Default)]
struct Overlap {
    /// Minimum weight that the two sets must share to be similar. It is 0 until a shared term is found.
    /// It becomes [`DROPPED`] when the sets can no longer share so much.
    needed: u64,
    shared: u64,
}

/// Value of [`Overlap::needed`] for a set that can no longer share enough weight. No sum of weights is
/// so large.
const DROPPED: u64 = u64::MAX;

/// The sets to join, and the conditions for a pair.
struct WeightedJoin<'a> {
    sets: &'a RankedSets,
    /// The total weight of each set and its index in `sets`, in ascending order of weights.
    order: &'a [(u64, u32)],
    /// Whether a pair must have a set of the first and a set of the second collection. It is false
    /// in a self-join.
    across: bool,
    threshold: Threshold,
    context: &'a Context<'a>,
}

impl WeightedJoin<'_> {
    /// Returns the similar pairs. Their order is arbitrary, but always the same.
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

    /// Returns the matched terms in the prefix of the set at index `place` of the order. Each term
    /// comes with a weight: the total weight of this and all later matched terms of the set. The prefix
    /// ends when this weight falls below `least`.
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

    /// Builds an inverted index, which lists for each term the sets whose prefix has it. Returns two
    /// lists: the start of each term's postings, followed by their end, and the postings of all terms.
    /// The postings of a term are sorted by `place`.
    fn index(&self) -> Result<(Vec<usize>, Vec<Posting>)> {
        // Every set that looks this set up weighs at least as much.
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
                // The offsets are shifted by one, so that each offset is first the start of its
                // postings and then their end.
                let next = &mut offsets[rank as usize + 1];
                postings[*next] = Posting { place: place as u32, rest };
                *next += 1;
            }
        }
        Ok((offsets, postings))
    }

    /// Finds the sets that come before index `place` of the order and are similar enough to the set at `place`. Appends
    /// these pairs to `found`. `postings_of` returns the occurrences of a term in the index. `overlaps` and `touched`
    /// are buffers.
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
                    // 0 marks sets without a shared term so far, so the needed weight must not be 0.
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

/// Returns the total weight of the elements that two ascending lists of elements and weights share.
/// Returns `None` as soon as that weight cannot reach `needed` any more. `weights` are the total
/// weights of the two lists, or upper bounds of them.
pub fn shared_weight_if_enough<T: Ord>(
    left: impl IntoIterator<Item = (T, u32)>,
    right: impl IntoIterator<Item = (T, u32)>,
    weights: [u64; 2],
    needed: u64,
) -> Option<u64> {
    let mut left = left.into_iter();
    let mut right = right.into_iter();
    // Weight of the elements that each list may have without a partner in the other.
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
