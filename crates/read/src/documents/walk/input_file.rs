//! An input file, as the walk finds it.

use crate::source::{LocalSource, MemorySource, Source};
#[cfg(feature = "remote")]
use crate::source::{address::Address, remote::RemoteSource};
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An input file: a file that the user named, a file in a named folder, or standard input.
#[derive(Clone, Debug)]
pub struct InputFile {
    pub(crate) source: Arc<dyn Source>,
    /// Path at which a copy of the file is written, relative to the folder of all copies. For a file that the user
    /// named, it is the name of the file without folders, for example `a.jsonl`. For a file in a folder that the user
    /// named, the path begins with the name of that folder, for example `data/x/a.jsonl`. For standard input, it is
    /// `stdin`.
    pub copy_name: PathBuf,
}

impl InputFile {
    /// Creates an input file that is read from the path `name`. If `name` is an address such as `s3://bucket/key`, it
    /// is read from that store.
    pub fn new(name: impl Into<PathBuf>) -> Self {
        let name = name.into();
        #[cfg(feature = "remote")]
        if let Some(address) = Address::parse(&name) {
            return Self::from_source(RemoteSource::new(address));
        }
        Self::from_source(LocalSource::new(name))
    }

    /// Creates an input file from bytes in memory. `name` is shown in messages and results. Its
    /// extension is a hint at the format.
    ///
    /// ```
    /// use simtool_read::{Collection, Corpus, ReadOptions, walk::InputFile};
    ///
    /// let file = InputFile::in_memory("a.jsonl", b"{\"text\": \"a b\"}\n".to_vec());
    /// let collection = Collection::open(vec![file], ReadOptions::default());
    /// assert_eq!(collection.shard_bytes(0), 16);
    /// ```
    pub fn in_memory(name: impl Into<PathBuf>, bytes: Vec<u8>) -> Self {
        Self::from_source(MemorySource::new(name.into(), bytes))
    }

    pub(crate) fn from_source(source: impl Source + 'static) -> Self {
        // The folder `..` has no name.
        let copy_name = source.name().file_name().unwrap_or_default().into();
        Self { source: Arc::new(source), copy_name }
    }

    pub(super) fn standard_input(source: LocalSource) -> Self {
        Self { source: Arc::new(source), copy_name: "stdin".into() }
    }

    /// Returns all bytes of the file as they are stored. They are memory-mapped if `access` and the place of the file
    /// allow that.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn content(&self, access: FileAccess) -> Result<MappedFile> {
        if let Some(map) = self.source.map(access) {
            return Ok(map);
        }
        // Sources that cannot be mapped, such as bytes in memory, are copied.
        let mut bytes = Vec::new();
        let read = self.source.open().and_then(|source| source.stream(0).read_to_end(&mut bytes));
        read.map_err(|error| Error::io(self.name(), "read", error))?;
        Ok(bytes.into())
    }

    /// Returns the path of the file, in the form in which the user named it. `-` is standard input.
    #[must_use]
    pub fn name(&self) -> &Path {
        self.source.name()
    }
}
