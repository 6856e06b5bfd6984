//! Classifies the bytes of a text and finds its words with AVX-512, 64 bytes at once.

use crate::own_loops::word_masks::{
    DIGIT, HYPHEN, JOINS_DIGITS, JOINS_LETTERS, LETTER, UNDERSCORE, edges,
};
use crate::words::{Block, Words};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi32, _mm512_castsi512_si128, _mm512_cvtepu8_epi32,
    _mm512_extracti32x4_epi32, _mm512_loadu_si512, _mm512_maskz_compress_epi8,
    _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_storeu_si512, _mm512_test_epi8_mask,
};

/// Returns the classes of a byte, such as letter or digit, as flags.
const fn class(byte: u8) -> u8 {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => LETTER,
        b'0'..=b'9' => DIGIT,
        b'_' => UNDERSCORE,
        b'.' | b'\'' => JOINS_LETTERS | JOINS_DIGITS,
        b':' => JOINS_LETTERS,
        b',' | b';' => JOINS_DIGITS,
        b'-' => HYPHEN,
        _ => 0,
    }
}

/// The classes of each byte value, such as letter or digit, as flags.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = class(byte as u8);
        byte += 1;
    }
    classes
};

/// The numbers 0 to 63. A compress instruction keeps the numbers at the set bits of a mask, which
/// are the positions of these bits.
const NUMBERS: [u8; 64] = {
    let mut numbers = [0; 64];
    let mut at = 0;
    while at < 64 {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// Finds the classes of the bytes of `text`, such as letters, in blocks of 64 bytes. For block i, writes one mask for
/// each class to `blocks[i]`, and the block in lower case to `lowered[i]`. Returns whether `text` has a byte beyond
/// ASCII.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) fn classify(text: &[[u8; 64]], blocks: &mut [Block], lowered: &mut [[u8; 64]]) -> bool {
    // SAFETY: the table has more than two halves of 64 bytes.
    let (low, high) = unsafe {
        let table = CLASSES.as_ptr();
        (_mm512_loadu_si512(table.cast()), _mm512_loadu_si512(table.add(64).cast()))
    };
    let case_bit = _mm512_set1_epi8(0x20);
    let mut any = 0;
    for ((bytes, block), lowered) in text.iter().zip(blocks).zip(lowered) {
        // SAFETY: a block has 64 bytes.
        let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let foreign = _mm512_movepi8_mask(bytes);
        let classes = _mm512_permutex2var_epi8(low, bytes, high);
        let having = |flag: u8| {
            // For a byte beyond ASCII, the entry of its lower bits was looked up, which must not count.
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
            breaks: having(HYPHEN),
        };
        any |= foreign;
        let lower = _mm512_or_si512(bytes, _mm512_maskz_mov_epi8(block.letters, case_bit));
        // SAFETY: `lowered` has 64 bytes, too.
        unsafe { _mm512_storeu_si512(lowered.as_mut_ptr().cast(), lower) };
    }
    any != 0
}

/// Finds the words of a text by the masks in `words.blocks`. Replaces `words.starts`, `words.ends` and `words.signed`
/// by the results. Returns whether the text has underscores.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) fn find_words(words: &mut Words) -> bool {
    words.make_room();
    let (starts, ends) = (words.starts.as_mut_ptr(), words.ends.as_mut_ptr());
    let (mut start_count, mut end_count) = (0, 0);
    let underscores = edges(&words.blocks, &mut words.signed, |base, first, behind| {
        let base = _mm512_set1_epi32(base.cast_signed());
        // SAFETY: `positions` writes at most 32 places of a block, and `make_room` has reserved 32 for
        // each block.
        unsafe {
            start_count += positions(first, base, starts.add(start_count));
            end_count += positions(behind, base, ends.add(end_count));
        }
    });
    // SAFETY: that many positions were written.
    unsafe {
        words.starts.set_len(start_count);
        words.ends.set_len(end_count);
    }
    underscores
}

/// Writes the position of each set bit of `edges`, plus `base`, to `found`. Returns the number of set
/// bits.
///
/// # Panics
///
/// If more than 32 bits are set, for example because the caller has set a break before every byte.
///
/// # Safety
///
/// `found` has room for 32 numbers.
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
            assert!(count <= 32, "words of one byte have a byte between them");
            let second = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<1>(packed));
            _mm512_storeu_si512(found.add(16).cast(), _mm512_add_epi32(base, second));
        }
        count
    }
}
