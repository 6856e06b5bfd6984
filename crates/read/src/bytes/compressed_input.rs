//! Code that the gzip and Zstandard decoders share: the buffer of compressed bytes, the limit on
//! expansion, and the reports of damage.
//!
//! A compressed file is a sequence of independent members (gzip) or frames (Zstandard). Decompression pauses at the end
//! of each member or frame, so that its checksum is known before its last bytes are used. After a damaged member or
//! frame, reading continues at the next bytes that look like the start of another one.

use crate::bytes::plain_stream::unreadable;
use crate::bytes::{Damage, Then};
use std::io::{ErrorKind as IoErrorKind, Read};

/// Number of compressed bytes that are read at once.
const READ_BYTES: usize = 128 << 10;
/// Number of bytes that stay in memory after the decoder consumed them. If a gzip member or Zstandard frame proves to
/// be damaged, these bytes are searched for the start of the next member or frame.
const REMEMBERED_BYTES: u64 = 64 << 10;

/// Number of damaged places in a file after which reading stops. Each damaged place is reported, so a crafted file of
/// damaged places would otherwise cause a flood of reports.
const MOST_DAMAGES: u32 = 10_000;

/// Limits on the output and the memory of decoders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodingLimits {
    /// Largest allowed number of decompressed bytes for each compressed byte.
    pub(crate) max_expansion: u64,
    /// Base 2 logarithm of the largest allowed window in bytes.
    pub(crate) window_log: u32,
}

/// Limit on the size of decompressed content, as protection against decompression bombs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expansion {
    /// Largest allowed number of output bytes for each input byte, once [`Expansion::FREE_BYTES`]
    /// were written.
    ratio: u64,
}

impl Expansion {
    /// Number of decompressed bytes that are always allowed. `ratio` limits only content that is longer.
    const FREE_BYTES: u64 = 1 << 30;

    /// Creates the limit of `max_expansion` output bytes for each input byte.
    pub(crate) fn new(max_expansion: u64) -> Self {
        // A ratio of 0 would be a division by zero.
        Self { ratio: max_expansion.max(1) }
    }

    /// Returns whether a decoder may write `written` output bytes after `read` input bytes.
    pub(crate) fn allows(self, read: u64, written: u64) -> bool {
        // The division cannot overflow, while the product of ratio and input could.
        written <= Self::FREE_BYTES || written / self.ratio <= read
    }

    /// Returns a message that `read` input bytes expanded to too many output bytes. `written` is the number of output
    /// bytes so far.
    pub(crate) fn explanation(self, read: u64, written: u64) -> String {
        format!(
            "{read} compressed bytes expanded to over {written} (at most {} times is allowed); \
             stopped. Raise `max_expansion` if that is expected",
            self.ratio
        )
    }

    /// Returns the damage to report if `written` output bytes are too many for `read` input bytes,
    /// otherwise `None`.
    pub(crate) fn check(self, read: u64, written: u64) -> Option<Then> {
        if self.allows(read, written) {
            return None;
        }
        let detail = self.explanation(read, written);
        Some(Then::Loss {
            damage: Damage { code: "bomb", byte: read, detail },
            untrusted: false,
            goes_on: false,
        })
    }
}

/// Buffer of compressed bytes between a file and its decoder. Bytes that were consumed recently stay in memory, so that
/// the search for the next gzip member or Zstandard frame can start before the current position.
pub(crate) struct CompressedBuffer<R> {
    reader: R,
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Byte offset in the file of `bytes[0]`.
    base: u64,
    at_end: bool,
    /// Whether the bytes that the last search for a gzip member or Zstandard frame skipped are all zero.
    passed_zeros: bool,
    /// Number of searches so far. Each damaged gzip member or Zstandard frame causes a search for
    /// the start of the next one.
    searches: u32,
}

impl<R: Read> CompressedBuffer<R> {
    pub(crate) fn new(reader: R) -> Self {
        let (bytes, at_end, passed_zeros) = (Vec::new(), false, true);
        Self { reader, bytes, start: 0, end: 0, base: 0, at_end, passed_zeros, searches: 0 }
    }

    /// Returns the bytes that were read from the file and not yet consumed by the decoder.
    pub(crate) fn ahead(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Returns the byte offset in the file of the first byte that is not yet consumed.
    pub(crate) fn position(&self) -> u64 {
        self.base + self.start as u64
    }

    /// Returns the size of the buffer in bytes.
    #[cfg(test)]
    pub(crate) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Returns all bytes in memory from offset `from` of the file on, or `None` if the byte at this offset is not in
    /// memory.
    pub(crate) fn remembered(&self, from: u64) -> Option<&[u8]> {
        self.bytes.get(from.checked_sub(self.base)? as usize..self.end)
    }

    pub(crate) fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        debug_assert!(self.start <= self.end, "consumed more than there is");
    }

