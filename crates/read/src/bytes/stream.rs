//! The interface of streams of decompressed content.

/// Stream of the decompressed content of a file.
pub(crate) trait Stream {
    /// Writes the next bytes of the content to the start of `space`, which must not be empty. Returns how many bytes it
    /// wrote.
    fn fill(&mut self, space: &mut [u8]) -> Filled;

    /// Returns the number of bytes of the file that the stream has consumed so far. Bytes are counted as they are on
    /// disk, before decompression.
    fn position(&self) -> u64;
}

impl dyn Stream + '_ {
    /// Writes the next bytes of the content to the start of `space`, until `space` is full or the stream ends. Returns
    /// the number of written bytes, and the end of the stream: `Ok` if it is undamaged, otherwise the damage. The end
    /// is `None` if the stream may have more bytes.
    pub(crate) fn fill_up(&mut self, space: &mut [u8]) -> (usize, Option<Result<(), Damage>>) {
        let mut filled = 0;
        while filled < space.len() {
            let Filled { bytes, then } = self.fill(&mut space[filled..]);
            filled += bytes;
            match then {
                Then::More | Then::NeedsMemory { .. } | Then::Warning(_) => {}
                Then::End => return (filled, Some(Ok(()))),
                Then::Loss { damage, .. } => return (filled, Some(Err(damage))),
            }
        }
        (filled, None)
    }
}

/// Result of [`Stream::fill`]: the number of written bytes, and the state of the stream after them.
#[derive(Debug)]
pub(crate) struct Filled {
    /// Number of bytes that the call wrote to the start of the space.
    pub(crate) bytes: usize,
    /// State of the stream after these bytes.
    pub(crate) then: Then,
}

/// State of a stream after the bytes that a call of [`Stream::fill`] wrote.
#[derive(Debug)]
pub(crate) enum Then {
    /// The stream is intact so far, and more bytes may follow.
    More,
    /// The stream needs `bytes` bytes of memory from now on. The caller waits until the stream may use them, and then
    /// calls [`Stream::fill`] again. 0 means that the stream needs no more memory than most streams.
    NeedsMemory {
        /// Bytes of memory that the stream will take.
        bytes: u64,
    },
    /// The stream has ended without damage.
    End,
    /// A problem was found, but no byte is missing, and more bytes may follow.
    Warning(Damage),
    /// Bytes are missing after the written bytes. If the stream has more bytes, they do not continue the written bytes.
    Loss {
        /// The damage that lost the bytes.
        damage: Damage,
        /// Whether bytes that were written before the loss are known to be wrong, for example
        /// because of a checksum.
        untrusted: bool,
        /// Whether the stream has more bytes after the damage.
        goes_on: bool,
    },
}

/// Damage of a compressed file, or an error while reading it.
#[derive(Debug)]
pub(crate) struct Damage {
    /// Stable name of the kind of damage, such as `truncated`.
    pub(crate) code: &'static str,
    /// Byte offset of the damage in the file on disk, before decompression.
    pub(crate) byte: u64,
    /// Description of the damage, and advice for the user.
    pub(crate) detail: String,
}

impl Damage {
    /// Returns whether the file may be intact, but cannot be read with the options of this run.
    pub(crate) fn is_refusal(&self) -> bool {
        ["zstd-window", "zstd-memory", "zstd-dictionary", "xz-memory"].contains(&self.code)
    }
}
