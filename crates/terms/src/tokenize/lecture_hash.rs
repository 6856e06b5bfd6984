//! Chinese words with a character hash that is taught in a lecture on fingerprints. It is for comparisons with programs
//! that use the same hash.
//!
//! The hash treats a word as a number whose digits are the positions of its characters in GB 2312, and adds shifted
//! copies of this number. Similar words get similar hashes. So the bits of the hashes are not random, and fingerprints
//! that are made from them are poor.

use super::TokenizerKind;
use super::chinese_words::{DICTIONARY, cut};
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize;
use encoding_rs::GBK;
use simtool_kernels::Isa;
use std::sync::LazyLock;

/// First and second byte of the first ideograph in the GB 2312 encoding. This ideograph has
/// position 0.
const FIRST: [i16; 2] = [176, 161];
/// Number of characters in a row of the table of GB 2312. All characters of a row have the same
/// first byte.
const ROW: i16 = 94;
/// Number of positions that are reserved for ideographs of GB 2312. One-byte characters have the positions after them.
const IDEOGRAPHS: i16 = 6768;
/// The tab, which is the first one-byte character that has a position.
const FIRST_BYTE: i16 = 9;
/// Base of the number into which a word is converted. The digits of this number are the positions of the characters of
/// the word in GB 2312.
const BASE: u64 = 6885;
/// Number of bits per character by which the hash of a word is shifted. For example, each step shifts the hash of a
/// word of two characters by 26 bits, and then adds the number of the word again.
const BITS: u64 = 13;

/// Position in the table of GB 2312 of each character up to U+FFFF, by code point. A character that is not in GB 2312
/// has the position of `?`.
static PLACES: LazyLock<Vec<i16>> = LazyLock::new(|| {
    let mut places = vec![place_of_byte(b'?'); 1 << 16];
    for (byte, place) in (0..0x80).zip(&mut places) {
        *place = place_of_byte(byte);
    }
    let cells = (0xA1..=0xF7).flat_map(|first| (0xA1..=0xFE).map(move |second| [first, second]));
    // GBK has additional characters at these positions.
    let is_added = |cell: &[u8; 2]| {
        matches!(cell, [0xA2, ..=0xAA] | [0xA6, 0xE0..=0xF5] | [0xA8, 0xBB..=0xC0])
    };
    for cell in cells.filter(|cell| !is_added(cell)) {
        let decoded = GBK.decode_without_bom_handling_and_without_replacement(&cell);
        let character = decoded.and_then(|text| text.chars().next());
        // The private use area is not part of GB 2312 either.
        let known = character.filter(|character| !('\u{e000}'..='\u{f8ff}').contains(character));
        if let Some(place) = known.and_then(|character| places.get_mut(character as usize)) {
            let [row, column] = [0, 1].map(|at| i16::from(cell[at]) - FIRST[at]);
            *place = row * ROW + column;
        }
    }
    places
});

fn place_of_byte(byte: u8) -> i16 {
    i16::from(byte) - FIRST_BYTE + IDEOGRAPHS
}

/// Returns the 64-bit hash of a word. The positions of its characters in GB 2312 are the digits of a number, and the
/// hash is the sum of shifted copies of this number. The empty word has the hash 0.
#[must_use]
pub(crate) fn lecture_hash(word: &str) -> u64 {
    let places = &*PLACES;
    let mut number = 0_u64;
    let mut bits = 0;
    for character in word.chars() {
        let place = places.get(character as usize).copied();
        let place = i64::from(place.unwrap_or(places[usize::from(b'?')]));
        number = number.wrapping_mul(BASE).wrapping_add_signed(place);
        bits += BITS;
    }
    let times = 64_u64.checked_div(bits).map_or(0, |times| times + 1);
    (0..times).fold(number, |hash, _| (hash << (bits % 64)).wrapping_add(number))
}

/// Entry of the tokenizer `lecture` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const KIND: TokenizerKind = TokenizerKind {
    name: "lecture",
    help: "Chinese words with a weak hash, for comparisons with programs that use it",
    default_shingle: 3,
    makes_words: true,
    bytes_per_token: 6,
    create: |isa| Box::new(LectureWords::new(isa)),
};

/// Tokenizer that cuts Chinese text into dictionary words and hashes them with [`lecture_hash`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct LectureWords {
    isa: Isa,
}

impl LectureWords {
    /// Creates a tokenizer that uses the instruction set `isa`.
    #[must_use]
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

impl HashTokenizer for LectureWords {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        tokens.fold_pieces(self.isa, text, |folded, hashes| {
            cut(folded, |word| hashes.push(lecture_hash(word)));
        });
    }

    fn hash_of(&self, folded: &str) -> u64 {
        lecture_hash(folded)
    }

    fn recipe(&self) -> String {
        format!("lecture:{DICTIONARY}/{}", normalize::recipe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_have_their_places() {
        let place = |character: char| PLACES[character as usize];
        assert_eq!(['中', '国', 'A', '，', '?'].map(place), [3619, 935, 6824, -1211, 6822]);
        // Characters of GBK only, or of neither.
        assert_eq!(
            ['镕', 'ⅰ', 'ḿ', 'é', '\u{e810}', '한'].map(place),
            [6822, 6822, 6822, -747, 6822, 6822]
        );
    }

    #[test]
    fn words_have_their_frozen_hashes() {
        for (word, expected) in [
            ("中国", 0x6f65_f0db_d97c_36f6),
            ("中", 0xe237_11b8_8dc4_6e23),
            ("A", 0xaa8d_546a_a355_1aa8),
            ("，", 0xb44d_a26d_1368_9b45),
            ("法律法规", 0x3e90_c577_f259_23e9),
            ("一", 0xc966_4b32_5992_cc96),
            ("中华人民共和国", 0x85b6_7f8d_8a43_c82c),
            ("", 0),
        ] {
            assert_eq!(lecture_hash(word), expected, "{word}");
        }
        let mut tokens = HashedTokens::default();
        LectureWords::new(Isa::PORTABLE).tokenize("中国。".as_bytes(), &mut tokens);
        assert_eq!(tokens.hashes, [0x6f65_f0db_d97c_36f6]);
    }
}
