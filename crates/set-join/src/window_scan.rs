//! Finds pairs of sets with similar sketches. Each set is compared with all sets of suitable size,
//! in tiles that fit into a cache.
//!
//! The time is quadratic, but a pair costs only about a nanosecond. Looking up terms in an index
//! would cost that much for each term of a set. Up to some hundred thousand sets, nothing is
//! faster. And the time does not depend on how common the terms are.

use super::pair_filter::JoinFilter;
use super::pair_order::Candidate;
use super::sketch_rows::{difference_of, fold, words_of};
use super::sketches::{SketchLevel, Sketches};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_kernels::hamming_groups::{GROUP, GroupSearch, near_in_groups};
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
/// Number of 64-bit words in a tile. A tile has the rows of some candidates, and fits into the
/// second-level cache.
const TILE_WORDS: usize = 16 << 10;

/// The sets with which a set is compared, which are called its candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateSets {
    /// The sets that come before the set in the order of the sketches. The list of candidates has some of
    /// the sets.
    Earlier,
    /// The sets in another list that have at most as many terms as the set.
    NotLarger,
    /// The sets in another list that have fewer terms than the set.
    Smaller,
}

/// The comparison of some sets with some of the sets in `candidates`, by their sketches.
pub(super) struct WindowScan<'a> {
    /// Indices of the sets in `sketches`, in ascending order.
    pub(super) places: Vec<u32>,
    pub(super) sketches: &'a Sketches,
    pub(super) candidates: &'a Sketches,
    pub(super) which: CandidateSets,
    pub(super) threshold: Threshold,
    /// Condition for the pairs, in addition to their similarity.
    pub(super) filter: JoinFilter<'a>,
    pub(super) context: &'a Context<'a>,
}

/// One of the sets that a worker thread compares with a tile of candidates.
struct ComparedSet {
    place: usize,
    /// Range of the set's candidates in [`WindowScan::candidates`].
    window: Range<usize>,
    own_limit: u32,
    row: Vec<u64>,
}

/// A pair of sets with similar sketches.
pub(super) struct NearPair {
    pair: Candidate,
    /// Index of the candidate in [`WindowScan::candidates`].
    candidate: usize,
    /// Number of bits in which the rows differ.
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

    /// Whether the part has more pairs than it may have. After the work on the part, this does not
    /// depend on the threads.
    fn is_exceeded(&self) -> bool {
        self.count() > self.most
    }
}

