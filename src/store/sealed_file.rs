//! A file that is written once and never changed: sections of numbers or bytes, and a checksum for
//! every 16 KiB of them. What it lends is checked when it is first touched.
//!
//! Everything is little-endian, and sections start at multiples of 64 bytes, so that arrays can be
//! used where a map has them.
//!
//! ```text
//! bytes   0 ..   8   89 "simidx" 0A: no text, and damaged where line ends were replaced
//!         8 ..  12   version of the format: 3
//!        12 ..  16   number of sections, at most 96
//!        16 ..  24   bytes of the file
//!        24 ..  32   where the checksums begin
//!        32 ..  40   checksum of the checksums
//!        40 .. 2344  for each section: kind and bytes of an element, 32 bits each; where it begins and
//!                    its bytes, 64 bits each; 0 beyond the last
//!      2344 .. 2552  0
//!      2552 .. 2560  checksum of the 2552 bytes before
//!      2560 ..       sections, filled up with zeros
//!         …          for every 16,384 bytes from 2560 on their checksum; the last may be of fewer
//! ```
//!
//! A checksum is XXH3-64 with seed 0. The checksum of the header, which covers all others, says which
//! content the file has.

use bytemuck::Pod;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use simtool_base::stable_hash::{StreamedHash, hash};
use simtool_compute::lent_array::{Arrays, LentArray};
use std::fmt::Debug;
use std::fs::File;
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const MAGIC: &[u8; 8] = b"\x89simidx\n";
const VERSION: u32 = 3;
/// Bytes of the header.
const HEADER: usize = 2560;
/// Bytes of the header before its own checksum.
const SEALED: usize = HEADER - 8;
/// Where the table of sections begins in the header.
const TABLE: usize = 40;
/// Bytes of a line of that table.
const LINE: usize = 24;
/// Sections at the most.
const MOST_SECTIONS: usize = 96;
/// What sections are aligned to.
const ALIGNMENT: usize = 64;
/// Bytes that share a checksum.
const BLOCK: usize = 16 << 10;
/// No byte is known to be damaged.
const INTACT: usize = usize::MAX;
/// What to do about damage.
const REMEDY: &str =
    "restore the file from a copy, or save what is intact to a new index (salvage)";

/// What a section holds: a number that the file's user knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(pub(super) u32);

/// A section of a file.
#[derive(Clone, Debug)]
struct Section {
    kind: u32,
    element_bytes: u32,
    bytes: Range<usize>,
}

/// A file that is being written.
#[derive(Debug)]
pub(super) struct SealedWriter<'f> {
    out: BufWriter<&'f mut File>,
    path: &'f Path,
    at: usize,
    sections: Vec<Section>,
    block: StreamedHash,
    checksums: Vec<u64>,
}

impl<'f> SealedWriter<'f> {
    /// Begins an empty file; `path` is for messages.
    ///
    /// # Errors
    ///
    /// It cannot be written to.
    pub(super) fn new(file: &'f mut File, path: &'f Path) -> Result<Self> {
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&[0; HEADER]).map_err(|e| Error::io(path, "write", e))?;
        let block = StreamedHash::default();
        Ok(Self { out, path, at: HEADER, sections: Vec::new(), block, checksums: Vec::new() })
    }

    /// Begins a section of elements of type `T`, which [`Self::write`] fills.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    ///
    /// # Panics
    ///
    /// There are too many sections.
    pub(super) fn begin<T: Pod>(&mut self, Kind(kind): Kind) -> Result<()> {
        assert!(self.sections.len() < MOST_SECTIONS, "too many sections");
        self.align()?;
        let bytes = self.at..self.at;
        self.sections.push(Section { kind, element_bytes: size_of::<T>() as u32, bytes });
        Ok(())
    }

    /// Adds elements to the section that was begun last.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(super) fn write<T: Pod>(&mut self, elements: &[T]) -> Result<()> {
        self.put(bytemuck::cast_slice(elements))?;
        if let Some(section) = self.sections.last_mut() {
            section.bytes.end = self.at;
        }
        Ok(())
    }

    /// Writes a whole section.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(super) fn section<T: Pod>(&mut self, kind: Kind, elements: &[T]) -> Result<()> {
        self.begin::<T>(kind)?;
        self.write(elements)
    }

    /// Writes checksums and header; returns the header's checksum, and the bytes of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written to.
    pub(super) fn finish(mut self) -> Result<Seal> {
        self.align()?;
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

/// Which content a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The checksum of its header.
    pub checksum: u64,
    /// Its length.
    pub bytes: u64,
}

