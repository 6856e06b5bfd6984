//! The content of compressed files whose decoders are readers of standard Rust: bzip2, xz and LZ4.
//!
//! These compressions are rarer than gzip and Zstandard. After damage, the rest of the file is not read.

use crate::bytes::compressed_input::trailing;
use crate::bytes::plain_stream::unreadable;
use crate::bytes::{Damage, DecodingLimits, Expansion, Filled, Stream, Then};
use bzip2::bufread::BzDecoder;
use lz4_flex::frame::FrameDecoder;
use simtool_model::compression::Compression;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, ErrorKind as IoErrorKind, Read};
use std::rc::Rc;

/// Number of compressed bytes that are read at once.
const READ_BYTES: usize = 128 << 10;

/// Stream of the decompressed content of a file.
pub(crate) struct DecodedStream<'r> {
    decoder: Box<dyn Read + 'r>,
    compression: Compression,
    expansion: Expansion,
    /// Largest number of bytes of memory that the decoder may use.
    memory_limit: u64,
    /// State of the file. The decoder owns the reader of the file, and updates this state.
    file: Rc<FileState>,
    written: u64,
    is_done: bool,
}

/// State of a file that a decoder reads.
#[derive(Debug, Default)]
struct FileState {
    /// Number of bytes of the file that the decoder has consumed.
    consumed: Cell<u64>,
    /// Whether the decoder asked for more bytes at the end of the file.
    has_ended: Cell<bool>,
    /// Whether the file could not be read. Then an error of the decoder is really an error of the file.
    has_failed: Cell<bool>,
    /// Byte offset of the bytes after the last bzip2 stream or LZ4 frame, and whether all these bytes are zero. `None`
    /// if no such bytes were found.
    trailing: Cell<Option<(u64, bool)>>,
}

/// Buffered reader of a file that records how many bytes the decoder has consumed.
struct WatchedReader<R> {
    reader: BufReader<R>,
    state: Rc<FileState>,
}

impl<R: Read> BufRead for WatchedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let result = self.reader.fill_buf();
        match &result {
            Ok(bytes) => self.state.has_ended.set(bytes.is_empty()),
            Err(error) => self.state.has_failed.set(error.kind() != IoErrorKind::Interrupted),
        }
        result
    }

    fn consume(&mut self, bytes: usize) {
        self.state.consumed.set(self.state.consumed.get() + bytes as u64);
        self.reader.consume(bytes);
    }
}

impl<R: Read> Read for WatchedReader<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let ahead = self.fill_buf()?;
        let bytes = ahead.len().min(space.len());
        space[..bytes].copy_from_slice(&ahead[..bytes]);
        self.consume(bytes);
        Ok(bytes)
    }
}

/// Decoder of one part of a file: a stream of bzip2 or a frame of LZ4.
trait PartDecoder: Read + Sized {
    /// Reader of the compressed file, from which the decoder reads the bzip2 stream or LZ4 frame.
    type Rest: BufRead;

    /// First bytes of every bzip2 stream or LZ4 frame, by which it is recognized.
    const MAGIC: &[u8];

    /// Creates the decoder of the bzip2 stream or LZ4 frame at the current position of `rest`.
    fn begin(rest: Self::Rest) -> Self;

    /// Returns the reader, positioned at the end of the bzip2 stream or LZ4 frame.
    fn end(self) -> Self::Rest;
}

impl<R: BufRead> PartDecoder for BzDecoder<R> {
    type Rest = R;

    const MAGIC: &[u8] = b"BZh";

