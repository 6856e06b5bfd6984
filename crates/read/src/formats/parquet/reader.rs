//! Reads the rows of a Parquet file as documents. Only the needed columns are decoded.
//!
//! The library can panic on damaged files. A panic is caught and reported as a fault, like the
//! library's errors. Sizes that a file declares are checked before anything is decoded.

use crate::bytes::Expansion;
use crate::formats::parquet::chunks::Chunks;
use crate::formats::table::columns::{self, ColumnPath, FoundColumns};
use crate::formats::table::documents::VisitedRows;
use crate::formats::table::shares_of;
use crate::formats::{Columns, Event, Flow, TableJob, TableShare, Visit, give, part_of};
use crate::source::OpenSource;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use simtool_base::error::{Result, caught};
use simtool_base::fault::quoted;
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Number of rows that are decoded at once. It is small, because a crafted file can repeat one long value in many rows.
const BATCH_ROWS: usize = 128;
/// Length in bytes after which writers usually end a page.
const LEAST_PAGE_BYTES: u64 = 1_000_000;
/// Number of rows after which most writers check the length of a page.
const PAGE_ROWS: u64 = 1024;
/// Largest depth of nested columns in a schema. A file with a deeper schema is not read.
const DEEPEST_SCHEMA: usize = 64;
/// Largest number of columns in a schema. A file with more columns is not read.
const MOST_COLUMNS: usize = 10_000;

/// Divides the file into shares of at least `bytes` compressed bytes. A share consists of consecutive row groups, and
/// one thread reads it independently of the other shares. Returns `None` if the footer of the file cannot be read.
pub(super) fn shares(source: &Arc<dyn OpenSource>, bytes: u64) -> Option<Vec<TableShare>> {
    let metadata = load(source).ok()?;
    let groups = metadata.metadata().row_groups().iter();
    Some(shares_of(groups.map(|group| (compressed_bytes(group), row_count(group))), bytes))
}

/// Returns the number of rows that a row group declares.
fn row_count(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or_default()
}

/// Returns the number of compressed bytes that a row group declares for all its columns.
fn compressed_bytes(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.compressed_size()).unwrap_or_default()
}

/// Returns the paths of all columns of a Parquet file, such as `meta.id` or `messages[].content`.
/// Returns an empty list if the file cannot be read.
pub(super) fn column_names(source: &Arc<dyn OpenSource>) -> Vec<String> {
    let Ok(metadata) = load(source) else { return Vec::new() };
    columns::column_names(metadata.schema().fields())
}

/// Returns whether the footer of a Parquet file can be read, and its schema has neither too many nor too deeply nested
/// columns.
pub(super) fn is_readable(source: &Arc<dyn OpenSource>) -> bool {
    load(source).is_ok()
}

/// Passes the rows of the row groups in `job.groups` to `visit`. Returns the number of rows that the file declares for
/// these row groups. If `visit` stopped the reading, returns the number of rows that it got instead.
///
/// # Errors
///
/// The first error of `visit`.
pub(super) fn read(job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64> {
    let metadata = match load(job.source) {
        Ok(metadata) => metadata,
        Err(reason) => {
            let detail = format!("{reason}; no rows were read");
            return visit(job.damage("parquet-footer", detail, 0)).map(|_| 0);
        }
    };
    let selected = match Selected::new(&metadata, job.columns) {
        Ok(selected) => selected,
        Err(_) if !job.has_first_group() => return Ok(0),
        Err(reason) => {
            let rows = metadata.metadata().file_metadata().num_rows();
            let rows = u64::try_from(rows).unwrap_or_default();
            return visit(job.damage("parquet-column", reason, rows)).map(|_| 0);
        }
    };
    let groups = job.groups.clone().unwrap_or(0..metadata.metadata().num_row_groups());
    let mut reading = GroupReading { job, metadata, selected, rows: 0, bytes: 0, text_bytes: 0 };
    for group in groups {
        if let ControlFlow::Break(ended) = reading.read_group(group, visit) {
            return ended.map(|()| reading.rows);
        }
    }
    Ok(reading.rows)
}

/// State while row groups are read, one after the other.
struct GroupReading<'j> {
    job: TableJob<'j>,
    metadata: ArrowReaderMetadata,
    selected: Selected,
    /// Number of rows in the row groups that were read so far, including rows lost by damage.
    rows: u64,
    /// Number of compressed bytes of the row groups that were read so far.
    bytes: u64,
    /// Number of bytes of text in the rows that were read so far.
    text_bytes: u64,
}

