//! Compares tags with AVX-512, 32 of them at once.

use crate::own_loops::near_tags::TagSearch;
use crate::x86_64::place_masks::{MASKS, push_places};
use std::arch::x86_64::{
    _mm512_add_epi16, _mm512_and_si512, _mm512_mask_testn_epi16_mask, _mm512_maskz_loadu_epi16,
    _mm512_set1_epi16, _mm512_xor_si512,
};

/// Appends to `places` the index of each tag that differs from the tag `search.query` in at most `search.most` bits.
/// The index of the first tag is `search.first`. A tag is a 16-bit summary of a fingerprint.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,popcnt")]
pub(super) fn near_tags(tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
    let TagSearch { first, query, most } = search;
    let queries = _mm512_set1_epi16(query.cast_signed());
    let ones = _mm512_set1_epi16(-1);
    for (group, tags) in tags.chunks(MASKS * 32).enumerate() {
        let mut masks = [0; MASKS];
        for (near, lanes) in masks.iter_mut().zip(tags.chunks(32)) {
            let valid = u32::MAX >> (32 - lanes.len());
            // SAFETY: only the lanes under the mask are read, and those exist.
            let tags = unsafe { _mm512_maskz_loadu_epi16(valid, lanes.as_ptr().cast()) };
            let mut rest = _mm512_xor_si512(tags, queries);
            for _ in 0..most.min(u16::BITS) {
                rest = _mm512_and_si512(rest, _mm512_add_epi16(rest, ones));
            }
            *near = _mm512_mask_testn_epi16_mask(valid, rest, rest);
        }
        let first = first + (group * MASKS * 32) as u32;
        push_places(&masks, first, 0, places);
    }
}
