//! Gathers one bit of each of 64 bytes with NEON, which has no instruction for it.

use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vcltzq_s8, vdupq_n_u64, vgetq_lane_u64, vld1q_u8, vpaddq_u8,
    vreinterpretq_s8_u8, vreinterpretq_u8_u64, vreinterpretq_u64_u8, vsetq_lane_u64,
};

/// For each byte of a vector, the bit that it sets in a mask. Eight neighbouring bytes set the
/// eight bits of one byte of the mask.
const PLACES: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// Returns a mask of 64 bytes, which are 0 or 0xFF. Bit i of the mask is set if byte i is 0xFF.
///
/// Byte i of each eight bytes keeps only bit i. Then three rounds add neighbouring bytes, which
/// brings the bits of eight bytes together in one byte.
#[inline]
#[target_feature(enable = "neon")]
pub(crate) fn mask([a, b, c, d]: [uint8x16_t; 4]) -> u64 {
    // SAFETY: the array has the 16 bytes of a vector.
    let places = unsafe { vld1q_u8(PLACES.as_ptr()) };
    let ab = vpaddq_u8(vandq_u8(a, places), vandq_u8(b, places));
    let cd = vpaddq_u8(vandq_u8(c, places), vandq_u8(d, places));
    let quarters = vpaddq_u8(ab, cd);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(quarters, quarters)))
}

/// Returns the highest bits of 64 bytes as a mask. Each element of `eights` has eight bytes, the
/// first one in its lowest bits.
#[inline]
pub(super) fn gathered_high_bits(eights: &[u64; 8]) -> u64 {
    // SAFETY: every 64-bit Arm processor has NEON.
    unsafe { gathered(eights) }
}

#[inline]
#[target_feature(enable = "neon")]
fn gathered(eights: &[u64; 8]) -> u64 {
    let at = |first: usize| {
        let pair = vsetq_lane_u64::<1>(eights[first + 1], vdupq_n_u64(eights[first]));
        vcltzq_s8(vreinterpretq_s8_u8(vreinterpretq_u8_u64(pair)))
    };
    mask([at(0), at(2), at(4), at(6)])
}