    fn begin(rest: R) -> Self {
        Self::new(rest)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> PartDecoder for FrameDecoder<R> {
    type Rest = R;

    const MAGIC: &[u8] = &[0x04, 0x22, 0x4D, 0x18];

    fn begin(rest: R) -> Self {
        Self::new(rest)
    }

    fn end(self) -> R {
        self.into_inner()
    }
}

/// Reader of the decompressed content of all parts of a file. A part is a bzip2 stream or an LZ4 frame. Each part gets
/// a new decoder, so that no decoder keeps settings of an earlier part.
struct Parts<D> {
    /// Decoder of the current bzip2 stream or LZ4 frame. `None` at the end of the file.
    part: Option<D>,
    state: Rc<FileState>,
}

impl<D: PartDecoder> Parts<D> {
    fn new(rest: D::Rest, state: Rc<FileState>) -> Self {
        Self { part: Some(D::begin(rest)), state }
    }
}

impl<D: PartDecoder> Read for Parts<D> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        // A file may have many parts, for example if it was made by `cat` or by a parallel compressor.
        while let Some(mut part) = self.part.take() {
            let bytes = part.read(space)?;
            if bytes > 0 {
                self.part = Some(part);
                return Ok(bytes);
            }
            // The decoder of LZ4 takes the end of the file for the end of a frame. But a whole frame ends before the
            // decoder asks for bytes beyond the end of the file.
            if self.state.has_ended.get() {
                return Err(IoErrorKind::UnexpectedEof.into());
            }
            let mut rest = part.end();
            let at = self.state.consumed.get();
            let ahead = rest.fill_buf()?;
            if ahead.is_empty() {
                return Ok(0);
            }
            // The buffer may end inside the magic bytes. Then only the bytes in the buffer are compared.
            let looked_at = ahead.len().min(D::MAGIC.len());
            if ahead[..looked_at] != D::MAGIC[..looked_at] {
                let is_padding = is_zero(&mut rest)?;
                self.state.trailing.set(Some((at, is_padding)));
                return Ok(0);
            }
            self.part = Some(D::begin(rest));
        }
        Ok(0)
    }
}

/// Reads `rest` up to its end or to the first byte that is not zero. Returns whether all bytes are zero.
fn is_zero(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let ahead = rest.fill_buf()?;
        if ahead.is_empty() {
            return Ok(true);
        }
        if ahead.iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        let bytes = ahead.len();
        rest.consume(bytes);
    }
}

impl<'r> DecodedStream<'r> {
    /// Creates the stream of the decompressed content of `reader`.
    pub(crate) fn new(
        compression: Compression,
        reader: impl Read + 'r,
        limits: DecodingLimits,
    ) -> Self {
        let file = Rc::<FileState>::default();
        let state = Rc::clone(&file);
        let reader = BufReader::with_capacity(READ_BYTES, reader);
        let watched = WatchedReader { reader, state: Rc::clone(&file) };
        let memory_limit = memory_limit(limits);
        let decoder: Box<dyn Read + 'r> = match compression {
            Compression::Bzip2 => Box::new(Parts::<BzDecoder<_>>::new(watched, state)),
            Compression::Lz4 => Box::new(Parts::<FrameDecoder<_>>::new(watched, state)),
            Compression::Xz => {
                // The decoder wants the limit in KiB.
                let limit = u32::try_from(memory_limit / 1024).unwrap_or(u32::MAX);
                Box::new(lzma_rust2::XzReader::new_mem_limit(watched, true, limit))
            }
            Compression::None | Compression::Gzip | Compression::Zstd => Box::new(watched),
        };
        let expansion = Expansion::new(limits.max_expansion);
        Self { decoder, compression, expansion, memory_limit, file, written: 0, is_done: false }
    }

    /// Returns the damage to report for `error`, an error of the decoder or of the file.
    fn damage(&self, error: &io::Error) -> Then {
        let byte = self.position();
        if self.file.has_failed.get() {
            return unreadable(byte, error);
        }
        let title = self.compression.title();
        // A dictionary that is too large is no damage, and the user can allow it.
        if error.kind() == IoErrorKind::OutOfMemory {
            let detail = format!(
                "needs a dictionary of about {} bytes or more; not read. Raise `zstd_window_log` if you \
                 trust it",
                self.memory_limit
            );
            let damage = Damage { code: "xz-memory", byte, detail };
            return Then::Loss { damage, untrusted: true, goes_on: false };
        }
        let (code, detail) = if error.kind() == IoErrorKind::UnexpectedEof {
            let detail = format!(
                "the compressed data ends inside a part of {title}; complete records before the end \
                 were kept, the partial one was quarantined. Get the file again"
            );
            ("truncated", detail)
        } else {
            let detail = format!(
                "{title} that cannot be read ({error}); what could be read of it was quarantined, \
                 and nothing behind it was read"
            );
            ("corrupt", detail)
        };
        let damage = Damage { code, byte, detail };
        Then::Loss { damage, untrusted: code == "corrupt", goes_on: false }
    }
}

/// Returns the largest number of bytes of memory that a decoder may use: the largest window of Zstandard, and 1 MiB for
/// the rest of the decoder.
fn memory_limit(limits: DecodingLimits) -> u64 {
    // The decoder needs less than 1 MiB for tables in addition to its dictionary. A shift beyond 63 bits would overflow.
    (1_u64 << limits.window_log.min(40)) + (1 << 20)
}

