//! The decompressed content of files, as streams.

#[cfg(doc)]
use crate::bytes::SNIFFED_BYTES;
use crate::bytes::compressed_input::CompressedBuffer;
use crate::bytes::decoded_stream::DecodedStream;
use crate::bytes::gzip::Gzip;
use crate::bytes::plain_stream::PlainStream;
use crate::bytes::zstd::Zstd;
use crate::bytes::{DecodingLimits, Stream};
use crate::source::OpenSource;
use simtool_base::error::Result;
use simtool_model::compression::Compression;
use std::io::Read;

/// Number of bytes of memory of a gzip decoder, including its window. The window is the last part of the content, which
/// the decoder keeps.
const GZIP_BYTES: f64 = 0.5e6;
/// Number of bytes of memory of a Zstandard decoder, including its window for the default compression level. The window
/// is the last part of the content, which the decoder keeps.
const ZSTD_BYTES: f64 = 4e6;

/// Number of bytes of memory of a bzip2 decoder with the largest block.
const BZIP2_BYTES: f64 = 4e6;
/// Number of bytes of memory of an xz decoder with the dictionary of the default level.
const XZ_BYTES: f64 = 9e6;
/// Number of bytes of memory of an LZ4 decoder with the largest block.
const LZ4_BYTES: f64 = 13e6;

/// Returns the number of bytes of memory that the decoder for `compression` takes.
pub(crate) fn decoder_bytes(compression: Compression) -> f64 {
    match compression {
        Compression::None => 0.0,
        Compression::Gzip => GZIP_BYTES,
        Compression::Zstd => ZSTD_BYTES,
        Compression::Bzip2 => BZIP2_BYTES,
        Compression::Xz => XZ_BYTES,
        Compression::Lz4 => LZ4_BYTES,
    }
}

/// Returns whether a decoder may need more than [`SNIFFED_BYTES`] of a file before it can write the first byte of
/// content.
pub(crate) fn has_large_blocks(compression: Compression) -> bool {
    matches!(compression, Compression::Bzip2 | Compression::Xz | Compression::Lz4)
}

/// Opens the content of a file as a stream of decompressed bytes.
///
/// # Errors
///
/// The decoder does not support the window size in `limits`.
pub(crate) fn open<'r>(
    compression: Compression,
    reader: impl Read + 'r,
    limits: DecodingLimits,
) -> Result<Box<dyn Stream + 'r>> {
    match compression {
        Compression::None => Ok(Box::new(PlainStream::new(reader))),
        Compression::Gzip => Ok(Box::new(Gzip::new(CompressedBuffer::new(reader), limits))),
        Compression::Zstd => Ok(Box::new(Zstd::new(CompressedBuffer::new(reader), limits)?)),
        Compression::Bzip2 | Compression::Xz | Compression::Lz4 => {
            Ok(Box::new(DecodedStream::new(compression, reader, limits)))
        }
    }
}

/// Returns the first position in `bytes`, a part of a compressed file, at which decompression can start. A gzip member
/// or a Zstandard frame very likely begins there. Returns `None` if there is no such position.
pub(crate) fn first_start(compression: Compression, bytes: &[u8]) -> Option<usize> {
    match compression {
        Compression::None => Some(0),
        Compression::Gzip => crate::bytes::gzip::first_member(bytes),
        Compression::Zstd => crate::bytes::zstd::first_frame(bytes),
        // Reading these files always begins at their start.
        Compression::Bzip2 | Compression::Xz | Compression::Lz4 => None,
    }
}

/// Estimates the length in bytes of the decompressed content of `source`. `bytes` is the length of `source` as it is
/// stored. Returns `None` if the content must be decompressed to know its length.
pub(crate) fn content_bytes(
    compression: Compression,
    source: &dyn OpenSource,
    bytes: u64,
) -> Option<u64> {
    match compression {
        Compression::None => Some(bytes),
        // The length at the end of a gzip file is only the length of its last member.
        Compression::Gzip | Compression::Bzip2 | Compression::Xz | Compression::Lz4 => None,
        Compression::Zstd => crate::bytes::zstd_headers::content_bytes(source, bytes),
    }
}
