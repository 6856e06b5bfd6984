//! Quotes text as one word of a shell command.

/// Returns the text as one word for a POSIX shell, with quotes if they are needed.
///
/// ```
/// use simtool_base::shell_word::shell_word;
///
/// assert_eq!(shell_word("in/a.jsonl"), "in/a.jsonl");
/// assert_eq!(shell_word("my file"), "'my file'");
/// ```
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    // Within single quotes a POSIX shell gives no character a meaning, not even a backslash. So
    // each single quote in the text becomes three parts: the end of the quoted part, an escaped
    // quote, and the start of the next quoted part.
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::shell_word;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        for (text, word) in [
            ("a/b-c_1.gz:17", "a/b-c_1.gz:17"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's $HOME", "'it'\\''s $HOME'"),
            ("https://x/?a=1&b=2", "'https://x/?a=1&b=2'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }
}
