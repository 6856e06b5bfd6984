//! The words of ASCII text by the rules of UAX #29, lower-cased.
//!
//! In ASCII text the rules come down to bit masks of 64 bytes: letters, digits and underscores are
//! word bytes; a full stop, an apostrophe or a colon between two letters joins them, and so does a
//! full stop, an apostrophe, a comma or a semicolon between two digits; every other byte
//! separates. The edges of the mask are the starts and ends of words, found without a branch per
//! byte or per word. A run of underscores alone has no letter or digit, so it is no word.
//!
//! # References
//! Unicode Standard Annex #29, Unicode Text Segmentation, section 4, rules WB5 to WB13b.

use super::Isa;
use super::xxh3_short::MARGIN;

const LETTER: u8 = 1;
const DIGIT: u8 = 2;
const UNDERSCORE: u8 = 4;
const JOINS_LETTERS: u8 = 8;
const JOINS_DIGITS: u8 = 16;

/// The classes of every ASCII byte.
const CLASSES: [u8; 128] = {
    let mut classes = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => LETTER,
            b'0'..=b'9' => DIGIT,
            b'_' => UNDERSCORE,
            b'.' | b'\'' => JOINS_LETTERS | JOINS_DIGITS,
            b':' => JOINS_LETTERS,
            b',' | b';' => JOINS_DIGITS,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// The longest text of one call, in bytes.
pub const MAX_TEXT: usize = 1 << 30;

/// Words of a text, as positions in a lower-cased copy of it that keeps [`MARGIN`] bytes around.
#[derive(Debug, Default)]
pub struct AsciiWords {
    /// The margin, the text in lower case, and at least a margin behind it.
    pub lowered: Vec<u8>,
    /// Where each word starts in `lowered`.
    pub starts: Vec<u32>,
    /// Where each word ends in `lowered`: the byte after its last.
    pub ends: Vec<u32>,
}

/// The bytes of a block that belong to each class, byte 0 in bit 0.
#[derive(Clone, Copy, Default)]
struct Masks {
    letters: u64,
    digits: u64,
    underscores: u64,
    joins_letters: u64,
    joins_digits: u64,
}

impl Masks {
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
            | self.joins_letters & between_letters
            | self.joins_digits & between_digits
    }
}

/// Finds the words of `text`, which must be ASCII, and replaces what `words` held.
///
/// # Panics
/// If `text` is longer than [`MAX_TEXT`]. Bytes that are not ASCII give words without meaning.
pub fn find_words(isa: Isa, text: &[u8], words: &mut AsciiWords) {
    assert!(text.len() <= MAX_TEXT, "the caller cuts long texts");
    let padded = text.len().next_multiple_of(64) + 64 + 2 * MARGIN;
    if words.lowered.len() < padded {
        words.lowered.resize(padded, 0);
    }
    words.starts.clear();
    words.ends.clear();
    let underscores = match isa.runnable() {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => {
            words.starts.reserve(text.len() / 2 + 64);
            words.ends.reserve(text.len() / 2 + 64);
            // SAFETY: AVX-512 was detected, and the buffers were sized above.
            unsafe { avx512::find_words(text, words) }
        }
        _ => portable(text, words),
    };
    if underscores {
        drop_bare_underscores(words);
    }
}

/// Removes the words that hold no letter or digit.
fn drop_bare_underscores(words: &mut AsciiWords) {
    let mut kept = 0;
    for word in 0..words.starts.len() {
        let (start, end) = (words.starts[word], words.ends[word]);
        let bytes = &words.lowered[start as usize..end as usize];
        if bytes[0] != b'_' || bytes.iter().any(|&byte| byte != b'_') {
            words.starts[kept] = start;
            words.ends[kept] = end;
            kept += 1;
        }
    }
    words.starts.truncate(kept);
    words.ends.truncate(kept);
}

/// Block `index` of the text, filled up with zeros.
fn block_at(text: &[u8], index: usize) -> [u8; 64] {
    let mut block = [0; 64];
    let rest = text.get(index * 64..).unwrap_or_default();
    let length = rest.len().min(64);
    block[..length].copy_from_slice(&rest[..length]);
    block
}

