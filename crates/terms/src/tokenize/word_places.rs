//! Finds the byte ranges of words in a text. Tokenizers only hash words. The normalized text that they hash can be
//! longer or shorter than the original text.
//!
//! A text is cut into pieces, and only pieces with a wanted word are examined further. In ASCII text, the bit masks of
//! the tokenizer have the positions of all words. Other text is cut into smaller pieces, down to text without white
//! space. In such a piece, the end of a word is the first position such that the text before it contains the word. A
//! minus sign depends on the text before it. So words are searched without signs there, and the signs are added
//! afterwards.

use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::pieces::{PIECE_BYTES, pieces_of};
use super::unicode_words::UnicodeWords;
use simtool_kernels::word_masks::classify;
use simtool_kernels::xxh3_short::MARGIN;
use std::ops::Range;

/// Sizes in bytes of the pieces into which text is cut. Each piece with a wanted word is cut again into pieces of the
/// next size. The last size cuts the text at all white space.
const SIZES: [usize; 3] = [PIECE_BYTES, 256, 1];

/// Largest number of bytes of a sign and the invisible characters after it.
const MOST_INVISIBLE: usize = 64;

impl UnicodeWords {
    /// Appends the byte range in `text` of each wanted word to `places`. `wanted` has the indexes of these words among
    /// the words of the text, in ascending order. `tokens` is used as scratch memory, and its hashes are replaced.
    ///
    /// A byte range begins with the first character of the word and ends after its last one. Both ends are between two
    /// characters. An index beyond the last word gets an empty range at the end of the text.
    ///
    /// ```
    /// use simtool_kernels::Isa;
    /// use simtool_terms::tokenize::{hashed_tokens::HashedTokens, unicode_words::UnicodeWords};
    ///
    /// let (mut tokens, mut places) = (HashedTokens::default(), Vec::new());
    /// let text = "Ein „schöner“ Tag".as_bytes();
    /// UnicodeWords::new(Isa::detected()).places(text, &[1, 2], &mut tokens, &mut places);
    /// assert_eq!(places, [7..15, 19..22]);
    /// ```
    pub fn places(
        &self,
        text: &[u8],
        wanted: &[u32],
        tokens: &mut HashedTokens,
        places: &mut Vec<Range<usize>>,
    ) {
        let mut search = PlaceSearch { tokenizer: *self, wanted, words: 0, places };
        search.find(text, 0, tokens, 0);
        let missing = search.wanted.len();
        places.extend(std::iter::repeat_n(text.len()..text.len(), missing));
    }
}

/// A search for the byte ranges of wanted words.
struct PlaceSearch<'a> {
    tokenizer: UnicodeWords,
    /// Indexes of the wanted words that were not found yet.
    wanted: &'a [u32],
    /// Number of words in the text before the current piece.
    words: u32,
    places: &'a mut Vec<Range<usize>>,
}

