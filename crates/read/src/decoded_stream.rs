//! The content of compressed files whose decoders are readers of standard Rust: bzip2, xz and LZ4.
//!
//! These compressions are rarer than gzip and Zstandard. After damage, nothing more is read of such a
//! file.

use crate::compressed_input::Expansion;
use crate::options::ReadOptions;
use crate::plain_stream::unreadable;
use crate::stream::{Damage, Filled, Stream, Then};
use lz4_flex::frame::FrameDecoder;
use simtool_model::compression::Compression;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, ErrorKind as IoErrorKind, Read};
use std::rc::Rc;

/// Number of compressed bytes that are read at once.
const READ_BYTES: usize = 128 << 10;

/// Stream of the decompressed content of a file.
pub(super) struct DecodedStream<'r> {
    decoder: Box<dyn Read + 'r>,
    compression: Compression,
    expansion: Expansion,
    /// The state of the file, which the decoder has taken.
    file: Rc<FileState>,
    written: u64,
    is_done: bool,
}

/// State of a file that a decoder reads.
#[derive(Debug, Default)]
struct FileState {
    /// Number of bytes that were read from the file.
    read: Cell<u64>,
    /// Whether the last call of the file's reader failed. The error is then not an error of the decoder.
    has_failed: Cell<bool>,
}

/// Reader of a file that notes how far it has come.
struct WatchedReader<R> {
    reader: R,
    state: Rc<FileState>,
}

impl<R: Read> Read for WatchedReader<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let result = self.reader.read(space);
        match &result {
            Ok(bytes) => self.state.read.set(self.state.read.get() + *bytes as u64),
            Err(error) => self.state.has_failed.set(error.kind() != IoErrorKind::Interrupted),
        }
        result
    }
}

/// Reader of the content of all frames of an LZ4 file. Each frame gets a decoder of its own, because a
/// decoder keeps settings of the frame before.
struct Lz4Frames<R: Read> {
    /// Decoder of the current frame. `None` at the end of the file.
    frame: Option<FrameDecoder<R>>,
}

impl<R: BufRead> Read for Lz4Frames<R> {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(frame) = &mut self.frame else { return Ok(0) };
            let bytes = frame.read(space)?;
            if bytes > 0 {
                return Ok(bytes);
            }
            let Some(mut rest) = self.frame.take().map(FrameDecoder::into_inner) else {
                return Ok(0);
            };
            if rest.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.frame = Some(FrameDecoder::new(rest));
        }
    }
}

impl<'r> DecodedStream<'r> {
    /// Creates the stream of the decompressed content of `reader`.
    pub(super) fn new(
        compression: Compression,
        reader: impl Read + 'r,
        options: &ReadOptions,
    ) -> Self {
        let file = Rc::<FileState>::default();
        let state = Rc::clone(&file);
        let watched = BufReader::with_capacity(READ_BYTES, WatchedReader { reader, state });
        let decoder: Box<dyn Read + 'r> = match compression {
            Compression::Bzip2 => Box::new(bzip2::bufread::MultiBzDecoder::new(watched)),
            Compression::Xz => Box::new(lzma_rust2::XzReader::new(watched, true)),
            Compression::Lz4 => Box::new(Lz4Frames { frame: Some(FrameDecoder::new(watched)) }),
            Compression::None | Compression::Gzip | Compression::Zstd => Box::new(watched),
        };
        let expansion = Expansion::new(options);
        Self { decoder, compression, expansion, file, written: 0, is_done: false }
    }

    /// Returns the damage to report for `error`, an error of the decoder or of the file.
    fn damage(&self, error: &io::Error) -> Then {
        let byte = self.position();
        if self.file.has_failed.get() {
            return unreadable(byte, error);
        }
        let title = self.compression.title();
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

impl Stream for DecodedStream<'_> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        while !self.is_done {
            match self.decoder.read(space) {
                Ok(0) => self.is_done = true,
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
        self.file.read.get()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
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
        let mut stream = DecodedStream::new(compression, file, &ReadOptions::default());
        let mut content = Vec::new();
        let mut space = vec![0; 1000];
        loop {
            let Filled { bytes, then } = stream.fill(&mut space);
            content.extend_from_slice(&space[..bytes]);
            match then {
                Then::More | Then::Warning(_) => {}
                Then::End => return (content, None),
                Then::Loss { damage, .. } => return (content, Some(damage.code)),
            }
        }
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
            let mut damaged = file.clone();
            let middle = file.len() / 4;
            damaged[middle..middle + 20].fill(0x55);
            let (_, code) = read(compression, &damaged);
            assert!(code.is_some(), "{compression:?}");
        }
    }
}
