//! Finds the similar pairs: drops documents without a similar one, and joins the others by sketches
//! or by prefixes.

use super::close::{Close, ClosePair, ClosePairs};
use super::kept_pairs::{MANY_PAIRS, Turns, deciding_pairs};
use super::prune::{self, JoinShard, living_terms};
use super::reread::Rereading;
use super::set_join::{BYTES_OF_FEW_PAIRS, FoundPairs, KeptChoice, SetJoin};
use super::sketch_join::{Deciding, SketchJoin};
use super::sketch_pairs::SketchPairs;
use super::sketch_rows;
use super::survivors::{Survivors, sketch_living};
use super::term_source::{TermSource, TermSources};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_model::closeness::Closeness;
use simtool_model::groups::Groups;
use simtool_model::sides::Sides;
use simtool_model::similarity::Similarity;

/// Nanoseconds of a core for each pair that a join by prefixes finds, if documents share most terms. Each
/// pair is then compared in full.
const NANOSECONDS_A_PREFIX_PAIR: f64 = 400.0;

impl SetJoin<'_> {
    /// Returns all pairs of documents of `source` that are similar enough, and all groups of equal
    /// documents. A document without terms is similar to no other.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory. If so little memory is allowed that
    /// hundreds of readings would be necessary, the join fails as soon as that is known.
    ///
    /// # Complexity
    ///
    /// O(terms) time for counting and sketching. Counting drops documents that cannot have a similar one. Comparing the
    /// remaining documents is quadratic in the number of documents of similar size, at about a nanosecond a pair. If
    /// that would take too long, only documents that share one of their rarest terms are compared, and the time is
    /// quadratic in their number. Memory: about 4 bytes per term, and 1 or 30 bytes per term of the documents that were
    /// not dropped.
    pub fn self_join(&self, source: &dyn TermSource) -> Result<Close> {
        self.joined(source, None)
    }

    /// Joins a source with itself like [`Self::self_join`], but returns only some pairs if there are many millions, or
    /// if the pairs do not fit in memory. These pairs are enough for two decisions: which documents are kept according
    /// to `choice`, and which kept document causes the removal of each other document.
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

    /// Returns all similar pairs of a document of `queries` and a document of `corpus`. They are sorted by the row in
    /// `queries`, and pairs with the same row in `queries` by the row in `corpus`.
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

    /// Creates the result of a join from its groups of equal documents and its pairs. Adds the distance of each pair if
    /// the filter measures distances.
    fn closed(&self, groups: Sides<Groups>, pairs: ClosePairs) -> Close {
        let measuring = self.filter.filter(|filter| filter.has_distances());
        let Some(filter) = measuring else { return Close::sets(groups, pairs) };
        // Every pair has passed the filter, so it has a distance.
        let pairs = pairs.with_distances(|a, b| filter.distance(a, b).unwrap_or(0));
        let of_equal = Closeness::Verified(Similarity::ONE, 0);
        Close { of_equal, ..Close::sets(groups, pairs) }
    }

    /// Returns the similar pairs of the documents in `survivors`, in ascending order. If there are too many pairs and
    /// `deciding` is given, may return only the pairs that `deciding` finds. These pairs decide which documents are
    /// kept.
    pub(super) fn join(
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
            self.join_by_sketches(sources, &shards, sketches, second_from, deciding)?
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

    /// Returns the similar pairs that a join by prefixes finds, in ascending order. Prefixes are the rarest terms of
    /// each document. If there are too many pairs and `deciding` is given, returns only the pairs that `deciding`
    /// finds, which decide which documents are kept.
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

    /// Creates the result of a join that has found all pairs, and sorts the pairs. In a join of two collections, the
    /// second row of each pair is a number from `second_from` on. It becomes a row number of the second collection,
    /// from 0 on.
    pub(super) fn all_pairs(
        &self,
        mut pairs: Vec<ClosePair>,
        second_from: Option<u32>,
    ) -> FoundPairs {
        self.context.threads().sort_by_key(&mut pairs, |pair| (pair.a, pair.b));
        for pair in &mut pairs {
            pair.b -= second_from.unwrap_or(0);
        }
        FoundPairs { pairs: pairs.into(), are_all: true }
    }

    /// Returns the maximum number of pairs that a join by prefixes may find. They must fit in memory. If
    /// `may_leave_out` is true, finding them must also not take longer than comparing all sketches.
    #[expect(clippy::cast_sign_loss, reason = "no time is negative")]
    pub(super) fn most_prefix_pairs(
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

    /// Finds only the pairs that decide which documents are kept, by comparing sketches. This is called after a join by
    /// prefixes has found more than `most` pairs, which are too many.
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
        let bytes = sketch_rows::planned_bytes(living_terms(shards), self.threshold);
        let Some(deciding) =
            deciding.filter(|_| bytes <= self.memory_bytes && !sources.is_weighted())
        else {
            return Err(self.too_many_pairs(most + 1));
        };
        self.context.progress().begin("sketch", Work::Bytes(sources.bytes()));
        let sketched = sketch_living(sources, shards, true, self)?;
        SketchJoin::new(self, sources, shards, sketched, None).deciding(deciding)
    }

    pub(super) fn rereading<'s>(&'s self, sources: &'s TermSources<'s>) -> Rereading<'s> {
        let table_bytes = self.memory_bytes / 2;
        Rereading { sources, threshold: self.threshold, table_bytes, context: self.context }
    }
}
