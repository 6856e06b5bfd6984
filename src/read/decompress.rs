//! The content of files as streams, whatever their compression.

#[cfg(not(all(feature = "gzip", feature = "zstd")))]
use crate::error::ErrorKind;
use crate::error::Result;
use crate::input_format::Compression;
use crate::read::ReadOptions;
#[cfg(any(feature = "gzip", feature = "zstd"))]
use crate::read::compressed_input::Input;
use crate::read::window::{Damage, Filled, Stream, Then};
use std::io::{self, ErrorKind as IoErrorKind, Read};

/// The content of a file.
///
/// # Errors
///
/// This build cannot read the compression.
#[cfg_attr(
    not(any(feature = "gzip", feature = "zstd")),
    expect(unused_variables, reason = "only compressed files have options")
)]
pub(super) fn open<'r>(
    compression: Compression,
    reader: impl Read + 'r,
    options: &ReadOptions,
) -> Result<Box<dyn Stream + 'r>> {
    match compression {
        Compression::None => Ok(Box::new(Plain { reader, position: 0 })),
        #[cfg(feature = "gzip")]
        Compression::Gzip => Ok(Box::new(super::gzip::Gzip::new(Input::new(reader), options))),
        #[cfg(feature = "zstd")]
        Compression::Zstd => Ok(Box::new(super::zstd::Zstd::new(Input::new(reader), options)?)),
        #[cfg(not(feature = "gzip"))]
        Compression::Gzip => Err(ErrorKind::FeatureOff { what: "gzip", feature: "gzip" }.into()),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => Err(ErrorKind::FeatureOff { what: "zstd", feature: "zstd" }.into()),
    }
}

/// A file that is not compressed, through the same window.
struct Plain<R> {
    reader: R,
    position: u64,
}

impl<R: Read> Stream for Plain<R> {
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
}

/// The loss of everything from a byte on.
pub(super) fn unreadable(byte: u64, error: &io::Error) -> Then {
    let detail = format!("cannot be read: {error}; the records before it were kept");
    Then::Loss {
        damage: Damage { code: "input-read", byte, detail },
        untrusted: false,
        goes_on: false,
    }
}
