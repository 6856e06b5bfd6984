//! Converts rows of Arrow's record batches to documents.

use crate::formats::table::columns::FoundColumns;
use crate::formats::table::selected::{BatchColumns, TextCounts, Values};
use crate::formats::table::value::{Form, value};
use crate::formats::{Event, Flow, Visit, give};
use arrow_array::RecordBatch;
use simtool_base::error::caught;
use simtool_model::document::{Bad, Content, Document, FieldValues, MOST_FIELDS, Record};
use simtool_model::document_id::DocumentId;
use std::ops::ControlFlow;

/// State while the rows of a group of a table are visited as records.
pub(crate) struct VisitedRows<'r> {
    /// Index of the next record in the table.
    pub(crate) next: u64,
    /// Number of rows that were visited so far.
    pub(crate) read: u64,
    /// Number of bytes of text in the rows that were visited so far.
    pub(crate) text_read: u64,
    /// Length of the longest allowed text, in bytes. A row with a longer text is a bad record.
    pub(crate) longest: usize,
    /// Code of the bad record for a row in which the text is of another type, for example `parquet-type`.
    pub(crate) type_code: &'static str,
    pub(crate) found: &'r FoundColumns,
}

impl<'r> VisitedRows<'r> {
    /// Creates the state before the first row of a group. `next` is the index of this row in the table.
    pub(crate) fn new(
        next: u64,
        longest: usize,
        type_code: &'static str,
        found: &'r FoundColumns,
    ) -> Self {
        Self { next, read: 0, text_read: 0, longest, type_code, found }
    }

    /// Passes every row of a record batch to `visit` as a record.
    ///
    /// # Errors
    ///
    /// A column cannot be decoded. The error is the reason. `visit` got no row of the batch.
    pub(crate) fn visit(
        &mut self,
        batch: &RecordBatch,
        visit: &mut Visit<'_>,
    ) -> Result<Flow, String> {
        let columns = caught(|| BatchColumns::new(batch, self.found))??;
        let mut scratch = RowScratch::default();
        for row in 0..batch.num_rows() {
            if let ended @ ControlFlow::Break(_) =
                self.visit_row(row, &columns, &mut scratch, visit)
            {
                return Ok(ended);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes one row of a record batch to `visit` as a record.
    fn visit_row(
        &mut self,
        row: usize,
        columns: &BatchColumns,
        scratch: &mut RowScratch,
        visit: &mut Visit<'_>,
    ) -> Flow {
        let text = columns.text(row, self.longest, &mut scratch.text, &mut scratch.counts);
        let skipped_elements = scratch.counts.skipped;
        let refusal = match text {
            None => Some((self.type_code, "a text".into())),
            Some(text) if text.len() > self.longest => {
                Some((Bad::OVERSIZE, Bad::at_most(self.longest)))
            }
            Some(_) => None,
        };
        let length = text.map_or(0, <[u8]>::len) as u64;
        let bad = if self.found.texts.is_empty() {
            Some(Bad::no_text(0))
        } else {
            refusal.map(|(code, expected)| Bad { code, expected, length })
        };
        let content = match &bad {
            Some(bad) => Content::Bad(bad),
            None => Content::Document(Document {
                id: first_id(&columns.ids, row, &mut scratch.id),
                fields: field_values(&columns.fields, row, &mut scratch.fields),
                skipped_elements,
                ..Document::new(text.unwrap_or_default())
            }),
        };
        // A row has no byte offset in the file, since its columns are stored separately.
        let record = Record { number: self.next, byte: 0, bytes: &[], known_hash: None, content };
        self.next += 1;
        self.read += 1;
        self.text_read += length;
        give(Event::Record(record), visit)
    }
}

/// Reusable memory for the values of a row.
#[derive(Default)]
struct RowScratch {
    text: Vec<u8>,
    counts: TextCounts,
    id: Vec<u8>,
    fields: [Vec<u8>; MOST_FIELDS],
}

/// Returns the ID in row `row`, from the first of `columns` that has a value there. Returns `None` if no column has
/// one.
fn first_id<'v>(
    columns: &'v [Values],
    row: usize,
    written: &'v mut Vec<u8>,
) -> Option<DocumentId<'v>> {
    let (column, row) = columns.iter().find_map(|values| values.first(row))?;
    let id = value(column, row, Form::Id, written)?;
    Some(if column.data_type().is_numeric() {
        DocumentId::number(id)
    } else {
        DocumentId::Text(id)
    })
}

/// Returns the value of each field in row `row` as text. The order of two such texts is the order of the values.
/// `fields` has the columns of each field, and `scratch` is reusable memory.
fn field_values<'v>(
    fields: &'v [Vec<Values>],
    row: usize,
    scratch: &'v mut [Vec<u8>; MOST_FIELDS],
) -> FieldValues<'v> {
    let mut found = [None; MOST_FIELDS];
    for ((found, columns), written) in found.iter_mut().zip(fields).zip(scratch) {
        let first = columns.iter().find_map(|values| values.first(row));
        *found = first.and_then(|(column, row)| value(column, row, Form::Ordered, written));
    }
    found
}
