//! A vector in a large buffer. It reserves as much memory as it will probably need, so that it
//! rarely has to be moved. Memory costs nothing before it is used.

use bytemuck::Pod;
use simtool_base::error::Result;
use simtool_base::large_buffer::LargeBuffer;
use simtool_base::memory_ledger::{Ledger, Reservation};
use std::ops::{Deref, DerefMut};

/// Maximum number of bytes that the ledger counts in advance for a vector, in addition to the bytes of its elements.
const STEP: u64 = 16 << 20;

/// A vector of plain data: the first `length` elements of a large buffer. The ledger counts the
/// elements, and not the room behind them, because memory that was never used costs nothing.
#[derive(Debug)]
pub(super) struct LargeVec<T> {
    buffer: LargeBuffer<T>,
    length: usize,
    /// Number of bytes that the ledger counts: the bytes of the elements, and up to a quarter of them or [`STEP`] more.
    held: Reservation,
    /// Description of the elements. Out-of-memory messages contain it.
    what: &'static str,
}

impl<T: Pod> LargeVec<T> {
    /// Creates an empty vector with room for `capacity` elements. If there is not enough memory for so
    /// many, the vector has no room at first, because the capacity is only a guess. `what` names the
    /// elements in error messages. `ledger` counts the memory of the elements.
    pub(super) fn with_capacity(capacity: usize, what: &'static str, ledger: &Ledger) -> Self {
        let buffer = LargeBuffer::try_zeroed(capacity, what);
        let buffer = buffer.unwrap_or_else(|_| LargeBuffer::zeroed(0));
        Self { buffer, length: 0, held: ledger.hold(0), what }
    }

    /// Returns room for `more` elements behind the last element of the vector. The values in it are
    /// arbitrary. Call [`Self::extend_by`] to make them elements of the vector.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn spare(&mut self, more: usize) -> Result<&mut [T]> {
        let needed = self.length + more;
        if needed > self.buffer.len() {
            let length = needed.max(self.buffer.len() * 2);
            self.buffer.lengthen(length, self.what)?;
        }
        Ok(&mut self.buffer[self.length..needed])
    }

    /// Lengthens the vector by the first `more` elements of [`Self::spare`].
    pub(super) fn extend_by(&mut self, more: usize) {
        self.length = self.buffer.len().min(self.length + more);
        let used = (self.length * size_of::<T>()) as u64;
        if used > self.held.bytes() {
            // All threads share the ledger, so a vector updates it rarely.
            let room = (self.buffer.len() * size_of::<T>()) as u64;
            self.held.grow((used + (used / 4).min(STEP)).min(room) - self.held.bytes());
        }
    }

    /// Appends copies of `elements`.
    ///
    /// # Errors
    /// Not enough memory.
    pub(super) fn extend_from_slice(&mut self, elements: &[T]) -> Result<()> {
        self.spare(elements.len())?.copy_from_slice(elements);
        self.extend_by(elements.len());
        Ok(())
    }

    pub(super) fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }
}

impl<T: Pod> Deref for LargeVec<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.buffer[..self.length]
    }
}

impl<T: Pod> DerefMut for LargeVec<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_beyond_its_capacity() {
        let mut numbers = LargeVec::<u64>::with_capacity(3, "numbers", &Ledger::new(0));
        for chunk in (0..1000_u64).collect::<Vec<_>>().chunks(7) {
            numbers.extend_from_slice(chunk).unwrap();
        }
        assert!(numbers.iter().copied().eq(0..1000));
        numbers.spare(2).unwrap()[0] = 5;
        numbers.extend_by(1);
        assert_eq!(numbers[999..], [999, 5]);
        numbers.truncate(2);
        assert_eq!(*numbers, [0, 1]);
        // A guess that is too large counts as no guess.
        let mut numbers = LargeVec::<u64>::with_capacity(1 << 57, "the numbers", &Ledger::new(0));
        numbers.extend_from_slice(&[1, 2]).unwrap();
        let error = numbers.spare(1 << 57).unwrap_err().to_string();
        assert!(error.contains("for the numbers"), "{error}");
        assert_eq!(*numbers, [1, 2]);
    }
}
