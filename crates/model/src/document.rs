//! Documents and records, borrowed from a reader, and the lists of document IDs that outputs need.

use crate::document_id::DocumentId;
use crate::non_document::NonDocument;
use crate::page_text::{ExtractedPage, PageText};
use crate::record_digest::RecordDigest;
use crate::title_words::PageName;
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::hash;
use std::borrow::Cow;

/// Index of a document in reading order, from 0. The index counts the documents of all files of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocOrdinal(pub u32);

impl DocOrdinal {
    /// Returns the index of the document as `usize`.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A record of an input file, such as a line. A reader passes it to a callback, and it can be used
/// only during that call.
///
/// Records divide a file without gaps. So the [`bytes`](Self::bytes) of all records in reading
/// order make up the decompressed file, except where the file is damaged. If a record is too long
/// to be in memory as a whole, its `bytes` are empty, and the reader passes the bytes on in chunks
/// before the record. `bytes` are also empty in formats that are not a sequence of records of
/// bytes, such as Parquet.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Index of the record in its shard, from 0. A shard is a file or a part of a large file. Some records, such as
    /// header rows, are not counted and have the index of the next counted record. To get the index of a record in its
    /// file, add the numbers of counted records in the earlier shards of the file.
    pub number: u64,
    /// Byte offset of the record in the decompressed file.
    pub byte: u64,
    /// The bytes of the record in the input, including the separator at the end. They are empty if the format is not a
    /// sequence of records of bytes. They are also empty if the reader passed them on in chunks, as it does for
    /// [`Content::Bad`] with code `oversize` and for a record after damage.
    pub bytes: &'a [u8],
    /// Hash that [`content_hash`](Self::content_hash) returns, if the record comes from memory. Its bytes were not kept
    /// there, so the hash was stored instead. Readers of files set it to `None`.
    pub known_hash: Option<u64>,
    /// The document in the record, or the reason why there is none.
    pub content: Content<'a>,
}

impl Record<'_> {
    /// Returns a hash with which a later reading can check that the record has not changed. It is the hash of the bytes
    /// of the record. If the record is a row of a table without bytes, it is the hash of the text. Returns `None` for
    /// such a row if lines were left out of its text, because the later reading does not leave them out.
    #[must_use]
    pub fn content_hash(&self) -> Option<u64> {
        let bytes = match self.content {
            _ if self.known_hash.is_some() => return self.known_hash,
            _ if !self.bytes.is_empty() => self.bytes,
            Content::Document(document) if document.left_out > 0 => return None,
            Content::Document(document) => document.text,
            _ => &[],
        };
        Some(hash(bytes))
    }
}

/// The content of a record.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that is not meant to be a document, for example a blank line or a header row. If simtool writes a copy
    /// of the file without duplicates, the copy contains this record.
    PassThrough,
    /// A record of a web archive that has no text to compare. A copy of the file without duplicates contains it, and
    /// the summary counts it.
    NonDocument(NonDocument),
    /// A document that the user's selection excludes, for example because its text is too short. It is not compared,
    /// and a copy of the file without duplicates contains it.
    PassedOver,
    /// A record that should have been a document but is damaged. It is counted, and listed in the
    /// output `quarantine.jsonl`.
    Bad(&'a Bad),
}

/// Maximum number of fields of a document, such as a date, that a comparison uses in addition to its text and its ID.
pub const MOST_FIELDS: usize = 4;

/// Values of the fields that a comparison uses, exactly as in the input. A value is `None` if the document lacks the
/// field. The elements after the last used field are `None`, too.
pub type FieldValues<'a> = [Option<&'a [u8]>; MOST_FIELDS];

