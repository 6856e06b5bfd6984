//! The exact join of sets: every pair with Jaccard similarity of at least a threshold, at about the
//! price of reading the text twice.
//!
//! A set with a partner at threshold t shares at least t of its terms with it, and in real
//! collections most terms of most documents occur nowhere else. So the terms are counted in a
//! table of two-bit cells, sets with too many unmatched terms are dropped, and only what survives
//! a few such rounds (`prune`) is renumbered by frequency (`ranked_sets`) and joined by prefixes
//! (`prefix_join`). Equal documents are found by their hashes and compared term by term; of each
//! group only the first one is joined.
//!
//! What does not fit into the memory that is allowed is read again instead: a round costs two more
//! readings, and the survivors are joined block by block, every two blocks together.
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
mod large_vec;
mod prefix_join;
mod prune;
mod ranked_sets;
mod reread;
#[cfg(test)]
mod tests;
mod threads;

use crate::error::{Error, Result};
use crate::matches::{AlikeSets, SetPair};
use crate::similarity::Threshold;
pub use prefix_join::shared_if_enough;

use equal_documents::{EqualDocuments, EqualSets};
use prefix_join::PrefixJoin;
use prune::{Shard, Stored};
use ranked_sets::Ranking;
use rayon::ThreadPool;
use reread::Rereading;
use std::ops::Range;
use threads::Threads;

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
    /// About how many bytes the join may take. Less memory means more readings, never other
    /// pairs. What grows with the number of documents or pairs is not limited: some 20 bytes each.
    pub memory_bytes: u64,
}

/// Bytes per term while survivors are joined: stored, recorded twice, and their cells.
const BYTES_PER_TERM: u64 = 48;

/// Bytes per sampled term in the first round: its number and its cells, with the writers' buffers.
const BYTES_PER_SAMPLED_TERM: u64 = 6;

/// Parts in which survivors are joined at the most: every two of them take a reading.
const MOST_BLOCKS: usize = 64;

/// Parts that an advice of more memory aims at.
const FEW_BLOCKS: u64 = 16;

/// A further round leaves more than one of so many shingles that the first one left: where all of
/// them are too many even so, it is not worth trying.
const ROUNDS_LEAVE: usize = 16;

/// Terms for each byte of memory that no table of so many bytes can tell apart, even if the guess of
/// their number is far too high.
const HOPELESS_TERMS_A_BYTE: u64 = 64;

/// Terms that are read so soon that nothing need be said before.
const FEW_TERMS: u64 = 1 << 24;

/// Terms that are joined at once at the most: their numbers and their places in the index have 32
/// bits. What is more is joined in blocks.
const MOST_TERMS: u64 = u32::MAX as u64;

/// What the memory is for that grows with the terms.
const TERMS: &str = "the terms of the documents";
/// What the memory is for that grows with the terms of documents that may match.
const INDEX: &str = "the index of the terms";

