//! Compares every element of a small array with every other: the leaves of the joins.
//!
//! Eight rows are held in registers while the columns stream by, and one branch asks whether any
//! of the pairs of a step is near. The elements are folds of fingerprints (see [`Lane::fold32`]),
//! so what comes out are candidates, which [`super::hamming_accept`] checks on the fingerprints.
//!
//! [`Lane::fold32`]: simtool_model::fingerprint_table::Lane::fold32

use super::{Isa, Kind};
use std::ops::Range;

/// Candidates after which they are handed over.
const FLUSH: usize = 4096;
/// Rows of a tile.
const TILE: usize = 8;
/// Candidates that one step of a tile can add: eight rows and sixteen columns.
const STEP: usize = TILE * 16;

/// Pairs of indices, row below column, that were found near.
#[derive(Debug)]
pub struct Candidates {
    rows: Box<[u32]>,
    columns: Box<[u32]>,
    length: usize,
}

impl Default for Candidates {
    fn default() -> Self {
        let places = FLUSH + STEP + 16;
        Self { rows: vec![0; places].into(), columns: vec![0; places].into(), length: 0 }
    }
}

impl Candidates {
    #[inline]
    fn push(&mut self, row: usize, column: usize) {
        self.rows[self.length] = row as u32;
        self.columns[self.length] = column as u32;
        self.length += 1;
    }

    #[inline]
    fn flush(&mut self, sink: &mut dyn FnMut(&[u32], &[u32])) {
        if self.length > 0 {
            sink(&self.rows[..self.length], &self.columns[..self.length]);
            self.length = 0;
        }
    }
}

/// Hands to `sink` each pair of a row of `rows` and a column that is at least `first_column` and
/// behind the row, whose words differ in at most `max_distance` bits: arrays of rows and columns.
///
/// Tiles start at the first row; a caller that cuts the rows at multiples of eight gets the pairs
/// in the same order as one that does not.
///
/// # Panics
///
/// The rows reach beyond the words.
///
/// # Complexity
///
/// O(rows × columns) compares, up to 128 at a time.
pub fn near_pairs_32(
    words: &[u32],
    rows: Range<usize>,
    first_column: usize,
    max_distance: u32,
    isa: Isa,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    assert!(rows.end <= words.len());
    candidates.length = 0;
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Kind::Avx512 => unsafe {
            avx512::near_pairs_32(words, rows, first_column, max_distance, candidates, sink);
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx2 => unsafe {
            avx2::near_pairs_32(words, rows, first_column, max_distance, candidates, sink);
        },
        _ => portable::near_pairs_32(words, rows, first_column, max_distance, candidates, sink),
    }
    candidates.flush(sink);
}

/// As [`near_pairs_32`] for words of 64 bits: for distances that too many folds would pass.
///
/// # Panics
///
/// The rows reach beyond the words.
pub fn near_pairs_64(
    words: &[u64],
    rows: Range<usize>,
    first_column: usize,
    max_distance: u32,
    isa: Isa,
    candidates: &mut Candidates,
    sink: &mut dyn FnMut(&[u32], &[u32]),
) {
    assert!(rows.end <= words.len());
    candidates.length = 0;
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `runnable` says that this processor has the instructions.
        Kind::Avx512 => unsafe {
            avx512::near_pairs_64(words, rows, first_column, max_distance, candidates, sink);
        },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Kind::Avx2 => unsafe {
            avx2::near_pairs_64(words, rows, first_column, max_distance, candidates, sink);
        },
        _ => portable::near_pairs_64(words, rows, first_column, max_distance, candidates, sink),
    }
    candidates.flush(sink);
}

mod portable {
    use super::{Candidates, FLUSH, Range};

    /// Columns of a step; the compiler makes vectors of it.
    const COLUMNS: usize = 32;