    /// Reads more bytes from the file, and returns whether there were any. Consumed bytes from offset `keep_from` on
    /// stay in memory, but at most the last [`REMEMBERED_BYTES`] of them.
    ///
    /// # Errors
    ///
    /// The file cannot be read. The error is the damage to report.
    pub(crate) fn more(&mut self, keep_from: u64) -> Result<bool, Then> {
        // A member may be of any length. Only its last bytes are remembered, which limits the
        // memory. The decoder of a damaged member may have consumed the start of the next member,
        // and the remembered bytes are enough to find that start.
        let oldest = self.position().saturating_sub(REMEMBERED_BYTES).max(keep_from);
        let drop = (oldest.max(self.base).min(self.position()) - self.base) as usize;
        self.bytes.copy_within(drop..self.end, 0);
        (self.start, self.end, self.base) =
            (self.start - drop, self.end - drop, self.base + drop as u64);
        if self.bytes.len() < self.end + READ_BYTES {
            self.bytes.resize(self.end + READ_BYTES, 0);
        }
        while !self.at_end {
            match self.reader.read(&mut self.bytes[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(read) => {
                    self.end += read;
                    return Ok(true);
                }
                Err(error) if error.kind() == IoErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(self.base + self.end as u64, &error)),
            }
        }
        Ok(false)
    }

    /// Moves the current position to the first gzip member or Zstandard frame that starts at offset `from` or later.
    /// Returns `false` if there is none. `is_start` gets `look` bytes and returns whether a member or frame starts with
    /// them. Bytes that are no longer in memory are not searched.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged too often. The error is the damage to report.
    pub(crate) fn seek_start(
        &mut self,
        from: u64,
        look: usize,
        is_start: fn(&[u8]) -> bool,
    ) -> Result<bool, Then> {
        self.searches += 1;
        if self.searches > MOST_DAMAGES {
            return Err(given_up(from));
        }
        let from = from.max(self.base);
        self.start = (from - self.base) as usize;
        self.passed_zeros = true;
        loop {
            while self.ahead().len() >= look {
                if is_start(&self.ahead()[..look]) {
                    return Ok(true);
                }
                self.passed_zeros &= self.bytes[self.start] == 0;
                self.start += 1;
            }
            if !self.more(self.position())? {
                self.passed_zeros &= self.ahead().iter().all(|&byte| byte == 0);
                self.start = self.end;
                return Ok(false);
            }
        }
    }

    /// Returns the report that the bytes from offset `from` up to the current position are ignored. These bytes follow
    /// the last gzip member or Zstandard frame of the file, and the last search skipped them. `kind` is the noun that
    /// the message uses, such as `gzip member`. If `is_padding` is true and the search skipped only zeros, the bytes
    /// count as padding.
    pub(crate) fn trailing(&self, from: u64, kind: &str, is_padding: bool) -> Then {
        let bytes = Some(self.position() - from);
        trailing(from, bytes, kind, is_padding && self.passed_zeros)
    }
}

/// Creates the report that the bytes from offset `byte` on are ignored, because they follow the last part of the file,
/// for example its last gzip member. `bytes` is the number of these bytes if it is known. `is_padding` means that they
/// are zeros that lose nothing. Other bytes may have been a part that is damaged.
pub(crate) fn trailing(byte: u64, bytes: Option<u64>, kind: &str, is_padding: bool) -> Then {
    let bytes = bytes.map_or("bytes".to_owned(), |bytes| format!("{bytes} bytes"));
    if is_padding {
        let detail = format!("{bytes} after the last {kind} ignored, which are all zero");
        return Then::Warning(Damage { code: "trailing", byte, detail });
    }
    let detail = format!(
        "{bytes} after the last {kind} are no {kind}, and were not read. Get the file again, or \
         give what was appended to it as a file of its own"
    );
    Then::Loss {
        damage: Damage { code: "trailing", byte, detail },
        untrusted: false,
        goes_on: false,
    }
}

/// Creates the report that the bytes of a compressed file from offset `byte` on are lost. `what` names the
/// damaged part, for example "a frame with a wrong length". `next` is the offset at which reading goes on,
/// or `None` if nothing after `byte` can be read.
pub(crate) fn corrupt(code: &'static str, byte: u64, what: &str, next: Option<u64>) -> Then {
    let detail = match next {
        Some(next) => {
            format!(
                "{what}; what could be read of it was quarantined, reading went on at byte {next}"
            )
        }
        None => format!(
            "{what}; what could be read of it was quarantined, and nothing was found behind it"
        ),
    };
    Then::Loss { damage: Damage { code, byte, detail }, untrusted: true, goes_on: next.is_some() }
}

/// Creates the report that everything from offset `byte` on is lost, because there were too many
/// damaged places.
fn given_up(byte: u64) -> Then {
    let detail = format!(
        "is damaged in more than {MOST_DAMAGES} places; what follows was not read. Get the file \
         again"
    );
    Then::Loss { damage: Damage { code: "corrupt", byte, detail }, untrusted: true, goes_on: false }
}

/// Creates the report that the file ends at offset `byte`, inside a gzip member or Zstandard frame
/// that began at offset `began`. `kind` is the noun that the message uses, such as `gzip member`.
pub(crate) fn clipped(byte: u64, began: u64, kind: &str) -> Then {
    let detail = format!(
        "the compressed data ends inside a {kind} that began at byte {began}; complete records \
         before the end were kept, the partial one was quarantined. Get the file again"
    );
    Then::Loss {
        damage: Damage { code: "truncated", byte, detail },
        untrusted: false,
        goes_on: false,
    }
}
