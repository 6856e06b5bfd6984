//! Documents and records as a reader lends them, and the identities that are kept for outputs.

use simtool_base::error::{Error, Result};
use std::borrow::Cow;

/// The number of a document in reading order, from 0, over all files of a corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocOrdinal(pub u32);

impl DocOrdinal {
    /// Returns the number as an index.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A piece of an input file, lent for the time of one call.
///
/// Records cut a file into pieces without gaps. So [`Record::bytes`] of all records in reading order
/// are the decompressed file, except where the file is damaged. A record that is too long to be lent
/// whole has empty bytes, and its bytes are lent in stretches before it. Formats that are not a
/// sequence of bytes, such as Parquet, lend empty bytes.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Number among the counted records of the shard, from 0. A record that is not counted has the
    /// number of the next counted record. Readers return the number of records of each shard. So the
    /// number of a record in its file is this number plus the counts of the file's earlier shards.
    pub number: u64,
    /// Offset of the first byte in the file, after decompression.
    pub byte: u64,
    /// The bytes of the record in the input, with their separator. Empty if the bytes were lent in
    /// stretches ([`Content::Bad`] with code `oversize`, or a record after damage), or if the format is
    /// not a sequence of bytes.
    pub bytes: &'a [u8],
    /// The document in the record, or the reason why there is none.
    pub content: Content<'a>,
}

/// The content of a record.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A document.
    Document(Document<'a>),
    /// A record that is not meant to be a document, for example a blank line, a header row or a
    /// `warcinfo` record. Copies of the file contain it.
    PassThrough,
    /// A document that the selection excludes. It is not compared, and copies of the file contain it.
    PassedOver,
    /// Something that should have been a document: it is quarantined and counted.
    Bad(&'a Bad),
}

/// A document, borrowed from its file or from a reader's scratch memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document<'a> {
    /// ID of the document in its file, not empty. `None` if the document has no ID.
    pub id: Option<&'a [u8]>,
    /// The text. It is UTF-8 if the input is.
    pub text: &'a [u8],
    /// The value of the field that decides which documents are kept, as written, if one was asked
    /// for and the document has it.
    pub field: Option<&'a [u8]>,
    /// Code of something odd that was fixed, to be counted: `utf8` (bytes that are no UTF-8 were
    /// replaced by U+FFFD), `http-body` (a malformed HTTP body was taken as it is).
    pub mended: Option<&'static str>,
}

/// Why a record is no document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Stable name of the fault, such as `json` or `warc-length`.
    pub code: &'static str,
    /// A description of the content that the reader expected there.
    pub expected: Cow<'static, str>,
    /// Length of the record in bytes, also where its bytes are not lent.
    pub length: u64,
}

impl Bad {
    /// Code of a record without the field of the text, in every format with fields.
    pub const NO_TEXT: &'static str = "text-field";

    /// Returns the fault of a record of `length` bytes without the field of the text. It takes no
    /// memory of its own, since every record of a collection may have this fault.
    #[must_use]
    pub fn no_text(length: u64) -> Self {
        let expected = Cow::Borrowed("a text in the field that `text_field` names");
        Self { code: Self::NO_TEXT, expected, length }
    }
}

/// The file and the number of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Number of the file in reading order, from 0.
    pub file: u32,
    /// Number of the record in its file, from 0.
    pub record: u64,
}

/// File, record numbers and IDs of the documents of one shard, in reading order.
///
/// Memory per document: eight bytes and the ID, if the document or an earlier one has an ID. Four bytes
/// more for each document after the first record that is not a document.
#[derive(Clone, Debug)]
pub struct ShardIds {
    file: u32,
    /// Number of documents so far.
    count: u32,
    /// Number of records of the shard; 0 until [`ShardIds::close`] sets it.
    record_count: u64,
    /// Record numbers of the documents, from the first document whose record number differs from its
    /// position among the documents. For earlier documents the two are equal.
    sparse_records: Vec<u32>,
    /// End of each document's ID in `ids`, from the first document that has one.
    ends: Vec<u64>,
    /// Number of documents before the first one with an ID.
    without_id: u32,
    ids: Vec<u8>,
}

