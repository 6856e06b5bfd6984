//! Counts, bit by bit, how many of many 64-bit rows have it set: the inner loop of SimHash.
//!
//! A row's weight is the number of times that it is given. A bit of the fingerprint is 1 where the
//! rows with the bit outnumber those without: where 2 × ones > rows, so no signs are needed.
//!
//! # References
//!
//! M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.

use super::Isa;

/// Rows that a byte counter takes before it must be emptied.
const BYTE_LIMIT: usize = 255;

/// How many rows were added, and how many of them have each bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitCounts {
    ones: [u64; 64],
    rows: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        Self { ones: [0; 64], rows: 0 }
    }
}

impl BitCounts {
    /// Adds `rows`, each with weight 1.
    ///
    /// # Complexity
    ///
    /// O(rows): about one AVX-512 instruction a row, or ten plain ones.
    pub fn add(&mut self, isa: Isa, rows: &[u64]) {
        for rows in rows.chunks(BYTE_LIMIT) {
            match isa {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: an `Isa` above portable exists only where the processor has it.
                Isa::Avx512 => unsafe { avx512::add(rows, &mut self.ones) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2::add(rows, &mut self.ones) },
                _ => portable::add(rows, &mut self.ones),
            }
        }
        self.rows += rows.len() as u64;
    }

    /// The bits that more than half of the rows have; a tie gives 0.
    #[must_use]
    pub fn majority(&self) -> u64 {
        (0..64).filter(|&bit| 2 * self.ones[bit] > self.rows).fold(0, |all, bit| all | 1 << bit)
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

mod portable {
    /// Adds up to 255 rows: eight counters a machine word, each the byte of one bit.
    ///
    /// Word `w` counts bits `w`, `w + 8`, … `w + 56`: shifting a row right by `w` and masking
    /// leaves one bit in each byte.
    pub(super) fn add(rows: &[u64], ones: &mut [u64; 64]) {
        let mut counters = [0u64; 8];
        for row in rows {
            for (shift, counter) in counters.iter_mut().enumerate() {
                *counter += (row >> shift) & 0x0101_0101_0101_0101;
            }
        }
        for (shift, counter) in counters.iter().enumerate() {
            for (byte, count) in counter.to_le_bytes().into_iter().enumerate() {
                ones[8 * byte + shift] += u64::from(count);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_set1_epi64x, _mm256_setr_epi64x,
        _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_storeu_si256, _mm256_sub_epi8,
    };

    /// Adds up to 255 rows: spreads a row's bits to bytes and subtracts the comparison's −1.
    ///
    /// # Safety
    ///
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add(rows: &[u64], ones: &mut [u64; 64]) {
        // Byte i of the low half wants byte i / 8 of the row, then bit i % 8 of it.
        let spread_low = _mm256_setr_epi64x(
            0,
            0x0101_0101_0101_0101,
            0x0202_0202_0202_0202,
            0x0303_0303_0303_0303,
        );
        let spread_high = _mm256_setr_epi64x(
            0x0404_0404_0404_0404,
            0x0505_0505_0505_0505,
            0x0606_0606_0606_0606,
            0x0707_0707_0707_0707,
        );
        let bit = _mm256_set1_epi64x(0x8040_2010_0804_0201_u64.cast_signed());
        let mut low = _mm256_setzero_si256();
        let mut high = _mm256_setzero_si256();
        for &row in rows {
            let row = _mm256_set1_epi64x(row.cast_signed());
            let set_low = _mm256_and_si256(_mm256_shuffle_epi8(row, spread_low), bit);
            let set_high = _mm256_and_si256(_mm256_shuffle_epi8(row, spread_high), bit);
            low = _mm256_sub_epi8(low, _mm256_cmpeq_epi8(set_low, bit));
            high = _mm256_sub_epi8(high, _mm256_cmpeq_epi8(set_high, bit));
        }
        let mut counts = [[0u8; 32]; 2];
        for (counts, counters) in counts.iter_mut().zip([low, high]) {
            let place: *mut __m256i = counts.as_mut_ptr().cast();
            // SAFETY: the place holds 32 bytes.
            unsafe { _mm256_storeu_si256(place, counters) };
        }
        for (one, count) in ones.iter_mut().zip(counts.as_flattened()) {
            *one += u64::from(*count);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        _mm512_add_epi8, _mm512_mask_add_epi8, _mm512_set1_epi8, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    /// Adds up to 255 rows: a row is the mask of one addition to 64 byte counters.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F and BW.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn add(rows: &[u64], ones: &mut [u64; 64]) {
        let one = _mm512_set1_epi8(1);
        // Two sets of counters, so that an addition need not wait for the one before it.
        let mut even = _mm512_setzero_si512();
        let mut odd = _mm512_setzero_si512();
        let (pairs, rest) = rows.as_chunks::<2>();
        for &[first, second] in pairs {
            even = _mm512_mask_add_epi8(even, first, even, one);
            odd = _mm512_mask_add_epi8(odd, second, odd, one);
        }
        for &row in rest {
            even = _mm512_mask_add_epi8(even, row, even, one);
        }
        let mut counts = [0u8; 64];
        // SAFETY: the place holds 64 bytes.
        unsafe { _mm512_storeu_si512(counts.as_mut_ptr().cast(), _mm512_add_epi8(even, odd)) };
        for (one, count) in ones.iter_mut().zip(counts) {
            *one += u64::from(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow, obvious twin: signed sums.
    fn naive(rows: &[u64]) -> u64 {
        (0..64).fold(0, |all, bit| {
            let sum: i64 = rows.iter().map(|row| if row >> bit & 1 == 1 { 1 } else { -1 }).sum();
            all | u64::from(sum > 0) << bit
        })
    }

    fn check(rows: &[u64]) {
        for &isa in Isa::available() {
            let mut counts = BitCounts::default();
            let (first, second) = rows.split_at(rows.len() / 3);
            counts.add(isa, first);
            counts.add(isa, second);
            assert_eq!(counts.majority(), naive(rows), "{isa}, {} rows", rows.len());
            counts.clear();
            assert_eq!(counts, BitCounts::default());
        }
    }

    #[test]
    fn no_row_and_a_tie_give_zeros() {
        check(&[]);
        check(&[u64::MAX, 0]);
        check(&[u64::MAX, 0, 1]);
    }

    #[test]
    fn counters_do_not_overflow() {
        for length in [254, 255, 256, 510, 511, 1000] {
            check(&vec![u64::MAX; length]);
            check(&[vec![u64::MAX; length], vec![0; length - 1]].concat());
        }
    }

    proptest! {
        #[test]
        fn random_rows_are_the_same(rows in proptest::collection::vec(any::<u64>(), 0..700)) {
            check(&rows);
        }
    }
}
