//! The bytes of a file, either memory-mapped or read into memory.
#![expect(unsafe_code, reason = "memory maps; with kernels/ the only unsafe code of the library")]

use crate::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::{Deref, DerefMut};
use std::path::Path;

/// The bytes of a file as one slice. The file is memory-mapped, or its bytes were read into memory.
#[derive(Debug)]
pub struct MappedFile(MappedBytes);

#[derive(Debug)]
enum MappedBytes {
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
        Ok(bytes.into())
    }

    /// Memory-maps the file. A pipe or an empty file cannot be mapped, so it is read into memory instead.
    ///
    /// # Safety
    ///
    /// While the returned value exists, no process may truncate or overwrite the file. A read beyond the end of a
    /// truncated file kills the process with a bus error, and a change of the mapped bytes is undefined behaviour. A
    /// library cannot promise that the files of its users do not change. So only a program that documents this
    /// condition for its users may call this function.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, mapped or read. Operating systems limit the number of maps of a process, so mapping
    /// can fail if many files are already mapped.
    pub unsafe fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
        let metadata = file.metadata().map_err(|e| Error::io(path, "read", e))?;
        // A pipe has no length and no pages, and systems refuse maps of zero bytes.
        if !metadata.is_file() || metadata.len() == 0 {
            return Self::read(path);
        }
        #[expect(clippy::disallowed_methods, reason = "the one place that maps")]
        // SAFETY: the caller promises that nobody changes the file while the map lives.
        let map = unsafe { memmap2::Mmap::map(&file) };
        #[cfg(any(test, feature = "testing"))]
        let map = if REFUSES_MAPS.get() { Err(io::ErrorKind::OutOfMemory.into()) } else { map };
        map.map(|map| Self(MappedBytes::Mapped(map))).map_err(|e| Error::io(path, "map", e))
    }
}

/// Number of zeros that are written at a time to a temporary file.
const ZEROS: usize = 1 << 20;

/// Maps a new temporary file of `bytes` zeros in `folder`. The file has no name, and the system deletes it when the map
/// is dropped.
///
/// # Errors
///
/// The file cannot be created, written or mapped.
pub(crate) fn map_temporary(folder: &Path, bytes: usize) -> Result<memmap2::MmapMut> {
    let failed = |error| Error::io(folder, "write a temporary file in", error);
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    let zeros = vec![0; bytes.min(ZEROS)];
    let mut left = bytes;
    // A page for which the disk has no space would end the program when it is changed. So all are written now.
    while left > 0 {
        let part = left.min(ZEROS);
        file.write_all(&zeros[..part]).map_err(failed)?;
        left -= part;
    }
    // SAFETY: the file has no name, so no other process opens it, and this function does not return it.
    let map = unsafe { memmap2::MmapMut::map_mut(&file) };
    map.map_err(failed)
}

/// A memory map of zeros without a file. It can become longer.
#[derive(Debug)]
pub(crate) struct AnonymousMap(memmap2::MmapMut);

impl AnonymousMap {
    /// Maps `bytes` zeros. The system may refuse this.
    pub(crate) fn new(bytes: usize) -> io::Result<Self> {
        memmap2::MmapMut::map_anon(bytes).map(Self)
    }

    /// Makes the map `bytes` long, without copying its bytes. Returns whether the system could do that. New bytes are
    /// zero.
    pub(crate) fn lengthen(&mut self, bytes: usize) -> bool {
        #[cfg(target_os = "linux")]
        {
            let options = memmap2::RemapOptions::new().may_move(true);
            // SAFETY: the map has no file, so it has no bytes behind the end of one.
            bytes >= self.0.len() && unsafe { self.0.remap(bytes, options) }.is_ok()
        }
        #[cfg(not(target_os = "linux"))]
        {
            bytes == self.0.len()
        }
    }

    /// Gives the system a hint about the use of the map.
    #[cfg(target_os = "linux")]
    pub(crate) fn advise(&self, advice: memmap2::Advice) {
        drop(self.0.advise(advice));
    }

