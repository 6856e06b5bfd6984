//! Checks candidate pairs on their fingerprints.
//!
//! A join compares short folds of fingerprints first, so some candidates are farther apart than they
//! seemed. A pair is accepted if it is near enough and agrees and differs in the bits that its part of
//! the join is responsible for: so every pair comes out once.

use super::{Isa, Kind};
use simtool_model::fingerprint_rows::Metric;
use simtool_model::fingerprint_table::{Lane, Reach};

/// The conditions on an accepted pair.
#[derive(Clone, Copy, Debug)]
pub struct PairTest<'a, L> {
    /// The pair is no farther apart than this.
    pub reach: Reach,
    /// The pair agrees in all of these bits.
    pub equal: L,
    /// The pair differs somewhere in each of these masks.
    pub unequal: &'a [L],
}

impl<L: Lane> PairTest<'_, L> {
    /// Returns the distance of a pair with these differing bits, if the pair is accepted.
    #[inline]
    pub fn distance(&self, difference: L) -> Option<u32> {
        let distance = self.reach.distance(difference)?;
        let accepted = difference & self.equal == L::ZERO
            && self.unequal.iter().all(|&mask| difference & mask != L::ZERO);
        accepted.then_some(distance)
    }
}

/// Hands to `sink` row, column and distance of each candidate pair of `values` that passes.
///
/// # Panics
///
/// If a candidate is outside `values`.
#[inline]
pub fn accept<L: Lane>(
    values: &[L],
    rows: &[u32],
    columns: &[u32],
    test: &PairTest<'_, L>,
    isa: Isa,
    sink: &mut impl FnMut(u32, u32, u32),
) {
    #[cfg(target_arch = "x86_64")]
    match isa.0 {
        Kind::Avx512 if L::WORDS == 1 && test.reach.shape.metric() == Metric::Bits => {
            let words: &[u64] = bytemuck::cast_slice(values);
            let masks: &[u64] = bytemuck::cast_slice(test.unequal);
            let equal = test.equal.fold64();
            let test = PairTest { reach: test.reach, equal, unequal: masks };
            // SAFETY: `runnable` says that this processor has the instructions.
            return unsafe { avx512::accept(words, rows, columns, &test, sink) };
        }
        // SAFETY: as above.
        Kind::Avx512 => return unsafe { avx512::accept_wide(values, rows, columns, test, sink) },
        // SAFETY: as above.
        Kind::Avx2 => return unsafe { avx2::accept(values, rows, columns, test, sink) },
        Kind::Portable => {}
    }
    let _ = isa;
    accept_portable(values, rows, columns, test, sink);
}

