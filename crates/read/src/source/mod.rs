//! Sources of bytes: the places where inputs lie.
//!
//! A reader gets a source and no path. So it reads files, bytes in memory, and objects of a store in
//! the same way. Only this folder and [`walk`](crate::documents::walk) open files.

pub(crate) mod address;
mod local;
mod memory;
#[cfg(feature = "remote")]
pub(crate) mod remote;
pub(crate) mod result_place;

use simtool_base::mapped_file::{FileAccess, MappedFile};
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub(crate) use local::LocalSource;
pub(crate) use memory::MemorySource;

/// Place where the bytes of an input lie, for example a file.
pub(crate) trait Source: fmt::Debug + Send + Sync {
    /// Returns the name that messages and results show, for example the path of a file. Its
    /// extension is a hint at the compression and format of the bytes.
    fn name(&self) -> &Path;

    /// Returns whether the name still leads to these bytes in a later run, as long as the state of the source is the
    /// same. For example, the name `-` of standard input does not.
    fn is_lasting(&self) -> bool;

    /// Returns the present length, time of change and version of the source.
    ///
    /// # Errors
    ///
    /// The source does not exist, or cannot be accessed.
    fn state(&self) -> io::Result<SourceState>;

    /// Opens the source for reading.
    ///
    /// # Errors
    ///
    /// The source does not exist, or cannot be accessed.
    fn open(&self) -> io::Result<Arc<dyn OpenSource>>;

    /// Returns the bytes as a memory map. Returns `None` if `access` allows no maps, or if the bytes cannot be mapped.
    /// The caller then reads the bytes piece by piece.
    fn map(&self, _access: FileAccess) -> Option<MappedFile> {
        None
    }

    /// Returns the settings and counts of the downloads from stores, which all sources of a run share. Returns `None`
    /// if the source is on this machine.
    fn fetching(&self) -> Option<Fetching> {
        None
    }

    /// Returns a message if an earlier reading failed for a reason that is not in the input, for example because the
    /// network was down. The run must then end. Returns `None` otherwise.
    fn fatal(&self) -> Option<String> {
        None
    }
}

/// Settings and counts of the downloads of objects from stores. All sources of a run share them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetching {
    /// Folder of the spool, a temporary file that holds the downloaded bytes.
    pub spool_folder: PathBuf,
    /// Largest length of the spool in bytes.
    pub spool_limit: u64,
    /// Number of requests that failed or stalled and were repeated.
    pub repeated_requests: u64,
    /// Number of blocks that were downloaded again, because the spool was full.
    pub refetched_blocks: u64,
}

/// Length, time of the last change and version of a source. They stay the same as long as nobody changes the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceState {
    /// Length of the source in bytes.
    pub(crate) bytes: u64,
    /// Time of the last change. `None` if it is not known, or if the bytes never change.
    pub(crate) modified: Option<SystemTime>,
    /// Hash of the tag, a text with which a store marks the version of an object. `None` if the source has no tag.
    pub(crate) tag: Option<u64>,
}

/// A source that is open for reading. Several threads may read from it at the same time.
pub(crate) trait OpenSource: Send + Sync {
    /// Returns the present length, time of change and version of the bytes that are read.
    ///
    /// # Errors
    ///
    /// The source cannot be accessed.
    fn state(&self) -> io::Result<SourceState>;

    /// Reads bytes from offset `at` on into `space`. Returns the number of bytes that were read, which may be smaller
    /// than `space` is long. If it is 0, there are no bytes at this offset.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read.
    fn read_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize>;

    /// Reads bytes like [`read_at`](Self::read_at), for a caller that does not need the bytes around them soon. A
    /// source in a store then downloads only the bytes for `space`.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read.
    fn peek_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        self.read_at(at, space)
    }

    /// Returns a reader of all bytes from offset `from` on.
    fn stream(self: Arc<Self>, from: u64) -> Box<dyn Read + Send>;
}

impl dyn OpenSource + '_ {
    /// Reads bytes from offset `at` on until `space` is full or the source ends. Returns the number
    /// of bytes.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read.
    pub(crate) fn fill_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        Self::fill(space, |filled, space| self.read_at(at + filled as u64, space))
    }

    /// Reads bytes like `fill_at`, for a caller that does not need the bytes around them soon.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read.
    pub(crate) fn peek_full_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        Self::fill(space, |filled, space| self.peek_at(at + filled as u64, space))
    }

    fn fill(
        space: &mut [u8],
        read: impl Fn(usize, &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut filled = 0;
        while filled < space.len() {
            match read(filled, &mut space[filled..]) {
                Ok(0) => break,
                Ok(bytes) => filled += bytes,
                // A signal can interrupt a read, and then the read is tried again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Fills `space` with the bytes from offset `at` on.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read, or the source ends before `space` is full.
    #[cfg(feature = "parquet")]
    pub(crate) fn read_exact_at(&self, at: u64, space: &mut [u8]) -> io::Result<()> {
        let is_full = self.fill_at(at, space)? == space.len();
        if is_full { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Returns the bytes from offset `at` on, at most `most` of them.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read.
    pub(crate) fn bytes_at(&self, at: u64, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; most];
        let filled = self.fill_at(at, &mut bytes)?;
        bytes.truncate(filled);
        Ok(bytes)
    }
}

/// Reader of the bytes of a source in their order.
struct SourceStream<S> {
    source: Arc<S>,
    /// Offset of the next byte.
    at: u64,
}

impl<S: OpenSource> Read for SourceStream<S> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read_at(self.at, space)?;
        self.at += bytes as u64;
        Ok(bytes)
    }
}
