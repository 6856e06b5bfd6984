//! Files to which a run appends the data of the shards that it has read. Each run writes a file of its own, even if it
//! continues an earlier run.
//!
//! A file is a sequence of frames. A run that is killed leaves a file whose last frame may be cut, and a power cut
//! may leave zeros. So a frame has a checksum, and a file is read up to the first frame that is not whole.

use simtool_base::durable::Disk;
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::StreamedHash;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Start of the names of the files to which runs append data.
const PREFIX: &str = "part-";
/// End of the names of the files to which runs append data.
const SUFFIX: &str = ".part";
/// First bytes of each frame, which is a block of stored data with a checksum.
const MAGIC: [u8; 4] = *b"smtP";
/// Number of bytes of the header of a frame: the magic bytes, the kind, the key, the number of documents, the number
/// of bytes of the content, and the checksum.
const HEADER: usize = 48;
/// Longest time between a frame and the next sync of the file. A power cut loses at most the work of this time. A
/// killed run loses nothing, because the system has the bytes.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Kind of a frame, which is a block of stored data with a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// Rows of numbers of some documents of a shard, one row for each document.
    Rows,
    /// The end of a shard: the frames before have all its rows, and this frame has its summary.
    End,
}

/// Position and header of a frame in a file of stored shards. A frame holds rows of numbers, or the end of a shard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    /// Key of the shard that the frame belongs to.
    pub(super) key: u128,
    /// Number of documents whose rows are in the frame. For the end of a shard, the number of all its documents.
    pub(super) documents: u32,
    /// Byte offset of the frame in its file.
    pub(super) start: u64,
    /// Number of bytes of the content of the frame.
    pub(super) bytes: u64,
    checksum: u64,
}

/// A file to which a run appends frames, which are blocks of stored data with a checksum.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    disk: Disk,
    writing: Mutex<Writing>,
}

#[derive(Debug)]
struct Writing {
    file: File,
    /// Byte offset at which the next frame begins.
    end: u64,
    synced: Instant,
}

/// Returns whether the name of a file is that of a file of stored frames, such as `part-a1b2.part`.
pub(super) fn is_journal(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX))
}

impl Journal {
    /// Creates an empty file with a new name in `folder`.
    ///
    /// # Errors
    ///
    /// The file cannot be created.
    pub(super) fn create(folder: &Path, disk: Disk) -> Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        // Shards that other users have stored are combined, so the file has the usual permissions.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let failed = |error| Error::io(folder, "create a file in", error);
        let file = builder.tempfile_in(folder).map_err(failed)?;
        let (file, path) = file.keep().map_err(|failed_keep| failed(failed_keep.error))?;
        disk.sync_folder(folder).map_err(failed)?;
        let writing = Mutex::new(Writing { file, end: 0, synced: Instant::now() });
        Ok(Self { path, disk, writing })
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a frame with `content`, and returns its header and position. `key` is the key of the shard, and
    /// `documents` the number of its documents in the frame. `content` must begin with space for the header, see
    /// [`content`].
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn append(
        &self,
        kind: FrameKind,
        key: u128,
        documents: u32,
        mut content: Vec<u8>,
    ) -> Result<Frame> {
        let bytes = (content.len() - HEADER) as u64;
        let mut frame = Frame { kind, key, documents, start: 0, bytes, checksum: 0 };
        frame.checksum = frame.sum(&content[HEADER..]);
        content[..HEADER].copy_from_slice(&frame.header());
        let failed = |error| Error::io(&self.path, "write", error);
        let mut writing = self.lock();
        frame.start = writing.end;
        // A failure ends the run, so no frame follows an incomplete frame.
        writing.file.write_all(&content).map_err(failed)?;
        writing.end += content.len() as u64;
        // Rows without the end of their shard cannot be used, so only an end is worth a sync.
        if kind == FrameKind::End && writing.synced.elapsed() > SYNC_EVERY {
            writing.synced = Instant::now();
            let file = writing.file.try_clone().map_err(failed)?;
            // Other threads append meanwhile.
            drop(writing);
            self.disk.sync_file(&file, &self.path).map_err(failed)?;
        }
        Ok(frame)
    }

    /// Makes sure that all frames that were appended are on the disk, and survive a power cut.
    ///
    /// # Errors
    ///
    /// The disk is full or broken.
    pub(super) fn sync(&self) -> Result<()> {
        let synced = self.disk.sync_file(&self.lock().file, &self.path);
        synced.map_err(|error| Error::io(&self.path, "sync", error))
    }

