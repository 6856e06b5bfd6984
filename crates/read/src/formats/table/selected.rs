//! The values of the selected columns in the rows of a record batch.

use crate::formats::table::columns::{ColumnPath, FoundColumns};
use crate::formats::table::numbers::write_number_or_boolean;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use arrow_array::{Array, ArrayRef, RecordBatch, RunArray, UInt64Array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, DataType};
use arrow_select::take::take;
use std::ops::Range;
use std::sync::Arc;

/// Arrays with the values of the selected columns in one record batch.
pub(crate) struct BatchColumns {
    texts: Vec<Vec<Values>>,
    pub(crate) ids: Vec<Values>,
    pub(crate) fields: Vec<Vec<Values>>,
}

/// Values of a column in the rows of a record batch.
pub(crate) enum Values {
    /// One value for each row.
    Each(ArrayRef),
    /// Lists of values, one list for each row.
    Lists {
        lists: ArrayRef,
        /// Smallest index of an element that a list in `lists` refers to. The values in `elements` begin with this
        /// element.
        first: usize,
        /// Values of the elements of all lists, one after the other.
        elements: Box<Values>,
        /// Whether the elements are structs of which one column is selected. `false` if the elements themselves are the
        /// values, or lists of values.
        has_columns: bool,
    },
}

/// Counts of the texts that are joined in a row.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextCounts {
    /// Number of texts that were joined.
    texts: usize,
    /// Number of list elements that lack the field of the text.
    pub(crate) skipped: u32,
}

impl BatchColumns {
    /// Finds the arrays of the columns `found` in `batch`.
    ///
    /// # Errors
    ///
    /// A column is a dictionary, and one of its keys refers to a value that does not exist.
    pub(crate) fn new(batch: &RecordBatch, found: &FoundColumns) -> Result<Self, String> {
        let list = |paths: &Vec<ColumnPath>| -> Result<Vec<Values>, String> {
            let values = paths.iter().map(|path| Values::new(batch, path)).collect::<Vec<_>>();
            values.into_iter().filter_map(Result::transpose).collect()
        };
        Ok(Self {
            texts: found.texts.iter().map(list).collect::<Result<_, _>>()?,
            ids: list(&found.ids)?,
            fields: found.fields.iter().map(list).collect::<Result<_, _>>()?,
        })
    }

    /// Returns the text of the row with index `row`. Several texts are joined by newlines in `joined`, until the result
    /// is longer than `longest` bytes. Null is an empty text. Numbers and booleans are written in their usual notation.
    /// Returns `None` if a value is neither a text nor a number or boolean.
    ///
    /// Sets `counts` to the counts of this row.
    pub(crate) fn text<'t>(
        &'t self,
        row: usize,
        longest: usize,
        joined: &'t mut Vec<u8>,
        counts: &mut TextCounts,
    ) -> Option<&'t [u8]> {
        joined.clear();
        *counts = TextCounts::default();
        for list in &self.texts {
            if let [Values::Each(column)] = &list[..] {
                if is_null(column, row) {
                    continue;
                }
                if let Some(text) = bytes(column, row) {
                    return Some(text);
                }
                write_number_or_boolean(column, row, joined)?;
                return Some(joined);
            }
            *counts = TextCounts::default();
            for values in list {
                values.append(row, longest, joined, counts)?;
            }
            if counts.texts > 0 {
                break;
            }
        }
        Some(joined)
    }
}

impl Values {
    /// Returns the values of the column to which `path` leads in `batch`, or `None` if there is no such column.
    fn new(batch: &RecordBatch, path: &ColumnPath) -> Result<Option<Self>, String> {
        let Some((Some(first), inner)) = path.steps.split_first() else { return Ok(None) };
        match batch.column_by_name(first) {
            Some(column) => Self::of_array(column, inner),
            None => Ok(None),
        }
    }

