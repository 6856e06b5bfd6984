//! The traits that describe input formats.
//!
//! A format is one file or folder of this crate that implements [`InputFormat`], and one line of
//! the table in [`formats`](crate::formats). This file knows no particular format.

use crate::bytes::blank_lines::end_of_blank_line;
use crate::formats::{
    AddedRecord, Columns, Dialect, NamedDialect, Price, RecordEdit, Selector, SplitJob,
    TableFormat, TableRows,
};
use encoding_rs::Encoding;
use simtool_base::error::{Error, ErrorKind, Result};
use std::fmt;
use std::hash::{Hash, Hasher};

/// An input format, such as JSON Lines: an entry of the table of formats.
///
/// ```
/// use simtool_read::Format;
///
/// let format = Format::from_name("jsonl").unwrap();
/// assert_eq!(format.title(), "JSON Lines");
/// assert!(format.has_fields());
/// assert!(Format::from_name("docx").is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Format(pub(crate) &'static dyn InputFormat);

impl Format {
    /// Returns the name that options and reports use, such as `jsonl`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns the name that sentences use, such as "JSON Lines".
    #[must_use]
    pub fn title(self) -> &'static str {
        self.0.title()
    }

    /// Returns one line for help texts that says what a document is in this format.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.0.about()
    }

    /// Returns the extensions of files of the format, in lower case and without the dot.
    #[must_use]
    pub fn extensions(self) -> &'static [&'static str] {
        self.0.extensions()
    }

    /// Returns whether a file of this format is plain text, without fields, IDs or other structure.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.0.fields() == Fields::Plain
    }

    /// Returns whether the records have fields or columns that the user can name.
    #[must_use]
    pub fn has_fields(self) -> bool {
        matches!(self.0.fields(), Fields::Named | Fields::Delimited)
    }

    /// Returns whether the records have values that the user can name, such as the date in the header of a WARC record.
    /// In some formats these values do not include the text.
    #[must_use]
    pub fn has_values(self) -> bool {
        self.has_fields() || self.0.fields() == Fields::Headers
    }

    /// Returns whether documents of this format can be HTML pages.
    #[must_use]
    pub fn has_pages(self) -> bool {
        self.0.has_pages()
    }

    /// Returns whether the columns are separated by a character that the user can choose.
    #[must_use]
    pub fn has_delimiter(self) -> bool {
        self.0.fields() == Fields::Delimited
    }

    pub(crate) fn is_one_document(self) -> bool {
        self.0.is_one_document()
    }

    /// Returns whether a file of this format gets no copy if all its records are removed. In such a
    /// format, a copy without records would be an empty document, or not a valid file.
    #[must_use]
    pub fn leaves_no_empty_copy(self) -> bool {
        self.0.leaves_no_empty_copy()
    }

    /// Returns the separator that a record includes at its start, such as the comma in a JSON array. Returns `None` if
    /// records have no such separator. In a copy, the first record after the bracket of the array must not begin with
    /// this character.
    #[must_use]
    pub fn leading_separator(self) -> Option<u8> {
        self.0.leading_separator()
    }

    /// Returns whether each record of a compressed file is usually a gzip member of its own, as in
    /// web crawls.
    #[must_use]
    pub fn is_packed_by_record(self) -> bool {
        self.0.is_packed_by_record()
    }

    /// Returns whether files of the format are tables, such as Parquet files. In other formats, a
    /// copy with some of the records just consists of the bytes of these records. A copy with some
    /// of the rows of a table needs a writer of the format.
    #[must_use]
    pub fn is_table(self) -> bool {
        matches!(self.0.reader(), Reader::Table(_))
    }

    /// Estimates the memory in bytes that a reader of a table takes, in addition to its longest text. `rows` has the
    /// sizes of the rows of the table. Returns `None` if the format is not a table. Reading such a file takes only the
    /// memory of its longest record.
    #[must_use]
    pub(crate) fn table_bytes(self, rows: TableRows) -> Option<f64> {
        match self.0.reader() {
            Reader::Table(table) => Some(table.reader_bytes(rows)),
            Reader::Bytes(_) | Reader::FeatureOff(_) => None,
        }
    }

    pub(crate) fn price(self) -> Price {
        self.0.price()
    }

    pub(crate) fn has_magic(self, head: &[u8]) -> bool {
        self.0.has_magic(head)
    }

    pub(crate) fn looks_like(self, head: &Head<'_>) -> bool {
        self.0.looks_like(head)
    }

    pub(crate) fn reader(self) -> Reader {
        self.0.reader()
    }

    /// Returns the reader of a format whose files are sequences of bytes.
    ///
    /// # Errors
    ///
    /// This build cannot read the format, or the format is a table.
    pub(crate) fn byte_reader(self) -> Result<&'static dyn ByteFormat> {
        match self.0.reader() {
            Reader::Bytes(bytes) => Ok(bytes),
            // A table has no reader of bytes. Code that reads files handles tables before it calls
            // this function.
            Reader::Table(_) => Err(self.feature_off("default")),
            Reader::FeatureOff(feature) => Err(self.feature_off(feature)),
        }
    }

    fn feature_off(self, feature: &'static str) -> Error {
        ErrorKind::FeatureOff { what: self.name(), feature }.into()
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Format {}

impl Hash for Format {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Format({})", self.name())
    }
}

