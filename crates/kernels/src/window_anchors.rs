//! Chooses an anchor in each window of a text. An anchor is a short sequence of words, and a window is a longer
//! one.
//!
//! Each anchor has a rank. The anchor of a window is the one of the smallest rank in it, and the leftmost one if
//! several have that rank. The rank depends only on the words, so equal windows have equal anchors.
//!
//! The loops are plain. The compiler compares 8 ranks (AVX2) or 16 ranks (AVX-512) at once.

use super::Isa;
use super::vector::{Kernel, Level};

/// Number of ranks that are compared at once.
const TOGETHER: usize = 16;

/// Consecutive windows with the same anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorRun {
    /// Number of the first window.
    pub first: u32,
    /// Position of the anchor.
    pub anchor: u32,
}

/// Replaces `ranks` by the rank of each span of `length` words, for each start. `sums` are the sums before each
/// word of a text and behind the last one, where each sum is `base` times the sum before it plus a word. `power`
/// is `base` to the power of `length`.
pub fn span_ranks(isa: Isa, sums: &[u64], (length, power): (usize, u64), ranks: &mut Vec<u32>) {
    let ends = sums.get(length..).unwrap_or_default();
    ranks.clear();
    ranks.resize(ends.len(), 0);
    isa.run(SpanRanks { sums, ends, power }, &mut ranks[..]);
}

/// Replaces `runs` by the runs of windows with the same anchor, in order. `width` is the number of anchors in a
/// window, and `ranks` has the rank of each anchor.
///
/// # Panics
/// If `width` is 0.
///
/// # Complexity
/// O(ranks) for ranks in random order, and O(ranks × width) in the worst case.
pub fn anchor_runs(isa: Isa, ranks: &[u32], width: usize, runs: &mut Vec<AnchorRun>) {
    assert!(width > 0, "a window has an anchor");
    runs.clear();
    if ranks.len() >= width {
        isa.run(AnchorRuns { ranks, width }, runs);
    }
}

struct SpanRanks<'a> {
    sums: &'a [u64],
    ends: &'a [u64],
    power: u64,
}

impl Kernel<&mut [u32]> for SpanRanks<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, ranks: &mut [u32]) {
        for ((rank, &end), &start) in ranks.iter_mut().zip(self.ends).zip(self.sums) {
            let sum = end.wrapping_sub(start.wrapping_mul(self.power));
            // Any mix of all bits does. Only the highest bits of the product depend on all of them.
            *rank = ((sum ^ sum >> 29).wrapping_mul(0x94D0_49BB_1331_11EB) >> 32) as u32;
        }
    }
}

struct AnchorRuns<'a> {
    ranks: &'a [u32],
    width: usize,
}

impl Kernel<&mut Vec<AnchorRun>> for AnchorRuns<'_> {
    type Result = ();

    #[inline(always)]
    fn run<L: Level>(self, _: L, runs: &mut Vec<AnchorRun>) {
        let Self { ranks, width } = self;
        // Each position is compared about twice: as it enters, and when the anchor of a window leaves.
        let windows = ranks.len() + 1 - width;
        let (mut first, mut anchor) = (0, leftmost_smallest(&ranks[..width]));
        loop {
            runs.push(AnchorRun { first: first as u32, anchor: anchor as u32 });
            // The anchor changes if a smaller one enters on the right, or if it leaves on the left.
            let entering = &ranks[first + width..ranks.len().min(anchor + width)];
            if let Some(smaller) = first_below(entering, ranks[anchor]) {
                (first, anchor) = (first + smaller + 1, first + width + smaller);
            } else if anchor + 1 < windows {
                first = anchor + 1;
                anchor = first + leftmost_smallest(&ranks[first..first + width]);
            } else {
                return;
            }
        }
    }
}

