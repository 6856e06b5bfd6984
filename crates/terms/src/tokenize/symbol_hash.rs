//! Hashes the symbols of a text, so that texts with the same words but other symbols can be recognized.

use super::normal_forms::{decode, previous};
use super::symbols::is_symbol;
use super::word_roles::{MINUS, Role, role};
use simtool_base::stable_hash::StreamedHash;
use simtool_kernels::Isa;
use simtool_kernels::symbol_places::symbol_places;
use simtool_kernels::word_masks::Words;
use simtool_kernels::xxh3_short::MARGIN;

/// Hash of the symbols of a text, in their order. Two texts with the same words may differ in their symbols, for
/// example `a < b` and `a > b`.
///
/// A hyphen or U+2212 before a digit counts as a minus sign, unless a letter or digit is before it. So `-5` and `5`
/// differ, while `-5` and `−5` do not. Symbols that join letters or digits to one word, such as U+A789, are part of
/// words and are left out.
#[derive(Debug, Default)]
pub struct SymbolHash {
    /// Whether tokenizers add the symbols of the texts that they cut. If not, the hash stays 0.
    is_wanted: bool,
    /// Hash of the symbols so far, or `None` if there were none.
    hash: Option<StreamedHash>,
    /// Byte offsets in the current piece of text at which a symbol may begin.
    candidates: Vec<u32>,
    /// Symbols of the current piece of text.
    symbols: Vec<u8>,
}

impl SymbolHash {
    /// Creates an empty hash that asks tokenizers for symbols: each tokenizer that leaves out symbols then adds the
    /// symbols of its texts to this hash.
    #[must_use]
    pub fn wanted() -> Self {
        Self { is_wanted: true, ..Self::default() }
    }

    /// Returns whether tokenizers add the symbols of the texts that they cut.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Returns the hash of all symbols that were added, or 0 if there were none.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.hash.as_ref().map_or(0, StreamedHash::digest)
    }

    /// Resets the hash to the hash of a text without symbols.
    pub(super) fn clear(&mut self) {
        self.hash = None;
    }

    /// Adds the symbols of a normalized and folded text. `words` has the bit masks of the text, and `length` is its
    /// length in bytes.
    pub(super) fn add(&mut self, isa: Isa, length: usize, words: &Words) {
        if !self.is_wanted {
            return;
        }
        symbol_places(isa, length, words, &mut self.candidates);
        self.symbols.clear();
        let text = &words.lowered[MARGIN..MARGIN + length];
        for at in self.candidates.iter().map(|&at| at as usize) {
            if let Some((character, _)) = decode(text, at) {
                push_symbol(text, at, character, &mut self.symbols);
            }
        }
        self.hash_symbols();
    }

    /// Adds the symbols of a normalized and folded text without using bit masks. This function defines which symbols
    /// the hash has.
    pub(super) fn add_slowly(&mut self, folded: &str) {
        if !self.is_wanted {
            return;
        }
        self.symbols.clear();
        let text = folded.as_bytes();
        for (at, character) in folded.char_indices() {
            push_symbol(text, at, character, &mut self.symbols);
        }
        self.hash_symbols();
    }

    /// Adds the symbols of the current piece of text to the hash.
    fn hash_symbols(&mut self) {
        if !self.symbols.is_empty() {
            self.hash.get_or_insert_default().update(&self.symbols);
        }
    }
}

/// Appends `character`, which is at byte `at` of a text, to `symbols` if it is a symbol.
#[inline]
fn push_symbol(text: &[u8], at: usize, character: char, symbols: &mut Vec<u8>) {
    let symbol = match character {
        '-' | MINUS if is_sign(text, at, character.len_utf8()) => '-',
        '-' => return,
        _ if is_outside_words(character) => character,
        _ => return,
    };
    symbols.extend_from_slice(symbol.encode_utf8(&mut [0; 4]).as_bytes());
}

/// Returns whether the character is a symbol that never joins letters or digits to one word.
#[inline]
fn is_outside_words(character: char) -> bool {
    is_symbol(character)
        && (character.is_ascii()
            || !matches!(role(character), Role::JoinsLetters | Role::JoinsBoth | Role::JoinsDigits))
}

