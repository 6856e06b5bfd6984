//! Classifies the bytes of a text with AVX2, 32 of them at once.

use crate::words::Block;
use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256,
    _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_storeu_si256,
};

/// Finds the classes of the bytes of `text`, such as letters, in blocks of 64 bytes. For block i, writes one mask for
/// each class to `blocks[i]`, and the block in lower case to `lowered[i]`. Returns whether `text` has a byte beyond
/// ASCII.
#[target_feature(enable = "avx2")]
pub(super) fn classify(text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
    let mut any = 0;
    for ((bytes, block), lowered) in text.iter().zip(blocks).zip(lowered) {
        let bytes = bytes.as_chunks::<32>().0;
        let mut lowered = lowered.as_chunks_mut::<32>().0.iter_mut();
        *block = Block::default();
        for (bytes, shift) in bytes.iter().zip([0, 32]) {
            // SAFETY: half a block has 32 bytes.
            let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            let case_bit = _mm256_set1_epi8(0x20);
            let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
            let letters = is_within(_mm256_or_si256(bytes, case_bit), b'a', b'z');
            let both = _mm256_or_si256(is(b'.'), is(b'\''));
            let joins_digits = _mm256_or_si256(both, _mm256_or_si256(is(b','), is(b';')));
            block.letters |= mask(letters) << shift;
            block.digits |= mask(is_within(bytes, b'0', b'9')) << shift;
            block.underscores |= mask(is(b'_')) << shift;
            block.joins_letters |= mask(_mm256_or_si256(both, is(b':'))) << shift;
            block.joins_digits |= mask(joins_digits) << shift;
            block.foreign |= mask(bytes) << shift;
            block.breaks |= mask(is(b'-')) << shift;
            let lower = _mm256_or_si256(bytes, _mm256_and_si256(letters, case_bit));
            if let Some(lowered) = lowered.next() {
                // SAFETY: half of `lowered` has 32 bytes, too.
                unsafe { _mm256_storeu_si256(lowered.as_mut_ptr().cast(), lower) };
            }
        }
        any |= block.foreign;
    }
    any != 0
}

/// Returns 0xFF for each byte from `first` to `last`, and 0 for each other byte.
#[inline]
#[target_feature(enable = "avx2")]
fn is_within(bytes: __m256i, first: u8, last: u8) -> __m256i {
    let from_first = _mm256_add_epi8(bytes, _mm256_set1_epi8(first.wrapping_neg().cast_signed()));
    let most = _mm256_set1_epi8((last - first).cast_signed());
    _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, most), from_first)
}

/// Returns a mask of the highest bits of 32 bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(bytes: __m256i) -> u64 {
    u64::from(_mm256_movemask_epi8(bytes).cast_unsigned())
}
