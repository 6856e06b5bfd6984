//! Blocks of 64 bytes with AVX2, in two halves.

use crate::x86_64::byte_lanes::Lanes;
use std::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_adds_epu8, _mm256_and_si256,
    _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi16,
    _mm256_storeu_si256, _mm256_xor_si256,
};
use std::hint::black_box;

/// Sixty-four bytes in two registers.
#[derive(Clone, Copy)]
pub(super) struct ByteLanes(__m256i, __m256i);

impl ByteLanes {
    /// Returns a mask of the highest bits of all 64 bytes.
    #[inline(always)]
    unsafe fn mask(self) -> u64 {
        // SAFETY: the caller has the instructions.
        let (low, high) = unsafe { (_mm256_movemask_epi8(self.0), _mm256_movemask_epi8(self.1)) };
        // Without the barrier the compiler keeps joined masks as vectors of bits, which takes more
        // instructions to join and to take apart again.
        black_box(u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32)
    }
}

/// Makes a byte of each of 32 bits: 0xFF if the bit is set, else 0.
///
/// Each byte is given the quarter of the mask that has its bit, then all but that bit are cleared:
///
/// ```text
/// byte       0        1        …   8        9        …
/// quarter    m0       m0       …   m1       m1       …
/// & bit      m0 & 1   m0 & 2   …   m1 & 1   m1 & 2   …    equal to the bit? then 0xFF
/// ```
#[inline(always)]
unsafe fn spread(mask: u32) -> __m256i {
    // SAFETY: the caller has the instructions.
    unsafe {
        let bytes = _mm256_set1_epi32(mask.cast_signed());
        let of_eight = _mm256_setr_epi64x(
            0,
            0x0101_0101_0101_0101,
            0x0202_0202_0202_0202,
            0x0303_0303_0303_0303,
        );
        let bit = place_bits();
        let bits = _mm256_and_si256(_mm256_shuffle_epi8(bytes, of_eight), bit);
        _mm256_cmpeq_epi8(bits, bit)
    }
}

/// Returns a vector in which byte i has only bit i modulo 8 set: 1, 2, 4, …, 128, and then 1 again.
#[inline(always)]
unsafe fn place_bits() -> __m256i {
    const BITS: i64 = 0x8040_2010_0804_0201_u64.cast_signed();
    // SAFETY: the caller has the instructions.
    unsafe { _mm256_setr_epi64x(BITS, BITS, BITS, BITS) }
}

/// Replaces each of 32 bytes by an entry of the table. The lowest six bits of the byte are the
/// index of the entry.
///
/// A shuffle looks up four bits in 16 entries, and gives zero for a byte whose highest bit is set.
/// So all bytes are looked up in each quarter of the table. Before each of these look-ups, the
/// highest bit is set in the bytes whose entries are in other quarters. The four results are
/// combined by OR.
#[inline(always)]
unsafe fn lookup_half(bytes: __m256i, table: [__m256i; 4]) -> __m256i {
    // SAFETY: the caller has the instructions.
    unsafe {
        let bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(0x3F));
        let mut found = _mm256_setzero_si256();
        for (quarter, part) in table.into_iter().enumerate() {
            // Bytes of this quarter become 0..16; any others are at least 16, so the saturating sum
            // with 0x70 sets their highest bit.
            let own = _mm256_xor_si256(bytes, _mm256_set1_epi8((quarter as i8) << 4));
            let own = _mm256_adds_epu8(own, _mm256_set1_epi8(0x70));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(part, own));
        }
        found
    }
}

impl Lanes for ByteLanes {
    /// The four quarters of the table. Each register holds one quarter twice, because a shuffle
    /// looks up the two halves of a register separately.
    type Table = [__m256i; 4];

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 64]) -> [__m256i; 4] {
        let quarters = bytes.as_chunks::<16>().0;
        // SAFETY: the caller has the instructions; there are four quarters of 16 bytes.
        let quarter = |at: usize| unsafe {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(quarters[at].as_ptr().cast()))
        };
        [quarter(0), quarter(1), quarter(2), quarter(3)]
    }

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller has the instructions, and 64 bytes to read.
        unsafe { Self(_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller has the instructions, and room for 64 bytes.
        unsafe {
            _mm256_storeu_si256(bytes.cast(), self.0);
            _mm256_storeu_si256(bytes.add(32).cast(), self.1);
        }
    }

    #[inline(always)]
    unsafe fn all(byte: u8) -> Self {
        // SAFETY: the caller has the instructions.
        let all = unsafe { _mm256_set1_epi8(byte.cast_signed()) };
        Self(all, all)
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe {
            let Self(byte, _) = Self::all(byte);
            Self(_mm256_cmpeq_epi8(self.0, byte), _mm256_cmpeq_epi8(self.1, byte)).mask()
        }
    }

    #[inline(always)]
    unsafe fn below(self, limit: i8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe {
            let limit = _mm256_set1_epi8(limit);
            Self(_mm256_cmpgt_epi8(limit, self.0), _mm256_cmpgt_epi8(limit, self.1)).mask()
        }
    }

    #[inline(always)]
    unsafe fn having(self, bit: u8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe {
            // The bit moves to the highest place, from where masks are taken. The shift works on pairs
            // of bytes, but bits that cross from the lower byte stay below that place.
            let count = _mm_cvtsi32_si128(bit.leading_zeros().cast_signed());
            Self(_mm256_sll_epi16(self.0, count), _mm256_sll_epi16(self.1, count)).mask()
        }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: [__m256i; 4]) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(lookup_half(self.0, table), lookup_half(self.1, table)) }
    }

    #[inline(always)]
    unsafe fn replaced(self, mask: u64, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let (low, high) = (spread(mask as u32), spread((mask >> 32) as u32));
            Self(
                _mm256_blendv_epi8(self.0, other.0, low),
                _mm256_blendv_epi8(self.1, other.1, high),
            )
        }
    }
}
