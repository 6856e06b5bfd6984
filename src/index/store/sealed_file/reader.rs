//! Opens a sealed file, and checks its blocks when they are read for the first time.

use super::header::SealedHeader;
use super::{BLOCK, HEADER, INTACT, Kind, REMEDY, Seal, Section, SectionName, TABLE};
use crate::index::store::check_is_file;
use bytemuck::Pod;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use simtool_base::stable_hash::hash;
use simtool_compute::lent_array::{Arrays, LentArray};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A complete sealed file, whose sections can be read. A sealed file is never changed, and each of its blocks
/// has a checksum.
#[derive(Debug)]
pub(in crate::index::store) struct SealedFile {
    path: PathBuf,
    name: SectionName,
    bytes: SealedBytes,
    sections: Vec<Section>,
    checksums: Range<usize>,
    /// One bit for each block, which is set once the block was checked and is intact.
    checked: Vec<AtomicU64>,
    /// Byte offset of the first block that is known to be damaged, or [`INTACT`].
    damaged: AtomicUsize,
}

/// Content of a file at an address that is a multiple of eight, so that it can be read as numbers in place.
#[derive(Debug)]
enum SealedBytes {
    File(MappedFile),
    Copied(Vec<u64>, usize),
}

impl SealedBytes {
    fn open(path: &Path, access: FileAccess) -> Result<Self> {
        check_is_file(path).map_err(|e| Error::io(path, "read", e))?;
        let file = access.open(path)?;
        // A mapped file begins at a page boundary, but bytes that were read into memory can have any address.
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
    /// Opens a file and checks its header. If `seal` is given, the file must have this seal. Other bytes are
    /// checked when they are read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is damaged, or has another seal.
    pub(in crate::index::store) fn open(
        path: &Path,
        access: FileAccess,
        seal: Option<Seal>,
        name: SectionName,
    ) -> Result<Self> {
        let bytes = SealedBytes::open(path, access)?;
        let read = SealedHeader::read(bytes.all(), seal);
        let header = read.map_err(|(byte, expected)| format_error(path, byte, expected))?;
        let blocks = header.checksums.len() / size_of::<u64>();
        let checked = (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        let SealedHeader { sections, checksums } = header;
        let damaged = AtomicUsize::new(INTACT);
        Ok(Self { path: path.to_owned(), name, bytes, sections, checksums, checked, damaged })
    }

    /// Returns the path of the file.
    pub(in crate::index::store) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of bytes of the file.
    pub(in crate::index::store) fn len(&self) -> usize {
        self.bytes.all().len()
    }

    /// Returns the elements of the section of this kind. The array is empty if there is no such section, or
    /// if its elements have another size.
    pub(in crate::index::store) fn array<T: Pod>(&self, Kind(kind): Kind) -> StoredArray<'_, T> {
        let section = self.sections.iter().find(|section| section.kind == kind);
        let range = section.map_or(0..0, |section| section.bytes.clone());
        let start = range.start;
        let elements = bytemuck::try_cast_slice(&self.bytes.all()[range]).unwrap_or_default();
        StoredArray { file: self, start, elements }
    }

    /// Checks that everything that was read so far is intact. Damaged parts read as empty, so callers must
    /// check before they use results that were computed from the file.
    ///
    /// # Errors
    ///
    /// A part that was read is damaged.
    pub(in crate::index::store) fn check(&self) -> Result<()> {
        match self.damaged.load(Ordering::Relaxed) {
            INTACT => Ok(()),
            byte => Err(self.damage(byte)),
        }
    }

    /// Checks every block of the file.
    ///
    /// # Errors
    ///
    /// The file is damaged.
    pub(in crate::index::store) fn verify(&self) -> Result<()> {
        let sections = HEADER..self.checksums.start;
        // The file is checked in parts, so that a large mapped file need not be in memory as a whole.
        for start in sections.clone().step_by(64 * BLOCK) {
            self.is_intact(start..(start + 64 * BLOCK).min(sections.end));
            self.check()?;
        }
        Ok(())
    }

    /// Returns the error for a section of the kind `kind`: its checksums are valid, but its content contradicts another
    /// section. `what` describes the content that was expected.
    pub(in crate::index::store) fn contradiction(&self, kind: Kind, what: &str) -> Error {
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

    /// Remembers that the file is damaged at byte offset `byte`. If several blocks are damaged, the one with the lowest
    /// offset is reported.
    fn note(&self, byte: usize) {
        self.damaged.fetch_min(byte, Ordering::Relaxed);
    }

    /// Returns whether all blocks that contain these bytes are intact. Each intact block is checked only
    /// once.
    #[inline]
    fn is_intact(&self, bytes: Range<usize>) -> bool {
        let (first, last) = ((bytes.start - HEADER) / BLOCK, (bytes.end - 1 - HEADER) / BLOCK);
        (first..=last).all(|block| {
            // Two threads that check the same block get the same result, and no other data depends on the
            // bit. So relaxed memory order is enough.
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

/// Elements of a section of a sealed file, which is a file whose blocks have checksums. The bytes are checked
/// when they are read.
#[derive(Clone, Copy, Debug)]
pub struct StoredArray<'f, T> {
    file: &'f SealedFile,
    /// Byte offset of the section in the file.
    start: usize,
    elements: &'f [T],
}

impl<'f, T: Pod> StoredArray<'f, T> {
    /// Returns the elements in `range`, or an empty slice if they are outside of the section or damaged. In
    /// both cases, `check` will return an error.
    #[inline]
    pub fn get(&self, range: Range<usize>) -> &'f [T] {
        let Some(elements) = self.elements.get(range.clone()) else {
            // Offsets in an intact file never lead outside of a section, so this is damage.
            self.file.note(self.start);
            return &[];
        };
        // An empty range has no last byte whose block could be checked.
        if elements.is_empty() {
            return elements;
        }
        let start = self.start + range.start * size_of::<T>();
        let is_intact = self.file.is_intact(start..start + size_of_val(elements));
        if is_intact { elements } else { &[] }
    }

    /// Returns all elements of the section.
    ///
    /// # Errors
    ///
    /// Some elements are damaged.
    pub fn all(&self) -> Result<&'f [T]> {
        let all = self.get(0..self.elements.len());
        if all.len() < self.elements.len() {
            self.file.check()?;
        }
        Ok(all)
    }

    /// Returns the elements that are intact.
    pub fn intact(&self) -> impl Iterator<Item = T> {
        (0..self.elements.len()).filter_map(|at| self.get(at..at + 1).first().copied())
    }

    /// Returns the number of elements, intact or not.
    pub fn count(&self) -> usize {
        self.elements.len()
    }
}

/// Storage whose arrays are in a sealed file and not in separate memory. Code that works with arrays in any storage
/// takes it as its type parameter.
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