/// A document, borrowed from its file or from a reader's scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// ID of the document in its file. It is never empty. `None` if the document has no ID.
    pub id: Option<DocumentId<'a>>,
    /// Text of the document. It is valid UTF-8 if the input is.
    pub text: &'a [u8],
    /// Values of the fields that decide which documents are compared, and which of several similar documents is kept.
    /// They are in the order of the selectors that the reader got.
    pub fields: FieldValues<'a>,
    /// Code of a defect that the reader repaired in the document, or `None`. The summary counts these documents. With
    /// `utf8`, bytes that are not UTF-8 were replaced by U+FFFD, at most one character in a hundred. With `http-body`,
    /// a malformed HTTP body was used as it is. With `xml-reference`, unknown XML references are text.
    pub repaired: Option<&'static str>,
    /// Facts about the HTML page from which the text was extracted. `None` if the document is not a page.
    pub page_text: Option<&'a ExtractedPage>,
    /// Number of bytes of the document that are not in `text`, because they are in lines that many documents have.
    pub left_out: usize,
    /// Number of words of the document that are not in `text`, because they are in lines that many documents have.
    pub words_of_lines: u32,
    /// Number of list elements in which the selector of the text found no text, for example images among the parts of a
    /// message. `text` does not contain them.
    pub skipped_elements: u32,
    /// Hash of the lines of the document that are not in many documents. It is set only if some lines are in many
    /// documents, but the other lines have too few words to be compared alone. Then `text` is the whole text. `None`
    /// for all other documents.
    pub few_own: Option<u64>,
    /// Words of the title of a page that distinguish it from other pages of its site. `None` if they are not known.
    pub name: Option<&'a PageName>,
}

impl<'a> Document<'a> {
    /// Creates a document that has only a text.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            id: None,
            text,
            fields: [None; MOST_FIELDS],
            repaired: None,
            page_text: None,
            left_out: 0,
            words_of_lines: 0,
            skipped_elements: 0,
            few_own: None,
            name: None,
        }
    }

    /// Returns the part of the HTML page that is used as the text of the document. Returns [`PageText::All`] if the
    /// document is not a page.
    #[must_use]
    pub fn content(&self) -> PageText {
        self.page_text.map_or(PageText::All, |page| page.part)
    }

    /// Returns the number of words of the document that are not in `text`: words of other parts of the page, and of
    /// lines that many documents have.
    #[must_use]
    pub fn left_out_words(&self) -> u32 {
        self.page_text.map_or(0, |page| page.left_out_words) + self.words_of_lines
    }
}

/// The reason why a record could not be read as a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Stable name of the fault, such as `json` or `warc-length`.
    pub code: &'static str,
    /// Description of a valid record, or of the missing part of the record. Error messages print it
    /// after the word "expected".
    pub expected: Cow<'static, str>,
    /// Length of the record in bytes, even if [`Record::bytes`] is empty.
    pub length: u64,
}

impl Bad {
    /// Value of `code` for a record that lacks the field with the text. All formats with fields use it.
    pub const NO_TEXT: &'static str = "text-field";
    /// Value of `code` for a record that is longer than allowed. All formats use it.
    pub const OVERSIZE: &'static str = "oversize";
    /// Value of `code` for each further line of a table row that cannot be read, after the first line. The lines are
    /// separate bad records, because the end of the row is not known.
    pub const PART: &'static str = "part";

    /// Creates the fault of a record that lacks the field with the text. `length` is the length of the record in bytes.
    /// No memory is allocated, because every record of a file may have this fault.
    #[must_use]
    pub fn no_text(length: u64) -> Self {
        let expected = Cow::Borrowed("a text in the field that `text_field` names");
        Self { code: Self::NO_TEXT, expected, length }
    }

    /// Returns the value of `expected` for a record that is longer than `longest` bytes.
    #[must_use]
    pub fn at_most(longest: usize) -> Cow<'static, str> {
        format!("at most {longest} bytes (`max_record`)").into()
    }
}

/// Position of a record in the corpus: the index of its file, and its index in that file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Index of the file in reading order, from 0.
    pub file: u32,
    /// Index of the record in its file, from 0.
    pub record: u64,
}

/// Bit of an end offset in [`ShardIds`] that marks the ID of a document as a number.
const IS_NUMBER: u64 = 1 << 63;