    /// One row after the other. `far` says of a difference whether it has too many bits.
    macro_rules! rows_by_columns {
        ($word:ty, $words:ident, $rows:ident, $first_column:ident, $candidates:ident, $sink:ident, $near:expr) => {
            for row in $rows {
                let x = $words[row];
                let first = $first_column.max(row + 1).min($words.len());
                for (step, columns) in $words[first..].chunks(COLUMNS).enumerate() {
                    let any = columns.iter().fold(false, |any, &y| any | $near(x ^ y));
                    if any {
                        for (at, &y) in columns.iter().enumerate() {
                            if $near(x ^ y) {
                                $candidates.push(row, first + step * COLUMNS + at);
                            }
                        }
                        if $candidates.length >= FLUSH {
                            $candidates.flush($sink);
                        }
                    }
                }
            }
        };
    }

    #[inline(always)]
    pub(super) fn near_pairs_32(
        words: &[u32],
        rows: Range<usize>,
        first_column: usize,
        max_distance: u32,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        if max_distance == 3 {
            // Three times the lowest bit is taken away: cheaper than counting without an
            // instruction for it.
            let near = |mut y: u32| {
                y &= y.wrapping_sub(1);
                y &= y.wrapping_sub(1);
                y &= y.wrapping_sub(1);
                y == 0
            };
            rows_by_columns!(u32, words, rows, first_column, candidates, sink, near);
        } else {
            let near = |y: u32| y.count_ones() <= max_distance;
            rows_by_columns!(u32, words, rows, first_column, candidates, sink, near);
        }
    }

    #[inline(always)]
    pub(super) fn near_pairs_64(
        words: &[u64],
        rows: Range<usize>,
        first_column: usize,
        max_distance: u32,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        let near = |y: u64| y.count_ones() <= max_distance;
        rows_by_columns!(u64, words, rows, first_column, candidates, sink, near);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Candidates, Range, portable};

