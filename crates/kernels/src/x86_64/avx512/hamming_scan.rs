//! Compares a fingerprint with many by AVX-512: eight words are a vector, and a mask packs the hits
//! together.

use crate::own_loops::hamming_scan::plain;
use simtool_model::fingerprint_table::Wide;
use std::arch::x86_64::{
    __m512i, __mmask8, _mm512_add_epi64, _mm512_cmple_epu64_mask, _mm512_loadu_si512,
    _mm512_maskz_compress_epi64, _mm512_min_epu8, _mm512_or_si512, _mm512_permutex2var_epi64,
    _mm512_popcnt_epi64, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_slli_epi64, _mm512_storeu_si512, _mm512_xor_si512,
};

/// Reserves memory for `more` hits. If the vector must grow, reserves memory for many hits at once.
fn reserve(hits: &mut Vec<u64>, more: usize) {
    if hits.capacity() - hits.len() < more {
        hits.reserve(more.max(1024));
    }
}

/// Appends to `hits` each 64-bit number of `packed` whose bit is set in `mask`.
///
/// # Safety
///
/// `hits` has room for eight more.
#[target_feature(enable = "avx512f,avx512vl,popcnt")]
unsafe fn append(hits: &mut Vec<u64>, mask: __mmask8, packed: __m512i) {
    let length = hits.len();
    debug_assert!(hits.capacity() - length >= 8);
    // SAFETY: the caller left room for eight words, and a vector is eight words.
    let end = unsafe { hits.as_mut_ptr().add(length) };
    // SAFETY: the vector is written to the same room.
    unsafe { _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi64(mask, packed)) };
    // SAFETY: that many words were just written: the packed lanes come first.
    unsafe { hits.set_len(length + mask.count_ones() as usize) };
}

/// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have one
/// 64-bit word.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn scan_64(corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
    let x = _mm512_set1_epi64(query.cast_signed());
    let limit = _mm512_set1_epi64(i64::from(max_distance));
    let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let (steps, rest) = corpus.as_chunks::<32>();
    for (step, lines) in steps.iter().enumerate() {
        let mut distances = [_mm512_setzero_si512(); 4];
        for (t, distance) in distances.iter_mut().enumerate() {
            // SAFETY: 8 × t + 8 is at most 32, the length of the chunk.
            let c = unsafe { _mm512_loadu_si512(lines.as_ptr().add(8 * t).cast()) };
            *distance = _mm512_popcnt_epi64(_mm512_xor_si512(c, x));
        }
        // One comparison checks all four vectors. The distances of one word fit in a byte.
        let first_half = _mm512_min_epu8(distances[0], distances[1]);
        let second_half = _mm512_min_epu8(distances[2], distances[3]);
        let least = _mm512_min_epu8(first_half, second_half);
        if _mm512_cmple_epu64_mask(least, limit) == 0 {
            continue;
        }
        reserve(hits, 40);
        for (t, distance) in distances.into_iter().enumerate() {
            let mask = _mm512_cmple_epu64_mask(distance, limit);
            let first = _mm512_set1_epi64((step * 32 + t * 8).cast_signed() as i64);
            let rows = _mm512_slli_epi64::<32>(_mm512_add_epi64(first, lanes));
            // SAFETY: 40 words were reserved, and each turn adds at most 8.
            unsafe { append(hits, mask, _mm512_or_si512(rows, distance)) };
        }
    }
    plain(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
}

/// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have two
/// 64-bit words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn scan_128(corpus: &[Wide<2>], query: Wide<2>, max_distance: u32, hits: &mut Vec<u64>) {
    let low = _mm512_set1_epi64(query.0[0].cast_signed());
    let high = _mm512_set1_epi64(query.0[1].cast_signed());
    let limit = _mm512_set1_epi64(i64::from(max_distance));
    let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    let evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    let odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
    let (steps, rest) = corpus.as_chunks::<8>();
    for (step, lines) in steps.iter().enumerate() {
        // SAFETY: the chunk is eight rows of two words, and a vector is eight words.
        let a = unsafe { _mm512_loadu_si512(lines.as_ptr().cast()) };
        // SAFETY: the last four of the same eight rows.
        let b = unsafe { _mm512_loadu_si512(lines.as_ptr().add(4).cast()) };
        let lows = _mm512_xor_si512(_mm512_permutex2var_epi64(a, evens, b), low);
        let highs = _mm512_xor_si512(_mm512_permutex2var_epi64(a, odds, b), high);
        let distance = _mm512_add_epi64(_mm512_popcnt_epi64(lows), _mm512_popcnt_epi64(highs));
        let mask = _mm512_cmple_epu64_mask(distance, limit);
        if mask != 0 {
            reserve(hits, 8);
            let first = _mm512_set1_epi64((step * 8).cast_signed() as i64);
            let rows = _mm512_slli_epi64::<32>(_mm512_add_epi64(first, lanes));
            // SAFETY: eight words were reserved.
            unsafe { append(hits, mask, _mm512_or_si512(rows, distance)) };
        }
    }
    plain(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
}
