//! Decompresses Zstandard files, which are sequences of frames.

use crate::compressed_input::{CompressedBuffer, Expansion, clipped, corrupt};
use crate::options::ReadOptions;
use crate::stream::{Damage, Filled, Stream, Then};
use simtool_base::error::{Error, Result};
use std::io::Read;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

/// The first four bytes of a Zstandard frame (RFC 8878, section 3.1.1).
pub(super) const MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];

/// Stream of the decompressed content of a Zstandard file.
pub(super) struct Zstd<R> {
    input: CompressedBuffer<R>,
    decoder: Decoder<'static>,
    expansion: Expansion,
    /// Base 2 logarithm of the largest allowed window in bytes. The window is the memory that the
    /// decoder needs. Frames with a larger window are not read.
    window_log: u32,
    /// Byte offset, in the file, of the frame that is being read.
    frame: u64,
    in_frame: bool,
    written: u64,
    done: bool,
}

impl<R: Read> Zstd<R> {
    /// Creates the stream of the decompressed content of a Zstandard file.
    ///
    /// # Errors
    ///
    /// The decoder refuses the option `zstd_window_log`.
    pub(super) fn new(input: CompressedBuffer<R>, options: &ReadOptions) -> Result<Self> {
        let (expansion, window_log) = (Expansion::new(options), options.zstd_window_log);
        let refused = |_| Error::config("zstd_window_log", window_log, "must be from 10 to 31");
        let mut decoder = Decoder::new().map_err(refused)?;
        decoder.set_parameter(DParameter::WindowLogMax(window_log)).map_err(refused)?;
        Ok(Self {
            input,
            decoder,
            expansion,
            window_log,
            frame: 0,
            in_frame: false,
            written: 0,
            done: false,
        })
    }

    /// Returns the damage to report for `error`, an error of the decoder. Moves the input to the
    /// next frame.
    fn damage(&mut self, error: &std::io::Error) -> Then {
        let (began, was_inside) = (self.frame, self.in_frame);
        let reason = error.to_string();
        // The library reports every error as text. A window that is too large is no damage, and the
        // user can allow it. So this error has a message of its own.
        if reason.contains("requires too much memory") {
            self.done = true;
            let detail = format!(
                "a frame needs a window of over {} bytes; not read. Raise `zstd_window_log` if \
                 you trust it",
                1_u64 << self.window_log.min(63)
            );
            let damage = Damage { code: "zstd-window", byte: began, detail };
            return Then::Loss { damage, untrusted: true, goes_on: false };
        }
        // Bytes at the end of the file that are no frame cause only a warning. A frame that cannot
        // be decoded is a loss.
        let is_frame = was_inside || self.frame_magic_at_start();
        match self.resume(if is_frame { began + 1 } else { began }) {
            Ok(None) if !is_frame => self.input.trailing(began, "Zstandard frame"),
            Ok(next) => {
                let what = format!("a Zstandard frame that cannot be read ({reason})");
                corrupt("corrupt-zstd", began, &what, next)
            }
            Err(unreadable) => unreadable,
        }
    }

    /// Returns the damage to report for a file that ends inside a frame. There are two cases.
    /// Either the file was cut, or the frame is damaged and its decoder has consumed the frames
    /// after it.
    fn end_inside(&mut self) -> Then {
        let (end, began) = (self.input.position(), self.frame);
        match self.resume(began + 1) {
            Ok(None) => clipped(end, began, "Zstandard frame"),
            Ok(next) => corrupt("corrupt-zstd", began, "a frame with a wrong length", next),
            Err(unreadable) => unreadable,
        }
    }

    /// Moves the input to the next frame at or after byte offset `from`. Returns the offset of that
    /// frame, or `None` if there is no frame.
    fn resume(&mut self, from: u64) -> Result<Option<u64>, Then> {
        self.in_frame = false;
        // The stream counts as ended until the search succeeds, because the next line may return an
        // error.
        self.done = true;
        let found = self.input.seek_start(from, MAGIC.len(), is_frame_start)?;
        // Resetting the session of a decoder that exists does not fail.
        self.done = !found || self.decoder.reinit().is_err();
        Ok(found.then(|| self.input.position()))
    }

