//! How many of many 64-bit rows have each bit.

use super::Isa;

/// Adds to `counts[i]` the number of rows that have bit i.
///
/// The counts are exact for up to 2^32 - 1 rows in all.
pub fn add_bit_counts(isa: Isa, rows: &[u64], counts: &mut [u32; 64]) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected.
        Isa::Avx512 => unsafe { avx512::add_bit_counts(rows, counts) },
        _ => carry_save(rows, counts),
    }
}

/// Seven rows at a time are added, all bit positions at once, into three planes of digits, which
/// ripple into planes of higher value; the planes are read before they could overflow.
fn carry_save(rows: &[u64], counts: &mut [u32; 64]) {
    const PLANES: usize = 8;
    // Sums of up to 36 * 7 = 252 rows fit eight binary digits.
    for block in rows.chunks(36 * 7) {
        let mut planes = [0_u64; PLANES];
        let sevens = block.chunks_exact(7);
        let rest = sevens.remainder();
        for seven in sevens {
            let (ones_a, twos_a) = full_adder(seven[0], seven[1], seven[2]);
            let (ones_b, twos_b) = full_adder(seven[3], seven[4], seven[5]);
            let (ones, twos_c) = full_adder(ones_a, ones_b, seven[6]);
            let (twos, fours) = full_adder(twos_a, twos_b, twos_c);
            let digits = [ones, twos, fours];
            let mut carry = 0;
            for (plane, sum) in planes.iter_mut().enumerate() {
                let digit = digits.get(plane).copied().unwrap_or(0);
                (*sum, carry) = full_adder(*sum, digit, carry);
            }
        }
        for (bit, count) in counts.iter_mut().enumerate() {
            let of_planes = planes.iter().rev().fold(0, |sum, plane| sum << 1 | (plane >> bit & 1));
            let of_rest: u64 = rest.iter().map(|row| row >> bit & 1).sum();
            *count += (of_planes + of_rest) as u32;
        }
    }
}

/// The sum of three numbers of one binary digit, at 64 positions: its digits.
fn full_adder(a: u64, b: u64, c: u64) -> (u64, u64) {
    (a ^ b ^ c, (a & b) | (c & (a ^ b)))
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    /// A row is a mask under which 1 is added to 64 counters of one byte.
    ///
    /// # Safety
    /// Needs AVX-512 F and BW.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn add_bit_counts(rows: &[u64], counts: &mut [u32; 64]) {
        const ACCUMULATORS: usize = 4;
        let one = _mm512_set1_epi8(1);
        let mut wide = [_mm512_setzero_si512(); 4];
        // Each accumulator gets at most 255 rows before its bytes are added to the wide ones.
        for block in rows.chunks(255 * ACCUMULATORS) {
            let mut narrow = [_mm512_setzero_si512(); ACCUMULATORS];
            for rows in block.chunks(ACCUMULATORS) {
                for (sum, &row) in narrow.iter_mut().zip(rows) {
                    *sum = _mm512_mask_add_epi8(*sum, row, *sum, one);
                }
            }
            for sum in narrow {
                let quarters = [
                    _mm512_extracti32x4_epi32::<0>(sum),
                    _mm512_extracti32x4_epi32::<1>(sum),
                    _mm512_extracti32x4_epi32::<2>(sum),
                    _mm512_extracti32x4_epi32::<3>(sum),
                ];
                for (total, quarter) in wide.iter_mut().zip(quarters) {
                    *total = _mm512_add_epi32(*total, _mm512_cvtepu8_epi32(quarter));
                }
            }
        }
        for (sum, total) in counts.chunks_exact_mut(16).zip(wide) {
            let place = sum.as_mut_ptr().cast();
            // SAFETY: the chunk holds 16 numbers of four bytes.
            unsafe {
                let before = _mm512_loadu_si512(place);
                _mm512_storeu_si512(place, _mm512_add_epi32(before, total));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stable_hash::mix;

    #[test]
    fn all_paths_count_as_the_naive_loop_does() {
        for rows in [0, 1, 3, 6, 7, 8, 250, 252, 253, 255, 256, 1019, 1020, 1021, 2500_u64] {
            // Row 0 has all bits; bit 63 is in every row, so that counters run full.
            let rows: Vec<u64> =
                (0..rows).map(|i| mix(i) | 1 << 63 | u64::from(i == 0) * u64::MAX).collect();
            let mut expected = [5_u32; 64];
            for &row in &rows {
                for (bit, count) in expected.iter_mut().enumerate() {
                    *count += (row >> bit & 1) as u32;
                }
            }
            for &isa in Isa::available() {
                let mut counts = [5; 64];
                add_bit_counts(isa, &rows, &mut counts);
                assert_eq!(counts, expected, "{isa} {}", rows.len());
            }
        }
    }
}
