//! XXH3-64 (seed 0) of many short words of one text.
//!
//! A word's first and last eight bytes, two loads that may overlap, hold all that XXH3 reads of a
//! word of up to 16 bytes, in each of its length classes (1-3, 4-8, 9-16). The classes differ in
//! how the two are joined and in the constants of what follows, so words of mixed lengths go
//! through the same instructions, with constants chosen word by word or lane by lane: a branch on
//! the length of a word of natural text is mispredicted every few words. Words of more bytes than
//! the common instructions are for are noted on the way, and hashed one by one behind each block.
//! Those are, where there are no 64-bit products in lanes, already the words of 9 bytes.
//!
//! # References
//! Y. Collet. xxHash, XXH3 algorithm, <https://github.com/Cyan4973/xxHash>.

use super::{Isa, Kind};
use std::hint::select_unpredictable;
use xxhash_rust::xxh3::xxh3_64;

/// Bytes that must be readable before the first word and after the last one.
pub const MARGIN: usize = 16;

/// Words between two times of hashing the long ones: their places are bytes.
const BLOCK: usize = 256;

/// Words that are tested at once for having at most three bytes.
const FEW: usize = 16;

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

/// Appends the hash of `text[starts[i]..ends[i]]` for every i.
///
/// The words are hashed as they are: the caller has lower-cased them.
///
/// # Panics
/// If the two slices differ in length, or a word is empty, reversed or nearer than [`MARGIN`] to
/// either end of `text`.
pub fn hash_words(isa: Isa, text: &[u8], starts: &[u32], ends: &[u32], hashes: &mut Vec<u64>) {
    assert_eq!(starts.len(), ends.len(), "a word has a start and an end");
    assert!(in_bounds(text, starts, ends), "words keep a margin to the ends of the text");
    hashes.reserve(starts.len());
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected; every word keeps its margin within `text`.
        Kind::Avx512 => unsafe { avx512::hash_words(text, starts, ends, hashes) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected; every word keeps its margin within `text`.
        Kind::Avx2 => unsafe { avx2::hash_words(text, starts, ends, hashes) },
        _ => portable(text, starts, ends, hashes),
    }
}

/// Whether every word is non-empty and keeps the margin.
fn in_bounds(text: &[u8], starts: &[u32], ends: &[u32]) -> bool {
    let limit = text.len().saturating_sub(MARGIN);
    let Ok(limit) = u32::try_from(limit) else { return starts.is_empty() };
    // Counted instead of asked one by one, so that many words are compared at once.
    let outside = |(&start, &end): (&u32, &u32)| {
        u32::from(start >= end) + u32::from(start < MARGIN as u32) + u32::from(end > limit)
    };
    i32::try_from(limit).is_ok() && starts.iter().zip(ends).map(outside).sum::<u32>() == 0
}

fn portable(text: &[u8], starts: &[u32], ends: &[u32], hashes: &mut Vec<u64>) {
    let mut long = [0_u8; BLOCK];
    for (starts, ends) in starts.chunks(BLOCK).zip(ends.chunks(BLOCK)) {
        let mut noted = 0;
        let first_new = hashes.len();
        for (few, (starts, ends)) in starts.chunks(FEW).zip(ends.chunks(FEW)).enumerate() {
            let words = starts.iter().zip(ends);
            // Where each character is a word, hardly any is longer.
            if words.clone().fold(0, |most, (start, end)| most.max(end - start)) <= 3 {
                hashes.extend(words.map(|(&start, &end)| {
                    hash_3(load(text, start), load(text, end - 8), u64::from(end - start))
                }));
                continue;
            }
            hashes.extend(words.enumerate().map(|(place, (&start, &end))| {
                let length = u64::from(end - start);
                // Always written, and overwritten unless the word is long.
                long[noted % BLOCK] = (FEW * few + place) as u8;
                noted += usize::from(length > 8);
                hash_8(load(text, start), load(text, end - 8), length)
            }));
        }
        hash_long(text, starts, ends, &long[..noted], &mut hashes[first_new..]);
    }
}

