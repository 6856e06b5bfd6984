//! Compares tags with AVX2, 16 of them at once.

use crate::own_loops::near_tags::{TagSearch, plain};
use crate::x86_64::place_masks::{MASKS, push_places};
use std::arch::x86_64::{
    _mm256_add_epi16, _mm256_and_si256, _mm256_cmpeq_epi16, _mm256_loadu_si256,
    _mm256_movemask_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_xor_si256,
};

/// Appends to `places` the index of each tag that differs from the tag `search.query` in at most `search.most` bits.
/// The index of the first tag is `search.first`. A tag is a 16-bit summary of a fingerprint.
#[target_feature(enable = "avx2,bmi1,popcnt")]
pub(super) fn near_tags(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    let queries = _mm256_set1_epi16(query.cast_signed());
    let ones = _mm256_set1_epi16(-1);
    let (steps, tail) = tags.as_chunks::<16>();
    for (group, steps) in steps.chunks(MASKS).enumerate() {
        let mut masks = [0; MASKS];
        for (near, lanes) in masks.iter_mut().zip(steps) {
            // SAFETY: the chunk is a vector.
            let tags = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            let mut rest = _mm256_xor_si256(tags, queries);
            for _ in 0..most.min(u16::BITS) {
                rest = _mm256_and_si256(rest, _mm256_add_epi16(rest, ones));
            }
            let equal = _mm256_cmpeq_epi16(rest, _mm256_setzero_si256());
            // The mask has two bits for each tag; one is enough.
            *near = _mm256_movemask_epi8(equal).cast_unsigned() & 0x5555_5555;
        }
        push_places(&masks, first + (group * MASKS * 16) as u32, 1, places);
    }
    let first = first + (tags.len() - tail.len()) as u32;
    plain(tail, TagSearch { first, ..search }, places);
}
