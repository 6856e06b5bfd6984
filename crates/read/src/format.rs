//! Input formats.
//!
//! A format is one file or folder of `read/` with an [`InputFormat`], and one line of the table in
//! [`formats`](crate::formats). This file knows no format in particular.

use crate::Price;
use crate::split_job::SplitJob;
use crate::table::{Columns, TableFormat, TableRows};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_model::compression::Compression;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;

/// An input format: a line of the table of formats.
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
pub struct Format(pub(super) &'static dyn InputFormat);

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

    /// Describes the documents of this format in one line, for help.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.0.about()
    }

    /// Returns whether a file of this format is text and nothing else.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.0.fields() == Fields::Plain
    }

    /// Returns whether its records have fields or columns that the user can name.
    #[must_use]
    pub fn has_fields(self) -> bool {
        matches!(self.0.fields(), Fields::Named | Fields::Delimited)
    }

    /// Returns whether a character separates its columns, which the user can choose.
    #[must_use]
    pub fn has_delimiter(self) -> bool {
        self.0.fields() == Fields::Delimited
    }

    /// Returns whether a file of this format is exactly one document.
    #[must_use]
    pub fn is_one_document(self) -> bool {
        self.0.is_one_document()
    }

    /// Returns whether its files are packed record by record, as crawls do with gzip.
    #[must_use]
    pub fn is_packed_by_record(self) -> bool {
        self.0.is_packed_by_record()
    }

    /// Returns whether its records are rows that only the format's own writer can copy. The other
    /// formats are sequences of bytes, and a copy is the bytes of some records.
    #[must_use]
    pub fn is_table(self) -> bool {
        matches!(self.0.reader(), Reader::Table(_))
    }

    /// Estimates the memory of a reader, in bytes, for a table of such rows. `None` for a sequence
    /// of bytes, which needs no more than its longest record.
    #[must_use]
    pub fn table_bytes(self, rows: TableRows) -> Option<f64> {
        match self.0.reader() {
            Reader::Table(table) => Some(table.reader_bytes(rows)),
            Reader::Bytes(_) | Reader::FeatureOff(_) => None,
        }
    }

    pub(super) fn price(self) -> Price {
        self.0.price()
    }

    pub(super) fn has_magic(self, head: &[u8]) -> bool {
        self.0.has_magic(head)
    }

    pub(super) fn looks_like(self, head: &Head<'_>) -> bool {
        self.0.looks_like(head)
    }

    pub(super) fn reader(self) -> Reader {
        self.0.reader()
    }

    /// Returns the reader for a sequence of bytes.
    ///
    /// # Errors
    ///
    /// This build cannot read the format.
    pub(super) fn byte_reader(self) -> Result<&'static dyn ByteFormat> {
        match self.0.reader() {
            Reader::Bytes(bytes) => Ok(bytes),
            // Tables are read before their bytes are looked at.
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

/// The kind of fields that the records of a format have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fields {
    /// No fields: the record is the text, perhaps after an ID.
    None,
    /// Nothing but text, which can also be read line by line.
    Plain,
    /// Fields or columns with names.
    Named,
    /// Columns with names, separated by a character that the user can choose.
    Delimited,
}

/// One input format.
///
/// An implementation describes the format in every build, also in one without the Cargo feature
/// that reads it: such a build still recognizes the files, and names the feature.
pub(super) trait InputFormat: fmt::Debug + Sync {
    /// The name that options and reports use. It never changes.
    fn name(&self) -> &'static str;

    /// The name that sentences use.
    fn title(&self) -> &'static str;

    /// A description of its documents, in one line for help.
    fn about(&self) -> &'static str;

