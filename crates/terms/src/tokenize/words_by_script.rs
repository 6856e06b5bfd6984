//! Cuts texts with several scripts. Each run of characters is cut into tokens by the method for its script.
//!
//! - A run of ideographs, ASCII letters, digits and the characters `+#&._%-` that contains an ideograph is cut into
//!   Chinese words. The run is as long as possible.
//! - If such a run is adjacent to Hiragana or Katakana, the whole run counts as Japanese.
//! - Japanese, Thai, Lao, Khmer and Myanmar text is cut into pairs of neighbouring characters.
//! - All other text is cut into Unicode words.
//!
//! The choice depends on the run and never on the whole text, so a foreign sentence in a text does
//! not change the tokens around it.

use super::TokenizerKind;
use super::chinese_words::{DICTIONARY, push_words};
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::script_runs::{Cutting, Run, find_runs, may_be_unspaced};
use super::unicode_words::UnicodeWords;
use super::word_roles::MINUS;
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use unicode_normalization::char::is_combining_mark;

/// Entry of the tokenizer `auto` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub(crate) const KIND: TokenizerKind = TokenizerKind {
    name: "auto",
    help: "each run of text as its script needs: Chinese words by the dictionary of jieba, \
           pairs of characters for Japanese and Thai, words for the rest",
    default_shingle: 3,
    makes_words: true,
    bytes_per_token: 6,
    create: |isa| Box::new(WordsByScript::new(isa)),
};

/// Tokenizer that cuts each run of characters by the method for its script, for example Chinese words or pairs of Thai
/// characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WordsByScript {
    isa: Isa,
}

impl WordsByScript {
    /// Creates a tokenizer that uses the instruction set `isa`.
    #[must_use]
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

/// Appends the hash of each pair of neighbouring characters that are letters, digits or marks. If such a character has
/// no such neighbour, appends the hash of the character alone.
fn push_pairs(text: &str, hashes: &mut Vec<u64>) {
    let is_token = |c: char| c.is_alphanumeric() || is_combining_mark(c);
    for part in text.split(|c| !is_token(c)).filter(|part| !part.is_empty()) {
        let mut before = None;
        let mut pairs = 0;
        for (at, character) in part.char_indices() {
            if let Some(start) = before.replace(at) {
                hashes.push(hash(&part.as_bytes()[start..at + character.len_utf8()]));
                pairs += 1;
            }
        }
        if pairs == 0 {
            hashes.push(hash(part.as_bytes()));
        }
    }
}

impl WordsByScript {
    /// Divides a normalized and folded text into runs by script, and appends the hashes of the tokens of the runs to
    /// `tokens`.
    fn runs(self, folded: &[u8], tokens: &mut HashedTokens) {
        // The text was decoded before, so it is valid UTF-8.
        let text = simdutf8::basic::from_utf8(folded).unwrap_or_default();
        let mut runs = std::mem::take(&mut tokens.runs);
        // The text between runs may have symbols, too, so the symbols of the runs are not added one by one.
        let mut symbol_hash = std::mem::take(&mut tokens.symbol_hash);
        symbol_hash.add_slowly(text);
        find_runs(text, &mut runs);
        let mut rest = runs.as_slice();
        while let Some((first, others)) = rest.split_first() {
            let (cutting, mut range) = first.clone();
            // Adjacent runs of ideographs and kana are Japanese if one of them is kana. Other runs
            // of the same kind may be cut by one call, because the text between them has no tokens.
            let is_of = |(before, next): (&Run, &Run)| match cutting {
                Cutting::Chinese | Cutting::Kana => {
                    matches!(next.0, Cutting::Chinese | Cutting::Kana)
                        && before.1.end == next.1.start
                }
                Cutting::Unspaced | Cutting::Words => false,
            };
            let touching = rest.iter().zip(others).take_while(|&pair| is_of(pair)).count();
            let mut taken = 1 + touching;
            let is_japanese = rest[..taken].iter().any(|run| run.0 == Cutting::Kana);
            if cutting == Cutting::Chinese && !is_japanese {
                let is_alone = |at: usize| {
                    rest[at].0 == Cutting::Chinese
                        && rest.get(at + 1).is_none_or(|next| {
                            next.0 != Cutting::Kana || rest[at].1.end != next.1.start
                        })
                };
                while taken < rest.len() && is_alone(taken) {
                    taken += 1;
                }
            }
            range.end = rest[taken - 1].1.end;
            rest = &rest[taken..];
            let is_first = range.start == 0;
            let run = &text[range];
            match cutting {
                Cutting::Words => {
                    // A hyphen directly behind another run joins the number behind it to that run.
                    let run = if is_first { run } else { run.trim_start_matches(['-', MINUS]) };
                    UnicodeWords::new(self.isa).folded(run.as_bytes(), tokens);
                }
                Cutting::Chinese if !is_japanese => {
                    push_words(self.isa, run, &mut tokens.words, &mut tokens.hashes);
                }
                _ => push_pairs(run, &mut tokens.hashes),
            }
        }
        tokens.symbol_hash = symbol_hash;
        tokens.runs = runs;
    }
}

impl HashTokenizer for WordsByScript {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        let words = UnicodeWords::new(self.isa);
        words.beyond_ascii(text, tokens, |folded, tokens| {
            if may_be_unspaced(folded) {
                self.runs(folded, tokens);
            } else {
                words.folded(folded, tokens);
            }
        });
    }

