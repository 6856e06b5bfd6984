//! Words of text as bit masks of 64 bytes, by the rules of UAX #29.
//!
//! In ASCII text the rules come down to masks: letters, digits and underscores are word bytes; a
//! full stop, an apostrophe or a colon between two letters joins them, and so does a full stop, an
//! apostrophe, a comma or a semicolon between two digits; every other byte separates. The edges of
//! the mask are the starts and ends of words, found without a branch per byte or per word. A run of
//! underscores alone has no letter or digit, so it is no word.
//!
//! Bytes beyond ASCII are named and left to the caller, who marks what they are before the words are
//! found.
//!
//! # References
//! Unicode Standard Annex #29, Unicode Text Segmentation, section 4, rules `WB5` to `WB13b`.

use super::xxh3_short::MARGIN;
use super::{Isa, Kind};
use std::ops::Range;

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
const JOINS_LETTERS: u8 = 8;
const JOINS_DIGITS: u8 = 16;

/// The longest text of one call, in bytes.
pub const MAX_TEXT: usize = 1 << 30;

/// The bytes of a block of 64 that belong to each class, byte 0 in bit 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Block {
    /// Letters.
    pub letters: u64,
    /// Digits.
    pub digits: u64,
    /// Underscores, to which the caller may add what belongs to them.
    pub underscores: u64,
    /// Bytes that join the letters before and behind them.
    pub joins_letters: u64,
    /// Bytes that join the digits before and behind them.
    pub joins_digits: u64,
    /// Bytes beyond ASCII.
    pub foreign: u64,
    /// Bytes that belong to words, whatever their neighbours are; set by the caller only.
    pub others: u64,
    /// Bytes before which a word ends, although the byte before belongs to one; set by the caller
    /// only.
    pub breaks: u64,
}

impl Block {
    /// Returns the classes of byte `at`, as masks of one bit.
    #[inline]
    #[must_use]
    pub fn at(&self, at: usize) -> Self {
        let bit = |mask: u64| mask >> at & 1;
        Self {
            letters: bit(self.letters),
            digits: bit(self.digits),
            underscores: bit(self.underscores),
            joins_letters: bit(self.joins_letters),
            joins_digits: bit(self.joins_digits),
            foreign: bit(self.foreign),
            others: bit(self.others),
            breaks: bit(self.breaks),
        }
    }

    /// The bytes that belong to words, given the neighbouring blocks.
    #[inline]
    fn words(&self, before: &Self, after: &Self) -> u64 {
        let between = |mask: u64, before: u64, after: u64| {
            (mask << 1 | before >> 63) & (mask >> 1 | after << 63)
        };
        let between_letters = between(self.letters, before.letters, after.letters);
        let between_digits = between(self.digits, before.digits, after.digits);
        self.letters
            | self.digits
            | self.underscores
            | self.others
            | self.joins_letters & between_letters
            | self.joins_digits & between_digits
    }
}

/// Words of a text, as positions in a lower-cased copy of it that keeps [`MARGIN`] bytes around.
#[derive(Debug, Default)]
pub struct Words {
    /// The margin, the text in lower case, and at least a margin behind it.
    pub lowered: Vec<u8>,
    /// The classes of the bytes, in blocks, and two empty blocks behind them.
    pub blocks: Vec<Block>,
    /// Where each word starts in `lowered`.
    pub starts: Vec<u32>,
    /// Where each word ends in `lowered`: the byte after its last.
    pub ends: Vec<u32>,
}

impl Words {
    /// The bytes beyond ASCII of the 64 from `at` on.
    #[inline]
    pub(super) fn foreign(&self, at: usize) -> u64 {
        let of = |index: usize| self.blocks.get(index).map_or(0, |block| block.foreign);
        of(at / 64) >> (at % 64) | of(at / 64 + 1) << (63 - at % 64) << 1
    }

    /// Adds the bytes of a range to a mask.
    #[inline]
    pub fn mark(&mut self, range: Range<usize>, mask: impl Fn(&mut Block) -> &mut u64) {
        let mut at = range.start;
        while at < range.end {
            let (shift, count) = (at % 64, (range.end - at).min(64 - at % 64));
            *mask(&mut self.blocks[at / 64]) |= (u64::MAX >> (64 - count)) << shift;
            at += count;
        }
    }

