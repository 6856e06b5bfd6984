//! Eight bytes at a time, as a word whose lowest byte is the first.
//!
//! A match is marked with the highest bit of its byte. The first mark is right; bytes after it may be
//! marked falsely.

/// 0x01 in every byte.
pub(super) const ONES: u64 = u64::from_le_bytes([1; 8]);
/// The highest bit of every byte.
const HIGHS: u64 = ONES << 7;

/// Marks bytes that are `byte`.
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

/// Marks bytes that are less than `bound`, which is 0x80 at most.
pub(super) fn less(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(bound)) & !word & HIGHS
}

/// Returns the number of bytes before the first mark: eight if there is none.
pub(super) fn before_first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_byte_is_found() {
        for at in 0..8 {
            for byte in 0..=u8::MAX {
                // Anything may follow it.
                for behind in [0, byte ^ 1, byte, 0xFF] {
                    let mut bytes = [0xC1; 8];
                    bytes[at] = byte;
                    bytes[at + 1..].fill(behind);
                    let word = u64::from_le_bytes(bytes);
                    let position = |is: &dyn Fn(u8) -> bool| {
                        bytes.iter().position(|&byte| is(byte)).unwrap_or(8)
                    };
                    assert_eq!(before_first(equal(word, byte)), position(&|b| b == byte));
                    for bound in [1, b' ', b'!', 0x80] {
                        assert_eq!(before_first(less(word, bound)), position(&|b| b < bound));
                    }
                }
            }
        }
    }
}
