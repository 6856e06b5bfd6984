//! Cuts Chinese text into words with the dictionary of jieba.
//!
//! The text is normalized and folded as by every tokenizer. Then jieba chooses the sequence of dictionary words whose
//! frequencies have the greatest product. Each segment that contains a letter or digit is a token.
//!
//! Characters that belong to no dictionary word become separate tokens. jieba's statistical model for unknown words
//! (HMM) is not used. It is slower, and with it a small edit would change how distant text is cut. Dictionary words
//! with capital letters are folded as well.
//!
//! The dictionary is loaded when the first text is tokenized.
//!
//! jieba, <https://github.com/fxsjy/jieba>; jieba-rs, its Rust port.

use super::TokenizerKind;
use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize;
use super::pieces::pieces;
use super::signs::has_minus;
use super::word_roles::is_letter_or_digit;
use jieba_rs::Jieba;
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_kernels::word_masks::{MAX_TEXT, Words, classify};
use simtool_kernels::xxh3_short::{MARGIN, hash_words};
use std::sync::LazyLock;

/// Name of the dictionary in the recipes of tokenizers that use it.
pub(super) const DICTIONARY: &str = "jieba-rs@0.11.0";

/// Dictionary words that contain capital letters.
const CAPITALIZED: &str = "4S店 AA制 AB型 AT&T A型 A座 A股 A轮 BB机 BP机 B型 B座 B股 B超 B轮 C# C++ CALL机 \
    CD机 CD盒 C座 C盘 C语言 D座 D版 D盘 E化 E座 E盘 E通 F座 F盘 G盘 H盘 H股 IC卡 IP卡 IP地址 IP电话 I盘 \
    K党 K歌之王 N年 O型 PC机 PH值 QQ号 Q版 RSS订阅 SIM卡 T台 T型台 T恤 T恤衫 T盘 U盘 VISA卡 X光 X光线 \
    X射线 Z盘 大S 小S 江南Style 阿Q";

/// Frequency that the dictionary gives to each word in [`CAPITALIZED`], except [`SHIRT`].
const FREQUENCY: usize = 3;
/// The only word in [`CAPITALIZED`] with another frequency than [`FREQUENCY`], and its frequency.
const SHIRT: (&str, usize) = ("T恤", 4);

/// Approximate number of bytes that are passed to jieba in one call.
const PART_BYTES: usize = 4 << 10;

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    for word in CAPITALIZED.split_whitespace() {
        let frequency = if word == SHIRT.0 { SHIRT.1 } else { FREQUENCY };
        // The frequency moves to the lower-case word. So the sum of all frequencies stays the same,
        // and with it the cuts of all other texts.
        jieba.add_word(word, Some(0), None);
        jieba.add_word(&word.to_lowercase(), Some(frequency), None);
    }
    jieba
});

/// Cuts a normalized and folded text into words, and calls `visit` with each word.
pub(super) fn cut(folded: &str, mut visit: impl FnMut(&str)) {
    each_word(folded, |_, word| visit(word));
}

/// Appends the hashes of the words of a normalized and folded text to `hashes`. `words` is a buffer that is reused for
/// the next text.
pub(super) fn push_words(isa: Isa, folded: &str, words: &mut Words, hashes: &mut Vec<u64>) {
    if folded.len() > MAX_TEXT {
        // Normalization can make a text many times longer, beyond the limit of the masks.
        return each_word(folded, |start, word| {
            let sign = if has_minus(folded.as_bytes(), start) { "-" } else { "" };
            hashes.push(hash(format!("{sign}{word}").as_bytes()));
        });
    }
    let Words { lowered, starts, ends, .. } = words;
    lowered.clear();
    lowered.resize(MARGIN, 0);
    lowered.extend_from_slice(folded.as_bytes());
    lowered.resize(lowered.len() + MARGIN, 0);
    starts.clear();
    ends.clear();
    each_word(folded, |start, word| {
        let sign = usize::from(has_minus(folded.as_bytes(), start));
        // The hyphen may be a minus sign of several bytes.
        if sign > 0 {
            lowered[MARGIN + start - 1] = b'-';
        }
        starts.push((MARGIN + start - sign) as u32);
        ends.push((MARGIN + start + word.len()) as u32);
    });
    hash_words(isa, lowered, starts, ends, hashes);
}

/// Calls `visit` with each word of the normalized and folded text `folded`, and with the byte offset of the word.
#[inline]
fn each_word(folded: &str, mut visit: impl FnMut(usize, &str)) {
    let mut start = 0;
    while start < folded.len() {
        let part = &folded[start..][..part_bytes(&folded.as_bytes()[start..])];
        for token in JIEBA.cut(part, false) {
            if token.word.chars().any(is_letter_or_digit) {
                visit(start + token.byte_start, token.word);
            }
        }
        start += part.len();
    }
}

/// Returns the length in bytes of the first part of a text. jieba cuts each part separately.
///
/// A part ends at a character that belongs to no word. Parts are short, so that the data structures of jieba stay in
/// the caches.
fn part_bytes(text: &[u8]) -> usize {
    let rest = text.get(PART_BYTES..).unwrap_or_default();
    let is_of_none = |byte: &u8| matches!(byte, b' ' | b'\n' | b',');
    rest.iter().position(is_of_none).map_or(text.len(), |at| PART_BYTES + at)
}