/// Returns whether the hyphen or minus at byte `at` is the sign of a number: a digit follows, and no letter or digit is
/// before it. `length` is the number of bytes of the hyphen or minus.
fn is_sign(text: &[u8], at: usize, length: usize) -> bool {
    let is_digit = decode(text, at + length).is_some_and(|(behind, _)| behind.is_numeric());
    let before = |at| decode(text, previous(text, at));
    is_digit && (at == 0 || before(at).is_none_or(|(before, _)| !before.is_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenize::TOKENIZERS;
    use crate::tokenize::hashed_tokens::HashedTokens;
    use crate::tokenize::normalize::fold;
    use crate::tokenize::pieces::PIECE_BYTES;
    use proptest::prelude::*;

    /// Checks that each tokenizer that leaves symbols out hashes the symbols of `text`, and returns their hash.
    fn symbol_hash(text: &str) -> u64 {
        let mut slow = SymbolHash::wanted();
        let mut folded = String::new();
        fold(text, &mut folded);
        slow.add_slowly(&folded);
        for &isa in Isa::available() {
            for kind in
                TOKENIZERS.iter().filter(|kind| ["words", "chinese", "auto"].contains(&kind.name))
            {
                let mut tokens =
                    HashedTokens { symbol_hash: SymbolHash::wanted(), ..HashedTokens::default() };
                for _ in 0..2 {
                    tokens.clear();
                    (kind.create)(isa).tokenize(text.as_bytes(), &mut tokens);
                    assert_eq!(
                        tokens.symbol_hash.digest(),
                        slow.digest(),
                        "{} {isa} {text:?}",
                        kind.name
                    );
                }
            }
        }
        slow.digest()
    }

    #[test]
    fn only_symbols_and_their_order_count() {
        let texts = [
            "a < b", "a > b", "+5", "-5", "C++", "C#", "a <> b", "a >< b", "100 €", "100 £",
            "中 🙂", "中 🙃", "5", "a − 5",
        ];
        let mut hashes = texts.map(symbol_hash);
        hashes.sort_unstable();
        assert!(hashes.array_windows().all(|[a, b]| a != b));
        assert_eq!(symbol_hash("A, (b)"), 0);
        assert_eq!(symbol_hash("−5"), symbol_hash("-5"));
        assert_eq!(symbol_hash("a - 5 COVID-19 1-2 é-3 -a --"), 0);
        assert_eq!(symbol_hash("($-5)"), symbol_hash("$ ＿\u{ff0d}５"));
        assert_eq!(symbol_hash("A<B, c"), symbol_hash("\u{ff21} \u{ff1c}\nb. “c”"));
        assert_eq!(symbol_hash("a≠b"), symbol_hash("a =\u{338} b"));
        assert_eq!(symbol_hash("❤\u{fe0f}"), symbol_hash("❤"));
    }

    #[test]
    fn a_hash_does_not_depend_on_the_pieces_of_a_text() {
        let symbols = "+é".repeat(100);
        let text = |spaces| format!("{symbols}{}{symbols}", " ".repeat(spaces));
        assert_eq!(symbol_hash(&text(1)), symbol_hash(&text(2 * PIECE_BYTES)));
    }

    #[test]
    fn a_hash_that_is_not_wanted_stays_0() {
        let mut tokens = HashedTokens::default();
        (TOKENIZERS[0].create)(Isa::PORTABLE).tokenize(b"a < b", &mut tokens);
        assert_eq!(tokens.symbol_hash.digest(), 0);
    }

    #[test]
    fn every_character_counts_alone_and_among_others() {
        let characters: Vec<char> = ('\0'..='\u{1ffff}').collect();
        for page in characters.chunks(64) {
            let text: String = page
                .iter()
                .flat_map(|&c| [c, 'a', c, c, '1', c, ' ', 'é', c, '中', c, '\n'])
                .collect();
            symbol_hash(&text);
        }
    }

    proptest! {
        #[test]
        fn fast_and_slow_agree(pieces in prop::collection::vec(prop_oneof![
            4 => "[a-z' .,:;_\"0-9-]{1,4}", 4 => "[+<=>$#^`|~→€±🙂🏽🇩˂\u{338}]{1,3}", 2 => "[à-ÿŒşİ’]{1,4}", 2 => "[−-]?[0-9]",
            2 => "[א-ת'\"\u{5b0}-\u{5bc}]{1,5}", 2 => "[ก-๛]{1,6}", 2 => "[一-丯，。（）]{1,6}", 2 => "[ぁ-ヿ\u{3099}]{1,5}",
            1 => "[\u{300}-\u{36f}]{1,2}", 1 => "[\u{1f1e6}-\u{1f1ff}\u{1f170}\u{200d}\u{fe0f}👍]{1,4}",
            1 => "[\u{ff00}-\u{ffef}]{1,4}", 3 => " ", 1 => "\\PC{1,2}",
        ], 0..40)) {
            symbol_hash(&pieces.concat());
        }
    }
}