/// What a section is called in messages.
pub(super) type SectionName = fn(Kind) -> &'static str;

/// A file that was written, of which parts are lent.
#[derive(Debug)]
pub(super) struct SealedFile {
    path: PathBuf,
    name: SectionName,
    bytes: Bytes,
    sections: Vec<Section>,
    checksums: Range<usize>,
    /// A bit for each block that agreed with its checksum.
    checked: Vec<AtomicU64>,
    /// The first byte of a block that did not.
    damaged: AtomicUsize,
}

/// Bytes that start at a multiple of eight in memory.
#[derive(Debug)]
enum Bytes {
    File(MappedFile),
    Copied(Vec<u64>, usize),
}

impl Bytes {
    fn open(path: &Path, access: FileAccess) -> Result<Self> {
        let file = access.open(path)?;
        if (file.as_ptr() as usize).is_multiple_of(size_of::<u64>()) {
            return Ok(Self::File(file));
        }
        let mut words = vec![0_u64; file.len().div_ceil(size_of::<u64>())];
        bytemuck::cast_slice_mut(&mut words)[..file.len()].copy_from_slice(&file);
        Ok(Self::Copied(words, file.len()))
    }

    #[inline]
    fn all(&self) -> &[u8] {
        match self {
            Self::File(file) => file,
            Self::Copied(words, length) => &bytemuck::cast_slice(words)[..*length],
        }
    }
}

impl SealedFile {
    /// Opens a file, which is the one with this seal if one is given. The header is checked now, the
    /// rest when it is lent.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or another.
    pub(super) fn open(
        path: &Path,
        access: FileAccess,
        seal: Option<Seal>,
        name: SectionName,
    ) -> Result<Self> {
        let bytes = Bytes::open(path, access)?;
        let read = Header::read(bytes.all(), seal);
        let header = read.map_err(|(byte, expected)| format_error(path, byte, expected))?;
        let blocks = header.checksums.len() / size_of::<u64>();
        let checked = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let Header { sections, checksums } = header;
        let damaged = AtomicUsize::new(INTACT);
        Ok(Self { path: path.to_owned(), name, bytes, sections, checksums, checked, damaged })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Its length.
    pub(super) fn len(&self) -> usize {
        self.bytes.all().len()
    }

    /// The elements of a section; none where there is no such section, or it has other elements.
    pub(super) fn array<T: Pod>(&self, Kind(kind): Kind) -> StoredArray<'_, T> {
        let section = self.sections.iter().find(|section| section.kind == kind);
        let range = section.map_or(0..0, |section| section.bytes.clone());
        let start = range.start;
        let elements = bytemuck::try_cast_slice(&self.bytes.all()[range]).unwrap_or_default();
        StoredArray { file: self, start, elements }
    }

    /// Whether nothing that was lent so far was damaged. To be asked before what was made of it is
    /// believed.
    ///
    /// # Errors
    ///
    /// Something was.
    pub(super) fn check(&self) -> Result<()> {
        match self.damaged.load(Ordering::Relaxed) {
            INTACT => Ok(()),
            byte => Err(self.damage(byte)),
        }
    }

    /// Checks all of it.
    ///
    /// # Errors
    ///
    /// Something is damaged.
    pub(super) fn verify(&self) -> Result<()> {
        let sections = HEADER..self.checksums.start;
        // Parts, so that the memory of a large file need not all be there at the same time.
        for start in sections.clone().step_by(64 * BLOCK) {
            self.is_intact(start..(start + 64 * BLOCK).min(sections.end));
            self.check()?;
        }
        Ok(())
    }

    /// The error of what contradicts itself in a section, though its bytes are as they were written.
    pub(super) fn contradiction(&self, kind: Kind, what: &str) -> Error {
        let section = self.sections.iter().find(|section| section.kind == kind.0);
        let byte = section.map_or(TABLE, |section| section.bytes.start);
        format_error(&self.path, byte, format!("{what}; {REMEDY}"))
    }

    fn damage(&self, byte: usize) -> Error {
        let section = self.sections.iter().find(|section| section.bytes.end > byte);
        let name = section.map_or("its end", |section| (self.name)(Kind(section.kind)));
        let expected =
            format!("bytes of {name} that agree with their checksum: they are damaged; {REMEDY}");
        format_error(&self.path, byte, expected)
    }

    /// Takes note that something is wrong at a byte.
    fn note(&self, byte: usize) {
        self.damaged.fetch_min(byte, Ordering::Relaxed);
    }

