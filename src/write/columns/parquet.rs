//! Writes rows to a Parquet file.

use super::row_batches::RowBatches;
use super::{Column, IdType, RowTable};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fmt;
use std::io::{self, Write};

/// A Parquet file of rows that is being written.
pub struct ParquetRows<T: RowTable, W: Write + Send> {
    writer: ArrowWriter<W>,
    rows: RowBatches<T>,
}

impl<T: RowTable, W: Write + Send> ParquetRows<T, W> {
    /// Creates a file without rows, with IDs of the type `ids`. `recipe` is the text that identifies how
    /// fingerprints are made. If it is given, the metadata of the file contains it, and also the version of
    /// the metadata.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub fn new(
        out: W,
        columns: &'static [Column<T>],
        ids: IdType,
        recipe: Option<&str>,
    ) -> io::Result<Self> {
        let rows = RowBatches::new(columns, ids);
        let writer = ArrowWriter::try_new(out, rows.schema(), Some(properties(recipe)));
        Ok(Self { writer: writer.map_err(parquet_error)?, rows })
    }

    /// Appends a row.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub fn write<'r>(&mut self, row: &'r T::Row<'r>) -> io::Result<()> {
        self.rows.push(row)?.map_or(Ok(()), |batch| self.encode(&batch))
    }

    /// Appends many rows and encodes them at once.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub(crate) fn write_batch<'r>(&mut self, rows: &'r [T::Row<'r>]) -> io::Result<()> {
        self.rows.extend(rows)?;
        let batch = self.rows.take()?;
        self.encode(&batch)
    }

    /// Returns the writer to which the file is written. It lacks the rows that are still collected in memory.
    pub fn out(&mut self) -> &mut W {
        self.writer.inner_mut()
    }

    fn encode(&mut self, batch: &RecordBatch) -> io::Result<()> {
        self.writer.write(batch).map_err(parquet_error)
    }

    /// Encodes the rows that are still collected in memory, writes the end of the file, and returns the
    /// writer.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        let batch = self.rows.take()?;
        self.encode(&batch)?;
        self.writer.into_inner().map_err(parquet_error)
    }
}

impl<T: RowTable, W: Write + Send> fmt::Debug for ParquetRows<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetRows").field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// Returns the settings of the Parquet writer: the compression, and metadata with the recipe of the fingerprints if
/// `recipe` is given.
fn properties(recipe: Option<&str>) -> WriterProperties {
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
    let metadata = recipe.map(|recipe| {
        vec![
            KeyValue::new("simtool.format".to_owned(), "1".to_owned()),
            KeyValue::new("simtool.recipe".to_owned(), recipe.to_owned()),
        ]
    });
    properties.set_key_value_metadata(metadata).build()
}

fn parquet_error(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
