//! Output rows as named columns.
//!
//! An output lists its columns once, as a table of [`Column`]s: name, description, type and value.
//! JSON Lines, TSV, Parquet, the tables of the Python package and the reference pages all follow
//! from that table, so a new column is one new entry.
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

mod json_lines;
#[cfg(feature = "parquet")]
mod parquet;
mod rows_file;
mod tsv;

pub use json_lines::{write_json_line, write_json_object};
#[cfg(feature = "parquet")]
pub use parquet::ParquetRows;
pub use rows_file::{RowFormat, RowsFile};
pub use tsv::write_tsv_line;

use simtool_base::utc_time::UtcTime;
use std::fmt;
use std::io::{self, Write};

/// A kind of rows, with its columns.
///
/// A row may borrow from what is written, for example the ID of a document, so its type has a
/// lifetime.
pub trait RowTable: Sized + 'static {
    /// The data of one row.
    type Row<'r>;

    /// The columns, in the order in which they are written.
    const COLUMNS: &'static [Column<Self>];
}

/// One column of an output.
pub struct Column<T: RowTable> {
    /// Name of the field, for example `kept_id`.
    pub name: &'static str,
    /// One sentence for the reference page.
    pub description: &'static str,
    /// Type of the column, and how to take its value from a row.
    pub value: Value<T>,
}

/// How to take a value from a row. The variant is the type of the column.
pub enum Value<T: RowTable> {
    /// Text, usually UTF-8. Parquet and TSV replace bytes that are not.
    Text(for<'r> fn(&'r T::Row<'r>) -> &'r [u8]),
    /// A number of up to 63 bits.
    Number(for<'r> fn(&'r T::Row<'r>) -> u64),
    /// A number of up to 31 bits.
    Count(for<'r> fn(&'r T::Row<'r>) -> u32),
    /// A number of up to 31 bits, or null.
    OptionalCount(for<'r> fn(&'r T::Row<'r>) -> Option<u32>),
    /// A fraction, or null.
    Ratio(for<'r> fn(&'r T::Row<'r>) -> Option<f64>),
    /// A time, in seconds.
    Time(for<'r> fn(&'r T::Row<'r>) -> UtcTime),
    /// Several texts.
    Texts(for<'r> fn(&'r T::Row<'r>) -> &'r [&'r str]),
    /// An object, or a list of objects, with columns of their own.
    Nested(Nested<T>),
}

/// A column whose values are objects. JSON Lines nests them; the other formats store their JSON as
/// text.
pub struct Nested<T: RowTable> {
    /// The columns of an object.
    pub columns: fn() -> Vec<ColumnDescription>,
    /// Whether a value is a list of objects.
    pub is_list: bool,
    /// Writes the value as JSON.
    pub write_json: for<'r> fn(&'r T::Row<'r>, &mut dyn Write) -> io::Result<()>,
}

impl<T: RowTable> Column<T> {
    /// Creates a column.
    pub const fn new(name: &'static str, description: &'static str, value: Value<T>) -> Self {
        Self { name, description, value }
    }
}

/// A column as the reference pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDescription {
    /// Name of the field; fields of an object are behind its name, for example `kept.id` or
    /// `removed[].id`.
    pub name: String,
    /// Type of the values, for example `text`.
    pub kind: &'static str,
    /// One sentence about the values.
    pub description: &'static str,
}

/// An output, for reference pages.
#[derive(Clone, Copy, Debug)]
pub struct OutputDescription {
    /// Name of the output, for example `removed`.
    pub name: &'static str,
    /// Files in the output folder, one for each format. Empty for output that goes to standard
    /// output or to a file that the user names.
    pub files: &'static [&'static str],
    /// Commands that write it, for example `dedup, match`.
    pub command: &'static str,
    /// One or two sentences about the content.
    pub description: &'static str,
    /// Returns the columns of its rows. Empty if it has no rows.
    pub columns: fn() -> Vec<ColumnDescription>,
}

/// Describes columns for the reference pages, with the fields of nested objects.
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
    /// Returns the name of the type, for the reference pages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Number(_) | Self::Count(_) => "number",
            Self::OptionalCount(_) => "number or null",
            Self::Ratio(_) => "fraction or null",
            Self::Time(_) => "time",
            Self::Texts(_) => "list of texts",
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
