//! XXH3-64 (seed 0) of many short words of one text.
//!
//! A word's first and last eight bytes, two loads that may overlap, hold all that XXH3 reads of a
//! word of up to 16 bytes, in each of its length classes (1-3, 4-8, 9-16). The classes differ in
//! how the two are joined and in the constants of what follows, so eight words of mixed lengths
//! go through the same instructions, with constants chosen lane by lane. Longer words, and any on
//! processors without AVX-512, go one by one.
//!
//! # References
//! Y. Collet. xxHash, XXH3 algorithm, <https://github.com/Cyan4973/xxHash>.

use super::Isa;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that must be readable before the first word and after the last one.
pub const MARGIN: usize = 16;

/// Appends the hash of `text[starts[i]..ends[i]]` for every i.
///
/// The words are hashed as they stand: lower-casing comes before.
///
/// # Panics
/// If the two slices differ in length, or a word is empty, reversed or nearer than [`MARGIN`] to
/// either end of `text`.
pub fn hash_words(isa: Isa, text: &[u8], starts: &[u32], ends: &[u32], hashes: &mut Vec<u64>) {
    assert_eq!(starts.len(), ends.len(), "a word has a start and an end");
    hashes.reserve(starts.len());
    match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            assert!(in_bounds(text, starts, ends), "words keep a margin to the ends of the text");
            // SAFETY: AVX-512 was detected; every word keeps its margin within `text`.
            unsafe { avx512::hash_words(text, starts, ends, hashes) }
        }
        _ => portable(text, starts, ends, hashes),
    }
}

/// Whether every word is non-empty and keeps the margin.
fn in_bounds(text: &[u8], starts: &[u32], ends: &[u32]) -> bool {
    let limit = text.len().saturating_sub(MARGIN);
    let bad = starts.iter().zip(ends).fold(false, |bad, (&start, &end)| {
        bad | (start >= end) | ((start as usize) < MARGIN) | (end as usize > limit)
    });
    !bad && u32::try_from(text.len()).is_ok_and(|length| length <= i32::MAX as u32)
}

