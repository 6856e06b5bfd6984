//! Classifies the bytes of a text with NEON, 16 of them at once.

use crate::high_bits::aarch64::mask;
use crate::words::Block;
use std::arch::aarch64::{
    uint8x16_t, vandq_u8, vceqq_u8, vcgeq_u8, vcleq_u8, vdupq_n_u8, vld1q_u8, vorrq_u8, vst1q_u8,
};

/// Finds the classes of the bytes of `text`, such as letters, in blocks of 64 bytes. For block i, writes one mask for
/// each class to `blocks[i]`, and the block in lower case to `lowered[i]`. Returns whether `text` has a byte beyond
/// ASCII.
#[target_feature(enable = "neon")]
pub(super) fn classify(text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
    let mut any = 0;
    for ((bytes, block), lowered) in text.iter().zip(blocks).zip(lowered) {
        let quarters = bytes.as_chunks::<16>().0;
        // SAFETY: a quarter of a block has the 16 bytes of a vector.
        let quarter = |number: usize| unsafe { vld1q_u8(quarters[number].as_ptr()) };
        let bytes = [quarter(0), quarter(1), quarter(2), quarter(3)];
        let case_bit = vdupq_n_u8(0x20);
        let letters = bytes.map(|bytes| is_within(vorrq_u8(bytes, case_bit), b'a', b'z'));
        let full_stops_and_apostrophes =
            bytes.map(|bytes| vorrq_u8(is(bytes, b'.'), is(bytes, b'\'')));
        let joined_with = |byte: u8, marks: [uint8x16_t; 4]| {
            let at = |number: usize| vorrq_u8(marks[number], is(bytes[number], byte));
            [at(0), at(1), at(2), at(3)]
        };
        *block = Block {
            letters: mask(letters),
            digits: mask(bytes.map(|bytes| is_within(bytes, b'0', b'9'))),
            underscores: mask(bytes.map(|bytes| is(bytes, b'_'))),
            joins_letters: mask(joined_with(b':', full_stops_and_apostrophes)),
            joins_digits: mask(joined_with(b';', joined_with(b',', full_stops_and_apostrophes))),
            foreign: mask(bytes.map(|bytes| vcgeq_u8(bytes, vdupq_n_u8(0x80)))),
            others: 0,
            breaks: mask(bytes.map(|bytes| is(bytes, b'-'))),
        };
        let lowered = lowered.as_chunks_mut::<16>().0.iter_mut();
        for (lowered, (bytes, letters)) in lowered.zip(bytes.into_iter().zip(letters)) {
            let lower = vorrq_u8(bytes, vandq_u8(letters, case_bit));
            // SAFETY: a quarter of the copy has the 16 bytes of a vector.
            unsafe { vst1q_u8(lowered.as_mut_ptr(), lower) };
        }
        any |= block.foreign;
    }
    any != 0
}

/// Returns 0xFF for each byte that equals `byte`, and 0 for each other byte.
#[inline]
#[target_feature(enable = "neon")]
fn is(bytes: uint8x16_t, byte: u8) -> uint8x16_t {
    vceqq_u8(bytes, vdupq_n_u8(byte))
}

/// Returns 0xFF for each byte from `first` to `last`, and 0 for each other byte.
#[inline]
#[target_feature(enable = "neon")]
fn is_within(bytes: uint8x16_t, first: u8, last: u8) -> uint8x16_t {
    let from_first = vcgeq_u8(bytes, vdupq_n_u8(first));
    vandq_u8(from_first, vcleq_u8(bytes, vdupq_n_u8(last)))
}
