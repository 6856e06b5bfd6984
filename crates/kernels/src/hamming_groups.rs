//! Compares one row of bits with rows in groups of eight, word by word.
//!
//! The words of the eight rows of a group alternate, so that eight words with the same number are one
//! vector and no sum ever crosses lanes:
//!
//! ```text
//! memory     row 0 word 0, row 1 word 0, … row 7 word 0, row 0 word 1, row 1 word 1, …
//! vector 0   [ word 0 of the eight rows ]  ^ word 0 of the row → counts of bits, added up by lane
//! vector 1   [ word 1 of the eight rows ]  ^ word 1 of the row → …
//! ```
//!
//! Most groups have no near row, and the first words show it: after every eighth word the loop leaves
//! the group if all eight sums are beyond the limit already.

use super::{Isa, Kind};

/// Rows of a group.
pub const GROUP: usize = 8;
/// Words after which the loop asks whether any row of the group can still be near.
const STEP: usize = 8;

/// Appends a hit, `row << 32 | distance`, for each row of `groups` whose distance to `row` is at most
/// the sum of `own_limit` and the limit of the row's group. Hits are in ascending order.
///
/// All rows have as many words as `row`. Word w of the eight rows of a group is at 8 w of the group.
/// There are as many limits as groups, and fewer than 2^32 rows.
///
/// ```
/// use simtool_kernels::{Isa, hamming_groups::near_in_groups};
///
/// // Eight rows of one word each.
/// let group = [0b0000, 0b0001, 0b0011, 0b0111, 0, 0, 0, 0];
/// let mut hits = Vec::new();
/// near_in_groups(Isa::detected(), &[0b0011], &group, 0, &[1], &mut hits);
/// // Row 1 has distance 1, row 2 has 0 and row 3 has 1.
/// assert_eq!(hits, [1 << 32 | 1, 2 << 32, 3 << 32 | 1]);
/// ```
///
/// # Complexity
///
/// O(words of the groups), a third of that and less where rows are far and long.
pub fn near_in_groups(
    isa: Isa,
    row: &[u64],
    groups: &[u64],
    own_limit: u32,
    limits: &[u32],
    hits: &mut Vec<u64>,
) {
    debug_assert_eq!(groups.len(), row.len() * GROUP * limits.len());
    #[cfg(target_arch = "x86_64")]
    match isa.0 {
        // SAFETY: `runnable` says that this processor has the instructions.
        Kind::Avx512 => return unsafe { x86::avx512(row, groups, own_limit, limits, hits) },
        // SAFETY: as above.
        Kind::Avx2 => return unsafe { x86::avx2(row, groups, own_limit, limits, hits) },
        Kind::Portable => {}
    }
    let _ = isa;
    portable(row, groups, own_limit, limits, hits);
}

/// The plain twin.
fn portable(row: &[u64], groups: &[u64], own_limit: u32, limits: &[u32], hits: &mut Vec<u64>) {
    let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
    'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
        let limit = u64::from(own_limit) + u64::from(limit);
        let mut distances = [0; GROUP];
        for (lanes, words) in group.chunks(STEP).zip(row.chunks(STEP)) {
            for (lanes, &word) in lanes.iter().zip(words) {
                for (distance, lane) in distances.iter_mut().zip(lanes) {
                    *distance += u64::from((lane ^ word).count_ones());
                }
            }
            if distances.iter().all(|&distance| distance > limit) {
                continue 'groups;
            }
        }
        push_near(number, &distances, limit, hits);
    }
}

