//! Counts the letters of texts by script, and the words of texts.

use super::normalize::is_unspaced;
use std::collections::BTreeMap;
use unicode_script::{Script, UnicodeScript as _};

/// Number of letters in texts, in total and by script.
#[derive(Clone, Debug, Default)]
pub struct Letters {
    /// Number of letters by the Unicode name of their script.
    counts: BTreeMap<&'static str, u64>,
    unspaced: u64,
    all: u64,
}

/// Returns whether a text has at least `least` words. A word is a sequence of letters and digits, or one character of a
/// script without spaces between words, such as Chinese.
///
/// ```
/// use simtool_terms::tokenize::letters::has_words;
///
/// assert!(has_words("One, two 三四".as_bytes(), 4) && !has_words(b"one two...", 3));
/// ```
#[must_use]
pub fn has_words(text: &[u8], least: usize) -> bool {
    let (mut words, mut is_inside) = (0, false);
    for character in text.utf8_chunks().flat_map(|chunk| chunk.valid().chars()) {
        let is_part = character.is_alphanumeric();
        words += usize::from(is_part && (!is_inside || is_unspaced(character)));
        is_inside = is_part;
        if words >= least {
            return true;
        }
    }
    words >= least
}

impl Letters {
    /// Adds the letters of a text to the counts.
    pub fn add(&mut self, text: &str) {
        let mut latin = 0;
        for letter in text.chars().filter(|character| character.is_alphabetic()) {
            self.all += 1;
            if letter.is_ascii() {
                latin += 1;
                continue;
            }
            self.unspaced += u64::from(is_unspaced(letter));
            let script = letter.script();
            if !matches!(script, Script::Common | Script::Inherited | Script::Unknown) {
                *self.counts.entry(script.full_name()).or_insert(0) += 1;
            }
        }
        if latin > 0 {
            *self.counts.entry(Script::Latin.full_name()).or_insert(0) += latin;
        }
    }

    /// Returns the name and the share of each script that occurs, in descending order of the shares. A share is from 0
    /// to 1.
    #[must_use]
    pub fn shares(&self) -> Vec<(&'static str, f64)> {
        let mut scripts: Vec<(&str, u64)> = self.counts.iter().map(|(&s, &n)| (s, n)).collect();
        scripts.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
        scripts.into_iter().map(|(script, count)| (script, self.share(count))).collect()
    }

    /// Returns the share, from 0 to 1, of letters in scripts without spaces between words.
    #[must_use]
    pub fn unspaced_share(&self) -> f64 {
        self.share(self.unspaced)
    }

    fn share(&self, count: u64) -> f64 {
        count as f64 / self.all.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_of_their_scripts_and_nothing_else_counts() {
        let mut letters = Letters::default();
        letters.add("ab, 12! 中文 ไทย в");
        let shares = letters.shares();
        let unspaced = letters.unspaced_share();
        assert_eq!(shares[0], ("Thai", 0.375));
        assert_eq!(shares[1..3], [("Han", 0.25), ("Latin", 0.25)]);
        assert_eq!(shares[3], ("Cyrillic", 0.125));
        assert!((unspaced - 0.625).abs() < 1e-9);
        assert_eq!(Letters::default().shares(), []);
        assert!(Letters::default().unspaced_share() == 0.0);
    }
}
