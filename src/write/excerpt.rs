//! Cuts excerpts out of two texts near the first word in which they differ.

/// Number of equal words that are shown before the first difference.
const WORDS_BEFORE: usize = 6;
/// Maximum number of characters of an excerpt.
const EXCERPT: usize = 180;

/// Returns an excerpt of each text on one line. The excerpts begin at the same word, a few words before the first
/// difference, or at the beginning if the words of the texts are equal.
pub(in crate::write) fn excerpts(texts: [&[u8]; 2]) -> [String; 2] {
    let [left, right] = texts.map(String::from_utf8_lossy);
    // White space is no difference, so the texts are compared word by word.
    let equal = left.split_whitespace().zip(right.split_whitespace()).take_while(|(l, r)| l == r);
    let equal = equal.count();
    let is_different = left.split_whitespace().nth(equal).is_some()
        || right.split_whitespace().nth(equal).is_some();
    let skipped = if is_different { equal.saturating_sub(WORDS_BEFORE) } else { 0 };
    [left, right].map(|text| excerpt(&text, skipped))
}

/// Returns an excerpt of a text on one line, without the first `skipped` words of the text.
pub(in crate::write) fn excerpt(text: &str, skipped: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    if skipped > 0 {
        shown.push('\u{2026}');
    }
    for word in text.split_whitespace().skip(skipped) {
        if !shown.is_empty() {
            shown.push(' ');
        }
        for c in word.chars() {
            if count == EXCERPT {
                shown.push('\u{2026}');
                return shown;
            }
            shown.push(c);
            count += 1;
        }
        count += 1;
        if count > EXCERPT {
            shown.push_str(" \u{2026}");
            return shown;
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_begin_a_little_before_the_first_difference() {
        let [left, right] = excerpts([b"1 2 3 4\n5 6 7 8 a", b"1 2 3 4 5 6 7 8"]);
        assert_eq!(
            (left.as_str(), right.as_str()),
            ("\u{2026} 3 4 5 6 7 8 a", "\u{2026} 3 4 5 6 7 8")
        );
        let [left, right] = excerpts([b"a b", b"a\tb"]);
        assert_eq!((left.as_str(), right.as_str()), ("a b", "a b"));
    }

    #[test]
    fn long_excerpts_are_cut() {
        let long = "x".repeat(EXCERPT + 1);
        assert_eq!(excerpt(&long, 0).chars().count(), EXCERPT + 1);
        let words = "ab ".repeat(EXCERPT);
        let cut = excerpt(&words, 0);
        assert!(cut.ends_with(" \u{2026}") && cut.chars().count() <= EXCERPT + 2, "{cut}");
        assert_eq!(excerpt("a b", 5), "\u{2026}");
    }
}
