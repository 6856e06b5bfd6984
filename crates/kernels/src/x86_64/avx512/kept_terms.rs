//! Packs kept terms together with AVX-512.

use crate::own_loops::kept_terms::{RandomPart, keep as keep_plainly};
use std::arch::x86_64::{_mm512_loadu_si512, _mm512_maskz_compress_epi64, _mm512_storeu_si512};

/// Writes those of `terms` that belong to the random subset `part` to the front of `kept`, and returns their number.
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
pub(super) fn keep(part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
    let (blocks, rest) = terms.as_chunks::<8>();
    let mut count = 0;
    for block in blocks {
        let is_kept = block.map(|term| part.has(term));
        let mask = (0..8).fold(0, |mask, at| mask | u8::from(is_kept[at]) << at);
        let room: &mut [u64] = &mut kept[count..count + 8];
        // SAFETY: a block has eight terms.
        let terms = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        let terms = _mm512_maskz_compress_epi64(mask, terms);
        // SAFETY: there is room for eight terms.
        unsafe { _mm512_storeu_si512(room.as_mut_ptr().cast(), terms) };
        count += mask.count_ones() as usize;
    }
    count + keep_plainly(part, rest, &mut kept[count..])
}
