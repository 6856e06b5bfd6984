//! Finds words with AVX2: a signed comparison finds the letters of 32 bytes.

use crate::own_loops::word_positions::{BLOCK, Edges, write_bits};
use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8,
};

/// Returns a mask of the letters of 32 bytes.
#[target_feature(enable = "avx2")]
fn letters(bytes: __m256i) -> u32 {
    let lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
    // Moves 'a'..='z' to the 26 lowest signed values, so that one signed comparison decides.
    let shifted =
        _mm256_add_epi8(lower, _mm256_set1_epi8(i8::MIN.wrapping_sub(b'a'.cast_signed())));
    let limit = _mm256_set1_epi8(i8::MIN + 26);
    _mm256_movemask_epi8(_mm256_cmpgt_epi8(limit, shifted)).cast_unsigned()
}

/// Writes the byte offsets at which the words of `text` start and end to `starts` and `ends`. A word is a run of ASCII
/// letters. Returns the number of starts and the number of ends.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn word_positions(text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
    let mut edges = Edges::default();
    let (mut start_count, mut end_count) = (0, 0);
    let mut padded = [0; BLOCK];
    for (number, block) in text.chunks(BLOCK).enumerate() {
        let whole = if block.len() == BLOCK {
            block.as_ptr()
        } else {
            padded[..block.len()].copy_from_slice(block);
            padded.as_ptr()
        };
        // SAFETY: 64 bytes are readable: a whole block, or the padded copy.
        let low = unsafe { _mm256_loadu_si256(whole.cast()) };
        // SAFETY: the second half of the same 64 bytes.
        let high = unsafe { _mm256_loadu_si256(whole.add(32).cast()) };
        let letters = u64::from(letters(low)) | (u64::from(letters(high)) << 32);
        let (first, past) = edges.next(letters);
        let past = past & (u64::MAX >> (BLOCK - block.len()));
        let base = (number * BLOCK) as u32;
        start_count = write_bits(first, base, starts, start_count);
        end_count = write_bits(past, base, ends, end_count);
    }
    (start_count, end_count)
}
