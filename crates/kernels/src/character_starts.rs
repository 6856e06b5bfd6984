//! Where the characters of a block of 64 bytes begin.

use super::word_masks::gathered;

/// First bytes of characters beyond ASCII in a block of 64 bytes; byte 0 in bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starts {
    /// Bytes that go on with a character.
    pub(super) tails: u64,
    /// Characters of two bytes.
    pub(super) two: u64,
    /// Characters of three bytes.
    pub(super) three: u64,
    /// What is longer.
    pub(super) longer: u64,
}

impl Starts {
    /// Those of a block of which it is known what is beyond ASCII, goes on with a character, and is
    /// beyond ASCII and below 0xE0 or 0xF0.
    #[inline(always)]
    pub(super) fn new(foreign: u64, tails: u64, below_three: u64, below_four: u64) -> Self {
        Self {
            tails,
            two: below_three & !tails,
            three: below_four & !below_three,
            longer: foreign & !below_four,
        }
    }

    /// Those of a block of which it is known what is beyond ASCII.
    pub(super) fn of(bytes: &[u8; 64], foreign: u64) -> Self {
        // What the highest bits of each byte are, at its highest.
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

/// The places of the bits of a mask, ascending.
#[inline]
pub(super) fn places(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        // Where there is one it is below 64, which spares checks.
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
        fn bytes_are_what_they_are_one_by_one(bytes in any::<[[u8; 32]; 2]>()) {
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
            // What is behind a text may be anything.
            let [ascii, none] = [Starts::of(&bytes, 0), Starts::new(0, 0, 0, 0)];
            prop_assert_eq!(ascii, none);
            let all: Vec<usize> = (0..64).filter(|at| expected.tails >> at & 1 != 0).collect();
            prop_assert_eq!(places(expected.tails).collect::<Vec<_>>(), all);
        }
    }
}
