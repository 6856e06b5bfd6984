//! Writes fields of tab-separated lines.

use simtool_base::byte_text::byte_text;
use std::io::{self, Write};

/// Writes one field. Tabs, line ends and backslashes are escaped with a backslash. A byte that is not UTF-8
/// becomes `\x` and two hexadecimal digits, for example `\xff`.
///
/// # Errors
///
/// `out` fails.
///
/// ```
/// let mut out = Vec::new();
/// simtool::write::tsv_field::write_field(&mut out, b"two\tfields")?;
/// assert_eq!(out, b"two\\tfields");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_field(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    for chunk in bytes.utf8_chunks() {
        write_text(out, chunk.valid())?;
        out.write_all(byte_text(chunk.invalid()).as_bytes())?;
    }
    Ok(())
}

fn write_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut rest = text;
    while let Some(at) = rest.find(['\t', '\n', '\r', '\\']) {
        out.write_all(&rest.as_bytes()[..at])?;
        out.write_all(match rest.as_bytes()[at] {
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            _ => b"\\\\",
        })?;
        // All four characters are one byte long, so the next byte is a character boundary.
        rest = &rest[at + 1..];
    }
    out.write_all(rest.as_bytes())
}

/// Returns a field that [`write_field`] wrote, without its escapes.
#[must_use]
pub(crate) fn read_field(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        let next = if character == '\\' { characters.clone().next() } else { None };
        let read = match next {
            Some('t') => '\t',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('\\') => '\\',
            // A byte that is not UTF-8 is written as in all outputs.
            _ => {
                text.push(character);
                continue;
            }
        };
        text.push(read);
        characters.next();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_has_no_tab_and_no_line_end() {
        let mut out = Vec::new();
        write_field(&mut out, b"a\tb\\c\r\nd \xFFe").unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\\tb\\\\c\\r\\nd \\xffe");
        assert_eq!(read_field("a\\tb\\\\c\\r\\nd \\xffe\\"), "a\tb\\c\r\nd \\xffe\\");
    }
}
