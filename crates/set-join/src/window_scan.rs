//! Finds pairs of sets with similar sketches. Each set is compared with all sets of suitable size,
//! in tiles that fit into a cache.
//!
//! The time is quadratic, but a pair costs only about a nanosecond. Looking up terms in an index
//! would cost that much for each term of a set. Up to some hundred thousand sets, nothing is
//! faster. And the time does not depend on how common the terms are.

use super::pair_filter::JoinFilter;
use super::pair_order::Candidate;
use super::sketches::{SketchLevel, Sketches, fold, words_of};
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
const BLOCK: usize = 64;
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
    /// The sets that come before the set in the order of the sketches. Candidates and sets are in the
    /// same list.
    Earlier,
    /// The sets in another list that have at most as many terms as the set.
    NotLarger,
    /// The sets in another list that have fewer terms than the set.
    Smaller,
}

/// The comparison of each set in `sets` with some of the sets in `candidates`, by their sketches.
pub(super) struct WindowScan<'a> {
    pub(super) sets: &'a Sketches,
    pub(super) candidates: &'a Sketches,
    pub(super) which: CandidateSets,
    pub(super) threshold: Threshold,
    /// Condition for the pairs, in addition to their similarity.
    pub(super) filter: JoinFilter<'a>,
    pub(super) context: &'a Context<'a>,
}

/// One of the sets that a worker thread compares with a tile of candidates.
struct ComparedSet {
    /// Range of the set's candidates in [`WindowScan::candidates`].
    window: Range<usize>,
    size: u32,
    /// Number of terms of the set that no other set has. The row does not have these terms.
    unmatched: u32,
    own_limit: u32,
    row: Vec<u64>,
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
        let mut rest = self.windows(0..self.sets.len());
        self.begin(rest);
        self.context.progress().counted("rows", self.sets.len() as u64);
        self.context.progress().counted("pairs", rest);
        // The largest sets cost the most, so they come first.
        let mut end = self.sets.len();
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

    /// Returns the number of comparisons for the sets with the indices `sets` in [`Self::sets`].
    fn windows(&self, sets: Range<usize>) -> u64 {
        sets.map(|place| self.window(place).len() as u64).sum()
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

    /// Returns the range of the candidates of the set with index `place`. Candidates are sorted by
    /// size, and only some sizes allow similarity.
    fn window(&self, place: usize) -> Range<usize> {
        let size = self.sets.sizes[place];
        let smallest = self.threshold.min_size(size);
        let sizes = &self.candidates.sizes;
        let end = match self.which {
            CandidateSets::Earlier => place,
            CandidateSets::NotLarger => sizes.partition_point(|&other| other <= size),
            CandidateSets::Smaller => sizes.partition_point(|&other| other < size),
        };
        sizes[..end].partition_point(|&other| other < smallest)..end
    }

    /// Returns the pairs of the sets in `block`. If `room` is exceeded, the result is not complete.
    fn of_block(&self, block: Range<usize>, room: &PairRoom) -> Vec<Candidate> {
        let first = block.start;
        let mut compared: Vec<ComparedSet> = Vec::with_capacity(block.len());
        for place in block {
            let size = self.sets.sizes[place];
            let mut row = Vec::new();
            self.sets.levels[self.sets.level_of(place)].copy_row(place, &mut row);
            let unmatched = self.sets.unmatched(place);
            let own_limit = (self.threshold.difference_share(size) + 1).saturating_sub(unmatched);
            let window = self.window(place);
            compared.push(ComparedSet { window, size, unmatched, own_limit, row });
        }
        let mut found = Vec::new();
        let mut hits = Vec::new();
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
                for (place, set) in (first..).zip(&compared) {
                    let near = tile.start.max(set.window.start)..tile.end.min(set.window.end);
                    if !near.is_empty() {
                        let document = self.sets.documents[place];
                        let before = found.len();
                        self.in_tile(level, near, set, &mut hits, |candidate| {
                            let candidate = self.candidates.documents[candidate];
                            let [a, b] = [document.min(candidate), document.max(candidate)];
                            if self.filter.takes(a, b) {
                                found.push([a, b]);
                            }
                        });
                        if !room.take(found.len() - before) {
                            return Vec::new();
                        }
                    }
                }
            }
        }
        // A growing vector has room for up to twice as many pairs.
        found.shrink_to_fit();
        found
    }

    /// Compares a set with the candidates in the range `near`, whose rows are in `level`. Calls `found`
    /// with the index of each candidate whose sketch is similar. `hits` is a buffer.
    fn in_tile(
        &self,
        level: &SketchLevel,
        near: Range<usize>,
        set: &ComparedSet,
        hits: &mut Vec<u64>,
        mut found: impl FnMut(usize),
    ) {
        let first = level.sets.start;
        let groups = (near.start - first) / GROUP..(near.end - first).div_ceil(GROUP);
        let words = groups.start * level.group_words()..groups.end * level.group_words();
        hits.clear();
        let search = GroupSearch {
            row: &set.row,
            groups: &level.groups[words],
            own_limit: set.own_limit,
            limits: &level.limits[groups.clone()],
        };
        near_in_groups(self.context.isa(), search, hits);
        for &hit in &*hits {
            let candidate = first + groups.start * GROUP + (hit >> 32) as usize;
            // Whole groups were compared, and they can reach beyond both ends of the window.
            if near.contains(&candidate) {
                let size = self.candidates.sizes[candidate];
                // The limit of a group is the largest of its sets. The limit of this pair may be lower. All
                // terms that only one set has are differences, and the rows do not show them.
                let unmatched = set.unmatched + self.candidates.unmatched(candidate);
                if hit as u32 + unmatched <= self.threshold.max_difference(set.size, size) {
                    found(candidate);
                }
            }
        }
    }
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
