//! Content that arrives in order, whatever the compression of its file.

/// Bytes that arrive in order.
pub(super) trait Stream {
    /// Writes the next bytes to the start of `space`, which is not empty.
    fn fill(&mut self, space: &mut [u8]) -> Filled;

    /// Returns the number of bytes of the file that were read for the bytes written so far.
    fn position(&self) -> u64;
}

/// The result of filling a space from a stream.
#[derive(Debug)]
pub(super) struct Filled {
    /// Number of bytes written.
    pub(super) bytes: usize,
    /// Whether more follows these bytes, or what is wrong with them.
    pub(super) then: Then,
}

/// The state of a stream after the bytes that it wrote.
#[derive(Debug)]
pub(super) enum Then {
    /// More bytes may follow.
    More,
    /// Nothing follows.
    End,
    /// Something is wrong, but no byte is missing.
    Warning(Damage),
    /// Bytes are missing here. The bytes that follow do not continue the bytes before.
    Loss {
        /// The reason.
        damage: Damage,
        /// Whether the bytes of this call are known to be wrong, for example by a checksum.
        untrusted: bool,
        /// Whether reading can go on after the damage.
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
    /// Description of the damage, and advice for the user.
    pub(super) detail: String,
}
