//! Looks up the buckets of rows with AVX-512: eight words are one gather.

use crate::own_loops::bucket_filter::{BucketSearch, CROWDED, STEP, plain};
use crate::partition::BlockHash;
use std::arch::x86_64::{
    _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_cmpeq_epu32_mask, _mm256_cmple_epu32_mask,
    _mm256_maskz_compress_epi32, _mm256_popcnt_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
    _mm256_storeu_si256, _mm256_xor_si256, _mm512_and_si512, _mm512_cvtepi64_epi32,
    _mm512_i64gather_epi32, _mm512_loadu_si512, _mm512_mullo_epi64, _mm512_set1_epi64,
    _mm512_srl_epi64, _mm512_srli_epi64, _mm512_xor_si512,
};

/// Finds the rows of `search` that may be near a value in their bucket (see [`BucketSearch`]). Writes the indices of
/// these rows to `found`, and returns their number.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
pub(super) fn rows_near_buckets_64(search: BucketSearch<'_, u64>, found: &mut [u32]) -> usize {
    let BucketSearch { rows, hash, words, max_distance } = search;
    assert!(hash.window < words.len() as u64, "every bucket has a word");
    assert!(found.len() >= rows.len() + STEP, "a step has places behind those of the rows");
    let splat = |number: u64| _mm512_set1_epi64(number.cast_signed());
    let (block, factor) = (splat(hash.block), splat(BlockHash::<u64>::FACTORS[0]));
    let (shift, window) = (_mm_cvtsi64_si128(i64::from(hash.shift)), splat(hash.window));
    let limit = _mm256_set1_epi32(max_distance.min(32).cast_signed());
    let crowded = _mm256_set1_epi32(CROWDED.cast_signed());
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let (steps, rest) = rows.as_chunks::<STEP>();
    let mut count = 0;
    for (number, step) in steps.iter().enumerate() {
        // SAFETY: a step is 64 bytes.
        let row = unsafe { _mm512_loadu_si512(step.as_ptr().cast()) };
        let product = _mm512_mullo_epi64(_mm512_and_si512(row, block), factor);
        let part = _mm512_and_si512(_mm512_srl_epi64(product, shift), window);
        // SAFETY: a part is at most the window, which is below the number of words.
        let word = unsafe { _mm512_i64gather_epi32::<4>(part, words.as_ptr().cast()) };
        let fold = _mm512_cvtepi64_epi32(_mm512_xor_si512(row, _mm512_srli_epi64::<32>(row)));
        let distance = _mm256_popcnt_epi32(_mm256_xor_si256(word, fold));
        let kept =
            _mm256_cmple_epu32_mask(distance, limit) | _mm256_cmpeq_epu32_mask(word, crowded);
        let first = _mm256_set1_epi32(((number * STEP) as u32).cast_signed());
        let kept_rows = _mm256_maskz_compress_epi32(kept, _mm256_add_epi32(lanes, first));
        // SAFETY: at most as many rows were kept as were examined. `found` has `STEP` more elements
        // than there are rows, so there is room for the elements of one step.
        unsafe { _mm256_storeu_si256(found.as_mut_ptr().add(count).cast(), kept_rows) };
        count += kept.count_ones() as usize;
    }
    let first = steps.len() * STEP;
    count + plain(BucketSearch { rows: rest, ..search }, first, &mut found[count..])
}
