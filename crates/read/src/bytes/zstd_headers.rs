//! Estimates the decompressed length of a Zstandard file from its headers (RFC 8878, section 3.1).

use crate::source::OpenSource;

/// The first four bytes of a Zstandard frame (RFC 8878, section 3.1.1).
pub(crate) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Largest number of headers of frames and blocks that are read. The length of a file with more headers is usually not
/// estimated.
const MOST_HEADERS: u32 = 1024;
/// Length in bytes of the longest possible header of a frame.
const FRAME_HEADER: usize = 18;
/// Largest decompressed size that a block can have, in bytes.
const BLOCK_BYTES: u64 = 128 << 10;

/// Estimates the length in bytes of the decompressed content of a Zstandard file of `bytes` bytes. A frame usually
/// states the length of its content. In other frames, each compressed block is assumed to have the largest possible
/// size.
///
/// Returns `None` if the file is not intact, or if it has more than [`MOST_HEADERS`] headers. If the limit is reached
/// inside the first frame, and this frame states the length of its content, that length is returned instead.
pub(crate) fn content_bytes(file: &dyn OpenSource, bytes: u64) -> Option<u64> {
    let (mut at, mut content) = (0, 0);
    let mut left = MOST_HEADERS;
    while at < bytes {
        let head = bytes_at::<FRAME_HEADER>(file, at)?;
        left = left.checked_sub(1)?;
        if let [0x50..=0x5F, 0x2A, 0x4D, 0x18, length @ ..] = head {
            // A skippable frame has four bytes of magic number and four bytes of length (RFC 8878,
            // section 3.1.2). It has no content for the decoder.
            let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
            at += 8 + u64::from(length);
            continue;
        }
        let frame = Frame::new(&head)?;
        let is_first = at == 0;
        at += frame.header;
        let mut of_blocks = 0;
        loop {
            let Some(rest) = left.checked_sub(1) else {
                return frame.content.filter(|_| is_first);
            };
            left = rest;
            if at >= bytes {
                return None;
            }
            // A block begins with three bytes: one bit for the last block, two bits for the type,
            // and 21 bits for the size (RFC 8878, section 3.1.1.2).
            let [low, middle, high] = bytes_at(file, at)?;
            let header = u32::from_le_bytes([low, middle, high, 0]);
            let size = u64::from(header >> 3);
            let (packed, unpacked) = match header >> 1 & 3 {
                0 => (size, size),
                // A block of one repeated byte stores that byte once, and its size is the number of
                // repetitions.
                1 => (1, size),
                // A compressed block does not state the size of its content. It holds at most the
                // window and at most 128 KiB.
                2 => (size, frame.window.min(BLOCK_BYTES)),
                // The fourth type is reserved, so the file is damaged or newer.
                _ => return None,
            };
            at += 3 + packed;
            of_blocks += unpacked;
            if header & 1 == 1 {
                break;
            }
        }
        at += frame.checksum;
        content += frame.content.unwrap_or(of_blocks);
    }
    (at == bytes).then_some(content)
}

/// Returns the size in bytes of the window of the frame at the start of `bytes`. Returns 0 if no frame begins there. If
/// the frame states the length of its content, the result is at most that length.
pub(crate) fn window_of(bytes: &[u8]) -> u64 {
    let mut head = [0; FRAME_HEADER];
    let known = bytes.len().min(FRAME_HEADER);
    head[..known].copy_from_slice(&bytes[..known]);
    Frame::new(&head).map_or(0, |frame| frame.window.min(frame.content.unwrap_or(u64::MAX)))
}

/// Sizes that the header of a Zstandard frame states.
struct Frame {
    /// Length of the header in bytes.
    header: u64,
    /// Length in bytes of the checksum after the blocks: 0 or 4.
    checksum: u64,
    /// Size in bytes of the window that the decoder needs.
    window: u64,
    /// Length in bytes of the decompressed content, or `None` if the header does not state it.
    content: Option<u64>,
}