    fn recipe(&self) -> String {
        let words = UnicodeWords::new(self.isa).recipe();
        format!("auto:{DICTIONARY}/{words}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let expected: Vec<u64> = expected.split_whitespace().map(|w| hash(w.as_bytes())).collect();
        for &isa in Isa::available() {
            let mut tokens = HashedTokens::default();
            WordsByScript::new(isa).tokenize(text.as_bytes(), &mut tokens);
            assert_eq!(tokens.hashes, expected, "{isa} {text}");
        }
    }

    #[test]
    fn each_run_is_cut_as_its_script_needs() {
        check("Can't e-mail 3.14", "can't e mail 3.14");
        check("Größe, Ελλάς", "grösse ελλάσ");
        check("他来到了网易杭研大厦。", "他 来到 了 网易 杭 研 大厦");
        check("买T恤, 51区!", "买 t恤 51 区");
        check("コーヒーです", "コー ーヒ ヒー ーで です");
        check("東京タワー、北京。", "東京 京タ タワ ワー 北京");
        check("ア", "ア");
        check("-5 カ-19 กั−19 -5度 −5 カ -5", "-5 カ 19 กั 19 -5 度 -5 カ -5");
        check("กัน", "กั ัน");
        check("한국어 말", "한국어 말");
        check("…", "");
    }

    #[test]
    fn a_foreign_sentence_changes_nothing_around_it() {
        check("hello 网易 world é大厦x", "hello 网易 world é 大厦 x");
        check("日本の网易, 网易", "日本 本の の网 网易 网易");
        check("abcカ漢x1 y", "abc カ漢 漢x x1 y");
    }

    proptest! {
        #[test]
        fn any_text_is_cut_and_words_of_other_scripts_are_words(text in "[a-z1à. '’а-я“]{0,40}") {
            let mut by_script = HashedTokens::default();
            let mut words = HashedTokens::default();
            WordsByScript::new(Isa::detected()).tokenize(text.as_bytes(), &mut by_script);
            UnicodeWords::new(Isa::detected()).tokenize(text.as_bytes(), &mut words);
            prop_assert_eq!(by_script.hashes, words.hashes);
        }

        #[test]
        fn no_bytes_fail(text in prop::collection::vec(any::<u8>(), 0..200), mixed in "[a.中々カーกั́é ]{0,30}") {
            let mut tokens = HashedTokens::default();
            WordsByScript::new(Isa::detected()).tokenize(&text, &mut tokens);
            WordsByScript::new(Isa::detected()).tokenize(mixed.as_bytes(), &mut tokens);
        }
    }
}
