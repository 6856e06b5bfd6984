//! Finds the words of a text: where each maximal run of ASCII letters starts and ends.
//!
//! 64 bytes become a bit mask of letters. A start is a letter after a non-letter, an end is a
//! non-letter after a letter:
//!
//! ```text
//! text      t h e   c a t ,
//! letters   1 1 1 0 1 1 1 0
//! shifted   0 1 1 1 0 1 1 1     the byte before is a letter
//! starts    1 0 0 0 1 0 0 0     letters & !shifted
//! ends      0 0 0 1 0 0 0 1     !letters & shifted
//! ```
//!
//! AVX-512 turns the masks into positions with a byte compression, the
//! others by taking the lowest bits out eight at a time, so no path branches on a byte of the text.

use super::{Isa, Kind};

/// Bytes that are classified at once.
const BLOCK: usize = 64;

/// Positions that a block's extraction may write beyond the last real one.
const OVERRUN: usize = 40;

/// Replaces the contents of `starts` and `ends` with the words of `text`: word `i` is
/// `text[starts[i]..ends[i]]`.
///
/// Only the first 2³² − 1 bytes are looked at.
///
/// # Complexity
///
/// O(bytes); on a 2-core Intel Xeon with AVX-512 (2026-11, `cargo bench --bench stages`) about
/// 8 GB/s a core with AVX-512.
pub fn word_positions(isa: Isa, text: &[u8], starts: &mut Vec<u32>, ends: &mut Vec<u32>) {
    let text = &text[..text.len().min(u32::MAX as usize)];
    // A word and its separator take two bytes.
    let most = text.len() / 2 + 1 + OVERRUN;
    if starts.len() < most {
        starts.resize(most, 0);
    }
    if ends.len() < most {
        ends.resize(most, 0);
    }
    let (start_count, mut end_count) = match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions, and both
        // vectors hold `most` positions.
        Kind::Avx512 => unsafe { avx512::positions(text, starts, ends) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx2 => unsafe { avx2::positions(text, starts, ends) },
        _ => portable::positions(text, starts, ends),
    };
    if start_count > end_count {
        ends[end_count] = text.len() as u32;
        end_count += 1;
    }
    starts.truncate(start_count);
    ends.truncate(end_count);
}

/// The masks of a block's first and past-the-end bytes of words, given its letters.
#[derive(Default)]
struct Edges {
    /// 1 if the block before ended in a letter.
    carry: u64,
}

impl Edges {
    #[inline(always)]
    fn of(&mut self, letters: u64) -> (u64, u64) {
        let after_letter = (letters << 1) | self.carry;
        self.carry = letters >> 63;
        (letters & !after_letter, !letters & after_letter)
    }
}

/// Writes the numbers of the set bits of `mask`, plus `base`, from `out[at]` on; returns the next
/// free place. Writes up to seven more than there are.
#[inline(always)]
fn write_bits(mut mask: u64, base: u32, out: &mut [u32], mut at: usize) -> usize {
    let next = at + mask.count_ones() as usize;
    while mask != 0 {
        let eight: &mut [u32; 8] = (&mut out[at..at + 8]).try_into().unwrap_or_else(|_| {
            unreachable!("a slice of eight is an array of eight");
        });
        for place in eight {
            // An empty mask gives a position that nobody reads.
            *place = base.wrapping_add(mask.trailing_zeros());
            mask &= mask.wrapping_sub(1);
        }
        at += 8;
    }
    next
}

mod portable {
    use super::{BLOCK, Edges, write_bits};

    /// 64 letters as bits, eight bytes at a time within a machine word.
    fn letters(block: &[u8; BLOCK]) -> u64 {
        const HIGH: u64 = 0x8080_8080_8080_8080;
        const ONES: u64 = 0x0101_0101_0101_0101;
        let (words, _) = block.as_chunks::<8>();
        words.iter().rev().fold(0, |mask, &word| {
            let bytes = u64::from_le_bytes(word);
            let lower = (bytes | (ONES * 0x20)) & !HIGH;
            // Bit 7 of a byte: at least 'a', more than 'z', and ASCII at all.
            let from_a = lower + ONES * u64::from(0x80 - b'a');
            let past_z = lower + ONES * u64::from(0x80 - b'z' - 1);
            let is_letter = (from_a & !past_z & !bytes & HIGH) >> 7;
            // Gathers bit 0 of every byte into the top byte.
            (mask << 8) | (is_letter.wrapping_mul(0x0102_0408_1020_4080) >> 56)
        })
    }