    /// Whether all blocks that these bytes touch agree with their checksums.
    #[inline]
    fn is_intact(&self, bytes: Range<usize>) -> bool {
        let (first, last) = ((bytes.start - HEADER) / BLOCK, (bytes.end - 1 - HEADER) / BLOCK);
        (first..=last).all(|block| {
            let checked = self.checked[block / 64].load(Ordering::Relaxed);
            checked >> (block % 64) & 1 == 1 || self.check_block(block)
        })
    }

    #[cold]
    fn check_block(&self, block: usize) -> bool {
        let all = self.bytes.all();
        let start = HEADER + block * BLOCK;
        let end = (start + BLOCK).min(self.checksums.start);
        let sum = &all[self.checksums.clone()][size_of::<u64>() * block..][..size_of::<u64>()];
        let is_intact = hash(&all[start..end]).to_le_bytes() == sum;
        if is_intact {
            self.checked[block / 64].fetch_or(1 << (block % 64), Ordering::Relaxed);
        } else {
            self.note(start);
        }
        is_intact
    }
}

fn format_error(path: &Path, byte: usize, expected: String) -> Error {
    ErrorKind::Format { path: path.to_owned(), byte: byte as u64, expected }.into()
}

/// What a header says.
struct Header {
    sections: Vec<Section>,
    checksums: Range<usize>,
}

impl Header {
    /// The header of a whole file; else the byte where something is wrong, and what was expected.
    fn read(bytes: &[u8], seal: Option<Seal>) -> Result<Self, (usize, String)> {
        let damaged = |what: &str| format!("{what}: it is damaged; {REMEDY}");
        let Some(header) = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC)) else {
            return Err((0, damaged("a segment of an index, which begins with a header")));
        };
        let number_32 = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        let number_64 = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        if number_32(8) != VERSION {
            let expected =
                format!("version {VERSION} of the format: another simtool wrote it; use that one");
            return Err((8, expected));
        }
        let checksum = number_64(SEALED);
        if checksum != hash(&header[..SEALED]) {
            return Err((0, damaged("a header that agrees with its checksum")));
        }
        if number_64(16) != bytes.len() as u64 {
            let expected = format!("the {} bytes that the header tells of", number_64(16));
            return Err((16, damaged(&expected)));
        }
        if seal.is_some_and(|seal| seal.checksum != checksum) {
            return Err((SEALED, damaged("the segment that the manifest names, not another")));
        }
        let contradicts = || (16, damaged("a header that does not contradict itself"));
        let (count, start) = (number_32(12) as usize, number_64(24) as usize);
        let blocks = start.checked_sub(HEADER).map(|bytes| bytes.div_ceil(BLOCK));
        let end =
            blocks.and_then(|blocks| blocks.checked_mul(8)).and_then(|b| b.checked_add(start));
        if end != Some(bytes.len()) || count > MOST_SECTIONS {
            return Err(contradicts());
        }
        let checksums = start..bytes.len();
        if hash(&bytes[checksums.clone()]) != number_64(32) {
            return Err((start, damaged("checksums that agree with their own")));
        }
        let section = |number: usize| {
            let at = TABLE + number * LINE;
            let (from, length) = (number_64(at + 8) as usize, number_64(at + 16) as usize);
            let end = from.checked_add(length).filter(|&end| end <= start)?;
            let is_aligned = from >= HEADER && (from - HEADER).is_multiple_of(ALIGNMENT);
            let (kind, element_bytes) = (number_32(at), number_32(at + 4));
            is_aligned.then_some(Section { kind, element_bytes, bytes: from..end })
        };
        let sections: Option<Vec<_>> = (0..count).map(section).collect();
        let sections = sections.ok_or_else(contradicts)?;
        let is_whole = |section: &Section| {
            section.bytes.len().checked_rem(section.element_bytes as usize) == Some(0)
        };
        if !sections.iter().all(is_whole) {
            return Err(contradicts());
        }
        Ok(Self { sections, checksums })
    }
}

/// The elements of a section, which are checked when they are lent.
#[derive(Clone, Copy, Debug)]
pub struct StoredArray<'f, T> {
    file: &'f SealedFile,
    /// The byte at which they begin.
    start: usize,
    elements: &'f [T],
}

impl<'f, T: Pod> StoredArray<'f, T> {
    /// These elements, for as long as the file lives; none if they are not all there, or damaged.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> &'f [T] {
        let Some(elements) = self.elements.get(range.clone()) else {
            // An intact file leads nowhere outside.
            self.file.note(self.start);
            return &[];
        };
        if elements.is_empty() {
            return elements;
        }
        let start = self.start + range.start * size_of::<T>();
        let is_intact = self.file.is_intact(start..start + size_of_val(elements));
        if is_intact { elements } else { &[] }
    }

    /// All elements.
    ///
    /// # Errors
    ///
    /// Some are damaged.
    pub fn all(&self) -> Result<&'f [T]> {
        let all = self.get(0..self.elements.len());
        if all.len() < self.elements.len() {
            self.file.check()?;
        }
        Ok(all)
    }
}

