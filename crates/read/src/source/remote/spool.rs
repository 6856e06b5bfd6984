//! Temporary file with the blocks that were fetched, so that each block is fetched once.

use bytes::Bytes;
use simtool_base::durable::free_bytes;
use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Number of bytes that are compressed together as a frame. A reader decompresses whole frames, so smaller ones waste
/// less work.
pub(super) const FRAME_BYTES: usize = 1 << 20;

/// Divisor of the length of a frame. A frame is stored compressed only if that saves at least an eighth of its bytes.
/// Most inputs are compressed already, and decompressing them twice would only cost time.
const LEAST_SAVING: usize = 8;

/// Divisor of the space for the spool. The first quarter is used without compression, because compression would take a
/// tenth of the time of a run.
const PLAIN_PART: u64 = 4;

/// Level of Zstandard for the frames: the fastest one that still halves most texts.
const LEVEL: i32 = 1;

/// Position of a frame in the spool. A frame is a part of a block of fetched bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    at: u64,
    /// Number of bytes of the frame in the spool, where it may be compressed.
    stored: u32,
    is_packed: bool,
}

/// Temporary file that has fetched blocks. The system frees the file when it is closed, even if the program is
/// killed.
#[derive(Debug)]
pub(super) struct Spool {
    folder: PathBuf,
    /// Largest length of the file in bytes.
    limit: u64,
    /// Length of the file in bytes from which on blocks are compressed.
    plain: u64,
    /// The file, which is created with the first block.
    file: Mutex<Option<Arc<File>>>,
    /// Length of the file in bytes. It can be beyond the limit after a block did not fit.
    length: AtomicU64,
}

impl Spool {
    pub(super) fn new(folder: PathBuf, limit: u64) -> Self {
        let plain = limit.min(free_bytes(&folder)) / PLAIN_PART;
        Self { folder, limit, plain, file: Mutex::default(), length: AtomicU64::new(0) }
    }

    /// Returns whether no more blocks fit into the file.
    pub(super) fn is_full(&self) -> bool {
        self.length.load(Ordering::Relaxed) >= self.limit
    }

    /// Stores a block, and returns the positions of its frames. Returns `None` if there is no space for the block.
    pub(super) fn store(&self, block: &[u8]) -> Option<Vec<Frame>> {
        if self.is_full() {
            return None;
        }
        let is_plain = self.length.load(Ordering::Relaxed) < self.plain;
        let (mut frames, bytes) = if is_plain { plain(block) } else { packed(block) };
        // Threads take their places in the file first, and then write at the same time.
        let at = self.length.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if at + bytes.len() as u64 > self.limit || self.write(at, &bytes).is_err() {
            // The spool counts as full from now on, because a disk without space refuses the other blocks, too.
            self.length.store(u64::MAX / 2, Ordering::Relaxed);
            return None;
        }
        for frame in &mut frames {
            frame.at += at;
        }
        Some(frames)
    }

    /// Returns the content of a frame. `length` is the number of bytes of this content, after decompression.
    pub(super) fn load(&self, frame: Frame, length: usize) -> io::Result<Bytes> {
        let mut stored = vec![0; frame.stored as usize];
        read_at(&*self.file()?, frame.at, &mut stored)?;
        if !frame.is_packed {
            return Ok(stored.into());
        }
        zstd::bulk::decompress(&stored, length).map(Bytes::from)
    }

    fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        write_at(&*self.file()?, at, bytes)
    }

    fn file(&self) -> io::Result<Arc<File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        let created = Arc::new(tempfile::tempfile_in(&self.folder)?);
        *file = Some(Arc::clone(&created));
        Ok(created)
    }
}