impl SetJoin<'_> {
    /// All pairs of documents of `source` that are alike enough. A document without terms is like
    /// nothing.
    ///
    /// # Errors
    /// Those of the source; too little memory for anything but hundreds of readings, which is told
    /// as soon as it shows; memory that the system does not have.
    ///
    /// # Complexity
    /// O(terms) time for the rounds; the join of the survivors is quadratic in the sets that share
    /// their rarest terms. Memory: about 4 bytes a term, and 30 bytes a term of the survivors.
    pub fn self_join(&self, source: &dyn TermSource) -> Result<AlikeSets> {
        let sources = Sources { first: source, second: None };
        let mut shards = self.first_round(&sources)?;
        let mut equal = EqualDocuments::set_aside(&mut shards);
        let (pairs, equal_sets) = self.join_living(&sources, &mut shards, &mut equal)?;
        Ok(AlikeSets { groups: equal.groups(&equal_sets), pairs })
    }

    /// All pairs of a document of `queries` and one of `corpus` that are alike enough, ascending
    /// by query, then by corpus row.
    ///
    /// # Errors
    /// As [`Self::self_join`].
    ///
    /// # Complexity
    /// As [`Self::self_join`], but every pair of equal documents is a pair here.
    pub fn query(&self, queries: &dyn TermSource, corpus: &dyn TermSource) -> Result<Vec<SetPair>> {
        let sources = Sources { first: queries, second: Some(corpus) };
        let mut shards = self.first_round(&sources)?;
        let mut none_equal = EqualDocuments::default();
        Ok(self.join_living(&sources, &mut shards, &mut none_equal)?.0)
    }

    fn rereading<'s>(&'s self, sources: &'s Sources<'s>) -> Rereading<'s> {
        let (threshold, threads) = (self.threshold, Threads(self.pool));
        Rereading { sources, threshold, table_bytes: self.memory_bytes / 2, threads }
    }

    /// Terms that are joined at once.
    fn fitting(&self) -> u64 {
        (self.memory_bytes / BYTES_PER_TERM).min(MOST_TERMS)
    }

    fn first_round(&self, sources: &Sources<'_>) -> Result<Vec<Shard>> {
        let hint = sources.term_count_hint();
        if hint > FEW_TERMS && hint / HOPELESS_TERMS_A_BYTE > self.memory_bytes {
            let rule = format!(
                "`max_memory` of {} bytes is too little to tell which of them match. {}M is \
                 enough for that; the method simhash needs less",
                self.memory_bytes,
                (hint / 2).div_ceil(1 << 20)
            );
            return Err(Error::limit(format!("about {hint} shingles"), rule));
        }
        let sampled = hint / 8 * prune::sample_eighths(self.threshold);
        let shards = if sampled.saturating_mul(BYTES_PER_SAMPLED_TERM) <= self.memory_bytes {
            prune::first_round(sources, self.threshold, Threads(self.pool))?
        } else {
            self.rereading(sources).first_round()?
        };
        let parts = blocks(&shards, self.fitting() / 2).len();
        if parts > MOST_BLOCKS * ROUNDS_LEAVE {
            return Err(self.too_little_memory(&shards));
        }
        Ok(shards)
    }

    /// The pairs of living documents, and which of these have equal sets.
    fn join_living(
        &self,
        sources: &Sources<'_>,
        shards: &mut [Shard],
        equal: &mut EqualDocuments,
    ) -> Result<(Vec<SetPair>, EqualSets)> {
        let threads = Threads(self.pool);
        let second_from = sources.second.map(|_| {
            let of_first = shards.get(..sources.first.shard_count()).unwrap_or_default();
            of_first.last().map_or(0, Shard::end_row)
        });
        let fitting = self.fitting();
        let mut joined = Joined::default();
        // Documents that turn out not to be equal live again, and all are read again.
        while living_terms(shards) <= fitting {
            let everything = 0..u32::MAX;
            let all = std::slice::from_ref(&everything);
            let stored = read_living(sources, shards, all, threads)?;
            if !equal.confirm(sources, shards, &stored, threads)? {
                self.join_stored(stored, second_from, &mut joined)?;
                return Ok(joined.finish(second_from));
            }
        }

        // Equal documents are compared while their earliest one still lives.
        if !equal.is_settled() {
            let earliest = equal.earliest(shards);
            for block in blocks(&earliest, fitting) {
                let stored = read_living(sources, &earliest, &[block], threads)?;
                equal.confirm(sources, shards, &stored, threads)?;
            }
        }
        self.rereading(sources).rounds(shards, fitting)?;
        let blocks = blocks(shards, fitting / 2);
        if blocks.len() > MOST_BLOCKS {
            return Err(self.too_little_memory(shards));
        }
        for (at, left) in blocks.iter().enumerate() {
            // Every two blocks meet; a single one meets itself.
            let others = if blocks.len() > 1 { &blocks[at + 1..] } else { &blocks[..] };
            for right in others {
                let two = [left.clone(), right.clone()];
                let stored = read_living(sources, shards, &two, threads)?;
                self.join_stored(stored, second_from, &mut joined)?;
            }
        }
        Ok(joined.finish(second_from))
    }

    fn too_little_memory(&self, shards: &[Shard]) -> Error {
        let living = living_terms(shards);
        let enough = (living * BYTES_PER_TERM * 2 / FEW_BLOCKS).div_ceil(1 << 20);
        let rule = format!(
            "`max_memory` of {} bytes is too little for them: they would be compared in more than \
             {MOST_BLOCKS} parts, each with each. {enough}M is enough; the method simhash needs less",
            self.memory_bytes
        );
        Error::limit(format!("{living} shingles that may match"), rule)
    }

    /// Joins documents in memory. With two sides, those of the second have rows from
    /// `second_from`.
    ///
    /// # Errors
    /// The memory cannot be had.
    fn join_stored(
        &self,
        mut stored: Vec<Stored>,
        second_from: Option<u32>,
        joined: &mut Joined,
    ) -> Result<()> {
        let (threshold, threads) = (self.threshold, Threads(self.pool));
        let cells = prune::rounds(&mut stored, second_from, threshold, threads)?;
        let ranking = Ranking { stored: &stored, cells: &cells, second_from, threads };
        let sets = ranking.rank(|size, unmatched| unmatched <= threshold.max_unshared(size))?;
        drop((stored, cells));

        let row = |set: u32| sets.rows[set as usize];
        let mut skipped = vec![false; sets.len()];
        let across = second_from.is_some();
        if !across {
            for (first, other) in equal_documents::equal_sets(&sets) {
                skipped[other as usize] = true;
                joined.equal.push((row(other), row(first)));
            }
        }
        let join = PrefixJoin { sets: &sets, skipped: &skipped, across, threshold, threads };
        joined.pairs.extend(join.pairs()?.into_iter().map(|(left, right, similarity)| {
            let (left, right) = (row(left), row(right));
            SetPair { a: left.min(right), b: left.max(right), similarity }
        }));
        Ok(())
    }
}

