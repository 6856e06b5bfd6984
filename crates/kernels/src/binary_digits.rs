//! Reads a row of the characters `0` and `1` as bits.
//!
//! Two masks are enough: the bytes that are `1`, and the bytes that are a digit at all. `0` and `1`
//! differ only in their lowest bit. So a byte is a digit if it is `0` after this bit is cleared:
//!
//! ```text
//! text          1 0 1 x
//! is '1'        1 0 1 0    the bits, first digit lowest: 0b0101
//! is digit      1 1 1 0    the first 0 is the first wrong byte: 3
//! ```

use super::Isa;
use super::own_loops::binary_digits::Digits;
use super::vector::{Kernel, Level};

/// Maximum number of digits that one call of [`binary_digits`] converts.
pub const MOST_DIGITS: usize = 128;

/// Converts a text of the characters `0` and `1` to a number. The first digit is the lowest bit.
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
/// Returns the index of the first byte that is neither `0` nor `1`.
///
/// # Panics
///
/// If there are more than [`MOST_DIGITS`] bytes.
pub fn binary_digits(isa: Isa, digits: &[u8]) -> Result<u128, usize> {
    assert!(digits.len() <= MOST_DIGITS, "a row has at most {MOST_DIGITS} digits");
    let (low, high) = digits.split_at(digits.len().min(64));
    let low = isa.run(BinaryDigits { digits: low }, ());
    let high = isa.run(BinaryDigits { digits: high }, ());
    let valid = u128::from(low.valid) | u128::from(high.valid) << 64;
    let wrong = (!valid).trailing_zeros() as usize;
    if wrong < digits.len() {
        return Err(wrong);
    }
    Ok(u128::from(low.ones) | u128::from(high.ones) << 64)
}

struct BinaryDigits<'a> {
    digits: &'a [u8],
}

impl Kernel<()> for BinaryDigits<'_> {
    type Result = Digits;

    #[inline(always)]
    fn run<L: Level>(self, level: L, (): ()) -> Digits {
        level.binary_digits(self.digits)
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
