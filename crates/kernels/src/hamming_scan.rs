//! Compares one fingerprint with a packed array of them.
//!
//! A hit is one word, `row << 32 | distance`, and hits are in ascending order. With this packing,
//! eight hits are a vector: AVX-512 packs the near ones together and stores them whole, without a
//! branch for each:
//!
//! ```text
//! distances     9  2  7  3  8  9  9  1      limit 3
//! mask          .  x  .  x  .  .  .  x
//! stored        [row 1 | 2] [row 3 | 3] [row 7 | 1]
//! ```

use super::{Isa, Kind};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Lane, Reach};

/// Appends a hit for each row of `corpus` that `query` reaches.
///
/// Row numbers count from the start of `corpus`, which has at most 2^32 rows.
///
/// # Complexity
///
/// O(n) compares; with AVX-512, eight words to a vector.
pub fn scan<L: Lane>(corpus: &[L], query: L, reach: Reach, isa: Isa, hits: &mut Vec<u64>) {
    debug_assert!(corpus.len() as u64 <= 1 << 32, "row numbers are 32 bits wide");
    if reach.shape.metric() != Metric::Bits {
        return scan_lanes(corpus, query, reach, hits);
    }
    let max_distance = reach.max_distance;
    #[cfg(target_arch = "x86_64")]
    {
        let words = query.words();
        match (L::WORDS, isa.0) {
            (1, Kind::Avx512) => {
                let corpus = bytemuck::cast_slice(corpus);
                // SAFETY: `runnable` says that this processor has the instructions.
                return unsafe { x86::scan_64_avx512(corpus, words[0], max_distance, hits) };
            }
            (2, Kind::Avx512) => {
                let (corpus, query) = (bytemuck::cast_slice(corpus), [words[0], words[1]]);
                // SAFETY: as above.
                return unsafe { x86::scan_128_avx512(corpus, query, max_distance, hits) };
            }
            (1, Kind::Avx2) => {
                let corpus = bytemuck::cast_slice(corpus);
                // SAFETY: as above.
                return unsafe { x86::scan_64_avx2(corpus, words[0], max_distance, hits) };
            }
            (_, Kind::Avx512) => {
                // SAFETY: as above.
                return unsafe { x86::scan_wide_avx512(corpus, query, max_distance, hits) };
            }
            (_, Kind::Avx2) => {
                // SAFETY: as above.
                return unsafe { x86::scan_wide_avx2(corpus, query, max_distance, hits) };
            }
            (_, Kind::Portable) => {}
        }
    }
    let _ = isa;
    scan_portable(corpus, query, 0, max_distance, hits);
}

/// Compares rows whose distance counts lanes instead of bits.
fn scan_lanes<L: Lane>(corpus: &[L], query: L, reach: Reach, hits: &mut Vec<u64>) {
    for (row, &lane) in (0u64..).zip(corpus) {
        if let Some(distance) = reach.distance(lane ^ query) {
            hits.push(row << 32 | u64::from(distance));
        }
    }
}

