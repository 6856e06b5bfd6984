//! Reads and checks the header of a sealed file.

use super::{
    ALIGNMENT, BLOCK, HEADER, LINE, MAGIC, MOST_SECTIONS, REMEDY, SEALED, Seal, Section, TABLE,
    VERSION,
};
use simtool_base::stable_hash::hash;
use std::ops::Range;

/// Content of a header: the sections of the file, and the byte range of the checksums.
pub(super) struct SealedHeader {
    pub(super) sections: Vec<Section>,
    pub(super) checksums: Range<usize>,
}

impl SealedHeader {
    /// Parses and checks the header of a whole file with the content `bytes`. If `seal` is given, its checksum must be
    /// the checksum of the header. The error holds the byte offset of the fault and a description of the expected
    /// bytes.
    pub(super) fn read(bytes: &[u8], seal: Option<Seal>) -> Result<Self, (usize, String)> {
        let damaged = |what: &str| format!("{what}: the file is damaged; {REMEDY}");
        let Some(header) = bytes.get(..HEADER).filter(|header| header.starts_with(MAGIC)) else {
            return Err((0, damaged("the header of a segment of an index")));
        };
        let number_32 = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        let number_64 = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| header[at + i]));
        // The version is checked before the checksum, because another version may have another header.
        if number_32(8) != VERSION {
            let expected = format!(
                "version {VERSION} of the format: another version of simtool wrote it; use that \
                 version"
            );
            return Err((8, expected));
        }
        let checksum = number_64(SEALED);
        if checksum != hash(&header[..SEALED]) {
            return Err((0, damaged("a header that agrees with its checksum")));
        }
        // A file that was cut off can still have an intact header.
        if number_64(16) != bytes.len() as u64 {
            let expected = format!("{} bytes, as the header says", number_64(16));
            return Err((16, damaged(&expected)));
        }
        if seal.is_some_and(|seal| seal.checksum != checksum) {
            return Err((SEALED, damaged("the checksum that the manifest has of this segment")));
        }
        let contradicts = || (16, damaged("sections that lie before the checksums in the file"));
        let (count, start) = (number_32(12) as usize, number_64(24) as usize);
        // A header with a valid checksum can still hold any numbers, so this arithmetic must not overflow.
        let blocks = start.checked_sub(HEADER).map(|bytes| bytes.div_ceil(BLOCK));
        let end =
            blocks.and_then(|blocks| blocks.checked_mul(8)).and_then(|b| b.checked_add(start));
        if end != Some(bytes.len()) || count > MOST_SECTIONS {
            return Err(contradicts());
        }
        let checksums = start..bytes.len();
        if hash(&bytes[checksums.clone()]) != number_64(32) {
            return Err((start, damaged("block checksums that agree with the header")));
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
        // A section that ends inside an element, or has elements without bytes, cannot be used as
        // an array.
        let is_whole = |section: &Section| {
            section.bytes.len().checked_rem(section.element_bytes as usize) == Some(0)
        };
        if !sections.iter().all(is_whole) {
            return Err(contradicts());
        }
        Ok(Self { sections, checksums })
    }
}
