//! Hashes short words with AVX2, four of them at once.

use crate::own_loops::xxh3_short::{FLIP_3, FLIP_8, PRIME_MX2, PRIME64_2, PRIME64_3, PlacedWords};
use crate::x86_64::xxh3_short as in_lanes;
use std::arch::x86_64::{
    __m128i, __m256i, _mm_castpd_si128, _mm_castsi128_pd, _mm_castsi128_ps, _mm_cmpgt_epi32,
    _mm_loadh_pd, _mm_loadl_epi64, _mm_loadu_si128, _mm_movemask_ps, _mm_set1_epi32, _mm_sub_epi32,
    _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32, _mm256_blendv_epi8, _mm256_cmpgt_epi64,
    _mm256_cvtepu32_epi64, _mm256_mul_epu32, _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi64x,
    _mm256_setr_epi64x, _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_srlv_epi64, _mm256_storeu_si256, _mm256_xor_si256,
};

/// For each mask of four bits, the positions of its set bits, in ascending order. Each byte of an entry holds one
/// position, from the lowest byte on.
const LANES: [u32; 16] = {
    let mut lanes = [0; 16];
    let mut mask = 0_usize;
    while mask < 16 {
        let (mut lane, mut found) = (4_u32, 0);
        while lane > 0 {
            lane -= 1;
            if mask >> lane & 1 == 1 {
                found = found << 8 | lane;
            }
        }
        lanes[mask] = found;
        mask += 1;
    }
    lanes
};

/// Appends the XXH3 hash of each word to `hashes`.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) fn hash_words(words: PlacedWords<'_>, hashes: &mut Vec<u64>) {
    let hash = |text: &[u8], starts: &[u32; 4], ends: &[u32; 4]| {
        let mut hashes = [0; 4];
        // SAFETY: placed words keep the margin; the array holds four hashes.
        let mask = unsafe {
            let (lanes, mask) = hash_four(text, starts, ends);
            _mm256_storeu_si256(hashes.as_mut_ptr().cast(), lanes);
            mask
        };
        (hashes, mask)
    };
    // `first` is a multiple of 4 below 256, and the number of a lane is below 4. So the sum fits in a
    // byte.
    let numbers = |mask: u8, first: usize| {
        (LANES[usize::from(mask & 15)] + 0x0101_0101 * first as u32).to_le_bytes()
    };
    in_lanes::hash_words(words, hashes, hash, numbers);
}

/// Returns the hashes of four words, and a mask of the words of more than 8 bytes. The returned
/// hashes of these words are wrong.
///
/// # Safety
/// Every word keeps the margin of [`PlacedWords`] to both ends of `text`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn hash_four(text: &[u8], starts: &[u32; 4], ends: &[u32; 4]) -> (__m256i, u8) {
    // SAFETY: eight bytes from a word's start, and eight before its end, lie within its
    // margins, which lie within the text; the arrays hold four elements.
    let (first, last, lengths) = unsafe {
        (
            load_four(text.as_ptr(), starts.map(|start| start as usize)),
            load_four(text.as_ptr(), ends.map(|end| end as usize - 8)),
            _mm_sub_epi32(
                _mm_loadu_si128(ends.as_ptr().cast()),
                _mm_loadu_si128(starts.as_ptr().cast()),
            ),
        )
    };
    let long = _mm_cmpgt_epi32(lengths, _mm_set1_epi32(8));
    let mask = _mm_movemask_ps(_mm_castsi128_ps(long)).cast_unsigned() as u8;
    (hash_8(first, last, lengths), mask)
}

/// Loads eight bytes from each of four offsets, which are counted from `base`.
///
/// # Safety
///
/// The eight bytes at each offset are readable.
#[inline]
#[target_feature(enable = "avx2")]
pub(in crate::x86_64) unsafe fn load_four(base: *const u8, at: [usize; 4]) -> __m256i {
    let [a, b, c, d] = at;
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (load_two(base, a, b), load_two(base, c, d)) };
    _mm256_set_m128i(high, low)
}

/// Loads eight bytes from each of two offsets, which are counted from `base`.
///
/// # Safety
///
/// The eight bytes at both offsets are readable.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_two(base: *const u8, one: usize, other: usize) -> __m128i {
    // SAFETY: the caller's promise.
    unsafe {
        let one = _mm_castsi128_pd(_mm_loadl_epi64(base.add(one).cast()));
        _mm_castpd_si128(_mm_loadh_pd(one, base.add(other).cast()))
    }
}

/// Returns the hashes of four words of at most 8 bytes, without a branch. `first` has the 8 bytes
/// from the start of each word on, and `last` the 8 bytes before its end.
#[inline]
#[target_feature(enable = "avx2")]
fn hash_8(first: __m256i, last: __m256i, lengths: __m128i) -> __m256i {
    let constant = |value: u64| _mm256_set1_epi64x(value.cast_signed());
    let length = _mm256_cvtepu32_epi64(lengths);
    let is_8 = _mm256_cmpgt_epi64(length, constant(3));
    let by_class =
        |three: u64, eight: u64| _mm256_blendv_epi8(constant(three), constant(eight), is_8);

    let byte = constant(0xff);
    let middle_shift = _mm256_slli_epi64::<3>(_mm256_srli_epi64::<1>(length));
    let middle = _mm256_and_si256(_mm256_srlv_epi64(first, middle_shift), byte);
    let head = _mm256_slli_epi64::<16>(_mm256_and_si256(first, byte));
    let three = _mm256_or_si256(
        _mm256_or_si256(head, _mm256_slli_epi64::<24>(middle)),
        _mm256_or_si256(_mm256_srli_epi64::<56>(last), _mm256_slli_epi64::<8>(length)),
    );
    let three = _mm256_xor_si256(three, constant(FLIP_3));

    let (low, high) = (_mm256_srli_epi64::<32>(last), _mm256_slli_epi64::<32>(first));
    let eight = _mm256_xor_si256(_mm256_blend_epi32::<0xaa>(low, high), constant(FLIP_8));
    let three_bytes_left = _mm256_setr_epi64x(
        0x0403_0201_0007_0605,
        0x0c0b_0a09_080f_0e0d,
        0x0403_0201_0007_0605,
        0x0c0b_0a09_080f_0e0d,
    );
    let by_24 = _mm256_shuffle_epi8(eight, three_bytes_left);
    let by_49 = _mm256_or_si256(_mm256_slli_epi64::<49>(eight), _mm256_srli_epi64::<15>(eight));
    let eight = _mm256_xor_si256(eight, _mm256_xor_si256(by_24, by_49));

    let mut hash = _mm256_blendv_epi8(three, eight, is_8);
    hash = product(hash, by_class(PRIME64_2, PRIME_MX2));
    let shifted = _mm256_srlv_epi64(hash, by_class(29, 35));
    let added = _mm256_add_epi64(shifted, _mm256_and_si256(is_8, length));
    hash = product(_mm256_xor_si256(hash, added), by_class(PRIME64_3, PRIME_MX2));
    _mm256_xor_si256(hash, _mm256_srlv_epi64(hash, by_class(32, 28)))
}

/// Multiplies the 64-bit numbers in the same position of `a` and `b`. Returns the lowest 64 bits of each product.
#[inline]
#[target_feature(enable = "avx2")]
fn product(a: __m256i, b: __m256i) -> __m256i {
    let (a_high, b_high) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
    let cross = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_mul_epu32(a, b_high));
    _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
}
