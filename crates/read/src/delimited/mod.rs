//! CSV and TSV: rows of columns after a header row that names them.

mod rows;

use crate::format::{Fields, Head, InputFormat, Reader};
use {
    crate::format::{ByteFormat, FieldNames},
    crate::selector::Selector,
    crate::split_job::SplitJob,
    crate::table::Columns,
    crate::text_encoding::is_safe_separator,
    encoding_rs::Encoding,
    simtool_base::error::Result,
};

/// Entry of CSV in the table of input formats.
pub(super) static CSV: Delimited = Delimited {
    name: "csv",
    title: "CSV",
    about: "Each row is a document; the delimiter is guessed from the first rows",
    extensions: &["csv"],
    delimiter: None,
};

/// Entry of TSV in the table of input formats.
pub(super) static TSV: Delimited = Delimited {
    name: "tsv",
    title: "TSV",
    about: "Each row is a document; the delimiter is a tab",
    extensions: &["tsv", "tab"],
    delimiter: Some(b'\t'),
};

/// A format of text tables whose columns are separated by a character.
#[derive(Debug)]
pub(super) struct Delimited {
    name: &'static str,
    title: &'static str,
    about: &'static str,
    extensions: &'static [&'static str],
    /// The character between columns if the user chooses none. `None` means that this character is
    /// guessed from the first rows.
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

    /// Returns whether the file's name has an extension of this format. The content cannot decide,
    /// since any text can be a table of one column.
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
        delimiter: Option<u8>,
    ) -> Result<u64> {
        let delimiter = delimiter.unwrap_or(b',');
        job.split(&mut rows::DelimitedRows::new(delimiter, wanted))
    }

    fn delimiter(&self, head: &[u8], text: &Selector) -> Option<u8> {
        Some(self.delimiter.unwrap_or_else(|| rows::guess(head, text)))
    }

    fn is_readable_in(&self, encoding: &'static Encoding, delimiter: Option<u8>) -> bool {
        is_safe_separator(encoding, delimiter.unwrap_or(b','))
    }

    fn field_names(&self) -> FieldNames {
        FieldNames::InHeader(rows::columns)
    }
}