    /// Makes the bytes of a range separate.
    pub fn unmark(&mut self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let (shift, count) = (at % 64, (range.end - at).min(64 - at % 64));
            let kept = !((u64::MAX >> (64 - count)) << shift);
            let block = &mut self.blocks[at / 64];
            for mask in [
                &mut block.letters,
                &mut block.digits,
                &mut block.underscores,
                &mut block.joins_letters,
                &mut block.joins_digits,
                &mut block.others,
                &mut block.breaks,
            ] {
                *mask &= kept;
            }
            at += count;
        }
    }

    /// Removes the words that hold no letter or digit.
    fn drop_bare_underscores(&mut self) {
        let is_bare = |at: u32| {
            let at = at as usize - MARGIN;
            self.blocks[at / 64].underscores >> (at % 64) & 1 != 0
        };
        let mut kept = 0;
        for word in 0..self.starts.len() {
            let (start, end) = (self.starts[word], self.ends[word]);
            if self.lowered[start as usize] != b'_' || !(start..end).all(is_bare) {
                self.starts[kept] = start;
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.starts.truncate(kept);
        self.ends.truncate(kept);
    }
}

/// Replaces the blocks and the lower-cased copy of `words` by those of `text`. Returns whether there is
/// a byte beyond ASCII.
///
/// # Panics
/// If `text` is longer than [`MAX_TEXT`].
pub fn classify(isa: Isa, text: &[u8], words: &mut Words) -> bool {
    assert!(text.len() <= MAX_TEXT, "the caller cuts long texts");
    let blocks = text.len().div_ceil(64);
    let padded = blocks * 64 + 64 + 2 * MARGIN;
    if words.lowered.len() < padded {
        words.lowered.resize(padded, 0);
    }
    // No character of the text continues behind it.
    words.lowered[MARGIN + blocks * 64] = 0;
    words.blocks.clear();
    words.blocks.resize(blocks + 2, Block::default());
    let lowered = &mut words.lowered[MARGIN..MARGIN + blocks * 64];
    let classified = words.blocks.iter_mut().zip(lowered.as_chunks_mut::<64>().0);
    let (whole, tail) = text.as_chunks::<64>();
    let mut last = [0; 64];
    last[..tail.len()].copy_from_slice(tail);
    let bytes = whole.iter().chain((!tail.is_empty()).then_some(&last));
    let all = bytes.zip(classified);
    match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected.
        Kind::Avx512 => unsafe { x86::classify_avx512(all) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 was detected.
        Kind::Avx2 => unsafe { x86::classify_avx2(all) },
        _ => {
            all.fold(0, |foreign, (bytes, (block, lowered))| {
                *block = classify_block(bytes, lowered);
                foreign | block.foreign
            }) != 0
        }
    }
}

/// Classifies 64 bytes and writes them in lower case.
#[inline]
fn classify_block(bytes: &[u8; 64], lowered: &mut [u8; 64]) -> Block {
    let mut classes = [0; 64];
    // Comparisons, since tables are not looked up in many bytes at once.
    let having = |is_so: bool, class: u8| if is_so { class } else { 0 };
    for ((class, lowered), &byte) in classes.iter_mut().zip(lowered).zip(bytes) {
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        *class = having(is_letter, LETTER)
            | having(byte.wrapping_sub(b'0') < 10, DIGIT)
            | having(byte == b'_', UNDERSCORE)
            | having(byte == b'.', JOINS_LETTERS | JOINS_DIGITS)
            | having(byte == b'\'', JOINS_LETTERS | JOINS_DIGITS)
            | having(byte == b':', JOINS_LETTERS)
            | having(byte == b',', JOINS_DIGITS)
            | having(byte == b';', JOINS_DIGITS)
            | byte & 0x80;
        *lowered = byte | having(is_letter, 0x20);
    }
    let flagged = |flag: u8| flagged(&classes, flag);
    Block {
        letters: flagged(LETTER),
        digits: flagged(DIGIT),
        underscores: flagged(UNDERSCORE),
        joins_letters: flagged(JOINS_LETTERS),
        joins_digits: flagged(JOINS_DIGITS),
        foreign: flagged(0x80),
        others: 0,
        breaks: 0,
    }
}

/// Returns the highest bits of 64 bytes as a mask.
#[inline]
pub(super) fn gathered(eights: &[u64; 8]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every processor of that kind has SSE2.
    unsafe {
        x86::gathered(eights)
    }
    #[cfg(not(target_arch = "x86_64"))]
    gathered_plain(eights)
}

/// The same, on any processor.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn gathered_plain(eights: &[u64; 8]) -> u64 {
    // The product brings the highest bits of eight bytes side by side, at the top.
    const GATHER: u64 = 0x0002_0408_1020_4081;
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    eights.iter().enumerate().fold(0, |mask, (at, &eight)| {
        mask | ((eight & HIGHEST).wrapping_mul(GATHER) >> 56) << (8 * at)
    })
}

