//! Exported columns: numbers and texts with names, which Arrow and NumPy read without a copy.

use crate::arrow_c::Outgoing;
use std::ffi::c_void;
use std::sync::Arc;

/// The values of a column.
#[derive(Debug)]
pub(crate) enum Values {
    /// Row numbers and distances.
    U32(Vec<u32>),
    /// Document numbers in an index.
    U64(Vec<u64>),
    /// Similarities. A null is stored as NaN.
    F64(Vec<f64>),
    /// Concatenated texts. The offsets say where each text begins, and the last offset where the
    /// last text ends.
    Texts(Vec<i64>, Vec<u8>),
    /// Concatenated lists of row numbers, with offsets as for texts.
    Lists(Vec<i64>, Vec<u32>),
    /// Fingerprints: the number of words of each, and all words.
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
}

/// A named column of a table.
#[derive(Debug)]
pub(crate) struct ColumnData {
    pub(crate) name: &'static str,
    pub(crate) values: Values,
    /// Validity bitmap (a set bit means not null) and number of nulls. `None` if no value is null.
    validity: Option<(Vec<u8>, usize)>,
}

impl ColumnData {
    /// Builds a column without nulls.
    pub(crate) fn new(name: &'static str, values: Values) -> Arc<Self> {
        Arc::new(Self { name, values, validity: None })
    }

    /// Builds a column in which each row without `is_there` is null.
    pub(crate) fn nullable(
        name: &'static str,
        values: Values,
        is_there: impl Fn(usize) -> bool,
    ) -> Arc<Self> {
        let length = values.len();
        let nulls = (0..length).filter(|&row| !is_there(row)).count();
        // Arrow does not need the bitmap if no value is null.
        let validity = (nulls > 0).then(|| {
            let mut bits = vec![0; length.div_ceil(8)];
            (0..length)
                .filter(|&row| is_there(row))
                .for_each(|row| bits[row / 8] |= 1 << (row % 8));
            (bits, nulls)
        });
        Arc::new(Self { name, values, validity })
    }

    /// Builds a column with this validity bitmap. The last bits of the bitmap may belong to no row.
    pub(crate) fn with_validity(name: &'static str, values: Values, bits: &[u8]) -> Arc<Self> {
        let is_there =
            |row: usize| bits.get(row / 8).is_some_and(|bits| bits >> (row % 8) & 1 == 1);
        Self::nullable(name, values, is_there)
    }

    /// Returns the validity bitmap, or `None` if no value is null.
    pub(crate) fn validity(&self) -> Option<&[u8]> {
        self.validity.as_ref().map(|(bits, _)| &bits[..])
    }

    /// Returns the number of nulls.
    pub(crate) fn nulls(&self) -> usize {
        self.validity.as_ref().map_or(0, |(_, nulls)| *nulls)
    }

    pub(crate) fn is_null(&self, row: usize) -> bool {
        self.validity.as_ref().is_some_and(|(bits, _)| bits[row / 8] >> (row % 8) & 1 == 0)
    }

    /// Describes the plain numbers for NumPy: type string, numbers in each row, and address.
    /// Returns `None` for texts and lists.
    pub(crate) fn numbers(&self) -> Option<(&'static str, usize, usize)> {
        Some(match &self.values {
            Values::U32(values) => ("<u4", 1, values.as_ptr().addr()),
            Values::U64(values) => ("<u8", 1, values.as_ptr().addr()),
            Values::F64(values) => ("<f8", 1, values.as_ptr().addr()),
            Values::Words(width, words) => ("<u8", *width, words.as_ptr().addr()),
            Values::Texts(..) | Values::Lists(..) => return None,
        })
    }

    /// Formats the value of a row for display in a table.
    pub(crate) fn shown(&self, row: usize) -> String {
        if self.is_null(row) {
            return "null".to_owned();
        }
        match &self.values {
            Values::U32(values) => values[row].to_string(),
            Values::U64(values) => values[row].to_string(),
            Values::F64(values) => format!("{:.3}", values[row]),
            Values::Texts(starts, text) => {
                String::from_utf8_lossy(part(starts, text, row)).into_owned()
            }
            Values::Lists(starts, rows) => {
                let rows = part(starts, rows, row);
                let shown: Vec<_> = rows.iter().take(4).map(ToString::to_string).collect();
                let more = if rows.len() > 4 { ", …" } else { "" };
                format!("[{}{more}]", shown.join(", "))
            }
            Values::Words(width, words) => {
                let row = &words[row * width..][..*width];
                let words = row.iter().rev().map(|word| format!("{word:016x}"));
                words.collect::<Vec<_>>().concat()
            }
        }
    }

    /// Describes the column for export to Arrow. Nothing is copied.
    pub(crate) fn outgoing(self: &Arc<Self>) -> Outgoing {
        fn place<T>(values: &[T]) -> *const c_void {
            values.as_ptr().cast()
        }
        let validity = self.validity.as_ref().map(|(bits, _)| place(bits));
        let child = |name: &str, format: &str, length, buffer| Outgoing {
            format: format.to_owned(),
            name: name.to_owned(),
            nullable: false,
            length,
            nulls: 0,
            buffers: vec![None, Some(buffer)],
            children: Vec::new(),
            owner: self.clone(),
        };
        let (format, buffers, children) = match &self.values {
            Values::U32(values) => ("I".to_owned(), vec![place(values)], vec![]),
            Values::U64(values) => ("L".to_owned(), vec![place(values)], vec![]),
            Values::F64(values) => ("g".to_owned(), vec![place(values)], vec![]),
            Values::Texts(starts, text) => {
                ("U".to_owned(), vec![place(starts), place(text)], vec![])
            }
            Values::Lists(starts, rows) => (
                "+L".to_owned(),
                vec![place(starts)],
                vec![child("item", "I", rows.len(), place(rows))],
            ),
            Values::Words(1, words) => ("L".to_owned(), vec![place(words)], vec![]),
            Values::Words(width, words) => {
                (format!("+w:{width}"), vec![], vec![child("item", "L", words.len(), place(words))])
            }
        };
        Outgoing {
            format,
            name: self.name.to_owned(),
            nullable: self.nulls() > 0,
            length: self.values.len(),
            nulls: self.nulls(),
            buffers: std::iter::once(validity).chain(buffers.into_iter().map(Some)).collect(),
            children,
            owner: self.clone(),
        }
    }
}

/// Returns the values of a row: the text or the list between two offsets.
pub(crate) fn part<'v, T>(starts: &[i64], values: &'v [T], row: usize) -> &'v [T] {
    // Offsets are sums of lengths, so they are never negative.
    let place = |at: usize| usize::try_from(starts[at]).unwrap_or_default();
    &values[place(row)..place(row + 1)]
}
