//! Access of the Parquet library to a source.

use crate::source::OpenSource;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{BufReader, Read};
use std::sync::Arc;

/// Adapter by which the Parquet library reads a source of bytes.
pub(super) struct Chunks(Arc<dyn OpenSource>);

impl Chunks {
    pub(super) fn new(source: &Arc<dyn OpenSource>) -> Self {
        Self(Arc::clone(source))
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.0.state().map_or(0, |state| state.bytes)
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Box<dyn Read + Send>>;

    // The library reads the headers of pages in this way, a few bytes at a time.
    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(Arc::clone(&self.0).stream(start)))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.bytes_at(start, length)?;
        if bytes.len() < length {
            let read = bytes.len();
            // The library reports the same of a file.
            let reason = format!("Expected to read {length} bytes, read only {read}");
            return Err(ParquetError::EOF(reason));
        }
        Ok(bytes.into())
    }
}
