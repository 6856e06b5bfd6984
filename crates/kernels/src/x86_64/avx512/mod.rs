//! AVX-512 with its later extensions: registers of 64 bytes, and a mask for every lane of an
//! instruction. Intel since Ice Lake (2019), AMD since Zen 4 (2022).

mod binary_digits;
mod bucket_filter;
mod byte_lanes;
mod hamming_accept;
mod hamming_groups;
mod hamming_pairs;
mod hamming_scan;
mod kept_terms;
mod near_tags;
mod weighted_majority;
mod word_keys;
mod word_masks;
mod word_positions;
mod xxh3_short;

use super::avx2::{self, Avx2};
use crate::character_table::CharacterTable;
use crate::own_loops::OwnLoops;
use crate::own_loops::binary_digits::Digits;
use crate::own_loops::bucket_filter::BucketSearch;
use crate::own_loops::fold_characters::Around;
use crate::own_loops::hamming_accept::PairTest;
use crate::own_loops::hamming_groups::GroupSearch;
use crate::own_loops::hamming_pairs::{Candidates, PairSearch};
use crate::own_loops::kept_terms::RandomPart;
use crate::own_loops::near_tags::TagSearch;
use crate::own_loops::word_keys::{WordKey, WordSpans};
use crate::own_loops::xxh3_short::PlacedWords;
use crate::vector::{Costs, Kernel, Level};
use crate::words::{Block, Words};
use crate::x86_64::fold_characters::fold_characters;
use crate::x86_64::mark_characters::mark_characters;
use byte_lanes::ByteLanes;
use simtool_model::fingerprint_table::Wide;

/// Proof that the processor has AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and VPOPCNTDQ, and the
/// instruction sets that [`Avx2`] needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Level for Avx512 {
    const COSTS: Costs = Costs {
        pair_of_32_bits: 0.03,
        pair_of_64_bits: 0.07,
        pair_in_groups: 0.2,
        word_in_groups: 0.06,
    };

    fn is_supported() -> bool {
        Avx2::is_supported()
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("avx512vpopcntdq")
    }

    unsafe fn compile<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
        #[target_feature(
            enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,avx512vpopcntdq",
            enable = "avx2,bmi1,bmi2,popcnt"
        )]
        fn compiled<Out, K: Kernel<Out>>(kernel: K, out: Out) -> K::Result {
            kernel.run(Avx512(()), out)
        }
        // SAFETY: the caller has found these features, which `is_supported` lists.
        unsafe { compiled(kernel, out) }
    }
}

impl OwnLoops for Avx512 {
    const LONGEST_DIRECT_SHINGLE: usize = 12;

    #[inline(always)]
    fn binary_digits(self, digits: &[u8]) -> Digits {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { binary_digits::binary_digits(digits) }
    }

    #[inline(always)]
    fn rows_near_buckets_64(self, search: BucketSearch<'_, u64>, found: &mut [u32]) -> usize {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { bucket_filter::rows_near_buckets_64(search, found) }
    }

    #[inline(always)]
    fn accept_64(
        self,
        words: &[u64],
        rows: &[u32],
        columns: &[u32],
        test: &PairTest<'_, u64>,
        sink: &mut impl FnMut(u32, u32, u32),
    ) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_accept::accept_64(words, rows, columns, test, sink) }
    }

    #[inline(always)]
    fn near_in_groups(self, search: GroupSearch<'_>, hits: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_groups::near_in_groups(search, hits) }
    }

    #[inline(always)]
    fn near_pairs_32(
        self,
        search: PairSearch<'_, u32>,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_pairs::near_pairs_32(search, candidates, sink) }
    }

    #[inline(always)]
    fn near_pairs_64(
        self,
        search: PairSearch<'_, u64>,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_pairs::near_pairs_64(search, candidates, sink) }
    }

    #[inline(always)]
    fn scan_64(self, corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_scan::scan_64(corpus, query, max_distance, hits) }
    }

    #[inline(always)]
    fn scan_128(self, corpus: &[Wide<2>], query: Wide<2>, max_distance: u32, hits: &mut Vec<u64>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { hamming_scan::scan_128(corpus, query, max_distance, hits) }
    }

    #[inline(always)]
    fn near_tags(self, tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { near_tags::near_tags(tags, search, places) }
    }

    #[inline(always)]
    fn keep(self, part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { kept_terms::keep(part, terms, kept) }
    }

    #[inline(always)]
    fn add_rows(self, rows: &[u64], digits: &mut [u64; 64]) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { avx2::bit_majority::add_rows(rows, digits) }
    }

    #[inline(always)]
    fn bit_weights(self, rows: &[u64], weights: &[u32]) -> [u32; 64] {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { weighted_majority::bit_weights(rows, weights) }
    }

    #[inline(always)]
    fn word_keys(self, spans: WordSpans<'_>, keys: &mut [WordKey], hashes: &mut [u64]) {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { word_keys::word_keys(spans, keys, hashes) }
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
    fn find_words(self, words: &mut Words) -> bool {
        // SAFETY: `self` proves that the processor has the instructions.
        unsafe { word_masks::find_words(words) }
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
