//! Splits and quotes command lines as a shell does.

use simtool::shell_word::shell_word;
use std::ffi::OsString;
use std::sync::OnceLock;

/// Splits a command line into its words and removes their quotes.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut is_begun, mut is_quoted) = (String::new(), false, false);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            // A pair of quotes makes a word, even with nothing in between.
            '\'' => (is_quoted, is_begun) = (!is_quoted, true),
            '\\' if !is_quoted => word.extend(characters.next()),
            // Several spaces in a row separate words like a single space.
            ' ' if !is_quoted => {
                if std::mem::take(&mut is_begun) || !word.is_empty() {
                    words.push(std::mem::take(&mut word).into());
                }
            }
            c => word.push(c),
        }
    }
    if is_begun || !word.is_empty() {
        words.push(word.into());
    }
    words
}

/// Arguments of this process. The first argument is the name of the program.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Stores the arguments of the program, so that [`command_line`] can return them.
pub(crate) fn keep(arguments: Vec<OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| arguments)
}

/// Returns the command line of the program, with quotes where needed, so that a shell can run it again.
pub(crate) fn command_line() -> String {
    let quoted = |argument: &OsString| shell_word(&argument.to_string_lossy());
    ARGUMENTS.get().into_iter().flatten().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_are_split_into_the_same_words() {
        let line = ["a", "", "it's", "two words", "\\", "''", "$x*", "-k=3"];
        let quoted: Vec<String> = line.iter().map(|word| shell_word(word)).collect();
        assert_eq!(words(&quoted.join(" ")), line);
    }
}
