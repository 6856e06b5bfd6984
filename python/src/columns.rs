//! Columns: Arrow arrays with names. Other libraries and NumPy read them without a copy.

use arrow_array::array::{
    Array, ArrayRef, FixedSizeListArray, Float64Array, LargeListArray, LargeStringArray,
    UInt32Array, UInt64Array,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use std::ops::Range;
use std::sync::Arc;

/// The values of a new column.
#[derive(Debug)]
pub(crate) enum Values {
    /// Row numbers and distances.
    U32(Vec<u32>),
    /// Document numbers in an index.
    U64(Vec<u64>),
    /// Similarities.
    F64(Vec<f64>),
    /// Texts, one after the other in one buffer. The offsets are the positions at which the texts begin, and the last
    /// offset is the end of the last text.
    Texts(Vec<i64>, Vec<u8>),
    /// Lists of row numbers, one after the other, with offsets as for texts.
    Lists(Vec<i64>, Vec<u32>),
    /// Fingerprints: the number of 64-bit words of each fingerprint, and the words of all fingerprints.
    Words(usize, Vec<u64>),
}

impl Values {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Texts(starts, _) | Self::Lists(starts, _) => starts.len() - 1,
            Self::Words(width, words) => words.len() / width,
        }
    }

    /// Returns the values as an array. Nothing is copied except texts that are not UTF-8.
    fn into_array(self, nulls: Option<NullBuffer>) -> ArrayRef {
        match self {
            Self::U32(values) => Arc::new(UInt32Array::new(values.into(), nulls)),
            Self::U64(values) => Arc::new(UInt64Array::new(values.into(), nulls)),
            Self::F64(values) => Arc::new(Float64Array::new(values.into(), nulls)),
            Self::Texts(starts, text) => Arc::new(texts(starts, text, nulls)),
            Self::Lists(starts, rows) => {
                let rows = Arc::new(UInt32Array::from(rows));
                let offsets = OffsetBuffer::new(starts.into());
                Arc::new(LargeListArray::new(item(DataType::UInt32), offsets, rows, nulls))
            }
            // Fingerprints of one word are plain numbers for every library.
            Self::Words(1, words) => Arc::new(UInt64Array::new(words.into(), nulls)),
            Self::Words(width, words) => {
                let words = Arc::new(UInt64Array::from(words));
                // A fingerprint has a few words.
                let width = width as i32;
                Arc::new(FixedSizeListArray::new(item(DataType::UInt64), width, words, nulls))
            }
        }
    }
}

/// Returns the Arrow field for the elements of lists, which have the type `data_type`.
fn item(data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", data_type, false))
}

/// Returns texts as an array. Bytes that are not UTF-8 are replaced by U+FFFD.
fn texts(starts: Vec<i64>, text: Vec<u8>, nulls: Option<NullBuffer>) -> LargeStringArray {
    let offsets = OffsetBuffer::new(starts.into());
    let text = Buffer::from_vec(text);
    LargeStringArray::try_new(offsets.clone(), text.clone(), nulls.clone()).unwrap_or_else(|_| {
        let is_valid = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        let replaced = |(row, range): (usize, Range<usize>)| {
            is_valid(row).then(|| String::from_utf8_lossy(&text[range]))
        };
        ranges(&offsets).enumerate().map(replaced).collect()
    })
}

/// A named column of a table.
#[derive(Debug)]
pub(crate) struct ColumnData {
    pub(crate) name: &'static str,
    pub(crate) values: ArrayRef,
}

impl ColumnData {
    /// Creates a column without nulls.
    pub(crate) fn new(name: &'static str, values: Values) -> Arc<Self> {
        Arc::new(Self { name, values: values.into_array(None) })
    }