impl ShardIds {
    /// Creates an empty list for a shard of file number `file`.
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
        }
    }

    /// Adds the document of record `record`, a number within the shard as in [`Record::number`].
    ///
    /// # Errors
    ///
    /// The shard has more than 2³² − 1 documents or records.
    pub fn push(&mut self, record: u64, id: Option<&[u8]>) -> Result<()> {
        let (Ok(record), Some(count)) = (u32::try_from(record), self.count.checked_add(1)) else {
            return Err(too_many_documents());
        };
        // In most files every record is a document, so the record number equals the position and
        // need not be stored. After the first difference every number is stored.
        if !self.sparse_records.is_empty() || record != self.count {
            self.sparse_records.push(record);
        }
        if let Some(id) = id {
            self.ids.extend_from_slice(id);
        } else if self.ends.is_empty() {
            self.without_id += 1;
        }
        // After the first ID, a document without an ID has an empty range. Readers never lend an
        // empty ID, so the two cannot be confused.
        if id.is_some() || !self.ends.is_empty() {
            self.ends.push(self.ids.len() as u64);
        }
        self.count = count;
        Ok(())
    }

    /// Returns the bytes of memory of the list.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let numbers = size_of_val(&self.sparse_records[..]) + size_of_val(&self.ends[..]);
        (numbers + self.ids.len()) as u64
    }

    /// Sets the number of records of the shard, which its reader returned, and frees unused memory.
    pub fn close(&mut self, record_count: u64) {
        self.record_count = record_count;
        self.sparse_records.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.ids.shrink_to_fit();
    }

    /// Number of documents.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn record(&self, at: u32) -> u64 {
        let dense = self.count - self.sparse_records.len() as u32;
        match at.checked_sub(dense) {
            None => u64::from(at),
            Some(at) => u64::from(self.sparse_records[at as usize]),
        }
    }

    fn id(&self, at: u32) -> Option<&[u8]> {
        let at = at.checked_sub(self.without_id)? as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        let id = &self.ids[start..self.ends[at] as usize];
        (!id.is_empty()).then_some(id)
    }
}

/// File, record and ID of every document of a corpus.
///
/// # Complexity
///
/// A look-up is a binary search over the shards.
#[derive(Clone, Debug, Default)]
pub struct DocumentIds {
    shards: Vec<ShardIds>,
    /// Ordinal of each shard's first document, and the number of documents at the end.
    first_documents: Vec<u32>,
    /// Number in its file of each shard's first record.
    first_records: Vec<u64>,
}

impl DocumentIds {
    /// Joins the shards, which must be in reading order.
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

    /// Returns the shards, in reading order.
    #[must_use]
    pub fn into_shards(self) -> Vec<ShardIds> {
        self.shards
    }

    /// Number of documents.
    #[must_use]
    pub fn len(&self) -> usize {
        self.first_documents.last().map_or(0, |&count| count as usize)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether any document has an ID of its own.
    #[must_use]
    pub fn has_any_id(&self) -> bool {
        self.shards.iter().any(|shard| !shard.ids.is_empty())
    }

    /// Returns the ordinal of the first document of a shard.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn first_of_shard(&self, shard: usize) -> DocOrdinal {
        DocOrdinal(self.first_documents[shard])
    }

    /// Returns the ordinal that follows the last document of a shard.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn end_of_shard(&self, shard: usize) -> DocOrdinal {
        DocOrdinal(self.first_documents[shard + 1])
    }

    /// Returns the number of a shard's first record in its file.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn first_record_of_shard(&self, shard: usize) -> u64 {
        self.first_records[shard]
    }

    /// Returns the record number in the file that follows a shard's last record.
    ///
    /// # Panics
    ///
    /// There is no such shard.
    #[must_use]
    pub fn end_record_of_shard(&self, shard: usize) -> u64 {
        self.first_records[shard] + self.shards[shard].record_count
    }

    /// Returns the file and the record of a document.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn place(&self, document: DocOrdinal) -> Place {
        let (shard, at) = self.shard_of(document);
        let part = &self.shards[shard];
        Place { file: part.file, record: self.first_records[shard] + part.record(at) }
    }

    /// Returns the ID of a document, if it has one.
    ///
    /// # Panics
    ///
    /// There is no such document.
    #[must_use]
    pub fn id(&self, document: DocOrdinal) -> Option<&[u8]> {
        let (shard, at) = self.shard_of(document);
        self.shards[shard].id(at)
    }

    fn shard_of(&self, document: DocOrdinal) -> (usize, u32) {
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
            shard.push(record, id.map(str::as_bytes)).unwrap();
        }
        shard.close(records);
        shard
    }

    #[test]
    fn identities_survive_being_packed() {
        let ids = DocumentIds::new(vec![
            shard(0, 2, &[(0, Some("a")), (1, Some("bc"))]),
            shard(0, 3, &[]),
            shard(0, 4, &[(0, None), (2, None), (3, Some("d"))]),
            shard(1, 9, &[(7, None), (8, None)]),
        ])
        .unwrap();
        assert_eq!(ids.len(), 7);
        let all: Vec<_> = (0..7)
            .map(|at| {
                let Place { file, record } = ids.place(DocOrdinal(at));
                (file, record, ids.id(DocOrdinal(at)).map(|id| str::from_utf8(id).unwrap()))
            })
            .collect();
        assert_eq!(
            all,
            [
                (0, 0, Some("a")),
                (0, 1, Some("bc")),
                (0, 5, None),
                (0, 7, None),
                (0, 8, Some("d")),
                (1, 7, None),
                (1, 8, None)
            ]
        );
        assert_eq!(ids.first_of_shard(2), DocOrdinal(2));
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
