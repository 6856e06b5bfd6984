//! Fingerprints in memory: lanes of bits, and a packed table of rows.

use bytemuck::Pod;
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// One machine word of a fingerprint.
///
/// Lanes are plain little-endian bytes, so a table of them is read from memory and from a mapped
/// file alike.
pub trait Lane:
    Pod
    + Eq
    + Ord
    + Hash
    + Debug
    + Send
    + Sync
    + BitXor<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// Bits in a lane.
    const BITS: u32;
    /// No bit set.
    const ZERO: Self;

    /// Number of bits that are set.
    fn count_ones(self) -> u32;

    /// The lane's bits, widened with zeros.
    fn widen(self) -> u128;

    /// The lowest [`Self::BITS`] bits of `bits`.
    fn narrow(bits: u128) -> Self;

    /// XOR of the lane's 32-bit words.
    ///
    /// Linear, so the fold of a difference is the difference of the folds, and it never has more
    /// bits set than the difference: comparing folds can only let too much through.
    fn fold32(self) -> u32;
}

macro_rules! lane {
    ($lane:ty, $fold:expr) => {
        impl Lane for $lane {
            const BITS: u32 = <$lane>::BITS;
            const ZERO: Self = 0;

            #[inline]
            fn count_ones(self) -> u32 {
                self.count_ones()
            }

            #[inline]
            fn widen(self) -> u128 {
                u128::from(self)
            }

            #[inline]
            fn narrow(bits: u128) -> Self {
                bits as $lane
            }

            #[inline]
            fn fold32(self) -> u32 {
                $fold(self)
            }
        }
    };
}

lane!(u16, u32::from);
lane!(u32, |x| x);
lane!(u64, |x: u64| (x ^ (x >> 32)) as u32);
lane!(u128, |x: u128| {
    let half = (x ^ (x >> 64)) as u64;
    (half ^ (half >> 32)) as u32
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_is_linear_and_never_adds_bits() {
        fn check<L: Lane>(a: L, b: L) {
            assert_eq!(a.fold32() ^ b.fold32(), (a ^ b).fold32());
            assert!((a ^ b).fold32().count_ones() <= (a ^ b).count_ones());
        }
        let mut state = 1u128;
        for _ in 0..1000 {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(11);
            let (a, b) = (state ^ (state >> 61), state.rotate_left(57));
            check(a, b);
            check(a as u64, b as u64);
            check(a as u32, b as u32);
            check(a as u16, b as u16);
        }
    }
}
