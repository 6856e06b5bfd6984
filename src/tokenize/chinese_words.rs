//! Words of Chinese text, by the dictionary of jieba.
//!
//! A text is normalized and folded as everywhere; in it, jieba takes those words of its dictionary
//! whose frequencies have the greatest product, and what holds a letter or digit is a token.
//! Characters that are of no word stay alone: jieba's model for them would take a moment more, and
//! small edits would change its cuts further away. Words of the dictionary with capitals are folded
//! too.
//!
//! The dictionary is loaded when the first text is met.
//!
//! # References
//! jieba, <https://github.com/fxsjy/jieba>; jieba-rs, its translation.

use super::hashed_tokens::{HashTokenizer, HashedTokens};
use super::normalize;
use crate::kernels::Isa;
use crate::stable_hash::hash;
use jieba_rs::Jieba;
use std::sync::LazyLock;

/// What stands in the recipe of a tokenizer that uses the dictionary.
pub(super) const DICTIONARY: &str = "jieba-rs@0.11.0";

/// Words of the dictionary with capitals.
const CAPITALIZED: &str = "4S店 AA制 AB型 AT&T A型 A座 A股 A轮 BB机 BP机 B型 B座 B股 B超 B轮 C# C++ CALL机 \
    CD机 CD盒 C座 C盘 C语言 D座 D版 D盘 E化 E座 E盘 E通 F座 F盘 G盘 H盘 H股 IC卡 IP卡 IP地址 IP电话 I盘 \
    K党 K歌之王 N年 O型 PC机 PH值 QQ号 Q版 RSS订阅 SIM卡 T台 T型台 T恤 T恤衫 T盘 U盘 VISA卡 X光 X光线 \
    X射线 Z盘 大S 小S 江南Style 阿Q";

/// How often each of them is met in what the dictionary was made of, but for [`SHIRT`].
const FREQUENCY: usize = 3;
/// The one that is met more often, and how often.
const SHIRT: (&str, usize) = ("T恤", 4);

static JIEBA: LazyLock<Jieba> = LazyLock::new(|| {
    let mut jieba = Jieba::new();
    for word in CAPITALIZED.split_whitespace() {
        let frequency = if word == SHIRT.0 { SHIRT.1 } else { FREQUENCY };
        // Another place in the dictionary, so that the sum of all stays.
        jieba.add_word(word, Some(0), None);
        jieba.add_word(&word.to_lowercase(), Some(frequency), None);
    }
    jieba
});

/// Lends the words of a text that is normalized and folded.
pub(super) fn cut(folded: &str, mut visit: impl FnMut(&str)) {
    for token in JIEBA.cut(folded, false) {
        if token.word.chars().any(char::is_alphanumeric) {
            visit(token.word);
        }
    }
}

/// The tokenizer of Chinese words.
#[derive(Clone, Copy, Debug)]
pub struct ChineseWords {
    isa: Isa,
}

impl ChineseWords {
    /// A tokenizer that uses the given instruction set.
    #[must_use]
    pub fn new(isa: Isa) -> Self {
        Self { isa }
    }
}

impl HashTokenizer for ChineseWords {
    fn tokenize(&self, text: &[u8], tokens: &mut HashedTokens) {
        tokens.fold_pieces(self.isa, text, |folded, hashes| {
            cut(folded, |word| hashes.push(hash(word.as_bytes())));
        });
    }

    fn recipe(&self) -> String {
        format!("chinese:{DICTIONARY}/{}", normalize::recipe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
