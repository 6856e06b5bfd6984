//! The exact join of sets: finds every pair whose similarity reaches a threshold, by any measure of
//! [`simtool_model::similarity::MEASURES`]. It takes about as long as reading the text twice.
//!
//! Steps 1 and 2 prepare the join (`survivors`), and steps 3 and 4 find the pairs.
//!
//! 1. *Prune.* A set with a partner at threshold t shares at least t of its terms with it. In real
//!    collections, most terms of most documents occur nowhere else. The terms are therefore counted
//!    in a table of two-bit cells, and sets with too many unmatched terms are dropped (`prune`, or
//!    `reread` if the terms do not fit into memory). With few terms this step does not pay and is
//!    skipped.
//! 2. *Sketch* the sets that were not dropped in about three bits a term (`sketches`). Only the
//!    first one of equal sets is joined.
//! 3. *Compare the sketches* of every two sets whose sizes allow similarity (`window_scan`). The few
//!    documents with near sketches are read again and compared term by term (`compare_terms`). If
//!    there are too many pairs for the memory or the time, only the pairs are found that decide which
//!    documents are kept (`kept_pairs`). If too many sketches are similar, terms that no other document
//!    has are left out of them (`counted_join`).
//! 4. *Or join by prefixes*, if comparing sketches would cost more: the terms are renumbered by
//!    frequency (`ranked_sets`) and joined (`prefix_join`), block by block if memory is scarce
//!    (`block_join`).
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

mod block_join;
mod block_sets;
mod candidate_links;
mod cells;
mod compare_terms;
mod cost;
mod counted_join;
mod forecast;
pub mod kept_pairs;
mod large_vec;
mod linking_pairs;
mod other_symbols;
mod pair_filter;
pub mod pair_order;
mod prefix_join;
mod prune;
mod ranked_sets;
mod reread;
pub mod row_symbols;
mod sketch_join;
mod sketch_pairs;
mod sketch_parts;
mod sketches;
mod survivors;
mod term_numbers;
mod term_source;
#[cfg(test)]
mod tests;
mod weighted_join;
mod window_scan;

use crate::close::{Close, ClosePairs};
pub use cost::{SampledSets, SetJoinCost, TermShares};
pub use pair_filter::PairFilter;
pub use prefix_join::shared_if_enough;
use simtool_base::error::{Error, Result};
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
pub use term_source::{TermSource, Wanted};
pub use weighted_join::shared_weight_if_enough;

use close_pairs::ClosePair;
use kept_pairs::{DecidingRule, MANY_PAIRS, Turns, deciding_pairs};
use prune::JoinShard;
use reread::Rereading;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use sketch_join::{Deciding, SketchJoin};
use sketch_pairs::SketchPairs;
use std::fmt;
use survivors::{Survivors, sketch_living};
use term_source::TermSources;

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
    /// Condition for the pairs. `None` if the join takes all pairs.
    filter: Option<&'a dyn PairFilter>,
    /// Threads, instruction set and the receiver of progress reports.
    context: &'a Context<'a>,
}

/// Rule for choosing the kept documents, and the order in which they are preferred.
#[derive(Clone, Copy)]
pub struct KeptChoice<'o> {
    /// Rule by which similar pairs decide.
    pub rule: DecidingRule,
    /// Returns all row numbers in the order of preference. It is called at most once, after all documents were read.
    pub order: &'o dyn Fn() -> Vec<u32>,
}

impl fmt::Debug for KeptChoice<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("KeptChoice").field("rule", &self.rule).finish_non_exhaustive()
    }
}

/// Bytes of memory for each term while documents are joined by prefixes. The term is stored once and
/// recorded twice, and it has counters.
const BYTES_PER_TERM: u64 = 48;

/// Number of bytes that pairs may always take, even if less memory is left.
const BYTES_OF_FEW_PAIRS: u64 = 16 << 20;

/// Nanoseconds of a core for each pair that a join by prefixes finds, if documents share most terms. Each
/// pair is then compared in full.
const NANOSECONDS_A_PREFIX_PAIR: f64 = 400.0;

/// Maximum number of terms that are joined at once, because term numbers and positions in the index
/// have 32 bits. More terms are joined in blocks.
const MOST_TERMS: u64 = u32::MAX as u64;

/// Description of memory that grows with the number of terms. Out-of-memory messages contain it.
const TERMS: &str = "the terms of the documents";
/// Description of the memory for the terms of documents that are joined by prefixes. Out-of-memory
/// messages contain it.
const INDEX: &str = "the index of the terms";

impl<'a> SetJoin<'a> {
    /// Creates a join that may take the memory that is free now according to `context`.
    #[must_use]
    pub fn new(threshold: Threshold, context: &'a Context<'a>) -> Self {
        Self { threshold, memory_bytes: context.memory().free(), filter: None, context }
    }