impl PlaceSearch<'_> {
    /// Adds the byte ranges of the wanted words in `text`, which begins at byte `start` of the document. `size` is the
    /// index in [`SIZES`] of the size of the pieces into which `text` is cut.
    fn find(&mut self, text: &[u8], start: usize, tokens: &mut HashedTokens, size: usize) {
        let mut at = start;
        for piece in pieces_of(text, SIZES[size]) {
            // The rest of the text does not matter if no word is wanted in it.
            if self.wanted.is_empty() {
                return;
            }
            let isa = self.tokenizer.isa;
            let is_foreign = classify(isa, piece, &mut tokens.words);
            let count = if is_foreign {
                // Signs do not change the number of words.
                tokens.clear();
                UnicodeWords::without_signs(isa).tokenize(piece, tokens);
                tokens.hashes.len()
            } else {
                // The number of words and their places are known without their hashes.
                self.tokenizer.find_words(&mut tokens.words);
                tokens.words.starts.len()
            };
            let end = self.words + count as u32;
            let has = self.wanted.partition_point(|&word| word < end);
            if has > 0 && !is_foreign {
                self.take_ascii(has, at, tokens);
            } else if has > 0 && size + 1 < SIZES.len() {
                self.find(piece, at, &mut HashedTokens::default(), size + 1);
            } else if has > 0 {
                self.take_slowly(piece, at, &tokens.hashes);
            }
            (self.words, at) = (end, at + piece.len());
        }
    }

    /// Adds the byte ranges of the next `count` wanted words. The words are in an ASCII piece at byte `at` of the
    /// document. `tokens` has the positions of all words of the piece.
    fn take_ascii(&mut self, count: usize, at: usize, tokens: &HashedTokens) {
        // Positions in the masks have a margin before the text.
        let (found, rest) = self.wanted.split_at(count);
        let words = &tokens.words;
        self.places.extend(found.iter().map(|&word| {
            let index = (word - self.words) as usize;
            let [start, end] = [&words.starts, &words.ends].map(|places| places[index] as usize);
            at + start - MARGIN..at + end - MARGIN
        }));
        self.wanted = rest;
    }

    /// Adds the byte ranges of the wanted words in a piece at byte `at` of the document. `hashes` has the hashes of all
    /// words of the piece.
    fn take_slowly(&mut self, piece: &[u8], at: usize, hashes: &[u64]) {
        let count = self.wanted.partition_point(|&word| word - self.words < hashes.len() as u32);
        let (found, rest) = self.wanted.split_at(count);
        let signed = hashes_of(self.tokenizer, piece);
        for &word in found {
            let index = (word - self.words) as usize;
            let mut place = self.place(piece, index, hashes);
            if signed[index] != hashes[index] {
                // The sign is the last character before the number with which the word has its hash. Invisible
                // characters may be between.
                let near = place.start.saturating_sub(MOST_INVISIBLE)..place.start;
                let is_whole = |start: &usize| {
                    hashes_of(self.tokenizer, &piece[*start..place.end]) == [signed[index]]
                };
                place.start = near.rev().find(is_whole).unwrap_or(place.start);
            }
            self.places.push(at + place.start..at + place.end);
        }
        self.wanted = rest;
    }

    /// Returns the byte range of the word with index `index` in a piece. `hashes` has the hashes of all words of the
    /// piece.
    fn place(&self, piece: &[u8], index: usize, hashes: &[u64]) -> Range<usize> {
        let words = UnicodeWords::without_signs(self.tokenizer.isa);
        let mut hashes_of = |part: Range<usize>| hashes_of(words, &piece[part]);
        let is_boundary = |at: &usize| piece.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let boundaries: Vec<usize> = (0..=piece.len()).filter(is_boundary).collect();
        let word = hashes[index];
        // Text behind a word does not change it, so all longer beginnings of the piece contain it, too.
        let end_of = |index: usize, hashes_of: &mut dyn FnMut(Range<usize>) -> Vec<u64>| {
            let word = hashes[index];
            let end =
                boundaries.partition_point(|&end| hashes_of(0..end).get(index) != Some(&word));
            boundaries.get(end).copied().unwrap_or(piece.len())
        };
        let end = end_of(index, &mut hashes_of);
        // In the same way, the word is the last one of all longer parts that end with it.
        let behind = boundaries
            .partition_point(|&start| start < end && hashes_of(start..end).last() == Some(&word));
        let start = behind.checked_sub(1).map_or(0, |last| boundaries[last]);
        if hashes_of(start..end) == [word] {
            return start..end;
        }
        // A word that depends on the text before it begins behind the word before: a mark, for example, belongs to
        // the character before it. If one character has several words, it is the place of each of them.
        let before = index.checked_sub(1).map_or(0, |index| end_of(index, &mut hashes_of));
        let last_character = boundaries[boundaries.partition_point(|&at| at < end).max(1) - 1];
        before.min(last_character)..end
    }
}

