//! Writes copies of Arrow files and streams that contain only some of the rows. A copy has all
//! columns, types and metadata of the original.

use crate::formats::arrow_ipc::layout::ArrowLayout;
use crate::formats::table::copying::{GroupEncoder, KeptRows, copy_groups, create, decoded};
use crate::formats::table::editing::{Dictionaries, RowChanges};
use crate::formats::{RowsCopy, Selector};
use crate::source::{OpenSource, Source};
use arrow_array::RecordBatch;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, Schema};
use simtool_base::error::{Error, Result};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

/// Writes a copy of the table `from` that contains only the rows in `copy.kept`. The copy is a file
/// or a stream like the original. It is compressed like the first record batch of the original. `text`
/// selects the column with the texts.
///
/// # Errors
///
/// The copy cannot be written, or `from` cannot be read.
pub(super) fn copy_rows(from: &dyn Source, copy: &RowsCopy<'_>, text: &Selector) -> Result<()> {
    let to = copy.to;
    let source = from.open().map_err(|e| Error::io(from.name(), "read", e))?;
    let from = from.name();
    let layout = decoded(from, to, || ArrowLayout::load(&*source, usize::MAX))?;
    let output = BufWriter::new(create(to)?);
    let changes =
        decoded(from, to, || RowChanges::new(&layout.schema, text, Dictionaries::Fixed, copy))?;
    let schema = changes.schema(&layout.schema);
    let mut writer = decoded(from, to, || CopyWriter::create(&layout, &schema, &*source, output))?;
    let decoder = match layout.batches.first() {
        Some(_) => Some(decoded(from, to, || layout.decoder(&*source, 0, None))?),
        None => None,
    };
    let encoder = BatchEncoder { source, from, to, layout, decoder, changes };
    copy_groups(&encoder, copy, &mut |batch| decoded(from, to, || writer.write(batch.as_ref())))?;
    decoded(from, to, || writer.finish())
}

/// Decodes the record batches of the original and keeps the rows for the copy. [`copy_groups`] calls this encoder for
/// each batch.
struct BatchEncoder<'c> {
    source: Arc<dyn OpenSource>,
    from: &'c Path,
    to: &'c Path,
    layout: ArrowLayout,
    /// Decoder that has read the dictionaries of the first batch. In most files, all batches use the same dictionaries,
    /// so this decoder can decode all of them. `None` if the file has no batch.
    decoder: Option<FileDecoder>,
    changes: RowChanges<'c>,
}

impl GroupEncoder for BatchEncoder<'_> {
    type Encoded = Option<RecordBatch>;

    fn group_rows(&self) -> Vec<u64> {
        let groups = 0..self.layout.batches.len();
        groups.map(|group| self.layout.rows(&*self.source, group)).collect()
    }

    fn encode(&self, group: usize, first: u64, kept: &[u64]) -> Result<Option<RecordBatch>> {
        let source = &*self.source;
        let batch = decoded(self.from, self.to, || {
            let batches = &self.layout.batches;
            let is_first = Arc::ptr_eq(&batches[group].dictionaries, &batches[0].dictionaries);
            if let Some(decoder) = self.decoder.as_ref().filter(|_| is_first) {
                return self.layout.decode(source, group, decoder);
            }
            let decoder = self.layout.decoder(source, group, None)?;
            self.layout.decode(source, group, &decoder)
        })?;
        decoded(self.from, self.to, || {
            let mut rows = KeptRows::new(first, kept, self.changes);
            let filtered = rows.filter(&batch)?;
            rows.finish().map(|()| filtered)
        })
    }
}

/// Arrow's writer for the copy. It writes a file if the original is a file, and otherwise a stream.
enum CopyWriter {
    File(FileWriter<BufWriter<File>>),
    Stream(StreamWriter<BufWriter<File>>),
}

impl CopyWriter {
    fn create(
        layout: &ArrowLayout,
        schema: &Schema,
        source: &dyn OpenSource,
        output: BufWriter<File>,
    ) -> Result<Self, ArrowError> {
        let compression = layout.compression(source);
        let options = IpcWriteOptions::default().try_with_compression(compression)?;
        if !layout.is_file {
            let writer = StreamWriter::try_new_with_options(output, schema, options)?;
            return Ok(Self::Stream(writer));
        }
        let mut writer = FileWriter::try_new_with_options(output, schema, options)?;
        for (name, value) in &layout.metadata {
            writer.write_metadata(name, value);
        }
        Ok(Self::File(writer))
    }

    fn write(&mut self, batch: Option<&RecordBatch>) -> Result<(), ArrowError> {
        let Some(batch) = batch else { return Ok(()) };
        match self {
            Self::File(writer) => writer.write(batch),
            Self::Stream(writer) => writer.write(batch),
        }
    }

    fn finish(&mut self) -> Result<(), ArrowError> {
        match self {
            Self::File(writer) => writer.finish(),
            Self::Stream(writer) => writer.finish(),
        }
    }
}