/// The kind of fields that the records of a format have. A field is a named part of a record, such
/// as `text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fields {
    /// No fields: the whole record is the text, or an ID followed by the text.
    None,
    /// No fields and no IDs: the file is plain text, which can also be read line by line.
    Plain,
    /// Headers with named fields before the text.
    Headers,
    /// Fields or columns that have names.
    Named,
    /// Columns that have names and are separated by a character that the user can choose.
    Delimited,
}

/// Description of one input format, and access to its reader.
///
/// A build without the Cargo feature of a format contains its description, too. So it still
/// recognizes the files, and its message can name the missing feature.
pub(crate) trait InputFormat: fmt::Debug + Sync {
    /// Returns the name that options and reports use, such as `jsonl`. It never changes.
    fn name(&self) -> &'static str;

    /// Returns the name that sentences use, such as "JSON Lines".
    fn title(&self) -> &'static str;

    /// Returns one line for help texts that says what a document is in this format.
    fn about(&self) -> &'static str;

    /// Returns the extensions of files of the format, in lower case and without the dot.
    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the kind of fields that the records have.
    fn fields(&self) -> Fields {
        Fields::None
    }

    /// Returns whether `head`, the first bytes of a file, start with magic bytes of this format.
    /// The file then has this format, whatever its name is.
    fn has_magic(&self, _head: &[u8]) -> bool {
        false
    }

    /// Returns whether `head`, the start of a file without magic bytes, looks like this format.
    fn looks_like(&self, _head: &Head<'_>) -> bool {
        false
    }

    /// Returns whether documents of this format can be HTML pages.
    fn has_pages(&self) -> bool {
        false
    }

    /// Returns whether a file is exactly one document.
    fn is_one_document(&self) -> bool {
        false
    }

    /// Returns whether no copy of a file is written if all its records are removed.
    fn leaves_no_empty_copy(&self) -> bool {
        self.is_one_document()
    }

    /// Returns the separator between records, if a record includes it at its start, after white space. Returns `None`
    /// if records have no such separator.
    fn leading_separator(&self) -> Option<u8> {
        None
    }

    /// Returns whether each record of a compressed file is usually a gzip member of its own.
    fn is_packed_by_record(&self) -> bool {
        false
    }

    /// Returns the cost of reading an uncompressed file of this format again.
    fn price(&self) -> Price {
        Price::Cheap
    }

    /// Returns the reader of files of this format.
    fn reader(&'static self) -> Reader;
}

/// The first bytes of the decompressed content of a file, from which its format is recognized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'h> {
    /// The first bytes of the content, without a byte order mark.
    pub(crate) text: &'h [u8],
    /// Whether `text` is the whole content of the file.
    pub(crate) is_whole: bool,
    /// The format that belongs to the extension of the file's name, if there is one.
    pub(crate) named: Option<Format>,
}

impl Head<'_> {
    /// Number of bytes at the start of a file in which a zero byte shows that the file is binary.
    const BINARY_BYTES: usize = 8 << 10;

    /// Returns whether the file's name has an extension of `format`.
    pub(crate) fn is_named(&self, format: &dyn InputFormat) -> bool {
        self.named.is_some_and(|named| named.name() == format.name())
    }

    /// Returns whether the content has zero bytes, as binary files do.
    pub(crate) fn has_zero_bytes(&self) -> bool {
        let looked_at = self.text.len().min(Self::BINARY_BYTES);
        memchr::memchr(0, &self.text[..looked_at]).is_some()
    }
}

