//! Splits and quotes command lines as a shell does.

use simtool::byte_text::os_string;
use simtool::shell_word::shell_argument;
use std::ffi::OsString;
use std::sync::OnceLock;

/// Splits a command line into its words and removes their quotes.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut is_begun, mut quote) = (Vec::new(), false, ShellQuote::None);
    let mut rest = line.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, quote) {
            // A pair of quotes makes a word, even with nothing in between.
            (b'\'', ShellQuote::None) => (quote, is_begun) = (ShellQuote::Plain, true),
            (b'$', ShellQuote::None) if after.starts_with(b"'") => {
                (quote, is_begun) = (ShellQuote::Escapes, true);
                rest = &after[1..];
            }
            (b'\'', _) => quote = ShellQuote::None,
            (b'\\', ShellQuote::None | ShellQuote::Escapes) => {
                let (escaped, length) = escaped(after, quote);
                word.extend(escaped);
                rest = &after[length..];
            }
            // Several spaces in a row separate words like a single space.
            (b' ', ShellQuote::None) => {
                if std::mem::take(&mut is_begun) || !word.is_empty() {
                    words.extend(os_string(std::mem::take(&mut word)));
                }
            }
            (&byte, _) => word.push(byte),
        }
    }
    if is_begun || !word.is_empty() {
        words.extend(os_string(word));
    }
    words
}

/// Quotes around a part of a command line.
#[derive(Clone, Copy, PartialEq)]
enum ShellQuote {
    None,
    /// Quotes as in `'a b'`, in which no character has a meaning.
    Plain,
    /// Quotes as in `$'b\xffad'`, in which a backslash begins an escape.
    Escapes,
}

/// Returns the byte that an escape stands for, and the length of the escape. `after` is the text after the backslash.
fn escaped(after: &[u8], quote: ShellQuote) -> (Option<u8>, usize) {
    if let (ShellQuote::Escapes, Some(b"x")) = (quote, after.get(..1)) {
        let digits = after.get(1..3).and_then(|digits| str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            return (Some(byte), 3);
        }
    }
    (after.first().copied(), after.len().min(1))
}

/// Arguments of this process. The first argument is the name of the program.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Stores the arguments of the program, so that [`command_line`] can return them.
pub(crate) fn keep(arguments: Vec<OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| arguments)
}

/// Returns the command line of the program, with quotes where needed, so that a shell can run it again.
pub(crate) fn command_line() -> String {
    ARGUMENTS
        .get()
        .into_iter()
        .flatten()
        .map(|argument| shell_argument(argument))
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_split_into_the_same_words() {
        let line = ["a", "", "it's", "two words", "\\", "''", "$x*", "-k=3"];
        let mut line = line.map(OsString::from).to_vec();
        line.extend(os_string(b"it's b\xffad\\x4\xc3".to_vec()));
        let quoted: Vec<String> = line.iter().map(|word| shell_argument(word)).collect();
        assert_eq!(words(&quoted.join(" ")), line);
    }
}
