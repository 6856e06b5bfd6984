//! Pairs of sets whose sketches are near: each set is compared with all that are small enough and
//! large enough, a tile of them at a time.
//!
//! That is quadratic, but a pair costs a nanosecond where an index costs that for each of a
//! set's terms: up to some hundred thousand sets nothing is faster, and nothing else cares as little
//! how common the terms are.

use super::pair_order::Candidate;
use super::sketches::{Level, Sketches, fold, words_of};
use simtool_base::error::Result;
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_kernels::hamming_groups::{GROUP, near_in_groups};
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Sets that a worker compares with a tile of others before it goes on to the next tile.
const BLOCK: usize = 64;
/// Blocks that threads share out among them before what was found is looked at.
const PART_BLOCKS: usize = 256;
/// Words of a tile: it stays in the second-level cache.
const TILE_WORDS: usize = 16 << 10;

/// The sets that a set is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Candidates {
    /// The sets before it, in the order of the sketches. Both sides are the same.
    Earlier,
    /// The sets of another side that have at most its size.
    NotLarger,
    /// The sets of another side that are smaller.
    Smaller,
}

/// A comparison of every one of some sets with its candidates.
pub(super) struct WindowScan<'a> {
    pub(super) sets: &'a Sketches,
    pub(super) candidates: &'a Sketches,
    pub(super) which: Candidates,
    pub(super) threshold: Threshold,
    pub(super) context: &'a Context<'a>,
}

/// A set of a block.
struct Compared {
    /// Places of its candidates.
    window: Range<usize>,
    size: u32,
    own_limit: u32,
    row: Vec<u64>,
}

impl WindowScan<'_> {
    /// Finds the pairs that may be similar; no similar pair is missed. Calls `found` with a part of
    /// the pairs at a time, always the same parts, each pair with its smaller row first. `found`
    /// may begin a stage of its own and then returns true.
    ///
    /// # Complexity
    /// O(pairs of sets whose sizes allow similarity × words of their sketches).
    ///
    /// # Errors
    /// `found` fails, or the work is cancelled.
    pub(super) fn visit(
        &self,
        found: &mut dyn FnMut(Vec<Vec<Candidate>>) -> Result<bool>,
    ) -> Result<()> {
        let blocks = self.sets.len().div_ceil(BLOCK);
        let sets_of = |block: usize| block * BLOCK..self.sets.len().min((block + 1) * BLOCK);
        let windows =
            |sets: Range<usize>| -> u64 { sets.map(|place| self.window(place).len() as u64).sum() };
        let mut rest = windows(0..self.sets.len());
        self.context.progress().begin("compare sketches", Work::Steps(rest));
        self.context.progress().counted("rows", self.sets.len() as u64);
        self.context.progress().counted("pairs", rest);
        // The largest sets cost the most, so they come first.
        let mut end = blocks;
        while end > 0 {
            let part = end.saturating_sub(PART_BLOCKS)..end;
            end = part.start;
            let pairs = self.context.threads().try_map(
                part.len(),
                || Ok(()),
                |(), block| {
                    self.context.check_cancelled()?;
                    let sets = sets_of(part.end - 1 - block);
                    let found = self.of_block(sets.clone());
                    self.context.progress().advance(windows(sets));
                    Ok(found)
                },
            )?;
            rest -= windows(part.start * BLOCK..sets_of(part.end - 1).end);
            if found(pairs)? && end > 0 {
                self.context.progress().begin("compare sketches", Work::Steps(rest));
            }
        }
        Ok(())
    }

    /// The places of the candidates of the set at `place`.
    fn window(&self, place: usize) -> Range<usize> {
        let size = self.sets.sizes[place];
        let smallest = self.threshold.min_size(size);
        let sizes = &self.candidates.sizes;
        let end = match self.which {
            Candidates::Earlier => place,
            Candidates::NotLarger => sizes.partition_point(|&other| other <= size),
            Candidates::Smaller => sizes.partition_point(|&other| other < size),
        };
        sizes[..end].partition_point(|&other| other < smallest)..end
    }

    fn of_block(&self, block: Range<usize>) -> Vec<Candidate> {
        let first = block.start;
        let mut compared: Vec<Compared> = Vec::with_capacity(block.len());
        for place in block {
            let size = self.sets.sizes[place];
            let mut row = Vec::new();
            self.sets.levels[self.sets.level_of(place)].copy_row(place, &mut row);
            let own_limit = self.threshold.difference_share(size) + 1;
            compared.push(Compared { window: self.window(place), size, own_limit, row });
        }
        let mut found = Vec::new();
        let mut hits = Vec::new();
        // From longer rows to shorter ones, to which the sets' own are folded.
        for level in self.candidates.levels.iter().rev() {
            let reached = |set: &Compared| {
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
                        self.in_tile(level, near, set, &mut hits, |candidate| {
                            let candidate = self.candidates.documents[candidate];
                            found.push([document.min(candidate), document.max(candidate)]);
                        });
                    }
                }
            }
        }
        found
    }

    /// Calls `found` with the near candidates of a part of a level.
    fn in_tile(
        &self,
        level: &Level,
        near: Range<usize>,
        set: &Compared,
        hits: &mut Vec<u64>,
        mut found: impl FnMut(usize),
    ) {
        let first = level.sets.start;
        let groups = (near.start - first) / GROUP..(near.end - first).div_ceil(GROUP);
        let words = groups.start * level.group_words()..groups.end * level.group_words();
        hits.clear();
        let rows = &level.groups[words];
        let limits = &level.limits[groups.clone()];
        near_in_groups(self.context.isa(), &set.row, rows, set.own_limit, limits, hits);
        for &hit in &*hits {
            let candidate = first + groups.start * GROUP + (hit >> 32) as usize;
            // Whole groups were compared, and they can reach beyond both ends of the window.
            if near.contains(&candidate) {
                let size = self.candidates.sizes[candidate];
                // A group has the limit of its largest set; the limit of this pair may be lower.
                if hit as u32 <= self.threshold.max_difference(set.size, size) {
                    found(candidate);
                }
            }
        }
    }
}

/// About how many nanoseconds of one core it takes to compare sets of ascending sizes with candidates
/// of at most their size.
pub(super) fn estimated_nanoseconds(
    sets: &[u32],
    candidates: &[u32],
    threshold: Threshold,
    isa: Isa,
) -> f64 {
    let mut start = 0;
    let mut end = 0;
    let mut nanoseconds = 0.0;
    for &size in sets {
        let smallest = threshold.min_size(size);
        start += candidates[start..].iter().take_while(|&&other| other < smallest).count();
        end += candidates[end..].iter().take_while(|&&other| other <= size).count();
        // Of long rows the beginning is enough.
        let words = words_of(size, threshold) as f64;
        let words_read = words.min(8.0 + words / 8.0);
        nanoseconds += (end - start) as f64 * isa.group_nanoseconds(words_read);
    }
    nanoseconds
}
