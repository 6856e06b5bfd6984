//! Finds words with AVX-512: a compression packs the numbers of the set bits of a mask together.

use crate::own_loops::word_positions::{BLOCK, Edges, OVERRUN};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmplt_epu8_mask,
    _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32, _mm512_loadu_si512,
    _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_set_epi8,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512, _mm512_sub_epi8,
};

/// Returns a vector of the numbers 0 to 63, one in each byte.
#[target_feature(enable = "avx512f,avx512bw")]
fn byte_numbers() -> __m512i {
    _mm512_set_epi8(
        63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41,
        40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18,
        17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    )
}

/// Writes the position of each set bit of `mask`, plus `base`, to `out`. There are at most 32 set
/// bits.
///
/// # Safety
///
/// 32 numbers can be written at `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
unsafe fn write_bits(mask: u64, base: __m512i, out: *mut u32) {
    let numbers = _mm512_maskz_compress_epi8(mask, byte_numbers());
    let low = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(numbers));
    // SAFETY: the caller gives room for 32 numbers; these are the first 16.
    unsafe { _mm512_storeu_si512(out.cast(), _mm512_add_epi32(low, base)) };
    if mask.count_ones() > 16 {
        let high = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(numbers));
        // SAFETY: the last 16 of the 32 numbers.
        unsafe { _mm512_storeu_si512(out.add(16).cast(), _mm512_add_epi32(high, base)) };
    }
}

/// Writes the byte offsets at which the words of `text` start and end to `starts` and `ends`. A word is a run of ASCII
/// letters. Returns the number of starts and the number of ends.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn word_positions(text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
    let most = text.len() / 2 + 1 + OVERRUN;
    assert!(starts.len() >= most && ends.len() >= most, "no room for the words");
    let mut edges = Edges::default();
    let (mut start_count, mut end_count) = (0, 0);
    let mut offset = 0;
    while offset < text.len() {
        let rest = text.len() - offset;
        let present = if rest >= BLOCK { u64::MAX } else { u64::MAX >> (BLOCK - rest) };
        // SAFETY: `offset` lies in the text.
        let at = unsafe { text.as_ptr().add(offset) };
        let bytes = if rest >= BLOCK {
            // SAFETY: 64 bytes of the text follow.
            unsafe { _mm512_loadu_si512(at.cast()) }
        } else {
            // SAFETY: only the bytes under the mask are read: those of the text.
            unsafe { _mm512_maskz_loadu_epi8(present, at.cast()) }
        };
        let lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
        let from_a = _mm512_sub_epi8(lower, _mm512_set1_epi8(b'a'.cast_signed()));
        let letters = _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26));
        let (first, past) = edges.next(letters);
        let past = past & present;
        let base = _mm512_set1_epi32((offset as u32).cast_signed());
        // SAFETY: at most one start every two bytes so far, so `OVERRUN` places are left, as the
        // assertion above has checked.
        unsafe { write_bits(first, base, starts.as_mut_ptr().add(start_count)) };
        // SAFETY: no more ends than starts.
        unsafe { write_bits(past, base, ends.as_mut_ptr().add(end_count)) };
        start_count += first.count_ones() as usize;
        end_count += past.count_ones() as usize;
        offset += BLOCK;
    }
    (start_count, end_count)
}
