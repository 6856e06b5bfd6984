//! The byte order mark at the start of a text in UTF-8.

/// Returns the bytes of a file without the byte order mark at the start, if there is one.
#[must_use]
pub fn without_byte_order_mark(file: &[u8]) -> &[u8] {
    file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file)
}

/// Returns the number of bytes of the byte order mark at the start of a file, or 0 if there is none.
pub(crate) fn byte_order_mark_length(file: &[u8]) -> usize {
    file.len() - without_byte_order_mark(file).len()
}