    fn lock(&self) -> MutexGuard<'_, Writing> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a buffer for the content of a frame. It holds zeros in place of the header, which is filled in later.
pub(super) fn content() -> Vec<u8> {
    vec![0; HEADER]
}

impl Frame {
    /// Returns the bytes of the header of the frame, with the checksum.
    fn header(&self) -> [u8; HEADER] {
        let mut header = [0; HEADER];
        header[..4].copy_from_slice(&MAGIC);
        header[4..8].copy_from_slice(&(self.kind as u32).to_le_bytes());
        header[8..24].copy_from_slice(&self.key.to_le_bytes());
        header[24..32].copy_from_slice(&u64::from(self.documents).to_le_bytes());
        header[32..40].copy_from_slice(&self.bytes.to_le_bytes());
        header[40..].copy_from_slice(&self.checksum.to_le_bytes());
        header
    }

    /// Parses the header of the frame that begins at byte offset `start` of its file. Returns `None` if the bytes are
    /// no valid header.
    fn parse(header: &[u8; HEADER], start: u64) -> Option<Self> {
        let number = |at: usize| header[at..at + 8].try_into().map(u64::from_le_bytes).ok();
        let kind = match (header[..4] == MAGIC, header[4..8].first()?) {
            (true, 0) => FrameKind::Rows,
            (true, 1) => FrameKind::End,
            _ => return None,
        };
        let key = u128::from(number(8)?) | u128::from(number(16)?) << 64;
        let documents = number(24)?.try_into().ok()?;
        let frame = Self { kind, key, documents, start, bytes: number(32)?, checksum: number(40)? };
        // All bytes are compared, including those that are always zero.
        (frame.header() == *header).then_some(frame)
    }

    /// Returns the checksum of the frame. It covers `content` and the header, except the checksum in the header.
    fn sum(&self, content: &[u8]) -> u64 {
        let mut sum = StreamedHash::default();
        sum.update(&Self { checksum: 0, ..*self }.header());
        sum.update(content);
        sum.digest()
    }

    /// Reads the content of the frame from its file. Returns `None` if it is damaged.
    pub(super) fn read(&self, file: &mut File) -> io::Result<Option<Vec<u8>>> {
        file.seek(SeekFrom::Start(self.start + HEADER as u64))?;
        let mut content = Vec::new();
        // The length was compared with that of the file, so it is not too large for memory to be reserved.
        content.try_reserve_exact(self.bytes as usize).map_err(io::Error::other)?;
        file.take(self.bytes).read_to_end(&mut content)?;
        // The file may have become shorter since its frames were found.
        let is_whole = content.len() as u64 == self.bytes && self.sum(&content) == self.checksum;
        Ok(is_whole.then_some(content))
    }
}

/// Returns the frames of a file up to the first frame that is cut off or has no valid header. The contents of the
/// frames are neither read nor checked.
pub(super) fn frames(path: &Path) -> io::Result<Vec<Frame>> {
    let mut file = File::open(path)?;
    let end = file.metadata()?.len();
    let mut frames = Vec::new();
    let mut start = 0_u64;
    while end - start >= HEADER as u64 {
        let mut header = [0; HEADER];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut header)?;
        // After a damaged header, it is unknown where the next frame begins.
        let frame = Frame::parse(&header, start);
        let Some(frame) = frame.filter(|frame| frame.bytes <= end - start - HEADER as u64) else {
            break;
        };
        start += HEADER as u64 + frame.bytes;
        frames.push(frame);
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::durable::Durability;
    use std::fs;

    #[test]
    fn whole_frames_come_back_and_others_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path(), Disk::new(Durability::Synced)).unwrap();
        let contents = [&b"a rose"[..], b"", b"is a rose"];
        for (key, text) in (7..).zip(contents) {
            let mut content = content();
            content.extend_from_slice(text);
            journal.append(FrameKind::Rows, key << 70, 3, content).unwrap();
        }
        journal.sync().unwrap();
        assert!(is_journal(journal.path()));
        let whole = fs::read(journal.path()).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(journal.path(), bytes).unwrap();
            let mut file = File::open(journal.path()).unwrap();
            let read = |frame: Frame| Some((frame.key >> 70, frame.read(&mut file).unwrap()?));
            frames(journal.path()).unwrap().into_iter().map_while(read).collect::<Vec<_>>()
        };
        let all: Vec<_> = (7..).zip(contents.map(<[u8]>::to_vec)).collect();
        assert_eq!(read(&whole), all);
        let ends = [HEADER + 6, 2 * HEADER + 6, whole.len()];
        for end in 0..whole.len() {
            let count = ends.iter().filter(|&&whole| whole <= end).count();
            assert_eq!(read(&whole[..end]), all[..count], "{end}");
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            let count = ends.iter().filter(|&&end| end <= at).count();
            assert_eq!(read(&damaged), all[..count], "{at}");
        }
    }
}
