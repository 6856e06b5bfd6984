//! Cuts texts into pieces. A piece and all data that is computed from it are small enough to stay
//! in the caches.

use simtool_kernels::word_masks::MAX_TEXT;

/// Approximate number of bytes in a piece.
pub(super) const PIECE_BYTES: usize = 32 << 10;

/// Cuts a text into pieces of about [`PIECE_BYTES`] bytes. Each piece except the first begins with white space, because
/// neither normalization nor word rules depend on text on both sides of such a position. A piece is never longer than
/// [`MAX_TEXT`] bytes, even if there is no white space.
pub(super) fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    pieces_of(text, PIECE_BYTES)
}

/// Cuts a text into pieces of about `bytes` bytes, by the rules of [`pieces`].
pub(super) fn pieces_of(mut text: &[u8], bytes: usize) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let piece;
        (piece, text) = text.split_at(piece_end(text, bytes));
        Some(piece)
    })
}

/// Returns the length in bytes of the first piece of a text.
///
/// The piece ends before the last white space within `bytes` bytes. If there is none, it ends before the first white
/// space after them, but after at most [`MAX_TEXT`] bytes.
fn piece_end(text: &[u8], bytes: usize) -> usize {
    if text.len() <= bytes {
        return text.len();
    }
    let before = text[1..bytes].iter().rposition(|&byte| is_white(byte)).map(|at| at + 1);
    let after = || text[bytes..].iter().position(|&byte| is_white(byte)).map(|at| at + bytes);
    before.or_else(after).unwrap_or(text.len()).min(MAX_TEXT)
}

/// Returns whether `byte` is ASCII white space. Texts may be cut before white space, because neither normalization nor
/// word rules depend on text on both sides of that position.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
