//! Blocks of 64 bytes in registers, which the two loops for characters share.

/// Sixty-four bytes in registers. A mask of them is a 64-bit number in which bit i is for byte i.
///
/// # Safety
///
/// The processor must have the instructions that the implementing type uses. The functions are inlined into loops that
/// are compiled for a level with these instructions.
pub(crate) trait Lanes: Copy {
    /// A table of 64 bytes in registers.
    type Table: Copy;
    /// Loads a table into registers.
    unsafe fn table(bytes: &[u8; 64]) -> Self::Table;
    /// Loads the 64 bytes from `bytes` on, which must be readable.
    unsafe fn load(bytes: *const u8) -> Self;
    /// Writes the bytes to `bytes`, where there must be room for 64.
    unsafe fn store(self, bytes: *mut u8);
    /// Creates 64 bytes that are all `byte`.
    unsafe fn all(byte: u8) -> Self;
    /// Returns a mask of the bytes that are equal to `byte`.
    unsafe fn equal(self, byte: u8) -> u64;
    /// Returns a mask of the bytes below `limit`, both as signed numbers.
    unsafe fn below(self, limit: i8) -> u64;
    /// Returns a mask of the bytes in which `bit`, a number with one set bit, is set.
    unsafe fn having(self, bit: u8) -> u64;
    /// Replaces each byte by an entry of the table. The lowest six bits of the byte are the index of
    /// the entry.
    unsafe fn lookup(self, table: Self::Table) -> Self;
    /// Replaces the bytes whose bits are set in `mask` by the bytes of `other` at the same positions.
    unsafe fn replaced(self, mask: u64, other: Self) -> Self;
}
