//! The exact join of sets: every pair with Jaccard similarity of at least a threshold, at about the
//! price of reading the text twice.
//!
//! A set with a partner at threshold t shares at least t of its terms with it, and in real
//! collections most terms of most documents occur nowhere else. So the terms are counted in a
//! table of two-bit cells, sets with too many unmatched terms are dropped, and only what survives
//! a few such rounds ([`prune`]) is renumbered by frequency ([`ranked_sets`]) and joined by prefixes
//! ([`prefix_join`]). Equal documents are found by their hashes and compared term by term; of each
//! group only the first one is joined.
//!
//! Input: a [`TermSource`], read two or three times. Output: [`AlikeSets`] or [`SetPair`]s, the
//! same for any number of threads. Not here: what a term is.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data
//! cleaning. ICDE 2006.
//! W. Mann, N. Augsten, P. Bouros. An empirical evaluation of set similarity join techniques.
//! PVLDB 9(9), 2016.

mod cells;
mod equal_documents;
mod prefix_join;
mod prune;
mod ranked_sets;
#[cfg(test)]
mod tests;
mod workers;

use crate::error::Result;
use crate::matches::{AlikeSets, SetPair};
use crate::similarity::Threshold;
use equal_documents::EqualDocuments;
use prefix_join::{Found, PrefixJoin};
use prune::{Shard, Stored};
use ranked_sets::{RankedSets, Ranking};
use rayon::ThreadPool;
use workers::Workers;

/// Documents as terms, readable again and again, in parts that can be read alone.
pub trait TermSource: Sync {
    /// The number of parts.
    fn shard_count(&self) -> usize;

    /// About how many terms there are in all: it sizes tables, so only speed and memory depend on
    /// it.
    fn term_count_hint(&self) -> u64;

    /// Calls `visit(index, terms)` for each document of a part for which `wanted(index)`, in
    /// order; `index` counts all documents of the part from 0. The terms come one per occurrence,
    /// in any order, the same at every reading.
    ///
    /// The first reading wants every document, also one without terms: rows are numbered by it.
    ///
    /// # Errors
    /// What the source says when it cannot be read.
    fn visit_shard(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()>;
}

/// How to join.
#[derive(Clone, Copy, Debug)]
pub struct SetJoin<'a> {
    /// How alike two sets must be.
    pub threshold: Threshold,
    /// The threads to use; without a pool, the caller's.
    pub pool: Option<&'a ThreadPool>,
}

