//! The exact join of sets: finds every pair whose similarity reaches a threshold, by any measure of
//! [`simtool_model::similarity::MEASURES`]. It takes about as long as reading the text twice.
//!
//! 1. *Prune.* A set with a partner at threshold t shares at least t of its terms with it. In real
//!    collections, most terms of most documents occur nowhere else. The terms are therefore counted
//!    in a table of two-bit cells, and sets with too many unmatched terms are dropped (`prune`, or
//!    `reread` if the terms do not fit into memory). With few terms this step does not pay and is
//!    skipped.
//! 2. *Sketch* the remaining sets in about three bits a term (`sketches`). Only the first one of equal
//!    sets is joined.
//! 3. *Compare the sketches* of every two sets whose sizes allow similarity (`window_scan`). The few
//!    documents with near sketches are read again and compared term by term (`compare_terms`). If
//!    the pairs do not fit in memory, only the pairs are found that decide which documents are kept
//!    (`kept_pairs`).
//! 4. *Or join by prefixes*, if comparing sketches would cost more: the terms are renumbered by
//!    frequency (`ranked_sets`) and joined (`prefix_join`), block by block if memory is scarce.
//!
//! If terms have weights, the join compares no sketches and no candidates. It renumbers the terms
//! that remain after pruning, and joins by prefixes of sums of weights (`weighted_join`).
//!
//! Input: a [`TermSource`], which is read one to three times, or more often if memory is scarce.
//! Output: [`Close`], the same for any number of threads. The join does not know what a term is.
//!
//! # References
//! S. Chaudhuri, V. Ganti, R. Kaushik. A primitive operator for similarity joins in data
//! cleaning. ICDE 2006.
//! W. Mann, N. Augsten, P. Bouros. An empirical evaluation of set similarity join techniques.
//! PVLDB 9(9), 2016.

pub mod close;
pub mod close_pairs;
#[doc(hidden)]
pub mod disjoint_sets;

mod block_sets;
mod cells;
mod compare_terms;
mod cost;
mod forecast;
mod kept_pairs;
mod large_vec;
mod pair_order;
mod prefix_join;
mod prune;
mod ranked_sets;
mod reread;
mod sketch_join;
mod sketches;
mod term_numbers;
mod term_source;
#[cfg(test)]
mod tests;
mod weighted_join;
mod window_scan;

use crate::close::{Close, ClosePair, ClosePairs};
pub use cost::{SampledSets, SetJoinCost, TermShares};
pub use prefix_join::shared_if_enough;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::Threshold;
pub use term_source::{TermSource, Wanted};
pub use weighted_join::shared_weight_if_enough;

use kept_pairs::{KeptPairs, Turns};
use prefix_join::PrefixJoin;
use prune::{Shard, Stored, sample_eighths};
use ranked_sets::Ranking;
use reread::Rereading;
use simtool_compute::context::Context;
use sketch_join::{Deciding, SketchJoin};
use sketches::{SketchScratch, Sketching};
use std::ops::Range;
use term_source::Sources;

/// A join of sets: finds all pairs of sets whose similarity reaches a threshold. Create one with
/// [`SetJoin::new`].
#[derive(Clone, Copy, Debug)]
pub struct SetJoin<'a> {
    /// Minimum similarity of a pair, and the measure of similarity.
    threshold: Threshold,
    /// Approximate number of bytes that the join may take. This includes the pairs that it finds,
    /// and the data that the source keeps of the documents. It does not include about 20 bytes of
    /// bookkeeping per document. Less memory means more readings, but never other pairs.
    memory_bytes: u64,
    /// Threads, instruction set and the receiver of progress reports.
    context: &'a Context<'a>,
}

/// Bytes per term while remaining documents are joined by prefixes: the term is stored, recorded
/// twice, and has its counters.
const BYTES_PER_TERM: u64 = 48;

/// Bytes per sampled term in the first round of counting: the number of its counter, its counters,
/// and the buffers of the writers.
const BYTES_PER_SAMPLED_TERM: u64 = 6;

/// Maximum number of blocks into which the remaining documents are divided. Each pair of blocks
/// takes a reading.
const MOST_BLOCKS: usize = 64;

/// Error messages about too little memory recommend so much memory that the remaining documents are
/// divided into this number of blocks.
const FEW_BLOCKS: u64 = 16;

