//! A reader that decompresses a stream, for example standard input, if the stream is compressed.

use crate::bytes::{Filled, Stream, Then, decompress, magic_bytes};
use crate::documents::ReadOptions;
use simtool_model::compression::Compression;
use std::fmt;
use std::io::{self, Chain, Cursor, Read};

/// Number of bytes at the start of a stream from which every compression can be recognized.
const MAGIC_BYTES: usize = 8;

/// Reader of the decompressed content of a stream. If the first bytes show no compression, the bytes are passed on as
/// they are.
///
/// ```
/// use simtool_read::{ReadOptions, UnpackedInput};
/// use std::io::Read;
///
/// let mut content = String::new();
/// UnpackedInput::new(&b"a line\n"[..], ReadOptions::default()).read_to_string(&mut content)?;
/// assert_eq!(content, "a line\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct UnpackedInput<R: Read>(State<R>);

/// State of the stream. The stream is opened by the first call that reads, because its first bytes may arrive late.
enum State<R: Read> {
    Closed(R, Box<ReadOptions>),
    /// The stream is not compressed. The bytes that were read to recognize this are returned first.
    Plain(Chain<Cursor<Vec<u8>>, R>),
    Packed(Box<dyn Stream>, Compression),
    /// Nothing more is read. If an error was not yet returned, the next call returns it.
    Ended(Option<io::Error>),
}

impl<R: Read + 'static> UnpackedInput<R> {
    /// Creates the reader. It reads nothing yet.
    #[must_use]
    pub fn new(stream: R, options: ReadOptions) -> Self {
        Self(State::Closed(stream, Box::new(options)))
    }

    /// Reads the first bytes of the stream, and chooses its decoder.
    fn open(mut stream: R, options: &ReadOptions) -> io::Result<State<R>> {
        let mut head = Vec::new();
        let mut piece = [0; MAGIC_BYTES];
        while head.len() < MAGIC_BYTES && may_be_compressed(&head) {
            match stream.read(&mut piece[head.len()..]) {
                Ok(0) => break,
                Ok(bytes) => head.extend_from_slice(&piece[head.len()..][..bytes]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let compression = magic_bytes::compression(&head);
        let whole = Cursor::new(head).chain(stream);
        if compression == Compression::None {
            return Ok(State::Plain(whole));
        }
        let packed =
            decompress::open(compression, whole, options.decoding()).map_err(io::Error::other)?;
        Ok(State::Packed(packed, compression))
    }
}

/// Returns whether a stream that begins with `head` may be compressed. If it begins like a line of JSON it is not
/// compressed, so its reader need not wait for more bytes.
fn may_be_compressed(head: &[u8]) -> bool {
    head.first().is_none_or(|byte| !b"{[ \t\r\n\"".contains(byte))
}

impl<R: Read + 'static> Read for UnpackedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.0, State::Closed(..))
            && let State::Closed(stream, options) =
                std::mem::replace(&mut self.0, State::Ended(None))
        {
            self.0 = Self::open(stream, &options)?;
        }
        let (stream, compression) = match &mut self.0 {
            State::Plain(stream) => return stream.read(buffer),
            State::Packed(stream, compression) if !buffer.is_empty() => (stream, *compression),
            State::Ended(error) => return error.take().map_or(Ok(0), Err),
            State::Packed(..) | State::Closed(..) => return Ok(0),
        };
        loop {
            let Filled { bytes, then } = stream.fill(buffer);
            let end = match then {
                Then::More | Then::NeedsMemory { .. } if bytes == 0 => continue,
                Then::More | Then::NeedsMemory { .. } => return Ok(bytes),
                Then::End => None,
                // Unlike a file, a stream is not read behind the damage: its reader passes on what came before,
                // and must not go on without the lost part.
                Then::Loss { damage, .. } | Then::Warning(damage) => {
                    let (title, byte) = (compression.title(), damage.byte);
                    let reason = format!("it is {title}; at its byte {byte}: {}", damage.detail);
                    Some(io::Error::new(io::ErrorKind::InvalidData, reason))
                }
            };
            self.0 = State::Ended(end);
            // The bytes before the damage are returned first, and the next call returns the error.
            return if bytes > 0 { Ok(bytes) } else { self.read(buffer) };
        }
    }
}

impl<R: Read> fmt::Debug for State<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed(..) => "Closed",
            Self::Plain(_) => "Plain",
            Self::Packed(..) => "Packed",
            Self::Ended(_) => "Ended",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::gzip;

    /// Stream that gives one byte at a time, as a slow pipe may.
    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }

    fn content(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let stream = Slow(Cursor::new(bytes.to_vec()));
        let mut content = Vec::new();
        UnpackedInput::new(stream, ReadOptions::default()).read_to_end(&mut content)?;
        Ok(content)
    }

    #[test]
    fn a_stream_is_read_whether_it_is_compressed_or_not() {
        let lines = b"{\"text\": \"a line\"}\n".repeat(5000);
        for plain in [&lines[..], b"", b"x", b"\x1F", b"{}\n"] {
            assert_eq!(content(plain).unwrap(), plain);
            assert_eq!(content(&gzip(plain)).unwrap(), plain);
            let packed = zstd::encode_all(plain, 1).unwrap();
            assert_eq!(content(&packed).unwrap(), plain);
        }
        let two = [gzip(b"a\n"), gzip(b"b\n")].concat();
        assert_eq!(content(&two).unwrap(), b"a\nb\n");
    }

    #[test]
    fn damage_is_an_error_behind_the_intact_bytes() {
        let lines = b"{\"text\": \"a line\"}\n".repeat(50_000);
        let packed = gzip(&lines);
        let clipped = packed[..packed.len() - 9].to_vec();
        let mut input = UnpackedInput::new(Cursor::new(clipped), ReadOptions::default());
        let mut found = Vec::new();
        let error = input.read_to_end(&mut found).unwrap_err().to_string();
        assert!(error.starts_with("it is gzip; at its byte "), "{error}");
        assert!(lines.starts_with(&found) && !found.is_empty());
        // The error is returned once, and then the stream has ended.
        assert_eq!(input.read(&mut [0]).unwrap(), 0);
        let trailing = [&gzip(b"a\n")[..], b"{\"text\": \"b\"}\n"].concat();
        assert!(content(&trailing).is_err());
    }
}