    /// Returns whether the bytes at offset `self.frame`, where decoding failed, are the first bytes
    /// of a frame.
    fn frame_magic_at_start(&self) -> bool {
        self.input.remembered(self.frame).is_some_and(|bytes| bytes.starts_with(&MAGIC))
    }
}

impl<R: Read> Stream for Zstd<R> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        let mut bytes = 0;
        while !self.done {
            if self.input.ahead().is_empty() {
                match self.input.more(self.frame) {
                    Ok(true) => {}
                    Ok(false) => {
                        if !self.in_frame {
                            self.done = true;
                            break;
                        }
                        let then = self.end_inside();
                        return Filled { bytes, then };
                    }
                    Err(then) => return Filled { bytes, then },
                }
            }
            if !self.in_frame {
                self.frame = self.input.position();
            }
            let mut input = InBuffer::around(self.input.ahead());
            let mut output = OutBuffer::around(&mut space[bytes..]);
            let status = self.decoder.run(&mut input, &mut output);
            let (read, written) = (input.pos(), output.pos());
            self.input.consume(read);
            bytes += written;
            self.written += written as u64;
            match status {
                // The decoder returns 0 at the end of a frame, after all content of the frame was
                // written.
                Ok(hint) => self.in_frame = hint != 0,
                Err(error) => return Filled { bytes, then: self.damage(&error) },
            }
            if let Some(then) = self.expansion.check(self.input.position(), self.written) {
                self.done = true;
                return Filled { bytes, then };
            }
            // A call returns at the end of each frame. So one call never returns the content of a
            // damaged frame together with the content of an intact frame.
            if bytes == space.len() || (bytes > 0 && !self.in_frame) {
                return Filled { bytes, then: Then::More };
            }
        }
        Filled { bytes, then: Then::End }
    }

    fn position(&self) -> u64 {
        self.input.position()
    }
}

/// Returns the first position in `bytes` at which a Zstandard frame very likely begins, or `None`.
pub(super) fn first_frame(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, &MAGIC)
}

fn is_frame_start(bytes: &[u8]) -> bool {
    bytes == MAGIC
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a Zstandard file to its end. Returns the length of the decompressed content, and the
    /// largest number of compressed bytes that were in memory at once.
    fn read(file: impl Read) -> (u64, usize) {
        let mut zstd = Zstd::new(CompressedBuffer::new(file), &ReadOptions::default()).unwrap();
        let (mut content, mut held) = (0, 0);
        let mut space = vec![0; 1 << 20];
        loop {
            let Filled { bytes, then } = zstd.fill(&mut space);
            content += bytes as u64;
            held = held.max(zstd.input.held());
            match then {
                Then::More => {}
                Then::End => return (content, held),
                then => panic!("{then:?}"),
            }
        }
    }

    #[test]
    fn a_huge_frame_is_not_kept_in_memory() {
        // Uncompressed blocks of 100,000 bytes each. The last one is empty.
        let header = [&MAGIC[..], &[0, 0x58]].concat();
        let mut block = (100_000_u32 << 3).to_le_bytes()[..3].to_vec();
        block.resize(3 + 100_000, b'x');
        let file = [header, block.repeat(300), vec![1, 0, 0]].concat();
        let (content, held) = read(&file[..]);
        assert_eq!(content, 30_000_000);
        assert!(held < 1 << 20, "{held} bytes");
    }

    #[test]
    fn a_frame_to_skip_is_not_kept_in_memory() {
        let skipped = 50_000_000_u32;
        let start = [&[0x50, 0x2A, 0x4D, 0x18], &skipped.to_le_bytes()[..]].concat();
        let end = zstd::encode_all(&b"text"[..], 1).unwrap();
        let (content, held) =
            read((&start[..]).chain(std::io::repeat(b'x').take(skipped.into())).chain(&end[..]));
        assert_eq!(content, 4);
        assert!(held < 1 << 20, "{held} bytes");
    }
}
