//! Tables of output rows with named columns.
//!
//! An output lists its columns once, as a list of [`Column`]s. Each column has a name, a description, and a
//! type with a function that returns its value. JSON Lines, TSV, Parquet and the reference pages are all made
//! from this list, so a new column is one new entry. Tables in memory, which the Python package returns, have
//! columns of their own. They name documents by their row numbers and not by files and IDs.
//!
//! ```
//! use simtool::write::columns::{Column, RowTable, Value, write_json_line, write_tsv_line};
//!
//! /// Words and how often they occur.
//! struct WordCounts;
//!
//! impl RowTable for WordCounts {
//!     type Row<'r> = (&'r str, u64);
//!
//!     const COLUMNS: &'static [Column<Self>] = &[
//!         Column::new("word", "The word.", Value::Text(|row| row.0.as_bytes())),
//!         Column::new("count", "Number of times that it occurs.", Value::Number(|row| row.1)),
//!     ];
//! }
//!
//! let mut out = Vec::new();
//! write_json_line(&mut out, WordCounts::COLUMNS, &("house", 2))?;
//! write_tsv_line(&mut out, WordCounts::COLUMNS, &("tree", 1))?;
//! assert_eq!(out, b"{\"word\":\"house\",\"count\":2}\ntree\t1\n");
//! # Ok::<(), std::io::Error>(())
//! ```

#[cfg(feature = "parquet")]
mod arrow_stream;
mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "parquet")]
mod row_batches;
mod rows_file;
mod tsv;

pub use json_lines::{write_json_line, write_json_object};
#[cfg(feature = "parquet")]
pub use parquet::ParquetRows;
pub use rows_file::{RowFormat, RowVisitor, RowsFile};
pub use tsv::write_tsv_line;

use simtool_base::utc_time::UtcTime;
use simtool_model::document_id::DocumentId;
use std::fmt;
use std::io::{self, Write};
use std::ops::Range;

/// A table that can be written: its list of columns, and the type that holds the data of one row.
///
/// A row may borrow data, for example the ID of a document, so its type has a lifetime.
pub trait RowTable: Sized + 'static {
    /// Data of one row, from which the values of all columns are taken.
    type Row<'r>;

    /// Columns in the order in which they are written.
    const COLUMNS: &'static [Column<Self>];
}

/// One column of an output: its name, its description and its values.
pub struct Column<T: RowTable> {
    /// Name of the field, for example `kept_id`.
    pub name: &'static str,
    /// Description for the reference page, in one sentence.
    pub description: &'static str,
    /// Type of the column, and function that takes its value from a row.
    pub value: Value<T>,
}

