//! Finds pairs of sets with similar sketches. Each set is compared with all sets of suitable size,
//! in tiles that fit into a cache, or with those that an index of prefixes names.
//!
//! With tiles, the time is quadratic, but a pair costs only about a nanosecond. Looking up terms in an index
//! would cost that much for each term of a set. Up to some hundred thousand sets, nothing is
//! faster. And the time does not depend on how common the terms are.

use super::pair_filter::JoinFilter;
use super::pair_order::Candidate;
use super::prefix_postings::{FoundSets, PrefixPostings};
use super::sketch_levels::{ComparedRow, SketchLevel, compare_rows, estimated_nanoseconds};
use super::sketch_rows::{FoldedRow, difference_of, words_of};
use super::sketches::{Sketches, SomeSets};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_kernels::prefetch;
use simtool_kernels::row_bits::differing_bits;
use simtool_model::similarity::Threshold;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of sets that a worker thread compares together. It compares all of them with one tile of
/// candidates before it goes on to the next tile.
pub(super) const BLOCK: usize = 64;
/// Maximum number of sets in a part. After each part, the pairs of its sets are passed to the caller. All threads share
/// the work on a part.
const PART_SETS: usize = 256 * BLOCK;
/// If a part has too many pairs, the next attempt takes 1/`FEWER` of its sets.
const FEWER: usize = 4;
/// If a part had less than 1/`FEW_PAIRS` of the pairs that a part may have, the next part is twice as
/// large.
const FEW_PAIRS: u64 = 8;
/// If comparing all rows takes a core less than this many nanoseconds, no index of prefixes is tried.
const LEAST_NANOSECONDS: f64 = if cfg!(test) { 0.0 } else { 1e7 };

/// Number of candidates by which rows of bits are loaded ahead of their use.
const AHEAD: usize = 4;

/// Rule for the candidates of a set, which are the sets with which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateSets {
    /// All sets are in one list. The candidates of a set are the sets that come before it in the list.
    Earlier,
    /// The sets of one list are compared with the sets of a second list. The candidates of a set of the first list are
    /// the sets of the second list that have at most as many terms as the set.
    NotLarger,
    /// The sets of one list are compared with the sets of a second list. The candidates of a set of the first list are
    /// the sets of the second list that have fewer terms than the set.
    Smaller,
}

/// The comparison of some sets with others, by their sketches.
pub(super) struct WindowScan<'a> {
    pub(super) sets: SomeSets<'a>,
    /// The other sets, with which `sets` are compared. Sets that cannot be similar to a set of their size or a larger
    /// one are left out.
    candidates: SomeSets<'a>,
    /// Number of terms of each candidate.
    sizes: Vec<u32>,
    index: CandidateIndex,
    which: CandidateSets,
    pub(super) plan: ScanPlan<'a>,
}

/// The settings of a [`WindowScan`].
#[derive(Clone, Copy)]
pub(super) struct ScanPlan<'a> {
    pub(super) threshold: Threshold,
    /// Condition for the pairs, in addition to their similarity.
    pub(super) filter: JoinFilter<'a>,
    pub(super) context: &'a Context<'a>,
}

#[cfg(test)]
impl<'a> ScanPlan<'a> {
    /// Returns the settings of a scan of one collection without a filter.
    pub(super) fn new(threshold: Threshold, context: &'a Context<'a>) -> Self {
        Self { threshold, filter: JoinFilter { filter: None, second_from: 0 }, context }
    }
}

/// Data for finding the candidates of a set that have similar sketches.
enum CandidateIndex {
    /// Copies of the rows of all candidates, which are all compared.
    Rows(Vec<SketchLevel>),
    /// An index of the prefixes of all candidates. Only candidates that it finds are compared.
    Prefixes(PrefixPostings),
}

/// Buffers of a worker thread that compares sets.
#[derive(Default)]
pub(super) struct ScanScratch {
    hits: Vec<u64>,
    near: Vec<NearPair>,
    found: FoundSets,
    row: FoldedRow,
}

/// A pair of sets with similar sketches.
pub(super) struct NearPair {
    pair: Candidate,
    /// Index of the candidate in [`WindowScan::candidates`].
    candidate: usize,
    /// Number of bits in which the rows of bits of the two sets differ.
    difference: u32,
}

/// Counter of the pairs of a part. All threads that work on the part share it.
struct PairRoom {
    count: AtomicU64,
    most: u64,
}

impl PairRoom {
    fn new(most: u64) -> Self {
        Self { count: AtomicU64::new(0), most }
    }