    /// The plain loops, compiled for AVX2: the compiler's vectors of eight words.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn near_pairs_32(
        words: &[u32],
        rows: Range<usize>,
        first_column: usize,
        max_distance: u32,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        portable::near_pairs_32(words, rows, first_column, max_distance, candidates, sink);
    }

    /// As above.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn near_pairs_64(
        words: &[u64],
        rows: Range<usize>,
        first_column: usize,
        max_distance: u32,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        portable::near_pairs_64(words, rows, first_column, max_distance, candidates, sink);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Candidates, FLUSH, Range, TILE};
    use std::arch::x86_64::{
        __m512i, __mmask8, _mm256_add_epi32, _mm256_mask_cmple_epu32_mask,
        _mm256_maskz_compress_epi32, _mm256_maskz_loadu_epi32, _mm256_popcnt_epi32,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm256_storeu_si256, _mm256_xor_si256,
        _mm512_mask_cmple_epu32_mask, _mm512_mask_cmple_epu64_mask, _mm512_mask_popcnt_epi32,
        _mm512_mask_popcnt_epi64, _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64,
        _mm512_min_epu8, _mm512_popcnt_epi32, _mm512_popcnt_epi64, _mm512_set1_epi32,
        _mm512_set1_epi64, _mm512_xor_si512,
    };

    /// Appends the rows `first_row` + lane of the lanes in `mask`, each with `column`.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,popcnt")]
    fn append(candidates: &mut Candidates, mask: __mmask8, first_row: usize, column: usize) {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let rows = _mm256_add_epi32(lanes, _mm256_set1_epi32((first_row as u32).cast_signed()));
        let length = candidates.length;
        assert!(length + 8 <= candidates.rows.len() && length + 8 <= candidates.columns.len());
        // SAFETY: the assertion above leaves room for the eight numbers of a vector.
        let row_end = unsafe { candidates.rows.as_mut_ptr().add(length) };
        // SAFETY: as above.
        let column_end = unsafe { candidates.columns.as_mut_ptr().add(length) };
        let rows = _mm256_maskz_compress_epi32(mask, rows);
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(row_end.cast(), rows) };
        let column = _mm256_set1_epi32((column as u32).cast_signed());
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(column_end.cast(), column) };
        candidates.length += mask.count_ones() as usize;
    }

    /// Writes the tiled loop for words of one width.
    ///
    /// The step that holds the diagonal counts under masks that leave all bits set where the column is
    /// not behind the row.
    macro_rules! tiled {
        ($name:ident, $word:ty, $lanes:literal, $splat:expr, $masked_load:ident, $count:ident,
            $masked_count:ident, $masked_compare:ident, $mask:ty, $rows_near:ident) => {
            #[target_feature(
                enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,bmi2,popcnt"
            )]
            pub(super) fn $name(
                words: &[$word],
                rows: Range<usize>,
                first_column: usize,
                max_distance: u32,
                candidates: &mut Candidates,
                sink: &mut dyn FnMut(&[u32], &[u32]),
            ) {
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
                        let valid: $mask =
                            if left < $lanes { (1 << left) - 1 } else { <$mask>::MAX };
                        let first = words[column..].as_ptr().cast();
                        // SAFETY: only the words under the mask are read, and those exist.
                        let y = unsafe { $masked_load(valid, first) };
                        let mut least = far;
                        if column == tile + 1 {
                            // Without a mask, each row would meet itself here.
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

    /// Returns which of up to eight words are near `word`.
    #[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq")]
    fn rows_near_32(tile: &[u32], word: u32, max_distance: u32) -> __mmask8 {
        let valid = (u32::MAX >> (32 - tile.len())) as __mmask8;
        // SAFETY: only the words under the mask are read, and those exist.
        let words = unsafe { _mm256_maskz_loadu_epi32(valid, tile.as_ptr().cast()) };
        let difference = _mm256_xor_si256(words, _mm256_set1_epi32(word.cast_signed()));
        let limit = _mm256_set1_epi32(max_distance.cast_signed());
        _mm256_mask_cmple_epu32_mask(valid, _mm256_popcnt_epi32(difference), limit)
    }

    /// As above.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All near pairs, sorted.
    fn pairs_32(
        words: &[u32],
        first_column: usize,
        max_distance: u32,
        isa: Isa,
    ) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let end = if first_column == 0 { words.len() } else { first_column };
        let mut sink = |rows: &[u32], columns: &[u32]| {
            found.extend(rows.iter().copied().zip(columns.iter().copied()));
        };
        let candidates = &mut Candidates::default();
        near_pairs_32(words, 0..end, first_column, max_distance, isa, candidates, &mut sink);
        found.sort_unstable();
        found
    }

    fn pairs_64(
        words: &[u64],
        first_column: usize,
        max_distance: u32,
        isa: Isa,
    ) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let end = if first_column == 0 { words.len() } else { first_column };
        let mut sink = |rows: &[u32], columns: &[u32]| {
            found.extend(rows.iter().copied().zip(columns.iter().copied()));
        };
        let candidates = &mut Candidates::default();
        near_pairs_64(words, 0..end, first_column, max_distance, isa, candidates, &mut sink);
        found.sort_unstable();
        found
    }

    fn slow(words: &[u64], first_column: usize, max_distance: u32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        for column in first_column..words.len() {
            let rows = if first_column == 0 { column } else { first_column };
            for row in 0..rows {
                if (words[row] ^ words[column]).count_ones() <= max_distance {
                    found.push((row as u32, column as u32));
                }
            }
        }
        found.sort_unstable();
        found
    }

    #[test]
    fn every_path_finds_the_near_pairs_of_every_length() {
        let mut state = 3u64;
        let words: Vec<u64> = (0..150)
            .map(|i| {
                state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(i | 1);
                // Few bits vary, so that every distance occurs.
                (state >> 33) & 0x0303_0303
            })
            .collect();
        for length in (0..60).chain([80, 150]) {
            let words = &words[..length];
            let narrow: Vec<u32> = words.iter().map(|&word| word as u32).collect();
            for max_distance in [0, 2, 3, 4, 40] {
                for first_column in [0, length / 3, length] {
                    let expected = slow(words, first_column, max_distance);
                    for &isa in Isa::available() {
                        let place = format!("{isa} {length} {first_column} {max_distance}");
                        let found = pairs_32(&narrow, first_column, max_distance, isa);
                        assert_eq!(found, expected, "{place}");
                        let found = pairs_64(words, first_column, max_distance, isa);
                        assert_eq!(found, expected, "{place}");
                    }
                }
            }
        }
    }

    #[test]
    fn many_candidates_are_handed_over_in_pieces_and_none_is_lost() {
        for &isa in Isa::available() {
            let count = pairs_32(&[5; 700], 0, 0, isa).len();
            assert_eq!(count, 700 * 699 / 2, "{isa}");
        }
    }
}
