//! Decompresses Zstandard files, which are sequences of frames.

use crate::bytes::compressed_input::{CompressedBuffer, clipped, corrupt};
use crate::bytes::zstd_dictionary::{
    HEADER_BYTES, LONGEST_DICTIONARY, frame_length, has_dictionary, unpacked,
};
use crate::bytes::zstd_headers::{MAGIC, window_of};
use crate::bytes::{Damage, DecodingLimits, Expansion, Filled, Stream, Then};
use simtool_base::error::{Error, Result};
use std::io::Read;
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

const NO_DICTIONARY: &str = "its frames need a dictionary, which the file does not begin with; not \
    read. Unpack it, for example with `zstd -d -D DICTIONARY`";
const NO_MEMORY: &str = "the system gives no memory for the window of a frame; not read. Allow more, or use \
    fewer `threads`";
const LONG_DICTIONARY: &str = "begins with a dictionary of over 64 MiB; not read";

/// Stream of the decompressed content of a Zstandard file.
pub(crate) struct Zstd<R> {
    input: CompressedBuffer<R>,
    decoder: Decoder<'static>,
    expansion: Expansion,
    /// Base 2 logarithm of the largest allowed window in bytes. The window is memory that the decoder needs for a
    /// frame. Frames with a larger window are not read.
    window_log: u32,
    /// Byte offset in the file of the frame that is being read.
    frame: u64,
    /// Whether nothing was read yet, so that the file may begin with a dictionary.
    is_at_start: bool,
    in_frame: bool,
    written: u64,
    /// Size in bytes of the window of the frame that is being read.
    window: u64,
    /// Number of decompressed bytes before the current frame: the value of `written` at its start.
    frame_written: u64,
    /// Number of bytes in the last request for memory to the caller.
    asked: u64,
    done: bool,
}

/// Largest window in bytes that a reader may use without a request to the caller, because the plan for the memory of
/// decoders includes it.
const USUAL_WINDOW: u64 = 8 << 20;

impl<R: Read> Zstd<R> {
    /// Creates the stream of the decompressed content of a Zstandard file.
    ///
    /// # Errors
    ///
    /// `limits.window_log` is not from 10 to 31.
    pub(crate) fn new(input: CompressedBuffer<R>, limits: DecodingLimits) -> Result<Self> {
        let (expansion, window_log) = (Expansion::new(limits.max_expansion), limits.window_log);
        let refused = |_| Error::config("zstd_window_log", window_log, "must be from 10 to 31");
        let mut decoder = Decoder::new().map_err(refused)?;
        decoder.set_parameter(DParameter::WindowLogMax(window_log)).map_err(refused)?;
        Ok(Self {
            input,
            decoder,
            expansion,
            window_log,
            frame: 0,
            is_at_start: true,
            in_frame: false,
            written: 0,
            window: 0,
            frame_written: 0,
            asked: 0,
            done: false,
        })
    }

    /// Returns the damage to report for `error`, an error of the decoder. Moves the input to the next frame, if there
    /// is one.
    fn damage(&mut self, error: &std::io::Error) -> Then {
        let (began, was_inside) = (self.frame, self.in_frame);
        let reason = error.to_string();
        // The library reports every error as text. A window that is too large is no damage, and the
        // user can allow it. So this error has a message of its own.
        if reason.contains("requires too much memory") {
            let detail = format!(
                "a frame needs a window of over {} bytes; not read. Raise `zstd_window_log` if \
                 you trust it",
                1_u64 << self.window_log.min(63)
            );
            return self.refuse("zstd-window", detail);
        }
        // The system may refuse memory that `max_memory` allows. The file is intact then.
        if reason.contains("not enough memory") {
            return self.refuse("zstd-memory", NO_MEMORY.to_owned());
        }
        // All frames of a file need the same dictionary, so one report is enough.
        if reason.contains("Dictionary mismatch") {
            return self.refuse("zstd-dictionary", NO_DICTIONARY.to_owned());
        }
        // Bytes at the end of the file that are no frame cause only a warning. A frame that cannot
        // be decoded is a loss.
        let is_frame = was_inside || self.frame_magic_at_start();
        match self.resume(if is_frame { began + 1 } else { began }) {
            Ok(None) if !is_frame => self.input.trailing(began, "Zstandard frame", true),
            Ok(next) => {
                let what = format!("a Zstandard frame that cannot be read ({reason})");
                corrupt("corrupt-zstd", began, &what, next)
            }
            Err(unreadable) => unreadable,
        }
    }

