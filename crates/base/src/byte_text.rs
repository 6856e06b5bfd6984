//! Bytes that may not be UTF-8, such as the name of a file, as text.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Returns bytes as text. A byte that is not part of valid UTF-8 becomes `\x` and two hexadecimal digits, for example
/// `\xff`. All outputs write file names and IDs in this way.
///
/// ```
/// use simtool_base::byte_text::byte_text;
///
/// assert_eq!(byte_text(b"in/b\xffad.txt"), "in/b\\xffad.txt");
/// ```
#[must_use]
pub fn byte_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Writing to a string cannot fail.
        let _ = chunk.invalid().iter().try_for_each(|byte| write!(text, "\\x{byte:02x}"));
    }
    Cow::Owned(text)
}

/// Returns the path of a file as text, in the form of [`byte_text`].
#[must_use]
pub fn path_text(path: &Path) -> Cow<'_, str> {
    byte_text(path.as_os_str().as_encoded_bytes())
}

/// Returns the path that [`path_text`] has written as `text`. For example, the four characters `\xff` become the byte
/// FF. Returns `None` if `text` has no such escapes. The path is then `text` itself.
#[must_use]
pub fn path_with_bytes(text: &str) -> Option<PathBuf> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = rest.get(at + 2..at + 4).unwrap_or_default();
        match u8::from_str_radix(digits, 16) {
            // A byte below 0x80 is an ASCII character, which `byte_text` never escapes.
            Ok(byte) if !byte.is_ascii() => {
                bytes.push(byte);
                rest = &rest[at + 4..];
            }
            _ => {
                bytes.extend_from_slice(b"\\x");
                rest = &rest[at + 2..];
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    // A text may contain `\x` and digits by chance. Only a text that `byte_text` writes again has escaped bytes.
    let is_written = bytes.len() < text.len() && byte_text(&bytes) == text;
    if is_written { os_string(bytes).map(PathBuf::from) } else { None }
}

/// Returns the path of the file that a user names by `text`, or `None` if there is no such file. In `text`, bytes of
/// the path that are not UTF-8 are written as by [`path_text`].
#[must_use]
pub fn existing_file(text: &str) -> Option<PathBuf> {
    let as_written = Some(PathBuf::from(text)).filter(|path| path.is_file());
    as_written.or_else(|| path_with_bytes(text).filter(|path| path.is_file()))
}

/// Returns the string of the operating system whose [`as_encoded_bytes`](std::ffi::OsStr::as_encoded_bytes) are
/// `bytes`. Returns `None` if the system has no such string.
#[must_use]
pub fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    #[cfg(unix)]
    let string = Some(std::os::unix::ffi::OsStringExt::from_vec(bytes));
    #[cfg(not(unix))]
    let string = String::from_utf8(bytes).ok().map(OsString::from);
    string
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_bytes_is_unchanged_where_it_is_text() {
        for (bytes, text) in [
            (&b""[..], ""),
            ("a\u{e9}\\xff".as_bytes(), "a\u{e9}\\xff"),
            (b"\xffa\xe2\x82", "\\xffa\\xe2\\x82"),
            (b"a\xc3\xa9\xff", "a\u{e9}\\xff"),
        ] {
            assert_eq!(byte_text(bytes), text);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_is_found_again_by_its_text() {
        for bytes in [&b"\xff"[..], b"a/\xe2\x82\\b\xfe", b"\\x\xff\\x4", b"\xc3\xa9\xc3"] {
            let path = PathBuf::from(os_string(bytes.to_vec()).unwrap());
            assert_eq!(path_with_bytes(&path_text(&path)), Some(path));
        }
    }

    #[test]
    fn a_text_without_bytes_names_itself() {
        // The last text has the escapes of two bytes that together are valid UTF-8, so no output writes it.
        for text in
            ["", "a/b", "a\\x", "\\x4", "\\x41", "\\xfg", "\\xFF", "\\x\u{e9}", "\\xc3\\xa9"]
        {
            assert_eq!(path_with_bytes(text), None, "{text}");
        }
        assert_eq!(existing_file("no\\xff/such.txt"), None);
    }
}
