//! Values that a rule of `keep` cannot use: dates in an unknown form, such as `01/02/2026`, and texts where a rule
//! compares numbers. Their number and one example are reported to the user.

use super::stored_bytes::{BytesReader, BytesWriter};

/// Maximum number of bytes that are kept of an example, which is a value that the rule cannot use. Messages show fewer.
const LONGEST_EXAMPLE: usize = 200;

/// Values of documents that a rule of `keep` cannot use. Documents with a blank value, or without one, do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnreadValues {
    /// Number of documents with a value that the rule cannot use.
    pub(crate) count: u64,
    /// The first document with a value that the rule cannot use, and the beginning of the value.
    pub(crate) first: Option<(u32, Box<[u8]>)>,
}

impl UnreadValues {
    /// Counts a value that the rule cannot use, unless the value is blank. `row` is the document with the value.
    pub(super) fn push(&mut self, row: u32, value: &[u8]) {
        if value.trim_ascii().is_empty() {
            return;
        }
        self.count += 1;
        // A field may hold megabytes, and messages show only its beginning.
        let example = || (row, value[..value.len().min(LONGEST_EXAMPLE)].into());
        self.first.get_or_insert_with(example);
    }

    /// Adds the unusable values in `more`, which belong to the documents that follow. `rows` is the number of documents
    /// before them.
    pub(super) fn append(&mut self, rows: u32, more: Self) {
        self.count += more.count;
        let moved = more.first.map(|(row, value)| (rows.saturating_add(row), value));
        self.first = self.first.take().or(moved);
    }

    /// Appends the count and the example to `out`.
    pub(super) fn store(&self, out: &mut BytesWriter) {
        out.number(self.count);
        if let Some((row, value)) = &self.first {
            out.number((*row).into());
            out.bytes(value);
        }
    }

    /// Reads the count and the example that [`store`](Self::store) has appended. Returns `None` if the bytes do not
    /// begin with them.
    pub(super) fn restore(from: &mut BytesReader<'_>) -> Option<Self> {
        let count = from.number()?;
        // Only a count above 0 has an example.
        let first = match count {
            0 => None,
            _ => Some((from.short_number()?, from.bytes()?.into())),
        };
        Some(Self { count, first })
    }
}
