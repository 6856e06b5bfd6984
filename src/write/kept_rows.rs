//! A copy of a Parquet file with some of its rows: all columns, types and metadata.

use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::arrow_writer::{
    ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, ParquetMetaData};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use simtool_base::error::{Error, ErrorKind, Result};
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows decoded at once, as many as when they were read: behind a damaged page nothing is kept.
const BATCH_ROWS: usize = 128;
/// Where Arrow keeps its own types; the writer makes it anew.
const ARROW_TYPES: &str = "ARROW:schema";

/// A copy that is being written: row groups are encoded by anyone, in any order, and appended in
/// theirs.
pub struct RowsCopy {
    from: PathBuf,
    to: PathBuf,
    metadata: ArrowReaderMetadata,
    encoder: ArrowRowGroupWriterFactory,
    writer: SerializedFileWriter<File>,
}

/// The rows of a row group that are kept, encoded; nothing if there are none.
pub struct EncodedGroup(Vec<ArrowColumnChunk>);

/// Encodes row groups of a copy, while others are appended to it.
pub struct GroupEncoder<'c> {
    from: &'c Path,
    to: &'c Path,
    metadata: &'c ArrowReaderMetadata,
    encoder: &'c ArrowRowGroupWriterFactory,
}

impl RowsCopy {
    /// Begins the new file `to`, which will hold rows of `from` in the same row groups, with the
    /// compression of the file's first column.
    ///
    /// # Errors
    ///
    /// The copy cannot be written, or `from` cannot be read.
    pub fn create(from: &Path, to: &Path) -> Result<Self> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
        }
        let input = File::open(from).map_err(|e| Error::io(from, "read", e))?;
        let output = File::create_new(to).map_err(|e| Error::io(to, "create", e))?;
        let (metadata, writer, encoder) = decoded(from, to, || {
            let metadata = ArrowReaderMetadata::load(&input, ArrowReaderOptions::new())?;
            let properties = Some(properties(metadata.metadata()));
            let writer = ArrowWriter::try_new(output, Arc::clone(metadata.schema()), properties)?;
            let (writer, encoder) = writer.into_serialized_writer()?;
            Ok((metadata, writer, encoder))
        })?;
        Ok(Self { from: from.to_owned(), to: to.to_owned(), metadata, encoder, writer })
    }

    /// The numbers of rows of the row groups of the original.
    #[must_use]
    pub fn group_rows(&self) -> Vec<u64> {
        let groups = self.metadata.metadata().row_groups().iter();
        groups.map(|group| u64::try_from(group.num_rows()).unwrap_or_default()).collect()
    }

    /// What encodes the groups, and what they are appended to.
    pub fn split(&mut self) -> (GroupEncoder<'_>, GroupSink<'_>) {
        let Self { from, to, metadata, encoder, writer } = self;
        (GroupEncoder { from, to, metadata, encoder }, GroupSink { from, to, writer })
    }

    /// Ends the file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn finish(self) -> Result<()> {
        let Self { from, to, writer, .. } = self;
        decoded(&from, &to, || writer.close().map(drop))
    }
}

/// Where encoded row groups go, in order.
pub struct GroupSink<'c> {
    from: &'c Path,
    to: &'c Path,
    writer: &'c mut SerializedFileWriter<File>,
}

impl GroupSink<'_> {
    /// Appends the next row group, if there is anything of it.
    ///
    /// # Errors
    ///
    /// The copy cannot be written.
    pub fn append(&mut self, EncodedGroup(columns): EncodedGroup) -> Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        decoded(self.from, self.to, || {
            let mut group = self.writer.next_row_group()?;
            for column in columns {
                column.append_to_row_group(&mut group)?;
            }
            group.close().map(drop)
        })
    }
}

impl GroupEncoder<'_> {
    /// Encodes the rows of a row group with the numbers in `kept`, which ascend; the group's first has
    /// the number `first`.
    ///
    /// # Errors
    ///
    /// The original cannot be decoded.
    pub fn encode(&self, group: usize, first: u64, kept: &[u64]) -> Result<EncodedGroup> {
        if kept.is_empty() {
            return Ok(EncodedGroup(Vec::new()));
        }
        // One of its own: clones of a file share the place that is read.
        let input = File::open(self.from).map_err(|e| Error::io(self.from, "read", e))?;
        decoded(self.from, self.to, || {
            let metadata = self.metadata.clone();
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(input, metadata)
                .with_row_groups(vec![group])
                .with_batch_size(BATCH_ROWS)
                .build()?;
            let mut columns = self.encoder.create_column_writers(group)?;
            encode_kept(batches, first, kept, &mut columns)?;
            let chunks = columns.into_iter().map(ArrowColumnWriter::close);
            chunks.collect::<Result<_, _>>().map(EncodedGroup)
        })
    }
}

/// Nothing of the library's own can be shown.
macro_rules! opaque {
    ($($type:ty),*) => {
        $(impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($type))
            }
        })*
    };
}

opaque!(RowsCopy, EncodedGroup, GroupEncoder<'_>, GroupSink<'_>);

/// Runs the library; what it says, in an error or a panic, is about the rows.
fn decoded<R>(from: &Path, to: &Path, work: impl FnOnce() -> Result<R, ParquetError>) -> Result<R> {
    let reason = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(ParquetError::External(source))) => source.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the decoder gave up".to_owned(),
    };
    let expected = format!("rows that can be copied to {}: {reason}", to.display());
    Err(ErrorKind::Format { path: from.to_owned(), byte: 0, expected }.into())
}

fn properties(file: &ParquetMetaData) -> WriterProperties {
    let compression = file
        .row_groups()
        .first()
        .and_then(|group| group.columns().first())
        .map_or(Compression::UNCOMPRESSED, |column| writable(column.compression()));
    let own = file.file_metadata().key_value_metadata().map(|pairs| {
        pairs.iter().filter(|pair| pair.key != ARROW_TYPES).cloned().collect::<Vec<KeyValue>>()
    });
    WriterProperties::builder().set_compression(compression).set_key_value_metadata(own).build()
}

/// Encodes rows of a row group, the first of which has the number `row`.
fn encode_kept(
    batches: ParquetRecordBatchReader,
    mut row: u64,
    mut kept: &[u64],
    columns: &mut [ArrowColumnWriter],
) -> Result<(), ParquetError> {
    for batch in batches {
        if kept.is_empty() {
            break;
        }
        let batch = batch?;
        let end = row + batch.num_rows() as u64;
        let (here, behind) = kept.split_at(kept.partition_point(|&number| number < end));
        if !here.is_empty() {
            let mut mask = vec![false; batch.num_rows()];
            for &number in here {
                mask[(number - row) as usize] = true;
            }
            let batch = filter_record_batch(&batch, &BooleanArray::from(mask))?;
            let mut columns = columns.iter_mut();
            for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
                // One column of a nested type is several of the file.
                for leaf in compute_leaves(field, column)? {
                    let column = columns.next();
                    let missing = || ParquetError::General("fewer columns than fields".to_owned());
                    column.ok_or_else(missing)?.write(&leaf)?;
                }
            }
        }
        (row, kept) = (end, behind);
    }
    Ok(())
}

/// The compression to write what was compressed so: of the two LZ4 framings one is not written.
fn writable(compression: Compression) -> Compression {
    match compression {
        Compression::LZ4 => Compression::LZ4_RAW,
        Compression::LZO => Compression::ZSTD(parquet::basic::ZstdLevel::default()),
        other => other,
    }
}
