//! A sealed file: it is written once, protected by checksums, and never changed.
//!
//! It has sections of numbers or bytes. Every 16 KiB of them are a block with a checksum, which is checked
//! when the block is read for the first time. Everything is little-endian. Sections begin at multiples of 64
//! bytes, so that a mapped file can be used in place as arrays.
//!
//! ```text
//! bytes   0 ..   8   89 "simidx" 0A; shows whether a copy has replaced line ends
//!         8 ..  12   version of the format: 3
//!        12 ..  16   number of sections, at most 96
//!        16 ..  24   bytes of the file
//!        24 ..  32   start of the checksums
//!        32 ..  40   checksum of the checksums
//!        40 .. 2344  for each section: kind and bytes of an element, 32 bits each; its start and its
//!                    number of bytes, 64 bits each; 0 after the last section
//!      2344 .. 2552  0
//!      2552 .. 2560  checksum of the 2552 bytes before
//!      2560 ..       sections, filled up with zeros
//!         …          a checksum for every 16,384 bytes from 2560 on; the last block may be shorter
//! ```
//!
//! A checksum is XXH3-64 with seed 0. The checksum of the header covers all others, so it identifies the
//! content of the file.

mod header;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub(super) use reader::SealedFile;
pub use reader::{InSegment, StoredArray};
pub(super) use writer::SealedWriter;

use std::ops::Range;

const MAGIC: &[u8; 8] = b"\x89simidx\n";
const VERSION: u32 = 3;
/// Number of bytes of the header.
const HEADER: usize = 2560;
/// Number of bytes at the start of the header that the checksum of the header covers.
const SEALED: usize = HEADER - 8;
/// Byte offset of the table of sections in the header.
const TABLE: usize = 40;
/// Number of bytes of an entry in the table of sections in the header.
const LINE: usize = 24;
/// Maximum number of sections of a file.
const MOST_SECTIONS: usize = 96;
/// Alignment of sections in bytes.
const ALIGNMENT: usize = 64;
/// Number of bytes of a block. Each block has a checksum.
const BLOCK: usize = 16 << 10;
/// Value of `SealedFile::damaged` while no damage is known.
const INTACT: usize = usize::MAX;
/// Advice at the end of messages about damage.
const REMEDY: &str =
    "restore the file from a copy, or save what is intact to a new index (salvage)";

/// Kind of a section, for example the section of IDs. The code that writes the file chooses the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(pub(super) u32);

/// Location of a section in a file, and the size of its elements in bytes.
#[derive(Clone, Debug)]
struct Section {
    kind: u32,
    element_bytes: u32,
    bytes: Range<usize>,
}

/// Identity of the content of a sealed file, which is a file that is never changed and whose blocks have
/// checksums. Files with the same seal have the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// Checksum of the header, which covers all other checksums.
    pub checksum: u64,
    /// Number of bytes of the file.
    pub bytes: u64,
}

/// Function that returns the name of a kind of section, for messages.
pub(super) type SectionName = fn(Kind) -> &'static str;
