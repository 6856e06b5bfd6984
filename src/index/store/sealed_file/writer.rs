//! Writes a sealed file, section by section.

use super::{ALIGNMENT, BLOCK, HEADER, Kind, MAGIC, MOST_SECTIONS, SEALED, Seal, Section, VERSION};
use bytemuck::Pod;
use simtool_base::error::{Error, Result};
use simtool_base::stable_hash::{StreamedHash, hash};
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

/// A sealed file that is being written. In a sealed file, each block has a checksum. The header is written
/// last, so an incomplete file is recognized by its empty header.
#[derive(Debug)]
pub(in crate::index::store) struct SealedWriter<'f> {
    out: BufWriter<&'f mut File>,
    path: &'f Path,
    at: usize,
    sections: Vec<Section>,
    block: StreamedHash,
    checksums: Vec<u64>,
}

impl<'f> SealedWriter<'f> {
    /// Starts to write to an empty file. `path` is for error messages.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(in crate::index::store) fn new(file: &'f mut File, path: &'f Path) -> Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        // The header needs the checksums, so it is written last. Until then it is all zeros, so an unfinished
        // file is never mistaken for a complete one.
        out.write_all(&[0; HEADER]).map_err(|e| Error::io(path, "write", e))?;
        let block = StreamedHash::default();
        Ok(Self { out, path, at: HEADER, sections: Vec::new(), block, checksums: Vec::new() })
    }

    /// Starts a section of elements of type `T`. [`write`](Self::write) then appends its elements.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    ///
    /// # Panics
    ///
    /// Panics if there are too many sections.
    pub(in crate::index::store) fn begin<T: Pod>(&mut self, Kind(kind): Kind) -> Result<()> {
        assert!(self.sections.len() < MOST_SECTIONS, "too many sections");
        self.align()?;
        let bytes = self.at..self.at;
        self.sections.push(Section { kind, element_bytes: size_of::<T>() as u32, bytes });
        Ok(())
    }

    /// Appends elements to the section that was started last.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(in crate::index::store) fn write<T: Pod>(&mut self, elements: &[T]) -> Result<()> {
        self.put(bytemuck::cast_slice(elements))?;
        if let Some(section) = self.sections.last_mut() {
            section.bytes.end = self.at;
        }
        Ok(())
    }

    /// Writes a whole section with these elements.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(in crate::index::store) fn section<T: Pod>(
        &mut self,
        kind: Kind,
        elements: &[T],
    ) -> Result<()> {
        self.begin::<T>(kind)?;
        self.write(elements)
    }

    /// Writes the checksums and the header. Returns the seal, which identifies the content of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(in crate::index::store) fn finish(mut self) -> Result<Seal> {
        self.align()?;
        // The last block is usually shorter than the others, so `put` has not finished it.
        if self.at > HEADER && !(self.at - HEADER).is_multiple_of(BLOCK) {
            self.checksums.push(self.block.digest());
        }
        let checksums: &[u8] = bytemuck::cast_slice(&self.checksums);
        let bytes = self.at + checksums.len();
        let mut header = MAGIC.to_vec();
        header.extend_from_slice(&VERSION.to_le_bytes());
        header.extend_from_slice(&(self.sections.len() as u32).to_le_bytes());
        for number in [bytes as u64, self.at as u64, hash(checksums)] {
            header.extend_from_slice(&number.to_le_bytes());
        }
        for Section { kind, element_bytes, bytes } in &self.sections {
            header.extend_from_slice(&kind.to_le_bytes());
            header.extend_from_slice(&element_bytes.to_le_bytes());
            header.extend_from_slice(&(bytes.start as u64).to_le_bytes());
            header.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        }
        header.resize(SEALED, 0);
        let checksum = hash(&header);
        header.extend_from_slice(&checksum.to_le_bytes());
        let path = self.path;
        let mut write = || {
            self.out.write_all(checksums)?;
            self.out.seek(SeekFrom::Start(0))?;
            self.out.write_all(&header)?;
            self.out.flush()
        };
        write().map_err(|e| Error::io(path, "write", e))?;
        Ok(Seal { checksum, bytes: bytes as u64 })
    }

    fn align(&mut self) -> Result<()> {
        let rest = self.at.next_multiple_of(ALIGNMENT) - self.at;
        self.put(&[0; ALIGNMENT][..rest])
    }

    fn put(&mut self, mut bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes).map_err(|e| Error::io(self.path, "write", e))?;
        // A block ends every `BLOCK` bytes after the header, wherever sections begin.
        while !bytes.is_empty() {
            let room = BLOCK - (self.at - HEADER) % BLOCK;
            let (now, later) = bytes.split_at(room.min(bytes.len()));
            self.block.update(now);
            self.at += now.len();
            if now.len() == room {
                self.checksums.push(std::mem::take(&mut self.block).digest());
            }
            bytes = later;
        }
        Ok(())
    }
}