#[cold]
fn push_near(group: usize, distances: &[u64; GROUP], limit: u64, hits: &mut Vec<u64>) {
    for (lane, &distance) in distances.iter().enumerate() {
        if distance <= limit {
            hits.push(((group * GROUP + lane) as u64) << 32 | distance);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{GROUP, STEP, push_near};
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpgt_epi64,
        _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_sad_epu8, _mm256_set1_epi8,
        _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8,
        _mm256_srli_epi16, _mm256_storeu_si256, _mm256_xor_si256, _mm512_add_epi64,
        _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_popcnt_epi64, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_storeu_si512, _mm512_xor_si512,
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    pub(super) fn avx512(
        row: &[u64],
        groups: &[u64],
        own_limit: u32,
        limits: &[u32],
        hits: &mut Vec<u64>,
    ) {
        match row.len() {
            0 => {}
            1 => avx512_from::<1>(row, groups, own_limit, limits, hits),
            2..4 => avx512_from::<2>(row, groups, own_limit, limits, hits),
            4..STEP => avx512_from::<4>(row, groups, own_limit, limits, hits),
            STEP.. => avx512_from::<STEP>(row, groups, own_limit, limits, hits),
        }
    }

    /// The same for rows of at least so many words, which stay in registers: that many are all that is
    /// looked at of most groups.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
    fn avx512_from<const WORDS: usize>(
        row: &[u64],
        groups: &[u64],
        own_limit: u32,
        limits: &[u32],
        hits: &mut Vec<u64>,
    ) {
        let Some((first_words, later_words)) = row.split_first_chunk::<WORDS>() else { return };
        let first_words = first_words.map(|word| _mm512_set1_epi64(word.cast_signed()));
        let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
        'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
            let limit = u64::from(own_limit) + u64::from(limit);
            let limits = _mm512_set1_epi64(limit.cast_signed());
            let mut sums = _mm512_setzero_si512();
            for (lanes, &word) in group.iter().zip(&first_words) {
                sums = add_512(sums, lanes, word);
            }
            if _mm512_cmple_epu64_mask(sums, limits) == 0 {
                continue;
            }
            for (lanes, words) in group[WORDS..].chunks(STEP).zip(later_words.chunks(STEP)) {
                for (lanes, &word) in lanes.iter().zip(words) {
                    sums = add_512(sums, lanes, _mm512_set1_epi64(word.cast_signed()));
                }
                if _mm512_cmple_epu64_mask(sums, limits) == 0 {
                    continue 'groups;
                }
            }
            let mut distances = [0; GROUP];
            // SAFETY: eight words are one vector.
            unsafe { _mm512_storeu_si512(distances.as_mut_ptr().cast(), sums) };
            push_near(number, &distances, limit, hits);
        }
    }

    /// Adds the distances in a word.
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn add_512(sums: __m512i, lanes: &[u64; GROUP], word: __m512i) -> __m512i {
        // SAFETY: eight words are one vector.
        let lanes = unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) };
        _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_xor_si512(lanes, word)))
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn avx2(
        row: &[u64],
        groups: &[u64],
        own_limit: u32,
        limits: &[u32],
        hits: &mut Vec<u64>,
    ) {
        let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
        'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
            let limit = u64::from(own_limit) + u64::from(limit);
            let limits = _mm256_set1_epi64x(limit.cast_signed());
            let mut sums = [_mm256_setzero_si256(); 2];
            for (lanes, words) in group.chunks(STEP).zip(row.chunks(STEP)) {
                sums = add_256(sums, lanes, words);
                let far = sums.map(|sum| _mm256_cmpgt_epi64(sum, limits));
                if _mm256_movemask_epi8(_mm256_and_si256(far[0], far[1])) == -1 {
                    continue 'groups;
                }
            }
            let mut distances = [0; GROUP];
            for (half, sum) in distances.as_chunks_mut::<4>().0.iter_mut().zip(sums) {
                // SAFETY: four words are one vector.
                unsafe { _mm256_storeu_si256(half.as_mut_ptr().cast(), sum) };
            }
            push_near(number, &distances, limit, hits);
        }
    }

    /// Adds the distances in at most [`STEP`] words, so that those of a byte fit into one.
    #[target_feature(enable = "avx2")]
    fn add_256(sums: [__m256i; 2], lanes: &[[u64; GROUP]], words: &[u64]) -> [__m256i; 2] {
        let counts = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2,
            3, 3, 4,
        );
        let (nibble, zero) = (_mm256_set1_epi8(15), _mm256_setzero_si256());
        let mut bytes = [zero; 2];
        for (lanes, &word) in lanes.iter().zip(words) {
            let word = _mm256_set1_epi64x(word.cast_signed());
            for (byte, half) in bytes.iter_mut().zip(lanes.as_chunks::<4>().0) {
                // SAFETY: four words are one vector.
                let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
                let differing = _mm256_xor_si256(half, word);
                let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(differing, nibble));
                let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differing), nibble);
                let high = _mm256_shuffle_epi8(counts, high);
                *byte = _mm256_add_epi8(*byte, _mm256_add_epi8(low, high));
            }
        }
        let add = |half: usize| _mm256_add_epi64(sums[half], _mm256_sad_epu8(bytes[half], zero));
        [add(0), add(1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::stable_hash::mix;

    /// Rows compared one by one.
    fn slowly(row: &[u64], rows: &[Vec<u64>], own_limit: u32, limits: &[u32]) -> Vec<u64> {
        let mut hits = Vec::new();
        for (number, other) in rows.iter().enumerate() {
            let distance: u32 = row.iter().zip(other).map(|(a, b)| (a ^ b).count_ones()).sum();
            if distance <= own_limit + limits[number / GROUP] {
                hits.push((number as u64) << 32 | u64::from(distance));
            }
        }
        hits
    }

    #[test]
    fn every_instruction_set_finds_the_rows_that_are_near() {
        for words in [1, 2, 4, 8, 16, 32] {
            let row: Vec<u64> = (0..words).map(mix).collect();
            // Rows that differ from the first one by more and more bits.
            let rows: Vec<Vec<u64>> = (0..40_u64)
                .map(|number| {
                    let mut other = row.clone();
                    for flip in 0..number * words {
                        let bit = mix(number << 32 | flip) % (words * 64);
                        other[(bit / 64) as usize] ^= 1 << (bit % 64);
                    }
                    other
                })
                .collect();
            let mut groups = Vec::new();
            for group in rows.chunks(GROUP) {
                for word in 0..words as usize {
                    groups.extend(group.iter().map(|row| row[word]));
                }
            }
            for own_limit in [0, 1, words as u32 * 9, u32::MAX] {
                let limits: Vec<u32> = (0..5).map(|group| group * words as u32).collect();
                let own_limit = own_limit.min(u32::MAX - limits[4]);
                let expected = slowly(&row, &rows, own_limit, &limits);
                assert!(!expected.is_empty());
                for &isa in Isa::available() {
                    let mut hits = Vec::new();
                    near_in_groups(isa, &row, &groups, own_limit, &limits, &mut hits);
                    assert_eq!(hits, expected, "{isa}, {words} words, within {own_limit}");
                }
            }
        }
    }
}
