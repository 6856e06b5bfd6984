//! The join by sketches. Each document has a sketch of some bits. If the sketches of two documents
//! are similar, their terms are read again and compared.

use super::compare_terms::TermComparison;
use super::kept_pairs::many_pairs;
use super::pair_filter::JoinFilter;
use super::pair_order::{Candidate, PAIRS, in_order};
use super::pair_sample::PairSample;
use super::prune::{self, JoinShard};
use super::set_join::{BYTES_OF_FEW_PAIRS, FoundPairs, SetJoin};
use super::sketches::{Sketches, SomeSets};
use super::sketching::Sketching;
use super::term_source::TermSources;
use super::window_scan::{CandidateSets, ScanPlan, WindowScan, near_pairs};
use crate::close::{ClosePairs, SetPair};
use simtool_base::error::Result;
use simtool_base::large_buffer::{LargeBuffer, filled};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use std::cell::OnceCell;

/// Bytes of memory for each term of documents that are compared term by term. These are the term, and
/// its number in a hash table that doubles its size when it grows.
pub(super) const BYTES_PER_COMPARED_TERM: u64 = 32;

/// Bytes of memory for a candidate while its terms are compared. A candidate is a pair with similar sketches. It is
/// stored twice while candidates are sorted, and once more with its group while batches are made. If the two documents
/// are similar, their pair is stored twice while similar pairs are sorted.
const BYTES_PER_CANDIDATE: u64 = 64;

/// Bytes of memory for a similar pair, which exists twice while all pairs are sorted.
const BYTES_PER_PAIR: u64 = 2 * size_of::<SetPair>() as u64;

/// Callback that receives similar pairs, and a list with the number of distinct terms of each document
/// by row number. It returns the number of pairs that it keeps in memory.
pub(super) type Found<'f> = dyn FnMut(LargeBuffer<SetPair>, &[u32]) -> Result<u64> + 'f;

/// Function that finds only the pairs that decide which documents are kept. Its arguments are the
/// join, the number of pairs that fit in memory, and a slice that receives the number of distinct
/// terms of each document.
pub(super) type Deciding<'f> =
    dyn Fn(&SketchJoin<'_>, u64, &mut [u32]) -> Result<LargeBuffer<SetPair>> + 'f;

/// Pairs of documents with similar sketches.
enum NearPairs {
    /// The lists together have all pairs with similar sketches.
    All(Vec<Vec<Candidate>>),
    /// The pairs do not fit in memory at once, so they must be found again in parts.
    InParts,
    /// There are so many pairs that only some should be found.
    TooMany,
}

/// Result of [`SketchJoin::pairs_if_few`]. This search ends early if there are more candidates than its limit. A
/// candidate is a pair with similar sketches.
pub(super) enum FewCandidates {
    /// All candidates were compared, and these are the similar pairs.
    Compared(FoundPairs),
    /// There are not more candidates than the limit, but they may not fit in memory together.
    InParts,
    /// There are more candidates than the limit.
    TooMany,
}

/// The input for comparing documents first by their sketches and then by their terms.
pub(super) struct SketchJoin<'a> {
    pub(super) join: &'a SetJoin<'a>,
    sources: &'a TermSources<'a>,
    shards: &'a [JoinShard],
    /// The sketches of the first collection.
    pub(super) sketches: Sketches,
    /// First row number of the second collection, and its sketches. `None` if there is only one
    /// collection.
    second: Option<(u32, Sketches)>,
    /// Number of bytes of memory that candidate pairs, the terms of their documents and similar pairs
    /// may take.
    memory: u64,
}

/// Scans that together compare the sketches of every two documents that may form a pair.
pub(super) struct AllScans<'s> {
    pub(super) scans: Vec<WindowScan<'s>>,
    /// Result of [`Self::sample`]. Empty until that function is called for the first time.
    sampled: OnceCell<Option<PairSample>>,
}

impl AllScans<'_> {
    /// Compares a sample of the documents with all others, if this is much less work than comparing all.
    ///
    /// # Errors
    /// The work is cancelled.
    pub(super) fn sample(&self) -> Result<Option<PairSample>> {
        if let Some(&sampled) = self.sampled.get() {
            return Ok(sampled);
        }
        let sampled = match self.scans.as_slice() {
            [scan] => PairSample::of(scan)?,
            _ => None,
        };
        Ok(*self.sampled.get_or_init(|| sampled))
    }
}

impl<'a> SketchJoin<'a> {
    /// Creates the join from `sketched`, and sorts these sketches. In a join of two collections, the
    /// rows of the second begin at `second_from`.
    pub(super) fn new(
        join: &'a SetJoin<'a>,
        sources: &'a TermSources<'a>,
        shards: &'a [JoinShard],
        sketched: Vec<Sketching>,
        second_from: Option<u32>,
    ) -> Self {
        join.context.progress().begin("compare sketches", Work::Steps(0));
        let (sketches, second) = Sketches::sorted(sketched, second_from, join.threshold);
        let left = join.memory_bytes.saturating_sub(sketches.compared_bytes);
        let memory = left.max(join.memory_bytes / 4);
        Self { join, sources, shards, sketches, second: second_from.zip(second), memory }
    }