impl GroupReading<'_> {
    fn read_group(&mut self, group: usize, visit: &mut Visit<'_>) -> Flow {
        let group_metadata = self.metadata.metadata().row_group(group);
        let declared = row_count(group_metadata);
        let group_bytes = compressed_bytes(group_metadata);
        let text_bytes = self.selected.text_bytes(group_metadata);
        // A row group that declares too much is not decoded at all, since it may be a decompression
        // bomb. Its pages are decoded one by one, so an honest column may be of any length.
        if let Some(detail) = self.selected.too_long(group_metadata, self.job.expansion) {
            self.rows = self.rows.saturating_add(declared);
            let detail = format!("row group {group}, {detail}; its rows were not read");
            return give(self.job.damage("parquet-size", detail, declared), visit);
        }
        // The library takes memory for a page as a whole, so it is reserved before the first page is decoded.
        let pages = self.selected.page_memory(group_metadata);
        let _turn = match self.job.memory.take(pages, || format!("row group {group}")) {
            Ok(turn) => turn,
            Err(error) => return ControlFlow::Break(Err(error)),
        };
        let (longest, found) = (self.job.longest, &self.selected.found);
        let mut rows = VisitedRows::new(self.rows, longest, "parquet-type", found);
        let bytes_before = self.bytes;
        let text_before = self.text_bytes;
        let expansion = self.job.expansion;
        let reached = |rows: &VisitedRows<'_>| {
            // One long value can be the text of many rows, so the texts may be much longer than the
            // pages that hold them.
            let (read, written) = (bytes_before + group_bytes, text_before + rows.text_read);
            if !expansion.allows(read, written) {
                return Err(expansion.explanation(read, written));
            }
            // The first rows may be longer than the last rows, so the bytes of the texts measure
            // progress better than the number of rows.
            let of_group = match text_bytes {
                Some(all) => part_of(group_bytes, rows.text_read, all),
                None => part_of(group_bytes, rows.read, declared),
            };
            Ok(bytes_before + of_group)
        };
        let result = open(self.job.source, &self.metadata, &self.selected, group)
            .and_then(|batches| visit_batches(batches, &mut rows, visit, &reached));
        let read = rows.read;
        self.text_bytes += rows.text_read;
        self.bytes = self.bytes.saturating_add(group_bytes);
        match result {
            Ok(ControlFlow::Continue(())) => {
                self.rows = self.rows.saturating_add(declared.max(read));
                ControlFlow::Continue(())
            }
            Ok(ended @ ControlFlow::Break(_)) => {
                self.rows += read;
                ended
            }
            Err(reason) => {
                self.rows = self.rows.saturating_add(declared.max(read));
                let detail = format!(
                    "row group {group}, column \"{}\": {}; {read} of {declared} rows were kept, \
                     the others are lost",
                    quoted(self.selected.first.as_bytes()),
                    quoted(reason.as_bytes())
                );
                let lost = declared.saturating_sub(read);
                give(self.job.damage("parquet-page", detail, lost), visit)
            }
        }
    }
}

