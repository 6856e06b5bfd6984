//! Chooses an anchor in each window of a text. An anchor is a short sequence of words, and a window is a longer
//! one.
//!
//! Each anchor has a rank. The anchor of a window is the one with the smallest rank in the window, and the leftmost one
//! if several have that rank. The rank depends only on the words, so equal windows have equal anchors.
//!
//! The smallest rank of all windows is found in a few rounds. After round i, there is the smallest of 2ⁱ ranks for
//! each position, from which the next round computes the smallest of twice as many. The loops are plain and have
//! no branches, and the compiler handles 4 ranks (AVX2) or 8 ranks (AVX-512) at once.

use super::Isa;
use super::vector::{Kernel, Level};

/// Consecutive windows of a text that have the same anchor. A window is a sequence of words, and its anchor is a
/// shorter sequence of words in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnchorRun {
    /// Number of the first window with the anchor. It is the position of the window's first word in the text, counted
    /// in words.
    pub first: u32,
    /// Position of the first word of the anchor in the text, counted in words.
    pub anchor: u32,
}

/// Replaces `ranks` by the ranks of the spans of `length` words, one for each word at which a span begins, in order.
/// The rank of a span is a hash of its words. `sums` has a sum before each word of a text and one behind the last word.
/// Each sum is `base` times the sum before it plus the hash of the word between them. `power` is `base` to the power of
/// `length`.
pub fn span_ranks(isa: Isa, sums: &[u64], length: usize, power: u64, ranks: &mut Vec<u32>) {
    let ends = sums.get(length..).unwrap_or_default();
    ranks.clear();
    ranks.resize(ends.len(), 0);
    isa.run(SpanRanks { sums, ends, power }, &mut ranks[..]);
}

/// Buffers for [`anchor_runs`], which are reused from text to text.
#[derive(Clone, Debug, Default)]
pub struct AnchorBuffers {
    /// Element i is the smallest key at the positions from i on that the rounds so far have covered. A key has a rank
    /// in its upper half, and the position of the rank in its lower half.
    keys: Vec<u64>,
    /// Keys that the current round computes from `keys`. Then they become the keys of the next round.
    next: Vec<u64>,
}

/// Replaces `runs` by the sequences of consecutive windows with the same anchor, in order. `ranks` has the rank of each
/// short span of words that can be an anchor. A window has `width` consecutive spans, and its anchor is the one with
/// the smallest rank. There are fewer than 2³² ranks.
///
/// # Panics
/// If `width` is 0.
///
/// # Complexity
/// O(ranks × log width).
pub fn anchor_runs(
    isa: Isa,
    ranks: &[u32],
    width: usize,
    buffers: &mut AnchorBuffers,
    runs: &mut Vec<AnchorRun>,
) {
    assert!(width > 0, "a window has an anchor");
    runs.clear();
    if ranks.len() >= width {
        // Each window may begin a run.
        runs.resize(ranks.len() + 1 - width, AnchorRun { first: 0, anchor: 0 });
        let count = isa.run(AnchorRuns { ranks, width }, (buffers, &mut runs[..]));
        runs.truncate(count);
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

impl Kernel<(&mut AnchorBuffers, &mut [AnchorRun])> for AnchorRuns<'_> {
    type Result = usize;

    #[inline(always)]
    fn run<L: Level>(self, _: L, out: (&mut AnchorBuffers, &mut [AnchorRun])) -> usize {
        let (AnchorBuffers { keys, next }, runs) = out;
        let Self { ranks, width } = self;
        keys.clear();
        // Of equal ranks, the leftmost has the smallest key.
        keys.extend(ranks.iter().zip(0_u64..).map(|(&rank, at)| u64::from(rank) << 32 | at));
        let mut covered = 1;
        while covered < width {
            // The last round overlaps, so that exactly `width` keys are covered.
            let step = covered.min(width - covered);
            smaller_of_two(keys, step, next);
            std::mem::swap(keys, next);
            covered += step;
        }
        let mut count = 0;
        let mut before = u32::MAX;
        for (first, &key) in keys.iter().enumerate() {
            let anchor = key as u32;
            // Written in any case: a branch would often be mispredicted. The next run overwrites it unless the
            // anchor is another one.
            runs[count] = AnchorRun { first: first as u32, anchor };
            count += usize::from(anchor != before);
            before = anchor;
        }
        count
    }
}

/// Fills `smaller` anew: element i is the smaller of the keys at positions i and i + `step`.
#[inline(always)]
fn smaller_of_two(keys: &[u64], step: usize, smaller: &mut Vec<u64>) {
    smaller.clear();
    smaller.extend(keys.iter().zip(&keys[step..]).map(|(&a, &b)| a.min(b)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    /// Finds the runs of [`anchor_runs`] in a slow and simple way for comparison: looks for the anchor of each window
    /// separately.
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
            let mut buffers = AnchorBuffers::default();
            for count in (0..70).chain([500]) {
                for different in [1, 3, u64::from(u32::MAX)] {
                    let ranks: Vec<u32> = (0..count).map(|i| (mix(i) % different) as u32).collect();
                    for width in (1..60).step_by(3) {
                        anchor_runs(isa, &ranks, width, &mut buffers, &mut runs);
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
                span_ranks(isa, &sums, length, power, &mut ranks);
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
            span_ranks(isa, &sums, 62, 1, &mut vec![7]);
        }
    }
}
