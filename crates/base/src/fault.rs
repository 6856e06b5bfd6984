//! Faults of input files. A fault concerns a whole file or a range of bytes, not just one record.

use crate::byte_text::byte_text;
use std::fmt;
use std::path::PathBuf;

/// Whether a [`Fault`] lost a part of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing was lost, but the user may want to know about the fault.
    Warning,
    /// A file, or a part of a file, was not read. Other files are still read.
    Loss,
}

/// A problem of an input file, or of a range of bytes in it.
///
/// `Display` writes one line that begins with [`Self::code`] in brackets. Names and content from
/// the input are escaped, so that no input can send control characters to a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Whether a part of the input was lost.
    pub severity: Severity,
    /// Name of the kind of fault, such as `truncated` or `corrupt-gzip`. These names never change.
    pub code: &'static str,
    /// Path of the file, in the form in which the user named it.
    pub file: PathBuf,
    /// Byte offset in the file on disk, before decompression, at which the fault was noticed. `None` if the fault has
    /// no place, for example because the file cannot be opened.
    pub byte: Option<u64>,
    /// Description of the fault, its consequence, and advice for the user.
    pub detail: String,
    /// Number of records that were lost by this fault and are not reported one by one as bad records. 0 if this number
    /// is unknown.
    pub lost_records: u64,
}

/// Largest number of characters of the input in a message. A longer text is cut.
const LONGEST_QUOTE: usize = 120;

/// Prepares text from the input for a message: escapes control characters and line ends, and cuts the text after 120
/// characters.
#[must_use]
pub fn quoted(text: &[u8]) -> String {
    // A character of UTF-8 has at most four bytes, so this head is long enough. Escaping a whole
    // record of many megabytes for a few characters would waste time and memory.
    let head = &text[..text.len().min(4 * LONGEST_QUOTE)];
    let mut quoted: String = String::from_utf8_lossy(head)
        .chars()
        .flat_map(char::escape_debug)
        .take(LONGEST_QUOTE)
        .collect();
    // Escapes and replacement characters only make text longer. So a result that is shorter than
    // the head shows that characters were cut.
    if quoted.len() < head.len() || head.len() < text.len() {
        quoted.push('\u{2026}');
    }
    quoted
}

/// Prepares a name from the input for a message: escapes control characters, line ends, and bytes
/// that are not UTF-8. The name is not cut, because a part of a name does not identify a file.
#[must_use]
pub fn escaped(text: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        escaped.extend(chunk.valid().chars().flat_map(char::escape_debug));
        escaped.push_str(&byte_text(chunk.invalid()));
    }
    escaped
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = escaped(self.file.as_os_str().as_encoded_bytes());
        write!(f, "[{}] \"{file}\"", self.code)?;
        if let Some(byte) = self.byte {
            write!(f, " byte {byte}")?;
        }
        write!(f, ": {}", self.detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_harmless_line() {
        let fault = Fault {
            severity: Severity::Loss,
            code: "truncated",
            file: PathBuf::from("a\n\u{1b}]0;x.gz"),
            byte: Some(18184),
            detail: "ends inside a gzip member".to_owned(),
            lost_records: 0,
        };
        assert_eq!(
            fault.to_string(),
            "[truncated] \"a\\n\\u{1b}]0;x.gz\" byte 18184: ends inside a gzip member"
        );
        let long = format!("{}\n.gz", "folder/".repeat(100));
        let shown = Fault { file: PathBuf::from(&long), ..fault }.to_string();
        assert!(shown.contains(&long.replace('\n', "\\n")), "{shown}");
        assert_eq!(quoted(&[b'x'; 500]).chars().count(), 121);
        assert_eq!(quoted(b"abc"), "abc");
        assert_eq!(escaped(b"a\n\xffb"), "a\\n\\xffb");
    }
}
