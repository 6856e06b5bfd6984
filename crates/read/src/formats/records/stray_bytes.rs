//! Bytes that belong to no record: byte order marks inside a file, and padding.
//!
//! A file that was joined from several files has the byte order mark of each of them. Disks and old editors pad a file
//! with zero bytes or the control character Ctrl-Z.

use crate::bytes::byte_order_mark::byte_order_mark_length;
use crate::formats::SplitStep;

/// Counts of byte order marks and bytes of padding that were skipped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StrayBytes {
    marks: u64,
    padding: u64,
}

/// Returns whether files are padded with this byte.
pub(crate) fn is_padding(byte: u8) -> bool {
    matches!(byte, 0 | 0x1A)
}

/// Returns the bytes without the padding at their end.
pub(crate) fn without_padding(bytes: &[u8]) -> &[u8] {
    let padding = bytes.iter().rev().take_while(|&&byte| is_padding(byte)).count();
    &bytes[..bytes.len() - padding]
}

impl StrayBytes {
    /// Counts the padding at the start of `window`, and returns the step that skips it. Returns `None` if there is no
    /// padding, or if bytes other than a line end follow it. `last` means that no bytes follow the window.
    pub(crate) fn padding<'a>(&mut self, window: &[u8], last: bool) -> Option<SplitStep<'a>> {
        let length = window.iter().take_while(|&&byte| is_padding(byte)).count();
        // Only padding up to the end of a line or of the file belongs to no record.
        match window.get(length) {
            _ if length == 0 => return None,
            None if !last => return Some(SplitStep::More),
            None | Some(b'\r' | b'\n') => {}
            Some(_) => return None,
        }
        self.padding += length as u64;
        Some(SplitStep::filler(length))
    }

    /// Counts a byte order mark if `is_inside` is true: if there is a mark, and it is not at the start of a file.
    pub(crate) fn mark(&mut self, is_inside: bool) {
        self.marks += u64::from(is_inside);
    }

    /// Returns a record without the byte order mark at its start and the padding at its end, and counts both.
    /// `is_start` means that the record is at the start of a file, where a byte order mark is usual and does not count.
    pub(crate) fn without<'r>(&mut self, record: &'r [u8], is_start: bool) -> &'r [u8] {
        let mark = byte_order_mark_length(record);
        // The mark at the start of a file is usual, so it needs no warning.
        self.mark(mark > 0 && !is_start);
        let record = &record[mark..];
        let without = without_padding(record);
        self.padding += (record.len() - without.len()) as u64;
        without
    }

    /// Returns the code and the text of a note about the skipped bytes, or `None` if there were none.
    pub(crate) fn note(self) -> Option<(&'static str, String)> {
        let marks = counted(self.marks, "byte order mark", "byte order marks");
        let padding = counted(self.padding, "byte of padding", "bytes of padding");
        let found: Vec<String> = marks.into_iter().chain(padding).collect();
        let verb = if self.marks + self.padding == 1 { "was" } else { "were" };
        let detail = format!("{} between records {verb} passed over", found.join(" and "));
        (!found.is_empty()).then_some(("stray-bytes", detail))
    }
}

/// Returns a number with its noun, or `None` if it is 0.
fn counted(count: u64, one: &str, several: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    }
}

#[cfg(test)]
mod tests {
    use crate::conformance::{gzip, options, read_as};

    #[test]
    fn marks_inside_a_file_and_padding_are_passed_over_with_a_warning() {
        let json = |text: &str| format!("{{\"id\": \"{text}\", \"text\": \"{text}\"}}\n");
        let [a, b] = ["a", "b"].map(json);
        let lines = format!("\u{feff}{a}\u{feff}{b}\0\0\0");
        let table = "\u{feff}id,text\na,a\n\u{feff}b,b\n\0\0\0";
        for (name, content, bad, warned) in [
            ("a.jsonl", lines, 0, 1),
            ("a.jsonl", format!("{a}{}\x1a", b.trim_end()), 0, 1),
            ("a.jsonl", format!("{a}{b}\x1a\r\n"), 0, 1),
            ("a.jsonl", format!("{a}{b}\0{a}"), 1, 0),
            ("a.jsonl", format!("\u{feff}{a}{b}\n"), 0, 0),
            ("a.csv", table.to_owned(), 0, 1),
            ("a.csv", "id,text\na,a\nb,b\n\x1a".to_owned(), 0, 1),
            ("a.csv", "id,text\na,a\nb,b\r\n\0\0\r\n".to_owned(), 0, 1),
            ("a.csv", "id,text\na,a\nb,b\0\0".to_owned(), 0, 1),
            ("a.csv", "\u{feff}id,text\na,a\nb,b\n".to_owned(), 0, 0),
        ] {
            for (name, content) in [
                (name.to_owned(), content.clone().into_bytes()),
                (format!("{name}.gz"), gzip(content.as_bytes())),
            ] {
                let seen = read_as(&name, &content, options(1 << 20));
                let texts = seen.texts();
                assert_eq!(texts[..2], [("a", "a"), ("b", "b")], "{content:?}");
                assert_eq!(
                    (seen.bad.len(), seen.warned.len()),
                    (bad, warned),
                    "{content:?} {:?}",
                    seen.bad
                );
            }
        }
    }
}