/// The plain twin; row numbers start at `first_row`.
#[inline(always)]
fn scan_portable<L: Lane>(
    corpus: &[L],
    query: L,
    first_row: u64,
    max_distance: u32,
    hits: &mut Vec<u64>,
) {
    for (row, &lane) in (first_row..).zip(corpus) {
        let distance = (lane ^ query).count_ones();
        if distance <= max_distance {
            hits.push(row << 32 | u64::from(distance));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Lane, scan_portable};
    use simtool_model::fingerprint_table::Wide;
    use std::arch::x86_64::{
        __m256i, __m512i, __mmask8, _mm256_add_epi8, _mm256_and_si256, _mm256_cmpgt_epi64,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_sad_epu8, _mm256_set1_epi8,
        _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16, _mm256_xor_si256, _mm512_add_epi64, _mm512_cmple_epu64_mask,
        _mm512_loadu_si512, _mm512_maskz_compress_epi64, _mm512_min_epu8, _mm512_or_si512,
        _mm512_permutex2var_epi64, _mm512_popcnt_epi64, _mm512_set_epi64, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_slli_epi64, _mm512_storeu_si512, _mm512_xor_si512,
    };

    /// Room for the hits of one step beyond the vector's length.
    fn reserve(hits: &mut Vec<u64>, more: usize) {
        if hits.capacity() - hits.len() < more {
            hits.reserve(more.max(1024));
        }
    }

    /// Appends the lanes of `packed` that `mask` names.
    ///
    /// # Safety
    ///
    /// `hits` has room for eight more.
    #[target_feature(enable = "avx512f,avx512vl,popcnt")]
    unsafe fn append(hits: &mut Vec<u64>, mask: __mmask8, packed: __m512i) {
        let length = hits.len();
        debug_assert!(hits.capacity() - length >= 8);
        // SAFETY: the caller left room for eight words, and a vector is eight words.
        let end = unsafe { hits.as_mut_ptr().add(length) };
        // SAFETY: as above; the compressed lanes come first.
        unsafe { _mm512_storeu_si512(end.cast(), _mm512_maskz_compress_epi64(mask, packed)) };
        // SAFETY: that many words were just written.
        unsafe { hits.set_len(length + mask.count_ones() as usize) };
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn scan_64_avx512(
        corpus: &[u64],
        query: u64,
        max_distance: u32,
        hits: &mut Vec<u64>,
    ) {
        let x = _mm512_set1_epi64(query.cast_signed());
        let limit = _mm512_set1_epi64(i64::from(max_distance));
        let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let (steps, rest) = corpus.as_chunks::<32>();
        for (step, lines) in steps.iter().enumerate() {
            let mut distances = [_mm512_setzero_si512(); 4];
            for (t, distance) in distances.iter_mut().enumerate() {
                // SAFETY: 8 × t + 8 is at most 32, the length of the chunk.
                let c = unsafe { _mm512_loadu_si512(lines.as_ptr().add(8 * t).cast()) };
                *distance = _mm512_popcnt_epi64(_mm512_xor_si512(c, x));
            }
            // One comparison asks for all four vectors. Distances of one word fit in a byte.
            let first_half = _mm512_min_epu8(distances[0], distances[1]);
            let second_half = _mm512_min_epu8(distances[2], distances[3]);
            let least = _mm512_min_epu8(first_half, second_half);
            if _mm512_cmple_epu64_mask(least, limit) == 0 {
                continue;
            }
            reserve(hits, 40);
            for (t, distance) in distances.into_iter().enumerate() {
                let mask = _mm512_cmple_epu64_mask(distance, limit);
                let first = _mm512_set1_epi64((step * 32 + t * 8).cast_signed() as i64);
                let rows = _mm512_slli_epi64::<32>(_mm512_add_epi64(first, lanes));
                // SAFETY: 40 words were reserved, and each turn adds at most 8.
                unsafe { append(hits, mask, _mm512_or_si512(rows, distance)) };
            }
        }
        scan_portable(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn scan_128_avx512(
        words: &[[u64; 2]],
        query: [u64; 2],
        max_distance: u32,
        hits: &mut Vec<u64>,
    ) {
        let low = _mm512_set1_epi64(query[0].cast_signed());
        let high = _mm512_set1_epi64(query[1].cast_signed());
        let limit = _mm512_set1_epi64(i64::from(max_distance));
        let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
        let evens = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
        let odds = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
        let (steps, rest) = words.as_chunks::<8>();
        for (step, lines) in steps.iter().enumerate() {
            // SAFETY: the chunk is 16 words, and a vector is eight.
            let a = unsafe { _mm512_loadu_si512(lines.as_ptr().cast()) };
            // SAFETY: as above.
            let b = unsafe { _mm512_loadu_si512(lines.as_ptr().add(4).cast()) };
            let lows = _mm512_xor_si512(_mm512_permutex2var_epi64(a, evens, b), low);
            let highs = _mm512_xor_si512(_mm512_permutex2var_epi64(a, odds, b), high);
            let distance = _mm512_add_epi64(_mm512_popcnt_epi64(lows), _mm512_popcnt_epi64(highs));
            let mask = _mm512_cmple_epu64_mask(distance, limit);
            if mask != 0 {
                reserve(hits, 8);
                let first = _mm512_set1_epi64((step * 8).cast_signed() as i64);
                let rows = _mm512_slli_epi64::<32>(_mm512_add_epi64(first, lanes));
                // SAFETY: eight words were reserved.
                unsafe { append(hits, mask, _mm512_or_si512(rows, distance)) };
            }
        }
        let first = (words.len() - rest.len()) as u64;
        let rest: &[Wide<2>] = bytemuck::cast_slice(rest);
        scan_portable(rest, Wide(query), first, max_distance, hits);
    }

    /// The plain loop, compiled for AVX-512: a vector holds eight words of a lane.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn scan_wide_avx512<L: Lane>(
        corpus: &[L],
        query: L,
        max_distance: u32,
        hits: &mut Vec<u64>,
    ) {
        scan_portable(corpus, query, 0, max_distance, hits);
    }

    /// The plain loop, with an instruction that counts the bits of a word.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn scan_wide_avx2<L: Lane>(
        corpus: &[L],
        query: L,
        max_distance: u32,
        hits: &mut Vec<u64>,
    ) {
        scan_portable(corpus, query, 0, max_distance, hits);
    }

    /// Bits set in each 64-bit lane.
    #[target_feature(enable = "avx2")]
    fn count_ones_avx2(x: __m256i) -> __m256i {
        let counts = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2,
            3, 3, 4,
        );
        let nibble = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, nibble));
        let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(x), nibble));
        _mm256_sad_epu8(_mm256_add_epi8(low, high), _mm256_setzero_si256())
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn scan_64_avx2(corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
        let x = _mm256_set1_epi64x(query.cast_signed());
        let limit = _mm256_set1_epi64x(i64::from(max_distance));
        let (steps, rest) = corpus.as_chunks::<8>();
        for (step, lines) in steps.iter().enumerate() {
            // SAFETY: the chunk is eight words, and a vector is four.
            let a = unsafe { _mm256_loadu_si256(lines.as_ptr().cast()) };
            // SAFETY: as above.
            let b = unsafe { _mm256_loadu_si256(lines.as_ptr().add(4).cast()) };
            let far_a = _mm256_cmpgt_epi64(count_ones_avx2(_mm256_xor_si256(a, x)), limit);
            let far_b = _mm256_cmpgt_epi64(count_ones_avx2(_mm256_xor_si256(b, x)), limit);
            if _mm256_movemask_epi8(_mm256_and_si256(far_a, far_b)) != -1 {
                scan_portable(lines, query, step as u64 * 8, max_distance, hits);
            }
        }
        scan_portable(rest, query, (corpus.len() - rest.len()) as u64, max_distance, hits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;

    fn check<L: Lane>(corpus: &[L], query: L, max_distance: u32) {
        let mut expected = Vec::new();
        scan_portable(corpus, query, 0, max_distance, &mut expected);
        for &isa in Isa::available() {
            let mut hits = Vec::new();
            scan(corpus, query, Reach::bits(L::BITS, max_distance), isa, &mut hits);
            assert_eq!(hits, expected, "{isa}, {} rows of {} bits", corpus.len(), L::BITS);
        }
    }

    #[test]
    fn every_path_finds_the_same_rows() {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
            state ^ (state >> 29)
        };
        let lanes: Vec<Wide<8>> = (0..300).map(|_| Wide([0; 8].map(|_| next()))).collect();
        let half: Vec<Wide<4>> = lanes.iter().map(|lane| Wide::from_words(&lane.0)).collect();
        let two: Vec<Wide<2>> = lanes.iter().map(|lane| Wide::from_words(&lane.0)).collect();
        let one: Vec<u64> = lanes.iter().map(|lane| lane.0[0]).collect();
        for length in (0..70).chain([128, 299]) {
            for max_distance in [0, 3, 24, 31, 60, 128, 250, u32::MAX] {
                check(&lanes[1..=length], lanes[0], max_distance);
                check(&half[1..=length], half[0], max_distance);
                check(&two[1..=length], two[0], max_distance);
                check(&one[1..=length], one[0], max_distance);
            }
        }
    }

    #[test]
    fn lanes_are_counted_where_the_metric_says_so() {
        let reach = Reach { shape: Shape::lanes(16, 4), max_distance: 1 };
        let mut hits = Vec::new();
        scan(&[0u64, 0xF00, 0xF0F, 0x0880], 0, reach, Isa::detected(), &mut hits);
        assert_eq!(hits, [0, 1 << 32 | 1]);
    }
}
