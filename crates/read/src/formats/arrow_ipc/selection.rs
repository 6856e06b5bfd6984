//! The columns of an Arrow schema: the names of all columns, and the columns that are read.

use crate::formats::arrow_ipc::layout::ArrowLayout;
use crate::formats::table::columns::{self, ColumnPath, FoundColumns};
use crate::formats::table::editing::{Dictionaries, text_column};
use crate::formats::{Columns, Selector};
use crate::source::OpenSource;
use arrow_schema::{DataType, Schema};

/// Returns the names of all columns of an Arrow file. The name of a column inside structs and lists
/// is a path, such as `meta.id`. Returns an empty list if the file cannot be read.
pub(super) fn column_names(file: &dyn OpenSource) -> Vec<String> {
    let layout = ArrowLayout::load(file, 0);
    layout.map_or_else(|_| Vec::new(), |layout| columns::column_names(layout.schema.fields()))
}

/// Returns whether the texts that `text` selects are values of one column that can be edited.
pub(super) fn edits_texts(file: &dyn OpenSource, text: &Selector) -> bool {
    let layout = ArrowLayout::load(file, 0);
    layout.is_ok_and(|layout| text_column(&layout.schema, text, Dictionaries::Fixed).is_some())
}

/// The columns of a schema that are read: the text, the ID and other fields.
pub(super) struct SelectedFields {
    pub(super) found: FoundColumns,
    /// Indexes of the top-level columns to decode, in ascending order.
    pub(super) projection: Vec<usize>,
    /// Name of the first column with the text. If the schema has no such column, this is the column from which the rows
    /// are counted.
    pub(super) first: String,
}

impl SelectedFields {
    /// Finds the columns that `columns` selects. If the schema has no column with the text, selects the first column of
    /// text or numbers instead, so that the rows can still be counted.
    ///
    /// # Errors
    ///
    /// The column with the text has another type than text. Or this column is missing, and no other column can be used
    /// to count the rows.
    pub(super) fn new(schema: &Schema, columns: Columns<'_>) -> Result<Self, String> {
        let found = FoundColumns::new(schema.fields(), columns, &|_| false)?;
        let first = found.texts().next().map(ColumnPath::name);
        let Some(first) = first else {
            let counted = schema.fields().iter().position(|field| shows_rows(field.data_type()));
            let counted = counted.ok_or("has no columns of text or numbers")?;
            let first = schema.field(counted).name().clone();
            return Ok(Self { found: FoundColumns::default(), projection: vec![counted], first });
        };
        let is_wanted = |name: &String| {
            found.paths().any(|path| path.steps.first().is_some_and(|s| s.as_ref() == Some(name)))
        };
        let fields = schema.fields().iter().enumerate();
        let projection = fields.filter(|(_, field)| is_wanted(field.name()));
        let projection = projection.map(|(number, _)| number).collect();
        Ok(Self { found, projection, first })
    }
}

/// Returns whether an array of this type takes memory for each row. The size of such an array limits the number of rows
/// that a crafted file can pretend to have.
fn shows_rows(data_type: &DataType) -> bool {
    columns::is_text(data_type) || data_type.is_primitive() || *data_type == DataType::Boolean
}
