//! A file's bytes: mapped, or read into memory.
#![expect(unsafe_code, reason = "memory maps; with kernels/ the only unsafe code of the library")]

use crate::error::{Error, Result};
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;

/// The bytes of a file, as one slice.
#[derive(Debug)]
pub struct MappedFile(Bytes);

#[derive(Debug)]
enum Bytes {
    Mapped(memmap2::Mmap),
    Read(Vec<u8>),
}

impl MappedFile {
    /// Reads the whole file into memory.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or read.
    pub fn read(path: &Path) -> Result<Self> {
        let mut file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|e| Error::io(path, "read", e))?;
        Ok(Self(Bytes::Read(bytes)))
    }

    /// Maps the file; one that cannot be mapped (a pipe, an empty file) is read instead.
    ///
    /// # Safety
    ///
    /// While the value lives, no process may truncate or overwrite the file: a read beyond a new end kills the
    /// process with a bus error, and bytes that change under the slice are undefined behaviour.
    /// Nobody can promise that for a file of others, so only a program that speaks for its user
    /// calls this, and says so.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or read.
    pub unsafe fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        let metadata = file.metadata().map_err(|e| Error::io(path, "read", e))?;
        if !metadata.is_file() || metadata.len() == 0 {
            return Self::read(path);
        }
        #[expect(clippy::disallowed_methods, reason = "the one place that maps")]
        // SAFETY: the caller promises that nobody changes the file while the map lives.
        let map = unsafe { memmap2::Mmap::map(&file) };
        match map {
            Ok(map) => Ok(Self(Bytes::Mapped(map))),
            Err(_) => Self::read(path),
        }
    }
}

/// Whether files are mapped or read: a decision that only a program can take for its user.
///
/// The one unsafe step is making a value that maps; with it in hand, opening is safe.
#[derive(Clone, Copy, Debug)]
pub struct FileAccess {
    maps: bool,
}

impl FileAccess {
    /// Files are read.
    pub const READ: Self = Self { maps: false };

    /// Files are mapped.
    ///
    /// # Safety
    ///
    /// What [`MappedFile::open`] asks for holds for every file that is opened with the value.
    #[must_use]
    pub unsafe fn map() -> Self {
        Self { maps: true }
    }

    /// Files are mapped: for tests, whose files nobody else knows.
    #[cfg(all(test, feature = "csv", feature = "jsonl", feature = "warc", feature = "zstd"))]
    pub(crate) fn map_own_files() -> Self {
        Self { maps: true }
    }

    /// Whether files are mapped.
    #[must_use]
    pub fn maps(self) -> bool {
        self.maps
    }

    /// Maps the file, or reads it whole.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or read.
    pub fn open(self, path: &Path) -> Result<MappedFile> {
        if self.maps {
            // SAFETY: whoever made a value that maps promised this for every file.
            unsafe { MappedFile::open(path) }
        } else {
            MappedFile::read(path)
        }
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}
