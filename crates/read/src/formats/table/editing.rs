//! Replaces the texts in the rows of a record batch, for a copy of the table.

use crate::formats::table::columns::FoundColumns;
use crate::formats::table::selected::{bytes, looked_up};
use crate::formats::{AddedFields, AddedKind, AddedValue, Columns, EditRow, RowsCopy, Selector};
use arrow_array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, Float64Array,
    Int64Array, LargeBinaryArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use simtool_base::byte_text::byte_text;
use simtool_base::unordered_map::UnorderedMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Whether a copy can have other values in its dictionaries than the original. A dictionary is the list of the
/// different values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dictionaries {
    /// Each batch is written with a dictionary of its own.
    Edited,
    /// All batches share the dictionary of the first batch, as in an Arrow file.
    Fixed,
}

/// Returns the index of the column with the texts. Returns `None` if the texts are not the values of exactly one column
/// that is not nested, or if they cannot be edited. `schema` must be the schema of the batches that are edited, because
/// another schema of the same file can have other types.
pub(crate) fn text_column(
    schema: &Schema,
    text: &Selector,
    dictionaries: Dictionaries,
) -> Option<usize> {
    let wanted = Columns { text, id: text, fields: &[] };
    // A nested column, or a text in several columns, cannot be edited.
    let found = FoundColumns::new(schema.fields(), wanted, &|_| false).ok()?;
    let [list] = &found.texts[..] else { return None };
    let [path] = &list[..] else { return None };
    let [Some(name)] = &path.steps[..] else { return None };
    let number = schema.index_of(name).ok()?;
    let data_type = schema.field(number).data_type();
    let is_fixed = dictionaries == Dictionaries::Fixed;
    if is_fixed && matches!(data_type, DataType::Dictionary(..)) || !is_editable(data_type) {
        return None;
    }
    Some(number)
}

/// Returns whether values of this type can be edited.
fn is_editable(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => array_of(values).is_some(),
        _ => array_of(data_type).is_some(),
    }
}

/// Changes that a copy of a table makes to the rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct RowChanges<'c> {
    texts: Option<RowEditor<'c>>,
    /// Columns that are added after the columns of the table.
    added: Option<AddedFields<'c, u64>>,
}

impl<'c> RowChanges<'c> {
    /// Creates the changes that a copy makes to the rows of a table with this schema. `copy.edit` edits the texts,
    /// which `text` selects, and `copy.added` adds columns. If `dictionaries` is [`Dictionaries::Fixed`], texts in a
    /// column with a dictionary cannot be edited.
    ///
    /// # Errors
    ///
    /// Texts are to be edited, but they cannot be edited in this table.
    pub(crate) fn new(
        schema: &Schema,
        text: &Selector,
        dictionaries: Dictionaries,
        copy: &RowsCopy<'c>,
    ) -> Result<Self, ArrowError> {
        let texts = match copy.edit {
            None => None,
            Some(edit) => {
                // A copy with its old texts would pass for an edited one.
                let column = text_column(schema, text, dictionaries).ok_or_else(|| {
                    ArrowError::InvalidArgumentError("the texts cannot be edited".to_owned())
                })?;
                Some(RowEditor { column, edit })
            }
        };
        Ok(Self { texts, added: copy.added })
    }

    /// Returns the schema of the copy of a table whose schema is `schema`: its columns, and then the added columns.
    pub(crate) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let Some(added) = self.added else { return Arc::clone(schema) };
        let added = added.fields.iter().map(|field| {
            // Rows that are no documents have no values.
            Arc::new(Field::new(&field.name, data_type(field.kind), true))
        });
        let fields: Vec<_> = schema.fields().iter().cloned().chain(added).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// Returns the changed batch. `rows` has the index in the table of each row of the batch.
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

/// Returns the Arrow type of an added column with values of this kind.
fn data_type(kind: AddedKind) -> DataType {
    match kind {
        AddedKind::Text => DataType::Utf8,
        AddedKind::Number => DataType::Int64,
        AddedKind::Flag => DataType::Boolean,
        AddedKind::Ratio => DataType::Float64,
    }
}

/// Creates an added column with these values. All values have the kind `kind`.
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
    /// Index of the column with the texts among the columns of the table.
    column: usize,
    edit: &'e EditRow<'e>,
}

impl RowEditor<'_> {
    /// Returns the batch with edited texts. `rows` has the index in the table of each row of the batch.
    ///
    /// # Errors
    ///
    /// An edited text is not valid in the column.
    fn edited(self, batch: RecordBatch, rows: &[u64]) -> Result<RecordBatch, ArrowError> {
        let texts = batch.column(self.column);
        let plain = looked_up(texts).unwrap_or_else(|| Ok(Arc::clone(texts)))?;
        let new = |(at, &row)| {
            let text = bytes(&plain, at)?;
            Some((self.edit)(row, text).map_or(Cow::Borrowed(text), Cow::Owned))
        };
        // Most batches have no text to edit, and then the column stays as it is.
        let values: Vec<_> = rows.iter().enumerate().map(new).collect();
        let is_edited = values.iter().any(|value| matches!(value, Some(Cow::Owned(_))));
        if !is_edited {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        columns[self.column] = array(texts.data_type(), &values)?;
        RecordBatch::try_new(batch.schema(), columns)
    }
}

