//! Blocks of 64 bytes with AVX-512 and VBMI.

use crate::x86_64::byte_lanes::Lanes;
use std::arch::x86_64::{
    __m512i, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epi8_mask, _mm512_loadu_si512,
    _mm512_mask_mov_epi8, _mm512_permutexvar_epi8, _mm512_set1_epi8, _mm512_storeu_si512,
    _mm512_test_epi8_mask,
};

/// Sixty-four bytes in a register.
#[derive(Clone, Copy)]
pub(super) struct ByteLanes(__m512i);

impl Lanes for ByteLanes {
    type Table = Self;

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 64]) -> Self {
        // SAFETY: the caller has the instructions; a table has 64 bytes.
        unsafe { Self::load(bytes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn load(bytes: *const u8) -> Self {
        // SAFETY: the caller has the instructions, and 64 bytes to read.
        unsafe { Self(_mm512_loadu_si512(bytes.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, bytes: *mut u8) {
        // SAFETY: the caller has the instructions, and room for 64 bytes.
        unsafe { _mm512_storeu_si512(bytes.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn all(byte: u8) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_set1_epi8(byte.cast_signed())) }
    }

    #[inline(always)]
    unsafe fn equal(self, byte: u8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_cmpeq_epi8_mask(self.0, Self::all(byte).0) }
    }

    #[inline(always)]
    unsafe fn below(self, limit: i8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(limit)) }
    }

    #[inline(always)]
    unsafe fn having(self, bit: u8) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_test_epi8_mask(self.0, Self::all(bit).0) }
    }

    #[inline(always)]
    unsafe fn lookup(self, table: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_permutexvar_epi8(self.0, table.0)) }
    }

    #[inline(always)]
    unsafe fn replaced(self, mask: u64, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_mask_mov_epi8(self.0, mask, other.0)) }
    }
}
