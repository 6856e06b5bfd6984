//! Conversion of values to bytes and back, to store them for a later run. Both runs must have the same version of the
//! program.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Buffer of bytes to which values are appended.
#[derive(Debug, Default)]
pub(crate) struct BytesWriter(Vec<u8>);

/// Reader of bytes, which reads values in the order in which they were appended. Each method returns `None` if the
/// bytes do not begin with such a value.
#[derive(Debug)]
pub(crate) struct BytesReader<'b>(&'b [u8]);

impl BytesWriter {
    /// Appends a number. A small number takes few bytes.
    pub(crate) fn number(&mut self, mut number: u64) {
        // Each byte has seven bits of the number, the lowest bits first. The highest bit of a byte is set if more bytes
        // follow.
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Appends the count of the numbers, and then the numbers.
    pub(crate) fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) {
        self.number(numbers.len() as u64);
        numbers.for_each(|number| self.number(number));
    }

    /// Appends the count of the bytes, and then the bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// Returns the number of bytes that were appended.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns all bytes that were appended.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

impl<'b> BytesReader<'b> {
    /// Creates a reader of `bytes`.
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    /// Returns whether all bytes were read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads the next number.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Reads the next number, which must have at most 32 bits.
    pub(crate) fn short_number(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// Reads a list of values, whose length comes first. `value` reads one value.
    pub(crate) fn list<T>(
        &mut self,
        mut value: impl FnMut(&mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        // The length is not trusted before the values are there, so no memory is reserved.
        (0..self.number()?).map(|_| value(self)).collect()
    }

    /// Reads some bytes, whose count comes first.
    pub(crate) fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Reads a text, whose length in bytes comes first.
    pub(crate) fn text(&mut self) -> Option<&'b str> {
        str::from_utf8(self.bytes()?).ok()
    }

    /// Reads the name of a kind of fault, for example `json`. There are few such names, so each name that was read
    /// stays in memory until the program ends.
    pub(crate) fn code(&mut self) -> Option<&'static str> {
        static CODES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let code = self.text()?;
        let mut codes = CODES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = codes.get(code) {
            return Some(known);
        }
        let code: &'static str = Box::leak(code.into());
        codes.insert(code);
        Some(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_cut_bytes_do_not() {
        let numbers = [0, 1, 0x7f, 0x80, 300, u64::from(u32::MAX), u64::MAX];
        let mut out = BytesWriter::default();
        out.numbers(numbers.into_iter());
        out.bytes(b"a rose");
        out.bytes("json".as_bytes());
        let bytes = out.into_bytes();
        let read = |bytes: &[u8]| {
            let mut from = BytesReader::new(bytes);
            let found = from.list(BytesReader::number)?;
            let text = from.text()?.to_owned();
            Some((found, text, from.code()?, from.is_at_end()))
        };
        assert_eq!(read(&bytes), Some((numbers.to_vec(), "a rose".to_owned(), "json", true)));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end]), None, "{end}");
        }
        assert_eq!(BytesReader::new(&[0xff; 11]).number(), None);
        assert_eq!(BytesReader::new(&[0xff, 0xff, 0xff, 0xff, 0x7f]).short_number(), None);
    }
}
