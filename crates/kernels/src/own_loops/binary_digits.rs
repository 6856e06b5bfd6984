//! The plain loop of [`crate::binary_digits`].

/// Masks of at most 64 bytes, the first byte lowest.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    /// Bytes that are `1`.
    pub(crate) ones: u64,
    /// Bytes that are `0` or `1`.
    pub(crate) valid: u64,
}

/// Looks at one byte after the other.
#[inline(always)]
pub(crate) fn plain(digits: &[u8]) -> Digits {
    digits.iter().rev().fold(Digits { ones: 0, valid: 0 }, |masks, &byte| Digits {
        ones: masks.ones << 1 | u64::from(byte == b'1'),
        valid: masks.valid << 1 | u64::from(byte & 0xfe == b'0'),
    })
}