    /// Ends the reading, and returns the report that the frame cannot be read.
    fn refuse(&mut self, code: &'static str, detail: String) -> Then {
        self.done = true;
        let damage = Damage { code, byte: self.frame, detail };
        Then::Loss { damage, untrusted: true, goes_on: false }
    }

    /// Reads the dictionary at the start of the file, if there is one, and prepares the decoder to
    /// use it.
    ///
    /// # Errors
    ///
    /// The dictionary cannot be read. The error is the damage to report.
    fn take_dictionary(&mut self) -> Result<(), Then> {
        self.is_at_start = false;
        let mut wanted = HEADER_BYTES;
        loop {
            let ahead = self.input.ahead();
            if ahead.len() < wanted {
                if !has_dictionary(ahead) && ahead.len() >= MAGIC.len() {
                    return Ok(());
                }
                // The bytes ahead are not consumed, so they stay in memory.
                if !self.input.more(0)? {
                    return Ok(());
                }
                continue;
            }
            let Some(length) = frame_length(ahead) else { return Ok(()) };
            if length > LONGEST_DICTIONARY {
                return Err(self.refuse("zstd-dictionary", LONG_DICTIONARY.to_owned()));
            }
            if ahead.len() < length {
                wanted = length;
                continue;
            }
            let dictionary = unpacked(&ahead[HEADER_BYTES..length]);
            let decoder = dictionary.and_then(|bytes| Decoder::with_dictionary(&bytes).ok());
            let Some(mut decoder) = decoder else {
                return Err(self.refuse("zstd-dictionary", NO_DICTIONARY.to_owned()));
            };
            let limit = DParameter::WindowLogMax(self.window_log);
            // The same value was accepted before.
            if decoder.set_parameter(limit).is_ok() {
                self.decoder = decoder;
            }
            self.input.consume(length);
            return Ok(());
        }
    }

    /// Returns the damage to report for a file that ends inside a frame. Either the file was cut, or the frame is
    /// damaged and the decoder has consumed the frames after it.
    fn end_inside(&mut self) -> Then {
        let (end, began) = (self.input.position(), self.frame);
        match self.resume(began + 1) {
            Ok(None) => clipped(end, began, "Zstandard frame"),
            Ok(next) => corrupt("corrupt-zstd", began, "a frame with a wrong length", next),
            Err(unreadable) => unreadable,
        }
    }

    /// Moves the input to the first frame at byte offset `from` or later. Returns the offset of this frame, or `None`
    /// if there is no frame.
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

    /// Returns the number of bytes of memory to request from the caller, or `None` if the last request need not change.
    /// 0 gives the memory back. The decoder uses as many bytes of its window as the frame has content so far.
    fn memory_to_ask_for(&mut self) -> Option<u64> {
        // Twice the used memory is requested. So the caller has time to wait before the memory is used, and requests
        // are rare.
        let touched = self.window.min(2 * (self.written - self.frame_written));
        let needed = if self.in_frame { touched } else { 0 };
        let is_new = if needed > USUAL_WINDOW {
            needed > self.asked
        } else {
            self.asked > 0 && !self.in_frame
        };
        is_new.then(|| {
            self.asked = needed;
            needed
        })
    }

    /// Returns whether the bytes at offset `self.frame` of the file are the magic number of a frame. It is called after
    /// decoding failed, to distinguish a damaged frame from bytes that are no frame.
    fn frame_magic_at_start(&self) -> bool {
        self.input.remembered(self.frame).is_some_and(|bytes| bytes.starts_with(&MAGIC))
    }
}

impl<R: Read> Stream for Zstd<R> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        let mut bytes = 0;
        if self.is_at_start
            && let Err(then) = self.take_dictionary()
        {
            return Filled { bytes, then };
        }
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
            if let Some(needed) = self.memory_to_ask_for() {
                return Filled { bytes, then: Then::NeedsMemory { bytes: needed } };
            }
            if !self.in_frame {
                self.frame = self.input.position();
                self.window = window_of(self.input.ahead());
                self.frame_written = self.written;
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
pub(crate) fn first_frame(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, &MAGIC)
}

