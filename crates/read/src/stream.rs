//! Content that arrives in order, whatever the compression of its file.

/// Bytes that arrive in order.
pub(super) trait Stream {
    /// Writes the next bytes to the start of `space`, which is not empty.
    fn fill(&mut self, space: &mut [u8]) -> Filled;

    /// Bytes on disk that were taken for what was written.
    fn position(&self) -> u64;
}

/// The result of filling a space from a stream.
#[derive(Debug)]
pub(super) struct Filled {
    /// Number of bytes written.
    pub(super) bytes: usize,
    /// The course after these bytes.
    pub(super) then: Then,
}

/// The course of a stream after the bytes it wrote.
#[derive(Debug)]
pub(super) enum Then {
    /// More bytes may follow.
    More,
    /// Nothing follows.
    End,
    /// Something is wrong, but no byte is missing.
    Warning(Damage),
    /// Bytes are missing from here on; what follows does not join what came before.
    Loss {
        /// The reason.
        damage: Damage,
        /// The bytes of this call turned out wrong after they were written.
        untrusted: bool,
        /// Whether more can be read behind the damage.
        goes_on: bool,
    },
}

/// A fault of a stream.
#[derive(Debug)]
pub(super) struct Damage {
    /// Stable code.
    pub(super) code: &'static str,
    /// Offset on disk.
    pub(super) byte: u64,
    /// The finding, and what to do.
    pub(super) detail: String,
}
