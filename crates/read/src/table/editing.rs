//! Replaces the texts in the rows of a record batch, for a copy of the table.

use crate::added_fields::{AddedFields, AddedKind, AddedValue};
use crate::selector::Selector;
use crate::table::columns::FoundColumns;
use crate::table::selected::bytes;
use crate::table::{Columns, EditRow, RowsCopy};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Float64Array, Int64Array,
    LargeBinaryArray, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use simtool_base::byte_text::byte_text;
use std::borrow::Cow;
use std::sync::Arc;

/// Returns the number of the column whose values are the texts, if a single column that is not nested has them.
pub(crate) fn text_column(schema: &Schema, text: &Selector) -> Option<usize> {
    let wanted = Columns { text, id: text, fields: &[] };
    // A nested column, or a text in several columns, cannot be edited.
    let found = FoundColumns::new(schema.fields(), wanted, &|_| false).ok()?;
    let [list] = &found.texts[..] else { return None };
    let [path] = &list[..] else { return None };
    let [Some(name)] = &path.steps[..] else { return None };
    let number = schema.index_of(name).ok()?;
    array_of(schema.field(number).data_type())?;
    Some(number)
}

/// Changes of the rows of a table in its copy.
#[derive(Clone, Copy)]
pub(crate) struct RowChanges<'c> {
    texts: Option<RowEditor<'c>>,
    /// Columns behind those of the table.
    added: Option<AddedFields<'c, u64>>,
}

impl<'c> RowChanges<'c> {
    /// Creates the changes that `copy` asks for in a table with this schema. `text` selects the texts.
    pub(crate) fn new(schema: &Schema, text: &Selector, copy: &RowsCopy<'c>) -> Self {
        Self { texts: RowEditor::new(schema, text, copy.edit), added: copy.added }
    }

    /// Returns the schema of the copy of a table with this schema.
    pub(crate) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let Some(added) = self.added else { return Arc::clone(schema) };
        let added = added.fields.iter().map(|field| {
            // Rows that are no documents have no values.
            Arc::new(Field::new(&field.name, data_type(field.kind), true))
        });
        let fields: Vec<_> = schema.fields().iter().cloned().chain(added).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Returns the changed batch. `rows` has the number of each of its rows in the table.
    ///
    /// # Errors
    ///
    /// An edited text is not valid in the column.
    pub(crate) fn apply(
        &self,
        batch: RecordBatch,
        rows: &[u64],
    ) -> Result<RecordBatch, ArrowError> {
        let batch = match self.texts {
            Some(editor) => editor.edited(batch, rows)?,
            None => batch,
        };
        let Some(added) = self.added else { return Ok(batch) };
        let of_rows: Vec<_> = rows.iter().map(|&row| (added.values)(row)).collect();
        let new = added.fields.iter().enumerate().map(|(at, field)| {
            let values = of_rows.iter().map(|values| values.as_ref().map(|values| &values[at]));
            column(field.kind, values)
        });
        let columns = batch.columns().iter().cloned().chain(new).collect();
        RecordBatch::try_new(self.schema(&batch.schema()), columns)
    }
}

/// Returns the type of the columns with values of this kind.
fn data_type(kind: AddedKind) -> DataType {
    match kind {
        AddedKind::Text => DataType::Utf8,
        AddedKind::Number => DataType::Int64,
        AddedKind::Flag => DataType::Boolean,
        AddedKind::Ratio => DataType::Float64,
    }
}

/// Returns a column with these values, which are of this kind.
fn column<'v>(kind: AddedKind, values: impl Iterator<Item = Option<&'v AddedValue>>) -> ArrayRef {
    match kind {
        AddedKind::Text => Arc::new(values.map(as_text).collect::<StringArray>()),
        AddedKind::Number => Arc::new(values.map(as_number).collect::<Int64Array>()),
        AddedKind::Flag => Arc::new(values.map(as_flag).collect::<BooleanArray>()),
        AddedKind::Ratio => Arc::new(values.map(as_ratio).collect::<Float64Array>()),
    }
}

fn as_text(value: Option<&AddedValue>) -> Option<Cow<'_, str>> {
    match value? {
        AddedValue::Text(bytes) | AddedValue::Digits(bytes) => Some(byte_text(bytes)),
        _ => None,
    }
}

fn as_number(value: Option<&AddedValue>) -> Option<i64> {
    match value? {
        AddedValue::Number(number) => i64::try_from(*number).ok(),
        _ => None,
    }
}

fn as_flag(value: Option<&AddedValue>) -> Option<bool> {
    match value? {
        AddedValue::Flag(flag) => Some(*flag),
        _ => None,
    }
}

fn as_ratio(value: Option<&AddedValue>) -> Option<f64> {
    match value? {
        AddedValue::Ratio(ratio) => Some(*ratio),
        _ => None,
    }
}

