//! Bytes that are UTF-8, as text.
//!
//! In a block of 64 bytes, the places where tails must stand follow from the leads before them; a block
//! is text if they stand there and nowhere else. What a lead allows besides matters for few leads: a
//! block that has one of them is left to the standard library, which is the portable twin.

use super::Isa;

/// The text that the bytes are, if they are UTF-8.
#[must_use]
pub fn decode(isa: Isa, bytes: &[u8]) -> Option<&str> {
    let checked = match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected.
        Isa::Avx512 => unsafe { x86::avx512(bytes) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected.
        Isa::Avx2 => unsafe { x86::avx2(bytes) },
        _ => 0,
    };
    str::from_utf8(&bytes[checked..]).ok()?;
    // SAFETY: whole characters up to there were found to be UTF-8, and so was the rest.
    Some(unsafe { str::from_utf8_unchecked(bytes) })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::kernels::byte_lanes::{Avx2, Avx512, Lanes};

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn avx512(bytes: &[u8]) -> usize {
        // SAFETY: the caller's.
        unsafe { checked::<Avx512>(bytes) }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) unsafe fn avx2(bytes: &[u8]) -> usize {
        // SAFETY: the caller's.
        unsafe { checked::<Avx2>(bytes) }
    }

    /// How many of the first bytes are whole characters of UTF-8: all but a block, or those before a
    /// block that is none.
    ///
    /// # Safety
    /// The instruction set is there.
    #[inline(always)]
    unsafe fn checked<L: Lanes>(bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(block) = bytes[at..].first_chunk::<64>() {
            // SAFETY: the instruction set is there, and so are the bytes.
            let (lanes, foreign) = unsafe {
                let lanes = L::load(block.as_ptr());
                (lanes, lanes.below(0))
            };
            if foreign == 0 {
                at += 64;
                continue;
            }
            // SAFETY: the instruction set is there.
            let (tails, below_three, below_four) =
                unsafe { (lanes.below(-64), lanes.below(-32), lanes.below(-16)) };
            // SAFETY: as above. Leads of a character that is too long or a surrogate.
            let rare = unsafe { lanes.below(-62) & !tails | lanes.equal(0xE0) | lanes.equal(0xED) };
            let two = below_three & !tails;
            let three = below_four & !below_three;
            let four = foreign & !below_four;
            let expected = (two | three | four) << 1 | (three | four) << 2 | four << 3;
            // A character may go on behind the block.
            let cut = two >> 63 << 63 | three >> 62 << 62 | four >> 61 << 61;
            let done = cut.trailing_zeros();
            let whole = u64::MAX >> (64 - done);
            // Where that one begins, no other one may go on.
            let begins = cut & cut.wrapping_neg();
            let done = done as usize;
            if (expected ^ tails) & (whole | begins) != 0
                || (rare | four) & whole != 0 && str::from_utf8(&block[..done]).is_err()
            {
                break;
            }
            at += done;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(bytes: &[u8]) {
        for &isa in Isa::available() {
            let slowly = str::from_utf8(bytes).ok();
            assert_eq!(decode(isa, bytes), slowly, "{isa} {}", bytes.escape_ascii());
        }
    }

    #[test]
    fn every_character_and_every_lead_at_every_place_of_a_block() {
        let leads = (0x80..=0xFF_u8).flat_map(|lead| {
            let tails = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0];
            tails.map(|tail| [lead, tail, 0x80, 0xBF])
        });
        for sequence in leads {
            for length in 1..=4 {
                for shift in [0, 1, 59, 60, 61, 62, 63, 64] {
                    for filling in ["a", "中"] {
                        let mut bytes = "a".repeat(shift).into_bytes();
                        bytes.extend(&sequence[..length]);
                        bytes.extend(filling.repeat(70).bytes());
                        check(&bytes);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn text_is_what_the_standard_library_takes(
            pieces in prop::collection::vec("[a-z ,]{0,9}|[一-鿿]{0,30}|[àй한กก🦀]{0,3}", 0..12),
            broken in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        ) {
            let mut bytes = pieces.concat().into_bytes();
            if let Some((place, byte)) = broken && !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
            check(&bytes);
        }
    }
}