/// A further round of counting is assumed to leave more than 1/`ROUNDS_LEAVE` of the terms that
/// remain. If even that is too much for the memory, the join fails at once.
const ROUNDS_LEAVE: usize = 16;

/// Maximum number of terms for which all documents are sketched at the first reading. Counting
/// terms first would take longer.
const FEW_TERMS: u64 = 1 << 26;

/// Number of bytes that pairs may always take, even if less memory is left.
const BYTES_OF_FEW_PAIRS: u64 = 16 << 20;

/// Cost of comparing all sketches, in nanoseconds of a core per remaining term, from which another
/// round of counting is faster. The round takes a third of that and saves about as much of the
/// comparison.
const NANOSECONDS_A_ROUND: f64 = 60.0;

/// Nanoseconds of a core for ranking a term and joining its set by prefixes, in each pair of blocks
/// that contains it.
const NANOSECONDS_A_RANKED_TERM: f64 = 150.0;

/// Maximum number of bytes for keeping the counter numbers of sampled terms in the first round. If
/// more would be needed, the documents are read twice, which takes a quarter longer but hardly any
/// memory.
const SAMPLE_BYTES: u64 = 1 << 29;

/// Maximum number of terms that are joined at once, because term numbers and positions in the index
/// have 32 bits. More terms are joined in blocks.
const MOST_TERMS: u64 = u32::MAX as u64;

/// Name of memory that grows with the number of terms, in messages about missing memory.
const TERMS: &str = "the terms of the documents";
/// Name of memory that grows with the terms of documents that may match, in messages about missing
/// memory.
const INDEX: &str = "the index of the terms";

impl<'a> SetJoin<'a> {
    /// Creates a join that may take the memory that is free now according to `context`.
    #[must_use]
    pub fn new(threshold: Threshold, context: &'a Context<'a>) -> Self {
        Self { threshold, memory_bytes: context.memory().free(), context }
    }

    /// Returns all pairs of documents of `source` that are similar enough, and all groups of equal
    /// documents. A document without terms is similar to no other.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory. If so little memory is allowed that
    /// hundreds of readings would be necessary, the join fails as soon as that is known.
    ///
    /// # Complexity
    /// O(terms) time for counting and sketching. Comparing the remaining documents is quadratic in
    /// the number of documents of similar size, at about a nanosecond a pair. If that would take
    /// too long, it is quadratic in the number of documents that share their rarest terms. Memory:
    /// about 4 bytes per term, and 1 or 30 bytes per term of the remaining documents.
    pub fn self_join(&self, source: &dyn TermSource) -> Result<Close> {
        self.joined(source, None)
    }

    /// Joins a source with itself like [`Self::self_join`], but returns only some pairs if not all
    /// fit in memory. With these pairs, the same documents are kept as with all pairs, and each
    /// other document is removed because of the same kept one. `order` returns all row numbers in
    /// the order of preference. It is called at most once, after all documents were read.
    ///
    /// # Errors
    /// The same errors as [`Self::self_join`].
    ///
    /// # Complexity
    /// The same as for [`Self::self_join`]. If pairs are left out, each document is also compared
    /// with the documents that are kept before it, and is read a few more times.
    pub fn self_join_to_keep(
        &self,
        source: &dyn TermSource,
        order: &dyn Fn() -> Vec<u32>,
    ) -> Result<Close> {
        self.joined(source, Some(order))
    }

    fn joined(
        &self,
        source: &dyn TermSource,
        order: Option<&dyn Fn() -> Vec<u32>>,
    ) -> Result<Close> {
        let sources = Sources { first: source, second: None };
        let mut survivors = self.with_held(sources.keeping_bytes()).survivors(&sources)?;
        let equal = survivors.remove_equal();
        let deciding = order.map(|order| {
            let equal = &equal;
            move |by_sketches: &SketchJoin<'_>, most: u64, sizes: &mut [u32]| {
                KeptPairs::new(by_sketches, Turns::new(order(), equal), most).find(sizes)
            }
        });
        let deciding = deciding.as_ref().map(|deciding| deciding as &Deciding<'_>);
        let joined = self.with_held(sources.held_bytes()).join(&sources, survivors, deciding)?;
        let close = Close::sets(Sides::One(equal), joined.pairs);
        Ok(Close { is_complete: joined.are_all, ..close })
    }