    pub(super) fn positions(text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
        let mut edges = Edges::default();
        let (mut start_count, mut end_count) = (0, 0);
        for (number, block) in text.chunks(BLOCK).enumerate() {
            let mut padded = [0; BLOCK];
            padded[..block.len()].copy_from_slice(block);
            let (first, past) = edges.of(letters(&padded));
            let past = past & (u64::MAX >> (BLOCK - block.len()));
            let base = (number * BLOCK) as u32;
            start_count = write_bits(first, base, starts, start_count);
            end_count = write_bits(past, base, ends, end_count);
        }
        (start_count, end_count)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, Edges, write_bits};
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi8, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8,
    };

    /// 32 letters as bits.
    #[target_feature(enable = "avx2")]
    fn letters(bytes: __m256i) -> u32 {
        let lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
        // Moves 'a'..='z' to the 26 lowest signed values, so that one signed comparison decides.
        let shifted =
            _mm256_add_epi8(lower, _mm256_set1_epi8(i8::MIN.wrapping_sub(b'a'.cast_signed())));
        let limit = _mm256_set1_epi8(i8::MIN + 26);
        _mm256_movemask_epi8(_mm256_cmpgt_epi8(limit, shifted)).cast_unsigned()
    }

    /// # Safety
    ///
    /// The processor has AVX2, BMI1 and POPCNT.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn positions(
        text: &[u8],
        starts: &mut [u32],
        ends: &mut [u32],
    ) -> (usize, usize) {
        let mut edges = Edges::default();
        let (mut start_count, mut end_count) = (0, 0);
        let mut padded = [0; BLOCK];
        for (number, block) in text.chunks(BLOCK).enumerate() {
            let whole = if block.len() == BLOCK {
                block.as_ptr()
            } else {
                padded[..block.len()].copy_from_slice(block);
                padded.as_ptr()
            };
            // SAFETY: 64 bytes are readable: a whole block, or the padded copy.
            let low = unsafe { _mm256_loadu_si256(whole.cast()) };
            // SAFETY: the second half of the same 64 bytes.
            let high = unsafe { _mm256_loadu_si256(whole.add(32).cast()) };
            let letters = u64::from(letters(low)) | (u64::from(letters(high)) << 32);
            let (first, past) = edges.of(letters);
            let past = past & (u64::MAX >> (BLOCK - block.len()));
            let base = (number * BLOCK) as u32;
            start_count = write_bits(first, base, starts, start_count);
            end_count = write_bits(past, base, ends, end_count);
        }
        (start_count, end_count)
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BLOCK, Edges};
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cmplt_epu8_mask,
        _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32, _mm512_loadu_si512,
        _mm512_maskz_compress_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_set_epi8,
        _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512, _mm512_sub_epi8,
    };

    /// The numbers 0..=63, byte by byte.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn byte_numbers() -> __m512i {
        _mm512_set_epi8(
            63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
            41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
            19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
        )
    }

    /// Writes the numbers of the set bits of `mask` (at most 32) plus `base` to `out`.
    ///
    /// # Safety
    ///
    /// 32 numbers can be written at `out`.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2")]
    unsafe fn write_bits(mask: u64, base: __m512i, out: *mut u32) {
        let numbers = _mm512_maskz_compress_epi8(mask, byte_numbers());
        let low = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(numbers));
        // SAFETY: the caller gives room for 32 numbers; these are the first 16.
        unsafe { _mm512_storeu_si512(out.cast(), _mm512_add_epi32(low, base)) };
        if mask.count_ones() > 16 {
            let high = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(numbers));
            // SAFETY: the last 16 of the 32 numbers.
            unsafe { _mm512_storeu_si512(out.add(16).cast(), _mm512_add_epi32(high, base)) };
        }
    }

    /// # Safety
    ///
    /// The processor has AVX-512 F, BW and VBMI2, and `starts` and `ends` have room for a word
    /// every two bytes and [`super::OVERRUN`] more.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn positions(
        text: &[u8],
        starts: &mut [u32],
        ends: &mut [u32],
    ) -> (usize, usize) {
        let most = text.len() / 2 + 1 + super::OVERRUN;
        assert!(starts.len() >= most && ends.len() >= most, "no room for the words");
        let mut edges = Edges::default();
        let (mut start_count, mut end_count) = (0, 0);
        let mut offset = 0;
        while offset < text.len() {
            let rest = text.len() - offset;
            let present = if rest >= BLOCK { u64::MAX } else { u64::MAX >> (BLOCK - rest) };
            // SAFETY: `offset` lies in the text.
            let at = unsafe { text.as_ptr().add(offset) };
            let bytes = if rest >= BLOCK {
                // SAFETY: 64 bytes of the text follow.
                unsafe { _mm512_loadu_si512(at.cast()) }
            } else {
                // SAFETY: only the bytes under the mask are read: those of the text.
                unsafe { _mm512_maskz_loadu_epi8(present, at.cast()) }
            };
            let lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
            let from_a = _mm512_sub_epi8(lower, _mm512_set1_epi8(b'a'.cast_signed()));
            let letters = _mm512_cmplt_epu8_mask(from_a, _mm512_set1_epi8(26));
            let (first, past) = edges.of(letters);
            let past = past & present;
            let base = _mm512_set1_epi32((offset as u32).cast_signed());
            // SAFETY: at most one start every two bytes so far, so 40 places are left.
            unsafe { write_bits(first, base, starts.as_mut_ptr().add(start_count)) };
            // SAFETY: no more ends than starts.
            unsafe { write_bits(past, base, ends.as_mut_ptr().add(end_count)) };
            start_count += first.count_ones() as usize;
            end_count += past.count_ones() as usize;
            offset += BLOCK;
        }
        (start_count, end_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow, obvious twin.
    fn naive(text: &[u8]) -> Vec<(u32, u32)> {
        let mut words = Vec::new();
        let mut start = None;
        for (at, byte) in text.iter().enumerate() {
            match (byte.is_ascii_alphabetic(), start) {
                (true, None) => start = Some(at),
                (false, Some(first)) => {
                    words.push((first as u32, at as u32));
                    start = None;
                }
                _ => {}
            }
        }
        words.extend(start.map(|first| (first as u32, text.len() as u32)));
        words
    }

    fn check(text: &[u8]) {
        let expected = naive(text);
        for &isa in Isa::available() {
            // Leftovers of an earlier call must not show.
            let (mut starts, mut ends) = (vec![7; 3], vec![9; 200]);
            word_positions(isa, text, &mut starts, &mut ends);
            let found: Vec<_> = starts.iter().copied().zip(ends.iter().copied()).collect();
            assert_eq!(starts.len(), ends.len());
            assert_eq!(found, expected, "{isa} on {:?}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn every_byte_value_is_classified() {
        let all: Vec<u8> = (0..=255).flat_map(|byte| [b' ', byte, b'x', byte]).collect();
        check(&all);
        for byte in 0..=255 {
            check(&[byte]);
        }
    }

    #[test]
    fn every_length_and_alignment_is_the_same() {
        let text: Vec<u8> = (0..400u32)
            .map(|i| if i.wrapping_mul(2_654_435_761) >> 30 == 0 { b'.' } else { b'q' })
            .collect();
        for from in 0..66 {
            for to in from..text.len().min(from + 200) {
                check(&text[from..to]);
            }
        }
        check(&b"a ".repeat(200));
        check(&b"a".repeat(200));
    }

    proptest! {
        #[test]
        fn random_bytes_are_the_same(text in proptest::collection::vec(
            prop_oneof![Just(b' '), Just(b'a'), Just(b'Z'), any::<u8>()], 0..500)) {
            check(&text);
        }
    }
}
