//! Blocks of 64 bytes in registers, as two kernels for characters share them.

use std::arch::x86_64::{
    __m256i, __m512i, _mm_cvtsi32_si128, _mm_loadu_si128, _mm256_adds_epu8, _mm256_and_si256,
    _mm256_blendv_epi8, _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
    _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32,
    _mm256_setr_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_sll_epi16,
    _mm256_storeu_si256, _mm256_xor_si256, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epi8_mask,
    _mm512_loadu_si512, _mm512_mask_mov_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512, _mm512_test_epi8_mask,
};
use std::hint::black_box;

/// Sixty-four bytes. In masks, byte 0 is bit 0.
///
/// # Safety
/// All of its functions need the instruction set of the type; they are inlined into kernels that
/// have it.
pub(super) trait Lanes: Copy {
    /// Sixty-four bytes to look up.
    type Table: Copy;
    /// A table in registers.
    unsafe fn table(bytes: &[u8; 64]) -> Self::Table;
    /// The bytes from `bytes` on, of which there are 64.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Writes them to `bytes`, where there is room for 64.
    unsafe fn store(self, bytes: *mut u8);
    /// The same byte everywhere.
    unsafe fn all(byte: u8) -> Self;
    /// The bytes that are `byte`.
    unsafe fn equal(self, byte: u8) -> u64;
    /// The bytes below `limit`, both with their sign.
    unsafe fn below(self, limit: i8) -> u64;
    /// The bytes that have this one bit.
    unsafe fn having(self, bit: u8) -> u64;
    /// What the lowest six bits of each byte lead to.
    unsafe fn lookup(self, table: Self::Table) -> Self;
    /// These bytes, but those of `other` that the mask has.
    unsafe fn replaced(self, mask: u64, other: Self) -> Self;
}

/// With AVX-512 and VBMI.
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

impl Lanes for Avx512 {
    type Table = Self;

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 64]) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::load(bytes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(_mm512_loadu_si512(bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller's.
        unsafe { _mm512_storeu_si512(bytes.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn all(byte: u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(_mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller's.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, Self::all(byte).0) }
    }

    #[inline(always)]
    unsafe fn below(self, limit: i8) -> u64 {
        // SAFETY: the caller's.
        unsafe { _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(limit)) }
    }

    #[inline(always)]
    unsafe fn having(self, bit: u8) -> u64 {
        // SAFETY: the caller's.
        unsafe { _mm512_test_epi8_mask(self.0, Self::all(bit).0) }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(_mm512_permutexvar_epi8(self.0, table.0)) }
    }

    #[inline(always)]
    unsafe fn replaced(self, mask: u64, other: Self) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(_mm512_mask_mov_epi8(self.0, mask, other.0)) }
    }
}

/// With AVX2, in two halves.
#[derive(Clone, Copy)]
pub(super) struct Avx2(__m256i, __m256i);

impl Avx2 {
    /// The highest bits of all bytes.
    #[inline(always)]
    unsafe fn mask(self) -> u64 {
        // SAFETY: the caller's.
        let (low, high) = unsafe { (_mm256_movemask_epi8(self.0), _mm256_movemask_epi8(self.1)) };
        // Else the compiler takes masks that are joined for vectors of bits, and those apart.
        black_box(u64::from(low.cast_unsigned()) | u64::from(high.cast_unsigned()) << 32)
    }
}

/// Bytes of which those in a mask are all ones.
#[inline(always)]
unsafe fn spread(mask: u32) -> __m256i {
    // SAFETY: the caller's.
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

/// In each byte of eight, the bit of its place.
#[inline(always)]
unsafe fn place_bits() -> __m256i {
    const BITS: i64 = 0x8040_2010_0804_0201_u64.cast_signed();
    // SAFETY: the caller's.
    unsafe { _mm256_setr_epi64x(BITS, BITS, BITS, BITS) }
}

/// What the lowest six bits of each byte lead to.
#[inline(always)]
unsafe fn lookup_half(bytes: __m256i, table: [__m256i; 4]) -> __m256i {
    // SAFETY: the caller's.
    unsafe {
        let bytes = _mm256_and_si256(bytes, _mm256_set1_epi8(0x3F));
        let mut found = _mm256_setzero_si256();
        for (quarter, part) in table.into_iter().enumerate() {
            // Of another quarter, the highest bit is set, which gives zero.
            let own = _mm256_xor_si256(bytes, _mm256_set1_epi8((quarter as i8) << 4));
            let own = _mm256_adds_epu8(own, _mm256_set1_epi8(0x70));
            found = _mm256_or_si256(found, _mm256_shuffle_epi8(part, own));
        }
        found
    }
}

impl Lanes for Avx2 {
    /// Each quarter twice.
    type Table = [__m256i; 4];

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 64]) -> [__m256i; 4] {
        let quarters = bytes.as_chunks::<16>().0;
        // SAFETY: the caller's; there are four quarters of 16 bytes.
        let quarter = |at: usize| unsafe {
            _mm256_broadcastsi128_si256(_mm_loadu_si128(quarters[at].as_ptr().cast()))
        };
        [quarter(0), quarter(1), quarter(2), quarter(3)]
    }

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(_mm256_loadu_si256(bytes.cast()), _mm256_loadu_si256(bytes.add(32).cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            _mm256_storeu_si256(bytes.cast(), self.0);
            _mm256_storeu_si256(bytes.add(32).cast(), self.1);
        }
    }

    #[inline(always)]
    unsafe fn all(byte: u8) -> Self {
        // SAFETY: the caller's.
        let all = unsafe { _mm256_set1_epi8(byte.cast_signed()) };
        Self(all, all)
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            let Self(byte, _) = Self::all(byte);
            Self(_mm256_cmpeq_epi8(self.0, byte), _mm256_cmpeq_epi8(self.1, byte)).mask()
        }
    }

    #[inline(always)]
    unsafe fn below(self, limit: i8) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            let limit = _mm256_set1_epi8(limit);
            Self(_mm256_cmpgt_epi8(limit, self.0), _mm256_cmpgt_epi8(limit, self.1)).mask()
        }
    }

    #[inline(always)]
    unsafe fn having(self, bit: u8) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            // To where masks are taken from; what comes from the byte before is lower.
            let count = _mm_cvtsi32_si128(bit.leading_zeros().cast_signed());
            Self(_mm256_sll_epi16(self.0, count), _mm256_sll_epi16(self.1, count)).mask()
        }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: [__m256i; 4]) -> Self {
        // SAFETY: the caller's.
        unsafe { Self(lookup_half(self.0, table), lookup_half(self.1, table)) }
    }

    #[inline(always)]
    unsafe fn replaced(self, mask: u64, other: Self) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let (low, high) = (spread(mask as u32), spread((mask >> 32) as u32));
            Self(
                _mm256_blendv_epi8(self.0, other.0, low),
                _mm256_blendv_epi8(self.1, other.1, high),
            )
        }
    }
}
