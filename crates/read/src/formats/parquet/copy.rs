//! Writes copies of Parquet files that contain only some of the rows. A copy has all columns, types
//! and metadata of the original.

use crate::formats::parquet::chunks::Chunks;
use crate::formats::table::copying::{GroupEncoder, KeptRows, copy_groups, create, decoded};
use crate::formats::table::editing::{Dictionaries, RowChanges, text_column};
use crate::formats::{RowsCopy, Selector};
use crate::source::{OpenSource, Source};
use arrow_array::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use simtool_base::error::{Error, Result, caught};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Number of rows that are decoded at once. The reader of Parquet files uses the same number, so that reading and
/// copying lose the same rows if a page of the file is damaged.
const BATCH_ROWS: usize = 128;
/// Key in the metadata of a Parquet file. Its value is the schema with Arrow's types. The value is not copied, because
/// the writer of the copy creates it again.
const ARROW_TYPES: &str = "ARROW:schema";

/// Writes a copy of the table `from` that contains only the rows in `copy.kept`. Each row group with kept rows becomes
/// a row group of the copy. All columns of the copy are compressed like the first column of the original. `text`
/// selects the column with the texts.
///
/// # Errors
///
/// The copy cannot be written, or `from` cannot be read.
pub(super) fn copy_rows(from: &dyn Source, copy: &RowsCopy<'_>, text: &Selector) -> Result<()> {
    let to = copy.to;
    let source = from.open().map_err(|e| Error::io(from.name(), "read", e))?;
    let from = from.name();
    let output = create(to)?;
    let (metadata, changes, mut writer, columns) = decoded(from, to, || {
        let metadata = typed_metadata(&source)?;
        let properties = Some(properties(metadata.metadata()));
        let changes = RowChanges::new(metadata.schema(), text, Dictionaries::Edited, copy)?;
        let writer = ArrowWriter::try_new(output, changes.schema(metadata.schema()), properties)?;
        let (writer, columns) = writer.into_serialized_writer()?;
        Ok::<_, ParquetError>((metadata, changes, writer, columns))
    })?;
    let encoder = RowGroupEncoder { source, from, to, metadata, columns, changes };
    copy_groups(&encoder, copy, &mut |group| decoded(from, to, || append(&mut writer, group)))?;
    decoded(from, to, || writer.close().map(drop))
}

/// Returns whether the texts that `text` selects are values of one column that [`copy_rows`] can edit.
pub(super) fn edits_texts(source: &Arc<dyn OpenSource>, text: &Selector) -> bool {
    let metadata = caught(|| typed_metadata(source));
    let is_edited = |metadata: &ArrowReaderMetadata| {
        text_column(metadata.schema(), text, Dictionaries::Edited).is_some()
    };
    matches!(metadata, Ok(Ok(metadata)) if is_edited(&metadata))
}

/// Returns the metadata of a file, with the Arrow types that the file stores in its metadata, for example dictionaries.
/// A copy has the same types.
fn typed_metadata(source: &Arc<dyn OpenSource>) -> Result<ArrowReaderMetadata, ParquetError> {
    ArrowReaderMetadata::load(&Chunks::new(source), ArrowReaderOptions::new())
}

/// Decodes the row groups of the original and encodes the rows that the copy keeps. [`copy_groups`]
/// calls this encoder for each row group.
struct RowGroupEncoder<'c> {
    source: Arc<dyn OpenSource>,
    from: &'c Path,
    to: &'c Path,
    metadata: ArrowReaderMetadata,
    columns: ArrowRowGroupWriterFactory,
    changes: RowChanges<'c>,
}

impl GroupEncoder for RowGroupEncoder<'_> {
    type Encoded = Vec<ArrowColumnChunk>;

    fn group_rows(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or_default()).collect()
    }

    fn encode(&self, group: usize, first: u64, kept: &[u64]) -> Result<Vec<ArrowColumnChunk>> {
        decoded(self.from, self.to, || {
            // Several threads read from the source at the same time.
            let input = Chunks::new(&self.source);
            let metadata = self.metadata.clone();
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata)
                .with_row_groups(vec![group])
                .with_batch_size(BATCH_ROWS)
                .build()?;
            let mut columns = self.columns.create_column_writers(group)?;
            let mut rows = KeptRows::new(first, kept, self.changes);
            for batch in batches {
                // The rows after the last kept row need not be decoded.
                if rows.is_done() {
                    break;
                }
                if let Some(batch) = rows.filter(&batch?)? {
                    write(&batch, &mut columns)?;
                }
            }
            rows.finish()?;
            let chunks = columns.into_iter().map(ArrowColumnWriter::close);
            chunks.collect::<Result<_, ParquetError>>()
        })
    }
}

/// Encodes the rows of a batch with `columns`, the writers of one row group. Each writer writes one column of the file.
fn write(batch: &RecordBatch, columns: &mut [ArrowColumnWriter]) -> Result<(), ParquetError> {
    let mut columns = columns.iter_mut();
    for (field, array) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        // A column with a nested type is stored as several columns of the file.
        for leaf in compute_leaves(field, array)? {
            let column = columns.next();
            let missing = || ParquetError::General("fewer columns than fields".to_owned());
            column.ok_or_else(missing)?.write(&leaf)?;
        }
    }
    Ok(())
}

/// Appends a row group to the copy. `columns` has the encoded columns of the row group.
fn append(
    writer: &mut SerializedFileWriter<File>,
    columns: Vec<ArrowColumnChunk>,
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for column in columns {
        column.append_to_row_group(&mut group)?;
    }
    group.close().map(drop)
}

/// Returns the properties for the writer of a copy. They have the compression and the metadata of
/// the original, `file`.
fn properties(file: &ParquetMetaData) -> WriterProperties {
    let compression = file
        .row_groups()
        .first()
        .and_then(|group| group.columns().first())
        .map_or(Compression::UNCOMPRESSED, |column| writable(column.compression()));
    // The writer adds the key with Arrow's types itself. If it were copied, too, the file would
    // have that key twice.
    let own = file.file_metadata().key_value_metadata().map(|pairs| {
        pairs.iter().filter(|pair| pair.key != ARROW_TYPES).cloned().collect::<Vec<KeyValue>>()
    });
    WriterProperties::builder().set_compression(compression).set_key_value_metadata(own).build()
}

/// Returns the compression for the copy of a column that is compressed with `compression`. The
/// result is the same compression, except for LZO and the older framing of LZ4, which cannot be
/// written.
fn writable(compression: Compression) -> Compression {
    match compression {
        Compression::LZ4 => Compression::LZ4_RAW,
        Compression::LZO => Compression::ZSTD(parquet::basic::ZstdLevel::default()),
        other => other,
    }
}
