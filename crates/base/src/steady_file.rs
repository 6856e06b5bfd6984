//! A file whose bytes the system writes to the disk while the program still writes to the file.

use crate::durable::begin_sync;
use std::fs::File;
use std::io::{self, Write};

/// Number of bytes after which the system is asked to write them to the disk.
const PORTION: u64 = 4 << 20;

/// A new file. Every few megabytes, the system is asked to write the new bytes to the disk. So the disk works while the
/// program makes more bytes, and a sync at the end takes less time.
///
/// The file is not synced. Only [`Disk::sync_file`](crate::durable::Disk::sync_file) proves that the bytes are on the
/// disk. On systems without a call for this request, the file is just written.
#[derive(Debug)]
pub struct SteadyFile {
    file: File,
    /// Number of bytes that were written to the file.
    written: u64,
    /// Number of bytes that the system was already asked to write to the disk.
    asked: u64,
}

impl SteadyFile {
    /// Creates a writer for an empty file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self { file, written: 0, asked: 0 }
    }
}

impl Write for SteadyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.written += count as u64;
        if self.written - self.asked >= PORTION {
            begin_sync(&self.file, self.asked, self.written - self.asked);
            self.asked = self.written;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_are_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut file = SteadyFile::new(File::create_new(&path).unwrap());
        let bytes: Vec<u8> = (0..2 * PORTION + 7).map(|at| (at % 251) as u8).collect();
        for chunk in bytes.chunks(1 << 20) {
            file.write_all(chunk).unwrap();
        }
        file.flush().unwrap();
        assert!(std::fs::read(&path).unwrap() == bytes);
        assert_eq!((file.written, file.asked), (2 * PORTION + 7, 2 * PORTION));
    }
}