impl Stream for DecodedStream<'_> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        while !self.is_done {
            match self.decoder.read(space) {
                Ok(0) => {
                    self.is_done = true;
                    if let Some((byte, is_padding)) = self.file.trailing.get() {
                        let kind = format!("part of {}", self.compression.title());
                        return Filled { bytes: 0, then: trailing(byte, None, &kind, is_padding) };
                    }
                }
                Ok(bytes) => {
                    self.written += bytes as u64;
                    let bomb = self.expansion.check(self.position(), self.written);
                    self.is_done = bomb.is_some();
                    return Filled { bytes, then: bomb.unwrap_or(Then::More) };
                }
                Err(error) if error.kind() == IoErrorKind::Interrupted => {}
                Err(error) => {
                    self.is_done = true;
                    return Filled { bytes: 0, then: self.damage(&error) };
                }
            }
        }
        Filled { bytes: 0, then: Then::End }
    }

    fn position(&self) -> u64 {
        self.file.consumed.get()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::documents::ReadOptions;
    use std::io::Write;

    /// Compresses `content` with a fast level.
    pub(crate) fn packed(compression: Compression, content: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Bzip2 => {
                let mut encoder =
                    bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            Compression::Xz => {
                let options = lzma_rust2::XzOptions::with_preset(1);
                let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
            _ => {
                let info = lz4_flex::frame::FrameInfo::new().content_checksum(true);
                let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    /// Returns the content that is read, and the code of the damage, if there is damage.
    fn read(compression: Compression, file: &[u8]) -> (Vec<u8>, Option<&'static str>) {
        let mut stream = DecodedStream::new(compression, file, ReadOptions::default().decoding());
        let mut content = Vec::new();
        let mut space = vec![0; 1000];
        loop {
            let Filled { bytes, then } = stream.fill(&mut space);
            content.extend_from_slice(&space[..bytes]);
            match then {
                Then::More | Then::NeedsMemory { .. } => {}
                Then::End => return (content, None),
                Then::Warning(damage) | Then::Loss { damage, .. } => {
                    return (content, Some(damage.code));
                }
            }
        }
    }

    #[test]
    fn a_frame_that_is_cut_between_blocks_is_not_whole() {
        let file = packed(Compression::Lz4, b"some text");
        // The last eight bytes are the mark of the end and the checksum.
        for length in [4, file.len() - 8, file.len() - 4] {
            let (_, code) = read(Compression::Lz4, &file[..length]);
            assert_eq!(code, Some("truncated"), "{length} bytes");
        }
    }

    #[test]
    fn a_large_dictionary_is_refused_and_not_called_damage() {
        let mut options = lzma_rust2::XzOptions::with_preset(1);
        options.lzma_options.dict_size = 64 << 20;
        let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
        encoder.write_all(b"text").unwrap();
        let file = encoder.finish().unwrap();
        let code = |zstd_window_log| {
            let options = ReadOptions { zstd_window_log, ..ReadOptions::default() };
            let mut stream = DecodedStream::new(Compression::Xz, &file[..], options.decoding());
            match stream.fill(&mut [0; 100]).then {
                Then::Loss { damage, .. } => Some(damage.code),
                _ => None,
            }
        };
        assert_eq!([code(27), code(20)], [None, Some("xz-memory")]);
    }

    #[test]
    fn parts_are_read_one_after_the_other_and_damage_is_reported() {
        let content: Vec<u8> =
            (0..100_000_u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        for compression in [Compression::Bzip2, Compression::Xz, Compression::Lz4] {
            let halves = content.split_at(content.len() / 2);
            let file = [packed(compression, halves.0), packed(compression, halves.1)].concat();
            assert!(read(compression, &file) == (content.clone(), None), "{compression:?}");
            let (read_of_cut, code) = read(compression, &file[..file.len() - 1000]);
            assert_eq!(code, Some("truncated"), "{compression:?}");
            assert!(content.starts_with(&read_of_cut), "{compression:?}");
            let trailing = [&file[..], b"\0\0 padding"].concat();
            let expected =
                (content.clone(), (compression != Compression::Xz).then_some("trailing"));
            let (read_of_trailing, code) = read(compression, &trailing);
            if compression == Compression::Xz {
                assert!(code.is_some() && read_of_trailing == content);
            } else {
                assert!((read_of_trailing, code) == expected, "{compression:?}");
            }
            let mut damaged = file.clone();
            let middle = file.len() / 4;
            damaged[middle..middle + 20].fill(0x55);
            let (_, code) = read(compression, &damaged);
            assert!(code.is_some(), "{compression:?}");
        }
    }
}
