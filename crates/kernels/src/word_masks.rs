//! Words of text as bit masks of 64 bytes, by the rules of UAX #29.
//!
//! In ASCII text, masks are enough for the rules:
//!
//! - Letters, digits and underscores belong to words.
//! - A full stop, an apostrophe or a colon between two letters joins them.
//! - A full stop, an apostrophe, a comma or a semicolon between two digits joins them.
//! - Every other byte separates words. A hyphen before a digit may be a sign, so such digits are found, too.
//!
//! The edges of the mask of all bytes of words are the starts and ends of words. They are found without
//! a branch per byte or per word. A sequence of underscores alone is no word, because it has no letter
//! or digit.
//!
//! Bytes beyond ASCII are only marked as such. The caller must set their classes before the words are
//! found.
//!
//! # References
//! Unicode Standard Annex #29, Unicode Text Segmentation, section 4, rules `WB5` to `WB13b`.

pub use super::words::{Block, Words};

use super::Isa;
use super::vector::{Kernel, Level};
use super::words::MARGIN;
use simtool_base::large_buffer::reserve_for_now;

/// Maximum number of bytes of a text that [`classify`] takes.
pub const MAX_TEXT: usize = 1 << 30;

/// Minimum length in bytes of texts whose buffers return to the system after use.
const LONG_TEXT: usize = 1 << 20;

/// Replaces the masks of bytes and the lower-cased copy in `words` by the masks and the copy of
/// `text`. Returns whether `text` has a byte beyond ASCII.
///
/// # Panics
/// If `text` is longer than [`MAX_TEXT`].
pub fn classify(isa: Isa, text: &[u8], words: &mut Words) -> bool {
    assert!(text.len() <= MAX_TEXT, "the caller cuts long texts");
    let blocks = text.len().div_ceil(64);
    let padded = blocks * 64 + 64 + 2 * MARGIN;
    if padded > LONG_TEXT {
        let (bytes, masks) = (words.lowered.len(), words.blocks.len());
        reserve_for_now(&mut words.lowered, padded.saturating_sub(bytes));
        reserve_for_now(&mut words.blocks, (blocks + 2).saturating_sub(masks));
    }
    if words.lowered.len() < padded {
        words.lowered.resize(padded, 0);
    }
    // With a 0 behind the last block, no character of the text continues there.
    words.lowered[MARGIN + blocks * 64] = 0;
    words.blocks.clear();
    words.blocks.resize(blocks + 2, Block::default());
    let (lowered, _) = words.lowered[MARGIN..MARGIN + blocks * 64].as_chunks_mut();
    isa.run(Classify { text }, (&mut words.blocks[..blocks], lowered))
}

struct Classify<'t> {
    text: &'t [u8],
}

impl Kernel<(&mut [Block], &mut [[u8; 64]])> for Classify<'_> {
    type Result = bool;

    #[inline(always)]
    fn run<L: Level>(self, level: L, out: (&mut [Block], &mut [[u8; 64]])) -> bool {
        let (blocks, lowered) = out;
        let (whole, tail) = self.text.as_chunks::<64>();
        let (blocks, last_block) = blocks.split_at_mut(whole.len());
        let (lowered, last_lowered) = lowered.split_at_mut(whole.len());
        let mut last = [0; 64];
        last[..tail.len()].copy_from_slice(tail);
        let mut is_foreign = false;
        // Both parts are classified by one call in a loop, so that its code is inlined once. Without a
        // tail there is no last block.
        let parts =
            [(whole, blocks, lowered), (std::slice::from_ref(&last), last_block, last_lowered)];
        for (text, blocks, lowered) in parts {
            is_foreign |= level.classify(text, blocks, lowered);
        }
        is_foreign
    }
}

/// Finds the words of a text by the masks in `words.blocks`, and replaces `words.starts` and
/// `words.ends` by their positions.
pub fn find_words(isa: Isa, words: &mut Words) {
    if isa.run(FindWords, words) {
        words.drop_bare_underscores();
    }
}

struct FindWords;

impl Kernel<&mut Words> for FindWords {
    type Result = bool;

    #[inline(always)]
    fn run<L: Level>(self, level: L, words: &mut Words) -> bool {
        level.find_words(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    /// Finds the words by the general rules of UAX #29.
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
            let bytes = text.as_bytes();
            // The two bytes before the first digits of a block may be in the block before.
            let is_signed = |&at: &usize| {
                bytes[at].is_ascii_digit()
                    && bytes[at - 1] == b'-'
                    && (at % 64 < 2 || !bytes[at - 2].is_ascii_alphanumeric())
            };
            let mut signed: Vec<u32> =
                (1..bytes.len()).filter(is_signed).map(|at| at as u32 / 64).collect();
            signed.dedup();
            assert_eq!(words.signed, signed, "{isa} {text:?}");
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