/// What was found so far, in rows of all sources.
#[derive(Default)]
struct Joined {
    pairs: Vec<SetPair>,
    /// (row, earlier row with an equal set).
    equal: Vec<(u32, u32)>,
}

impl Joined {
    /// The pairs of first rows, ascending, each once, with rows of the second side from 0.
    fn finish(self, second_from: Option<u32>) -> (Vec<SetPair>, EqualSets) {
        let equal = EqualSets::new(self.equal);
        let mut pairs = self.pairs;
        for pair in &mut pairs {
            let (a, b) = (equal.first(pair.a), equal.first(pair.b));
            (pair.a, pair.b) = (a.min(b), a.max(b) - second_from.unwrap_or(0));
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs.dedup_by_key(|pair| (pair.a, pair.b));
        (pairs, equal)
    }
}

/// Occurrences of terms in all living documents.
fn living_terms(shards: &[Shard]) -> u64 {
    shards.iter().map(Shard::living_terms).sum()
}

/// Ranges of rows with at most about `terms` terms of living documents each; at least one.
fn blocks(shards: &[Shard], terms: u64) -> Vec<Range<u32>> {
    let (mut blocks, mut start, mut inside) = (Vec::new(), 0, 0);
    for shard in shards {
        let documents = shard.sizes.iter().zip(&shard.alive);
        for (row, (&size, &alive)) in (shard.first_row..).zip(documents) {
            let size = u64::from(alive) * u64::from(size);
            if inside > 0 && inside + size > terms {
                blocks.push(start..row);
                (start, inside) = (row, 0);
            }
            inside += size;
        }
    }
    blocks.push(start..u32::MAX);
    blocks
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

    /// Visits documents as [`TermSource::visit_shard`] does, with work that may fail: after that it
    /// sees no further ones.
    ///
    /// # Errors
    /// Those of the sources, and the first one of `visit`.
    fn try_visit(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]) -> Result<()>,
    ) -> Result<()> {
        let mut done = Ok(());
        self.visit_shard(shard, wanted, &mut |index, terms| {
            if done.is_ok() {
                done = visit(index, terms);
            }
        })?;
        done
    }
}

impl TermSource for Sources<'_> {
    fn shard_count(&self) -> usize {
        self.first.shard_count() + self.second.map_or(0, TermSource::shard_count)
    }

    fn term_count_hint(&self) -> u64 {
        let of_second = self.second.map_or(0, TermSource::term_count_hint);
        self.first.term_count_hint().saturating_add(of_second)
    }

    fn visit_shard(
        &self,
        shard: usize,
        wanted: &dyn Fn(u32) -> bool,
        visit: &mut dyn FnMut(u32, &[u64]),
    ) -> Result<()> {
        let Some(second) = self.second else {
            return self.first.visit_shard(shard, wanted, visit);
        };
        // A term that is on one side only must not count twice, so each document has it once.
        let mut distinct = Vec::new();
        let visit = &mut |index: u32, terms: &[u64]| {
            distinct.clear();
            distinct.extend_from_slice(terms);
            distinct.sort_unstable();
            distinct.dedup();
            visit(index, &distinct);
        };
        match shard.checked_sub(self.first.shard_count()) {
            Some(shard) => second.visit_shard(shard, wanted, visit),
            None => self.first.visit_shard(shard, wanted, visit),
        }
    }
}

/// Reads the terms of the living documents with rows in the given ranges.
fn read_living(
    sources: &Sources<'_>,
    shards: &[Shard],
    rows: &[Range<u32>],
    threads: Threads<'_>,
) -> Result<Vec<Stored>> {
    let wanted = |shard: &Shard, index: u32| {
        let row = shard.first_row + index;
        shard.alive.get(index as usize) == Some(&true) && rows.iter().any(|r| r.contains(&row))
    };
    let wanted_terms = |shard: &Shard| {
        let documents = (0..).zip(&shard.sizes).filter(|&(index, _)| wanted(shard, index));
        documents.map(|(_, &size)| size as usize).sum::<usize>()
    };
    let expected = shards.iter().map(wanted_terms).sum::<usize>() / threads.count() * 3 / 2;
    threads.try_fold(
        shards.len(),
        || Ok(Stored::with_capacity(expected)),
        |stored, number| {
            let shard = &shards[number];
            sources.try_visit(number, &|index| wanted(shard, index), &mut |index, terms| {
                stored.push(shard.first_row + index, terms)
            })
        },
    )
}
