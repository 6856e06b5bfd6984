//! Compares a fingerprint of one word with many by NEON: two words are a vector.

use crate::own_loops::hamming_scan::plain;
use std::arch::aarch64::{
    uint8x16_t, uint64x2_t, vcgtq_u64, vcntq_u8, vdupq_n_u64, veorq_u64, vgetq_lane_u64, vld1q_u64,
    vorrq_u64, vpaddlq_u8, vpaddlq_u16, vpaddlq_u32, vreinterpretq_u8_u64,
};

/// Returns the number of set bits of each 64-bit word.
#[inline]
#[target_feature(enable = "neon")]
fn count_ones(words: uint64x2_t) -> uint64x2_t {
    sum_bytes(vcntq_u8(vreinterpretq_u8_u64(words)))
}

/// Returns the sum of the bytes of each 64-bit word.
#[inline]
#[target_feature(enable = "neon")]
pub(super) fn sum_bytes(bytes: uint8x16_t) -> uint64x2_t {
    vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes)))
}

/// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have one
/// 64-bit word.
#[target_feature(enable = "neon")]
pub(super) fn scan_64(corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
    let query_words = vdupq_n_u64(query);
    // A near row is below this number, so that one comparison finds it.
    let too_far = vdupq_n_u64(u64::from(max_distance) + 1);
    let (steps, rest) = corpus.as_chunks::<8>();
    for (step, rows) in steps.iter().enumerate() {
        let mut near = vdupq_n_u64(0);
        for pair in rows.as_chunks::<2>().0 {
            // SAFETY: two words are a vector.
            let words = unsafe { vld1q_u64(pair.as_ptr()) };
            let distances = count_ones(veorq_u64(words, query_words));
            near = vorrq_u64(near, vcgtq_u64(too_far, distances));
        }
        // Few steps have a near row, so its place and distance are computed again.
        if vgetq_lane_u64::<0>(near) | vgetq_lane_u64::<1>(near) != 0 {
            plain(rows, query, step as u64 * 8, max_distance, hits);
        }
    }
    plain(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
}