/// Record indexes and IDs of the documents of one shard, in reading order. A shard is a file or a part of a large file.
///
/// As long as no document has an ID, documents take no memory. From the first ID on, each document takes 8 bytes and
/// the length of its ID. After the first record that is not a document, each document takes 4 more bytes.
#[derive(Clone, Debug)]
pub struct ShardIds {
    file: u32,
    /// Number of documents so far.
    count: u32,
    /// Number of records of the shard; 0 until [`ShardIds::close`] sets it.
    record_count: u64,
    /// Record indexes of the documents, from the first document on whose record index differs from its index among the
    /// documents. For earlier documents the two indexes are equal.
    sparse_records: Vec<u32>,
    /// End offset in `ids` of the ID of each document, from the first document with an ID on. The bit [`IS_NUMBER`] is
    /// set if the ID is a number.
    ends: Vec<u64>,
    /// Number of documents before the first one with an ID.
    without_id: u32,
    ids: Vec<u8>,
    digest: RecordDigest,
}

impl ShardIds {
    /// Creates an empty list for a shard of the file with index `file`.
    #[must_use]
    pub fn new(file: u32) -> Self {
        Self {
            file,
            count: 0,
            record_count: 0,
            sparse_records: Vec::new(),
            ends: Vec::new(),
            without_id: 0,
            ids: Vec::new(),
            digest: RecordDigest::UNKNOWN,
        }
    }

    /// Adds a document. `record` is the index of its record, as in [`Record::number`], and `id` is its ID, if it has
    /// one.
    ///
    /// # Errors
    ///
    /// The shard has more than 2³² − 1 documents or records.
    pub fn push(&mut self, record: u64, id: Option<DocumentId<'_>>) -> Result<()> {
        let (Ok(record), Some(count)) = (u32::try_from(record), self.count.checked_add(1)) else {
            return Err(too_many_documents());
        };
        // In most files every record is a document, so the record number equals the position and
        // need not be stored. After the first difference every number is stored.
        if !self.sparse_records.is_empty() || record != self.count {
            self.sparse_records.push(record);
        }
        if let Some(id) = id {
            self.ids.extend_from_slice(id.bytes());
        } else if self.ends.is_empty() {
            self.without_id += 1;
        }
        // After the first ID, a document without an ID has an empty range. Readers never return an
        // empty ID, so the two cannot be confused.
        if id.is_some() || !self.ends.is_empty() {
            let is_number = id.is_some_and(DocumentId::is_number);
            self.ends.push(self.ids.len() as u64 | if is_number { IS_NUMBER } else { 0 });
        }
        self.count = count;
        Ok(())
    }

    /// Returns the number of bytes that the content of the list takes in memory.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let numbers = size_of_val(&self.sparse_records[..]) + size_of_val(&self.ends[..]);
        (numbers + self.ids.len()) as u64
    }

    /// Finishes the list: sets the number of records of the shard, and frees unused memory. `record_count` is the
    /// number that the reader of the shard returned.
    pub fn close(&mut self, record_count: u64) {
        self.record_count = record_count;
        self.sparse_records.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.ids.shrink_to_fit();
    }

    /// Sets the digest of all records of the shard.
    pub fn set_digest(&mut self, digest: RecordDigest) {
        self.digest = digest;
    }

    /// Returns the digest of all records of the shard. It is the unknown digest unless [`set_digest`](Self::set_digest)
    /// was called.
    #[must_use]
    pub fn digest(&self) -> RecordDigest {
        self.digest
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the record index and the ID of each document, in reading order.
    pub fn documents(&self) -> impl Iterator<Item = (u64, Option<DocumentId<'_>>)> {
        (0..self.count).map(|at| (self.record(at), self.id(at)))
    }

    /// Returns the number of records, which is 0 until [`ShardIds::close`] is called.
    #[must_use]
    pub fn record_count(&self) -> u64 {
        self.record_count
    }

    fn record(&self, at: u32) -> u64 {
        let dense = self.count - self.sparse_records.len() as u32;
        match at.checked_sub(dense) {
            None => u64::from(at),
            Some(at) => u64::from(self.sparse_records[at as usize]),
        }
    }

    fn id(&self, at: u32) -> Option<DocumentId<'_>> {
        let at = at.checked_sub(self.without_id)? as usize;
        let end = |at: usize| (self.ends[at] & !IS_NUMBER) as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        let id = &self.ids[start..end(at)];
        let is_number = self.ends[at] & IS_NUMBER != 0;
        let id = if is_number { DocumentId::Number(id) } else { DocumentId::Text(id) };
        (!id.bytes().is_empty()).then_some(id)
    }
}