/// The reader of the files of a format.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Reader {
    /// A file is a sequence of bytes that is divided into records.
    Bytes(&'static dyn ByteFormat),
    /// A file is a table, such as Parquet. Only the columns that are needed are decoded.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no table is compiled in"))]
    Table(&'static dyn TableFormat),
    /// This build cannot read the format, because it was compiled without the Cargo feature with
    /// this name.
    #[cfg_attr(feature = "parquet", expect(dead_code, reason = "every format is compiled in"))]
    FeatureOff(&'static str),
}

/// A format whose files are sequences of bytes. Such files may be compressed, streamed and
/// memory-mapped.
pub(crate) trait ByteFormat: fmt::Debug + Sync {
    /// Returns the separator that ends every record, such as a line feed. Large uncompressed files
    /// are divided into shards, and each shard ends after a separator. In a format without
    /// separators, a file is one shard.
    fn separator(&self) -> Option<Separator> {
        None
    }

    /// Returns whether reading can start in the middle of a compressed file. Reading then starts at
    /// the first record after that place. In CSV this is not possible, because the start of a row
    /// cannot be recognized with certainty.
    fn can_start_inside(&self) -> bool {
        false
    }

    /// Divides the bytes of `job` into records and passes each record to the visitor of the job. `wanted` names the
    /// fields or columns to extract, and `dialect` has the characters of a text table. Returns the number of records.
    ///
    /// # Errors
    ///
    /// The first error that the visitor returns.
    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        dialect: Option<Dialect>,
    ) -> Result<u64>;

    /// Recognizes the dialect of a text table from `head`, the start of the file. `named` has the characters that the
    /// user chose, and `text` selects the columns with the text. Returns `None` if the format is not a text table.
    fn dialect(&self, _head: &[u8], _named: NamedDialect, _text: &Selector) -> Option<Dialect> {
        None
    }

    /// Returns a message if the file cannot be read in this format, for example a JSON array as
    /// JSON Lines. The message gives advice to the user. `head` is the start of the content, and `text` selects the text.
    fn refusal(&self, _head: &[u8], _text: &Selector) -> Option<String> {
        None
    }

    /// Returns the encoding of the file, if the file declares it at its start.
    fn declared_encoding(&self, _head: &[u8]) -> Option<&'static Encoding> {
        None
    }

    /// Returns whether the reader can find the records of a file in `encoding`. `dialect` is the dialect of the file if
    /// the file is a text table.
    fn is_readable_in(&self, encoding: &'static Encoding, _dialect: Option<Dialect>) -> bool {
        encoding.is_ascii_compatible()
    }

    /// Returns whether each document can declare its own encoding. If so, the encoding is not detected for the whole
    /// file. The encoding of a document without a declaration is guessed from its own bytes.
    fn declares_encoding(&self) -> bool {
        false
    }

    /// Returns the bytes of a record in which the text of its document is replaced by the edited text. All other bytes
    /// stay as they are. Returns `None` if the text cannot be edited in the record, for example because it was
    /// extracted from HTML.
    fn edited(&self, _job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        None
    }

    /// Returns the bytes of a record with additional fields after its own fields. All other bytes stay as they are.
    /// Returns `None` if the record cannot have these fields.
    fn with_fields(&self, _job: &AddedRecord<'_>) -> Option<Vec<u8>> {
        None
    }

    /// Returns the place where files of this format name their fields.
    fn field_names(&self) -> FieldNames {
        FieldNames::Nowhere
    }
}

/// The bytes that end every record of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// A single byte.
    Byte(u8),
    /// A line without text, after another line.
    BlankLine,
}

impl Separator {
    /// Returns the position after the first separator in `bytes`, or `None` if there is none.
    pub(crate) fn end_in(self, bytes: &[u8]) -> Option<usize> {
        match self {
            Self::Byte(byte) => memchr::memchr(byte, bytes).map(|at| at + 1),
            Self::BlankLine => end_of_blank_line(bytes),
        }
    }
}

/// Place where files of a format name their fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldNames {
    /// The records have no named fields.
    Nowhere,
    /// Each record names its fields. The function takes the bytes of a record and returns the names
    /// of its fields.
    InEachRecord(fn(&[u8]) -> Vec<String>),
    /// The first row names the columns. The function takes the dialect and the bytes of the first
    /// row, and returns the names of the columns.
    InHeader(fn(Dialect, &[u8]) -> Vec<String>),
}
