//! The plain loop of [`crate::binary_digits`].

/// Two masks of at most 64 bytes. Bit i of a mask is for byte i.
#[derive(Clone, Copy)]
pub(crate) struct Digits {
    /// Mask of the bytes that are `1`.
    pub(crate) ones: u64,
    /// Mask of the bytes that are `0` or `1`.
    pub(crate) valid: u64,
}

/// Computes the masks of at most 64 bytes, one byte after the other.
#[inline(always)]
pub(crate) fn plain(digits: &[u8]) -> Digits {
    digits.iter().rev().fold(Digits { ones: 0, valid: 0 }, |masks, &byte| Digits {
        ones: masks.ones << 1 | u64::from(byte == b'1'),
        valid: masks.valid << 1 | u64::from(byte & 0xfe == b'0'),
    })
}
