//! The part of an HTML page whose text is compared.

use crate::title_words::TitleWords;
use std::ops::AddAssign;

/// The part of an HTML page whose text is compared as the text of the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageText {
    /// The whole text of the page, because the user chose this.
    All,
    /// The main content, without menus, headers and footers.
    Main,
    /// The main content, although it has only a small share of the visible letters of the page.
    Little,
    /// The whole text, because the page has no recognizable main content.
    Whole,
    /// The text of the element `<noscript>`, because the page has little other text.
    NoScript,
    /// The main content including hidden elements, because most of the text is in them.
    Hidden,
}

impl PageText {
    /// All parts, in the order in which they are shown.
    pub const ALL: [Self; 6] =
        [Self::All, Self::Main, Self::Little, Self::Whole, Self::NoScript, Self::Hidden];

    /// Returns the name of the part in outputs, for example `main`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Main => "main",
            Self::Little => "little",
            Self::Whole => "whole",
            Self::NoScript => "noscript",
            Self::Hidden => "hidden",
        }
    }
}

/// Returns the number of words of a text. A word is a run of bytes that are not ASCII white space.
///
/// ```
/// assert_eq!(simtool_model::page_text::count_words(b" one, two\nthree "), 3);
/// ```
#[must_use]
pub fn count_words(text: &[u8]) -> u32 {
    // The words of every page are counted. Without branches, several bytes are compared at the same time.
    let begins = |(before, byte): (&u8, &u8)| {
        u32::from(before.is_ascii_whitespace()) & u32::from(!byte.is_ascii_whitespace())
    };
    let behind = text.get(1..).unwrap_or_default();
    let begins: u32 = text.iter().zip(behind).map(begins).sum();
    begins + u32::from(text.first().is_some_and(|first| !first.is_ascii_whitespace()))
}

/// Facts about an HTML page from which the text of a document was extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtractedPage {
    /// Part of the page that is the text of the document.
    pub part: PageText,
    /// Hash of the first line of the whole text of the page. This line is the title of the page if it has one.
    pub title: u64,
    /// Words of the first line of the whole text of the page.
    pub title_words: TitleWords,
    /// Number of words of the page that are not in the text of the document.
    pub left_out_words: u32,
}

/// Counts of pages by the part of the page that is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageTextCounts([u64; PageText::ALL.len()]);

impl PageTextCounts {
    /// Creates the value from the number of pages for each part, in the order of [`PageText::ALL`].
    #[must_use]
    pub fn from_counts(counts: [u64; PageText::ALL.len()]) -> Self {
        Self(counts)
    }

    /// Counts a document if it is a page. `page` is `None` for other documents.
    pub fn count(&mut self, page: Option<&ExtractedPage>) {
        if let Some(page) = page {
            self.0[page.part as usize] += 1;
        }
    }

    /// Returns the number of pages whose compared text is this part of the page.
    ///
    /// ```
    /// use simtool_model::page_text::{ExtractedPage, PageText, PageTextCounts};
    /// use simtool_model::title_words::TitleWords;
    ///
    /// let title_words = TitleWords::default();
    /// let mut counts = PageTextCounts::default();
    /// let page = ExtractedPage { part: PageText::Hidden, title: 0, title_words, left_out_words: 0 };
    /// counts.count(Some(&page));
    /// assert_eq!((counts.of(PageText::Hidden), counts.of(PageText::Whole)), (1, 0));
    /// ```
    #[must_use]
    pub fn of(&self, part: PageText) -> u64 {
        self.0[part as usize]
    }
}

impl AddAssign for PageTextCounts {
    fn add_assign(&mut self, more: Self) {
        for (count, more) in self.0.iter_mut().zip(more.0) {
            *count += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_parts_between_white_space() {
        for number in 0..7_usize.pow(5) {
            let byte = |place: u32| b"a\xC3\x0B \t\n\r"[number / 7_usize.pow(place) % 7];
            let text: Vec<u8> = (0..5).map(byte).collect();
            for text in [&text[..], &text[..1], &[]] {
                let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                assert_eq!(count_words(text) as usize, words.count(), "{text:?}");
            }
        }
    }
}