impl SetJoin<'_> {
    /// All pairs of documents of `source` that are alike enough. A document without terms is like
    /// nothing.
    ///
    /// # Errors
    /// Those of the source.
    ///
    /// # Complexity
    /// O(terms) time for the rounds; the join of the survivors is quadratic in the sets that share
    /// their rarest terms. Memory: about 4 bytes a term, and 30 bytes a term of the survivors.
    pub fn self_join(&self, source: &dyn TermSource) -> Result<AlikeSets> {
        let sources = Sources { first: source, second: None };
        let workers = Workers(self.pool);
        let mut shards = prune::first_round(&sources, self.threshold, workers)?;
        let mut equal = EqualDocuments::set_aside(&mut shards);
        let mut stored = read_living(&sources, &shards, workers)?;
        equal.confirm(&sources, &shards, &mut stored, workers)?;
        let sets = self.ranked(&mut stored, None);
        drop(stored);

        let equal_sets = equal_documents::equal_sets(&sets);
        let mut skipped = vec![false; sets.len()];
        equal_sets.iter().for_each(|&(_, other)| skipped[other as usize] = true);
        let pairs = self.pairs(&sets, &skipped, None);
        Ok(AlikeSets { groups: equal.groups(&sets, &equal_sets), pairs })
    }

    /// All pairs of a document of `queries` and one of `corpus` that are alike enough, ascending
    /// by query, then by corpus row.
    ///
    /// # Errors
    /// Those of the sources.
    ///
    /// # Complexity
    /// As [`Self::self_join`], but every pair of equal documents is a pair here.
    pub fn query(&self, queries: &dyn TermSource, corpus: &dyn TermSource) -> Result<Vec<SetPair>> {
        let sources = Sources { first: queries, second: Some(corpus) };
        let workers = Workers(self.pool);
        let shards = prune::first_round(&sources, self.threshold, workers)?;
        let mut stored = read_living(&sources, &shards, workers)?;
        let query_shards = shards.get(..queries.shard_count()).unwrap_or_default();
        let first_of_corpus: usize = query_shards.iter().map(|shard| shard.sizes.len()).sum();
        let first_of_corpus = Some(first_of_corpus as u32);
        let sets = self.ranked(&mut stored, first_of_corpus);
        drop(stored);
        Ok(self.pairs(&sets, &vec![false; sets.len()], first_of_corpus))
    }

    /// Drops what cannot match from the stored documents and renumbers the terms of the rest. With
    /// two sides, those of the second have rows from `second_from`.
    fn ranked(&self, stored: &mut [Stored], second_from: Option<u32>) -> RankedSets {
        let workers = Workers(self.pool);
        let cells = prune::rounds(stored, second_from, self.threshold, workers);
        let ranking = Ranking { stored, cells: &cells, second_from, workers };
        ranking.rank(|size, unmatched| unmatched <= self.threshold.max_unshared(size))
    }

    /// The pairs of sets as pairs of rows, ascending.
    fn pairs(&self, sets: &RankedSets, skipped: &[bool], second_from: Option<u32>) -> Vec<SetPair> {
        let across = second_from.is_some();
        let (threshold, workers) = (self.threshold, Workers(self.pool));
        let join = PrefixJoin { sets, skipped, across, threshold, workers };
        let row_pair = |(left, right, similarity): Found| {
            let (left, right) = (sets.rows[left as usize], sets.rows[right as usize]);
            let (a, b) = (left.min(right), left.max(right) - second_from.unwrap_or(0));
            SetPair { a, b, similarity }
        };
        let mut pairs: Vec<SetPair> = join.pairs().into_iter().map(row_pair).collect();
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs
    }
}

/// One collection, or two with the rows of the second behind those of the first.
struct Sources<'a> {
    first: &'a dyn TermSource,
    second: Option<&'a dyn TermSource>,
}

impl Sources<'_> {
    /// The side of a shard: 0 or 1.
    fn side(&self, shard: usize) -> usize {
        usize::from(shard >= self.first.shard_count())
    }
}

impl TermSource for Sources<'_> {
    fn shard_count(&self) -> usize {
        self.first.shard_count() + self.second.map_or(0, TermSource::shard_count)
    }

    fn term_count_hint(&self) -> u64 {
        self.first.term_count_hint() + self.second.map_or(0, TermSource::term_count_hint)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        match (shard.checked_sub(self.first.shard_count()), self.second) {
            (Some(shard), Some(second)) => second.visit_shard(shard, wanted, visit),
            _ => self.first.visit_shard(shard, wanted, visit),
        }
    }
}

/// Reads the terms of the living documents, shard by shard.
fn read_living(
    sources: &Sources<'_>,
    shards: &[Shard],
    workers: Workers<'_>,
) -> Result<Vec<Stored>> {
    let across = sources.second.is_some();
    workers.try_map(shards.len(), Vec::new, |distinct: &mut Vec<u64>, number| {
        let shard = &shards[number];
        let alive = |index: u32| shard.alive.get(index as usize).copied().unwrap_or(false);
        let mut stored = Stored::default();
        let living = shard.sizes.iter().zip(&shard.alive).filter(|&(_, &alive)| alive);
        stored.terms.reserve(living.map(|(&size, _)| size as usize).sum());
        sources.visit_shard(number, &alive, &mut |index, terms| {
            if across {
                // A term that is on one side only is counted by its occurrences.
                distinct.clear();
                distinct.extend_from_slice(terms);
                distinct.sort_unstable();
                distinct.dedup();
                stored.push(shard.first_row + index, distinct);
            } else {
                stored.push(shard.first_row + index, terms);
            }
        })?;
        Ok(stored)
    })
}
