//! Recognizes the compression of a file by its first bytes.

use simtool_model::compression::Compression;

/// Number of bytes at the start of the content from which the format is recognized.
pub(crate) const SNIFFED_BYTES: usize = 256 << 10;

/// Returns the compression of a file whose first bytes are `head`.
pub(crate) fn compression(head: &[u8]) -> Compression {
    match head {
        [0x1F, 0x8B, ..] => Compression::Gzip,
        // The magic bytes of a Zstandard frame, or of a skippable frame.
        [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Compression::Zstd,
        // The level, and the start of a block (the digits of π) or of the end (the digits of √π).
        [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, ..]
        | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, ..] => Compression::Bzip2,
        [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
        [0x04, 0x22, 0x4D, 0x18, ..] => Compression::Lz4,
        _ => Compression::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_compression_has_its_magic_bytes() {
        assert_eq!(compression(&[0x1F, 0x8B, 8]), Compression::Gzip);
        assert_eq!(compression(&[0x28, 0xB5, 0x2F, 0xFD]), Compression::Zstd);
        assert_eq!(compression(&[0x51, 0x2A, 0x4D, 0x18]), Compression::Zstd);
        assert_eq!(compression(b"BZh91AY&SY"), Compression::Bzip2);
        assert_eq!(compression(b"\xFD7zXZ\0"), Compression::Xz);
        assert_eq!(compression(&[0x04, 0x22, 0x4D, 0x18]), Compression::Lz4);
        assert_eq!(compression(b"BZh9 is a text"), Compression::None);
        assert_eq!(compression(b"WARC"), Compression::None);
    }
}