    /// Counts `pairs` more pairs, and returns whether the part has room for all pairs so far.
    fn take(&self, pairs: usize) -> bool {
        if pairs > 0 {
            self.count.fetch_add(pairs as u64, Ordering::Relaxed);
        }
        !self.is_exceeded()
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether more pairs than the limit were counted for the part. When all threads have finished the part, the result
    /// does not depend on their timing.
    fn is_exceeded(&self) -> bool {
        self.count() > self.most
    }
}

impl<'a> WindowScan<'a> {
    /// Creates the comparison of `sets` with `others`. Makes an index of prefixes if this is faster than to compare all
    /// rows of bits.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn new(
        sets: SomeSets<'a>,
        others: SomeSets<'a>,
        which: CandidateSets,
        plan: ScanPlan<'a>,
    ) -> Result<Self> {
        let candidates = others.with_larger();
        let sizes = candidates.sizes();
        let ScanPlan { threshold, context, .. } = plan;
        let index = CandidateIndex::Rows(Vec::new());
        let mut scan = Self { sets, candidates, sizes, index, which, plan };
        scan.index = match scan.prefixes()? {
            Some(prefixes) => CandidateIndex::Prefixes(prefixes),
            None => CandidateIndex::Rows(SketchLevel::of(&scan.candidates, threshold, context)?),
        };
        Ok(scan)
    }

    /// Returns an index of the prefixes of all candidates, or `None` if looking up all sets in it takes longer than
    /// comparing all rows.
    fn prefixes(&self) -> Result<Option<PrefixPostings>> {
        let ScanPlan { threshold, context, .. } = self.plan;
        if !(self.sets.sketches.have_prefixes() && self.candidates.sketches.have_prefixes()) {
            return Ok(None);
        }
        let by_rows =
            estimated_nanoseconds(&self.sets.sizes(), &self.sizes, threshold, context.isa());
        if by_rows < LEAST_NANOSECONDS {
            return Ok(None);
        }
        let index = PrefixPostings::new(&self.candidates, context)?;
        let is_faster = |index: &PrefixPostings| {
            index.nanoseconds(&self.sets, |place| self.window(place)) < by_rows
        };
        Ok(index.filter(is_faster))
    }

    /// Returns the same comparison, with an index of prefixes or with copies of all rows.
    ///
    /// # Errors
    /// Not enough memory.
    #[cfg(test)]
    pub(super) fn with_index(self, of_prefixes: bool) -> Result<Self> {
        let ScanPlan { threshold, context, .. } = self.plan;
        let prefixes = PrefixPostings::new(&self.candidates, context)?;
        let index = match prefixes.filter(|_| of_prefixes) {
            Some(prefixes) => CandidateIndex::Prefixes(prefixes),
            None => CandidateIndex::Rows(SketchLevel::of(&self.candidates, threshold, context)?),
        };
        Ok(Self { index, ..self })
    }

    /// Creates a comparison of every two sketches.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn of_all(sketches: &'a Sketches, plan: ScanPlan<'a>) -> Result<Self> {
        Self::new(sketches.all(), sketches.all(), CandidateSets::Earlier, plan)
    }
}

