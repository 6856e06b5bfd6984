//! Texts in pieces, which with all that is made of them stay in the caches.

use crate::kernels::word_masks::MAX_TEXT;

/// Bytes of a piece, about.
pub(super) const PIECE_BYTES: usize = 32 << 10;

/// Cuts a text before white space, where neither normalization nor word rules look across.
pub(super) fn pieces(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let piece;
        (piece, text) = text.split_at(piece_end(text));
        Some(piece)
    })
}

/// Where the next piece of a text ends: before a white space, if there is one in time.
fn piece_end(text: &[u8]) -> usize {
    if text.len() <= PIECE_BYTES {
        return text.len();
    }
    let before = text[1..PIECE_BYTES].iter().rposition(|&byte| is_white(byte)).map(|at| at + 1);
    let after =
        || text[PIECE_BYTES..].iter().position(|&byte| is_white(byte)).map(|at| at + PIECE_BYTES);
    before.or_else(after).unwrap_or(text.len()).min(MAX_TEXT)
}

/// Whether neither normalization nor word rules look across the place before this byte.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}
