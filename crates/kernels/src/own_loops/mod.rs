//! The loops that a level may write with its own intrinsics.
//!
//! Most loops are written once, and the compiler makes vectors of them. Some are faster with an
//! instruction that plain code does not reach, for example one that packs the lanes under a mask
//! together. Such a loop has a method here, with the plain loop of its kernel as the default. A level
//! that knows better replaces the method in its own folder:
//!
//! ```text
//! binary_digits.rs                    the kernel and its tests
//! own_loops/mod.rs                    fn binary_digits: runs the plain loop
//! own_loops/binary_digits.rs          the plain loop
//! x86_64/avx512/binary_digits.rs      the loop with AVX-512
//! ```

pub(super) mod binary_digits;
pub(super) mod bit_majority;
pub(super) mod bucket_filter;
pub(super) mod fold_characters;
pub(super) mod hamming_accept;
pub(super) mod hamming_groups;
pub(super) mod hamming_pairs;
pub(super) mod hamming_scan;
pub(super) mod kept_terms;
pub(super) mod mark_characters;
pub(super) mod near_tags;
pub(super) mod weighted_majority;
pub(super) mod word_keys;
pub(super) mod word_masks;
pub(super) mod word_positions;
pub(super) mod xxh3_short;

use crate::character_table::CharacterTable;
use crate::words::{Block, Words};
use binary_digits::Digits;
use bucket_filter::BucketSearch;
use fold_characters::Around;
use hamming_accept::PairTest;
use hamming_groups::GroupSearch;
use hamming_pairs::{Candidates, PairSearch};
use kept_terms::RandomPart;
use near_tags::TagSearch;
use simtool_model::fingerprint_table::Wide;
use word_keys::{WordKey, WordSpans};
use xxh3_short::PlacedWords;

/// The loops of a level, which is an instruction set. The methods do the same at every level.
///
/// Methods are `#[inline(always)]`: so the plain loops are compiled for the level.
pub(super) trait OwnLoops: Copy {
    /// Maximum number of tokens of a shingle for which direct sums are faster than rolling ones. A direct sum is
    /// computed from the tokens of the shingle alone, and a rolling sum from the sum of the shingle before it (see
    /// [`crate::shingle_terms`]).
    const LONGEST_DIRECT_SHINGLE: usize = 0;

    /// Returns two masks of at most 64 bytes: the bytes that are binary digits, and the bytes that are
    /// `1`.
    #[inline(always)]
    fn binary_digits(self, digits: &[u8]) -> Digits {
        binary_digits::plain(digits)
    }

    /// Writes the indices of the rows that may be near a value in their bucket to `found`, and returns their number.
    /// These rows are near the word of their bucket (see [`BucketSearch`]), or their bucket has several values. Rows
    /// have one 64-bit word. `found` has at least [`STEP`](bucket_filter::STEP) more elements than there are rows.
    #[inline(always)]
    fn rows_near_buckets_64(self, search: BucketSearch<'_, u64>, found: &mut [u32]) -> usize {
        bucket_filter::plain(search, 0, found)
    }

    /// Calls `sink` with row, column and distance of each candidate pair that `test` accepts. The fingerprints have one
    /// 64-bit word, and distances count bits.
    #[inline(always)]
    fn accept_64(
        self,
        words: &[u64],
        rows: &[u32],
        columns: &[u32],
        test: &PairTest<'_, u64>,
        sink: &mut impl FnMut(u32, u32, u32),
    ) {
        hamming_accept::plain(words, rows, columns, test, sink);
    }

    /// Appends a hit, `row << 32 | distance`, for each row of `search.groups` that is near `search.row`. The limit of
    /// its distance is `search.own_limit` plus the limit of its group. Rows are numbered from 0.
    #[inline(always)]
    fn near_in_groups(self, search: GroupSearch<'_>, hits: &mut Vec<u64>) {
        hamming_groups::plain(search, hits);
    }

    /// Finds the pairs of 32-bit words that differ in at most `search.max_distance` bits. Passes their rows and columns
    /// to `sink` each time that `candidates` is full. The last pairs remain in `candidates`.
    #[inline(always)]
    fn near_pairs_32(
        self,
        search: PairSearch<'_, u32>,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        hamming_pairs::near_pairs_32(search, candidates, sink);
    }

    /// Finds the pairs of 64-bit words that differ in at most `search.max_distance` bits. Passes their rows and columns
    /// to `sink` each time that `candidates` is full. The last pairs remain in `candidates`.
    #[inline(always)]
    fn near_pairs_64(
        self,
        search: PairSearch<'_, u64>,
        candidates: &mut Candidates,
        sink: &mut dyn FnMut(&[u32], &[u32]),
    ) {
        hamming_pairs::near_pairs_64(search, candidates, sink);
    }

