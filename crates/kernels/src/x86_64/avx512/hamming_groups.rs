//! Compares a row with groups of rows by AVX-512: the eight words of a group are one vector.

use crate::own_loops::hamming_groups::{GROUP, GroupSearch, STEP, push_near};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_popcnt_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_xor_si512,
};

/// Appends a hit, `row << 32 | distance`, for each row of `search.groups` that is near `search.row`. The limit of its
/// distance is `search.own_limit` plus the limit of its group. Rows are numbered from 0.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
pub(super) fn near_in_groups(search: GroupSearch<'_>, hits: &mut Vec<u64>) {
    // The search is taken apart before the length is matched. The compiler then knows the range of the
    // length in each loop, and unrolls the loops over the later words less.
    let GroupSearch { row, groups, own_limit, limits } = search;
    match row.len() {
        0 => {}
        1 => near_in_groups_from::<1>(row, groups, own_limit, limits, hits),
        2..4 => near_in_groups_from::<2>(row, groups, own_limit, limits, hits),
        4..STEP => near_in_groups_from::<4>(row, groups, own_limit, limits, hits),
        STEP.. => near_in_groups_from::<STEP>(row, groups, own_limit, limits, hits),
    }
}

/// Appends a hit for each near row of the groups like [`near_in_groups`], for rows of at least `WORDS` words. The first
/// `WORDS` words of `row` stay in registers, and they are enough to exclude most groups.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq")]
fn near_in_groups_from<const WORDS: usize>(
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
            sums = add_distances(sums, lanes, word);
        }
        if _mm512_cmple_epu64_mask(sums, limits) == 0 {
            continue;
        }
        for (lanes, words) in group[WORDS..].chunks(STEP).zip(later_words.chunks(STEP)) {
            for (lanes, &word) in lanes.iter().zip(words) {
                sums = add_distances(sums, lanes, _mm512_set1_epi64(word.cast_signed()));
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

/// Adds Hamming distances to `sums`: the distances between `word` and each of the eight words in
/// `lanes`.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn add_distances(sums: __m512i, lanes: &[u64; GROUP], word: __m512i) -> __m512i {
    // SAFETY: eight words are one vector.
    let lanes = unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) };
    _mm512_add_epi64(sums, _mm512_popcnt_epi64(_mm512_xor_si512(lanes, word)))
}