/// Returns a mask of the ranks for which `is_so` is true.
#[inline(always)]
fn mask(ranks: &[u32; TOGETHER], is_so: impl Fn(u32) -> bool) -> u32 {
    let mut mask = 0;
    for (bit, &rank) in ranks.iter().enumerate() {
        mask |= u32::from(is_so(rank)) << bit;
    }
    mask
}

/// Returns the index of the first rank for which `is_so` is true.
#[inline(always)]
fn first_such(ranks: &[u32], is_so: impl Fn(u32) -> bool) -> Option<usize> {
    let (blocks, tail) = ranks.as_chunks::<TOGETHER>();
    for (block, ranks) in blocks.iter().enumerate() {
        let mask = mask(ranks, &is_so);
        if mask != 0 {
            return Some(block * TOGETHER + mask.trailing_zeros() as usize);
        }
    }
    let at = tail.iter().position(|&rank| is_so(rank))?;
    Some(blocks.len() * TOGETHER + at)
}

/// Returns the index of the first rank below `limit`.
#[inline(always)]
fn first_below(ranks: &[u32], limit: u32) -> Option<usize> {
    first_such(ranks, |rank| rank < limit)
}

/// Returns the index of the first of the smallest ranks.
#[inline(always)]
fn leftmost_smallest(ranks: &[u32]) -> usize {
    // The smallest rank and its position are found one after the other, because each loop alone becomes vectors.
    let smallest = ranks.iter().fold(u32::MAX, |smallest, &rank| smallest.min(rank));
    first_such(ranks, |rank| rank == smallest).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    /// Slow twin of [`anchor_runs`]: looks at each window separately.
    fn slowly(ranks: &[u32], width: usize) -> Vec<AnchorRun> {
        let mut runs: Vec<AnchorRun> = Vec::new();
        for (first, window) in ranks.windows(width).enumerate() {
            let smallest = (0..width).min_by_key(|&at| (window[at], at)).unwrap();
            let anchor = (first + smallest) as u32;
            if runs.last().is_none_or(|run| run.anchor != anchor) {
                runs.push(AnchorRun { first: first as u32, anchor });
            }
        }
        runs
    }

    #[test]
    fn all_paths_agree_at_every_width() {
        for &isa in Isa::available() {
            let mut runs = vec![AnchorRun { first: 9, anchor: 9 }];
            for count in (0..70).chain([500]) {
                for different in [1, 3, u64::from(u32::MAX)] {
                    let ranks: Vec<u32> = (0..count).map(|i| (mix(i) % different) as u32).collect();
                    for width in (1..60).step_by(3) {
                        anchor_runs(isa, &ranks, width, &mut runs);
                        assert_eq!(runs, slowly(&ranks, width), "{isa} {count} {width}");
                    }
                }
            }
        }
    }

    #[test]
    fn ranks_depend_on_the_words_of_a_span() {
        let base = 0xD6E8_FEB8_6659_FD95_u64;
        let words: Vec<u64> = (0..60).map(|i| mix(i % 20)).collect();
        let sums: Vec<u64> = std::iter::once(0)
            .chain(words.iter().scan(0_u64, |sum, word| {
                *sum = sum.wrapping_mul(base).wrapping_add(*word);
                Some(*sum)
            }))
            .collect();
        let mut portable = Vec::new();
        for &isa in Isa::available() {
            for length in 1..=15 {
                let mut ranks = vec![7];
                let power = base.wrapping_pow(length as u32);
                span_ranks(isa, &sums, (length, power), &mut ranks);
                assert_eq!(ranks.len(), 61 - length);
                // The words repeat after 20 words.
                let period = ranks.iter().zip(&ranks[20..]);
                assert!(period.clone().count() > 20 && period.clone().all(|(a, b)| a == b));
                if isa == Isa::PORTABLE {
                    portable.push(ranks);
                } else {
                    assert_eq!(ranks, portable[length - 1], "{isa}");
                }
            }
            span_ranks(isa, &sums, (62, 1), &mut vec![7]);
        }
    }
}
