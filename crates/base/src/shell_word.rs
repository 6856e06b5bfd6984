//! Quotes text as one word of a shell command.

use crate::byte_text::byte_text;
use std::ffi::OsStr;

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

/// Returns an argument as one word of a shell command. An argument that is not UTF-8 becomes a word such as
/// `$'b\xffad'`, which bash and zsh understand.
#[must_use]
pub fn shell_argument(argument: &OsStr) -> String {
    if let Some(text) = argument.to_str() {
        return shell_word(text);
    }
    let mut word = "$'".to_owned();
    for chunk in argument.as_encoded_bytes().utf8_chunks() {
        word.push_str(&chunk.valid().replace('\\', "\\\\").replace('\'', "\\'"));
        word.push_str(&byte_text(chunk.invalid()));
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

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