    /// Creates a column in which a row is null if `is_there` returns false for its index.
    pub(crate) fn nullable(
        name: &'static str,
        values: Values,
        is_there: impl Fn(usize) -> bool,
    ) -> Arc<Self> {
        let nulls = NullBuffer::new(BooleanBuffer::collect_bool(values.len(), is_there));
        // Arrow does not need the bitmap if no value is null.
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        Arc::new(Self { name, values: values.into_array(nulls) })
    }

    /// Creates a column with the validity bitmap `bits`, in which a 0 bit means null. Bits after the last row are
    /// ignored.
    pub(crate) fn with_validity(name: &'static str, values: Values, bits: &[u8]) -> Arc<Self> {
        let is_there =
            |row: usize| bits.get(row / 8).is_some_and(|bits| bits >> (row % 8) & 1 == 1);
        Self::nullable(name, values, is_there)
    }

    /// Returns the Arrow field of the column: its name, its type, and whether it has nulls.
    pub(crate) fn field(&self) -> Field {
        Field::new(self.name, self.values.data_type().clone(), self.values.null_count() > 0)
    }

    /// Returns the number of 64-bit words of each fingerprint, and the words of all fingerprints. Returns `None` if the
    /// column has no fingerprints.
    pub(crate) fn words(&self) -> Option<(usize, &[u64])> {
        if let Some(list) = self.values.as_fixed_size_list_opt() {
            let words = list.values().as_primitive_opt::<UInt64Type>()?;
            return Some((usize::try_from(list.value_length()).ok()?, words.values()));
        }
        self.values.as_primitive_opt::<UInt64Type>().map(|words| (1, &words.values()[..]))
    }

    /// Describes the numbers of the column for NumPy: the type string, the count of numbers in each row, and the
    /// address of the first number. Returns `None` for texts and lists.
    pub(crate) fn numbers(&self) -> Option<(&'static str, usize, usize)> {
        // NumPy reads the memory of Arrow, because both store plain numbers in the same way.
        if let Some((width, words)) = self.words() {
            return Some(("<u8", width, words.as_ptr().addr()));
        }
        if let Some(values) = self.values.as_primitive_opt::<Float64Type>() {
            return Some(("<f8", 1, values.values().as_ptr().addr()));
        }
        let values = self.values.as_primitive_opt::<UInt32Type>()?;
        Some(("<u4", 1, values.values().as_ptr().addr()))
    }

    /// Formats the value of a row for printing.
    pub(crate) fn shown(&self, row: usize) -> String {
        if self.values.is_null(row) {
            return "null".to_owned();
        }
        if let Some(texts) = self.values.as_string_opt::<i64>() {
            return texts.value(row).to_owned();
        }
        if let Some(values) = self.values.as_primitive_opt::<Float64Type>() {
            return format!("{:.3}", values.value(row));
        }
        if let Some(lists) = self.values.as_list_opt::<i64>() {
            let rows = lists.value(row);
            let rows = rows.as_primitive::<UInt32Type>().values();
            let shown: Vec<_> = rows.iter().take(4).map(ToString::to_string).collect();
            let more = if rows.len() > 4 { ", …" } else { "" };
            return format!("[{}{more}]", shown.join(", "));
        }
        if let Some(values) = self.values.as_primitive_opt::<UInt32Type>() {
            return values.value(row).to_string();
        }
        if let Some(values) = self.values.as_primitive_opt::<UInt64Type>() {
            return values.value(row).to_string();
        }
        let (width, words) = self.words().unwrap_or((0, &[]));
        words[row * width..][..width].iter().rev().map(|word| format!("{word:016x}")).collect()
    }
}

/// Returns the range between each offset and the next. For example, the offsets 0, 3 and 5 give the ranges `0..3` and
/// `3..5`.
pub(crate) fn ranges(offsets: &[i64]) -> impl Iterator<Item = Range<usize>> {
    // Offsets are sums of lengths, so they are never negative.
    let place = |offset: i64| usize::try_from(offset).unwrap_or_default();
    offsets.windows(2).map(move |pair| place(pair[0])..place(pair[1]))
}
