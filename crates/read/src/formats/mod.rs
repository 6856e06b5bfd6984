//! The input formats, and their table.
//!
//! All code that depends on the formats reads this table: recognition by content and name, the
//! option `--format` with its help, messages, copies of inputs, and estimates.

mod added_fields;
mod arrow_ipc;
mod delimited;
mod dialect;
pub mod form_feed;
mod format;
mod html_page;
pub(crate) mod jsonl;
mod mail;
mod named_dialect;
mod parquet;
mod plain_text;
mod price;
pub(crate) mod records;
mod selector;
mod subtitles;
mod table;
pub(crate) mod text_blocks;
mod text_edit;
mod text_split;
mod warc;
mod xml;

pub(crate) use added_fields::AddedRecord;
pub use added_fields::{AddedField, AddedFields, AddedKind, AddedValue};
pub use delimited::csv_rows::{VisitCsvRow, visit_csv_rows};
pub use dialect::Dialect;
pub use format::Format;
pub(crate) use format::{ByteFormat, FieldNames, Fields, Head, InputFormat, Reader, Separator};
pub use named_dialect::{NamedDialect, Quote};
pub use price::Price;
pub(crate) use records::{
    AfterLoss, Flow, RecordMemory, SplitBytes, SplitJob, SplitStep, Splitter, give, part_of, refuse,
};
pub use records::{Event, Visit};
pub(crate) use selector::{FieldPath, Step, USUAL_ID};
pub use selector::{Selector, USUAL_DATES};
#[cfg(feature = "parquet")]
pub use table::named_columns::{ColumnSteps, NamedColumns};
pub(crate) use table::{Columns, TableFormat, TableJob, TableShare};
pub use table::{EditRow, InParallel, RowsCopy, TableRows};
pub(crate) use text_edit::RecordEdit;
pub use text_edit::TextEdit;
pub use text_split::TextSplit;

/// Table of all input formats.
/// The order matters if [`InputFormat::looks_like`] of two formats accepts the same content. The first of these formats
/// in the table is then used. Help texts and messages list the formats in this order, too.
static FORMATS: [&dyn InputFormat; 17] = [
    &warc::WARC,
    &parquet::PARQUET,
    &arrow_ipc::ARROW,
    &delimited::CSV,
    &delimited::TSV,
    &jsonl::JSON,
    &jsonl::JSON_LINES,
    &xml::XML,
    &html_page::HTML,
    &mail::MBOX,
    &mail::MAIL,
    &form_feed::FORM_FEED_TEXT,
    &subtitles::SUBRIP,
    &subtitles::WEB_VTT,
    &plain_text::TEXT,
    &plain_text::LINES,
    &plain_text::BLOCKS,
];

impl Format {
    /// Plain text, in which a file is one document. Content that looks like no other format is read
    /// as plain text.
    pub(crate) const TEXT: Self = Self(&plain_text::TEXT);

    /// HTML, in which a file is a page.
    pub(crate) const HTML: Self = Self(&html_page::HTML);

    /// XML, in which elements are documents.
    pub(crate) const XML: Self = Self(&xml::XML);

    /// Returns every format, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        FORMATS.iter().map(|&format| Self(format))
    }

    /// Returns all formats, each with the name that selects it in the option `--format`.
    ///
    /// ```
    /// let named = simtool_read::Format::named();
    /// assert!(named.iter().any(|(name, _)| *name == "parquet"));
    /// ```
    #[must_use]
    pub fn named() -> Vec<(&'static str, Self)> {
        Self::all().map(|format| (format.name(), format)).collect()
    }

    /// Returns the format whose [`name`](Self::name) is `name`, for example JSON Lines for `jsonl`.
    /// Returns `None` if no format has that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|format| format.name() == name)
    }

    /// Returns the format to which a file extension belongs, or `None`. `extension` must be in
    /// lower case and without the dot.
    #[must_use]
    pub(crate) fn from_extension(extension: &str) -> Option<Self> {
        Self::all().find(|format| format.0.extensions().contains(&extension))
    }

    /// Returns the format that divides plain text as `split` requires, if `self` is plain text. Returns `self` for
    /// every other format.
    pub(crate) fn with_split(self, split: TextSplit) -> Self {
        match split {
            TextSplit::Lines if self == Self::TEXT => Self(&plain_text::LINES),
            TextSplit::BlankLines if self == Self::TEXT => Self(&plain_text::BLOCKS),
            TextSplit::File | TextSplit::Lines | TextSplit::BlankLines => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_leads_back_to_its_format() {
        for format in Format::all() {
            assert_eq!(Format::from_name(&format.to_string()), Some(format));
        }
        assert_eq!(Format::from_name("docx"), None);
    }

    #[test]
    fn names_and_extensions_belong_to_one_format_each() {
        let mut words: Vec<&str> = Format::all().map(Format::name).collect();
        words.sort_unstable();
        let count = words.len();
        words.dedup();
        assert_eq!(words.len(), count, "two formats have one name");
        for format in Format::all() {
            for extension in format.0.extensions() {
                assert_eq!(Format::from_extension(extension), Some(format), "{extension}");
            }
        }
    }

    #[test]
    fn tables_alone_take_memory_for_their_rows() {
        let rows = |text_bytes| TableRows { text_bytes, shard_bytes: 1e6 };
        for format in Format::all() {
            let [short, long] = [1e3, 1e6].map(|bytes| format.table_bytes(rows(bytes)));
            assert_eq!(short.is_some(), format.is_table(), "{format}");
            assert!(short.is_none_or(|bytes| bytes > 0.0) && short <= long, "{format}");
        }
    }
}
