//! Compares a row with groups of rows by NEON: the eight words of a group are four vectors.

use super::hamming_scan::sum_bytes;
use crate::own_loops::hamming_groups::{GROUP, GroupSearch, STEP, push_near};
use std::arch::aarch64::{
    uint64x2_t, vaddq_u8, vaddq_u64, vcntq_u8, vdupq_n_u8, vdupq_n_u64, veorq_u64, vld1q_u64,
    vreinterpretq_u8_u64, vst1q_u64,
};

/// Number of vectors that hold one word of each row of a group. A group has [`GROUP`] rows, and a vector holds
/// two words.
const VECTORS: usize = GROUP / 2;

/// Appends a hit, `row << 32 | distance`, for each row of `search.groups` that is near `search.row`. The limit of its
/// distance is `search.own_limit` plus the limit of its group. Rows are numbered from 0.
#[target_feature(enable = "neon")]
pub(super) fn near_in_groups(search: GroupSearch<'_>, hits: &mut Vec<u64>) {
    let GroupSearch { row, groups, own_limit, limits } = search;
    let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
    'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
        let limit = u64::from(own_limit) + u64::from(limit);
        let mut sums = [vdupq_n_u64(0); VECTORS];
        let mut distances = [0; GROUP];
        for (lanes, words) in group.chunks(STEP).zip(row.chunks(STEP)) {
            sums = add_distances(sums, lanes, words);
            for (pair, sum) in distances.as_chunks_mut::<2>().0.iter_mut().zip(sums) {
                // SAFETY: two words are one vector.
                unsafe { vst1q_u64(pair.as_mut_ptr(), sum) };
            }
            if distances.iter().all(|&distance| distance > limit) {
                continue 'groups;
            }
        }
        push_near(number, &distances, limit, hits);
    }
}

/// Adds the Hamming distances of a group's rows to `sums`, for at most [`STEP`] consecutive words of each row. `words`
/// are these words of the row of the search, and `lanes` are the same words of the eight rows of the group. As there
/// are so few words, the number of differing bits in each byte position fits into a byte.
#[inline]
#[target_feature(enable = "neon")]
fn add_distances(
    sums: [uint64x2_t; VECTORS],
    lanes: &[[u64; GROUP]],
    words: &[u64],
) -> [uint64x2_t; VECTORS] {
    let mut bytes = [vdupq_n_u8(0); VECTORS];
    for (lanes, &word) in lanes.iter().zip(words) {
        let word = vdupq_n_u64(word);
        for (byte, pair) in bytes.iter_mut().zip(lanes.as_chunks::<2>().0) {
            // SAFETY: two words are one vector.
            let pair = unsafe { vld1q_u64(pair.as_ptr()) };
            let differing = vreinterpretq_u8_u64(veorq_u64(pair, word));
            *byte = vaddq_u8(*byte, vcntq_u8(differing));
        }
    }
    let sum = |at: usize| vaddq_u64(sums[at], sum_bytes(bytes[at]));
    [sum(0), sum(1), sum(2), sum(3)]
}
