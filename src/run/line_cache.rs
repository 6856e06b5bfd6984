//! Finds lines of large files by their numbers, without reading the lines before them again.

use crate::pipeline::compare::{ReadDocument, WantedDocument, read_document};
use simtool_base::progress::NoProgress;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::compression::Compression;
use simtool_read::walk::InputFile;
use simtool_read::{Collection, ReadOptions};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Name of the format in which each line is a record.
const JSON_LINES: &str = "jsonl";
/// Minimum number of bytes of a large file, which takes long to read from its beginning.
const LARGE_FILE: u64 = 4 << 20;
/// Number of lines between two lines whose offset is remembered.
const STEP: u64 = 1024;
/// Number of bytes that are read at once.
const BLOCK: usize = 1 << 18;

/// Remembers where some lines of large files begin.
#[derive(Debug, Default)]
pub(super) struct LineCache(Mutex<UnorderedMap<PathBuf, LineOffsets>>);

#[derive(Debug)]
struct LineOffsets {
    /// Size of the file in bytes and time of its last change. If they differ later, the file has changed.
    state: (u64, SystemTime),
    /// Offset of each line whose number is a multiple of [`STEP`].
    offsets: Vec<u64>,
}

impl LineCache {
    /// Reads the document in line number `record`, from 0, of a large file of JSON Lines, in which each line is a
    /// record. Returns `None` if the file has another format or is small, or if the line has no document.
    pub(super) fn document(
        &self,
        path: &Path,
        record: u64,
        options: &ReadOptions,
    ) -> Option<ReadDocument> {
        fs::metadata(path).ok().filter(|file| file.len() >= LARGE_FILE)?;
        let (line, options) = self.file_of_line(path, record, options)?;
        // If the line is bad, reading the whole file says more about the fault.
        let found = read_document(line, WantedDocument::Record(0), options, &NoProgress).ok()?;
        Some(ReadDocument { record, ..found })
    }

    /// Returns line number `record`, from 0, of a file of JSON Lines. The line is returned as a file in memory, with
    /// the options for reading it. Returns `None` if the file has another format, or no such line.
    pub(super) fn file_of_line(
        &self,
        path: &Path,
        record: u64,
        options: &ReadOptions,
    ) -> Option<(InputFile, ReadOptions)> {
        let collection = Collection::open(vec![InputFile::new(path)], options.clone());
        let file = collection.recognize(0).ok()?;
        // Lines of other encodings and of compressed files have no offset.
        let is_plain = file.compression == Compression::None && file.encoding.is_none();
        if !is_plain || file.format.name() != JSON_LINES {
            return None;
        }
        let line = self.line(path, record).ok()??;
        let options = ReadOptions { format: Some(file.format), ..options.clone() };
        Some((InputFile::in_memory(path, line), options))
    }

    /// Returns the bytes of line number `number`, from 0, with its line end. `None` if the file has fewer lines.
    ///
    /// The first call for a file reads the whole file and counts its lines.
    fn line(&self, path: &Path, number: u64) -> io::Result<Option<Vec<u8>>> {
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        let state = (metadata.len(), metadata.modified()?);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.get(path).is_none_or(|known| known.state != state) {
            let offsets = offsets(&mut file)?;
            known.insert(path.to_owned(), LineOffsets { state, offsets });
        }
        let offsets = known.get(path).map_or(&[][..], |known| &known.offsets);
        let Some(&offset) = offsets.get((number / STEP) as usize) else { return Ok(None) };
        // Other requests may look for lines while this one reads.
        drop(known);
        file.seek(SeekFrom::Start(offset))?;
        // At most a few blocks of lines are skipped, which takes little time.
        let mut reader = BufReader::with_capacity(BLOCK, file);
        for _ in 0..number % STEP {
            reader.skip_until(b'\n')?;
        }
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line)?;
        Ok(Some(line).filter(|line| !line.is_empty()))
    }
}

/// Returns the offset in bytes of each line whose number, from 0, is a multiple of [`STEP`].
fn offsets(file: &mut File) -> io::Result<Vec<u64>> {
    let (mut offsets, mut lines, mut at) = (vec![0], 0, 0);
    let mut block = vec![0; BLOCK];
    loop {
        let count = file.read(&mut block)?;
        if count == 0 {
            return Ok(offsets);
        }
        for end in memchr::memchr_iter(b'\n', &block[..count]) {
            lines += 1;
            if lines % STEP == 0 {
                offsets.push(at + end as u64 + 1);
            }
        }
        at += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    #[test]
    fn lines_are_found_by_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut text = String::new();
        for at in 0..5000 {
            writeln!(text, "line {at}").unwrap();
        }
        fs::write(&path, &text[..text.len() - 1]).unwrap();
        let cache = LineCache::default();
        for number in [0, 1, 1023, 1024, 1025, 4096, 4998] {
            let line = cache.line(&path, number).unwrap().unwrap();
            assert_eq!(line, format!("line {number}\n").as_bytes());
        }
        assert_eq!(cache.line(&path, 4999).unwrap().unwrap(), b"line 4999");
        assert_eq!(cache.line(&path, 5000).unwrap(), None);
        assert_eq!(cache.line(&path, 1 << 40).unwrap(), None);
        fs::write(&path, "other\n").unwrap();
        assert_eq!(cache.line(&path, 0).unwrap().unwrap(), b"other\n");
        assert_eq!(cache.line(&path, 1).unwrap(), None);
    }
}
