//! Facts about the text of each document that the output `documents` shows.

use super::stored_bytes::{BytesReader, BytesWriter};
use crate::cluster::Cluster;
use crate::method::{DocumentTerms, Fitted, Method, TermScratch};
use simtool_base::stable_hash::hash;
use simtool_kernels::Isa;
use simtool_model::document::Document;
use simtool_model::page_text::PageText;

/// Facts about the text of each document, such as its number of tokens. The lists are empty if the facts are not
/// collected.
#[derive(Clone, Debug, Default)]
pub struct TextFacts {
    token_counts: Vec<u32>,
    hashes: Vec<u64>,
    /// For each document, the part of its web page that was taken as its text, as an index in [`PageText::ALL`].
    contents: Vec<u8>,
    left_out_words: Vec<u32>,
}

impl TextFacts {
    /// Adds the facts about the text of the next document. `tokens` is its number of tokens.
    pub(super) fn push(&mut self, document: &Document<'_>, tokens: u32) {
        self.token_counts.push(tokens);
        self.hashes.push(hash(document.text));
        self.contents.push(document.content() as u8);
        self.left_out_words.push(document.left_out_words());
    }

    /// Appends the facts about the documents that follow these documents.
    pub(super) fn append(&mut self, more: Self) {
        self.token_counts.extend(more.token_counts);
        self.hashes.extend(more.hashes);
        self.contents.extend(more.contents);
        self.left_out_words.extend(more.left_out_words);
    }

    /// Returns the number of bytes of memory that the facts take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.token_counts[..])
            + size_of_val(&self.hashes[..])
            + size_of_val(&self.contents[..])
            + size_of_val(&self.left_out_words[..])
    }

    /// Appends the facts to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        out.numbers(self.token_counts.iter().copied().map(u64::from));
        out.numbers(self.hashes.iter().copied());
        out.numbers(self.contents.iter().copied().map(u64::from));
        out.numbers(self.left_out_words.iter().copied().map(u64::from));
    }

    /// Reads the facts that [`store`](Self::store) has appended. Returns `None` if the bytes do not begin with such
    /// facts.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let token_counts = from.list(BytesReader::short_number)?;
        let hashes = from.list(BytesReader::number)?;
        let content = |from: &mut BytesReader<'_>| {
            let content = u8::try_from(from.number()?).ok()?;
            (usize::from(content) < PageText::ALL.len()).then_some(content)
        };
        let contents = from.list(content)?;
        let left_out_words = from.list(BytesReader::short_number)?;
        Some(Self { token_counts, hashes, contents, left_out_words })
    }

    /// Collects the facts about `texts`, such as their numbers of tokens. The texts are cut into tokens by the rules of
    /// `method`.
    #[must_use]
    pub fn of_texts(texts: &[&[u8]], method: &Method, isa: Isa) -> Self {
        let recipe = method.recipe();
        let terms = if recipe.sketch().is_some() { recipe.terms() } else { method.compared() };
        // Tokens depend on no learned data.
        let terms = DocumentTerms::new(terms, &Fitted::Nothing, isa);
        let mut scratch = TermScratch::default();
        let mut facts = Self::default();
        for text in texts {
            terms.find_of_tokens(text, &mut scratch);
            facts.push(&Document::new(text), scratch.token_count());
        }
        facts
    }

    /// Returns a hash of the bytes of each text. The list is empty if the facts were not collected.
    #[must_use]
    pub fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Returns the number of tokens of each document. The list is empty if they were not counted.
    #[must_use]
    pub fn token_counts(&self) -> &[u32] {
        &self.token_counts
    }

    /// Returns the part of a web page that was taken as the text of the document `row`. `None` if the facts were not
    /// collected.
    pub(crate) fn content(&self, row: u32) -> Option<PageText> {
        self.contents.get(row as usize).map(|&content| PageText::ALL[usize::from(content)])
    }

    /// Returns for each document the number of words that are not in its text. They are in other parts of a web page,
    /// or in lines that many documents have. The list is empty if these words were not counted.
    pub(crate) fn left_out_words(&self) -> &[u32] {
        &self.left_out_words
    }

    /// Returns for each document how many documents of its cluster have the same text. The document itself counts, too,
    /// so the number is 1 for a document without copies or in no cluster. `lengths` has the number of bytes of each
    /// text. The list is empty if the facts were not collected.
    #[must_use]
    pub fn exact_copies(&self, lengths: &[u32], clusters: &[Cluster<'_>]) -> Vec<u32> {
        let mut copies = vec![1; self.hashes.len()];
        if copies.is_empty() {
            return copies;
        }
        // Only texts of one cluster are compared. Their 64-bit hashes and their lengths are enough to distinguish them
        // in practice.
        let text = |row: u32| (self.hashes[row as usize], lengths[row as usize]);
        // Sorting puts equal texts next to each other, also in a cluster of millions of documents.
        let mut rows = Vec::new();
        for cluster in clusters {
            rows.clear();
            rows.extend(cluster.rows());
            rows.sort_unstable_by_key(|&row| text(row));
            for equal in rows.chunk_by(|&a, &b| text(a) == text(b)) {
                for &row in equal {
                    copies[row as usize] = equal.len() as u32;
                }
            }
        }
        copies
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Removal, clusters};
    use simtool_model::page_text::ExtractedPage;
    use simtool_model::title_words::TitleWords;

    #[test]
    fn copies_are_counted_in_each_cluster() {
        let texts = ["a", "b", "a", "a", "b", "c", "a", ""];
        let mut facts = TextFacts::default();
        for text in texts {
            facts.push(&Document::new(text.as_bytes()), text.len() as u32);
        }
        let removal = |row, kept| Removal { row, kept, closeness: None };
        let removals = [removal(1, 0), removal(2, 0), removal(4, 0), removal(5, 3), removal(6, 3)];
        let lengths = texts.map(|text| text.len() as u32);
        let clusters = clusters(&removals);
        assert_eq!(facts.exact_copies(&lengths, &clusters), [2, 2, 2, 2, 2, 1, 2, 1]);
        assert_eq!(facts.token_counts(), lengths);
        let mut twice = facts.clone();
        twice.append(facts);
        let title_words = TitleWords::default();
        let page =
            ExtractedPage { part: PageText::Hidden, title: 0, title_words, left_out_words: 5 };
        twice.push(&Document { page_text: Some(&page), ..Document::new(b"page") }, 1);
        assert_eq!(
            (twice.content(0), twice.content(16)),
            (Some(PageText::All), Some(PageText::Hidden))
        );
        assert_eq!(twice.left_out_words()[15..], [0, 5]);
        assert_eq!(twice.bytes(), 17 * 17);
        let mut out = BytesWriter::default();
        twice.store(&mut out);
        let bytes = out.into_bytes();
        let restored = TextFacts::restore(&mut BytesReader::new(&bytes)).unwrap();
        assert_eq!((restored.token_counts, restored.hashes), (twice.token_counts, twice.hashes));
        assert_eq!(
            (restored.contents, restored.left_out_words),
            (twice.contents, twice.left_out_words)
        );
    }
}