/// Divides a block into frames without compressing them. Returns the frames, and the bytes of the block.
fn plain(block: &[u8]) -> (Vec<Frame>, Cow<'_, [u8]>) {
    let frame = |(number, content): (usize, &[u8])| Frame {
        at: (number * FRAME_BYTES) as u64,
        stored: content.len() as u32,
        is_packed: false,
    };
    (block.chunks(FRAME_BYTES).enumerate().map(frame).collect(), block.into())
}

/// Divides a block into frames, and compresses them if that saves enough. Returns the frames, and their bytes one after
/// the other.
fn packed(block: &[u8]) -> (Vec<Frame>, Cow<'_, [u8]>) {
    let mut bytes = Vec::with_capacity(block.len());
    let mut frames = Vec::new();
    // One compressor serves all frames of a block. If it cannot be created, the frames stay as they are.
    let mut compressor = zstd::bulk::Compressor::new(LEVEL).ok();
    for content in block.chunks(FRAME_BYTES) {
        let at = bytes.len() as u64;
        let packed = compressor.as_mut().and_then(|packer| packer.compress(content).ok());
        let saves = |packed: &Vec<u8>| packed.len() < content.len() - content.len() / LEAST_SAVING;
        let packed = packed.filter(saves);
        // The frames of a block are similar, so if one cannot be compressed, the next ones are not tried.
        if packed.is_none() {
            compressor = None;
        }
        bytes.extend_from_slice(packed.as_deref().unwrap_or(content));
        let stored = (bytes.len() as u64 - at) as u32;
        frames.push(Frame { at, stored, is_packed: packed.is_some() });
    }
    (frames, bytes.into())
}

/// Fills `space` with the bytes of the file from offset `at` on. Several threads may do so at the same time.
#[cfg(unix)]
pub(super) fn read_at(file: &File, at: u64, space: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, space, at)
}

#[cfg(unix)]
fn write_at(file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

#[cfg(windows)]
pub(super) fn read_at(file: &File, mut at: u64, mut space: &mut [u8]) -> io::Result<()> {
    while !space.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, space, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        space = &mut space[read..];
        at += read as u64;
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = std::os::windows::fs::FileExt::seek_write(file, bytes, at)?;
        bytes = &bytes[written..];
        at += written as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that do not get smaller by compression.
    fn noise(length: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let step = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*state >> 56) as u8
        };
        std::iter::repeat_with(|| step(&mut state)).take(length).collect()
    }

    #[test]
    fn blocks_come_back_and_are_stored_smaller_from_a_quarter_of_the_space_on() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"some words and more words ".repeat(100_000);
        // The first block is stored as it is, and fills the quarter.
        let spool = Spool::new(folder.path().to_owned(), 4 * text.len() as u64);
        let blocks = [text.clone(), text, noise(FRAME_BYTES + 5), Vec::new(), b"x".to_vec()];
        for (number, block) in blocks.into_iter().enumerate() {
            let before = spool.length.load(Ordering::Relaxed);
            let frames = spool.store(&block).unwrap();
            let stored = (spool.length.load(Ordering::Relaxed) - before) as usize;
            assert!(stored <= block.len(), "{stored}");
            assert_eq!(stored * 4 < block.len(), number == 1);
            assert_eq!(frames.len(), block.len().div_ceil(FRAME_BYTES));
            for (frame, content) in frames.into_iter().zip(block.chunks(FRAME_BYTES)) {
                assert!(spool.load(frame, content.len()).unwrap() == content);
            }
        }
        // Nothing remains if the program is killed.
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), usize::from(!cfg!(unix)));
    }

    #[test]
    fn a_full_spool_takes_no_more_blocks() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path().to_owned(), 2000);
        let first = spool.store(&noise(1500)).unwrap();
        assert!(spool.store(&noise(1500)).is_none());
        assert!(spool.is_full() && spool.store(b"x").is_none());
        assert!(spool.load(first[0], 1500).unwrap() == noise(1500));
        let missing = Spool::new(folder.path().join("none"), 2000);
        assert!(missing.store(b"x").is_none() && missing.is_full());
    }
}