/// Type of a column. Each variant holds the function that takes the value of the column from a row.
pub enum Value<T: RowTable> {
    /// A text, usually UTF-8. Bytes that are not UTF-8 are written as `\x` and two hexadecimal digits.
    Text(for<'r> fn(&'r T::Row<'r>) -> &'r [u8]),
    /// The ID of a document: a text, or, in JSON Lines, a number if the ID is a number in the input.
    Id(for<'r> fn(&'r T::Row<'r>) -> DocumentId<'r>),
    /// A number of up to 63 bits.
    Number(for<'r> fn(&'r T::Row<'r>) -> u64),
    /// A number of up to 31 bits.
    Count(for<'r> fn(&'r T::Row<'r>) -> u32),
    /// A number of up to 31 bits, or null.
    OptionalCount(for<'r> fn(&'r T::Row<'r>) -> Option<u32>),
    /// `true` or `false`.
    Flag(for<'r> fn(&'r T::Row<'r>) -> bool),
    /// A number such as a similarity, or null.
    Ratio(for<'r> fn(&'r T::Row<'r>) -> Option<f64>),
    /// A time, with a resolution of a second.
    Time(for<'r> fn(&'r T::Row<'r>) -> UtcTime),
    /// A list of texts.
    Texts(for<'r> fn(&'r T::Row<'r>) -> &'r [&'r str]),
    /// A list of ranges of numbers of up to 63 bits. Each range is written as a list of its start and its end.
    Ranges(for<'r> fn(&'r T::Row<'r>) -> &'r [Range<u64>]),
    /// An object with its own fields, or a list of such objects.
    Nested(Nested<T>),
}

/// Type of columns with IDs in Parquet files. In JSON Lines, each ID has its own type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdType {
    /// Text. Every ID can be written as text.
    Text,
    /// Integers of 64 bits with a sign. Every ID in the rows must be such a number.
    Integer,
}

impl IdType {
    /// Returns [`Self::Integer`] if all IDs are integers, and otherwise [`Self::Text`].
    pub fn of(are_integers: bool) -> Self {
        if are_integers { Self::Integer } else { Self::Text }
    }
}

/// Description of a column whose values are objects or lists of objects. JSON Lines writes these values as
/// nested JSON. The other formats write each value as a text that contains JSON.
pub struct Nested<T: RowTable> {
    /// Function that returns the descriptions of the fields of an object, for the reference pages.
    pub columns: fn() -> Vec<ColumnDescription>,
    /// Whether each value is a list of objects. Otherwise each value is one object.
    pub is_list: bool,
    /// Function that writes the value of this column for one row as JSON.
    pub write_json: for<'r> fn(&'r T::Row<'r>, &mut dyn Write) -> io::Result<()>,
}

impl<T: RowTable> Column<T> {
    /// Creates a column from its name, its description, and the type of its values.
    pub const fn new(name: &'static str, description: &'static str, value: Value<T>) -> Self {
        Self { name, description, value }
    }
}

/// Description of a column for the reference pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDescription {
    /// Name of the column. If the column is a field of an object, the name of the object precedes it, for
    /// example `kept.id`. For a list of objects, the name has the form `removed[].id`.
    pub name: String,
    /// Type of the values, for example `text`.
    pub kind: &'static str,
    /// Description of the values, in one sentence.
    pub description: &'static str,
}

/// Description of an output for the reference pages.
#[derive(Clone, Copy, Debug)]
pub struct OutputDescription {
    /// Name of the output, for example `removed`.
    pub name: &'static str,
    /// Names that the output can have in the output folder, one for each format. Empty if the output goes to
    /// standard output or to a file that the user names.
    pub files: &'static [&'static str],
    /// Commands that write the output, for example `dedup, match`.
    pub command: &'static str,
    /// Description of the content of the output, in one or two sentences.
    pub description: &'static str,
    /// Function that returns descriptions of the columns of the output. The list is empty if the output has
    /// no rows.
    pub columns: fn() -> Vec<ColumnDescription>,
}

/// Returns descriptions of `columns` for the reference pages. After a column whose values are objects, the
/// fields of the objects are listed like columns.
#[must_use]
pub(crate) fn describe_columns<T: RowTable>(columns: &[Column<T>]) -> Vec<ColumnDescription> {
    let mut described = Vec::new();
    for column in columns {
        described.push(ColumnDescription {
            name: column.name.to_owned(),
            kind: column.value.kind(),
            description: column.description,
        });
        if let Value::Nested(nested) = &column.value {
            let separator = if nested.is_list { "[]." } else { "." };
            for field in (nested.columns)() {
                let name = format!("{}{separator}{}", column.name, field.name);
                described.push(ColumnDescription { name, ..field });
            }
        }
    }
    described
}

impl<T: RowTable> Value<T> {
    /// Returns the name of the type of the column, for the reference pages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Id(_) => "text or number",
            Self::Number(_) | Self::Count(_) => "number",
            Self::OptionalCount(_) => "number or null",
            Self::Flag(_) => "true or false",
            Self::Ratio(_) => "fraction or null",
            Self::Time(_) => "time",
            Self::Texts(_) => "list of texts",
            Self::Ranges(_) => "list of [start, end]",
            Self::Nested(nested) if nested.is_list => "list of objects",
            Self::Nested(_) => "object",
        }
    }
}

impl<T: RowTable> fmt::Debug for Column<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Column({}: {})", self.name, self.value.kind())
    }
}

impl<T: RowTable> fmt::Debug for Value<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.kind())
    }
}

impl<T: RowTable> fmt::Debug for Nested<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Nested").field("is_list", &self.is_list).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
