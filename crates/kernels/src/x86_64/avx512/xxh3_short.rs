//! Hashes short words with AVX-512, eight of them at once.

use crate::own_loops::xxh3_short::{
    FLIP_3, FLIP_8, FLIP_16_FIRST, FLIP_16_LAST, PRIME_MX1, PRIME_MX2, PRIME64_2, PRIME64_3,
    PlacedWords,
};
use crate::x86_64::avx2::xxh3_short::load_four;
use crate::x86_64::xxh3_short as in_lanes;
use std::arch::x86_64::{
    __m512i, _mm_add_epi8, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_maskz_compress_epi8,
    _mm_set_epi64x, _mm_set1_epi8, _mm256_loadu_si256, _mm256_sub_epi32, _mm512_add_epi64,
    _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_cmpgt_epi64_mask,
    _mm512_cvtepu32_epi64, _mm512_inserti64x4, _mm512_mask_add_epi64, _mm512_mask_mov_epi64,
    _mm512_mul_epu32, _mm512_mullo_epi64, _mm512_or_si512, _mm512_rol_epi64, _mm512_set1_epi64,
    _mm512_shuffle_epi8, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_xor_si512,
};

/// Appends the XXH3 hash of each word to `hashes`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
pub(super) fn hash_words(words: PlacedWords<'_>, hashes: &mut Vec<u64>) {
    let hash = |text: &[u8], starts: &[u32; 8], ends: &[u32; 8]| {
        let mut hashes = [0; 8];
        // SAFETY: placed words keep the margin; the array holds eight hashes.
        let mask = unsafe {
            let (lanes, mask) = hash_eight(text, starts, ends);
            _mm512_storeu_si512(hashes.as_mut_ptr().cast(), lanes);
            mask
        };
        (hashes, mask)
    };
    let numbers = |mask: u8, first: usize| {
        let lanes = _mm_cvtsi64_si128(0x0706_0504_0302_0100);
        let lanes = _mm_maskz_compress_epi8(u16::from(mask), lanes);
        let all = _mm_add_epi8(lanes, _mm_set1_epi8((first as u8).cast_signed()));
        _mm_cvtsi128_si64(all).to_le_bytes()
    };
    in_lanes::hash_words(words, hashes, hash, numbers);
}

/// Returns the hashes of eight words, and a mask of the words of more than 16 bytes. The returned
/// hashes of these words are wrong.
///
/// # Safety
/// Every word keeps the margin of [`PlacedWords`] to both ends of `text`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn hash_eight(text: &[u8], starts: &[u32; 8], ends: &[u32; 8]) -> (__m512i, u8) {
    let constant = |value: u64| _mm512_set1_epi64(value.cast_signed());
    // SAFETY: eight bytes from a word's start, and eight before its end, lie within its
    // margins, which lie within the text; the arrays hold eight elements.
    let (first, last, lengths) = unsafe {
        (
            load_eight(text.as_ptr(), starts.map(|start| start as usize)),
            load_eight(text.as_ptr(), ends.map(|end| end as usize - 8)),
            _mm256_sub_epi32(
                _mm256_loadu_si256(ends.as_ptr().cast()),
                _mm256_loadu_si256(starts.as_ptr().cast()),
            ),
        )
    };
    let length = _mm512_cvtepu32_epi64(lengths);
    let is_8 = _mm512_cmpgt_epi64_mask(length, constant(3));
    let is_16 = _mm512_cmpgt_epi64_mask(length, constant(8));
    let is_long = _mm512_cmpgt_epi64_mask(length, constant(16));
    let by_class = |three: u64, eight: u64, sixteen: u64| {
        let lanes = _mm512_mask_mov_epi64(constant(three), is_8, constant(eight));
        _mm512_mask_mov_epi64(lanes, is_16, constant(sixteen))
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

/// Loads eight bytes from each of eight offsets, which are counted from `base`. On many processors
/// eight loads are no slower than one gather instruction, and on some they are far faster.
///
/// # Safety
///
/// The eight bytes at each offset are readable.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn load_eight(base: *const u8, at: [usize; 8]) -> __m512i {
    let [low @ .., _, _, _, _] = at;
    let [_, _, _, _, high @ ..] = at;
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (load_four(base, low), load_four(base, high)) };
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

/// Combines the bytes and the length of each word of 1 to 3 bytes into one number, from which the
/// hash is computed. `first` has the 8 bytes from the start of each word on, and `last` the 8 bytes
/// before its end.
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
    // XXH3 would now also use the bits from bit 33 on, but none of them is set.
    _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_3.cast_signed()))
}

/// Combines the bytes of each word of 4 to 8 bytes into one number, from which the hash is
/// computed. `first` has the 8 bytes from the start of each word on, and `last` the 8 bytes before
/// its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn join_8(first: __m512i, last: __m512i) -> __m512i {
    let joined = _mm512_or_si512(_mm512_srli_epi64::<32>(last), _mm512_slli_epi64::<32>(first));
    let keyed = _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_8.cast_signed()));
    let (one, other) = (_mm512_rol_epi64::<49>(keyed), _mm512_rol_epi64::<24>(keyed));
    _mm512_xor_si512(keyed, _mm512_xor_si512(one, other))
}

/// Combines the bytes and the length of each word of 9 to 16 bytes into one number, from which the
/// hash is computed. `first` has the 8 bytes from the start of each word on, and `last` the 8 bytes
/// before its end.
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

/// Multiplies the 64-bit numbers in the same position of `a` and `b`. Returns for each position the XOR of both halves
/// of the 128-bit product.
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
    let low = _mm512_or_si512(_mm512_slli_epi64::<32>(middle), _mm512_and_si512(low_low, low_half));
    _mm512_xor_si512(high, low)
}
