//! Gathers the highest bits of 64 bytes, with instructions that every processor of the architecture has. So no level is
//! needed, and the loops of all levels may call it.

#[cfg(target_arch = "aarch64")]
pub(crate) mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// Returns the highest bits of 64 bytes as a mask. Each element of `eights` has eight bytes, the
/// first one in its lowest bits.
#[inline]
pub(crate) fn gathered(eights: &[u64; 8]) -> u64 {
    // The compiler only builds for processors with these instructions, so none are detected.
    #[cfg(target_arch = "x86_64")]
    return x86_64::gathered_high_bits(eights);
    #[cfg(target_arch = "aarch64")]
    return aarch64::gathered_high_bits(eights);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    gathered_plain(eights)
}

/// Returns the highest bits of 64 bytes as a mask like [`gathered`], with plain instructions that any processor has.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn gathered_plain(eights: &[u64; 8]) -> u64 {
    // The product brings the highest bits of eight bytes side by side, at the top.
    const GATHER: u64 = 0x0002_0408_1020_4081;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    eights.iter().enumerate().fold(0, |mask, (at, &eight)| {
        mask | ((eight & HIGHEST).wrapping_mul(GATHER) >> 56) << (8 * at)
    })
}

/// Returns a mask of the bytes in which the bit `flag` is set. Bit i of the mask is for byte i, and `flag` is a number
/// with one set bit.
#[inline]
pub(crate) fn flagged(bytes: &[u8; 64], flag: u8) -> u64 {
    let mut eights = [0; 8];
    for (eight, &bytes) in eights.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *eight = u64::from_le_bytes(bytes) << flag.leading_zeros();
    }
    gathered(&eights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn highest_bits_are_the_same_on_any_processor(eights in any::<[u64; 8]>()) {
            prop_assert_eq!(gathered(&eights), gathered_plain(&eights));
        }
    }
}