    /// Gives the memory of the map behind its first `bytes` bytes back to the system, as far as it is whole pages. The
    /// bytes there are arbitrary afterwards.
    pub(crate) fn give_back(&mut self, bytes: usize) {
        give_back(&mut self.0, bytes);
    }
}

impl Deref for AnonymousMap {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for AnonymousMap {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Smallest unit in which pages of a map are given back. All page sizes divide it.
const GIVEN_BACK: usize = 2 << 20;

/// Gives the memory of a map behind its first `bytes` bytes back to the system, as far as it is whole pages. What is
/// read there later is arbitrary.
pub(crate) fn give_back(map: &mut memmap2::MmapMut, bytes: usize) {
    #[cfg(target_os = "linux")]
    if let start = bytes.next_multiple_of(GIVEN_BACK)
        && start < map.len()
    {
        let unneeded = memmap2::UncheckedAdvice::DontNeed;
        // SAFETY: the caller has the only reference to the map, so nobody relies on the bytes that change. This call is
        // only a hint, so its result is ignored.
        drop(unsafe { map.unchecked_advise_range(unneeded, start, map.len() - start) });
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (map, bytes);
}

/// Decides whether files are memory-mapped or read into memory. Only a program can choose mapping, because its user
/// must not change the files while they are mapped.
///
/// Creating a value that maps files is unsafe, see [`FileAccess::map`]. Opening files with the value is safe.
#[derive(Clone, Copy, Debug)]
pub struct FileAccess {
    /// Callback that gets the path and the bytes of each mapped file. `None` if files are read into memory instead.
    map: Option<fn(&Path, &[u8])>,
}

impl FileAccess {
    /// Value that reads whole files into memory and never maps them.
    pub const READ: Self = Self { map: None };

    /// Creates a value that memory-maps files. After a file was mapped, `on_map` is called with the path and the bytes
    /// of the file.
    ///
    /// # Safety
    ///
    /// Every file that is opened with the returned value must meet the conditions of
    /// [`MappedFile::open`].
    #[must_use]
    pub unsafe fn map(on_map: fn(&Path, &[u8])) -> Self {
        Self { map: Some(on_map) }
    }

    /// Creates a value that memory-maps files, for tests. It is safe only in tests, where no other process changes the
    /// files.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn map_own_files() -> Self {
        Self { map: Some(|_, _| ()) }
    }

    /// Returns whether [`Self::open`] maps files.
    #[must_use]
    pub fn maps(self) -> bool {
        self.map.is_some()
    }

    /// Opens a file. Memory-maps it if this value [maps](Self::maps) files, otherwise reads the whole file into memory.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, mapped or read.
    pub fn open(self, path: &Path) -> Result<MappedFile> {
        let Some(on_map) = self.map else { return MappedFile::read(path) };
        // SAFETY: the caller of `FileAccess::map` has promised this for every file that is opened.
        let file = unsafe { MappedFile::open(path) }?;
        on_map(path, &file);
        Ok(file)
    }
}

impl From<Vec<u8>> for MappedFile {
    fn from(bytes: Vec<u8>) -> Self {
        Self(MappedBytes::Read(bytes))
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            MappedBytes::Mapped(map) => map,
            MappedBytes::Read(bytes) => bytes,
        }
    }
}

#[cfg(any(test, feature = "testing"))]
thread_local! {
    /// For tests: whether memory maps fail in this thread, as if the process already had too many maps.
    pub static REFUSES_MAPS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_mapped_is_not_read_whole() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // SAFETY: nobody else knows the file.
        assert!(unsafe { MappedFile::open(file.path()) }.unwrap().is_empty());
        std::fs::write(file.path(), "bytes").unwrap();
        // SAFETY: nobody else knows the file.
        assert_eq!(&*unsafe { MappedFile::open(file.path()) }.unwrap(), b"bytes");
        REFUSES_MAPS.set(true);
        // SAFETY: nobody else knows the file.
        let refused = unsafe { MappedFile::open(file.path()) };
        REFUSES_MAPS.set(false);
        assert!(refused.unwrap_err().to_string().starts_with("cannot map "));
    }
}
