//! Which of a bucket's tags are near that of a query.
//!
//! A word has at most t bits set if nothing is left of it after its lowest bit was taken away t times:
//! for the few bits that tags may differ in, that is fewer instructions than counting, and every
//! processor has them.

use super::Isa;

/// Appends the place of each of `tags`, little-endian, that differs from `query` in at most `most`
/// bits, ascending.
pub fn near_tags(tags: &[[u8; 2]], query: u16, most: u32, isa: Isa, places: &mut Vec<u32>) {
    #[cfg(target_arch = "x86_64")]
    match isa.runnable() {
        // SAFETY: `runnable` says that this processor has the instructions.
        Isa::Avx512 => return unsafe { x86::near_tags_avx512(tags, query, most, places) },
        // SAFETY: as above.
        Isa::Avx2 => return unsafe { x86::near_tags_avx2(tags, query, most, places) },
        Isa::Portable => {}
    }
    let _ = isa;
    near_tags_portable(tags, query, 0, most, places);
}

/// The plain twin; places start at `first`.
#[inline(always)]
fn near_tags_portable(tags: &[[u8; 2]], query: u16, first: u32, most: u32, places: &mut Vec<u32>) {
    let near =
        |&(_, tag): &(u32, &[u8; 2])| (u16::from_le_bytes(*tag) ^ query).count_ones() <= most;
    places.extend((first..).zip(tags).filter(near).map(|(place, _)| place));
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::near_tags_portable;
    use std::arch::x86_64::{
        _mm256_add_epi16, _mm256_and_si256, _mm256_cmpeq_epi16, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_xor_si256,
        _mm512_add_epi16, _mm512_and_si512, _mm512_mask_testn_epi16_mask, _mm512_maskz_loadu_epi16,
        _mm512_set1_epi16, _mm512_xor_si512,
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1")]
    pub(super) fn near_tags_avx512(tags: &[[u8; 2]], query: u16, most: u32, places: &mut Vec<u32>) {
        let query = _mm512_set1_epi16(query.cast_signed());
        let ones = _mm512_set1_epi16(-1);
        for (step, lanes) in tags.chunks(32).enumerate() {
            let valid = u32::MAX >> (32 - lanes.len());
            // SAFETY: only the lanes under the mask are read, and those exist.
            let tags = unsafe { _mm512_maskz_loadu_epi16(valid, lanes.as_ptr().cast()) };
            let mut rest = _mm512_xor_si512(tags, query);
            for _ in 0..most.min(u16::BITS) {
                rest = _mm512_and_si512(rest, _mm512_add_epi16(rest, ones));
            }
            let mut near = _mm512_mask_testn_epi16_mask(valid, rest, rest);
            while near != 0 {
                places.push(step as u32 * 32 + near.trailing_zeros());
                near &= near - 1;
            }
        }
    }

    #[target_feature(enable = "avx2,bmi1")]
    pub(super) fn near_tags_avx2(tags: &[[u8; 2]], query: u16, most: u32, places: &mut Vec<u32>) {
        let queries = _mm256_set1_epi16(query.cast_signed());
        let ones = _mm256_set1_epi16(-1);
        let (steps, tail) = tags.as_chunks::<16>();
        for (step, lanes) in steps.iter().enumerate() {
            // SAFETY: the chunk is a vector.
            let tags = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
            let mut rest = _mm256_xor_si256(tags, queries);
            for _ in 0..most.min(u16::BITS) {
                rest = _mm256_and_si256(rest, _mm256_add_epi16(rest, ones));
            }
            let near = _mm256_cmpeq_epi16(rest, _mm256_setzero_si256());
            // Two bits a tag, of which one counts.
            let mut near = _mm256_movemask_epi8(near).cast_unsigned() & 0x5555_5555;
            while near != 0 {
                places.push(step as u32 * 16 + near.trailing_zeros() / 2);
                near &= near - 1;
            }
        }
        let first = (tags.len() - tail.len()) as u32;
        near_tags_portable(tail, query, first, most, places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    #[test]
    fn every_path_finds_the_same_places() {
        let few_bits = |number: u64| (mix(number) & mix(number + 1000) & mix(number + 2000)) as u16;
        let tags: Vec<[u8; 2]> = (0..200).map(|number| few_bits(number).to_le_bytes()).collect();
        for length in (0..70).chain([127, 128, 199]) {
            for most in [0, 1, 2, 3, 15, 16, u32::MAX] {
                let (query, tags) = (u16::from_le_bytes(tags[0]), &tags[1..=length]);
                let mut expected = Vec::new();
                near_tags_portable(tags, query, 0, most, &mut expected);
                for &isa in Isa::available() {
                    let mut places = Vec::new();
                    near_tags(tags, query, most, isa, &mut places);
                    assert_eq!(places, expected, "{isa}, {length} tags, {most} bits");
                }
            }
        }
    }
}