fn portable(text: &[u8], starts: &[u32], ends: &[u32], hashes: &mut Vec<u64>) {
    let words = starts.iter().zip(ends);
    hashes.extend(words.map(|(&start, &end)| xxh3_64(&text[start as usize..end as usize])));
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::MARGIN;
    use std::arch::x86_64::*;
    use xxhash_rust::xxh3::xxh3_64;

    /// XXH3's default secret, as far as words of up to 16 bytes use it.
    const SECRET: [u64; 7] = [
        0xbe4b_a423_396c_feb8,
        0x1cad_21f7_2c81_017c,
        0xdb97_9083_e96d_d4de,
        0x1f67_b3b7_a4a4_4072,
        0x78e5_c0cc_4ee6_79cb,
        0x2172_ffcc_7dd0_5a82,
        0x8e24_43f7_7446_08b8,
    ];
    const FLIP_3: u64 = (SECRET[0] & 0xffff_ffff) ^ (SECRET[0] >> 32);
    const FLIP_8: u64 = SECRET[1] ^ SECRET[2];
    const FLIP_16_FIRST: u64 = SECRET[3] ^ SECRET[4];
    const FLIP_16_LAST: u64 = SECRET[5] ^ SECRET[6];
    const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
    const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
    const PRIME_MX1: u64 = 0x1656_6791_9E37_79F9;
    const PRIME_MX2: u64 = 0x9FB2_1C65_1E98_DF25;

    /// # Safety
    /// Needs AVX-512 F, BW and DQ; every word keeps [`MARGIN`] to both ends of `text`, which is
    /// no longer than `i32::MAX`, and `hashes` has room for one more hash per word.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) unsafe fn hash_words(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        hashes: &mut Vec<u64>,
    ) {
        let words = starts.len();
        let first_new = hashes.len();
        let room = &mut hashes.spare_capacity_mut()[..words];
        let mut at = 0;
        while at + 8 <= words {
            // SAFETY: eight elements follow in each slice, as the loop's condition says; the
            // words are in bounds as the caller promises.
            unsafe {
                let start = _mm256_loadu_si256(starts.as_ptr().add(at).cast());
                let end = _mm256_loadu_si256(ends.as_ptr().add(at).cast());
                let (hash, long) = hash_eight(text, start, end);
                _mm512_storeu_si512(room.as_mut_ptr().add(at).cast(), hash);
                rehash_long(text, starts, ends, at, long, room);
            }
            at += 8;
        }
        if at < words {
            // The lanes without a word hash the byte after the first margin; nobody reads them.
            let mut start = [MARGIN as u32; 8];
            let mut end = [MARGIN as u32 + 1; 8];
            start[..words - at].copy_from_slice(&starts[at..]);
            end[..words - at].copy_from_slice(&ends[at..]);
            let mut eight = [0_u64; 8];
            // SAFETY: the arrays hold eight elements; the words are in bounds as the caller
            // promises, and a text with a word is longer than its margins.
            let long = unsafe {
                let start = _mm256_loadu_si256(start.as_ptr().cast());
                let end = _mm256_loadu_si256(end.as_ptr().cast());
                let (hash, long) = hash_eight(text, start, end);
                _mm512_storeu_si512(eight.as_mut_ptr().cast(), hash);
                long
            };
            for (slot, hash) in room[at..].iter_mut().zip(eight) {
                slot.write(hash);
            }
            rehash_long(text, starts, ends, at, long, room);
        }
        // SAFETY: the loops above wrote `words` hashes behind the first `first_new`.
        unsafe { hashes.set_len(first_new + words) };
    }

    /// Hashes the words of the mask `long`, counted from word `at`, one by one.
    #[inline]
    fn rehash_long(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        at: usize,
        mut long: u8,
        room: &mut [std::mem::MaybeUninit<u64>],
    ) {
        while long != 0 {
            let word = at + long.trailing_zeros() as usize;
            room[word].write(xxh3_64(&text[starts[word] as usize..ends[word] as usize]));
            long &= long - 1;
        }
    }

    /// The hashes of eight words, and the mask of those of more than 16 bytes, whose hash is
    /// another.
    ///
    /// # Safety
    /// Needs AVX-512 F, BW and DQ; every word keeps [`MARGIN`] to both ends of `text`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn hash_eight(text: &[u8], start: __m256i, end: __m256i) -> (__m512i, u8) {
        let constant = |value: u64| _mm512_set1_epi64(value.cast_signed());
        let length = _mm512_cvtepu32_epi64(_mm256_sub_epi32(end, start));
        let is_8 = _mm512_cmpgt_epi64_mask(length, constant(3));
        let is_16 = _mm512_cmpgt_epi64_mask(length, constant(8));
        let is_long = _mm512_cmpgt_epi64_mask(length, constant(16));
        let by_class = |three: u64, eight: u64, sixteen: u64| {
            let lanes = _mm512_mask_mov_epi64(constant(three), is_8, constant(eight));
            _mm512_mask_mov_epi64(lanes, is_16, constant(sixteen))
        };
        let base = text.as_ptr().cast();
        // SAFETY: eight bytes from a word's start, and eight before its end, lie within its
        // margins, which lie within the text.
        let (first, last) = unsafe {
            let last_at = _mm256_sub_epi32(end, _mm256_set1_epi32(8));
            (_mm512_i32gather_epi64::<1>(start, base), _mm512_i32gather_epi64::<1>(last_at, base))
        };

        let three = join_3(first, last, length);
        let eight = join_8(first, last);
        let sixteen = join_16(first, last, length);
        let mut hash = _mm512_mask_mov_epi64(three, is_8, eight);
        hash = _mm512_mask_mov_epi64(hash, is_16, sixteen);

        hash = _mm512_mullo_epi64(hash, by_class(PRIME64_2, PRIME_MX2, PRIME_MX1));
        let shifted = _mm512_srlv_epi64(hash, by_class(29, 35, 32));
        let added = _mm512_mask_add_epi64(shifted, is_8 & !is_16, shifted, length);
        hash = _mm512_xor_si512(hash, added);
        hash = _mm512_mullo_epi64(hash, by_class(PRIME64_3, PRIME_MX2, 1));
        let shifted = _mm512_srlv_epi64(hash, by_class(32, 28, 64));
        (_mm512_xor_si512(hash, shifted), is_long)
    }

    /// What stands before the first multiplication for words of 1 to 3 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn join_3(first: __m512i, last: __m512i, length: __m512i) -> __m512i {
        let byte = _mm512_set1_epi64(0xff);
        let middle_shift = _mm512_slli_epi64::<3>(_mm512_srli_epi64::<1>(length));
        let middle = _mm512_and_si512(_mm512_srlv_epi64(first, middle_shift), byte);
        let head = _mm512_slli_epi64::<16>(_mm512_and_si512(first, byte));
        let joined = _mm512_or_si512(
            _mm512_or_si512(head, _mm512_slli_epi64::<24>(middle)),
            _mm512_or_si512(_mm512_srli_epi64::<56>(last), _mm512_slli_epi64::<8>(length)),
        );
        let keyed = _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_3.cast_signed()));
        _mm512_xor_si512(keyed, _mm512_srli_epi64::<33>(keyed))
    }

    /// What stands before the first multiplication for words of 4 to 8 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn join_8(first: __m512i, last: __m512i) -> __m512i {
        let joined = _mm512_or_si512(_mm512_srli_epi64::<32>(last), _mm512_slli_epi64::<32>(first));
        let keyed = _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_8.cast_signed()));
        let (one, other) = (_mm512_rol_epi64::<49>(keyed), _mm512_rol_epi64::<24>(keyed));
        _mm512_xor_si512(keyed, _mm512_xor_si512(one, other))
    }

    /// What stands before the first multiplication for words of 9 to 16 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn join_16(first: __m512i, last: __m512i, length: __m512i) -> __m512i {
        let first = _mm512_xor_si512(first, _mm512_set1_epi64(FLIP_16_FIRST.cast_signed()));
        let last = _mm512_xor_si512(last, _mm512_set1_epi64(FLIP_16_LAST.cast_signed()));
        let reversal =
            _mm512_broadcast_i32x4(_mm_set_epi64x(0x0809_0a0b_0c0d_0e0f, 0x0001_0203_0405_0607));
        let reversed = _mm512_shuffle_epi8(first, reversal);
        let sum = _mm512_add_epi64(_mm512_add_epi64(length, reversed), last);
        let sum = _mm512_add_epi64(sum, folded_product(first, last));
        _mm512_xor_si512(sum, _mm512_srli_epi64::<37>(sum))
    }

    /// The halves of the 128-bit product, joined by exclusive or.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn folded_product(a: __m512i, b: __m512i) -> __m512i {
        let low_half = _mm512_set1_epi64(0xffff_ffff);
        let (a_high, b_high) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        let low_low = _mm512_mul_epu32(a, b);
        let low_high = _mm512_mul_epu32(a, b_high);
        let high_low = _mm512_mul_epu32(a_high, b);
        let high_high = _mm512_mul_epu32(a_high, b_high);
        // At most (2^32 - 1)^2 + 2 (2^32 - 1): no overflow.
        let middle = _mm512_add_epi64(
            _mm512_add_epi64(_mm512_srli_epi64::<32>(low_low), high_low),
            _mm512_and_si512(low_high, low_half),
        );
        let high = _mm512_add_epi64(
            _mm512_add_epi64(high_high, _mm512_srli_epi64::<32>(low_high)),
            _mm512_srli_epi64::<32>(middle),
        );
        let low =
            _mm512_or_si512(_mm512_slli_epi64::<32>(middle), _mm512_and_si512(low_low, low_half));
        _mm512_xor_si512(high, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_length_hash_as_the_crate_does() {
        let text: Vec<u8> = (0..400_u32).map(|i| (i.wrapping_mul(167) >> 3) as u8).collect();
        let mut starts = Vec::new();
        let mut ends = Vec::new();
        for length in 1..=64_u32 {
            for offset in 0..9 {
                starts.push(MARGIN as u32 + 5 * length + offset - 5);
                ends.push(MARGIN as u32 + 6 * length + offset - 5);
            }
        }
        ends.iter().for_each(|&end| assert!(end as usize + MARGIN <= text.len() + 40));
        let text = [text, vec![7; 100]].concat();
        for &isa in Isa::available() {
            for words in [0, 1, 7, 8, 9, 23, starts.len()] {
                let mut hashes = vec![1, 2];
                hash_words(isa, &text, &starts[..words], &ends[..words], &mut hashes);
                assert_eq!(hashes.len(), words + 2);
                for word in 0..words {
                    let bytes = &text[starts[word] as usize..ends[word] as usize];
                    assert_eq!(hashes[word + 2], xxh3_64(bytes), "{isa} {}", bytes.len());
                }
            }
        }
    }
}
