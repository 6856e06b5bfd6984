//! The join by sketches of documents that share many terms without being similar, such as the pages of one
//! template with texts of their own.
//!
//! The sketches of such documents are similar because of the terms of the template. Every two documents would be
//! compared term by term. Therefore the terms are counted. A term that only one document has is a difference in every
//! pair of this document. Sketches of the other terms, together with the numbers of these differences, show which pairs
//! can be similar. Counting takes two more readings.
//!
//! Before that, a join by prefixes is tried. It is faster if the documents share far fewer terms than similar documents
//! must share.

use super::prune::{JoinShard, living_terms};
use super::set_join::{FoundPairs, SetJoin};
use super::sketch_join::{Deciding, FewCandidates, SketchJoin};
use super::sketch_levels;
use super::sketching::Sketching;
use super::survivors::sketch_counted;
use super::term_source::TermSources;
use simtool_base::error::Result;
use simtool_base::progress::Work;

/// If there are more than this many candidates per document, terms are counted before candidates are compared. A
/// candidate is a pair of documents with similar sketches. The documents of most collections have fewer candidates.
const FEW_CANDIDATES: u64 = if cfg!(test) { 2 } else { 64 };
/// If comparing all sketches takes no longer than counting terms, and finds at most this many candidates, terms are not
/// counted. Comparing the terms of the candidates takes less than a second.
const LEAST_CANDIDATES: u64 = if cfg!(test) { 8 } else { 1 << 19 };
/// If a sample shows too many candidates, and more than this fraction of them are similar, terms are not counted. Most
/// of the candidates would remain after counting.
const MOST_ARE_SIMILAR: f64 = 0.5;
/// Number of copies of the pairs that are in memory while the result of a join by prefixes is put together.
const COPIES_OF_PAIRS: u64 = 3;
/// Nanoseconds of a core for each term that is read, counted, read again and sketched.
const NANOSECONDS_A_COUNTED_TERM: f64 = 200.0;

impl SetJoin<'_> {
    /// Returns the similar pairs of the documents of `sketched`, in ascending order. If too many sketches are similar,
    /// or comparing them may take too long, first counts the terms and makes new sketches. In a join of two
    /// collections, the rows of the second begin at `second_from`. If there are too many pairs, `deciding` finds only
    /// the pairs that decide which documents are kept.
    pub(super) fn join_by_sketches(
        &self,
        sources: &TermSources<'_>,
        shards: &[JoinShard],
        sketched: Vec<Sketching>,
        second_from: Option<u32>,
        deciding: Option<&Deciding<'_>>,
    ) -> Result<FoundPairs> {
        let join = SketchJoin::new(self, sources, shards, sketched, second_from);
        let all = join.all()?;
        let few = (FEW_CANDIDATES * join.sketches.len() as u64).max(LEAST_CANDIDATES);
        let most = if deciding.is_some() { join.most_to_decide() } else { u64::MAX };
        if let (Some(deciding), Some(sample)) = (deciding, all.sample()?) {
            // If most sketches are similar because their sets are, other sketches do not help.
            if sample.has_more_than(most) && sample.similar_share > MOST_ARE_SIMILAR {
                drop(all);
                return join.deciding(deciding);
            }
        }
        // The first reading may have counted the terms already.
        let is_counted = join.sketches.are_counted();
        let longest = self.nanoseconds(sources, shards, sketch_levels::longest_nanoseconds);
        // Comparing all sketches may take longer than counting the terms.
        let is_timely =
            is_counted || longest <= living_terms(shards) as f64 * NANOSECONDS_A_COUNTED_TERM;
        let few = if is_timely {
            join.pairs_if_few(&all, few.min(most))?
        } else {
            FewCandidates::TooMany
        };
        match few {
            FewCandidates::Compared(pairs) => return Ok(pairs),
            FewCandidates::InParts => return join.pairs(all, deciding),
            FewCandidates::TooMany if is_counted => return join.pairs(all, deciding),
            FewCandidates::TooMany => drop(all),
        }
        drop(join);
        // Similar documents share one of their rarest terms. If few other documents have these terms, the quickest way
        // is to look the terms up in an index.
        let fitting = Self { memory_bytes: self.memory_bytes / COPIES_OF_PAIRS, ..*self };
        let most = fitting.most_prefix_pairs(sources, shards, deciding.is_some());
        let found = self.join_by_few_postings(sources, shards, second_from, most, longest)?;
        if let Some(pairs) = found {
            return Ok(self.all_pairs(pairs, second_from));
        }
        let cells = self.rereading(sources).counted(shards)?;
        self.context.progress().begin("sketch", Work::Bytes(sources.bytes()));
        let sketched = sketch_counted(sources, shards, &cells, self)?;
        drop(cells);
        let join = SketchJoin::new(self, sources, shards, sketched, second_from);
        join.pairs(join.all()?, deciding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TermSource;
    use crate::term_source::Wanted;
    use simtool_base::progress::Progress;
    use simtool_base::stable_hash::mix;
    use simtool_compute::context::Context;
    use simtool_model::similarity::Threshold;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Documents that share `common` terms, and have `own` terms of their own.
    struct Pages {
        documents: u64,
        common: u64,
        own: u64,
    }

    impl TermSource for Pages {
        fn shard_count(&self) -> usize {
            1
        }

        fn term_count_hint(&self) -> u64 {
            self.documents * (self.common + self.own)
        }

        fn visit_shard(
            &self,
            _shard: usize,
            wanted: Wanted<'_>,
            visit: &mut dyn FnMut(u32, &[u64]),
        ) -> Result<()> {
            for number in (0..self.documents as u32).filter(|&number| wanted.has(number)) {
                let own = (0..self.own).map(|term| mix(u64::from(number + 1) << 32 | term));
                let terms: Vec<u64> = (0..self.common).map(mix).chain(own).collect();
                visit(number, &terms);
            }
            Ok(())
        }
    }

    /// Counts the pairs of documents that are compared term by term.
    #[derive(Default)]
    struct Candidates(AtomicU64);

    impl Progress for Candidates {
        fn begin(&self, _: &'static str, _: Work) {}
        fn advance(&self, _: u64) {}

        fn counted(&self, what: &'static str, count: u64) {
            if what == "candidates" {
                self.0.fetch_add(count, Ordering::Relaxed);
            }
        }
    }

    /// Returns the number of similar pairs, and the number of pairs that were compared term by term.
    fn joined(pages: &Pages, threshold: Threshold) -> (usize, u64) {
        let compared = Candidates::default();
        let context = Context::default().with_progress(&compared);
        let close = SetJoin::new(threshold, &context).self_join(pages).unwrap();
        (close.pairs.len(), compared.0.into_inner())
    }

    #[test]
    fn pages_of_a_template_below_the_limit_are_not_compared() {
        let threshold = Threshold::new(85, 100).unwrap();
        // Every two of these sets have the similarity 180 / 220 or 190 / 210.
        let below = Pages { documents: 400, common: 180, own: 20 };
        assert_eq!(joined(&below, threshold), (0, 0));
        let above = Pages { documents: 100, common: 190, own: 10 };
        assert_eq!(joined(&above, threshold).0, 100 * 99 / 2);
    }
}
