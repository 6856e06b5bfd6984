//! Writes any bytes as JSON strings.

use std::io::{self, Write};

/// Writes `bytes` as a JSON string. A byte that is not part of valid UTF-8 becomes `\x` and two
/// hexadecimal digits, for example `\xff`. A JSON parser returns these four characters instead of
/// the byte.
///
/// # Errors
///
/// Writing to `out` fails.
pub fn write_string<W: Write + ?Sized>(out: &mut W, bytes: &[u8]) -> io::Result<()> {
    out.write_all(b"\"")?;
    if bytes.iter().fold(true, |plain, &byte| plain & is_plain(byte)) {
        // Most names of files and IDs are like this. The loop looks at all bytes, because a loop
        // without an exit becomes vector code.
        out.write_all(bytes)?;
        return out.write_all(b"\"");
    }
    for chunk in bytes.utf8_chunks() {
        write_escaped(out, chunk.valid().as_bytes())?;
        for byte in chunk.invalid() {
            // JSON has no escape for a single byte. The doubled backslash keeps the string valid,
            // and a person can still read the byte.
            write!(out, "\\\\x{byte:02x}")?;
        }
    }
    out.write_all(b"\"")
}

/// Returns whether `byte` is ASCII and needs no escape in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii() && !needs_escape(byte)
}

/// Returns whether `byte` must be escaped. RFC 8259, section 7, requires it for quotes, backslashes
/// and control characters. DEL is also escaped, because terminals treat it as a control character.
fn needs_escape(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\' || byte == 0x7F
}

fn write_escaped<W: Write + ?Sized>(out: &mut W, text: &[u8]) -> io::Result<()> {
    let mut from = 0;
    for (at, &byte) in text.iter().enumerate() {
        if !needs_escape(byte) {
            continue;
        }
        out.write_all(&text[from..at])?;
        from = at + 1;
        match byte {
            b'"' => out.write_all(b"\\\"")?,
            b'\\' => out.write_all(b"\\\\")?,
            b'\n' => out.write_all(b"\\n")?,
            b'\r' => out.write_all(b"\\r")?,
            b'\t' => out.write_all(b"\\t")?,
            _ => write!(out, "\\u{byte:04x}")?,
        }
    }
    out.write_all(&text[from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: &str) {
        let mut out = Vec::new();
        write_string(&mut out, bytes).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn everything_becomes_a_string() {
        check(b"", r#""""#);
        check("a\u{e9}\u{1F600}".as_bytes(), "\"a\u{e9}\u{1F600}\"");
        check(b"\"\\/\n\r\t\0\x1B\x7F", r#""\"\\/\n\r\t\u0000\u001b\u007f""#);
        check(b"a\xFFb\xE2\x82", r#""a\\xffb\\xe2\\x82""#);
    }

    #[test]
    fn ascii_is_written_alike_alone_and_next_to_other_characters() {
        for byte in 0..=0x7F_u8 {
            let text = |before: &str| {
                let mut out = Vec::new();
                write_string(&mut out, &[before.as_bytes(), &[byte]].concat()).unwrap();
                String::from_utf8(out).unwrap()
            };
            // A text with another character takes the slow way.
            assert_eq!(text("\u{e9}"), format!("\"\u{e9}{}", &text("")[1..]));
        }
    }
}
