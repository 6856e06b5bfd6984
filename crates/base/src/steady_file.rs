//! A file whose bytes go to the disk while it is written.

use crate::durable::begin_sync;
use std::fs::File;
use std::io::{self, Write};

/// Number of written bytes after which the system is asked to bring them to the disk.
const PORTION: u64 = 4 << 20;

/// A new file that asks the system every few megabytes to bring the written bytes to the disk. So
/// the disk works while the program makes more bytes, and a sync at the end waits less.
///
/// The file is not synced: only [`Disk::sync_file`](crate::durable::Disk::sync_file) proves that the
/// bytes are on the disk. Systems without a call for this just write the file.
#[derive(Debug)]
pub struct SteadyFile {
    file: File,
    /// Number of bytes written.
    written: u64,
    /// Number of bytes that the system was asked to bring to the disk.
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