/// Finds the bytes that have a flag among 64.
#[inline]
pub(super) fn flagged(bytes: &[u8; 64], flag: u8) -> u64 {
    let mut eights = [0; 8];
    for (eight, &bytes) in eights.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *eight = u64::from_le_bytes(bytes) << flag.leading_zeros();
    }
    gathered(&eights)
}

/// Replaces the starts and ends of `words` by the ones that follow from its blocks.
pub fn find_words(isa: Isa, words: &mut Words) {
    words.starts.clear();
    words.ends.clear();
    // Two words have at least a byte between them, or a break; breaks are fewer than bytes.
    let most = words.blocks.len() * 32 + 64;
    words.starts.reserve(most);
    words.ends.reserve(most);
    let underscores = match isa.0 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX-512 was detected, and there is room.
        Kind::Avx512 => unsafe { x86::find_words_avx512(words) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: AVX2 and BMI were detected.
        Kind::Avx2 => unsafe { x86::find_words_avx2(words) },
        _ => find_words_portable(words),
    };
    if underscores {
        words.drop_bare_underscores();
    }
}

/// Hands to `take` the starts and ends of the words of each block in turn, as masks. Returns whether
/// there were underscores.
#[inline(always)]
fn edges(blocks: &[Block], mut take: impl FnMut(u32, u64, u64)) -> bool {
    let mut before = Block::default();
    let (mut inside, mut underscores) = (0, 0);
    // The first block of nothing ends a word at the end of the text.
    for (index, [block, after]) in blocks.array_windows().enumerate() {
        let mask = block.words(&before, after);
        underscores |= block.underscores;
        let shifted = mask << 1 | inside;
        inside = mask >> 63;
        let base = (MARGIN + index * 64) as u32;
        take(base, mask & (!shifted | block.breaks), shifted & (!mask | block.breaks));
        before = *block;
    }
    underscores != 0
}

