//! Reads a row of the characters `0` and `1` as bits.
//!
//! Two masks matter: the bytes that are `1`, and the bytes that are a digit at all. `0` and `1` differ
//! in their lowest bit only, so a byte is a digit if it is `0` without that bit:
//!
//! ```text
//! text          1 0 1 x
//! is '1'        1 0 1 0    the bits, first digit lowest: 0b0101
//! is digit      1 1 1 0    the first 0 is the first wrong byte: 3
//! ```

use super::{Isa, Kind};

/// The most digits that a row may have.
pub const MOST_DIGITS: usize = 128;

/// Returns the digits as bits, the first digit lowest.
///
/// ```
/// use simtool_kernels::{Isa, binary_digits::binary_digits};
///
/// assert_eq!(binary_digits(Isa::detected(), b"1011"), Ok(0b1101));
/// assert_eq!(binary_digits(Isa::detected(), b"10x1"), Err(2));
/// ```
///
/// # Errors
///
/// The place, from 0, of the first byte that is neither `0` nor `1`.
///
/// # Panics
///
/// If there are more than [`MOST_DIGITS`] bytes.
pub fn binary_digits(isa: Isa, digits: &[u8]) -> Result<u128, usize> {
    assert!(digits.len() <= MOST_DIGITS, "a row has at most {MOST_DIGITS} digits");
    let (bits, valid) = match isa.0 {
        #[cfg(target_arch = "x86_64")]
        Kind::Avx512 => {
            let (low, high) = digits.split_at(digits.len().min(64));
            // SAFETY: `runnable` says that this processor has the instructions, and both
            // halves have at most 64 bytes.
            let low = unsafe { avx512::digits(low) };
            // SAFETY: as above.
            let high = unsafe { avx512::digits(high) };
            (
                u128::from(low.0) | u128::from(high.0) << 64,
                u128::from(low.1) | u128::from(high.1) << 64,
            )
        }
        _ => portable::digits(digits),
    };
    let wrong = (!valid).trailing_zeros() as usize;
    if wrong < digits.len() { Err(wrong) } else { Ok(bits) }
}

mod portable {
    /// Returns the mask of the bytes that are `1`, and the mask of the bytes that are digits.
    pub(super) fn digits(digits: &[u8]) -> (u128, u128) {
        digits.iter().rev().fold((0, 0), |(bits, valid), &byte| {
            ((bits << 1) | u128::from(byte == b'1'), (valid << 1) | u128::from(byte & 0xfe == b'0'))
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_maskz_loadu_epi8, _mm512_set1_epi8,
    };

    /// Returns the mask of the bytes that are `1`, and the mask of the bytes that are digits.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F and BW; there are at most 64 bytes.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn digits(digits: &[u8]) -> (u64, u64) {
        debug_assert!(digits.len() <= 64);
        let present = u64::MAX.checked_shr(64 - digits.len() as u32).unwrap_or(0);
        // SAFETY: only the bytes under the mask are read, and those exist.
        let bytes = unsafe { _mm512_maskz_loadu_epi8(present, digits.as_ptr().cast()) };
        let without_low_bit = _mm512_and_si512(bytes, _mm512_set1_epi8(0xfe_u8.cast_signed()));
        (
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'1'.cast_signed())),
            _mm512_cmpeq_epi8_mask(without_low_bit, _mm512_set1_epi8(b'0'.cast_signed())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_is_read_and_every_wrong_byte_found() {
        let pattern: Vec<u8> = (0..128u32).map(|i| b'0' + (i * i % 7 % 2) as u8).collect();
        for &isa in Isa::available() {
            for length in 0..=MOST_DIGITS {
                let digits = &pattern[..length];
                let expected =
                    (0..length).fold(0u128, |bits, i| bits | u128::from(digits[i] == b'1') << i);
                assert_eq!(binary_digits(isa, digits), Ok(expected), "{isa}, {length} digits");
                for (place, wrong) in (0..length).zip(b"2/ \r\0\xb1a".iter().cycle()) {
                    let mut digits = digits.to_vec();
                    digits[place] = *wrong;
                    assert_eq!(binary_digits(isa, &digits), Err(place), "{isa}");
                }
            }
        }
    }
}
