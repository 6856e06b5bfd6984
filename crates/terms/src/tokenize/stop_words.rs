//! Stop words: frequent words such as "the", which do not show the topic of a text. They are dropped before words are
//! counted.

use super::normalize::fold;
use simtool_base::stable_hash::hash;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns whether a byte separates the words of a stop word list: space, tab, CR, LF or vertical tab.
fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b)
}

/// Returns the words of a stop word list, in lower case and in the order of the list.
///
/// White space separates the words, and a UTF-8 byte order mark at the start is skipped. Entries with other characters
/// than ASCII letters are skipped, because the words of a text consist of ASCII letters here.
pub fn parse(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    list.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(list)
        .split(|&byte| is_white_space(byte))
        .filter(|entry| !entry.is_empty() && entry.iter().all(u8::is_ascii_alphabetic))
        .map(<[u8]>::to_ascii_lowercase)
}

/// Built-in list of English function words. They are runs of letters, as a tokenizer finds them. For example, "don't"
/// is `don` and `t`.
pub const ENGLISH: &str = include_str!("stop_words_english.txt");

/// Built-in list of Chinese function words.
pub(crate) const CHINESE: &str = include_str!("stop_words_chinese.txt");

/// Names of the built-in lists, and the texts with their words.
const LISTS: [(&str, &[&str]); 3] =
    [("none", &[]), ("english", &[ENGLISH]), ("chinese", &[CHINESE])];

/// Set of words that are dropped from a text. The words are normalized and folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopWords {
    name: Arc<str>,
    /// The stop words in ascending order.
    words: Arc<[String]>,
}

impl Default for StopWords {
    /// Returns the empty list, which is called `none`. With it, no word is dropped.
    fn default() -> Self {
        Self::from_lists(LISTS[0].0, LISTS[0].1)
    }
}

impl StopWords {
    /// Returns the built-in list called `name`, or `None` if there is no such list.
    ///
    /// ```
    /// use simtool_terms::tokenize::stop_words::StopWords;
    ///
    /// let english = StopWords::built_in("english").expect("a built-in list");
    /// assert!(english.words().iter().any(|word| word == "the"));
    /// ```
    #[must_use]
    pub fn built_in(name: &str) -> Option<Self> {
        let lists = LISTS.into_iter().find(|(known, _)| *known == name)?.1;
        Some(Self::from_lists(name, lists))
    }

    /// Parses a list in which white space, commas or semicolons separate the words. `name` is the name of the list in
    /// options. Comments are skipped. A comment is the rest of a line from `|` on, or from a word that begins with `#`
    /// on.
    #[must_use]
    pub fn from_list(name: &str, list: &str) -> Self {
        let is_separator = |character: char| character.is_whitespace() || ",;".contains(character);
        let words = |line| {
            let list = str::split(line, '|').next().unwrap_or_default();
            list.split(is_separator).take_while(|word| !word.starts_with('#'))
        };
        let list = list.strip_prefix('\u{feff}').unwrap_or(list);
        let words: Vec<&str> = list.lines().flat_map(words).collect();
        Self::from_lists(name, &words)
    }

    /// Returns one list with the words of all `lists`. `name` is the name of the new list in options.
    #[must_use]
    pub fn union(name: &str, lists: &[Self]) -> Self {
        let words: BTreeSet<&String> = lists.iter().flat_map(|list| &*list.words).collect();
        Self { name: name.into(), words: words.into_iter().cloned().collect() }
    }

    /// Creates a list from `words`, in which white space separates the words. `name` is the name of the list in
    /// options.
    #[must_use]
    pub fn from_words(name: &str, words: &str) -> Self {
        Self::from_lists(name, &[words])
    }

    fn from_lists(name: &str, lists: &[&str]) -> Self {
        let folded = |word: &str| {
            let mut folded = String::new();
            fold(word, &mut folded);
            folded
        };
        let words = lists.iter().flat_map(|list| list.split_whitespace()).map(folded);
        let words: BTreeSet<String> = words.collect();
        Self { name: name.into(), words: words.into_iter().collect() }
    }

    /// Returns the name of the list in options.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the words in ascending order.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns a short text that identifies the words by a hash. Fingerprints can be compared only if these texts are
    /// equal.
    #[must_use]
    pub fn recipe(&self) -> String {
        match &*self.words {
            [] => "stop=none".to_owned(),
            words => format!("stop={:016x}", hash(words.join("\n").as_bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_lower_cased_and_odd_ones_left_out() {
        let found: Vec<_> =
            parse(b"\xef\xbb\xbfThe\r\nOF\tcan't\x0b\xc3\xa9t\xc3\xa9 and").collect();
        assert_eq!(found, [b"the".to_vec(), b"of".to_vec(), b"and".to_vec()]);
    }

    #[test]
    fn the_built_in_list_is_clean_sorted_and_free_of_repeats() {
        let words: Vec<_> = parse(ENGLISH.as_bytes()).collect();
        assert_eq!(words.len(), ENGLISH.split_whitespace().count());
        assert!(words.is_sorted_by(|a, b| a < b));
        assert!(words.len() > 150);
        let words: Vec<_> = CHINESE.split_whitespace().collect();
        assert!(words.is_sorted_by(|a, b| a < b));
        assert!(words.len() > 100);
    }

    #[test]
    fn lists_have_names_and_are_folded() {
        let english = StopWords::built_in("english").unwrap();
        let lists =
            ["english", "chinese", "english"].map(|name| StopWords::built_in(name).unwrap());
        let both = StopWords::union("english+chinese", &lists);
        assert_eq!(both.words().len(), english.words().len() + CHINESE.split_whitespace().count());
        assert_eq!(StopWords::built_in("none").unwrap(), StopWords::default());
        assert_eq!(StopWords::built_in("klingon"), None);
        assert_eq!(StopWords::from_words("w", " the  THE a,b\n").words(), ["a,b", "the"]);
        let own = StopWords::from_list("own.txt", "\u{feff}Straße THE\r\nthe 的");
        assert_eq!(own.words(), ["strasse", "the", "的"]);
        assert_eq!(
            (own.name(), StopWords::default().recipe()),
            ("own.txt", "stop=none".to_owned())
        );
        // The order of a list does not matter.
        assert_eq!(own.recipe(), StopWords::from_list("x", "的 the strasse").recipe());
        assert_ne!(own.recipe(), english.recipe());
    }

    #[test]
    fn lists_of_usual_forms_have_the_same_words() {
        let lists = [
            "der\ndie\ndas\n",
            "der, die, das",
            "der;die;das\r\n",
            "| German words, by how frequent they are\n\nder   | the\ndie|the\n  das # the\n",
            "# German\nder die #das dem\ndas",
        ];
        for list in lists {
            assert_eq!(StopWords::from_list("x", list).words(), ["das", "der", "die"], "{list}");
        }
        // A sign inside a word begins no comment.
        assert_eq!(StopWords::from_list("x", "c#").words(), ["c#"]);
    }
}
