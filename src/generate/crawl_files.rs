//! Writes pages in the formats of crawls: WET, JSON Lines and Parquet.

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parquet::basic::ZstdLevel;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};
use std::sync::Arc;

/// Number of bytes of text after which the buffered rows are written to the Parquet file.
const BATCH_BYTES: usize = 16 << 20;

/// The text of a page, with its URL and date.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageText<'p> {
    /// URL of the page, without white space.
    pub(super) url: &'p str,
    /// Date of the page in the form that WARC files use, for example `2026-01-01T00:00:00Z`.
    pub(super) date: &'p str,
    /// The visible text of the page.
    pub(super) text: &'p str,
}

/// Writes a record of a WET file as a gzip member. The record has a header with `fields` and the
/// length of the content. Then comes the content, which is the parts of `block` one after the other.
///
/// # Errors
///
/// `out` fails.
pub(super) fn write_record(
    out: &mut impl Write,
    level: Compression,
    fields: &[(&str, &str)],
    block: &[&[u8]],
) -> io::Result<()> {
    let mut member = GzEncoder::new(out, level);
    member.write_all(b"WARC/1.0\r\n")?;
    for (name, value) in fields {
        write!(member, "{name}: {value}\r\n")?;
    }
    // The length is in the header, so it must be known before the first byte of the block.
    let length: usize = block.iter().map(|part| part.len()).sum();
    write!(member, "Content-Length: {length}\r\n\r\n")?;
    for part in block {
        member.write_all(part)?;
    }
    member.write_all(b"\r\n\r\n")?;
    member.finish()?;
    Ok(())
}

/// Writes a page as a line of JSON with `url`, `date` and `text`.
///
/// # Errors
///
/// `out` fails.
pub(super) fn write_json_line(out: &mut impl Write, page: &PageText<'_>) -> io::Result<()> {
    let string = |text: &str| serde_json::to_string(text).map_err(io::Error::other);
    let (url, date, text) = (string(page.url)?, string(page.date)?, string(page.text)?);
    writeln!(out, "{{\"url\":{url},\"date\":{date},\"text\":{text}}}")
}

/// A Parquet file with the columns `url`, `date` and `text`.
#[derive(Debug)]
pub(super) struct ParquetFile<W: Write + Send> {
    writer: ArrowWriter<W>,
    schema: Arc<Schema>,
    columns: [Vec<String>; 3],
    bytes: usize,
}

impl<W: Write + Send> ParquetFile<W> {
    /// Creates a file without rows.
    ///
    /// # Errors
    ///
    /// `out` fails.
    pub(super) fn new(out: W) -> io::Result<Self> {
        let field = |name: &str| Field::new(name, DataType::Utf8, false);
        let schema = Arc::new(Schema::new(vec![field("url"), field("date"), field("text")]));
        let properties = WriterProperties::builder()
            .set_compression(parquet::basic::Compression::ZSTD(ZstdLevel::default()))
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
        Ok(Self { writer, schema, columns: Default::default(), bytes: 0 })
    }

    /// Adds a row with the URL, the date and the text of a page.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub(super) fn push(&mut self, page: &PageText<'_>) -> io::Result<()> {
        for (column, value) in self.columns.iter_mut().zip([page.url, page.date, page.text]) {
            column.push(value.to_owned());
        }
        self.bytes += page.text.len();
        // Rows are buffered by bytes and not by number, because pages have very different
        // lengths.
        if self.bytes >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.bytes = 0;
        let column = |values: &mut Vec<String>| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(values.drain(..)))
        };
        let columns = self.columns.iter_mut().map(column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        Ok(self.writer.write(&batch.map_err(io::Error::other)?)?)
    }

    /// Writes the end of the file and returns the writer.
    ///
    /// # Errors
    ///
    /// The writer fails.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.flush()?;
        Ok(self.writer.into_inner()?)
    }
}
