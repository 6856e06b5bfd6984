//! Reads rows of binary digits with AVX-512.

use crate::own_loops::binary_digits::Digits;
use std::arch::x86_64::{
    _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_maskz_loadu_epi8, _mm512_set1_epi8,
};

/// Returns two masks of at most 64 bytes: the bytes that are `1`, and the bytes that are `0` or
/// `1`.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn binary_digits(digits: &[u8]) -> Digits {
    debug_assert!(digits.len() <= 64);
    let present = u64::MAX.checked_shr(64 - digits.len() as u32).unwrap_or(0);
    // SAFETY: only the bytes under the mask are read, and those exist.
    let bytes = unsafe { _mm512_maskz_loadu_epi8(present, digits.as_ptr().cast()) };
    let without_low_bit = _mm512_and_si512(bytes, _mm512_set1_epi8(0xfe_u8.cast_signed()));
    Digits {
        ones: _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'1'.cast_signed())),
        valid: _mm512_cmpeq_epi8_mask(without_low_bit, _mm512_set1_epi8(b'0'.cast_signed())),
    }
}