    /// Returns the values of the column to which `steps` lead from `array`. A step is the name of a nested column, or
    /// `None` for the elements of a list.
    fn of_array(array: &ArrayRef, steps: &[Option<String>]) -> Result<Option<Self>, String> {
        if let Some(values) = looked_up(array) {
            return Self::of_array(&values.map_err(|error| error.to_string())?, steps);
        }
        match steps.split_first() {
            Some((Some(name), inner)) => {
                let column = array.as_struct_opt().and_then(|outer| outer.column_by_name(name));
                column.map_or(Ok(None), |column| Self::of_array(column, inner))
            }
            Some((None, inner)) => Self::of_lists(array, inner),
            // A list is read as its elements even if the user wrote no brackets.
            None if elements(array).is_some() => Self::of_lists(array, steps),
            None => Ok(Some(Self::Each(Arc::clone(array)))),
        }
    }

    /// Returns the values of the column to which `steps` lead from the elements of `lists`.
    fn of_lists(lists: &ArrayRef, steps: &[Option<String>]) -> Result<Option<Self>, String> {
        let Some(elements) = elements(lists) else { return Ok(None) };
        // The lists of a view can be in any order.
        let ranges = (0..lists.len()).filter_map(|row| range(lists, row));
        let all = ranges
            .filter(|range| !range.is_empty())
            .reduce(|all, range| all.start.min(range.start)..all.end.max(range.end));
        let Range { start: first, end } = all.unwrap_or_default();
        // The lists may be a part of a batch. Only the elements of this part are needed.
        let elements = Self::of_array(&elements.slice(first, end - first), steps)?;
        let lists = Arc::clone(lists);
        let has_columns = !steps.is_empty() && steps.iter().all(Option::is_some);
        Ok(elements.map(|elements| Self::Lists {
            lists,
            first,
            elements: Box::new(elements),
            has_columns,
        }))
    }

    /// Appends the texts of the row with index `row` to `joined`, with newlines between them, and adds their counts to
    /// `counts`. Stops when `joined` is longer than `longest` bytes. Nulls are left out. Returns `None` if a value is
    /// neither a text nor a number or boolean.
    fn append(
        &self,
        row: usize,
        longest: usize,
        joined: &mut Vec<u8>,
        counts: &mut TextCounts,
    ) -> Option<()> {
        match self {
            Self::Each(column) if is_null(column, row) => {}
            Self::Each(column) => {
                if counts.texts > 0 {
                    joined.push(b'\n');
                }
                match bytes(column, row) {
                    Some(text) => joined.extend_from_slice(text),
                    None => write_number_or_boolean(column, row, joined)?,
                }
                counts.texts += 1;
            }
            Self::Lists { lists, first, elements, has_columns } => {
                for element in range(lists, row).unwrap_or_default() {
                    // A crafted file can have one long text many times. The row is refused anyway.
                    if joined.len() > longest {
                        break;
                    }
                    let before = counts.texts;
                    elements.append(element - first, longest, joined, counts)?;
                    counts.skipped += u32::from(*has_columns && counts.texts == before);
                }
            }
        }
        Some(())
    }

    /// Returns the first value of the row with index `row` that is not null, as an array and the index of the value in
    /// it. Returns `None` if there is no such value.
    pub(crate) fn first(&self, row: usize) -> Option<(&ArrayRef, usize)> {
        match self {
            Self::Each(column) => (!is_null(column, row)).then_some((column, row)),
            Self::Lists { lists, first, elements, .. } => {
                range(lists, row)?.find_map(|element| elements.first(element - first))
            }
        }
    }
}

/// Returns an array with one value for each row, if `array` is a dictionary or stores runs of equal values. Returns
/// `None` for other arrays.
pub(crate) fn looked_up(array: &ArrayRef) -> Option<Result<ArrayRef, ArrowError>> {
    if let DataType::RunEndEncoded(ends, _) = array.data_type() {
        return match ends.data_type() {
            DataType::Int16 => expanded::<Int16Type>(array),
            DataType::Int32 => expanded::<Int32Type>(array),
            _ => expanded::<Int64Type>(array),
        };
    }
    // Each row of a dictionary is a key. The values of the keys are looked up for all rows at once.
    let keyed = array.as_any_dictionary_opt()?;
    Some(take(keyed.values(), keyed.keys(), None))
}

