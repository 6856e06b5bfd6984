//! Finds the rows that may be near a value of the bucket that their block leads to.
//!
//! A bucket has one word: the fold of its only value (see [`Lane::fold32`]), or a mark that it has
//! several values. The fold of a row differs from it in at most as many bits as the rows do. So one look
//! at this word is enough for nearly all rows, without a branch:
//!
//! ```text
//! row → hash of its block → word of the bucket → near the row's fold, or crowded? → keep the row
//! ```

use super::partition::{BlockHash, Parts};
use super::{Isa, Kind};
use simtool_model::fingerprint_table::Lane;

/// The word of a bucket with several values. Its rows are kept. A single value whose fold happens to be
/// this number is not lost: its rows are kept, too.
pub const CROWDED: u32 = u32::MAX;

/// Rows of a step. A step writes at most this many places.
const STEP: usize = 8;

/// Returns how many places `rows_near_buckets` may write for so many rows.
#[must_use]
pub fn places(rows: usize) -> usize {
    rows + STEP
}

/// Writes to `found`, in ascending order, the numbers of the rows whose fold differs from the word of
/// their bucket in at most `max_distance` bits, or whose bucket is crowded. Returns how many there are.
///
/// All rows that are near the bucket's only value are among them.
///
/// # Panics
///
/// If there are not as many words as buckets, or fewer [`places`] than the rows may take.
pub fn rows_near_buckets<L: Lane>(
    rows: &[L],
    hash: &BlockHash<L>,
    words: &[u32],
    max_distance: u32,
    isa: Isa,
    found: &mut [u32],
) -> usize {
    assert!(words.len() == hash.parts() && found.len() >= places(rows.len()));
    #[cfg(target_arch = "x86_64")]
    if L::WORDS == 1 && isa.0 == Kind::Avx512 {
        let rows = bytemuck::cast_slice(rows);
        let (block, shift, window) = (hash.block.fold64(), hash.shift, hash.window);
        let hash = &BlockHash { block, shift, window };
        // SAFETY: `runnable` says that this processor has the instructions; the lengths were
        // checked.
        return unsafe { avx512::rows_near_buckets(rows, hash, words, max_distance, found) };
    }
    let _ = isa;
    portable(rows, 0, hash, words, max_distance, found)
}

#[inline(always)]
fn portable<L: Lane>(
    rows: &[L],
    first: usize,
    hash: &BlockHash<L>,
    words: &[u32],
    max_distance: u32,
    found: &mut [u32],
) -> usize {
    let mut count = 0;
    for (at, &row) in rows.iter().enumerate() {
        let word = words[hash.part(row)];
        let is_near = (word ^ row.fold32()).count_ones() <= max_distance;
        // Written in any case, kept if it is near: no branch to mispredict.
        found[count] = (first + at) as u32;
        count += usize::from(is_near) | usize::from(word == CROWDED);
    }
    count
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{BlockHash, CROWDED, STEP, portable};
    use std::arch::x86_64::{
        _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_cmpeq_epu32_mask, _mm256_cmple_epu32_mask,
        _mm256_maskz_compress_epi32, _mm256_popcnt_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
        _mm256_storeu_si256, _mm256_xor_si256, _mm512_and_si512, _mm512_cvtepi64_epi32,
        _mm512_i64gather_epi32, _mm512_loadu_si512, _mm512_mullo_epi64, _mm512_set1_epi64,
        _mm512_srl_epi64, _mm512_srli_epi64, _mm512_xor_si512,
    };

    /// # Safety
    ///
    /// The processor has AVX-512 F, DQ, VL and VPOPCNTDQ; there is a word for every part of the
    /// hash, and `found` has a step's places more than there are rows.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) unsafe fn rows_near_buckets(
        rows: &[u64],
        hash: &BlockHash<u64>,
        words: &[u32],
        max_distance: u32,
        found: &mut [u32],
    ) -> usize {
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
            // SAFETY: a part is at most the window, and there is a word for each.
            let word = unsafe { _mm512_i64gather_epi32::<4>(part, words.as_ptr().cast()) };
            let fold = _mm512_cvtepi64_epi32(_mm512_xor_si512(row, _mm512_srli_epi64::<32>(row)));
            let distance = _mm256_popcnt_epi32(_mm256_xor_si256(word, fold));
            let kept =
                _mm256_cmple_epu32_mask(distance, limit) | _mm256_cmpeq_epu32_mask(word, crowded);
            let first = _mm256_set1_epi32(((number * STEP) as u32).cast_signed());
            let kept_rows = _mm256_maskz_compress_epi32(kept, _mm256_add_epi32(lanes, first));
            // SAFETY: no more rows were kept than there were, so a step's places are left.
            unsafe { _mm256_storeu_si256(found.as_mut_ptr().add(count).cast(), kept_rows) };
            count += kept.count_ones() as usize;
        }
        let first = steps.len() * STEP;
        count + portable(rest, first, hash, words, max_distance, &mut found[count..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;
    use simtool_model::fingerprint_table::Wide;

    fn check<L: Lane>(rows: &[L]) {
        for (block, bits) in [(0xFFFF, 16), (0xF0F0_F0F0, 9)] {
            let hash = BlockHash::new(L::from_words(&[block]), 0, bits);
            let mut words = vec![0; hash.parts()];
            for (number, row) in rows.iter().enumerate().step_by(3) {
                let word = &mut words[hash.part(*row)];
                *word = if *word == 0 && number % 5 != 0 { row.fold32() } else { CROWDED };
            }
            for max_distance in [0, 3, 12, 64] {
                for length in (0..30).chain([rows.len()]) {
                    let mut expected = vec![7; places(length)];
                    let rows = &rows[..length];
                    let count = portable(rows, 0, &hash, &words, max_distance, &mut expected);
                    for &isa in Isa::available() {
                        let mut found = vec![9; places(length)];
                        let number =
                            rows_near_buckets(rows, &hash, &words, max_distance, isa, &mut found);
                        assert_eq!(found[..number], expected[..count], "{isa}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_path_lets_the_same_rows_through() {
        let mixed = |i: u64| (i % 97).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(i as u32 % 3);
        check(&(0..1000).map(mixed).collect::<Vec<u64>>());
        check(&(0..300).map(|i| Wide([mixed(i) << 40 | 5, mixed(i) >> 24])).collect::<Vec<_>>());
        check(&(0..300).map(|i| Wide([5, mixed(i), 0, i])).collect::<Vec<_>>());
    }
}
