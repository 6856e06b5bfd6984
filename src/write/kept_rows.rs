//! A copy of a Parquet file with some of its rows: all columns, types and metadata.

use crate::error::{Error, ErrorKind, Result};
use arrow_array::BooleanArray;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use std::fs::{self, File};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

/// Rows decoded at once, as many as when they were read: behind a damaged page nothing is kept.
const BATCH_ROWS: usize = 128;
/// Where Arrow keeps its own types; the writer makes it anew.
const ARROW_TYPES: &str = "ARROW:schema";

/// Writes the rows of `from` with the numbers in `kept`, which ascend, to the new file `to`. Row
/// groups stay apart, with the compression of the file's first column.
///
/// # Errors
///
/// The copy cannot be written, or `from` cannot be decoded.
pub fn copy_rows(from: &Path, to: &Path, kept: &[u64]) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::io(folder, "create", e))?;
    }
    let input = File::open(from).map_err(|e| Error::io(from, "read", e))?;
    let output = File::create_new(to).map_err(|e| Error::io(to, "create", e))?;
    let copied = catch_unwind(AssertUnwindSafe(|| copy(&input, output, kept)));
    let reason = match copied {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(ParquetError::External(source))) => source.to_string(),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "the decoder gave up".to_owned(),
    };
    let expected = format!("rows that can be copied to {}: {reason}", to.display());
    Err(ErrorKind::Format { path: from.to_owned(), byte: 0, expected }.into())
}

fn copy(input: &File, output: File, kept: &[u64]) -> Result<(), ParquetError> {
    let metadata = ArrowReaderMetadata::load(input, ArrowReaderOptions::new())?;
    let file = metadata.metadata();
    let compression = file
        .row_groups()
        .first()
        .and_then(|group| group.columns().first())
        .map_or(Compression::UNCOMPRESSED, |column| writable(column.compression()));
    let own = file.file_metadata().key_value_metadata().map(|pairs| {
        pairs.iter().filter(|pair| pair.key != ARROW_TYPES).cloned().collect::<Vec<KeyValue>>()
    });
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_key_value_metadata(own)
        .build();
    let mut writer = ArrowWriter::try_new(output, Arc::clone(metadata.schema()), Some(properties))?;
    let (mut row, mut kept) = (0, kept);
    for (at, group) in file.row_groups().iter().enumerate() {
        let end = row + u64::try_from(group.num_rows()).unwrap_or_default();
        let (here, behind) = kept.split_at(kept.partition_point(|&number| number < end));
        if !here.is_empty() {
            let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(
                input.try_clone()?,
                metadata.clone(),
            )
            .with_row_groups(vec![at])
            .with_batch_size(BATCH_ROWS)
            .build()?;
            copy_group(batches, row, here, &mut writer)?;
        }
        (row, kept) = (end, behind);
    }
    let mut output = writer.into_inner()?;
    std::io::Write::flush(&mut output)?;
    Ok(())
}

/// Copies rows of a row group, the first of which has the number `row`.
fn copy_group(
    batches: ParquetRecordBatchReader,
    mut row: u64,
    mut kept: &[u64],
    writer: &mut ArrowWriter<File>,
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
            writer.write(&filter_record_batch(&batch, &BooleanArray::from(mask))?)?;
        }
        (row, kept) = (end, behind);
    }
    writer.flush()
}

/// The compression to write what was compressed so: of the two LZ4 framings one is not written.
fn writable(compression: Compression) -> Compression {
    match compression {
        Compression::LZ4 => Compression::LZ4_RAW,
        Compression::LZO => Compression::ZSTD(parquet::basic::ZstdLevel::default()),
        other => other,
    }
}
