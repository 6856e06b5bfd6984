//! The stream of a file that is not compressed, and the report of a file that cannot be read.

use crate::bytes::{Damage, Filled, Stream, Then};
use std::io::{self, ErrorKind as IoErrorKind, Read};

/// Stream of the bytes of a file that is not compressed.
pub(crate) struct PlainStream<R> {
    reader: R,
    position: u64,
}

impl<R: Read> PlainStream<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, position: 0 }
    }
}

impl<R: Read> Stream for PlainStream<R> {
    fn fill(&mut self, space: &mut [u8]) -> Filled {
        loop {
            match self.reader.read(space) {
                Ok(0) => return Filled { bytes: 0, then: Then::End },
                Ok(bytes) => {
                    self.position += bytes as u64;
                    return Filled { bytes, then: Then::More };
                }
                Err(error) if error.kind() == IoErrorKind::Interrupted => {}
                Err(error) => return Filled { bytes: 0, then: unreadable(self.position, &error) },
            }
        }
    }

    fn position(&self) -> u64 {
        self.position
    }
}

/// Creates the report that reading failed with `error`, so that all bytes of the file from offset `byte` on are lost.
pub(crate) fn unreadable(byte: u64, error: &io::Error) -> Then {
    let detail = format!("cannot be read: {error}; the records before it were kept");
    Then::Loss {
        damage: Damage { code: "input-read", byte, detail },
        untrusted: false,
        goes_on: false,
    }
}
