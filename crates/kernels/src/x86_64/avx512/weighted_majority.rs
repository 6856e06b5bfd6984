//! Sums weights for each bit with AVX-512, sixteen sums an instruction.

use std::arch::x86_64::{
    _mm512_mask_add_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Returns for each bit the sum of the weights of the rows in which the bit is set. A row's weight
/// is added to sixteen sums at once, and sixteen bits of the row are the mask of this addition.
#[target_feature(enable = "avx512f")]
pub(super) fn bit_weights(rows: &[u64], weights: &[u32]) -> [u32; 64] {
    let [mut a, mut b, mut c, mut d] = [_mm512_setzero_si512(); 4];
    for (&row, &weight) in rows.iter().zip(weights) {
        let weight = _mm512_set1_epi32(weight.cast_signed());
        a = _mm512_mask_add_epi32(a, row as u16, a, weight);
        b = _mm512_mask_add_epi32(b, (row >> 16) as u16, b, weight);
        c = _mm512_mask_add_epi32(c, (row >> 32) as u16, c, weight);
        d = _mm512_mask_add_epi32(d, (row >> 48) as u16, d, weight);
    }
    let mut all = [0; 64];
    for (sums, lanes) in all.as_chunks_mut::<16>().0.iter_mut().zip([a, b, c, d]) {
        // SAFETY: there is room for sixteen sums.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), lanes) };
    }
    all
}