    /// Returns all similar pairs of a document of `queries` and a document of `corpus`, sorted by
    /// the row in `queries`, then by the row in `corpus`.
    ///
    /// # Errors
    /// The same errors as [`Self::self_join`].
    ///
    /// # Complexity
    /// The same as for [`Self::self_join`], but all pairs of equal documents count as pairs here.
    pub fn query(&self, queries: &dyn TermSource, corpus: &dyn TermSource) -> Result<Close> {
        let sources = Sources { first: queries, second: Some(corpus) };
        let survivors = self.with_held(sources.keeping_bytes()).survivors(&sources)?;
        let joined = self.with_held(sources.held_bytes()).join(&sources, survivors, None)?;
        Ok(Close::sets(Sides::Two(Groups::default(), Groups::default()), joined.pairs))
    }

    /// Returns the same join with `bytes` less memory, because the sources take that memory.
    fn with_held(self, bytes: u64) -> Self {
        // At least a quarter remains, so a source that keeps much makes the join slower and not
        // impossible.
        let left = self.memory_bytes.saturating_sub(bytes);
        Self { memory_bytes: left.max(self.memory_bytes / 4), ..self }
    }

    /// Reads the documents, and finds those that may have a similar document, with their sketches.
    fn survivors(&self, sources: &Sources<'_>) -> Result<Survivors> {
        if sources.is_weighted() {
            return self.weighed(sources);
        }
        let hint = sources.term_count_hint();
        let sketched_bytes = |terms: u64| sketches::planned_bytes(terms, self.threshold);
        // For few terms, sketches of all documents cost less than a round and a second reading.
        let few = hint <= FEW_TERMS && sketched_bytes(hint) <= self.memory_bytes;
        let mut sketched = None;
        let reading = Work::Bytes(sources.bytes());
        let mut shards = if few {
            self.context.progress().begin("read and sketch", reading);
            let (shards, sketches) = sketch_all(sources, self.threshold, self.context)?;
            sketched = Some(sketches);
            shards
        } else {
            self.first_round(sources)?
        };
        let sizes = shards.iter().flat_map(|shard| &shard.sizes);
        self.context.progress().counted("rows", sizes.clone().count() as u64);
        self.context.progress().counted("terms", sizes.map(|&size| u64::from(size)).sum());
        // The comparison of sketches is quadratic. It must fit in memory and be faster than the
        // other way.
        let is_scannable = |shards: &[Shard], nanoseconds_a_term| {
            let terms = living_terms(shards);
            sketched_bytes(terms) <= self.memory_bytes
                && self.scan_nanoseconds(sources, shards) <= terms as f64 * nanoseconds_a_term
        };
        let mut is_scanned = is_scannable(&shards, NANOSECONDS_A_ROUND);
        if !is_scanned {
            // If even counting cannot bring the terms into memory, the rounds would read everything
            // many times before they fail.
            let parts = blocks(&shards, self.fitting() / 2).len();
            if parts > MOST_BLOCKS * ROUNDS_LEAVE
                && sketched_bytes(living_terms(&shards)) / ROUNDS_LEAVE as u64 > self.memory_bytes
            {
                return Err(self.too_little_memory(&shards));
            }
            self.rereading(sources).rounds(&mut shards, 0)?;
            self.count_living(&shards);
            // Each pair of blocks is joined, so each block is joined as often as there are other
            // blocks.
            let times = blocks(&shards, self.fitting() / 2).len().saturating_sub(1).max(1);
            is_scanned = is_scannable(&shards, NANOSECONDS_A_RANKED_TERM * times as f64);
        }
        let sketches = if let Some(mut sketches) = sketched {
            sketches::retain_living(&mut sketches, &shards);
            sketches
        } else {
            self.context.progress().begin("sketch", reading);
            self.count_living(&shards);
            sketch_living(sources, &shards, self.threshold, is_scanned, self.context)?
        };
        Ok(Survivors { shards, sketches, is_scanned })
    }

    /// Reports the numbers of remaining documents and terms to the receiver of progress.
    fn count_living(&self, shards: &[Shard]) {
        let rows: usize = shards.iter().map(|shard| shard.living_sizes().count()).sum();
        self.context.progress().counted("rows", rows as u64);
        self.context.progress().counted("terms", living_terms(shards));
    }