    /// Returns all similar pairs in ascending order. `all` compares all documents. If `deciding` is given, and the
    /// pairs may not fit in memory or take too long, returns only the pairs that `deciding` finds.
    ///
    /// # Errors
    /// The source or `deciding` fails, there are too many pairs, or there is not enough memory.
    pub(super) fn pairs(
        &self,
        all: AllScans<'_>,
        deciding: Option<&Deciding<'_>>,
    ) -> Result<FoundPairs> {
        let mut sizes = filled(0, prune::end_row(self.shards) as usize, PAIRS)?;
        let mut similar = Vec::new();
        let mut count = 0;
        let most = self.most_pairs();
        let mut found = |pairs: LargeBuffer<SetPair>, _: &[u32]| {
            count += pairs.len() as u64;
            similar.push(pairs);
            if count > most { Err(self.join.too_many_pairs(count)) } else { Ok(count) }
        };
        let near = match deciding {
            Some(_) => self.near_if_few(&all, self.most_to_decide())?,
            None => NearPairs::InParts,
        };
        match (near, deciding) {
            (NearPairs::TooMany, Some(deciding)) => {
                // The rows or the index of all documents take memory.
                drop(all);
                return self.deciding(deciding);
            }
            (NearPairs::All(near), _) => {
                found(self.similar(near, 0, &mut sizes)?, &[])?;
            }
            _ => self.visit(&all.scans, &mut sizes, &mut found)?,
        }
        let pairs = match similar.len() {
            1 => similar.swap_remove(0),
            _ => in_order(&similar, self.context())?,
        };
        Ok(self.all_pairs(pairs, sizes))
    }

    /// Returns all similar pairs in ascending order, if there are at most `most` candidates and they fit in
    /// memory. `all` compares all documents.
    ///
    /// # Errors
    /// The source fails, there are too many pairs, or there is not enough memory.
    pub(super) fn pairs_if_few(&self, all: &AllScans<'_>, most: u64) -> Result<FewCandidates> {
        let near = match self.near_if_few(all, most)? {
            NearPairs::All(near) => near,
            NearPairs::InParts => return Ok(FewCandidates::InParts),
            NearPairs::TooMany => return Ok(FewCandidates::TooMany),
        };
        let mut sizes = filled(0, prune::end_row(self.shards) as usize, PAIRS)?;
        let pairs = self.similar(near, 0, &mut sizes)?;
        let count = pairs.len() as u64;
        if count > self.most_pairs() {
            return Err(self.join.too_many_pairs(count));
        }
        Ok(FewCandidates::Compared(self.all_pairs(pairs, sizes)))
    }

    /// Returns the result of a join that has found all pairs. `sizes` has the number of distinct terms of each
    /// document of a pair, by row number.
    fn all_pairs(&self, mut pairs: LargeBuffer<SetPair>, sizes: Vec<u32>) -> FoundPairs {
        let second_from = self.second.as_ref().map_or(0, |(from, _)| *from);
        if second_from > 0 {
            for pair in &mut *pairs {
                pair.b -= second_from;
            }
        }
        let pairs = ClosePairs::of_sets(pairs, sizes, second_from, self.join.threshold);
        FoundPairs { pairs, are_all: true }
    }

    /// Returns the pairs that `deciding` finds.
    ///
    /// # Errors
    /// `deciding` fails, or there is not enough memory.
    pub(super) fn deciding(&self, deciding: &Deciding<'_>) -> Result<FoundPairs> {
        let mut sizes = filled(0, prune::end_row(self.shards) as usize, PAIRS)?;
        let pairs = deciding(self, self.most_pairs(), &mut sizes)?;
        let pairs = ClosePairs::of_sets(pairs, sizes, 0, self.join.threshold);
        Ok(FoundPairs { pairs, are_all: false })
    }

