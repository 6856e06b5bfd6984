//! Words that carry no subject and are dropped before anything is counted.

/// The white space of the reference formats: space, tab, CR, LF and vertical tab.
fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b)
}

/// The words of a stop word list, in lower case and in the list's order.
///
/// They are separated by white space; a UTF-8 byte order mark at the start is skipped. An entry
/// that holds anything but ASCII letters can equal no word, and is left out.
pub fn parse(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    list.strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(list)
        .split(|&byte| is_white_space(byte))
        .filter(|entry| !entry.is_empty() && entry.iter().all(u8::is_ascii_alphabetic))
        .map(<[u8]>::to_ascii_lowercase)
}

/// The built-in list: English function words, as the letter runs that a tokenizer finds ("don't"
/// is `don` and `t`).
pub const ENGLISH: &str = include_str!("stop_words_english.txt");

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
    }
}