/// Hashes the words of 9 bytes or more at the given places of a block.
#[inline]
fn hash_long(text: &[u8], starts: &[u32], ends: &[u32], places: &[u8], hashes: &mut [u64]) {
    for &place in places {
        let place = usize::from(place);
        let (start, end) = (starts[place], ends[place]);
        hashes[place] = match u64::from(end - start) {
            length @ ..=16 => hash_16(load(text, start), load(text, end - 8), length),
            _ => xxh3_64(&text[start as usize..end as usize]),
        };
    }
}

/// The eight bytes from `at` on, which exist.
#[inline]
fn load(text: &[u8], at: u32) -> u64 {
    let bytes = text.get(at as usize..at as usize + 8);
    bytes.and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Joins the bytes and the length of a word of 1 to 3 bytes into the number that is hashed.
#[inline]
fn joined_3(first: u64, last: u64, length: u64) -> u64 {
    let middle = first.wrapping_shr(8 * (length as u32 >> 1)) & 0xff;
    ((first & 0xff) << 16 | middle << 24 | last >> 56 | length << 8) ^ FLIP_3
}

/// The hash of a word of 1 to 3 bytes.
#[inline]
fn hash_3(first: u64, last: u64, length: u64) -> u64 {
    let mut hash = joined_3(first, last, length).wrapping_mul(PRIME64_2);
    hash = (hash ^ hash >> 29).wrapping_mul(PRIME64_3);
    hash ^ hash >> 32
}

/// The hash of a word of 1 to 8 bytes, without a branch.
#[inline]
fn hash_8(first: u64, last: u64, length: u64) -> u64 {
    struct Class {
        factors: [u64; 2],
        shifts: [u32; 2],
        length_mask: u64,
    }
    static CLASSES: [Class; 2] = [
        Class { factors: [PRIME64_2, PRIME64_3], shifts: [29, 32], length_mask: 0 },
        Class { factors: [PRIME_MX2; 2], shifts: [35, 28], length_mask: u64::MAX },
    ];
    let class = &CLASSES[usize::from(length > 3)];
    let three = joined_3(first, last, length);
    let eight = (last >> 32 | first << 32) ^ FLIP_8;
    let eight = eight ^ eight.rotate_left(49) ^ eight.rotate_left(24);
    let mut hash = select_unpredictable(length > 3, eight, three);
    hash = hash.wrapping_mul(class.factors[0]);
    hash ^= hash.wrapping_shr(class.shifts[0]).wrapping_add(class.length_mask & length);
    hash = hash.wrapping_mul(class.factors[1]);
    hash ^ hash.wrapping_shr(class.shifts[1])
}

/// The hash of a word of 9 to 16 bytes.
#[inline]
fn hash_16(first: u64, last: u64, length: u64) -> u64 {
    let (first, last) = (first ^ FLIP_16_FIRST, last ^ FLIP_16_LAST);
    let product = u128::from(first) * u128::from(last);
    let folded = product as u64 ^ (product >> 64) as u64;
    let sum = length.wrapping_add(first.swap_bytes()).wrapping_add(last).wrapping_add(folded);
    let hash = (sum ^ sum >> 37).wrapping_mul(PRIME_MX1);
    hash ^ hash >> 32
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{BLOCK, FLIP_3, FLIP_8, MARGIN, PRIME_MX2, PRIME64_2, PRIME64_3, hash_long};
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_castpd_si128, _mm_castsi128_pd, _mm_castsi128_ps, _mm_cmpgt_epi32,
        _mm_loadh_pd, _mm_loadl_epi64, _mm_loadu_si128, _mm_movemask_ps, _mm_set1_epi32,
        _mm_sub_epi32, _mm256_add_epi64, _mm256_and_si256, _mm256_blend_epi32, _mm256_blendv_epi8,
        _mm256_cmpgt_epi64, _mm256_cvtepu32_epi64, _mm256_mul_epu32, _mm256_or_si256,
        _mm256_set_m128i, _mm256_set1_epi64x, _mm256_setr_epi64x, _mm256_shuffle_epi8,
        _mm256_slli_epi64, _mm256_srli_epi64, _mm256_srlv_epi64, _mm256_storeu_si256,
        _mm256_xor_si256,
    };

    /// For every mask of four lanes the set ones, lowest first, a byte each.
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

    /// # Safety
    /// Needs AVX2, BMI1, BMI2 and POPCNT; every word keeps [`MARGIN`] to both ends of `text`, and
    /// `hashes` has room for one more hash per word.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn hash_words(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        hashes: &mut Vec<u64>,
    ) {
        let mut long = [0_u8; BLOCK];
        for (starts, ends) in starts.chunks(BLOCK).zip(ends.chunks(BLOCK)) {
            let words = starts.len();
            let first_new = hashes.len();
            let mut noted = 0;
            let mut note = |at: usize, mask: usize| {
                if let Some(places) = long[noted..].first_chunk_mut() {
                    // `at` is below 256 and a lane is added to it, below the next multiple of 4.
                    *places = (LANES[mask & 15] + 0x0101_0101 * at as u32).to_le_bytes();
                }
                noted += mask.count_ones() as usize;
            };
            let (start_fours, rest_starts) = starts.as_chunks::<4>();
            let (end_fours, rest_ends) = ends.as_chunks::<4>();
            let (room, rest_room) = hashes.spare_capacity_mut()[..words].as_chunks_mut::<4>();
            for (at, ((start, end), room)) in
                start_fours.iter().zip(end_fours).zip(room).enumerate()
            {
                // SAFETY: the words are in bounds as the caller promises; there is room for four.
                unsafe {
                    let (hash, mask) = hash_four(text, start, end);
                    _mm256_storeu_si256(room.as_mut_ptr().cast(), hash);
                    note(4 * at, mask);
                }
            }
            if !rest_starts.is_empty() {
                // The lanes without a word hash the byte after the first margin; nobody reads
                // them.
                let mut start = [MARGIN as u32; 4];
                let mut end = [MARGIN as u32 + 1; 4];
                start[..rest_starts.len()].copy_from_slice(rest_starts);
                end[..rest_ends.len()].copy_from_slice(rest_ends);
                let mut four = [0_u64; 4];
                // SAFETY: the words are in bounds as the caller promises, and a text with a word
                // is longer than its margins; the array holds four hashes.
                unsafe {
                    let (hash, mask) = hash_four(text, &start, &end);
                    _mm256_storeu_si256(four.as_mut_ptr().cast(), hash);
                    note(words / 4 * 4, mask);
                }
                for (slot, hash) in rest_room.iter_mut().zip(four) {
                    slot.write(hash);
                }
            }
            // SAFETY: `words` hashes were written behind the first `first_new`.
            unsafe { hashes.set_len(first_new + words) };
            hash_long(text, starts, ends, &long[..noted], &mut hashes[first_new..]);
        }
    }

    /// The hashes of four words, and the mask of those of more than 8 bytes, whose hash is
    /// another.
    ///
    /// # Safety
    /// Every word keeps [`MARGIN`] to both ends of `text`.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn hash_four(text: &[u8], starts: &[u32; 4], ends: &[u32; 4]) -> (__m256i, usize) {
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
        let mask = _mm_movemask_ps(_mm_castsi128_ps(long)).cast_unsigned() as usize;
        (hash_8(first, last, lengths), mask)
    }

    /// Eight bytes from each of four places.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn load_four(base: *const u8, at: [usize; 4]) -> __m256i {
        let [a, b, c, d] = at;
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { (load_two(base, a, b), load_two(base, c, d)) };
        _mm256_set_m128i(high, low)
    }

    /// Eight bytes from each of two places.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_two(base: *const u8, one: usize, other: usize) -> __m128i {
        // SAFETY: the caller's promise.
        unsafe {
            let one = _mm_castsi128_pd(_mm_loadl_epi64(base.add(one).cast()));
            _mm_castpd_si128(_mm_loadh_pd(one, base.add(other).cast()))
        }
    }

    /// [`super::hash_8`] of four words.
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

    /// The low halves of the products.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn product(a: __m256i, b: __m256i) -> __m256i {
        let (a_high, b_high) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
        let cross = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_mul_epu32(a, b_high));
        _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(cross))
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::avx2::load_four;
    use super::{
        BLOCK, FLIP_3, FLIP_8, FLIP_16_FIRST, FLIP_16_LAST, MARGIN, PRIME_MX1, PRIME_MX2,
        PRIME64_2, PRIME64_3, hash_long,
    };
    use std::arch::x86_64::{
        __m512i, _mm_add_epi8, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_maskz_compress_epi8,
        _mm_set_epi64x, _mm_set1_epi8, _mm256_loadu_si256, _mm256_sub_epi32, _mm512_add_epi64,
        _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_castsi256_si512, _mm512_cmpgt_epi64_mask,
        _mm512_cvtepu32_epi64, _mm512_inserti64x4, _mm512_mask_add_epi64, _mm512_mask_mov_epi64,
        _mm512_mul_epu32, _mm512_mullo_epi64, _mm512_or_si512, _mm512_rol_epi64, _mm512_set1_epi64,
        _mm512_shuffle_epi8, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
        _mm512_storeu_si512, _mm512_xor_si512,
    };

    /// # Safety
    /// Needs AVX-512 F, BW, DQ, VL and VBMI2; every word keeps [`MARGIN`] to both ends of `text`,
    /// and `hashes` has room for one more hash per word.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,popcnt")]
    pub(super) unsafe fn hash_words(
        text: &[u8],
        starts: &[u32],
        ends: &[u32],
        hashes: &mut Vec<u64>,
    ) {
        let mut long = [0_u8; BLOCK];
        for (starts, ends) in starts.chunks(BLOCK).zip(ends.chunks(BLOCK)) {
            let words = starts.len();
            let first_new = hashes.len();
            let mut noted = 0;
            let mut note = |at: usize, mask: u8| {
                if let Some(places) = long[noted..].first_chunk_mut::<8>() {
                    let lanes = _mm_cvtsi64_si128(0x0706_0504_0302_0100);
                    let lanes = _mm_maskz_compress_epi8(u16::from(mask), lanes);
                    let all = _mm_add_epi8(lanes, _mm_set1_epi8((at as u8).cast_signed()));
                    *places = _mm_cvtsi128_si64(all).to_le_bytes();
                }
                noted += mask.count_ones() as usize;
            };
            let (start_eights, rest_starts) = starts.as_chunks::<8>();
            let (end_eights, rest_ends) = ends.as_chunks::<8>();
            let (room, rest_room) = hashes.spare_capacity_mut()[..words].as_chunks_mut::<8>();
            for (at, ((start, end), room)) in
                start_eights.iter().zip(end_eights).zip(room).enumerate()
            {
                // SAFETY: the words are in bounds as the caller promises; there is room for eight.
                unsafe {
                    let (hash, mask) = hash_eight(text, start, end);
                    _mm512_storeu_si512(room.as_mut_ptr().cast(), hash);
                    note(8 * at, mask);
                }
            }
            if !rest_starts.is_empty() {
                // The lanes without a word hash the byte after the first margin; nobody reads
                // them.
                let mut start = [MARGIN as u32; 8];
                let mut end = [MARGIN as u32 + 1; 8];
                start[..rest_starts.len()].copy_from_slice(rest_starts);
                end[..rest_ends.len()].copy_from_slice(rest_ends);
                let mut eight = [0_u64; 8];
                // SAFETY: the words are in bounds as the caller promises, and a text with a word
                // is longer than its margins; the array holds eight hashes.
                unsafe {
                    let (hash, mask) = hash_eight(text, &start, &end);
                    _mm512_storeu_si512(eight.as_mut_ptr().cast(), hash);
                    note(words / 8 * 8, mask);
                }
                for (slot, hash) in rest_room.iter_mut().zip(eight) {
                    slot.write(hash);
                }
            }
            // SAFETY: `words` hashes were written behind the first `first_new`.
            unsafe { hashes.set_len(first_new + words) };
            hash_long(text, starts, ends, &long[..noted], &mut hashes[first_new..]);
        }
    }

    /// The hashes of eight words, and the mask of those of more than 16 bytes, whose hash is
    /// another.
    ///
    /// # Safety
    /// Every word keeps [`MARGIN`] to both ends of `text`.
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

    /// Eight bytes from each of eight places: on many processors eight loads are no slower than a
    /// gathering one, and on some far faster.
    ///
    /// # Safety
    /// They are readable.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load_eight(base: *const u8, at: [usize; 8]) -> __m512i {
        let [low @ .., _, _, _, _] = at;
        let [_, _, _, _, high @ ..] = at;
        // SAFETY: the caller's promise.
        let (low, high) = unsafe { (load_four(base, low), load_four(base, high)) };
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
    }

    /// Joins words of 1 to 3 bytes into the numbers that are multiplied first.
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
        // XXH3 would now join its bits from 33 on: there are none.
        _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_3.cast_signed()))
    }

    /// Joins words of 4 to 8 bytes into the numbers that are multiplied first.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn join_8(first: __m512i, last: __m512i) -> __m512i {
        let joined = _mm512_or_si512(_mm512_srli_epi64::<32>(last), _mm512_slli_epi64::<32>(first));
        let keyed = _mm512_xor_si512(joined, _mm512_set1_epi64(FLIP_8.cast_signed()));
        let (one, other) = (_mm512_rol_epi64::<49>(keyed), _mm512_rol_epi64::<24>(keyed));
        _mm512_xor_si512(keyed, _mm512_xor_si512(one, other))
    }

    /// Joins words of 9 to 16 bytes into the numbers that are multiplied first.
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
    use simtool_base::stable_hash::mix;

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

    #[test]
    fn mixed_lengths_hash_as_the_crate_does_at_every_count_around_a_block() {
        let text: Vec<u8> = (0..10_000_u64).map(|at| mix(at) as u8).collect();
        let length = |word: u64| match mix(word + 7) % 8 {
            // Stretches of short ones, nearly.
            _ if word / 50 % 2 == 1 && word % 50 != 33 => 1 + (mix(word) % 3) as u32,
            0 => 9 + (mix(word) % 24) as u32,
            _ => 1 + (mix(word) % 16) as u32,
        };
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for word in 0..3 * BLOCK as u64 {
            let start = MARGIN as u32 + (mix(word + 99) % 9900) as u32;
            starts.push(start);
            ends.push(start + length(word));
        }
        for &isa in Isa::available() {
            for words in (0..20).chain(BLOCK - 9..BLOCK + 9).chain([2 * BLOCK, 3 * BLOCK]) {
                let mut hashes = Vec::new();
                hash_words(isa, &text, &starts[..words], &ends[..words], &mut hashes);
                let bytes = |word: usize| &text[starts[word] as usize..ends[word] as usize];
                let expected: Vec<u64> = (0..words).map(|word| xxh3_64(bytes(word))).collect();
                assert_eq!(hashes, expected, "{isa}, {words} words");
            }
        }
    }

    #[test]
    fn words_without_a_margin_are_refused() {
        let text = [7_u8; 40];
        for &isa in Isa::available() {
            for (start, end) in [(15, 17), (17, 25), (16, 16), (18, 17), (16, u32::MAX)] {
                let refused = std::panic::catch_unwind(|| {
                    hash_words(isa, &text, &[start], &[end], &mut Vec::new());
                });
                assert!(refused.is_err(), "{isa} {start}..{end}");
            }
        }
    }
}
