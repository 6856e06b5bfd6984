//! Finds the tags of a bucket that are near the tag of a query.
//!
//! Tags are 16 bits and are sorted by weight, the number of their set bits. Two tags that differ in at
//! most t bits have weights that differ by at most t, so all near tags are in one stretch. The search
//! begins where the stretch is expected and makes it longer as long as weights are near enough:
//!
//! ```text
//! weights    3 4 4 5 5 5 6 6 7 7 8 9     query of weight 6, t = 1
//! expected             [5 6 6]
//! stretch          [5 5 5 6 6 7 7]
//! ```
//!
//! A word has at most t set bits if nothing is left after its lowest bit was cleared t times
//! (`x & (x - 1)`). For small t these are fewer instructions than a count, and every processor has them.

use super::{Isa, Kind};
use std::ops::Range;

/// Tags by which a stretch is made longer.
const STEP: usize = 32;

/// Appends the place of each of `tags` that differs from `query` in at most `most` bits, in ascending
/// order. Tags are little-endian and ascending by weight.
///
/// It reads the tags at the `expected` places, and more where they are not enough.
///
/// ```
/// use simtool_kernels::{Isa, near_tags::near_tags};
///
/// let tags = [0b0001_u16, 0b0011, 0b0111].map(u16::to_le_bytes);
/// let mut places = Vec::new();
/// near_tags(&tags, 1..2, 0b0011, 1, Isa::detected(), &mut places);
/// assert_eq!(places, [0, 1, 2]);
/// ```
pub fn near_tags(
    tags: &[[u8; 2]],
    expected: Range<usize>,
    query: u16,
    most: u32,
    isa: Isa,
    places: &mut Vec<u32>,
) {
    #[cfg(target_arch = "x86_64")]
    match isa.0 {
        Kind::Avx512 => {
            // SAFETY: `runnable` says that this processor has the instructions.
            return unsafe { x86::near_tags_avx512(tags, expected, query, most, places) };
        }
        // SAFETY: as above.
        Kind::Avx2 => return unsafe { x86::near_tags_avx2(tags, expected, query, most, places) },
        Kind::Portable => {}
    }
    let _ = isa;
    let (first, tags) = stretch(tags, expected, query, most);
    near_tags_portable(tags, query, first, most, places);
}

