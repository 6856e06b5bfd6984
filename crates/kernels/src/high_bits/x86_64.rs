//! The highest bits of 64 bytes with SSE2, which has registers of 16 bytes.

use std::arch::x86_64::{_mm_movemask_epi8, _mm_set_epi64x};

/// Returns a mask with the highest bits of 64 bytes: bit i of the mask is the highest bit of byte i. Bytes
/// 8 k to 8 k + 7 are in `eights[k]`, with the first of them in the lowest bits.
#[inline]
pub(super) fn gathered_high_bits(eights: &[u64; 8]) -> u64 {
    // SAFETY: every processor of x86-64 has SSE2.
    unsafe { gathered(eights) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn gathered(eights: &[u64; 8]) -> u64 {
    eights.as_chunks::<2>().0.iter().enumerate().fold(0, |mask, (at, &[low, high])| {
        let bytes = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
        mask | u64::from(_mm_movemask_epi8(bytes).cast_unsigned()) << (16 * at)
    })
}
