//! CSV and TSV: rows of columns after a header row that names them.

pub(crate) mod csv_rows;
pub(crate) mod edit;
pub(crate) mod recognize_dialect;
mod row_parser;
mod rows;

use crate::bytes::text_encoding::is_safe_separator;
use crate::formats::{
    AddedRecord, ByteFormat, Columns, Dialect, FieldNames, Fields, Head, InputFormat, NamedDialect,
    Reader, RecordEdit, Selector, SplitJob,
};
use encoding_rs::Encoding;
use simtool_base::error::Result;

/// Entry of CSV in the table of input formats.
pub(crate) static CSV: Delimited = Delimited {
    name: "csv",
    title: "CSV",
    about: "Each row is a document; the delimiter is guessed from the first rows",
    extensions: &["csv"],
    delimiter: None,
};

/// Entry of TSV in the table of input formats.
pub(crate) static TSV: Delimited = Delimited {
    name: "tsv",
    title: "TSV",
    about: "Each row is a document; the delimiter is a tab",
    extensions: &["tsv", "tab"],
    delimiter: Some(b'\t'),
};

/// A format of text tables in which a character separates the columns.
#[derive(Debug)]
pub(crate) struct Delimited {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    extensions: &'static [&'static str],
    /// The character between columns if the user chose none. `None` means that this character is recognized from the
    /// first rows.
    delimiter: Option<u8>,
}

impl InputFormat for Delimited {
    fn name(&self) -> &'static str {
        self.name
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    fn fields(&self) -> Fields {
        Fields::Delimited
    }

    /// Returns whether the file's name has an extension of this format. The content is not considered, since any text
    /// can be a table of one column.
    fn looks_like(&self, head: &Head<'_>) -> bool {
        head.is_named(self)
    }

    fn reader(&'static self) -> Reader {
        Reader::Bytes(self)
    }
}

impl ByteFormat for Delimited {
    fn read(
        &self,
        job: SplitJob<'_, '_, '_>,
        wanted: Columns<'_>,
        dialect: Option<Dialect>,
    ) -> Result<u64> {
        let dialect = dialect.unwrap_or(Dialect::rfc4180(self.delimiter.unwrap_or(b',')));
        let longest = job.longest;
        job.split(&mut rows::DelimitedRows::new(dialect, wanted, longest))
    }

    fn dialect(&self, head: &[u8], named: NamedDialect, text: &Selector) -> Option<Dialect> {
        let is_text = |name: &[u8]| str::from_utf8(name).is_ok_and(|name| text.names(name));
        Some(Dialect::recognize(head, named, self.delimiter, &is_text))
    }

    fn is_readable_in(&self, encoding: &'static Encoding, dialect: Option<Dialect>) -> bool {
        let dialect = dialect.unwrap_or(Dialect::rfc4180(b','));
        let characters = [Some(dialect.delimiter), dialect.quote, dialect.escape];
        characters.into_iter().flatten().all(|character| is_safe_separator(encoding, character))
    }

    fn edited(&self, job: &RecordEdit<'_>) -> Option<Vec<u8>> {
        edit::edited(job, job.dialect?)
    }

    fn with_fields(&self, job: &AddedRecord<'_>) -> Option<Vec<u8>> {
        edit::with_columns(job, job.dialect?)
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InHeader(rows::columns)
    }
}