/// File, record index and ID of every document of a corpus, shard by shard.
///
/// # Complexity
///
/// A lookup by [`DocOrdinal`] is a binary search over the shards.
#[derive(Clone, Debug, Default)]
pub struct DocumentIds {
    shards: Vec<ShardIds>,
    /// For each shard, the index of its first document in the corpus. The last element is the number of all documents.
    first_documents: Vec<u32>,
    /// For each shard, the index of its first record within its file.
    first_records: Vec<u64>,
}

impl DocumentIds {
    /// Combines the lists of all shards, which must be in reading order.
    ///
    /// # Errors
    ///
    /// There are more than 2³² − 1 documents.
    pub fn new(shards: Vec<ShardIds>) -> Result<Self> {
        let mut first_documents = Vec::with_capacity(shards.len() + 1);
        let mut first_records = Vec::with_capacity(shards.len());
        let (mut documents, mut records, mut file) = (0_u32, 0_u64, None);
        for shard in &shards {
            // Records are numbered from 0 in each file, but documents over the whole corpus.
            if file != Some(shard.file) {
                (file, records) = (Some(shard.file), 0);
            }
            first_documents.push(documents);
            first_records.push(records);
            documents = documents.checked_add(shard.count).ok_or_else(too_many_documents)?;
            records += shard.record_count;
        }
        first_documents.push(documents);
        Ok(Self { shards, first_documents, first_records })
    }

    /// Returns the number of bytes of memory that the IDs and record numbers of all documents take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.shards.iter().map(ShardIds::bytes).sum()
    }

    /// Returns the list of each shard, in reading order.
    #[must_use]
    pub fn into_shards(self) -> Vec<ShardIds> {
        self.shards
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_documents.last().map_or(0, |&count| count as usize)
    }

    /// Returns whether there are no documents.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether any document has an ID in its file.
    #[must_use]
    pub fn has_any_id(&self) -> bool {
        self.shards.iter().any(|shard| !shard.ids.is_empty())
    }

    /// Returns whether every document has an ID, and each ID is a signed integer of 64 bits.
    #[must_use]
    pub fn are_integers(&self) -> bool {
        let is_integer = |id: Option<DocumentId<'_>>| match id {
            Some(DocumentId::Number(digits)) => {
                str::from_utf8(digits).is_ok_and(|digits| digits.parse::<i64>().is_ok())
            }
            _ => false,
        };
        (0..self.shard_count()).all(|shard| self.ids_of_shard(shard).all(is_integer))
    }

    /// Returns the number of shards.
    #[must_use]
    pub fn shard_count(&self) -> usize {
        self.shards.len()
    }

    /// Returns the first document of the shard with index `shard`. For an empty shard, this is the next document of the
    /// corpus.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn first_of_shard(&self, shard: usize) -> DocOrdinal {
        DocOrdinal(self.first_documents[shard])
    }

    /// Returns the first document after the shard with index `shard`. For the last shard, the index in the result is
    /// the number of all documents.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn end_of_shard(&self, shard: usize) -> DocOrdinal {
        DocOrdinal(self.first_documents[shard + 1])
    }

    /// Returns the digest of the records of the shard with index `shard`.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn digest_of_shard(&self, shard: usize) -> RecordDigest {
        self.shards[shard].digest
    }

    /// Returns the index, in its file, of the first record of the shard with index `shard`.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn first_record_of_shard(&self, shard: usize) -> u64 {
        self.first_records[shard]
    }

    /// Returns the index, in its file, of the first record after the shard with index `shard`. For the last shard of
    /// the file, the result is the number of records in the file.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn end_record_of_shard(&self, shard: usize) -> u64 {
        self.first_records[shard] + self.shards[shard].record_count
    }

    /// Returns the index of a document's file, and the index of its record in that file.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn place(&self, document: DocOrdinal) -> Place {
        let (shard, at) = self.shard_of(document);
        self.place_in(shard, at)
    }

    /// Returns the ID of each document of the shard with index `shard`, in reading order. An ID is `None` if the
    /// document has none.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    pub fn ids_of_shard(&self, shard: usize) -> impl Iterator<Item = Option<DocumentId<'_>>> {
        let part = &self.shards[shard];
        (0..part.count).map(|at| part.id(at))
    }

    /// Returns both the ID and the place of a document, which are found with one search. The ID is `None` if the
    /// document has no ID.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn id_and_place(&self, document: DocOrdinal) -> (Option<DocumentId<'_>>, Place) {
        let (shard, at) = self.shard_of(document);
        (self.shards[shard].id(at), self.place_in(shard, at))
    }

    /// Returns the ID of a document, or `None` if the document has no ID.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn id(&self, document: DocOrdinal) -> Option<DocumentId<'_>> {
        let (shard, at) = self.shard_of(document);
        self.shards[shard].id(at)
    }

    /// Returns the place of the document with index `at` in the shard with index `shard`.
    fn place_in(&self, shard: usize, at: u32) -> Place {
        let part = &self.shards[shard];
        Place { file: part.file, record: self.first_records[shard] + part.record(at) }
    }

    /// Returns the index of the shard that contains a document, and the index of the document in that shard.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn shard_of(&self, document: DocOrdinal) -> (usize, u32) {
        assert!(document.index() < self.len(), "document {document:?} of {}", self.len());
        // The last shard that starts at or before the document: empty ones before it start there
        // too.
        let shard = self.first_documents.partition_point(|&first| first <= document.0) - 1;
        (shard, document.0 - self.first_documents[shard])
    }
}

