//! Parses one row of a text table into its fields.

use crate::formats::Dialect;
use csv_core::{ReadRecordResult, Reader};

/// Parser of rows in one dialect. It holds the fields of the row that was parsed last.
pub(super) struct RowParser {
    parser: Reader,
    /// The fields of the row without their quotes, one after the other. `ends` has the position of the end of each
    /// field in these bytes.
    fields: Vec<u8>,
    ends: Vec<usize>,
}

impl RowParser {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self { parser: dialect.parser(), fields: vec![0; 4096], ends: vec![0; 16] }
    }

    /// Parses the row at the start of `bytes`. Returns its length in bytes and its number of columns, or `None` if the
    /// row does not end in `bytes`. `last` means that no bytes follow `bytes`.
    pub(super) fn parse(&mut self, bytes: &[u8], last: bool) -> Option<(usize, usize)> {
        // The parser remembers whether it is inside quotes. Every row is parsed from a clean state,
        // because the row before may have been given up.
        self.parser.reset();
        let (mut read, mut written, mut columns) = (0, 0, 0);
        loop {
            let (result, took, wrote, ended) = self.parser.read_record(
                &bytes[read..],
                &mut self.fields[written..],
                &mut self.ends[columns..],
            );
            read += took;
            written += wrote;
            columns += ended;
            match result {
                // If the parser is called again without input, it assumes that the file has ended.
                ReadRecordResult::InputEmpty if last => {}
                ReadRecordResult::InputEmpty => return None,
                ReadRecordResult::OutputFull => self.fields.resize(2 * self.fields.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record | ReadRecordResult::End => return Some((read, columns)),
            }
        }
    }

    /// Returns the row that was parsed last.
    pub(super) fn row(&self) -> Row<'_> {
        Row { fields: &self.fields, ends: &self.ends }
    }
}

/// Fields of a row without their quotes.
#[derive(Clone, Copy)]
pub(super) struct Row<'r> {
    /// The fields, one after the other.
    fields: &'r [u8],
    /// The position of the end of each field in `fields`.
    ends: &'r [usize],
}

impl<'r> Row<'r> {
    /// Returns the content of the column with index `column`.
    ///
    /// # Panics
    ///
    /// The row has no such column.
    pub(super) fn field(self, column: usize) -> &'r [u8] {
        let start = if column == 0 { 0 } else { self.ends[column - 1] };
        &self.fields[start..self.ends[column]]
    }

    /// Returns the content of the first column that is not empty in this row, or `None` if all are empty. `lists` has
    /// lists of indexes of columns, in order of preference.
    pub(super) fn first_filled(self, lists: &[Vec<usize>]) -> Option<&'r [u8]> {
        let mut fields = lists.iter().flatten().map(|&column| self.field(column));
        fields.find(|field| !field.is_empty())
    }

    /// Returns the text of the row. `lists` has alternatives in order of preference. Each alternative is a list of
    /// indexes of columns. The first alternative with a column that is not empty is used. Its columns that are not
    /// empty are joined by newlines in `joined`.
    pub(super) fn text(self, lists: &[Vec<usize>], joined: &'r mut Vec<u8>) -> &'r [u8] {
        let is_filled =
            |columns: &&Vec<usize>| columns.iter().any(|&at| !self.field(at).is_empty());
        match lists.iter().find(is_filled).map(Vec::as_slice) {
            None => &[],
            Some([column]) => self.field(*column),
            Some(columns) => {
                let fields = columns.iter().map(|&column| self.field(column));
                let filled: Vec<&[u8]> = fields.filter(|field| !field.is_empty()).collect();
                *joined = filled.join(&b'\n');
                joined
            }
        }
    }
}