    /// Estimates the nanoseconds that one core takes to compare all sketches of remaining
    /// documents.
    fn scan_nanoseconds(&self, sources: &Sources<'_>, shards: &[Shard]) -> f64 {
        let sizes = |shards: &[Shard]| {
            let mut sizes: Vec<u32> = shards.iter().flat_map(Shard::living_sizes).collect();
            sizes.sort_unstable();
            sizes
        };
        let nanoseconds = |sets: &[u32], candidates: &[u32]| {
            window_scan::estimated_nanoseconds(sets, candidates, self.threshold, self.context.isa())
        };
        if sources.second.is_none() {
            let sizes = sizes(shards);
            return nanoseconds(&sizes, &sizes);
        }
        let (first, second) = shards.split_at(sources.first.shard_count());
        let first = sizes(first);
        let second = sizes(second);
        nanoseconds(&first, &second) + nanoseconds(&second, &first)
    }

    /// Returns the similar pairs of the remaining documents, in ascending order. `deciding` is used
    /// only if sketches are compared and the pairs do not fit in memory.
    fn join(
        &self,
        sources: &Sources<'_>,
        survivors: Survivors,
        deciding: Option<&Deciding<'_>>,
    ) -> Result<Joined> {
        let Survivors { mut shards, sketches, is_scanned } = survivors;
        let second_from = sources.second.map(|_| {
            let of_first = shards.get(..sources.first.shard_count()).unwrap_or_default();
            prune::end_row(of_first)
        });
        let joined = if is_scanned {
            SketchJoin::new(self, sources, &shards, sketches, second_from)?.pairs(deciding)?
        } else {
            // Without a scan, sketches only serve to find equal sets, and the prefixes need their memory.
            drop(sketches);
            let mut pairs = self.join_by_prefixes(sources, &mut shards, second_from)?;
            self.context.threads().sort_by_key(&mut pairs, |pair| (pair.a, pair.b));
            for pair in &mut pairs {
                pair.b -= second_from.unwrap_or(0);
            }
            Joined { pairs: pairs.into(), are_all: true }
        };
        self.context.progress().counted("pairs", joined.pairs.len() as u64);
        Ok(joined)
    }

