//! Texts without their middle, for places with little room.

use simtool_base::byte_text::byte_text;

/// Result of [`shortened`]: a text, and whether its middle part was left out because the text was too long.
pub(in crate::write) struct Shortened {
    pub(in crate::write) text: String,
    pub(in crate::write) is_cut: bool,
}

/// Shortens a text to at most `most` characters. If the text is too long, its middle part is left out.
pub(in crate::write) fn shortened(text: &[u8], most: usize) -> Shortened {
    // Only the ends of a very long text are decoded, to save time. `most` characters have at most four times
    // as many bytes.
    let end = 4 * most.max(1);
    let whole = if text.len() > 2 * end {
        byte_text(&text[..end]) + byte_text(&text[text.len() - end..])
    } else {
        byte_text(text)
    };
    if whole.chars().nth(most).is_none() {
        return Shortened { text: whole.into_owned(), is_cut: false };
    }
    let kept = most.saturating_sub(1);
    let before = whole.chars().take(kept - kept / 2);
    let behind: Vec<char> = whole.chars().rev().take(kept / 2).collect();
    let text = before.chain(['\u{2026}']).chain(behind.into_iter().rev()).collect();
    Shortened { text, is_cut: true }
}
