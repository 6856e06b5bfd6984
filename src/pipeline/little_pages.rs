//! Lists the pages with the most words that are not compared.

use super::stored_bytes::{BytesReader, BytesWriter};
use simtool_model::document::Document;
use simtool_model::page_text::{PageText, count_words};
use std::cmp::Reverse;

/// Maximum number of HTML pages that are listed.
const LISTED: usize = 10;

/// An HTML page whose main content is a small share of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LittlePage {
    /// Number of the document that was made from the page, from 0 in reading order.
    pub(crate) row: u32,
    /// Number of words of the page that are compared.
    pub(crate) words: u32,
    /// Number of words of the page that are not compared.
    pub(crate) left_out_words: u32,
}

/// HTML pages whose main content is a small share of their text. The value holds only the pages with the most words
/// that are not compared.
#[derive(Clone, Debug, Default)]
pub(crate) struct LittlePages {
    /// The pages, with the most words that are not compared first.
    pages: Vec<LittlePage>,
}

impl LittlePages {
    /// Adds the document with number `row`, if it is a page whose main content is a small share of its text.
    pub(super) fn note(&mut self, row: u32, document: &Document<'_>) {
        if document.content() == PageText::Little {
            let words = count_words(document.text);
            self.add(LittlePage { row, words, left_out_words: document.left_out_words() });
        }
    }

    /// Adds `more`, the pages of the documents that follow in reading order. `first` is the number of the first of
    /// these documents in the collection. In `more`, this document has the number 0.
    pub(super) fn append(&mut self, more: Self, first: u32) {
        for page in more.pages {
            self.add(LittlePage { row: first + page.row, ..page });
        }
    }

    fn add(&mut self, page: LittlePage) {
        let order = |page: &LittlePage| (Reverse(page.left_out_words), page.row);
        let at = self.pages.partition_point(|other| order(other) < order(&page));
        self.pages.insert(at, page);
        self.pages.truncate(LISTED);
    }

    /// Returns the pages, with the most words that are not compared first.
    pub(crate) fn as_slice(&self) -> &[LittlePage] {
        &self.pages
    }

    /// Appends the pages to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        let numbers =
            |page: &LittlePage| [page.row, page.words, page.left_out_words].map(u64::from);
        let numbers: Vec<u64> = self.pages.iter().flat_map(numbers).collect();
        out.numbers(numbers.into_iter());
    }

    /// Reads the pages that [`store`](Self::store) has appended. Returns `None` if the bytes do not begin with such
    /// pages.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let numbers = from.list(BytesReader::short_number)?;
        let (pages, []) = numbers.as_chunks() else { return None };
        let page =
            |&[row, words, left_out_words]: &[u32; 3]| LittlePage { row, words, left_out_words };
        Some(Self { pages: pages.iter().map(page).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::page_text::ExtractedPage;
    use simtool_model::title_words::TitleWords;

    #[test]
    fn the_pages_with_the_most_words_left_out_are_listed_whatever_the_shards_are() {
        let note = |pages: &mut LittlePages, row: u32, number: u32| {
            let part = if number.is_multiple_of(3) { PageText::Main } else { PageText::Little };
            let (title_words, left_out_words) = (TitleWords::default(), number * 7 % 50);
            let page = ExtractedPage { part, title: 0, title_words, left_out_words };
            let page_text = Some(&page);
            pages.note(row, &Document { page_text, ..Document::new(b"two words") });
        };
        let mut one = LittlePages::default();
        (0..90).for_each(|row| note(&mut one, row, row));
        let mut merged = LittlePages::default();
        for first in (0..90).step_by(30) {
            let mut shard = LittlePages::default();
            (0..30).for_each(|row| note(&mut shard, row, first + row));
            let mut out = BytesWriter::default();
            shard.store(&mut out);
            let bytes = out.into_bytes();
            merged.append(LittlePages::restore(&mut BytesReader::new(&bytes)).unwrap(), first);
        }
        assert_eq!(merged.as_slice(), one.as_slice());
        let mut all: Vec<(Reverse<u32>, u32)> =
            (0..90).filter(|row| row % 3 != 0).map(|row| (Reverse(row * 7 % 50), row)).collect();
        all.sort_unstable();
        let listed = one.as_slice().iter().map(|page| (Reverse(page.left_out_words), page.row));
        assert!(listed.eq(all.into_iter().take(LISTED)));
        assert!(one.as_slice().iter().all(|page| page.words == 2));
    }
}