    /// Extensions of its files, in lower case and without the dot.
    fn extensions(&self) -> &'static [&'static str] {
        &[]
    }

    /// The kind of fields that its records have.
    fn fields(&self) -> Fields {
        Fields::None
    }

    /// Returns whether a file with these first bytes is of this format, whatever its name: they
    /// begin with bytes that no other format begins with.
    fn has_magic(&self, _head: &[u8]) -> bool {
        false
    }

    /// Returns whether content without magic bytes looks like this format.
    fn looks_like(&self, _head: &Head<'_>) -> bool {
        false
    }

    /// Returns whether a file is exactly one document, so that a copy without it is no file.
    fn is_one_document(&self) -> bool {
        false
    }

    /// Returns whether a packed file has a gzip member for each record.
    fn is_packed_by_record(&self) -> bool {
        false
    }

    /// The price of reading an uncompressed file again.
    fn price(&self) -> Price {
        Price::Cheap
    }

    /// Returns the reader of its files.
    fn reader(&'static self) -> Reader;
}

/// The first bytes of a file, unpacked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'h> {
    /// The bytes, without a byte order mark.
    pub(super) text: &'h [u8],
    /// Whether they are the whole file.
    pub(super) is_whole: bool,
    /// The format that the file's name promises.
    pub(super) named: Option<Format>,
}

impl Head<'_> {
    /// Bytes in which a zero byte shows that a file is not text.
    const BINARY_BYTES: usize = 8 << 10;

    /// Returns whether the name promises this format.
    pub(super) fn is_named(&self, format: &dyn InputFormat) -> bool {
        self.named.is_some_and(|named| named.name() == format.name())
    }

    /// Returns whether the content has zero bytes, as binary files do.
    pub(super) fn has_zero_bytes(&self) -> bool {
        let looked_at = self.text.len().min(Self::BINARY_BYTES);
        memchr::memchr(0, &self.text[..looked_at]).is_some()
    }
}

/// The way in which the files of a format are read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reader {
    /// A file is a sequence of bytes that is cut into records.
    Bytes(&'static dyn ByteFormat),
    /// A file is a table. Only the wanted columns are decoded.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no table is built in"))]
    Table(&'static dyn TableFormat),
    /// This build cannot read the format: it lacks this Cargo feature.
    #[cfg_attr(feature = "parquet", expect(dead_code, reason = "every format is built in"))]
    FeatureOff(&'static str),
}

/// A format whose files are sequences of bytes. It may be compressed, streamed and mapped.
pub(super) trait ByteFormat: fmt::Debug + Sync {
    /// The byte that ends every record. Large plain files are cut into shards after it; files of a
    /// format without such a byte are one shard.
    fn separator(&self) -> Option<u8> {
        None
    }

    /// Returns whether a reading can start at a record in the middle of a packed file. In other
    /// formats, a line more or less at the start would give a wrong record.
    fn can_start_inside(&self) -> bool {
        false
    }

    /// Cuts the bytes of `job` into records, with the wanted fields. `delimiter` separates columns
    /// if the format has them.
    ///
    /// # Errors
    ///
    /// The first error that the visitor returns.
    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        delimiter: Option<u8>,
    ) -> Result<u64>;

    /// Returns the character that separates the columns of a file with this head, unless the user
    /// has chosen one. `text` is the name of the text's column.
    fn delimiter(&self, _head: &[u8], _text: &str) -> Option<u8> {
        None
    }

    /// Says why a file with this head is not read although it looks like this format, and what to
    /// do instead.
    fn refusal(&self, _head: &[u8], _compression: Compression, _name: &Path) -> Option<String> {
        None
    }

    /// Where the names of the fields are.
    fn field_names(&self) -> FieldNames {
        FieldNames::Nowhere
    }
}

/// Where the names of the fields of a format are.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldNames {
    /// Nowhere: there are no fields.
    Nowhere,
    /// In each record, whose bytes the function takes.
    InEachRecord(fn(&[u8]) -> Vec<String>),
    /// In the first row, whose bytes the function takes together with the delimiter.
    InHeader(fn(u8, &[u8]) -> Vec<String>),
}