impl Frame {
    fn new(head: &[u8; FRAME_HEADER]) -> Option<Self> {
        let [descriptor, rest @ ..] = head.strip_prefix(&MAGIC)? else { return None };
        let is_single = descriptor >> 5 & 1 == 1;
        // A frame of a single segment has no byte for the window, because its content is the window
        // (RFC 8878, section 3.1.1.1).
        let window_byte = usize::from(!is_single);
        let dictionary_id = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let length = match descriptor >> 6 {
            0 => usize::from(is_single),
            power => 1 << power,
        };
        let content_at = window_byte + dictionary_id;
        let mut number = [0; 8];
        // A header has at most 4 + 1 + 1 + 4 + 8 bytes.
        number[..length].copy_from_slice(rest.get(content_at..content_at + length)?);
        // A length in two bytes is stored minus 256, because a shorter length fits in one byte (RFC
        // 8878, section 3.1.1.1.4).
        let number = u64::from_le_bytes(number) + if length == 2 { 256 } else { 0 };
        let content = (length > 0).then_some(number);
        let window = match content {
            Some(content) if is_single => content,
            _ => {
                // The byte of the window has five bits of exponent and three bits of mantissa (RFC
                // 8878, section 3.1.1.1.2).
                let base = 1_u64 << (10 + (rest[0] >> 3));
                base + base / 8 * u64::from(rest[0] & 7)
            }
        };
        let header = (MAGIC.len() + 1 + content_at + length) as u64;
        Some(Self { header, checksum: u64::from(descriptor >> 2 & 1) * 4, window, content })
    }
}

/// Reads `N` bytes at byte offset `at` of the file. Bytes beyond the end of the file are returned
/// as 0. Returns `None` if reading fails.
fn bytes_at<const N: usize>(file: &dyn OpenSource, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.fill_at(at, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn content_of(file: &[u8]) -> Option<u64> {
        content_bytes(&file.to_vec(), file.len() as u64)
    }

    /// Returns text of `bytes` bytes that can be compressed a little.
    fn text(bytes: usize) -> Vec<u8> {
        (0..).flat_map(|at: u64| format!("{} ", at * at % 9973).into_bytes()).take(bytes).collect()
    }

    /// Returns two frames with the same content: one that states the length of its content, and one
    /// that does not.
    fn frames(content: &[u8]) -> [Vec<u8>; 2] {
        [Some(content.len() as u64), None].map(|said| {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            encoder.include_checksum(said.is_none()).unwrap();
            encoder.set_pledged_src_size(said).unwrap();
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        })
    }

    #[test]
    fn content_is_declared_by_frames_and_by_blocks() {
        for bytes in [0, 1, 200, 300, 70_000, 1_000_000] {
            let content = text(bytes);
            let [said, unsaid] = frames(&content);
            assert_eq!(content_of(&said), Some(bytes as u64));
            let declared = content_of(&unsaid).unwrap() as usize;
            assert!(
                declared >= bytes && declared < bytes + bytes / 4 + (BLOCK_BYTES as usize),
                "{declared}"
            );
            let skipped = [&[0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 7, 7, 7][..], &said].concat();
            assert_eq!(content_of(&[&said[..], &skipped, &said].concat()), Some(3 * bytes as u64));
        }
    }

    #[test]
    fn damaged_or_clipped_content_has_no_size() {
        let [said, unsaid] = frames(&text(500_000));
        for file in [&said, &unsaid] {
            assert_eq!(content_of(&file[..file.len() / 2]), None);
            assert_eq!(content_of(&[file, &b"more"[..]].concat()), None);
        }
        assert_eq!(content_of(b"{\"text\": \"a\"}"), None);
    }

    #[test]
    fn of_many_headers_only_a_first_frame_that_says_it_is_believed() {
        let bytes = (u64::from(MOST_HEADERS) + 10) * BLOCK_BYTES;
        let [said, unsaid] = frames(&vec![b'x'; bytes as usize]);
        assert_eq!(content_of(&said), Some(bytes));
        assert_eq!(content_of(&unsaid), None);
        let [small, _] = frames(b"small");
        assert_eq!(content_of(&[small, said].concat()), None);
    }
}