fn too_many_documents() -> Error {
    Error::config("corpus", "this collection", "must hold fewer than 4294967296 documents")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(file: u32, records: u64, documents: &[(u64, Option<&str>)]) -> ShardIds {
        let mut shard = ShardIds::new(file);
        for &(record, id) in documents {
            let number = id.filter(|id| *id == "12").map(str::as_bytes);
            let id =
                number.map(DocumentId::Number).or(id.map(|id| DocumentId::Text(id.as_bytes())));
            shard.push(record, id).unwrap();
        }
        shard.close(records);
        shard
    }

    #[test]
    fn identities_survive_being_packed() {
        let ids = DocumentIds::new(vec![
            shard(0, 2, &[(0, Some("a")), (1, Some("bc"))]),
            shard(0, 3, &[]),
            shard(0, 4, &[(0, None), (2, Some("12")), (3, Some("d"))]),
            shard(1, 9, &[(7, None), (8, None)]),
        ])
        .unwrap();
        assert_eq!(ids.len(), 7);
        let all: Vec<_> = (0..7)
            .map(|at| {
                let (id, Place { file, record }) = ids.id_and_place(DocOrdinal(at));
                assert_eq!(ids.place(DocOrdinal(at)), Place { file, record });
                assert_eq!(ids.id(DocOrdinal(at)), id);
                (file, record, id)
            })
            .collect();
        let text = |id: &'static str| Some(DocumentId::Text(id.as_bytes()));
        assert_eq!(
            all,
            [
                (0, 0, text("a")),
                (0, 1, text("bc")),
                (0, 5, None),
                (0, 7, Some(DocumentId::Number(b"12"))),
                (0, 8, text("d")),
                (1, 7, None),
                (1, 8, None)
            ]
        );
        assert!(!ids.are_integers());
        let integers = |id| DocumentIds::new(vec![shard(0, 1, &[(0, id)])]).unwrap().are_integers();
        assert!(integers(Some("12")) && !integers(Some("a")) && !integers(None));
        assert_eq!(ids.first_of_shard(2), DocOrdinal(2));
        let shards = (0..ids.shard_count()).flat_map(|shard| ids.ids_of_shard(shard));
        assert!(shards.eq(all.iter().map(|&(_, _, id)| id)));
        assert!(ids.has_any_id());
        assert!(!DocumentIds::new(vec![shard(0, 2, &[(1, None)])]).unwrap().has_any_id());
        assert_eq!(ids.first_record_of_shard(2), 5);
    }

    #[test]
    fn an_empty_corpus_has_no_documents() {
        assert!(DocumentIds::new(Vec::new()).unwrap().is_empty());
        assert!(DocumentIds::default().is_empty());
    }
}