/// The plain twin.
#[inline(always)]
fn accept_portable<L: Lane>(
    values: &[L],
    rows: &[u32],
    columns: &[u32],
    test: &PairTest<'_, L>,
    sink: &mut impl FnMut(u32, u32, u32),
) {
    for (&row, &column) in rows.iter().zip(columns) {
        let difference = values[row as usize] ^ values[column as usize];
        if let Some(distance) = test.distance(difference) {
            sink(row, column, distance);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::{Lane, PairTest, accept_portable};

    /// The plain loop, compiled for AVX2.
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    pub(super) fn accept<L: Lane>(
        values: &[L],
        rows: &[u32],
        columns: &[u32],
        test: &PairTest<'_, L>,
        sink: &mut impl FnMut(u32, u32, u32),
    ) {
        accept_portable(values, rows, columns, test, sink);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Lane, PairTest, accept_portable};
    use std::arch::x86_64::{
        _MM_CMPINT_LT, _mm256_loadu_si256, _mm256_mask_cmp_epu32_mask, _mm256_set1_epi32,
        _mm512_i32gather_epi64, _mm512_mask_cmple_epu64_mask, _mm512_mask_test_epi64_mask,
        _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_storeu_si512, _mm512_testn_epi64_mask,
        _mm512_xor_si512,
    };

    /// The plain loop, compiled for AVX-512: a vector holds eight words of a lane.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,popcnt")]
    pub(super) fn accept_wide<L: Lane>(
        values: &[L],
        rows: &[u32],
        columns: &[u32],
        test: &PairTest<'_, L>,
        sink: &mut impl FnMut(u32, u32, u32),
    ) {
        accept_portable(values, rows, columns, test, sink);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,bmi1,popcnt")]
    pub(super) fn accept(
        words: &[u64],
        rows: &[u32],
        columns: &[u32],
        test: &PairTest<'_, u64>,
        sink: &mut impl FnMut(u32, u32, u32),
    ) {
        let limit = _mm512_set1_epi64(test.reach.max_distance.into());
        let equal = _mm512_set1_epi64(test.equal.cast_signed());
        // An index is read as a signed number, so longer arrays go the plain way.
        let length = if words.len() > i32::MAX as usize { 0 } else { words.len() as u32 };
        let end = _mm256_set1_epi32(length.cast_signed());
        let (row_steps, rest_rows) = rows.as_chunks::<8>();
        let (column_steps, rest_columns) = columns.as_chunks::<8>();
        for (rows, columns) in row_steps.iter().zip(column_steps) {
            // SAFETY: the chunk is a vector of eight numbers.
            let row = unsafe { _mm256_loadu_si256(rows.as_ptr().cast()) };
            // SAFETY: as above.
            let column = unsafe { _mm256_loadu_si256(columns.as_ptr().cast()) };
            let inside = _mm256_mask_cmp_epu32_mask::<_MM_CMPINT_LT>(0xFF, row, end);
            if _mm256_mask_cmp_epu32_mask::<_MM_CMPINT_LT>(inside, column, end) != 0xFF {
                accept_portable(words, rows, columns, test, sink);
                continue;
            }
            // SAFETY: the eight indices are below the length, which was checked above.
            let a = unsafe { _mm512_i32gather_epi64::<8>(row, words.as_ptr().cast()) };
            // SAFETY: as above.
            let b = unsafe { _mm512_i32gather_epi64::<8>(column, words.as_ptr().cast()) };
            let difference = _mm512_xor_si512(a, b);
            let distance = _mm512_popcnt_epi64(difference);
            let agree = _mm512_testn_epi64_mask(difference, equal);
            let mut accepted = _mm512_mask_cmple_epu64_mask(agree, distance, limit);
            for &mask in test.unequal {
                let mask = _mm512_set1_epi64(mask.cast_signed());
                accepted = _mm512_mask_test_epi64_mask(accepted, difference, mask);
            }
            if accepted == 0 {
                continue;
            }
            let mut distances = [0u64; 8];
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_storeu_si512(distances.as_mut_ptr().cast(), distance) };
            while accepted != 0 {
                let lane = accepted.trailing_zeros() as usize & 7;
                sink(rows[lane], columns[lane], distances[lane] as u32);
                accepted &= accepted - 1;
            }
        }
        accept_portable(words, rest_rows, rest_columns, test, sink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::Shape;
    use simtool_model::fingerprint_table::Wide;

    fn check<L: Lane>(values: &[L], shape: Shape, equal: L, unequal: &[L]) {
        let (mut rows, mut columns) = (Vec::new(), Vec::new());
        for row in 0..60u32 {
            for column in row + 1..64 {
                rows.push(row);
                columns.push(column);
            }
        }
        for max_distance in 0..6 {
            let reach = Reach { shape, max_distance };
            let test = PairTest { reach, equal, unequal };
            let mut expected = Vec::new();
            accept_portable(values, &rows, &columns, &test, &mut |a, b, d| {
                expected.push((a, b, d));
            });
            for &isa in Isa::available() {
                let mut found = Vec::new();
                accept(values, &rows, &columns, &test, isa, &mut |a, b, d| found.push((a, b, d)));
                assert_eq!(found, expected, "{isa}");
            }
        }
    }

    #[test]
    fn every_path_accepts_the_same_pairs() {
        let values: Vec<u64> = (0..64u64).map(|i| i << 3 | i >> 2).collect();
        let masks = [0b110, 1 << 7 | 1];
        check(&values, Shape::bits(64), 0b1_0000, &masks);
        check(&values, Shape::lanes(16, 4), 0b1_0000, &masks);
        let wide: Vec<Wide<8>> = values.iter().map(|&v| Wide([0, v, 0, 0, 0, 0, 0, v])).collect();
        let masks = masks.map(|mask| Wide([0, mask, 0, 0, 0, 0, 0, 0]));
        check(&wide, Shape::bits(512), Wide::<8>::ZERO.flipped(64 + 4), &masks);
    }
}