/// Arrays in a file that was written.
#[derive(Debug)]
pub struct InSegment<'f>(PhantomData<&'f ()>);

impl<'f> Arrays for InSegment<'f> {
    type Array<T: Pod + Sync + Debug> = StoredArray<'f, T>;
}

impl<T: Pod + Sync> LentArray<T> for StoredArray<'_, T> {
    #[inline]
    fn len(&self) -> usize {
        self.elements.len()
    }

    #[inline]
    fn lend(&self, range: Range<usize>) -> &[T] {
        self.get(range)
    }

    #[inline]
    fn prefetch(&self, at: usize) {
        simtool_kernels::prefetch(self.elements, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(_: Kind) -> &'static str {
        "a section"
    }

    const NUMBERS: Kind = Kind(1);
    const TEXT: Kind = Kind(2);
    const NOTHING: Kind = Kind(3);

    fn written(file: &mut tempfile::NamedTempFile) -> Seal {
        let path = file.path().to_owned();
        let mut writer = SealedWriter::new(file.as_file_mut(), &path).unwrap();
        let numbers: Vec<u64> = (0..5000).collect();
        writer.begin::<u64>(NUMBERS).unwrap();
        writer.write(&numbers[..3]).unwrap();
        writer.write(&numbers[3..]).unwrap();
        writer.section::<u32>(NOTHING, &[]).unwrap();
        writer.section(TEXT, b"a rose").unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn sections_come_back() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let seal = written(&mut file);
        assert_eq!(seal.bytes, file.path().metadata().unwrap().len());
        let sealed = SealedFile::open(file.path(), FileAccess::READ, Some(seal), name).unwrap();
        let numbers = sealed.array::<u64>(NUMBERS);
        assert_eq!((numbers.len(), numbers.at(4999), numbers.at(2)), (5000, Some(4999), Some(2)));
        assert_eq!(sealed.array::<u8>(TEXT).all().unwrap(), b"a rose");
        assert!(sealed.array::<u32>(NOTHING).all().unwrap().is_empty());
        assert!(sealed.array::<u32>(Kind(9)).all().unwrap().is_empty());
        sealed.verify().unwrap();
        // Outside there is nothing, and asking for it is a contradiction.
        assert!(numbers.get(4999..5001).is_empty());
        assert!(sealed.check().is_err());
    }

    #[test]
    fn a_byte_that_changed_is_never_lent() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let seal = written(&mut file);
        let bytes = std::fs::read(file.path()).unwrap();
        let broken = tempfile::NamedTempFile::new().unwrap();
        for byte in (0..HEADER + 64).step_by(7).chain((HEADER..bytes.len()).step_by(1001)) {
            let mut changed = bytes.clone();
            changed[byte] ^= 0x10;
            std::fs::write(broken.path(), &changed).unwrap();
            let opened = SealedFile::open(broken.path(), FileAccess::READ, Some(seal), name);
            let read = opened.and_then(|sealed| {
                assert!(sealed.verify().is_err(), "byte {byte}");
                let numbers = sealed.array::<u64>(NUMBERS).get(0..5000).to_vec();
                sealed.check().map(|()| numbers)
            });
            let error = read.unwrap_err().to_string();
            assert!(error.contains("byte") && error.contains("expected"), "{byte}: {error}");
        }
    }

    #[test]
    fn a_file_cut_short_or_another_is_refused() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let seal = written(&mut file);
        let bytes = std::fs::read(file.path()).unwrap();
        let broken = tempfile::NamedTempFile::new().unwrap();
        for end in (0..bytes.len()).step_by(509) {
            std::fs::write(broken.path(), &bytes[..end]).unwrap();
            assert!(
                SealedFile::open(broken.path(), FileAccess::READ, None, name).is_err(),
                "{end}"
            );
        }
        let other = Some(Seal { checksum: seal.checksum ^ 1, ..seal });
        let error = SealedFile::open(file.path(), FileAccess::READ, other, name).unwrap_err();
        assert!(error.to_string().contains("that the manifest names"), "{error}");
        let mut newer = bytes;
        newer[8] = 2;
        std::fs::write(broken.path(), &newer).unwrap();
        let error = SealedFile::open(broken.path(), FileAccess::READ, None, name).unwrap_err();
        assert!(error.to_string().contains("version 3"), "{error}");
    }
}
