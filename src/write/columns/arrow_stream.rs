//! Writes rows as a stream of Arrow.

use super::row_batches::RowBatches;
use super::{Column, IdType, RowTable};
use arrow_ipc::writer::StreamWriter;
use std::fmt;
use std::io::{self, Write};

/// Writer of the rows of a table as a stream in the Arrow IPC format.
pub(super) struct ArrowRows<T: RowTable, W: Write> {
    writer: StreamWriter<W>,
    rows: RowBatches<T>,
}

impl<T: RowTable, W: Write> ArrowRows<T, W> {
    /// Creates a stream without rows, with IDs of the type `ids`.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(super) fn new(out: W, columns: &'static [Column<T>], ids: IdType) -> io::Result<Self> {
        let rows = RowBatches::new(columns, ids);
        let writer = StreamWriter::try_new(out, &rows.schema()).map_err(io::Error::other)?;
        Ok(Self { writer, rows })
    }

    /// Appends a row.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub(super) fn write<'r>(&mut self, row: &'r T::Row<'r>) -> io::Result<()> {
        let batch = self.rows.push(row)?;
        batch.map_or(Ok(()), |batch| self.writer.write(&batch).map_err(io::Error::other))
    }

    /// Writes the rows that are still in memory and the end of the stream, and returns the writer.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub(super) fn finish(mut self) -> io::Result<W> {
        // The last batch is smaller than the others, and may be empty.
        self.writer.write(&self.rows.take()?).map_err(io::Error::other)?;
        self.writer.finish().map_err(io::Error::other)?;
        self.writer.into_inner().map_err(io::Error::other)
    }
}

impl<T: RowTable, W: Write> fmt::Debug for ArrowRows<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowRows").field("rows", &self.rows).finish_non_exhaustive()
    }
}
