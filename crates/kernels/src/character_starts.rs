//! Finds where the characters of a block of 64 bytes begin.
//!
//! The highest bits of a byte of UTF-8 show its kind:
//!
//! ```text
//! 0.......   ASCII                    110.....   begins a character of two bytes
//! 10......   continues a character    1110....   begins a character of three bytes, 11110... of four
//! ```

use super::high_bits::gathered;

/// Masks of the bytes of characters beyond ASCII in a block of 64 bytes of UTF-8. Bit i of a mask is
/// for byte i.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starts {
    /// Mask of the bytes that continue a character.
    pub(super) tails: u64,
    /// Mask of the first bytes of characters of two bytes.
    pub(super) two: u64,
    /// Mask of the first bytes of characters of three bytes.
    pub(super) three: u64,
    /// Mask of the first bytes of characters of four bytes, and of the invalid bytes from 0xF8 on.
    pub(super) longer: u64,
}

impl Starts {
    /// Creates the masks from four masks of a block. `foreign` has the bytes beyond ASCII, and
    /// `tails` the bytes that continue a character. `below_three` has the bytes from 0x80 to 0xDF,
    /// and `below_four` the bytes from 0x80 to 0xEF.
    #[inline(always)]
    pub(super) fn new(foreign: u64, tails: u64, below_three: u64, below_four: u64) -> Self {
        Self {
            tails,
            two: below_three & !tails,
            three: below_four & !below_three,
            longer: foreign & !below_four,
        }
    }

    /// Computes the masks of a block of 64 bytes. `foreign` is the mask of its bytes beyond ASCII.
    pub(super) fn of(bytes: &[u8; 64], foreign: u64) -> Self {
        // After the shifts, the highest bit of a byte says whether its first two, three or four bits
        // are all set. A shift also moves bits of the byte before into the lowest bits, which are not
        // read.
        let [mut leads, mut three, mut four] = [[0_u64; 8]; 3];
        for (at, &eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let eight = u64::from_le_bytes(eight);
            leads[at] = eight & eight << 1;
            three[at] = leads[at] & eight << 2;
            four[at] = three[at] & eight << 3;
        }
        let [leads, three, four] = [leads, three, four].map(|mask| gathered(&mask) & foreign);
        Self::new(foreign, foreign & !leads, foreign & !three, foreign & !four)
    }
}

/// Returns the positions of the set bits of a mask, in ascending order.
#[inline]
pub(super) fn places(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        // A set bit is below 64 anyway. With the remainder, callers can index without a check of the
        // bounds.
        let at = rest.trailing_zeros() as usize % 64;
        let has_more = rest != 0;
        rest &= rest.wrapping_sub(1);
        has_more.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn masks_are_those_of_the_bytes_one_by_one(bytes in any::<[[u8; 32]; 2]>()) {
            let bytes: [u8; 64] = bytes.concat().try_into().unwrap();
            let having = |is_so: &dyn Fn(u8) -> bool| {
                (0..64).fold(0, |mask, at| mask | u64::from(is_so(bytes[at])) << at)
            };
            let expected = Starts {
                tails: having(&|byte| (0x80..0xC0).contains(&byte)),
                two: having(&|byte| (0xC0..0xE0).contains(&byte)),
                three: having(&|byte| (0xE0..0xF0).contains(&byte)),
                longer: having(&|byte| byte >= 0xF0),
            };
            let foreign = having(&|byte| byte >= 0x80);
            prop_assert_eq!(Starts::of(&bytes, foreign), expected);
            // Bytes behind a text may be anything.
            let [ascii, none] = [Starts::of(&bytes, 0), Starts::new(0, 0, 0, 0)];
            prop_assert_eq!(ascii, none);
            let all: Vec<usize> = (0..64).filter(|at| expected.tails >> at & 1 != 0).collect();
            prop_assert_eq!(places(expected.tails).collect::<Vec<_>>(), all);
        }
    }
}