/// Returns the hashes of the words of a text.
fn hashes_of(words: UnicodeWords, text: &[u8]) -> Vec<u64> {
    let mut tokens = HashedTokens::default();
    words.tokenize(text, &mut tokens);
    tokens.hashes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simtool_kernels::Isa;

    fn places(text: &[u8], wanted: Option<&[u32]>) -> (Vec<u64>, Vec<Range<usize>>) {
        let words = UnicodeWords::new(Isa::detected());
        let (mut tokens, mut places) = (HashedTokens::default(), Vec::new());
        words.tokenize(text, &mut tokens);
        let all: Vec<u32> = (0..tokens.hashes.len() as u32).collect();
        let hashes = std::mem::take(&mut tokens.hashes);
        words.places(text, wanted.unwrap_or(&all), &mut tokens, &mut places);
        (hashes, places)
    }

    /// Checks the byte ranges of all words of `text`: each range has exactly its word, and the ranges are in order.
    #[track_caller]
    fn check(text: &[u8]) {
        let (hashes, places) = places(text, None);
        assert_eq!(hashes.len(), places.len());
        let hashes_of = |range: Range<usize>| {
            let mut tokens = HashedTokens::default();
            UnicodeWords::new(Isa::detected()).tokenize(&text[range], &mut tokens);
            tokens.hashes
        };
        let (mut start, mut end) = (0, 0);
        for (hash, place) in hashes.iter().zip(&places) {
            assert!(end <= place.start && place.start < place.end, "{}", text.escape_ascii());
            // A mark at the start of a word is part of it only behind the word before.
            let begins_with_mark = text[place.start] == 0xCC;
            let is_exact = hashes_of(place.clone()) == [*hash]
                || begins_with_mark && hashes_of(start..place.end).last() == Some(hash);
            assert!(is_exact, "{place:?} of {}", text.escape_ascii());
            (start, end) = (place.start, place.end);
        }
    }

    #[track_caller]
    fn check_words(text: &str, expected: &[&str]) {
        let (_, places) = places(text.as_bytes(), None);
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn places_are_tight() {
        check_words("Can't «E-Mail» 3.14, x", &["Can't", "E", "Mail", "3.14", "x"]);
        check_words("(Straße) „so“—ﬁn e\u{301}t!", &["Straße", "so", "ﬁn", "e\u{301}t"]);
        check_words("51区コーヒー。ab", &["51", "区", "コ", "ー", "ヒ", "ー", "ab"]);
        check_words("  plain, ASCII!  ", &["plain", "ASCII"]);
        check_words("한국어 말…", &["한국어", "말"]);
        check_words("", &[]);
        check_words("(-5) x -3, 1-2", &["-5", "x", "-3", "1", "2"]);
        check_words("é(−5)é−6 -\u{ad}7中-8", &["é", "−5", "é", "6", "-\u{ad}7", "中", "8"]);
        // The mark belongs to the Katakana before it, which is a word of its own.
        check_words("x カ\u{301}_0 y", &["x", "カ", "\u{301}_0", "y"]);
        check("カ\u{301}_0".as_bytes());
    }

    #[test]
    fn long_texts_and_few_wanted_words() {
        for unit in ["an ASCII word ", "ein schönes Wort ", "图书馆八点开门，", "x\u{ad}y \u{ff} "]
        {
            let text = unit.repeat(10_000);
            let (hashes, all) = places(text.as_bytes(), Some(&[]));
            assert!(all.is_empty());
            let last = hashes.len() as u32 - 1;
            let wanted = [0, 0, 1, 7777, last, last + 1];
            let (_, places) = places(text.as_bytes(), Some(&wanted));
            assert_eq!(places.len(), wanted.len());
            assert_eq!(places[0], places[1]);
            assert_eq!(places[5], text.len()..text.len());
            for (&word, place) in wanted[..5].iter().zip(places) {
                let mut alone = HashedTokens::default();
                UnicodeWords::new(Isa::detected()).tokenize(&text.as_bytes()[place], &mut alone);
                assert_eq!(alone.hashes, [hashes[word as usize]]);
            }
        }
    }

    proptest! {
        #[test]
        fn each_place_has_its_word(pieces in prop::collection::vec(prop_oneof![
            8 => "[a-zA-Z]{1,9}", 2 => "[0-9_.,';:−(-]{1,3}", 6 => "[ \t\r\n]{1,2}",
            2 => "[àÉßſK中国カー한’“ \u{e9}]{1,3}", 1 => "\u{301}|\u{308}",
        ], 0..60)) {
            check(pieces.concat().as_bytes());
        }

        #[test]
        fn any_text_has_places(text in prop::collection::vec(any::<u8>(), 0..200)) {
            let (hashes, places) = places(&text, None);
            prop_assert_eq!(hashes.len(), places.len());
            prop_assert!(places.iter().all(|place| place.start < place.end));
        }
    }
}
