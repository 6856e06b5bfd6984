//! Writes a file of rows in the format that the user chose.

#[cfg(feature = "parquet")]
use super::ParquetRows;
#[cfg(feature = "parquet")]
use super::arrow_stream::ArrowRows;
use super::json_lines::push_json_line;
use super::tsv::write_names;
use super::{Column, IdType, RowTable, write_tsv_line};
use simtool_base::error::Result;
use simtool_base::options::Choice;
use simtool_compute::written_ranges::write_ranges;
use std::io::{self, Write};
use std::ops::Range;

/// Format in which a table of rows is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object on each line.
    JsonLines,
    /// Lines of fields separated by tabs, and a first line with the names of the columns. A tab, line end or
    /// backslash in a field is written as `\t`, `\n`, `\r` or `\\`, and a byte that is not UTF-8 as `\xff`.
    Tsv,
    /// Parquet, compressed with Zstandard. The metadata of the file contains the recipe of the method, a text
    /// that identifies how fingerprints are made.
    #[cfg(feature = "parquet")]
    Parquet,
    /// A stream of Arrow IPC, for callers in the same process. No option names it.
    #[cfg(feature = "parquet")]
    ArrowStream,
}

impl Choice for RowFormat {
    /// Formats of files that this build can write.
    const ALL: &'static [Self] = &[
        Self::JsonLines,
        Self::Tsv,
        #[cfg(feature = "parquet")]
        Self::Parquet,
    ];

    fn name(self) -> &'static str {
        self.extension()
    }

    fn help(self) -> &'static str {
        match self {
            Self::JsonLines => "One JSON object a line",
            Self::Tsv => "Fields between tabs",
            #[cfg(feature = "parquet")]
            Self::Parquet => "Columns, compressed with Zstandard",
            #[cfg(feature = "parquet")]
            Self::ArrowStream => "Columns, one batch behind another",
        }
    }
}

impl RowFormat {
    /// Returns the Parquet format.
    ///
    /// # Errors
    ///
    /// This build cannot write Parquet.
    pub fn parquet() -> Result<Self> {
        #[cfg(feature = "parquet")]
        return Ok(Self::Parquet);
        #[cfg(not(feature = "parquet"))]
        Err(simtool_base::error::ErrorKind::FeatureOff { what: "Parquet", feature: "parquet" }
            .into())
    }

    /// Returns the file extension of this format without the dot, for example `jsonl`. Options of the command
    /// line use the same text as the name of the format.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Tsv => "tsv",
            #[cfg(feature = "parquet")]
            Self::Parquet => "parquet",
            #[cfg(feature = "parquet")]
            Self::ArrowStream => "arrows",
        }
    }
}

/// A file of rows that is being written in one of the formats of [`RowFormat`].
#[derive(Debug)]
pub struct RowsFile<T: RowTable, W: Write + Send>(RowsTarget<T, W>);

#[derive(Debug)]
enum RowsTarget<T: RowTable, W: Write + Send> {
    /// Writer, columns, and a buffer for the text of one line.
    JsonLines(W, &'static [Column<T>], Vec<u8>),
    Tsv(W, &'static [Column<T>]),
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetRows<T, W>>),
    #[cfg(feature = "parquet")]
    ArrowStream(Box<ArrowRows<T, W>>),
}

impl<T: RowTable, W: Write + Send> RowsFile<T, W> {
    /// Creates a file without rows. A TSV file begins with the names of the columns. A Parquet file has IDs of
    /// the type `ids`, and stores the `recipe` of the method in its metadata.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub fn new(
        mut out: W,
        format: RowFormat,
        columns: &'static [Column<T>],
        ids: IdType,
        recipe: &str,
    ) -> io::Result<Self> {
        #[cfg(not(feature = "parquet"))]
        // Without the feature for Parquet, no format stores the recipe, and each ID has its own type.
        let _ = (recipe, ids);
        Ok(Self(match format {
            RowFormat::JsonLines => RowsTarget::JsonLines(out, columns, Vec::new()),
            RowFormat::Tsv => {
                write_names(&mut out, columns)?;
                RowsTarget::Tsv(out, columns)
            }
            #[cfg(feature = "parquet")]
            RowFormat::Parquet => {
                RowsTarget::Parquet(Box::new(ParquetRows::new(out, columns, ids, Some(recipe))?))
            }
            #[cfg(feature = "parquet")]
            RowFormat::ArrowStream => {
                RowsTarget::ArrowStream(Box::new(ArrowRows::new(out, columns, ids)?))
            }
        }))
    }

    /// Appends a row.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub fn write<'r>(&mut self, row: &'r T::Row<'r>) -> io::Result<()> {
        match &mut self.0 {
            RowsTarget::JsonLines(out, columns, line) => {
                line.clear();
                push_json_line(line, columns, row)?;
                out.write_all(line)
            }
            RowsTarget::Tsv(out, columns) => write_tsv_line(out, columns, row),
            #[cfg(feature = "parquet")]
            RowsTarget::Parquet(rows) => rows.write(row),
            #[cfg(feature = "parquet")]
            RowsTarget::ArrowStream(rows) => rows.write(row),
        }
    }

    /// Appends rows 0 to `count` − 1. `visit` gets a range of row numbers and a function, and must call the function
    /// with each row of the range in order. Several threads of the caller's pool call `visit` with different ranges,
    /// except for Parquet and Arrow.
    ///
    /// # Errors
    ///
    /// `out` fails, or `visit` returns an error.
    pub fn write_all(
        &mut self,
        count: u32,
        visit: impl Fn(Range<u32>, &mut RowVisitor<'_, T>) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        match &mut self.0 {
            RowsTarget::JsonLines(out, columns, _) => write_ranges(out, count, &|range, text| {
                visit(range, &mut |row| push_json_line(text, columns, row))
            }),
            RowsTarget::Tsv(out, columns) => write_ranges(out, count, &|range, text| {
                visit(range, &mut |row| write_tsv_line(text, columns, row))
            }),
            #[cfg(feature = "parquet")]
            RowsTarget::Parquet(rows) => visit(0..count, &mut |row| rows.write(row)),
            #[cfg(feature = "parquet")]
            RowsTarget::ArrowStream(rows) => visit(0..count, &mut |row| rows.write(row)),
        }
    }

    /// Writes everything that is still buffered and returns the writer.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub fn finish(self) -> io::Result<W> {
        let mut out = match self.0 {
            RowsTarget::JsonLines(out, ..) | RowsTarget::Tsv(out, _) => out,
            #[cfg(feature = "parquet")]
            RowsTarget::Parquet(rows) => rows.finish()?,
            #[cfg(feature = "parquet")]
            RowsTarget::ArrowStream(rows) => rows.finish()?,
        };
        // If a buffered writer is only dropped, an error is hidden, for example a full disk.
        out.flush()?;
        Ok(out)
    }
}

/// Function that is called with one row after another, for example to append each row to a file.
pub type RowVisitor<'v, T> = dyn for<'r> FnMut(&'r <T as RowTable>::Row<'r>) -> io::Result<()> + 'v;
