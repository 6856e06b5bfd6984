//! Bytes in memory as a source.

use super::{OpenSource, Source, SourceState, SourceStream};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes in memory, which never change.
#[derive(Debug)]
pub(crate) struct MemorySource {
    name: PathBuf,
    bytes: Arc<Vec<u8>>,
}

impl MemorySource {
    /// Creates the source of `bytes`. `name` is shown in messages and need not be the path of a file.
    pub(crate) fn new(name: PathBuf, bytes: Vec<u8>) -> Self {
        Self { name, bytes: Arc::new(bytes) }
    }
}

impl Source for MemorySource {
    fn name(&self) -> &Path {
        &self.name
    }

    fn is_lasting(&self) -> bool {
        false
    }

    fn state(&self) -> io::Result<SourceState> {
        self.bytes.state()
    }

    fn open(&self) -> io::Result<Arc<dyn OpenSource>> {
        Ok(Arc::clone(&self.bytes) as Arc<dyn OpenSource>)
    }
}

impl OpenSource for Vec<u8> {
    fn state(&self) -> io::Result<SourceState> {
        // Nobody can change the bytes, so they need no time.
        Ok(SourceState { bytes: self.len() as u64, ..SourceState::default() })
    }

    fn read_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        self.get(at..).unwrap_or_default().read(space)
    }

    fn stream(self: Arc<Self>, from: u64) -> Box<dyn Read + Send> {
        Box::new(SourceStream { source: self, at: from })
    }
}