    /// Returns the error for a number of pairs that does not fit in memory.
    fn too_many_pairs(&self, pairs: u64) -> Error {
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little, and there may be more. `pairs` \
             and `cluster` components need all of them; a higher `similarity` leaves fewer; the method \
             simhash needs less memory",
            self.memory_bytes
        );
        Error::limit(format!("{pairs} pairs of near-duplicates"), rule)
    }

    fn rereading<'s>(&'s self, sources: &'s Sources<'s>) -> Rereading<'s> {
        let table_bytes = self.memory_bytes / 2;
        Rereading { sources, threshold: self.threshold, table_bytes, context: self.context }
    }

    /// Returns the number of terms that can be joined at once.
    fn fitting(&self) -> u64 {
        (self.memory_bytes / BYTES_PER_TERM).min(MOST_TERMS)
    }

    fn first_round(&self, sources: &Sources<'_>) -> Result<Vec<Shard>> {
        let hint = sources.term_count_hint();
        let sampled = hint / 8 * sample_eighths(self.threshold);
        if sampled.saturating_mul(BYTES_PER_SAMPLED_TERM) <= self.memory_bytes.min(SAMPLE_BYTES) {
            self.context.progress().begin("read and count", Work::Bytes(sources.bytes()));
            prune::first_round(sources, self.threshold, self.context)
        } else {
            self.rereading(sources).first_round()
        }
    }

    /// Finds the similar pairs of the remaining documents by prefixes, block by block if necessary.
    fn join_by_prefixes(
        &self,
        sources: &Sources<'_>,
        shards: &mut [Shard],
        second_from: Option<u32>,
    ) -> Result<Vec<ClosePair>> {
        let fitting = self.fitting();
        let mut pairs = Vec::new();
        self.rereading(sources).rounds(shards, fitting)?;
        // Two blocks are in memory at the same time.
        let blocks = blocks(shards, fitting / 2);
        if blocks.len() > MOST_BLOCKS {
            return Err(self.too_little_memory(shards));
        }
        for (at, left) in blocks.iter().enumerate() {
            // Each pair of blocks is joined. A single block is joined with itself.
            let others = if blocks.len() > 1 { &blocks[at + 1..] } else { &blocks[..] };
            for right in others {
                let two = [left.clone(), right.clone()];
                self.context.progress().begin("read survivors", Work::Bytes(sources.bytes()));
                let stored = read_living(sources, shards, &two, self.context)?;
                pairs.extend(if sources.is_weighted() {
                    self.join_weighted(sources, shards, stored, second_from)?
                } else {
                    self.join_stored(stored, second_from)?
                });
                if size_of_val(&pairs[..]) as u64 > self.memory_bytes.max(BYTES_OF_FEW_PAIRS) {
                    return Err(self.too_many_pairs(pairs.len() as u64));
                }
            }
        }
        if blocks.len() > 2 {
            // A pair inside one block is found once for each other block.
            pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
            pairs.dedup_by_key(|pair| (pair.a, pair.b));
        }
        Ok(pairs)
    }

    fn too_little_memory(&self, shards: &[Shard]) -> Error {
        let living = living_terms(shards);
        let enough = living * BYTES_PER_TERM * 2 / FEW_BLOCKS;
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little: they would be compared in more \
             than {MOST_BLOCKS} parts, each with each. {}; the method simhash needs less",
            self.memory_bytes,
            enough_more(enough, self.memory_bytes)
        );
        Error::limit(format!("{living} shingles that may match"), rule)
    }

    /// Joins the documents in `stored` by prefixes. In a join of two collections, the rows of the
    /// second begin at `second_from`.
    ///
    /// # Errors
    /// Not enough memory.
    fn join_stored(
        &self,
        mut stored: Vec<Stored>,
        second_from: Option<u32>,
    ) -> Result<Vec<ClosePair>> {
        let threshold = self.threshold;
        self.context.progress().begin("rank", Work::Steps(0));
        let cells = prune::rounds(&mut stored, second_from, self.context, |_, terms, cells| {
            let limit = threshold.max_unshared(terms.len() as u32);
            let numbers = cells.numbers();
            let is_unmatched = |&term: &u64| !cells.is_matched(numbers.of(term));
            prune::unmatched_up_to(terms, limit, is_unmatched) <= limit
        })?;
        let ranking = Ranking {
            stored: &stored,
            cells: &cells,
            second_from,
            weight: None,
            context: self.context,
        };
        // Terms that share a counter may look matched. The ranking knows exactly, so it can drop
        // more sets.
        let sets = ranking.rank(|size, unmatched| unmatched <= threshold.max_unshared(size))?;
        drop((stored, cells));
        self.context.progress().counted("rows", sets.len() as u64);
        self.context.progress().counted("terms", sets.ranks.len() as u64);

        let across = second_from.is_some();
        let join = PrefixJoin { sets: &sets, across, threshold, context: self.context };
        let pairs = join.pairs()?.into_iter().map(|(left, right, similarity)| {
            let left = sets.rows[left as usize];
            let right = sets.rows[right as usize];
            ClosePair::similar(left.min(right), left.max(right), similarity)
        });
        Ok(pairs.collect())
    }
}

/// The documents that may have a similar document, as row numbers per shard, with their sketches.
struct Survivors {
    shards: Vec<Shard>,
    sketches: Vec<Sketching>,
    /// Whether similar documents are then found by comparing sketches, and not by prefixes.
    is_scanned: bool,
}

/// The pairs that a join has found.
struct Joined {
    pairs: ClosePairs,
    /// Whether these are all pairs. If not, they are the pairs that decide which documents are
    /// kept.
    are_all: bool,
}

impl Survivors {
    /// Drops all documents of each group of equal documents except the first one. Returns the
    /// groups.
    fn remove_equal(&mut self) -> Groups {
        let equal = sketches::equal_sets(&self.sketches);
        // Equal documents have the same partners, so the first one finds them for all.
        for &other in equal.iter().flat_map(|group| &group[1..]) {
            let shard = prune::shard_of(&self.shards, other);
            let shard = &mut self.shards[shard];
            shard.alive[(other - shard.first_row) as usize] = false;
        }
        sketches::retain_living(&mut self.sketches, &self.shards);
        equal
    }
}

