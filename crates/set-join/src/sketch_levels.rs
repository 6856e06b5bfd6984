//! Compares the sketch of a set with many other sketches at once, and estimates the time for that. The sketch of a set
//! is a row of bits. Rows are stored in groups of eight.

use super::sketch_rows::{FoldedRow, SKETCHES, words_of};
use super::sketches::SomeSets;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_compute::context::Context;
use simtool_kernels::Isa;
use simtool_kernels::hamming_groups::{GROUP, GroupSearch, near_in_groups};
use simtool_model::similarity::Threshold;
use std::ops::Range;

/// Number of 64-bit words in a tile. A tile has the rows of some sets, and fits into the
/// second-level cache.
const TILE_WORDS: usize = 16 << 10;

/// Copies of the sketches of some sets, which are rows of bits. All rows of a level have the same number of 64-bit
/// words.
#[derive(Debug)]
pub(super) struct SketchLevel {
    words: usize,
    /// Range of the sets of the level among all sets whose rows were copied.
    sets: Range<usize>,
    /// The rows of bits in groups of [`GROUP`] rows. A group has first word 0 of all its rows, then
    /// word 1 of all its rows, and so on.
    groups: LargeBuffer<u64>,
    /// For each group of rows, the largest limit of one of its sets. Two sketches can be similar only if the number of
    /// bits in which their rows differ is at most the sum of the limits of both sets.
    limits: Vec<u32>,
}

impl SketchLevel {
    /// Returns the number of 64-bit words in a group of rows.
    fn group_words(&self) -> usize {
        self.words * GROUP
    }

    /// Copies the rows of bits of `sets`, and divides them into levels. Each level has all rows with the same number of
    /// 64-bit words, and longer rows are in later levels.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn of(
        sets: &SomeSets<'_>,
        threshold: Threshold,
        context: &Context<'_>,
    ) -> Result<Vec<Self>> {
        let SomeSets { sketches, places } = sets;
        let words: Vec<usize> =
            places.iter().map(|&place| sketches.words(place as usize)).collect();
        let mut levels = Vec::new();
        let mut start = 0;
        // The number of words never falls with the size, so sets with equally many are neighbours.
        for level in words.chunk_by(|a, b| a == b) {
            let words = level[0];
            let sets = start..start + level.len();
            start = sets.end;
            let group_words = words * GROUP;
            let count = sets.len().div_ceil(GROUP);
            let mut groups = LargeBuffer::try_zeroed(count * group_words, SKETCHES)?;
            groups = groups.entered_in(context.memory());
            let work = groups.chunks_mut(group_words).zip(places[sets.clone()].chunks(GROUP));
            let limits = context.threads().map(work.collect(), |work: (&mut [u64], &[u32])| {
                let (group, places) = work;
                let mut limit = 0;
                for (lane, &place) in places.iter().enumerate() {
                    let place = place as usize;
                    for (word, &bits) in sketches.row(place).iter().enumerate() {
                        // The same word of all rows of a group lies together, so one vector
                        // instruction compares several rows.
                        group[word * GROUP + lane] = bits;
                    }
                    let share = threshold.difference_share(sketches.sizes[place]);
                    limit = limit.max(share.saturating_sub(sketches.unmatched(place)));
                }
                limit
            });
            levels.push(Self { words, sets, groups, limits });
        }
        Ok(levels)
    }

    /// Compares the row of bits `row` with the rows of the sets in the range `window`, which are in this level.
    /// Replaces the content of `hits` by one number, `set << 32 | distance`, for each set whose row is near enough.
    fn near(&self, row: &ComparedRow, window: &Range<usize>, isa: Isa, hits: &mut Vec<u64>) {
        let first = self.sets.start;
        let groups = (window.start - first) / GROUP..(window.end - first).div_ceil(GROUP);
        let words = groups.start * self.group_words()..groups.end * self.group_words();
        let search = GroupSearch {
            row: row.row.of_words(self.words),
            groups: &self.groups[words],
            own_limit: row.own_limit,
            limits: &self.limits[groups.clone()],
        };
        hits.clear();
        near_in_groups(isa, search, hits);
        for hit in &mut *hits {
            *hit += ((first + groups.start * GROUP) as u64) << 32;
        }
        // Whole groups were compared, and they can reach beyond both ends of the window.
        hits.retain(|hit| window.contains(&((hit >> 32) as usize)));
    }
}

/// A set whose row of bits is compared with the rows of others.
pub(super) struct ComparedRow {
    /// Range of the sets with which the row is compared.
    pub(super) window: Range<usize>,
    /// Limit of this set. Two rows are near if the number of bits in which they differ is at most the sum of the limits
    /// of both sets.
    pub(super) own_limit: u32,
    pub(super) row: FoldedRow,
}

/// Compares each of `rows` with the sets in its window. Calls `found` with the index of a row and some of its hits. A
/// hit is the number `set << 32 | distance` of a set whose row is near enough. Ends early and returns false if `found`
/// returns false. `hits` is a buffer.
pub(super) fn compare_rows(
    levels: &[SketchLevel],
    rows: &[ComparedRow],
    isa: Isa,
    hits: &mut Vec<u64>,
    found: &mut dyn FnMut(usize, &[u64]) -> bool,
) -> bool {
    for level in levels.iter().rev() {
        let reached = |row: &ComparedRow| {
            row.window.start < level.sets.end && row.window.end > level.sets.start
        };
        if !rows.iter().any(reached) {
            continue;
        }
        let tile_sets = (TILE_WORDS / level.group_words()).max(1) * GROUP;
        for tile in level.sets.clone().step_by(tile_sets) {
            let tile = tile..level.sets.end.min(tile + tile_sets);
            for (number, row) in rows.iter().enumerate() {
                let window = tile.start.max(row.window.start)..tile.end.min(row.window.end);
                if !window.is_empty() {
                    level.near(row, &window, isa, hits);
                    if !hits.is_empty() && !found(number, hits) {
                        return false;
                    }
                }
            }
        }
    }
    true
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

/// Estimates the nanoseconds for the comparison of [`estimated_nanoseconds`] if whole rows of bits must be read. It
/// usually suffices to read the beginning of a row. It does not if many sets share about as many terms as similar sets,
/// for example the pages of one template.
pub(super) fn longest_nanoseconds(
    sets: &[u32],
    candidates: &[u32],
    threshold: Threshold,
    isa: Isa,
) -> f64 {
    scan_nanoseconds([sets, candidates], threshold, isa, |words| words)
}

/// Estimates the nanoseconds that one core takes to compare the sketches of sets with all candidates that are not
/// larger. The arguments are those of [`estimated_nanoseconds`], and the function `words_read`. It gets the number of
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