#[cfg(test)]
impl<'a> WindowScan<'a> {
    /// Creates a scan of every two sketches.
    pub(super) fn of_all(
        sketches: &'a Sketches,
        threshold: Threshold,
        context: &'a Context<'a>,
    ) -> Self {
        let filter = JoinFilter { filter: None, second_from: 0 };
        let which = CandidateSets::Earlier;
        let (places, candidates) = (sketches.places(), sketches);
        Self { places, sketches, candidates, which, threshold, filter, context }
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
        let mut rest = self.windows(0..self.places.len());
        self.begin(rest);
        self.context.progress().counted("rows", self.places.len() as u64);
        self.context.progress().counted("pairs", rest);
        // The largest sets cost the most, so they come first.
        let mut end = self.places.len();
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

    /// Begins the progress stage. `rest` is the number of comparisons that remain.
    fn begin(&self, rest: u64) {
        self.context.progress().begin("compare sketches", Work::Steps(rest));
    }

    /// Returns the number of comparisons for the sets with the indices `sets` in [`Self::places`].
    fn windows(&self, sets: Range<usize>) -> u64 {
        self.places[sets].iter().map(|&place| self.window(place).len() as u64).sum()
    }

    /// Returns the pairs of the sets in `part`, in one list for each block of sets. If `room` is exceeded, the result
    /// is not complete.
    fn of_part(&self, part: Range<usize>, room: &PairRoom) -> Result<Vec<Vec<Candidate>>> {
        self.context.threads().try_map(
            part.len().div_ceil(BLOCK),
            || Ok(()),
            |(), block| {
                self.context.check_cancelled()?;
                // The last block has the largest sets.
                let end = part.end - block * BLOCK;
                let sets = end.saturating_sub(BLOCK).max(part.start)..end;
                let found = self.of_block(sets.clone(), room);
                self.context.progress().advance(self.windows(sets));
                Ok(found)
            },
        )
    }

    /// Returns the range of the candidates of the set at `place`. Candidates are sorted by
    /// size, and only some sizes allow similarity.
    fn window(&self, place: u32) -> Range<usize> {
        let place = place as usize;
        let size = self.sketches.sizes[place];
        let smallest = self.threshold.min_size(size);
        let sizes = &self.candidates.sizes;
        let mut end = match self.which {
            CandidateSets::Earlier if std::ptr::eq(self.sketches, self.candidates) => place,
            CandidateSets::Earlier => {
                let equal = sizes.partition_point(|&other| other < size);
                let end = sizes.partition_point(|&other| other <= size);
                let documents = &self.candidates.documents[equal..end];
                equal + documents.partition_point(|&other| other < self.sketches.documents[place])
            }
            CandidateSets::NotLarger => sizes.partition_point(|&other| other <= size),
            CandidateSets::Smaller => sizes.partition_point(|&other| other < size),
        };
        if !self.sketches.has_larger(place, self.threshold) {
            let largest = self.sketches.most_size(place, self.threshold);
            end = end.min(sizes.partition_point(|&other| other <= largest));
        }
        sizes[..end].partition_point(|&other| other < smallest)..end
    }

    /// Returns the largest number of bits in which the rows of the set at `place` and a candidate differ if they are
    /// similar, or `None` if they cannot be similar.
    fn most_difference(&self, place: usize, candidate: usize) -> Option<u32> {
        let sizes = [self.sketches.sizes[place], self.candidates.sizes[candidate]];
        // All terms that only one set has are differences, and the rows do not show them.
        let unmatched = self.sketches.unmatched(place) + self.candidates.unmatched(candidate);
        self.threshold.max_difference(sizes[0], sizes[1]).checked_sub(unmatched)
    }

    /// Returns the pair of the set at `place` and a candidate, if they may be similar and pass the filter. `difference`
    /// is the number of bits in which their rows differ.
    fn pair(&self, place: usize, candidate: usize, difference: u32) -> Option<Candidate> {
        // The limit of a group is the largest of its sets. The limit of this pair may be lower.
        if self.most_difference(place, candidate)? < difference {
            return None;
        }
        let rows = [self.sketches.documents[place], self.candidates.documents[candidate]];
        let pair = [rows[0].min(rows[1]), rows[0].max(rows[1])];
        self.filter.takes(pair[0], pair[1]).then_some(pair)
    }

    /// Returns whether the sets of a pair of the set at `place` are probably similar.
    pub(super) fn is_probably_similar(&self, place: usize, near: &NearPair) -> bool {
        let bits = self.candidates.levels[self.candidates.level_of(near.candidate)].words * 64;
        let most = self.most_difference(place, near.candidate);
        most.is_some_and(|most| difference_of(near.difference, bits) <= f64::from(most))
    }

    /// Returns the pairs of the sets in `block`. If `room` is exceeded, the result is not complete.
    fn of_block(&self, block: Range<usize>, room: &PairRoom) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut counted = 0;
        let has_room = self.near(&self.places[block], |_, near| {
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

    /// Compares the sets at `places` with their candidates. Calls `found` with the index of a set in `places` and some of
    /// its pairs. Ends early and returns false if `found` returns false.
    pub(super) fn near(
        &self,
        places: &[u32],
        mut found: impl FnMut(usize, &[NearPair]) -> bool,
    ) -> bool {
        let compared = places.iter().map(|&place| ComparedSet {
            place: place as usize,
            window: self.window(place),
            own_limit: self.sketches.own_limit(place as usize, self.threshold),
            row: self.sketches.row(place as usize),
        });
        let mut compared: Vec<ComparedSet> = compared.collect();
        let mut hits = Vec::new();
        let mut near = Vec::new();
        // The rows of the candidates get shorter from level to level. The rows of the sets are
        // shortened accordingly.
        for level in self.candidates.levels.iter().rev() {
            let reached = |set: &ComparedSet| {
                set.window.start < level.sets.end && set.window.end > level.sets.start
            };
            if !compared.iter().any(reached) {
                continue;
            }
            for set in &mut compared {
                fold(&mut set.row, level.words);
            }
            let tile_sets = (TILE_WORDS / level.group_words()).max(1) * GROUP;
            for tile in level.sets.clone().step_by(tile_sets) {
                let tile = tile..level.sets.end.min(tile + tile_sets);
                for (number, set) in compared.iter().enumerate() {
                    let window = tile.start.max(set.window.start)..tile.end.min(set.window.end);
                    if !window.is_empty() {
                        near.clear();
                        self.in_tile(level, window, set, &mut hits, &mut near);
                        if !near.is_empty() && !found(number, &near) {
                            return false;
                        }
                    }
                }
            }
        }
        true
    }

    /// Compares a set with the candidates in the range `window`, whose rows are in `level`. Appends its pairs to `near`.
    /// `hits` is a buffer.
    fn in_tile(
        &self,
        level: &SketchLevel,
        window: Range<usize>,
        set: &ComparedSet,
        hits: &mut Vec<u64>,
        near: &mut Vec<NearPair>,
    ) {
        let first = level.sets.start;
        let groups = (window.start - first) / GROUP..(window.end - first).div_ceil(GROUP);
        let words = groups.start * level.group_words()..groups.end * level.group_words();
        hits.clear();
        let search = GroupSearch {
            row: &set.row,
            groups: &level.groups[words],
            own_limit: set.own_limit,
            limits: &level.limits[groups.clone()],
        };
        near_in_groups(self.context.isa(), search, hits);
        near.extend(hits.iter().filter_map(|&hit| {
            let candidate = first + groups.start * GROUP + (hit >> 32) as usize;
            let difference = hit as u32;
            // Whole groups were compared, and they can reach beyond both ends of the window.
            let is_inside = window.contains(&candidate);
            let pair = is_inside.then(|| self.pair(set.place, candidate, difference)).flatten()?;
            Some(NearPair { pair, candidate, difference })
        }));
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

/// Estimates the nanoseconds that one core takes to compare the sketches of sets with all candidates
/// that are not larger. `sets` and `candidates` are the sizes of the sets, in ascending order.
pub(super) fn estimated_nanoseconds(
    sets: &[u32],
    candidates: &[u32],
    threshold: Threshold,
    isa: Isa,
) -> f64 {
    // Only the beginning of a long row has to be read, because it shows enough differences.
    let words_read = |words: f64| words.min(8.0 + words / 8.0);
    scan_nanoseconds([sets, candidates], threshold, isa, words_read)
}

/// Returns the nanoseconds for the same comparison as [`estimated_nanoseconds`] if whole rows must be read. This
/// happens if many sets share about as many terms as similar sets, for example the pages of one template.
pub(super) fn longest_nanoseconds(
    sets: &[u32],
    candidates: &[u32],
    threshold: Threshold,
    isa: Isa,
) -> f64 {
    scan_nanoseconds([sets, candidates], threshold, isa, |words| words)
}

/// Returns the nanoseconds for the comparison of [`estimated_nanoseconds`]. `words_read` is called with the number of
/// 64-bit words of a row, and returns how many of them are read.
fn scan_nanoseconds(
    [sets, candidates]: [&[u32]; 2],
    threshold: Threshold,
    isa: Isa,
    words_read: impl Fn(f64) -> f64,
) -> f64 {
    let mut start = 0;
    let mut end = 0;
    let mut nanoseconds = 0.0;
    for &size in sets {
        let smallest = threshold.min_size(size);
        start += candidates[start..].iter().take_while(|&&other| other < smallest).count();
        end += candidates[end..].iter().take_while(|&&other| other <= size).count();
        let words = words_read(words_of(size, threshold) as f64);
        nanoseconds += (end - start) as f64 * isa.group_nanoseconds(words);
    }
    nanoseconds
}
