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
///
/// Up to 255 rows are counted in bytes, which is all that most documents need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitCounts {
    /// Rows with each bit, among the last `in_bytes`.
    bytes: [u8; 64],
    in_bytes: usize,
    /// Rows with each bit, among those before.
    ones: [u64; 64],
    rows: u64,
}

impl Default for BitCounts {
    fn default() -> Self {
        Self { bytes: [0; 64], in_bytes: 0, ones: [0; 64], rows: 0 }
    }
}

impl BitCounts {
    /// Adds `rows`, each with weight 1.
    ///
    /// # Complexity
    ///
    /// O(rows): about one AVX-512 instruction a row, or ten plain ones.
    pub fn add(&mut self, isa: Isa, mut rows: &[u64]) {
        while !rows.is_empty() {
            if self.in_bytes == BYTE_LIMIT {
                self.empty_bytes();
            }
            let (now, later) = rows.split_at(rows.len().min(BYTE_LIMIT - self.in_bytes));
            match isa.runnable() {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `runnable` says that this processor has the instructions.
                Isa::Avx512 => unsafe { avx512::add(now, &mut self.bytes) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Isa::Avx2 => unsafe { avx2::add(now, &mut self.bytes) },
                _ => portable::add(now, &mut self.bytes),
            }
            self.in_bytes += now.len();
            rows = later;
        }
    }

    /// The bits that more than half of the rows have, a tie giving 0; forgets the rows.
    #[must_use]
    pub fn take_majority(&mut self) -> u64 {
        if self.rows == 0 {
            // 2 × ones > rows, without leaving the bytes.
            let half = (self.in_bytes / 2) as u8;
            let majority = bits(&self.bytes, |&ones| ones > half);
            self.bytes = [0; 64];
            self.in_bytes = 0;
            return majority;
        }
        self.empty_bytes();
        let majority = bits(&self.ones, |ones| 2 * ones > self.rows);
        *self = Self::default();
        majority
    }

    /// Moves the counts in bytes to the others.
    fn empty_bytes(&mut self) {
        for (ones, byte) in self.ones.iter_mut().zip(&mut self.bytes) {
            *ones += u64::from(std::mem::take(byte));
        }
        self.rows += std::mem::take(&mut self.in_bytes) as u64;
    }
}

/// The places whose count is `over` the half, as bits.
#[inline]
fn bits<T>(counts: &[T; 64], over: impl Fn(&T) -> bool) -> u64 {
    // Eight at a time, so that the compiler need not carry one bit after the other.
    let (eights, _) = counts.as_chunks::<8>();
    eights.iter().rev().fold(0, |all, eight| {
        let mut byte = 0;
        for (bit, count) in eight.iter().enumerate() {
            byte |= u64::from(over(count)) << bit;
        }
        all << 8 | byte
    })
}

mod portable {
    /// Adds rows, 255 in all: eight counters a machine word, each the byte of one bit.
    ///
    /// Word `w` counts bits `w`, `w + 8`, … `w + 56`: shifting a row right by `w` and masking
    /// leaves one bit in each byte.
    pub(super) fn add(rows: &[u64], bytes: &mut [u8; 64]) {
        let mut counters = [0u64; 8];
        for row in rows {
            for (shift, counter) in counters.iter_mut().enumerate() {
                *counter += (row >> shift) & 0x0101_0101_0101_0101;
            }
        }
        for (shift, counter) in counters.iter().enumerate() {
            for (byte, count) in counter.to_le_bytes().into_iter().enumerate() {
                bytes[8 * byte + shift] += count;
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

    /// Adds rows, 255 in all: spreads a row's bits to bytes and subtracts the comparison's −1.
    ///
    /// # Safety
    ///
    /// The processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn add(rows: &[u64], bytes: &mut [u8; 64]) {
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
        for (byte, count) in bytes.iter_mut().zip(counts.as_flattened()) {
            *byte += count;
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        _mm512_add_epi8, _mm512_loadu_si512, _mm512_mask_add_epi8, _mm512_set1_epi8,
        _mm512_setzero_si512, _mm512_storeu_si512,
    };

    /// Adds rows, 255 in all: a row is the mask of one addition to 64 byte counters.
    ///
    /// # Safety
    ///
    /// The processor has AVX-512 F and BW.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) unsafe fn add(rows: &[u64], bytes: &mut [u8; 64]) {
        let one = _mm512_set1_epi8(1);
        // Two sets of counters, so that an addition need not wait for the one before it.
        // SAFETY: the place holds 64 bytes.
        let mut even = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let mut odd = _mm512_setzero_si512();
        let (pairs, rest) = rows.as_chunks::<2>();
        for &[first, second] in pairs {
            even = _mm512_mask_add_epi8(even, first, even, one);
            odd = _mm512_mask_add_epi8(odd, second, odd, one);
        }
        for &row in rest {
            even = _mm512_mask_add_epi8(even, row, even, one);
        }
        // SAFETY: the place holds 64 bytes.
        unsafe { _mm512_storeu_si512(bytes.as_mut_ptr().cast(), _mm512_add_epi8(even, odd)) };
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
            assert_eq!(counts.take_majority(), naive(rows), "{isa}, {} rows", rows.len());
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
