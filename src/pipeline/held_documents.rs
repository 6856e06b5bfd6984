//! A corpus of single documents in memory, for questions about a few documents of a finished run.

use simtool_base::error::Result;
use simtool_model::document::{Content, Document, MOST_FIELDS, Record};
use simtool_model::document_id::DocumentId;
use simtool_model::page_text::ExtractedPage;
use simtool_model::title_words::PageName;
use simtool_read::{Corpus, Event, Price, Visit};
use std::path::Path;

/// A copy of a document that was read.
#[derive(Clone, Debug)]
pub(crate) struct HeldDocument {
    /// Bytes of the ID of the document, and whether the ID is a number and not a text. `None` if the document has no
    /// ID.
    id: Option<(Vec<u8>, bool)>,
    text: Vec<u8>,
    fields: [Option<Vec<u8>>; MOST_FIELDS],
    page_text: Option<ExtractedPage>,
    left_out: usize,
    words_of_lines: u32,
    few_own: Option<u64>,
    name: Option<PageName>,
}

impl HeldDocument {
    pub(crate) fn of(document: &Document<'_>) -> Self {
        Self {
            id: document.id.map(|id| (id.bytes().to_vec(), id.is_number())),
            text: document.text.to_vec(),
            fields: document.fields.map(|value| value.map(<[u8]>::to_vec)),
            page_text: document.page_text.copied(),
            left_out: document.left_out,
            words_of_lines: document.words_of_lines,
            few_own: document.few_own,
            name: document.name.copied(),
        }
    }

    /// Returns the bytes of the ID of the document. `None` if it has none.
    pub(crate) fn id(&self) -> Option<&[u8]> {
        self.id.as_ref().map(|(id, _)| &id[..])
    }

    /// Returns the text of the document as the run compares it.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the hash of the lines of the document that are not boilerplate, if they have so few words that the whole
    /// text is compared. `None` otherwise.
    pub(crate) fn few_own(&self) -> Option<u64> {
        self.few_own
    }

    /// Returns the own words of the title of a page, which few titles of its site have. Empty if the document has none.
    pub(crate) fn name(&self) -> PageName {
        self.name.unwrap_or_default()
    }

    fn document(&self) -> Document<'_> {
        // Outputs write a number without quotation marks, so the kind of the ID is kept.
        let id = self.id.as_ref().map(|(id, is_number)| {
            if *is_number { DocumentId::Number(id) } else { DocumentId::Text(id) }
        });
        Document {
            id,
            fields: self.fields.each_ref().map(Option::as_deref),
            page_text: self.page_text.as_ref(),
            left_out: self.left_out,
            words_of_lines: self.words_of_lines,
            few_own: self.few_own,
            name: self.name.as_ref(),
            ..Document::new(&self.text)
        }
    }
}

/// A corpus of a few documents. Each document is a shard and a file of its own, so its record has number 0.
#[derive(Debug)]
pub(crate) struct HeldCorpus<'h>(Vec<(&'h Path, &'h HeldDocument)>);

impl<'h> HeldCorpus<'h> {
    /// Creates the corpus of documents, each with the path of its file, in reading order.
    pub(crate) fn new(documents: Vec<(&'h Path, &'h HeldDocument)>) -> Self {
        Self(documents)
    }
}

impl Corpus for HeldCorpus<'_> {
    fn file_count(&self) -> usize {
        self.0.len()
    }

    fn file_name(&self, file: usize) -> &Path {
        self.0[file].0
    }

    fn shard_count(&self) -> usize {
        self.0.len()
    }

    fn shard_file(&self, shard: usize) -> usize {
        shard
    }

    fn shard_bytes(&self, shard: usize) -> u64 {
        self.0[shard].1.text.len() as u64
    }

    fn known_records(&self, _shard: usize) -> Option<u64> {
        Some(1)
    }

    fn price(&self, _shard: usize) -> Price {
        Price::Cheap
    }

    fn read_shard(&self, shard: usize, visit: &mut Visit<'_>) -> Result<u64> {
        let content = Content::Document(self.0[shard].1.document());
        // Records without bytes are compared by their texts.
        visit(Event::Record(Record { number: 0, byte: 0, bytes: &[], known_hash: None, content }))
            .map(|_| 1)
    }
}
