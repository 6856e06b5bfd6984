//! Dictionaries at the start of Zstandard files, which web archives use.
//!
//! The first frame of such a file is a skippable frame. Its content is the dictionary, which may be compressed itself.
//! All later frames need the dictionary. The Internet Archive defines this layout ("Use of Zstandard in WARC files",
//! version 0.1).

use crate::bytes::magic_bytes;
use simtool_model::compression::Compression;
use std::io::Read;

/// The first four bytes of a frame that holds a dictionary.
const MAGIC: [u8; 4] = [0x5D, 0x2A, 0x4D, 0x18];

/// Number of bytes of the magic number and the length at the start of a skippable frame.
pub(crate) const HEADER_BYTES: usize = 8;

/// Length in bytes of the longest dictionary that is read. Usual dictionaries have about a megabyte.
pub(crate) const LONGEST_DICTIONARY: usize = 64 << 20;

/// Returns whether a file that begins with `head` begins with a dictionary.
pub(crate) fn has_dictionary(head: &[u8]) -> bool {
    head.starts_with(&MAGIC)
}

/// Returns the length in bytes of the frame with the dictionary at the start of `head`. Returns `None` if `head` does
/// not begin with such a frame, or is too short to decide.
pub(crate) fn frame_length(head: &[u8]) -> Option<usize> {
    let length = head.strip_prefix(&MAGIC)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_add(HEADER_BYTES)
}

/// Returns the dictionary, decompressed if necessary. `content` is the content of its frame. Returns `None` if it
/// cannot be decompressed or is too long.
pub(crate) fn unpacked(content: &[u8]) -> Option<Vec<u8>> {
    if magic_bytes::compression(content) != Compression::Zstd {
        return Some(content.to_vec());
    }
    let mut dictionary = Vec::new();
    let decoder = zstd::stream::read::Decoder::with_buffer(content).ok()?;
    let read = decoder.take(LONGEST_DICTIONARY as u64 + 1).read_to_end(&mut dictionary);
    (read.is_ok() && dictionary.len() <= LONGEST_DICTIONARY).then_some(dictionary)
}