/// Entry of the tokenizer `chinese` in the table [`TOKENIZERS`](super::TOKENIZERS).
pub const KIND: TokenizerKind = TokenizerKind {
    name: "chinese",
    help: "Chinese words by the dictionary of jieba",
    default_shingle: 3,
    makes_words: true,
    bytes_per_token: 6,
    create: |isa| Box::new(ChineseWords::new(isa)),
};

/// Tokenizer that cuts Chinese text into words of a dictionary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChineseWords {
    isa: Isa,
}

impl ChineseWords {
    /// Creates a tokenizer that uses the instruction set `isa`.
    #[must_use]
    pub(crate) fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

impl HashTokenizer for ChineseWords {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        let HashedTokens { hashes, words, normalized, symbol_hash, .. } = tokens;
        for piece in pieces(text) {
            classify(self.isa, piece, words);
            normalized.fill(self.isa, piece, words);
            // The normalized text is valid UTF-8: invalid sequences were replaced.
            let folded = simdutf8::basic::from_utf8(normalized.text()).unwrap_or_default();
            symbol_hash.add_slowly(folded);
            push_words(self.isa, folded, words, hashes);
        }
    }

    fn recipe(&self) -> String {
        format!("chinese+minus:{DICTIONARY}/{}", normalize::recipe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        cut(text, |word| words.push(word.to_owned()));
        words
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let expected: Vec<u64> = expected.split('/').map(|word| hash(word.as_bytes())).collect();
        for &isa in Isa::available() {
            let mut tokens = HashedTokens::default();
            ChineseWords::new(isa).tokenize(text.as_bytes(), &mut tokens);
            assert_eq!(tokens.hashes, expected, "{isa} {text}");
        }
    }

    #[test]
    fn words_are_those_of_jieba() {
        check("他来到了网易杭研大厦", "他/来到/了/网易/杭/研/大厦");
        assert_eq!(words("他来到了,\r\n 网易。"), ["他", "来到", "了", "网易"]);
        assert!(words("，。 \n—…").is_empty());
    }

    #[test]
    fn text_is_folded_and_so_is_the_dictionary() {
        check("Ｔ恤和t恤", "t恤/和/t恤");
        check("买Ａ股", "买/a股");
        check("51区 Hello", "51/区/hello");
        check("-5度 −5 歼-20 (-3)", "-5/度/-5/歼/20/-3");
    }

    /// Returns the words of a text that is passed to jieba as a whole, instead of in parts as
    /// [`cut`] passes it.
    fn words_of_whole(text: &str) -> Vec<&str> {
        let words = JIEBA.cut(text, false).into_iter().map(|token| token.word);
        words.filter(|word| word.contains(char::is_alphanumeric)).collect()
    }

    #[test]
    fn parts_have_the_words_of_the_whole() {
        let sentence = "图书馆八点开门，周三下午还有讲座 t恤4s店,c++\r\n他带来了3.5本旧书";
        let long = sentence.repeat(2 * PART_BYTES / sentence.len());
        let unbroken = long.replace([',', ' ', '\n'], "");
        for text in [long, unbroken] {
            for (start, _) in text.char_indices().step_by(5).take(8) {
                assert_eq!(words(&text[start..]), words_of_whole(&text[start..]));
            }
        }
        let at_the_end = "中".repeat(PART_BYTES / 3) + "国";
        for behind in ["", ",", " ", "\n", "\r\n", ",国", "国, 人"] {
            let text = format!("{at_the_end}{behind}");
            assert_eq!(words(&text), words_of_whole(&text), "{behind:?}");
        }
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_the_words_of_a_folded_text(
            pieces in prop::collection::vec(prop_oneof![
                8 => "[的一是不了在人有我他这中大来上国网易杭研大厦]{1,9}", 2 => "[a-zA-Z0-9 ,.%-]{1,9}",
                2 => "[，。、：　（）\n]{1,2}", 1 => "[àÉ\u{301}ßﬁＡ２カー한]{1,3}", 1 => "\\PC{1,3}",
            ], 0..40),
        ) {
            let text = pieces.concat();
            let mut folded = String::new();
            normalize::fold(&text, &mut folded);
            let hash_of = |word: &&str| {
                let start = word.as_ptr() as usize - folded.as_ptr() as usize;
                let sign = if has_minus(folded.as_bytes(), start) { "-" } else { "" };
                hash(format!("{sign}{word}").as_bytes())
            };
            let slowly: Vec<u64> = words_of_whole(&folded).iter().map(hash_of).collect();
            for &isa in Isa::available() {
                let mut tokens = HashedTokens::default();
                ChineseWords::new(isa).tokenize(text.as_bytes(), &mut tokens);
                prop_assert_eq!(&tokens.hashes, &slowly, "{}", isa);
            }
        }
    }

    #[test]
    fn every_capitalized_word_is_of_the_dictionary() {
        let plain = Jieba::new();
        for word in CAPITALIZED.split_whitespace() {
            assert!(plain.has_word(word), "{word}");
        }
        let least = "IP地址/C语言/X射线/T恤衫";
        assert_eq!(words(&least.to_lowercase()).join("/"), least.to_lowercase());
    }
}