/// Passes the rows of all batches of a row group to `visit`. After each batch, `reached` returns the number of bytes
/// that are reported as progress. The error is the reason why a batch cannot be decoded, or an error of `reached`.
fn visit_batches(
    mut batches: ParquetRecordBatchReader,
    rows: &mut VisitedRows<'_>,
    visit: &mut Visit<'_>,
    reached: &dyn Fn(&VisitedRows<'_>) -> Result<u64, String>,
) -> Result<Flow, String> {
    loop {
        let batch = match caught(|| batches.next().transpose())? {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(ControlFlow::Continue(())),
            Err(error) => return Err(error.to_string()),
        };
        if let ended @ ControlFlow::Break(_) = rows.visit(&batch, visit)? {
            return Ok(ended);
        }
        let reached = Event::Reached(reached(rows)?);
        if let ended @ ControlFlow::Break(_) = give(reached, visit) {
            return Ok(ended);
        }
    }
}

/// Loads the metadata of a Parquet file. Returns an error if the schema has too many or too deeply
/// nested columns, because such a file must be damaged or crafted.
fn load(source: &Arc<dyn OpenSource>) -> Result<ArrowReaderMetadata, String> {
    // Arrow's own types, if the file stores them, would make the reader return dictionaries and
    // views.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let metadata = caught(|| ArrowReaderMetadata::load(&Chunks::new(source), options))?
        .map_err(|error| quoted(error.to_string().as_bytes()))?;
    let schema = metadata.parquet_schema();
    if schema.num_columns() > MOST_COLUMNS {
        return Err(format!("{} columns, over {MOST_COLUMNS}", schema.num_columns()));
    }
    // The library walks nested types recursively, so a deep schema could overflow the stack.
    if schema.columns().iter().any(|column| column.path().parts().len() > DEEPEST_SCHEMA) {
        return Err(format!("a schema nested over {DEEPEST_SCHEMA} deep"));
    }
    Ok(metadata)
}

/// The columns of the file that are read.
struct Selected {
    found: FoundColumns,
    /// Indexes of the leaf columns to decode. If the file has no column with the text, this is only the shortest
    /// column. It is decoded to count the rows, since the number of rows that the file declares may be wrong.
    leaves: BTreeSet<usize>,
    /// Name of the first column with the text, or else of the shortest column.
    first: String,
}

impl Selected {
    fn new(metadata: &ArrowReaderMetadata, columns: Columns<'_>) -> Result<Self, String> {
        let schema = metadata.parquet_schema();
        let is_null = |mut leaves: Range<usize>| leaves.all(|leaf| is_null(metadata, leaf));
        let found = FoundColumns::new(metadata.schema().fields(), columns, &is_null)?;
        let first = found.texts().next().map(ColumnPath::name);
        if let Some(first) = first {
            let mut leaves = found.paths().flat_map(|path| path.leaves.clone()).collect();
            columns::complete_maps(metadata.schema().fields(), 0, &mut leaves);
            return Ok(Self { found, leaves, first });
        }
        let compressed = |&leaf: &usize| -> i64 {
            let groups = metadata.metadata().row_groups().iter();
            let sizes =
                groups.filter_map(|group| Some(group.columns().get(leaf)?.compressed_size()));
            sizes.fold(0, i64::saturating_add)
        };
        let shortest = (0..schema.num_columns()).min_by_key(compressed);
        let shortest = shortest.ok_or("has no columns")?;
        let first = schema.column(shortest).path().string();
        Ok(Self { found: FoundColumns::default(), leaves: [shortest].into(), first })
    }

    /// Estimates the memory in bytes of one page of each column that is read. A page is in memory in several forms
    /// at once: compressed, decompressed, and as rows.
    fn page_memory(&self, group: &RowGroupMetaData) -> u64 {
        const FORMS: u64 = 4;
        let rows = row_count(group).max(1);
        let columns = self.leaves.iter().filter_map(|&leaf| group.columns().get(leaf));
        let pages = columns.map(|column| {
            let bytes = u64::try_from(column.uncompressed_size()).unwrap_or_default();
            // Writers end a page after 1 MB, but most of them look at its length only after many rows.
            let rows_of_page = (bytes / rows).saturating_mul(PAGE_ROWS);
            bytes.min(rows_of_page.max(LEAST_PAGE_BYTES))
        });
        pages.fold(0, u64::saturating_add).saturating_mul(FORMS)
    }

    /// Returns the number of bytes of all texts of a row group. Returns `None` if the file does not declare it, or has
    /// no column with the text.
    fn text_bytes(&self, group: &RowGroupMetaData) -> Option<u64> {
        let mut texts = self.found.texts().peekable();
        texts.peek()?;
        let bytes = texts.flat_map(|path| path.leaves.clone()).map(|leaf| -> Option<u64> {
            group.columns().get(leaf)?.unencoded_byte_array_data_bytes()?.try_into().ok()
        });
        bytes.sum()
    }

    /// Returns a message if a selected column of a row group declares more decompressed bytes than `expansion` allows
    /// for its compressed bytes. Returns `None` otherwise.
    fn too_long(&self, group: &RowGroupMetaData, expansion: Expansion) -> Option<String> {
        self.leaves.iter().find_map(|&leaf| {
            let column = group.columns().get(leaf)?;
            let name = quoted(column.column_path().string().as_bytes());
            let sizes = [column.compressed_size(), column.uncompressed_size()];
            let [Ok(compressed), Ok(size)] = sizes.map(u64::try_from) else {
                return Some(format!("column \"{name}\" declares the sizes {sizes:?}"));
            };
            (!expansion.allows(compressed, size))
                .then(|| format!("column \"{name}\": {}", expansion.explanation(compressed, size)))
        })
    }
}

/// Returns whether the file declares that all values of a leaf column are null.
fn is_null(metadata: &ArrowReaderMetadata, leaf: usize) -> bool {
    metadata.metadata().row_groups().iter().all(|group| {
        let column = group.columns().get(leaf);
        let nulls = column.and_then(|column| column.statistics()?.null_count_opt());
        nulls.is_some_and(|nulls| nulls == row_count(group))
    })
}

fn open(
    source: &Arc<dyn OpenSource>,
    metadata: &ArrowReaderMetadata,
    selected: &Selected,
    group: usize,
) -> Result<ParquetRecordBatchReader, String> {
    caught(|| {
        ParquetRecordBatchReaderBuilder::new_with_metadata(Chunks::new(source), metadata.clone())
            .with_projection(ProjectionMask::leaves(
                metadata.parquet_schema(),
                selected.leaves.iter().copied(),
            ))
            .with_row_groups(vec![group])
            .with_batch_size(BATCH_ROWS)
            .build()
    })?
    .map_err(|error| error.to_string())
}