fn is_frame_start(bytes: &[u8]) -> bool {
    bytes == MAGIC
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::ReadOptions;

    /// Reads a Zstandard file to its end. Returns the length of the decompressed content, and the
    /// largest number of compressed bytes that were in memory at once.
    fn read(file: impl Read) -> (u64, usize) {
        let mut zstd =
            Zstd::new(CompressedBuffer::new(file), ReadOptions::default().decoding()).unwrap();
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
    fn memory_is_asked_for_as_far_as_a_large_window_is_used() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
        encoder.window_log(25).unwrap();
        std::io::Write::write_all(&mut encoder, &vec![b'x'; 100 << 20]).unwrap();
        let small = zstd::encode_all(&b"text"[..], 1).unwrap();
        let file = [encoder.finish().unwrap(), small].concat();
        let buffer = CompressedBuffer::new(&file[..]);
        let mut zstd = Zstd::new(buffer, ReadOptions::default().decoding()).unwrap();
        let (mut content, mut asked) = (0, Vec::new());
        let mut space = vec![0; 1 << 20];
        loop {
            let Filled { bytes, then } = zstd.fill(&mut space);
            content += bytes;
            match then {
                Then::More => {}
                Then::NeedsMemory { bytes } => asked.push(bytes),
                Then::End => break,
                then => panic!("{then:?}"),
            }
        }
        assert_eq!(content, (100 << 20) + 4);
        assert!(asked.is_sorted_by(|one, next| one < next || *next == 0), "{asked:?}");
        assert_eq!(asked[asked.len() - 2..], [32 << 20, 0]);
    }

    #[test]
    fn a_dictionary_at_the_start_of_a_file_is_used() {
        use crate::conformance::{options, read_as};
        let dictionary =
            b"{\"id\": 0, \"text\": \"the harbour was quiet before dawn\"}\n".repeat(3);
        let texts: Vec<String> = (0..2000)
            .map(|n| format!("{{\"id\": {n}, \"text\": \"the harbour was quiet {}\"}}\n", n * n))
            .collect();
        let mut packer = zstd::bulk::Compressor::with_dictionary(3, &dictionary).unwrap();
        let frames: Vec<_> = texts.iter().map(|t| packer.compress(t.as_bytes()).unwrap()).collect();
        let packed = zstd::encode_all(&dictionary[..], 3).unwrap();
        for stored in [&dictionary, &packed] {
            let length = u32::try_from(stored.len()).unwrap().to_le_bytes();
            let start = [&[0x5D, 0x2A, 0x4D, 0x18], &length[..], stored].concat();
            let file = [start, frames.concat()].concat();
            let seen = read_as("a.jsonl.zst", &file, options(1));
            assert_eq!((seen.documents.len(), seen.lost.len()), (2000, 0), "{:?}", seen.lost);
            assert!(seen.bytes == texts.concat().as_bytes());
        }
    }

    #[test]
    fn frames_without_their_dictionary_are_one_fault() {
        use crate::conformance::{options, read_as};
        // The frame has one byte of content, and needs the dictionary with the number 5.
        let frame = [&MAGIC[..], &[0x21, 5, 1, 9, 0, 0, b'x']].concat();
        let seen = read_as("a.jsonl.zst", &frame.repeat(50), options(1));
        assert_eq!((seen.documents.len(), &seen.lost[..]), (0, &["zstd-dictionary"][..]));
    }

    #[test]
    fn a_window_that_is_too_large_is_the_fault_whatever_the_name_is() {
        use crate::conformance::{options, read_as};
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.window_log(25).unwrap();
        std::io::Write::write_all(&mut encoder, &b"{\"text\": \"a\"}\n".repeat(9)).unwrap();
        let file = encoder.finish().unwrap();
        let small = ReadOptions { zstd_window_log: 20, ..options(1) };
        for name in ["a.zst", "a.jsonl.zst"] {
            let seen = read_as(name, &file, small.clone());
            assert_eq!(seen.lost, ["zstd-window"], "{name}");
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
