//! NEON: registers of 16 bytes. Every 64-bit Arm processor has it, so the compiler also uses it in
//! the plain loops. Loops are written here where NEON counts bits or gathers masks with fewer
//! instructions than the compiler finds.

mod hamming_groups;
mod hamming_scan;
mod near_tags;
mod word_masks;

use crate::own_loops::OwnLoops;
use crate::own_loops::hamming_groups::GroupSearch;
use crate::own_loops::near_tags::TagSearch;
use crate::vector::{Costs, Kernel, Level};
use crate::words::Block;
use std::arch::is_aarch64_feature_detected;

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Level for Neon {
    // These costs are estimates from AVX2, whose registers are twice as wide, and not measured. They
    // only decide which of two ways is taken, and both ways give the same result.
    const COSTS: Costs = Costs {
        pair_of_32_bits: 0.24,
        pair_of_64_bits: 0.6,
        pair_in_groups: 0.2,
        word_in_groups: 0.3,
    };

    fn is_supported() -> bool {
        is_aarch64_feature_detected!("neon")
    }

    unsafe fn compile<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
        #[target_feature(enable = "neon")]
        fn compiled<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
            kernel.run(Neon(()), out)
        }
        // SAFETY: the caller has found NEON.
        unsafe { compiled(kernel, out) }
    }
}

impl OwnLoops for Neon {
    #[inline(always)]
    fn near_in_groups(self, search: GroupSearch<'_>, hits: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_groups::near_in_groups(search, hits) }
    }

    #[inline(always)]
    fn scan_64(self, corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_scan::scan_64(corpus, query, max_distance, hits) }
    }

    #[inline(always)]
    fn near_tags(self, tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { near_tags::near_tags(tags, search, places) }
    }

    #[inline(always)]
    fn classify(self, text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { word_masks::classify(text, blocks, lowered) }
    }
}
