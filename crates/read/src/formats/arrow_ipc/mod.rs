//! Arrow IPC: files (`.arrow`, Feather version 2) and streams of record batches in the layout that
//! Arrow uses in memory.

#[cfg(feature = "parquet")]
mod copy;
mod framing;
#[cfg(feature = "parquet")]
mod layout;
#[cfg(feature = "parquet")]
mod reader;
#[cfg(feature = "parquet")]
mod selection;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod tests;

use crate::formats::arrow_ipc::framing::{CONTINUATION, LONGEST_METADATA, MAGIC};
use crate::formats::{Fields, InputFormat, Price, Reader};
#[cfg(feature = "parquet")]
use {
    crate::formats::{RowsCopy, Selector, TableFormat, TableJob, TableRows, TableShare, Visit},
    crate::source::{OpenSource, Source},
    simtool_base::error::Result,
    std::sync::Arc,
};

/// Entry of Arrow IPC in the table of input formats.
pub(crate) static ARROW: ArrowIpc = ArrowIpc;

/// The format Arrow IPC. It has two variants, files and streams, and both are read.
#[derive(Debug)]
pub(crate) struct ArrowIpc;

impl InputFormat for ArrowIpc {
    fn name(&self) -> &'static str {
        "arrow"
    }

    fn title(&self) -> &'static str {
        "Arrow IPC"
    }

    fn about(&self) -> &'static str {
        "Each row of an Arrow IPC file or stream (Feather version 2) is a document"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["arrow", "arrows", "feather", "ipc"]
    }

    fn fields(&self) -> Fields {
        Fields::Named
    }

    fn has_magic(&self, head: &[u8]) -> bool {
        head.starts_with(MAGIC) || is_stream(head)
    }

    fn price(&self) -> Price {
        Price::Unpacked
    }

    #[cfg(feature = "parquet")]
    fn reader(&'static self) -> Reader {
        Reader::Table(self)
    }

    #[cfg(not(feature = "parquet"))]
    fn reader(&'static self) -> Reader {
        Reader::FeatureOff("parquet")
    }
}

/// Returns whether `head`, the first bytes of a file, are the start of an Arrow stream. No text
/// begins with these bytes.
fn is_stream(head: &[u8]) -> bool {
    let length = head.strip_prefix(&CONTINUATION).and_then(|rest| rest.first_chunk::<4>());
    length.is_some_and(|&length| (1..=LONGEST_METADATA).contains(&u32::from_le_bytes(length)))
        || is_old_stream(head).unwrap_or(false)
}

/// Returns whether a file begins like a stream of an Arrow version before 0.15: with the length of the first message,
/// which is a schema. A message is a table of `FlatBuffers`. Returns `None` if the first bytes are not such a table.
fn is_old_stream(head: &[u8]) -> Option<bool> {
    const SCHEMA: u8 = 1;
    let length = number(head, 0)?;
    if !(16..=LONGEST_METADATA).contains(&length) || !length.is_multiple_of(4) {
        return None;
    }
    // The length of the table's description lies before the table.
    let table = number(head, 4)?.checked_add(4).filter(|&table| table < length)? as usize;
    let description = table.checked_sub(number(head, table)? as usize)?;
    let is_long = short(head, description)? >= 10;
    // The second field of a message is the kind of its header.
    let kind = usize::from(short(head, description + 6)?);
    Some(is_long && kind > 0 && *head.get(table + kind)? == SCHEMA)
}

/// Returns the number in the 4 bytes from position `at` on, or `None` if there are fewer bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the number in the 2 bytes from position `at` on, or `None` if there are fewer bytes.
fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(feature = "parquet")]
impl TableFormat for ArrowIpc {
    fn shares(&self, source: &Arc<dyn OpenSource>, bytes: u64) -> Option<Vec<TableShare>> {
        reader::shares(&**source, bytes)
    }

    fn column_names(&self, source: &Arc<dyn OpenSource>) -> Vec<String> {
        selection::column_names(&**source)
    }

    fn read(&self, job: TableJob<'_>, visit: &mut Visit<'_>) -> Result<u64> {
        reader::read(job, visit)
    }

    fn edits_texts(&self, source: &Arc<dyn OpenSource>, text: &Selector) -> bool {
        selection::edits_texts(&**source, text)
    }

    fn copy_rows(&self, from: &dyn Source, copy: &RowsCopy<'_>, text: &Selector) -> Result<()> {
        copy::copy_rows(from, copy, text)
    }

    /// Estimates the memory as twice the bytes of the longest shard. A shard is one record batch, or several short
    /// ones. The bytes of a whole record batch are in memory together with its decompressed text.
    fn reader_bytes(&self, rows: TableRows) -> f64 {
        2.0 * rows.shard_bytes
    }
}