    /// Finds the similar pairs of `scans`, and calls `found` with one part of the pairs after the
    /// other. Within a part, pairs are in ascending order. Writes the number of distinct terms of each
    /// compared document to `sizes`, by row number.
    ///
    /// # Errors
    /// The source or `found` fails, or there is not enough memory.
    pub(super) fn visit(
        &self,
        scans: &[WindowScan<'_>],
        sizes: &mut [u32],
        found: &mut Found<'_>,
    ) -> Result<()> {
        let mut held = 0;
        near_pairs(scans, self.most_candidates(), &mut |near| {
            held = found(self.similar(near, held, sizes)?, sizes)?;
            Ok(())
        })
    }

    /// Compares candidates term by term, and returns the similar pairs in ascending order. The caller
    /// holds `held` similar pairs in memory. Writes the number of distinct terms of each compared
    /// document to `sizes`, by row number.
    ///
    /// # Errors
    /// The source fails, or there is not enough memory.
    fn similar(
        &self,
        near: Vec<Vec<Candidate>>,
        held: u64,
        sizes: &mut [u32],
    ) -> Result<LargeBuffer<SetPair>> {
        let candidates = in_order(&near, self.context())?;
        drop(near);
        // Pairs that the caller holds take memory from the comparison, but never all of it.
        let left = self.memory.saturating_sub(held * BYTES_PER_PAIR).max(self.memory / 4);
        let comparison = TermComparison {
            sources: self.sources,
            shards: self.shards,
            threshold: self.join.threshold,
            fitting: left / 4 * 3 / BYTES_PER_COMPARED_TERM,
            context: self.join.context,
        };
        comparison.similar(candidates, sizes)
    }

    /// Compares the sketches, and returns the pairs of documents with similar sketches if there are at most `most`.
    /// Ends early if there are more. No document is read, so the caller can choose another method before it spends time
    /// on comparing terms.
    ///
    /// # Errors
    /// The work is cancelled.
    fn near_if_few(&self, all: &AllScans<'_>, most: u64) -> Result<NearPairs> {
        if all.sample()?.is_some_and(|sample| sample.has_more_than(most)) {
            return Ok(NearPairs::TooMany);
        }
        let mut first = None;
        let mut parts = 0;
        let mut count = 0;
        let scanned = near_pairs(&all.scans, self.most_candidates().min(most), &mut |near| {
            count += near.iter().map(|pairs| pairs.len() as u64).sum::<u64>();
            parts += 1;
            // Only a single part is kept, because a part may take all memory for candidates.
            first = (parts == 1).then_some(near);
            if count > most { Err(self.join.too_many_pairs(count)) } else { Ok(()) }
        });
        // The error only ended the scan.
        if count > most {
            return Ok(NearPairs::TooMany);
        }
        scanned?;
        Ok(first.map_or(NearPairs::InParts, NearPairs::All))
    }

    /// Returns the number of candidates that fit in memory while they are compared.
    fn most_candidates(&self) -> u64 {
        self.memory / 4 / BYTES_PER_CANDIDATE
    }

    /// Returns the closeness of the two sets of a pair. `sizes` has the number of distinct terms of each
    /// document, by row number.
    pub(super) fn closeness(&self, pair: &SetPair, sizes: &[u32]) -> Closeness {
        let sizes = [pair.a, pair.b].map(|row| sizes[row as usize]);
        let similarity = pair.similarity(sizes, self.join.threshold);
        match self.join.filter.and_then(|filter| filter.distance(pair.a, pair.b)) {
            Some(distance) => Closeness::Verified(similarity, distance),
            None => Closeness::Similarity(similarity),
        }
    }

    /// Returns the filter of the join for the row numbers of both collections.
    fn filter(&self) -> JoinFilter<'a> {
        let second_from = self.second.as_ref().map_or(0, |(from, _)| *from);
        JoinFilter { filter: self.join.filter, second_from }
    }

    /// Returns two scans that together compare each of `first` with each of `second`. They must be disjoint.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn across<'s>(
        &self,
        first: SomeSets<'s>,
        second: SomeSets<'s>,
    ) -> Result<[WindowScan<'s>; 2]>
    where
        'a: 's,
    {
        let [others, sets] = [first.clone(), second.clone()];
        Ok([
            WindowScan::new(first, second, CandidateSets::NotLarger, self.plan())?,
            WindowScan::new(sets, others, CandidateSets::Smaller, self.plan())?,
        ])
    }

    /// Returns the settings of the scans of this join: its threshold, filter and context.
    pub(super) fn plan(&self) -> ScanPlan<'a> {
        let SetJoin { threshold, context, .. } = *self.join;
        ScanPlan { threshold, filter: self.filter(), context }
    }

    /// Returns the comparison of all documents that may form pairs.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn all(&self) -> Result<AllScans<'_>> {
        let scans = match &self.second {
            Some((_, second)) => self.across(self.sketches.all(), second.all())?.into(),
            None => vec![WindowScan::of_all(&self.sketches, self.plan())?],
        };
        Ok(AllScans { scans, sampled: OnceCell::new() })
    }

    /// Returns the scans that compare the documents of this join with those of `other`. The two joins have
    /// no document in common.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn scans_with<'s>(&'s self, other: &'s Self) -> Result<Vec<WindowScan<'s>>> {
        let (Some((_, second)), Some((_, other_second))) = (&self.second, &other.second) else {
            return Ok(self.across(self.sketches.all(), other.sketches.all())?.into());
        };
        let mut scans = Vec::new();
        for (first, second) in [(&self.sketches, other_second), (&other.sketches, second)] {
            scans.extend(self.across(first.all(), second.all())?);
        }
        Ok(scans)
    }

    /// Returns the number of candidates above which only the pairs are found that decide which documents are kept.
    pub(super) fn most_to_decide(&self) -> u64 {
        self.most_pairs().min(many_pairs(self.sketches.len() as u64))
    }

    /// Returns the number of similar pairs that fit in memory.
    pub(super) fn most_pairs(&self) -> u64 {
        (self.memory / 4 * 3).max(BYTES_OF_FEW_PAIRS) / BYTES_PER_PAIR
    }

    pub(super) fn context(&self) -> &'a Context<'a> {
        self.join.context
    }
}