/// Creates an array of the type `data_type`, which must be a type that can be edited.
///
/// # Errors
///
/// A value is not valid in this type, or there are more different values than the keys of the dictionary can count.
fn array(data_type: &DataType, values: &[CellText<'_>]) -> Result<ArrayRef, ArrowError> {
    let DataType::Dictionary(keys, of_values) = data_type else {
        return plain_array(data_type, values);
    };
    let (of_rows, distinct) = numbered(values);
    with_keys(keys, &of_rows, plain_array(of_values, &distinct)?)
}

/// Creates an array of texts or bytes.
///
/// # Errors
///
/// `data_type` is not a type of texts or bytes, or a value is not valid in it.
fn plain_array(data_type: &DataType, values: &[CellText<'_>]) -> Result<ArrayRef, ArrowError> {
    let create = array_of(data_type).ok_or_else(|| {
        ArrowError::InvalidArgumentError(format!("texts of the type {data_type} are not edited"))
    })?;
    create(values)
}

/// Numbers the different values from 0, in the order in which they first occur. Returns the number of each value, or
/// `None` for null, and the list of the different values.
fn numbered<'v>(values: &'v [CellText<'_>]) -> (Vec<Option<usize>>, Vec<CellText<'v>>) {
    let mut distinct = Vec::new();
    let mut numbers = UnorderedMap::default();
    let mut of_rows = Vec::with_capacity(values.len());
    for value in values {
        let number = value.as_deref().map(|value| {
            *numbers.entry(value).or_insert_with(|| {
                distinct.push(Some(Cow::Borrowed(value)));
                distinct.len() - 1
            })
        });
        of_rows.push(number);
    }
    (of_rows, distinct)
}

/// Creates a dictionary array whose keys have the type `keys`. `of_rows` has the index in `values` of the value of each
/// row, or `None` for null.
///
/// # Errors
///
/// A key does not fit in the type.
fn with_keys(
    keys: &DataType,
    of_rows: &[Option<usize>],
    values: ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    match keys {
        DataType::Int8 => keyed::<Int8Type>(of_rows, values),
        DataType::Int16 => keyed::<Int16Type>(of_rows, values),
        DataType::Int32 => keyed::<Int32Type>(of_rows, values),
        DataType::Int64 => keyed::<Int64Type>(of_rows, values),
        DataType::UInt8 => keyed::<UInt8Type>(of_rows, values),
        DataType::UInt16 => keyed::<UInt16Type>(of_rows, values),
        DataType::UInt32 => keyed::<UInt32Type>(of_rows, values),
        _ => keyed::<UInt64Type>(of_rows, values),
    }
}

/// Creates a dictionary array with keys of the type `K`. `of_rows` has the index in `values` of the value of each row,
/// or `None` for null.
///
/// # Errors
///
/// A key does not fit in the type, or is not an index in `values`.
fn keyed<K: ArrowDictionaryKeyType>(
    of_rows: &[Option<usize>],
    values: ArrayRef,
) -> Result<ArrayRef, ArrowError> {
    let mut keys = Vec::with_capacity(of_rows.len());
    for &number in of_rows {
        let key = number.map(K::Native::from_usize);
        // A number without a key would become null, and its text would be lost.
        if key.is_some_and(|key| key.is_none()) {
            return Err(ArrowError::DictionaryKeyOverflowError);
        }
        keys.push(key.flatten());
    }
    let keys: PrimitiveArray<K> = keys.into_iter().collect();
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

/// Text of a row in the column that is edited. `None` is null.
type CellText<'v> = Option<Cow<'v, [u8]>>;

/// Function that creates an array from its values.
type CreateArray = fn(&[CellText<'_>]) -> Result<ArrayRef, ArrowError>;

/// Returns the function that creates arrays of the type `data_type`. Returns `None` if it is not a type of texts or
/// bytes.
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

/// Returns the values as strings, or an error if a value is not UTF-8.
fn strings<'v>(values: &'v [CellText<'_>]) -> Result<Vec<Option<&'v str>>, ArrowError> {
    let string = |value: &'v CellText<'_>| value.as_deref().map(str::from_utf8).transpose();
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
        let keyed = |key| DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
        let types = types.into_iter().chain([DataType::Int8, DataType::UInt64].map(keyed));
        for data_type in types {
            let texts = array(&data_type, &values).unwrap();
            let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
            let batch = RecordBatch::try_from_iter([("n", numbers), ("text", texts)]).unwrap();
            // The rows of the batch have the numbers 5, 7, 8 and 9 in the table.
            let edit = |row: u64, text: &[u8]| (row == 7).then(|| [text, text].concat());
            let column =
                |text: &str, dictionaries| text_column(&batch.schema(), &text.into(), dictionaries);
            let editor =
                RowEditor { column: column("text", Dictionaries::Edited).unwrap(), edit: &edit };
            let edited = editor.edited(batch.clone(), &[5, 7, 8, 9]).unwrap();
            let values = edited.column(1);
            let plain = looked_up(values).unwrap_or_else(|| Ok(Arc::clone(values))).unwrap();
            let texts: Vec<_> = (0..4).map(|row| bytes(&plain, row)).collect();
            assert_eq!(texts, [Some(&b"a"[..]), Some(b"bb"), Some(b"c"), None], "{data_type}");
            assert_eq!(edited.column(1).data_type(), &data_type);
            assert_eq!(edited.column(0).as_ref(), batch.column(0).as_ref() as &dyn Array);
            assert!(column("n", Dictionaries::Edited).is_none());
            assert!(column("n+text", Dictionaries::Edited).is_none());
            let is_dictionary = matches!(data_type, DataType::Dictionary(..));
            assert_eq!(column("text", Dictionaries::Fixed).is_none(), is_dictionary);
        }
    }
}