#[inline(always)]
fn find_words_portable(Words { lowered: _, blocks, starts, ends }: &mut Words) -> bool {
    let positions = |base: u32, mut edges: u64, found: &mut Vec<u32>| {
        // Counted, so that none has to ask for room.
        found.extend((0..edges.count_ones()).map(|_| {
            let at = base + edges.trailing_zeros();
            edges &= edges.wrapping_sub(1);
            at
        }));
    };
    edges(blocks, |base, first, behind| {
        positions(base, first, starts);
        positions(base, behind, ends);
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{
        Block, DIGIT, JOINS_DIGITS, JOINS_LETTERS, LETTER, UNDERSCORE, Words, edges,
        find_words_portable,
    };
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_movemask_epi8, _mm_set_epi64x, _mm256_add_epi8, _mm256_and_si256,
        _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_storeu_si256, _mm512_add_epi32,
        _mm512_castsi512_si128, _mm512_cvtepu8_epi32, _mm512_extracti32x4_epi32,
        _mm512_loadu_si512, _mm512_maskz_compress_epi8, _mm512_maskz_mov_epi8, _mm512_movepi8_mask,
        _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_set1_epi8, _mm512_set1_epi32,
        _mm512_storeu_si512, _mm512_test_epi8_mask,
    };

    /// The classes of a byte.
    const fn class(byte: u8) -> u8 {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => JOINS_LETTERS | JOINS_DIGITS,
            b':' => JOINS_LETTERS,
            b',' | b';' => JOINS_DIGITS,
            _ => 0,
        }
    }

    /// The classes of every byte.
    const CLASSES: [u8; 256] = {
        let mut classes = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            classes[byte] = class(byte as u8);
            byte += 1;
        }
        classes
    };

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn gathered(eights: &[u64; 8]) -> u64 {
        eights.as_chunks::<2>().0.iter().enumerate().fold(0, |mask, (at, &[low, high])| {
            let bytes = _mm_set_epi64x(high.cast_signed(), low.cast_signed());
            mask | u64::from(_mm_movemask_epi8(bytes).cast_unsigned()) << (16 * at)
        })
    }

    /// The numbers 0 to 63.
    const NUMBERS: [u8; 64] = {
        let mut numbers = [0; 64];
        let mut at = 0;
        while at < 64 {
            numbers[at] = at as u8;
            at += 1;
        }
        numbers
    };

    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn classify_avx512<'a>(
        all: impl Iterator<Item = (&'a [u8; 64], (&'a mut Block, &'a mut [u8; 64]))>,
    ) -> bool {
        // SAFETY: the table has more than two halves of 64 bytes.
        let (low, high) = unsafe {
            let table = CLASSES.as_ptr();
            (_mm512_loadu_si512(table.cast()), _mm512_loadu_si512(table.add(64).cast()))
        };
        let case_bit = _mm512_set1_epi8(0x20);
        let mut any = 0;
        for (bytes, (block, lowered)) in all {
            // SAFETY: a block has 64 bytes.
            let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            let foreign = _mm512_movepi8_mask(bytes);
            let classes = _mm512_permutex2var_epi8(low, bytes, high);
            let having = |flag: u8| {
                // Of a byte beyond ASCII, the lower bits were looked up.
                _mm512_test_epi8_mask(classes, _mm512_set1_epi8(flag.cast_signed())) & !foreign
            };
            *block = Block {
                letters: having(LETTER),
                digits: having(DIGIT),
                underscores: having(UNDERSCORE),
                joins_letters: having(JOINS_LETTERS),
                joins_digits: having(JOINS_DIGITS),
                foreign,
                others: 0,
                breaks: 0,
            };
            any |= foreign;
            let lower = _mm512_or_si512(bytes, _mm512_maskz_mov_epi8(block.letters, case_bit));
            // SAFETY: so has its copy.
            unsafe { _mm512_storeu_si512(lowered.as_mut_ptr().cast(), lower) };
        }
        any != 0
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn classify_avx2<'a>(
        all: impl Iterator<Item = (&'a [u8; 64], (&'a mut Block, &'a mut [u8; 64]))>,
    ) -> bool {
        let mut any = 0;
        for (bytes, (block, lowered)) in all {
            let bytes = bytes.as_chunks::<32>().0;
            let mut lowered = lowered.as_chunks_mut::<32>().0.iter_mut();
            *block = Block::default();
            for (bytes, shift) in bytes.iter().zip([0, 32]) {
                // SAFETY: half a block has 32 bytes.
                let bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
                let case_bit = _mm256_set1_epi8(0x20);
                let is = |byte: u8| _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
                let letters = is_within(_mm256_or_si256(bytes, case_bit), b'a', b'z');
                let both = _mm256_or_si256(is(b'.'), is(b'\''));
                let joins_digits = _mm256_or_si256(both, _mm256_or_si256(is(b','), is(b';')));
                block.letters |= mask(letters) << shift;
                block.digits |= mask(is_within(bytes, b'0', b'9')) << shift;
                block.underscores |= mask(is(b'_')) << shift;
                block.joins_letters |= mask(_mm256_or_si256(both, is(b':'))) << shift;
                block.joins_digits |= mask(joins_digits) << shift;
                block.foreign |= mask(bytes) << shift;
                let lower = _mm256_or_si256(bytes, _mm256_and_si256(letters, case_bit));
                if let Some(lowered) = lowered.next() {
                    // SAFETY: so has half its copy.
                    unsafe { _mm256_storeu_si256(lowered.as_mut_ptr().cast(), lower) };
                }
            }
            any |= block.foreign;
        }
        any != 0
    }

    /// The bytes from `first` to `last`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn is_within(bytes: __m256i, first: u8, last: u8) -> __m256i {
        let from_first =
            _mm256_add_epi8(bytes, _mm256_set1_epi8(first.wrapping_neg().cast_signed()));
        let most = _mm256_set1_epi8((last - first).cast_signed());
        _mm256_cmpeq_epi8(_mm256_min_epu8(from_first, most), from_first)
    }

    /// The highest bit of each byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(bytes: __m256i) -> u64 {
        u64::from(_mm256_movemask_epi8(bytes).cast_unsigned())
    }

    #[target_feature(enable = "avx2,bmi1,bmi2")]
    pub(super) fn find_words_avx2(words: &mut Words) -> bool {
        find_words_portable(words)
    }

    /// # Safety
    /// `starts` and `ends` are empty and have room for 32 words a block and 64 more.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn find_words_avx512(words: &mut Words) -> bool {
        let (starts, ends) = (words.starts.as_mut_ptr(), words.ends.as_mut_ptr());
        let (mut start_count, mut end_count) = (0, 0);
        let underscores = edges(&words.blocks, |base, first, behind| {
            let base = _mm512_set1_epi32(base.cast_signed());
            // SAFETY: there are at most 32 words to a block, so there is room for these.
            unsafe {
                start_count += positions(first, base, starts.add(start_count));
                end_count += positions(behind, base, ends.add(end_count));
            }
        });
        // SAFETY: that many positions were written; every start has its end.
        unsafe {
            words.starts.set_len(start_count);
            words.ends.set_len(end_count);
        }
        underscores
    }

    /// Writes the numbers of the set bits, plus `base`, and returns how many there are.
    ///
    /// # Safety
    /// Needs AVX-512 VBMI2; there are at most 32 bits, and `found` has room for 32 numbers.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,popcnt")]
    unsafe fn positions(edges: u64, base: __m512i, found: *mut u32) -> usize {
        // SAFETY: the array has 64 bytes; the caller has made room.
        unsafe {
            let numbers = _mm512_loadu_si512(NUMBERS.as_ptr().cast());
            let packed = _mm512_maskz_compress_epi8(edges, numbers);
            let first = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed));
            _mm512_storeu_si512(found.cast(), _mm512_add_epi32(base, first));
            let count = edges.count_ones() as usize;
            if count > 16 {
                let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(packed));
                _mm512_storeu_si512(found.add(16).cast(), _mm512_add_epi32(base, second));
            }
            count
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    /// The same words by the general rules.
    fn slowly(text: &str) -> Vec<String> {
        let lowered = text.to_ascii_lowercase();
        let segments = lowered.split_word_bounds();
        let words = segments.filter(|s| s.bytes().any(|b| b.is_ascii_alphanumeric()));
        words.map(str::to_owned).collect()
    }

    fn check(text: &str) {
        let expected = slowly(text);
        for &isa in Isa::available() {
            let mut words = Words::default();
            assert!(!classify(isa, text.as_bytes(), &mut words));
            find_words(isa, &mut words);
            assert_eq!(words.starts.len(), words.ends.len());
            let found: Vec<String> = (words.starts.iter().zip(&words.ends))
                .map(|(&start, &end)| {
                    String::from_utf8(words.lowered[start as usize..end as usize].to_vec()).unwrap()
                })
                .collect();
            assert_eq!(found, expected, "{isa} {text:?}");
        }
    }

    #[test]
    fn joiners_join_between_letters_or_digits_only() {
        check(
            "can't 3.14 foo_bar e-mail a.b 1,000;5 a,b 1:2 a:b ab:1 1'2 'tis dogs' __ _a 4_ x__y",
        );
        check("");
        check("A");
        check(&"Word's ".repeat(60));
    }

    #[test]
    fn every_triple_of_bytes_across_a_block_edge() {
        let interesting = b"aZ0_.':,; -\x00\x7f\n";
        for &a in interesting {
            for &b in interesting {
                for &c in interesting {
                    for pad in [0, 61, 62, 63, 64] {
                        let mut text = " ".repeat(pad).into_bytes();
                        text.extend([a, b, c, b'q']);
                        check(std::str::from_utf8(&text).unwrap());
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn highest_bits_are_the_same_on_any_processor(eights in any::<[u64; 8]>()) {
            prop_assert_eq!(gathered(&eights), gathered_plain(&eights));
        }

        #[test]
        fn random_ascii_text(text in "[a-cA-C0-2_.':,; \n-]{0,300}") {
            check(&text);
        }
    }
}