    /// Returns the same join, but only for pairs that `filter` lets pass.
    #[must_use]
    pub fn with_filter(self, filter: Option<&'a dyn PairFilter>) -> Self {
        Self { filter, ..self }
    }

    /// Returns all pairs of documents of `source` that are similar enough, and all groups of equal
    /// documents. A document without terms is similar to no other.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory. If so little memory is allowed that
    /// hundreds of readings would be necessary, the join fails as soon as that is known.
    ///
    /// # Complexity O(terms) time for counting and sketching. Counting drops documents that cannot have
    /// a similar one. Comparing the others is quadratic in the number of documents of similar size, at
    /// about a nanosecond a pair. If that would take too long, it is quadratic in the number of
    /// documents that share their rarest terms. Memory: about 4 bytes per term, and 1 or 30 bytes per
    /// term of the documents that were not dropped.
    pub fn self_join(&self, source: &dyn TermSource) -> Result<Close> {
        self.joined(source, None)
    }

    /// Joins a source with itself like [`Self::self_join`], but returns only some pairs if not all fit
    /// in memory, or if there are many millions. These pairs are enough for two decisions: which documents are kept
    /// according to `choice`, and which kept document causes the removal of each other document.
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
        choice: &KeptChoice<'_>,
    ) -> Result<Close> {
        self.joined(source, Some(choice))
    }

    fn joined(&self, source: &dyn TermSource, choice: Option<&KeptChoice<'_>>) -> Result<Close> {
        let sources = TermSources { first: source, second: None };
        let mut survivors = self.with_held(sources.keeping_bytes()).survivors(&sources)?;
        let equal = survivors.remove_equal(self.filter);
        let deciding = choice.map(|choice| {
            let equal = &equal;
            move |by_sketches: &SketchJoin<'_>, most: u64, sizes: &mut [u32]| {
                let mut search = SketchPairs { join: by_sketches, sizes };
                let turns = Turns::new((choice.order)(), equal);
                deciding_pairs(&mut search, turns, choice.rule, most, self.context)
            }
        });
        let deciding = deciding.as_ref().map(|deciding| deciding as &Deciding<'_>);
        let joined = self.with_held(sources.held_bytes()).join(&sources, survivors, deciding)?;
        let close = self.closed(Sides::One(equal), joined.pairs);
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
        let sources = TermSources { first: queries, second: Some(corpus) };
        let survivors = self.with_held(sources.keeping_bytes()).survivors(&sources)?;
        let joined = self.with_held(sources.held_bytes()).join(&sources, survivors, None)?;
        Ok(self.closed(Sides::Two(Groups::default(), Groups::default()), joined.pairs))
    }

    /// Returns the result of the join, which has distances if the filter measures them.
    fn closed(&self, groups: Sides<Groups>, pairs: ClosePairs) -> Close {
        let measuring = self.filter.filter(|filter| filter.has_distances());
        let Some(filter) = measuring else { return Close::sets(groups, pairs) };
        // Every pair has passed the filter, so it has a distance.
        let pairs = pairs.with_distances(|a, b| filter.distance(a, b).unwrap_or(0));
        let of_equal = Closeness::Verified(Similarity::ONE, 0);
        Close { of_equal, ..Close::sets(groups, pairs) }
    }

    /// Returns the same join with `bytes` less memory, because the sources take that memory.
    fn with_held(self, bytes: u64) -> Self {
        // At least a quarter remains, so a source that keeps much makes the join slower and not
        // impossible.
        let left = self.memory_bytes.saturating_sub(bytes);
        Self { memory_bytes: left.max(self.memory_bytes / 4), ..self }
    }

    /// Returns the similar pairs of the documents in `survivors`, in ascending order. `deciding` is
    /// used only if sketches are compared and there are too many pairs.
    fn join(
        &self,
        sources: &TermSources<'_>,
        survivors: Survivors,
        deciding: Option<&Deciding<'_>>,
    ) -> Result<FoundPairs> {
        let Survivors { mut shards, sketches, is_scanned } = survivors;
        let second_from = sources.second.map(|_| {
            let of_first = shards.get(..sources.first.shard_count()).unwrap_or_default();
            prune::end_row(of_first)
        });
        let joined = if is_scanned {
            self.join_by_sketches(sources, &shards, sketches, (second_from, deciding))?
        } else {
            let parts = if self.has_too_many_blocks(&shards) {
                self.sketch_parts(sources, &shards, &sketches)?
            } else {
                None
            };
            // Sketches only serve to find equal sets and sizes, and the join needs their memory.
            drop(sketches);
            match parts {
                Some(parts) => self.join_in_parts(sources, &shards, &parts, second_from)?,
                None => self.join_in_blocks(sources, &mut shards, second_from, deciding)?,
            }
        };
        self.context.progress().counted("pairs", joined.pairs.len() as u64);
        Ok(joined)
    }

    /// Returns the similar pairs that a join by prefixes finds, in ascending order. If there are too many, and
    /// `deciding` is given, returns only the pairs that `deciding` finds.
    fn join_in_blocks(
        &self,
        sources: &TermSources<'_>,
        shards: &mut [JoinShard],
        second_from: Option<u32>,
        deciding: Option<&Deciding<'_>>,
    ) -> Result<FoundPairs> {
        let most = self.most_prefix_pairs(sources, shards, deciding.is_some());
        let Some(pairs) = self.join_by_prefixes(sources, shards, second_from, most)? else {
            return self.decide_by_sketches(sources, shards, deciding, most);
        };
        Ok(self.all_pairs(pairs, second_from))
    }

    /// Returns the result of a join by prefixes that has found all pairs, with the pairs in ascending order.
    fn all_pairs(&self, mut pairs: Vec<ClosePair>, second_from: Option<u32>) -> FoundPairs {
        self.context.threads().sort_by_key(&mut pairs, |pair| (pair.a, pair.b));
        for pair in &mut pairs {
            pair.b -= second_from.unwrap_or(0);
        }
        FoundPairs { pairs: pairs.into(), are_all: true }
    }

    /// Returns the number of pairs that a join by prefixes may find. They must fit in memory. If only some of
    /// them are needed, they must not take longer than to compare all sketches.
    #[expect(clippy::cast_sign_loss, reason = "no time is negative")]
    fn most_prefix_pairs(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        may_leave_out: bool,
    ) -> u64 {
        let fitting = self.memory_bytes.max(BYTES_OF_FEW_PAIRS) / size_of::<ClosePair>() as u64;
        if !may_leave_out || sources.is_weighted() {
            return fitting;
        }
        let timely = self.scan_nanoseconds(sources, shards) / NANOSECONDS_A_PREFIX_PAIR;
        fitting.min((timely as u64).max(MANY_PAIRS))
    }

    /// Finds only the pairs that decide which documents are kept, by sketches. A join by prefixes has found
    /// more than `most` pairs.
    ///
    /// # Errors
    /// All pairs are needed, the terms have weights, or there is not enough memory.
    fn decide_by_sketches(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        deciding: Option<&Deciding<'_>>,
        most: u64,
    ) -> Result<FoundPairs> {
        let bytes = sketches::planned_bytes(living_terms(shards), self.threshold);
        let Some(deciding) =
            deciding.filter(|_| bytes <= self.memory_bytes && !sources.is_weighted())
        else {
            return Err(self.too_many_pairs(most + 1));
        };
        self.context.progress().begin("sketch", Work::Bytes(sources.bytes()));
        let sketched = sketch_living(sources, shards, true, self)?;
        SketchJoin::new(self, sources, shards, sketched, None)?.deciding(deciding)
    }

    /// Returns the error for a number of pairs that does not fit in memory.
    fn too_many_pairs(&self, pairs: u64) -> Error {
        let rule = format!(
            "`max_memory` leaves {} bytes for them, which is too little, and there may be more. `pairs` and \
             matches need all of them; a higher `similarity` leaves fewer; the method simhash needs less memory",
            self.memory_bytes
        );
        Error::limit(format!("{pairs} pairs of near-duplicates"), rule)
    }

    fn rereading<'s>(&'s self, sources: &'s TermSources<'s>) -> Rereading<'s> {
        let table_bytes = self.memory_bytes / 2;
        Rereading { sources, threshold: self.threshold, table_bytes, context: self.context }
    }

    /// Returns the number of terms for which there is memory in a join by prefixes.
    fn fitting(&self) -> u64 {
        (self.memory_bytes / BYTES_PER_TERM).min(MOST_TERMS)
    }
}

/// The pairs that a join has found.
struct FoundPairs {
    pairs: ClosePairs,
    /// Whether these are all pairs. If not, they are the pairs that decide which documents are
    /// kept.
    are_all: bool,
}

/// Returns the part of an error message that says how much more memory is enough. `left` is the
/// number of bytes that the rest of the run leaves for the join, and `enough` is the number that it
/// needs.
fn enough_more(enough: u64, left: u64) -> String {
    format!("{}M more is enough", enough.saturating_sub(left).div_ceil(1_000_000))
}

/// Returns the number of terms of all documents that may still have a similar one. Repeated terms
/// count.
fn living_terms(shards: &[JoinShard]) -> u64 {
    shards.iter().map(JoinShard::living_terms).sum()
}
