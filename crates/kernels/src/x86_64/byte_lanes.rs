//! Blocks of 64 bytes in registers, which the two loops for characters share.

/// Sixty-four bytes. In masks, byte 0 is bit 0.
///
/// # Safety
///
/// The processor must have the instructions of the type. The functions are inlined into loops that are
/// compiled for a level with these instructions.
pub(crate) trait Lanes: Copy {
    /// Sixty-four bytes to look up.
    type Table: Copy;
    /// Loads a table into registers.
    unsafe fn table(bytes: &[u8; 64]) -> Self::Table;
    /// Loads the 64 bytes from `bytes` on, which must be readable.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Writes the bytes to `bytes`, where there must be room for 64.
    unsafe fn store(self, bytes: *mut u8);
    /// Repeats a byte.
    unsafe fn all(byte: u8) -> Self;
    /// Finds the bytes that are `byte`.
    unsafe fn equal(self, byte: u8) -> u64;
    /// Finds the bytes below `limit`, both as signed numbers.
    unsafe fn below(self, limit: i8) -> u64;
    /// Finds the bytes that have a bit.
    unsafe fn having(self, bit: u8) -> u64;
    /// Replaces each byte by the entry of the table that its lowest six bits number.
    unsafe fn lookup(self, table: Self::Table) -> Self;
    /// Takes the bytes of `other` where the mask has a bit, and its own bytes elsewhere.
    unsafe fn replaced(self, mask: u64, other: Self) -> Self;
}
