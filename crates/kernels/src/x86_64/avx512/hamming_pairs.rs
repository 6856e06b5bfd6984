//! Compares every element of an array with every other by AVX-512.
//!
//! Eight rows stay in registers while the columns are read. One comparison decides whether any pair of
//! eight rows and a vector of columns is near.

use crate::own_loops::hamming_pairs::{Candidates, FLUSH, PairSearch, TILE};
use std::arch::x86_64::{
    __m512i, __mmask8, _mm256_add_epi32, _mm256_mask_cmple_epu32_mask, _mm256_maskz_compress_epi32,
    _mm256_maskz_loadu_epi32, _mm256_popcnt_epi32, _mm256_set1_epi32, _mm256_setr_epi32,
    _mm256_storeu_si256, _mm256_xor_si256, _mm512_mask_cmple_epu32_mask,
    _mm512_mask_cmple_epu64_mask, _mm512_mask_popcnt_epi32, _mm512_mask_popcnt_epi64,
    _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64, _mm512_min_epu8, _mm512_popcnt_epi32,
    _mm512_popcnt_epi64, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_xor_si512,
};

/// Appends a candidate pair for each bit that is set in `mask`. The row of the pair is `first_row` plus the position of
/// the bit, and its column is `column`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
fn append(candidates: &mut Candidates, mask: __mmask8, first_row: usize, column: usize) {
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let rows = _mm256_add_epi32(lanes, _mm256_set1_epi32((first_row as u32).cast_signed()));
    let length = candidates.length;
    assert!(length + 8 <= candidates.rows.len() && length + 8 <= candidates.columns.len());
    // SAFETY: the assertion above leaves room for the eight numbers of a vector.
    let row_end = unsafe { candidates.rows.as_mut_ptr().add(length) };
    // SAFETY: the assertion above leaves the same room for columns.
    let column_end = unsafe { candidates.columns.as_mut_ptr().add(length) };
    let rows = _mm256_maskz_compress_epi32(mask, rows);
    // SAFETY: the eight numbers fit into the room for rows.
    unsafe { _mm256_storeu_si256(row_end.cast(), rows) };
    let column = _mm256_set1_epi32((column as u32).cast_signed());
    // SAFETY: the eight numbers fit into the room for columns.
    unsafe { _mm256_storeu_si256(column_end.cast(), column) };
    candidates.length += mask.count_ones() as usize;
}

/// Defines the function that finds near pairs for words of one width. It compares a tile, which is
/// eight rows, with one vector of columns at a time.
///
/// Only pairs whose column is greater than the row are wanted. In the first step of a tile, some columns are not
/// greater than all rows. There, masks exclude the unwanted pairs: their distance stays at the constant `far`, which is
/// above the limit.
macro_rules! tiled {
    ($name:ident, $word:ty, $lanes:literal, $splat:expr, $masked_load:ident, $count:ident,
        $masked_count:ident, $masked_compare:ident, $mask:ty, $rows_near:ident) => {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
        )]
        pub(super) fn $name(
            search: PairSearch<'_, $word>,
            candidates: &mut Candidates,
            sink: &mut dyn FnMut(&[u32], &[u32]),
        ) {
            let PairSearch { words, rows, first_column, max_distance } = search;
            let limit = $splat(max_distance.into());
            let far = $splat(<$word>::MAX);
            let mut tile = rows.start;
            while tile < rows.end {
                let in_tile = TILE.min(rows.end - tile);
                // A short last tile repeats its last row, which is not looked at again.
                let mut x = [far; TILE];
                for (t, x) in x.iter_mut().enumerate() {
                    *x = $splat(words[tile + t.min(in_tile - 1)]);
                }
                let tile_words = &words[tile..tile + in_tile];
                let mut column = first_column.max(tile + 1);
                while column < words.len() {
                    let left = words.len() - column;
                    let valid: $mask = if left < $lanes { (1 << left) - 1 } else { <$mask>::MAX };
                    let first = words[column..].as_ptr().cast();
                    // SAFETY: only the words under the mask are read, and those exist.
                    let y = unsafe { $masked_load(valid, first) };
                    let mut least = far;
                    if column == tile + 1 {
                        // Without a mask, each row would be compared with itself here.
                        for (t, x) in x.iter().enumerate() {
                            let behind = <$mask>::MAX << t;
                            let count = $masked_count(far, behind, _mm512_xor_si512(y, *x));
                            least = _mm512_min_epu8(least, count);
                        }
                    } else {
                        for x in &x {
                            least = _mm512_min_epu8(least, $count(_mm512_xor_si512(y, *x)));
                        }
                    }
                    let mut near: $mask = $masked_compare(valid, least, limit);
                    // Near columns are few, and mostly near to one row.
                    while near != 0 {
                        let at = column + near.trailing_zeros() as usize;
                        let rows = $rows_near(tile_words, words[at], max_distance);
                        // Rows of the tile that the column is behind.
                        let before = (1u32 << (at - tile).min(8)) - 1;
                        append(candidates, rows & before as __mmask8, tile, at);
                        near &= near - 1;
                    }
                    if candidates.length >= FLUSH {
                        candidates.flush(sink);
                    }
                    column += $lanes;
                }
                tile += TILE;
            }
        }
    };
}

/// Returns a mask of the rows of a tile whose words differ from `word` in at most `max_distance`
/// bits. `tile` has the words of at most eight rows.
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn rows_near_32(tile: &[u32], word: u32, max_distance: u32) -> __mmask8 {
    let valid = (u32::MAX >> (32 - tile.len())) as __mmask8;
    // SAFETY: only the words under the mask are read, and those exist.
    let words = unsafe { _mm256_maskz_loadu_epi32(valid, tile.as_ptr().cast()) };
    let difference = _mm256_xor_si256(words, _mm256_set1_epi32(word.cast_signed()));
    let limit = _mm256_set1_epi32(max_distance.cast_signed());
    _mm256_mask_cmple_epu32_mask(valid, _mm256_popcnt_epi32(difference), limit)
}

/// Returns a mask of the rows of a tile whose words differ from `word` in at most `max_distance`
/// bits. `tile` has the words of at most eight rows.
#[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
fn rows_near_64(tile: &[u64], word: u64, max_distance: u32) -> __mmask8 {
    let valid = (u32::MAX >> (32 - tile.len())) as __mmask8;
    // SAFETY: only the words under the mask are read, and those exist.
    let words = unsafe { _mm512_maskz_loadu_epi64(valid, tile.as_ptr().cast()) };
    let difference = _mm512_xor_si512(words, _mm512_set1_epi64(word.cast_signed()));
    let limit = _mm512_set1_epi64(max_distance.into());
    _mm512_mask_cmple_epu64_mask(valid, _mm512_popcnt_epi64(difference), limit)
}

#[target_feature(enable = "avx512f")]
fn splat_32(word: u32) -> __m512i {
    _mm512_set1_epi32(word.cast_signed())
}

#[target_feature(enable = "avx512f")]
fn splat_64(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

tiled!(
    near_pairs_32,
    u32,
    16,
    splat_32,
    _mm512_maskz_loadu_epi32,
    _mm512_popcnt_epi32,
    _mm512_mask_popcnt_epi32,
    _mm512_mask_cmple_epu32_mask,
    u16,
    rows_near_32
);
tiled!(
    near_pairs_64,
    u64,
    8,
    splat_64,
    _mm512_maskz_loadu_epi64,
    _mm512_popcnt_epi64,
    _mm512_mask_popcnt_epi64,
    _mm512_mask_cmple_epu64_mask,
    u8,
    rows_near_64
);
