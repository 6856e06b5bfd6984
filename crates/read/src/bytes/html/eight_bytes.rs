//! Searches eight bytes at a time, loaded as a 64-bit word whose lowest byte is the first byte.
//!
//! The functions return a mask: a word in which the highest bit of each byte that matches is set.
//! Only the first marked byte is certain to match. Bytes after that byte may be marked by mistake.

/// Word with 0x01 in each of its eight bytes. Multiplied by a byte, it is a word that consists of
/// eight copies of the byte.
pub(super) const ONES: u64 = u64::from_le_bytes([1; 8]);
/// Word in which the highest bit of each of the eight bytes is set.
const HIGHS: u64 = ONES << 7;

/// Returns a mask that marks each byte of `word` that equals `byte`. The module documentation
/// describes masks.
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGHS
}

/// Returns a mask that marks each byte of `word` that is less than `bound`. `bound` must be at most
/// 0x80.
pub(super) fn less(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(bound)) & !word & HIGHS
}

/// Returns the number of bytes before the first byte that the mask `marks` marks, or eight if no
/// byte is marked.
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
                // The bytes after the first match may have any value.
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