/// Returns a stretch that holds all near tags, made longer from where they are expected, and its first
/// place.
#[inline(always)]
fn stretch(tags: &[[u8; 2]], expected: Range<usize>, query: u16, most: u32) -> (u32, &[[u8; 2]]) {
    if expected.is_empty() || expected.end > tags.len() {
        return (0, tags);
    }
    let (weight, Range { mut start, mut end }) = (query.count_ones(), expected);
    let weight_at = |place: usize| u16::from_le_bytes(tags[place]).count_ones();
    while start > 0 && weight_at(start) + most >= weight {
        start = start.saturating_sub(STEP);
    }
    while end < tags.len() && weight_at(end - 1) <= weight + most {
        end = (end + STEP).min(tags.len());
    }
    (start as u32, &tags[start..end])
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
    use super::{near_tags_portable, stretch};
    use std::arch::x86_64::{
        _mm256_add_epi16, _mm256_and_si256, _mm256_cmpeq_epi16, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_xor_si256,
        _mm512_add_epi16, _mm512_and_si512, _mm512_mask_testn_epi16_mask, _mm512_maskz_loadu_epi16,
        _mm512_set1_epi16, _mm512_xor_si512,
    };
    use std::ops::Range;

    /// Vectors that are compared before the places of their tags are appended. Appending in between
    /// would push the repeated query out of its register.
    const MASKS: usize = 8;

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,popcnt")]
    pub(super) fn near_tags_avx512(
        tags: &[[u8; 2]],
        expected: Range<usize>,
        query: u16,
        most: u32,
        places: &mut Vec<u32>,
    ) {
        let (first, tags) = stretch(tags, expected, query, most);
        let queries = _mm512_set1_epi16(query.cast_signed());
        let ones = _mm512_set1_epi16(-1);
        for (group, tags) in tags.chunks(MASKS * 32).enumerate() {
            let mut masks = [0; MASKS];
            for (near, lanes) in masks.iter_mut().zip(tags.chunks(32)) {
                let valid = u32::MAX >> (32 - lanes.len());
                // SAFETY: only the lanes under the mask are read, and those exist.
                let tags = unsafe { _mm512_maskz_loadu_epi16(valid, lanes.as_ptr().cast()) };
                let mut rest = _mm512_xor_si512(tags, queries);
                for _ in 0..most.min(u16::BITS) {
                    rest = _mm512_and_si512(rest, _mm512_add_epi16(rest, ones));
                }
                *near = _mm512_mask_testn_epi16_mask(valid, rest, rest);
            }
            let first = first + (group * MASKS * 32) as u32;
            push_places(&masks, first, 0, places);
        }
    }

    /// Appends the places of the set bits of masks; each place has `1 << shift` bits of a mask.
    #[inline(always)]
    fn push_places(masks: &[u32; MASKS], first: u32, shift: u32, places: &mut Vec<u32>) {
        for (first, &mask) in (first..).step_by(32 >> shift).zip(masks) {
            let mut near = mask;
            while near != 0 {
                places.push(first + (near.trailing_zeros() >> shift));
                near &= near - 1;
            }
        }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    pub(super) fn near_tags_avx2(
        tags: &[[u8; 2]],
        expected: Range<usize>,
        query: u16,
        most: u32,
        places: &mut Vec<u32>,
    ) {
        let (first, tags) = stretch(tags, expected, query, most);
        let queries = _mm256_set1_epi16(query.cast_signed());
        let ones = _mm256_set1_epi16(-1);
        let (steps, tail) = tags.as_chunks::<16>();
        for (group, steps) in steps.chunks(MASKS).enumerate() {
            let mut masks = [0; MASKS];
            for (near, lanes) in masks.iter_mut().zip(steps) {
                // SAFETY: the chunk is a vector.
                let tags = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast()) };
                let mut rest = _mm256_xor_si256(tags, queries);
                for _ in 0..most.min(u16::BITS) {
                    rest = _mm256_and_si256(rest, _mm256_add_epi16(rest, ones));
                }
                let equal = _mm256_cmpeq_epi16(rest, _mm256_setzero_si256());
                // The mask has two bits for each tag; one is enough.
                *near = _mm256_movemask_epi8(equal).cast_unsigned() & 0x5555_5555;
            }
            push_places(&masks, first + (group * MASKS * 16) as u32, 1, places);
        }
        let first = first + (tags.len() - tail.len()) as u32;
        near_tags_portable(tail, query, first, most, places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    #[test]
    fn every_path_finds_the_same_places() {
        // Random tags, light ones, heavy ones, and all the same.
        let kinds: [&dyn Fn(u64) -> u64; 4] = [
            &mix,
            &|i| mix(i) & mix(i + 1000) & mix(i + 2000),
            &|i| mix(i) | mix(i + 1000) | mix(i + 2000),
            &|_| 0x1234,
        ];
        for (kind, length) in kinds.iter().flat_map(|kind| [0, 1, 31, 65, 300].map(|n| (kind, n))) {
            let mut tags: Vec<u16> = (0..length).map(|i| kind(i) as u16).collect();
            tags.sort_by_key(|tag| tag.count_ones());
            let tags: Vec<[u8; 2]> = tags.iter().map(|tag| tag.to_le_bytes()).collect();
            let queries = (0..20).map(|i| kind(i + 290) as u16).chain([0, u16::MAX]);
            for (at, query) in queries.enumerate() {
                let most = [0, 1, 2, 3, 15, 16, u32::MAX / 2][at % 7];
                let mut expected = Vec::new();
                near_tags_portable(&tags, query, 0, most, &mut expected);
                let guess = at * tags.len() / 22;
                for guess in [guess..guess + tags.len() / 4, 0..tags.len(), 9..1000, 2..2] {
                    for &isa in Isa::available() {
                        let mut places = Vec::new();
                        near_tags(&tags, guess.clone(), query, most, isa, &mut places);
                        assert_eq!(
                            places, expected,
                            "{isa}, {length} tags, {most} bits, {guess:?}"
                        );
                    }
                }
            }
        }
    }
}