impl WindowScan<'_> {
    /// Finds the pairs whose sketches are similar. This includes all pairs of similar sets. Calls
    /// `found` with one part of the pairs after the other. A part has at most `most` pairs, unless it
    /// has the pairs of a single set. The parts do not depend on the number of threads. Each pair has
    /// the smaller row number first. `found` returns true if it has begun a progress stage of its own.
    ///
    /// # Complexity
    /// O(pairs of sets whose sizes allow similarity × 64-bit words of their sketches).
    ///
    /// # Errors
    /// `found` fails, or the work is cancelled.
    pub(super) fn visit(
        &self,
        most: u64,
        found: &mut dyn FnMut(Vec<Vec<Candidate>>) -> Result<bool>,
    ) -> Result<()> {
        let mut rest = self.windows(0..self.sets.places.len());
        self.begin(rest);
        self.plan.context.progress().counted("rows", self.sets.places.len() as u64);
        self.plan.context.progress().counted("pairs", rest);
        // The largest sets cost the most, so they come first.
        let mut end = self.sets.places.len();
        let mut width = PART_SETS;
        while end > 0 {
            let part = end.saturating_sub(width)..end;
            let room = PairRoom::new(if part.len() == 1 { u64::MAX } else { most });
            let pairs = self.of_part(part.clone(), &room)?;
            if room.is_exceeded() {
                // The same sets come again in a smaller part, so their progress starts again.
                drop(pairs);
                width = part.len().div_ceil(FEWER);
                self.begin(rest);
                continue;
            }
            end = part.start;
            rest -= self.windows(part);
            if room.count() < most / FEW_PAIRS {
                width = (width * 2).min(PART_SETS);
            }
            if found(pairs)? && end > 0 {
                self.begin(rest);
            }
        }
        Ok(())
    }

    /// Begins the progress stage for comparing sketches. `rest` is the number of comparisons that remain.
    fn begin(&self, rest: u64) {
        self.plan.context.progress().begin("compare sketches", Work::Steps(rest));
    }

    /// Returns the number of candidates of some sets, which is the number of comparisons of sketches. `sets` are the
    /// indices of these sets in [`Self::sets`].
    fn windows(&self, sets: Range<usize>) -> u64 {
        self.sets.places[sets].iter().map(|&place| self.window(place).len() as u64).sum()
    }

    /// Returns the pairs of the sets in `part`, in one list for each block of sets. If `room` is exceeded, the result
    /// is not complete.
    fn of_part(&self, part: Range<usize>, room: &PairRoom) -> Result<Vec<Vec<Candidate>>> {
        self.plan.context.threads().try_map(
            part.len().div_ceil(BLOCK),
            || Ok(ScanScratch::default()),
            |scratch, block| {
                self.plan.context.check_cancelled()?;
                // The last block has the largest sets.
                let end = part.end - block * BLOCK;
                let sets = end.saturating_sub(BLOCK).max(part.start)..end;
                let found = self.of_block(sets.clone(), room, scratch);
                self.plan.context.progress().advance(self.windows(sets));
                Ok(found)
            },
        )
    }

    /// Returns the range of the candidates of the set at `place`. Candidates are sorted by
    /// size, and only some sizes allow similarity.
    fn window(&self, place: u32) -> Range<usize> {
        let sketches = self.sets.sketches;
        let size = sketches.sizes[place as usize];
        let sizes = &self.sizes;
        let mut end = match self.which {
            CandidateSets::Earlier => {
                self.candidates.places.partition_point(|&other| other < place)
            }
            CandidateSets::NotLarger => sizes.partition_point(|&other| other <= size),
            CandidateSets::Smaller => sizes.partition_point(|&other| other < size),
        };
        if !sketches.has_larger(place as usize) {
            let largest = sketches.most_size(place as usize);
            end = end.min(sizes.partition_point(|&other| other <= largest));
        }
        let smallest = self.plan.threshold.min_size(size);
        sizes[..end].partition_point(|&other| other < smallest)..end
    }

    /// Returns the place of a candidate among the sketches of its collection.
    fn place_of(&self, candidate: usize) -> usize {
        self.candidates.places[candidate] as usize
    }

    /// Returns the largest number of bits in which the rows of the set at `place` and a candidate differ if they are
    /// similar, or `None` if they cannot be similar.
    fn most_difference(&self, place: usize, candidate: usize) -> Option<u32> {
        let (sketches, other) = (self.sets.sketches, self.place_of(candidate));
        // All terms that only one set has are differences, and the rows do not show them.
        let unmatched = sketches.unmatched(place) + self.candidates.sketches.unmatched(other);
        let difference =
            self.plan.threshold.max_difference(sketches.sizes[place], self.sizes[candidate]);
        difference.checked_sub(unmatched)
    }

    /// Returns the pair of the set at `place` and a candidate, if they may be similar and pass the filter. `difference`
    /// is the number of bits in which their rows differ.
    fn pair(&self, place: usize, candidate: usize, difference: u32) -> Option<NearPair> {
        // The limit of a group is the largest of its sets. The limit of this pair may be lower.
        if self.most_difference(place, candidate)? < difference {
            return None;
        }
        let other = self.candidates.sketches.documents[self.place_of(candidate)];
        let rows = [self.sets.sketches.documents[place], other];
        let pair = [rows[0].min(rows[1]), rows[0].max(rows[1])];
        let is_taken = self.plan.filter.takes(pair[0], pair[1]);
        is_taken.then_some(NearPair { pair, candidate, difference })
    }

    /// Returns whether the two sets of the pair `near` are probably similar, by the number of bits in which their rows
    /// differ. `place` is the index of the set whose candidate is in `near`.
    pub(super) fn is_probably_similar(&self, place: usize, near: &NearPair) -> bool {
        let bits = words_of(self.sizes[near.candidate], self.plan.threshold) * 64;
        let most = self.most_difference(place, near.candidate);
        most.is_some_and(|most| difference_of(near.difference, bits) <= f64::from(most))
    }

    /// Returns the pairs of the sets in `block`. If `room` is exceeded, the result is not complete.
    fn of_block(
        &self,
        block: Range<usize>,
        room: &PairRoom,
        scratch: &mut ScanScratch,
    ) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut counted = 0;
        let has_room = self.near(&self.sets.places[block], scratch, &mut |_, near| {
            found.extend(near.iter().map(|near| near.pair));
            let more = found.len() - counted;
            counted = found.len();
            room.take(more)
        });
        if !has_room {
            return Vec::new();
        }
        // A growing vector has room for up to twice as many pairs.
        found.shrink_to_fit();
        found
    }

    /// Compares the sets at `places` with their candidates. Calls `found` with the index of a set in `places` and some
    /// of its pairs. Ends early and returns false if `found` returns false.
    pub(super) fn near(
        &self,
        places: &[u32],
        scratch: &mut ScanScratch,
        found: &mut dyn FnMut(usize, &[NearPair]) -> bool,
    ) -> bool {
        match &self.index {
            CandidateIndex::Rows(levels) => self.near_rows(levels, places, scratch, found),
            CandidateIndex::Prefixes(index) => self.near_prefixes(index, places, scratch, found),
        }
    }

    /// Compares the sets at `places` with the candidates that `index` finds by their prefixes. Calls `found` with the
    /// index of a set in `places` and its pairs. Ends early and returns false if `found` returns false.
    fn near_prefixes(
        &self,
        index: &PrefixPostings,
        places: &[u32],
        scratch: &mut ScanScratch,
        found: &mut dyn FnMut(usize, &[NearPair]) -> bool,
    ) -> bool {
        let ScanScratch { near, found: sets, row, .. } = scratch;
        for (number, &place) in places.iter().enumerate() {
            let (place, window) = (place as usize, self.window(place));
            if window.is_empty() {
                continue;
            }
            near.clear();
            row.replace(self.sets.sketches.row(place));
            let found_sets = index.look_up(self.sets.sketches.prefix(place), &window, sets);
            let later = |at: usize| found_sets.get(at).map(|&candidate| candidate as usize);
            for (at, &candidate) in found_sets.iter().enumerate() {
                // The rows are far apart in memory, so those of the next candidates are loaded ahead.
                if let Some(later) = later(at + 3 * AHEAD) {
                    prefetch(&self.candidates.places, later);
                }
                if let Some(later) = later(at + 2 * AHEAD) {
                    self.candidates.sketches.prefetch(self.place_of(later));
                }
                if let Some(later) = later(at + AHEAD) {
                    self.candidates.sketches.prefetch_row(self.place_of(later));
                }
                let candidate = candidate as usize;
                if self.most_difference(place, candidate).is_none() {
                    continue;
                }
                let other = self.candidates.sketches.row(self.place_of(candidate));
                let isa = self.plan.context.isa();
                let difference = differing_bits(isa, row.of_words(other.len()), other);
                near.extend(self.pair(place, candidate, difference as u32));
            }
            if !near.is_empty() && !found(number, near) {
                return false;
            }
        }
        true
    }

    /// Compares the sets at `places` with their candidates, whose rows were copied to `levels`. Calls `found` with the
    /// index of a set in `places` and some of its pairs. Ends early and returns false if `found` returns false.
    fn near_rows(
        &self,
        levels: &[SketchLevel],
        places: &[u32],
        scratch: &mut ScanScratch,
        found: &mut dyn FnMut(usize, &[NearPair]) -> bool,
    ) -> bool {
        let sketches = self.sets.sketches;
        let compared = places.iter().map(|&place| {
            let mut row = FoldedRow::default();
            row.replace(sketches.row(place as usize));
            let own_limit = sketches.own_limit(place as usize);
            ComparedRow { window: self.window(place), own_limit, row }
        });
        let compared: Vec<ComparedRow> = compared.collect();
        let ScanScratch { hits, near, .. } = scratch;
        let isa = self.plan.context.isa();
        compare_rows(levels, &compared, isa, hits, &mut |number, hits| {
            let place = places[number] as usize;
            near.clear();
            near.extend(hits.iter().filter_map(|&hit| {
                let (candidate, difference) = ((hit >> 32) as usize, hit as u32);
                self.pair(place, candidate, difference)
            }));
            near.is_empty() || found(number, near)
        })
    }
}

/// Finds the pairs of all scans. Calls `found` with at most `most` pairs at a
/// time, unless a single document has more pairs.
pub(super) fn near_pairs(
    scans: &[WindowScan<'_>],
    most: u64,
    found: &mut dyn FnMut(Vec<Vec<Candidate>>) -> Result<()>,
) -> Result<()> {
    let mut held = Vec::new();
    let mut count = 0;
    for scan in scans {
        // Up to half of `most` pairs are held when the next part comes.
        scan.visit(most / 2, &mut |pairs| {
            count += pairs.iter().map(|pairs| pairs.len() as u64).sum::<u64>();
            held.extend(pairs);
            let are_many = count > most / 2;
            if are_many {
                count = 0;
                found(std::mem::take(&mut held))?;
            }
            Ok(are_many)
        })?;
    }
    found(held)
}