/// Editor of the texts in one column of a table.
#[derive(Clone, Copy)]
struct RowEditor<'e> {
    /// Number of the column.
    column: usize,
    edit: &'e EditRow<'e>,
}

impl<'e> RowEditor<'e> {
    /// Creates the editor of the column that `text` selects in a table with this schema. Returns `None` if there
    /// is nothing to edit, or if texts cannot be edited in that column.
    fn new(schema: &Schema, text: &Selector, edit: Option<&'e EditRow<'e>>) -> Option<Self> {
        Some(Self { column: text_column(schema, text)?, edit: edit? })
    }

    /// Returns the batch with edited texts. `rows` has the number of each of its rows in the table.
    ///
    /// # Errors
    ///
    /// An edited text is not valid in the column.
    fn edited(self, batch: RecordBatch, rows: &[u64]) -> Result<RecordBatch, ArrowError> {
        let texts = batch.column(self.column);
        let new = |(at, &row)| {
            let text = bytes(texts, at)?;
            Some((self.edit)(row, text).map_or(Cow::Borrowed(text), Cow::Owned))
        };
        // Most batches have no text to edit, and then the column stays as it is.
        let values: Vec<_> = rows.iter().enumerate().map(new).collect();
        let is_edited = values.iter().any(|value| matches!(value, Some(Cow::Owned(_))));
        match array_of(texts.data_type()).filter(|_| is_edited) {
            None => Ok(batch),
            Some(create) => {
                let mut columns = batch.columns().to_vec();
                columns[self.column] = create(&values)?;
                RecordBatch::try_new(batch.schema(), columns)
            }
        }
    }
}

/// Function that creates an array from its values, where `None` is null.
type CreateArray = fn(&[Option<Cow<'_, [u8]>>]) -> Result<ArrayRef, ArrowError>;

/// Returns the function that creates arrays of a type of text or bytes.
fn array_of(data_type: &DataType) -> Option<CreateArray> {
    Some(match data_type {
        DataType::Utf8 => |values| Ok(Arc::new(StringArray::from(strings(values)?))),
        DataType::LargeUtf8 => |values| Ok(Arc::new(LargeStringArray::from(strings(values)?))),
        DataType::Utf8View => |values| Ok(Arc::new(StringViewArray::from(strings(values)?))),
        DataType::Binary => |values| Ok(Arc::new(values.iter().collect::<BinaryArray>())),
        DataType::LargeBinary => |values| Ok(Arc::new(values.iter().collect::<LargeBinaryArray>())),
        DataType::BinaryView => |values| Ok(Arc::new(values.iter().collect::<BinaryViewArray>())),
        _ => return None,
    })
}

/// Returns the values as strings.
fn strings<'v>(values: &'v [Option<Cow<'_, [u8]>>]) -> Result<Vec<Option<&'v str>>, ArrowError> {
    let string =
        |value: &'v Option<Cow<'_, [u8]>>| value.as_deref().map(str::from_utf8).transpose();
    let strings = values.iter().map(string).collect::<Result<_, _>>();
    strings.map_err(|error| ArrowError::InvalidArgumentError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{Array, Int32Array};

    #[test]
    fn texts_of_every_type_are_edited() {
        let values = ["a", "b", "c"].map(|value| Some(Cow::Borrowed(value.as_bytes())));
        let values = [&values[..], &[None]].concat();
        let types = [
            DataType::Utf8,
            DataType::LargeUtf8,
            DataType::Utf8View,
            DataType::Binary,
            DataType::LargeBinary,
            DataType::BinaryView,
        ];
        for data_type in types {
            let texts = array_of(&data_type).unwrap()(&values).unwrap();
            let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
            let batch = RecordBatch::try_from_iter([("n", numbers), ("text", texts)]).unwrap();
            // The rows of the batch have the numbers 5, 7, 8 and 9 in the table.
            let edit = |row: u64, text: &[u8]| (row == 7).then(|| [text, text].concat());
            let editor = RowEditor::new(&batch.schema(), &"text".into(), Some(&edit)).unwrap();
            let edited = editor.edited(batch.clone(), &[5, 7, 8, 9]).unwrap();
            let texts: Vec<_> = (0..4).map(|row| bytes(edited.column(1), row)).collect();
            assert_eq!(texts, [Some(&b"a"[..]), Some(b"bb"), Some(b"c"), None], "{data_type}");
            assert_eq!(edited.column(1).data_type(), &data_type);
            assert_eq!(edited.column(0).as_ref(), batch.column(0).as_ref() as &dyn Array);
            assert!(RowEditor::new(&batch.schema(), &"n".into(), Some(&edit)).is_none());
            assert!(RowEditor::new(&batch.schema(), &"n+text".into(), Some(&edit)).is_none());
        }
    }
}