/// Returns the value of each row of an array that stores runs of equal values.
fn expanded<R: RunEndIndexType>(array: &ArrayRef) -> Option<Result<ArrayRef, ArrowError>> {
    let runs = array.as_any().downcast_ref::<RunArray<R>>()?;
    let of_rows = (0..runs.len()).map(|row| runs.get_physical_index(row) as u64);
    Some(take(runs.values(), &of_rows.collect::<UInt64Array>(), None))
}

/// Returns the elements of all lists of an array. Returns `None` if it is not an array of lists or maps.
fn elements(lists: &ArrayRef) -> Option<ArrayRef> {
    let elements = match lists.data_type() {
        DataType::List(_) => lists.as_list::<i32>().values(),
        DataType::LargeList(_) => lists.as_list::<i64>().values(),
        DataType::ListView(_) => lists.as_list_view::<i32>().values(),
        DataType::LargeListView(_) => lists.as_list_view::<i64>().values(),
        DataType::FixedSizeList(..) => lists.as_fixed_size_list().values(),
        DataType::Map(..) => return Some(Arc::new(lists.as_map().entries().clone())),
        _ => return None,
    };
    Some(Arc::clone(elements))
}

/// Returns the range of the indexes of the elements of the list in row `row`. The range is empty if the list is null.
/// Returns `None` if there is no such row.
fn range(lists: &ArrayRef, row: usize) -> Option<Range<usize>> {
    if row >= lists.len() {
        return None;
    }
    let is_null = lists.is_null(row);
    let range = match lists.data_type() {
        DataType::List(_) => {
            let offsets = lists.as_list::<i32>().value_offsets();
            offsets[row].as_usize()..offsets[row + 1].as_usize()
        }
        DataType::LargeList(_) => {
            let offsets = lists.as_list::<i64>().value_offsets();
            offsets[row].as_usize()..offsets[row + 1].as_usize()
        }
        DataType::ListView(_) => {
            let lists = lists.as_list_view::<i32>();
            let start = lists.value_offset(row).as_usize();
            start..start + lists.value_size(row).as_usize()
        }
        DataType::LargeListView(_) => {
            let lists = lists.as_list_view::<i64>();
            let start = lists.value_offset(row).as_usize();
            start..start + lists.value_size(row).as_usize()
        }
        DataType::Map(..) => {
            let offsets = lists.as_map().value_offsets();
            offsets[row].as_usize()..offsets[row + 1].as_usize()
        }
        _ => {
            let lists = lists.as_fixed_size_list();
            let length = lists.value_length().as_usize();
            row * length..(row + 1) * length
        }
    };
    Some(if is_null { range.start..range.start } else { range })
}

/// Returns whether the value in row `row` is null.
fn is_null(column: &ArrayRef, row: usize) -> bool {
    // An array of the null type does not mark its rows as null.
    column.is_null(row) || *column.data_type() == DataType::Null
}

/// Returns the bytes of the value in row `row`. Returns `None` if the value is null, or if the column has neither texts
/// nor bytes.
pub(crate) fn bytes(column: &ArrayRef, row: usize) -> Option<&[u8]> {
    if column.is_null(row) {
        return None;
    }
    match column.data_type() {
        DataType::Utf8View => Some(column.as_string_view().value(row).as_bytes()),
        DataType::BinaryView => Some(column.as_binary_view().value(row)),
        DataType::Utf8 => Some(column.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Some(column.as_string::<i64>().value(row).as_bytes()),
        DataType::Binary => Some(column.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Some(column.as_binary::<i64>().value(row)),
        DataType::FixedSizeBinary(_) => Some(column.as_fixed_size_binary().value(row)),
        _ => None,
    }
}