/// Returns the part of an error message that says how much more memory is enough. `left` is the
/// number of bytes that the rest of the run leaves for the join, and `enough` is the number that it
/// needs.
fn enough_more(enough: u64, left: u64) -> String {
    format!("{}M more is enough", enough.saturating_sub(left).div_ceil(1_000_000))
}

/// Returns the number of terms in all remaining documents, counting repeated terms.
fn living_terms(shards: &[Shard]) -> u64 {
    shards.iter().map(Shard::living_terms).sum()
}

/// Divides the row numbers into ranges, at least one, whose remaining documents have at most about
/// `terms` terms each.
fn blocks(shards: &[Shard], terms: u64) -> Vec<Range<u32>> {
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut inside = 0;
    for shard in shards {
        let documents = shard.sizes.iter().zip(&shard.alive);
        for (row, (&size, &alive)) in (shard.first_row..).zip(documents) {
            let size = u64::from(alive) * u64::from(size);
            // A document larger than a block gets a block of its own, without an empty block before
            // it.
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

/// Reads all documents for the first time, and makes their sketches. Returns the shards and the
/// sketches of each shard.
fn sketch_all(
    sources: &Sources<'_>,
    threshold: Threshold,
    context: &Context<'_>,
) -> Result<(Vec<Shard>, Vec<Sketching>)> {
    // Rows are numbered after all shards were read. Until then, a document has its index in its
    // shard.
    let read = context.threads().try_map(
        sources.shard_count(),
        || Ok(SketchScratch::default()),
        |scratch, number| {
            let mut sizes = Vec::new();
            let mut sketches = Sketching::new(threshold, true, context.memory());
            sources.try_visit(number, Wanted::All, &mut |index, terms| {
                sizes.push(prune::document_size(terms.len())?);
                sketches.push(index, terms, scratch)
            })?;
            Ok((sizes, sketches))
        },
    )?;
    let mut shards = Vec::new();
    let mut all = Vec::new();
    let mut row = 0;
    for (sizes, mut sketches) in read {
        sketches.number_from(row);
        let shard = Shard::new(row, sizes);
        row = prune::row_after(row, shard.sizes.len())?;
        shards.push(shard);
        all.push(sketches);
    }
    Ok((shards, all))
}

/// Makes the sketches of the remaining documents. If `with_bits` is false, they have only sizes and
/// signatures, which are enough to find equal sets.
fn sketch_living(
    sources: &Sources<'_>,
    shards: &[Shard],
    threshold: Threshold,
    with_bits: bool,
    context: &Context<'_>,
) -> Result<Vec<Sketching>> {
    let terms = living_terms(shards);
    let sketched = context.threads().try_fold(
        shards.len(),
        || Ok((Sketching::new(threshold, with_bits, context.memory()), SketchScratch::default())),
        |(sketches, scratch), number| {
            let shard = &shards[number];
            if !shard.alive.contains(&true) {
                return Ok(());
            }
            let wanted = Wanted::Remaining { is_one: &|index| shard.is_alive(index), terms };
            sources.try_visit(number, wanted, &mut |index, terms| {
                sketches.push(shard.first_row + index, terms, scratch)
            })
        },
    )?;
    Ok(sketched.into_iter().map(|(sketches, _)| sketches).collect())
}

/// Reads the terms of the remaining documents whose row numbers are in one of the ranges `rows`.
fn read_living(
    sources: &Sources<'_>,
    shards: &[Shard],
    rows: &[Range<u32>],
    context: &Context<'_>,
) -> Result<Vec<Stored>> {
    let wanted = |shard: &Shard, index: u32| {
        let row = shard.first_row + index;
        shard.is_alive(index) && rows.iter().any(|r| r.contains(&row))
    };
    let wanted_terms = |shard: &Shard| {
        let documents = (0..).zip(&shard.sizes).filter(|&(index, _)| wanted(shard, index));
        documents.map(|(_, &size)| size as usize).sum::<usize>()
    };
    let expected =
        shards.iter().map(wanted_terms).sum::<usize>() / context.threads().count() * 3 / 2;
    context.threads().try_fold(
        shards.len(),
        || Ok(Stored::with_capacity(expected, context.memory())),
        |stored, number| {
            let shard = &shards[number];
            let wanted = |index| wanted(shard, index);
            sources.try_visit(number, Wanted::Some(&wanted), &mut |index, terms| {
                stored.push(shard.first_row + index, terms)
            })
        },
    )
}