fn portable(text: &[u8], words: &mut AsciiWords) -> bool {
    let masks_of = |index: usize| {
        let mut masks = Masks::default();
        for (bit, byte) in block_at(text, index).into_iter().enumerate() {
            let class = CLASSES[usize::from(byte & 0x7f)];
            let place = |flag: u8| u64::from(class & flag != 0) << bit;
            masks.letters |= place(LETTER);
            masks.digits |= place(DIGIT);
            masks.underscores |= place(UNDERSCORE);
            masks.joins_letters |= place(JOINS_LETTERS);
            masks.joins_digits |= place(JOINS_DIGITS);
        }
        masks
    };
    let lowered = &mut words.lowered[MARGIN..MARGIN + text.len()];
    lowered.copy_from_slice(text);
    lowered.make_ascii_lowercase();

    let (mut before, mut current) = (Masks::default(), masks_of(0));
    let (mut inside, mut underscores) = (0, 0);
    // One block more than the text has ends a word at its end.
    for index in 0..=text.len().div_ceil(64) {
        let after = masks_of(index + 1);
        let mask = current.words(&before, &after);
        underscores |= current.underscores;
        let shifted = mask << 1 | inside;
        inside = mask >> 63;
        let base = (MARGIN + index * 64) as u32;
        let positions = |mut edges: u64, found: &mut Vec<u32>| {
            while edges != 0 {
                found.push(base + edges.trailing_zeros());
                edges &= edges - 1;
            }
        };
        positions(mask & !shifted, &mut words.starts);
        positions(!mask & shifted, &mut words.ends);
        (before, current) = (current, after);
    }
    underscores != 0
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{
        AsciiWords, CLASSES, DIGIT, JOINS_DIGITS, JOINS_LETTERS, LETTER, MARGIN, Masks, UNDERSCORE,
        block_at,
    };
    use std::arch::x86_64::*;

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

    /// Finds words; tells whether there were underscores.
    ///
    /// # Safety
    /// Needs AVX-512 F, BW, VBMI and VBMI2; `starts` and `ends` are empty and have room for half
    /// the text's bytes and 64 more, and `lowered` holds the text's bytes, rounded up to whole
    /// blocks, and two margins.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn find_words(text: &[u8], words: &mut AsciiWords) -> bool {
        let whole = text.len() / 64;
        let lowered = words.lowered.as_mut_ptr();
        let (starts, ends) = (words.starts.as_mut_ptr(), words.ends.as_mut_ptr());
        let (mut start_count, mut end_count) = (0, 0);
        let tail = block_at(text, whole);
        let load = |index: usize| {
            if index < whole {
                // SAFETY: a whole block of the text is there.
                unsafe { _mm512_loadu_si512(text.as_ptr().add(index * 64).cast()) }
            } else if index == whole {
                // SAFETY: the array has 64 bytes.
                unsafe { _mm512_loadu_si512(tail.as_ptr().cast()) }
            } else {
                _mm512_setzero_si512()
            }
        };
        let (mut before, mut bytes) = (Masks::default(), load(0));
        let mut current = classify(bytes);
        let (mut inside, mut underscores) = (0, 0);
        // One block more than the text has ends a word at its end.
        for index in 0..=text.len().div_ceil(64) {
            let next_bytes = load(index + 1);
            let after = classify(next_bytes);
            let mask = current.words(&before, &after);
            underscores |= current.underscores;
            let shifted = mask << 1 | inside;
            inside = mask >> 63;
            let base = _mm512_set1_epi32((MARGIN + index * 64) as i32);
            // SAFETY: the buffers have the promised room: block `index` of `lowered` begins at
            // most one block after the text's end, and there are no more words before this block
            // than half its position; each call writes 32 positions at most.
            unsafe {
                let upper = current.letters & !_mm512_test_epi8_mask(bytes, _mm512_set1_epi8(0x20));
                let lower = add_case_bit(bytes, upper);
                _mm512_storeu_si512(lowered.add(MARGIN + index * 64).cast(), lower);
                start_count += positions(mask & !shifted, base, starts.add(start_count));
                end_count += positions(!mask & shifted, base, ends.add(end_count));
            }
            (before, current, bytes) = (current, after, next_bytes);
        }
        // SAFETY: that many positions were written; every start has its end.
        unsafe {
            words.starts.set_len(start_count);
            words.ends.set_len(end_count);
        }
        underscores != 0
    }

    /// The bytes with 0x20 added to those of the mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn add_case_bit(bytes: __m512i, upper: u64) -> __m512i {
        _mm512_mask_add_epi8(bytes, upper, bytes, _mm512_set1_epi8(0x20))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    fn classify(bytes: __m512i) -> Masks {
        // SAFETY: the table has two halves of 64 bytes.
        let classes = unsafe {
            let low = _mm512_loadu_si512(CLASSES.as_ptr().cast());
            let high = _mm512_loadu_si512(CLASSES.as_ptr().add(64).cast());
            _mm512_permutex2var_epi8(low, bytes, high)
        };
        let having =
            |flag: u8| _mm512_test_epi8_mask(classes, _mm512_set1_epi8(flag.cast_signed()));
        Masks {
            letters: having(LETTER),
            digits: having(DIGIT),
            underscores: having(UNDERSCORE),
            joins_letters: having(JOINS_LETTERS),
            joins_digits: having(JOINS_DIGITS),
        }
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
            let mut words = AsciiWords::default();
            find_words(isa, text.as_bytes(), &mut words);
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
        fn random_ascii_text(text in "[a-cA-C0-2_.':,; \n-]{0,300}") {
            check(&text);
        }
    }
}