    /// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have
    /// one 64-bit word.
    #[inline(always)]
    fn scan_64(self, corpus: &[u64], query: u64, max_distance: u32, hits: &mut Vec<u64>) {
        hamming_scan::plain(corpus, query, 0, max_distance, hits);
    }

    /// Appends a hit, `row << 32 | distance`, for each row of the corpus within `max_distance` of `query`. Rows have
    /// two 64-bit words.
    #[inline(always)]
    fn scan_128(self, corpus: &[Wide<2>], query: Wide<2>, max_distance: u32, hits: &mut Vec<u64>) {
        hamming_scan::plain(corpus, query, 0, max_distance, hits);
    }

    /// Appends to `places` the index of each tag that differs from the tag `search.query` in at most `search.most`
    /// bits. The index of the first tag is `search.first`. A tag is a 16-bit summary of a fingerprint.
    #[inline(always)]
    fn near_tags(self, tags: &[[u8; 2]], search: TagSearch, places: &mut Vec<u32>) {
        near_tags::plain(tags, search, places);
    }

    /// Writes those of `terms` that belong to the random subset `part` to the front of `kept`, which is as long as
    /// `terms`. Returns their number.
    #[inline(always)]
    fn keep(self, part: RandomPart, terms: &[u64], kept: &mut [u64]) -> usize {
        kept_terms::keep(part, terms, kept)
    }

    /// Adds at most [`MOST_ROWS`](bit_majority::MOST_ROWS) rows to the counts of set bits. Bit i of
    /// `digits[k]` is binary digit k of the number of rows in which bit i is set.
    #[inline(always)]
    fn add_rows(self, rows: &[u64], digits: &mut [u64; 64]) {
        bit_majority::add_rows(rows, digits);
    }

    /// Returns for each bit the sum of the weights of the rows in which the bit is set. The sum of
    /// all weights must fit in 32 bits.
    #[inline(always)]
    fn bit_weights(self, rows: &[u64], weights: &[u32]) -> [u32; 64] {
        weighted_majority::bit_weights(rows, weights)
    }

    /// Writes the key of each word, which is its letters in lower case as two numbers, to `keys`.
    /// Writes the hash of the key to `hashes`.
    #[inline(always)]
    fn word_keys(self, spans: WordSpans<'_>, keys: &mut [WordKey], hashes: &mut [u64]) {
        word_keys::plain(spans, keys, hashes);
    }

    /// Writes the byte offsets at which the words of `text`, which are runs of ASCII letters, start and end. Returns
    /// the number of starts and the number of ends. A word at the end of the text has a start only. The slices have
    /// room for one word every two bytes, and for some numbers without meaning that loops write behind the last
    /// position.
    #[inline(always)]
    fn word_positions(self, text: &[u8], starts: &mut [u32], ends: &mut [u32]) -> (usize, usize) {
        word_positions::plain(text, starts, ends)
    }

    /// Appends the XXH3 hash of each word to `hashes`.
    #[inline(always)]
    fn hash_words(self, words: PlacedWords<'_>, hashes: &mut Vec<u64>) {
        xxh3_short::hash_words(words, hashes);
    }

    /// Finds the classes of the bytes of `text`, such as letters, in blocks of 64 bytes. For block i, writes one mask
    /// for each class to `blocks[i]`, and the block in lower case to `lowered[i]`. Returns whether `text` has a byte
    /// beyond ASCII.
    #[inline(always)]
    fn classify(self, text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
        word_masks::classify(text, blocks, lowered)
    }

    /// Finds the words of a text by the masks in `words.blocks`. Replaces `words.starts`, `words.ends` and
    /// `words.signed` by the results. Returns whether the text has underscores.
    #[inline(always)]
    fn find_words(self, words: &mut Words) -> bool {
        word_masks::find_words(words)
    }

    /// Copies the text from byte `around.start` on to `folded`, and replaces its characters beyond ASCII. Ends before
    /// the first character that the table cannot replace. Returns the number of bytes before that character, which are
    /// also the bytes written.
    #[inline(always)]
    fn fold_characters(self, around: Around<'_>, folded: &mut [u8]) -> usize {
        fold_characters::fold_characters(around, folded)
    }

    /// Adds the characters beyond ASCII to the masks of `words`. Appends to `odd` the byte offsets of the characters
    /// whose kind, such as letter, the table does not decide.
    #[inline(always)]
    fn mark_characters(self, table: &CharacterTable, words: &mut Words, odd: &mut Vec<u32>) {
        mark_characters::mark_characters(table, words, odd);
    }
}
