//! The fields of rows that name documents, whatever the format.

use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;

/// What rows are of; it says which fields they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A removed document and the kept one: `id`, … `kept_id`, …
    Removed,
    /// Only the ID of a removed document: `id`.
    RemovedId,
    /// Two close documents: `a_id`, … `b_id`, …
    Pair,
}

/// A field of a row: of its first or second document, or of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Id(usize),
    File(usize),
    Record(usize),
    Similarity,
    Distance,
}

/// The value of a field.
pub(super) enum Value<'v> {
    Text(&'v [u8]),
    Number(u64),
    Ratio(Option<f64>),
    Count(Option<u32>),
}

impl RowKind {
    /// The fields of a row, in their order, with their names.
    pub(super) fn fields(self) -> &'static [(&'static str, Field)] {
        use Field::{Distance, File, Id, Record, Similarity};
        match self {
            Self::Removed => &[
                ("id", Id(0)),
                ("file", File(0)),
                ("record", Record(0)),
                ("kept_id", Id(1)),
                ("kept_file", File(1)),
                ("kept_record", Record(1)),
                ("similarity", Similarity),
                ("distance", Distance),
            ],
            Self::RemovedId => &[("id", Id(0))],
            Self::Pair => &[
                ("a_id", Id(0)),
                ("a_file", File(0)),
                ("a_record", Record(0)),
                ("b_id", Id(1)),
                ("b_file", File(1)),
                ("b_record", Record(1)),
                ("similarity", Similarity),
                ("distance", Distance),
            ],
        }
    }
}

impl Field {
    /// The field's value in a row.
    pub(super) fn of<'d>(
        self,
        documents: [&'d DocumentName<'_>; 2],
        closeness: Option<Closeness>,
    ) -> Value<'d> {
        match self {
            Self::Id(which) => Value::Text(&documents[which].id),
            Self::File(which) => Value::Text(documents[which].file.as_os_str().as_encoded_bytes()),
            Self::Record(which) => Value::Number(documents[which].record),
            Self::Similarity => Value::Ratio(closeness.and_then(Closeness::similarity)),
            Self::Distance => Value::Count(closeness.and_then(Closeness::distance)),
        }
    }
}
