//! AVX2: registers of 32 bytes. Intel since Haswell (2013), AMD since Excavator (2015).

mod bit_counts;
pub(super) mod bit_majority;
mod byte_lanes;
mod hamming_groups;
mod hamming_scan;
mod near_tags;
mod word_masks;
mod word_positions;
pub(super) mod xxh3_short;

use crate::character_table::CharacterTable;
use crate::own_loops::OwnLoops;
use crate::own_loops::fold_characters::Around;
use crate::own_loops::hamming_groups::GroupSearch;
use crate::own_loops::near_tags::TagSearch;
use crate::own_loops::xxh3_short::PlacedWords;
use crate::vector::{Costs, Kernel, Level};
use crate::words::{Block, Words};
use crate::x86_64::fold_characters::fold_characters;
use crate::x86_64::mark_characters::mark_characters;
use byte_lanes::ByteLanes;

/// Proof that the processor has AVX2, BMI1, BMI2 and POPCNT.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Level for Avx2 {
    const COSTS: Costs = Costs {
        pair_of_32_bits: 0.12,
        pair_of_64_bits: 0.3,
        pair_in_groups: 0.1,
        word_in_groups: 0.19,
    };

    fn is_supported() -> bool {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
    }

    unsafe fn compile<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
        #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
        fn compiled<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
            kernel.run(Avx2(()), out)
        }
        // SAFETY: the caller has found these features, which `is_supported` lists.
        unsafe { compiled(kernel, out) }
    }
}

impl OwnLoops for Avx2 {
    const LONGEST_DIRECT_SHINGLE: usize = 4;

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
    fn add_rows(self, rows: &[u64], digits: &mut [u64; 64]) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { bit_majority::add_rows(rows, digits) }
    }

    #[inline(always)]
    fn word_positions(self, text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { word_positions::word_positions(text, starts, ends) }
    }

    fn hash_words(self, words: PlacedWords<'_>, hashes: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { xxh3_short::hash_words(words, hashes) }
    }

    #[inline(always)]
    fn classify(self, text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { word_masks::classify(text, blocks, lowered) }
    }

    #[inline(always)]
    fn fold_characters(self, around: Around<'_>, folded: &mut [u8]) -> usize {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { fold_characters::<ByteLanes>(around, folded) }
    }

    #[inline(always)]
    fn mark_characters(self, table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { mark_characters::<ByteLanes>(table, words, odd) }
    }
}
