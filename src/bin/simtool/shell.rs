//! Command lines as a shell reads and writes them.

use simtool::shell_word::shell_word;
use std::ffi::OsString;
use std::sync::OnceLock;

/// The words of a command line of quoted words.
pub(crate) fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let (mut word, mut is_begun, mut is_quoted) = (String::new(), false, false);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' => (is_quoted, is_begun) = (!is_quoted, true),
            '\\' if !is_quoted => word.extend(characters.next()),
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

/// What the program was called with, its own name first.
static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Keeps what the program was called with, for [`command_line`].
pub(crate) fn keep(arguments: Vec<OsString>) -> &'static [OsString] {
    ARGUMENTS.get_or_init(|| arguments)
}

/// What the program was called with, quoted so that a shell runs it again.
pub(crate) fn command_line() -> String {
    let quoted = |argument: &OsString| shell_word(&argument.to_string_lossy());
    ARGUMENTS.get().into_iter().flatten().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_comes_back() {
        let line = ["a", "", "it's", "two words", "\\", "''", "$x*", "-k=3"];
        let quoted: Vec<String> = line.iter().map(|word| shell_word(word)).collect();
        assert_eq!(words(&quoted.join(" ")), line);
    }
}
