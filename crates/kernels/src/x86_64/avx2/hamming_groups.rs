//! Compares a row with groups of rows by AVX2: the eight words of a group are two vectors.

use super::bit_counts::bits_in_bytes;
use crate::own_loops::hamming_groups::{GROUP, GroupSearch, STEP, push_near};
use std::arch::x86_64::{
    __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_sad_epu8, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_storeu_si256, _mm256_xor_si256,
};

/// Appends a hit, `row << 32 | distance`, for each row of `search.groups` that is near `search.row`. The limit of its
/// distance is `search.own_limit` plus the limit of its group. Rows are numbered from 0.
#[target_feature(enable = "avx2,popcnt")]
pub(super) fn near_in_groups(search: GroupSearch<'_>, hits: &mut Vec<u64>) {
    let GroupSearch { row, groups, own_limit, limits } = search;
    let groups = groups.as_chunks::<GROUP>().0.chunks_exact(row.len());
    'groups: for (number, (group, &limit)) in groups.zip(limits).enumerate() {
        let limit = u64::from(own_limit) + u64::from(limit);
        let limits = _mm256_set1_epi64x(limit.cast_signed());
        let mut sums = [_mm256_setzero_si256(); 2];
        for (lanes, words) in group.chunks(STEP).zip(row.chunks(STEP)) {
            sums = add_distances(sums, lanes, words);
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

/// Adds the Hamming distances of a group's rows to `sums`, for at most [`STEP`] consecutive words of each row. `words`
/// are these words of the row of the search, and `lanes` are the same words of the eight rows of the group. As there
/// are so few words, the number of differing bits in each byte position fits into a byte.
#[target_feature(enable = "avx2")]
fn add_distances(sums: [__m256i; 2], lanes: &[[u64; GROUP]], words: &[u64]) -> [__m256i; 2] {
    let zero = _mm256_setzero_si256();
    let mut bytes = [zero; 2];
    for (lanes, &word) in lanes.iter().zip(words) {
        let word = _mm256_set1_epi64x(word.cast_signed());
        for (byte, half) in bytes.iter_mut().zip(lanes.as_chunks::<4>().0) {
            // SAFETY: four words are one vector.
            let half = unsafe { _mm256_loadu_si256(half.as_ptr().cast()) };
            let differing = _mm256_xor_si256(half, word);
            *byte = _mm256_add_epi8(*byte, bits_in_bytes(differing));
        }
    }
    let add = |half: usize| _mm256_add_epi64(sums[half], _mm256_sad_epu8(bytes[half], zero));
    [add(0), add(1)]
}
