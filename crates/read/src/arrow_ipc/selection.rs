//! The columns of an Arrow schema: their names, and those that are read.

use crate::arrow_ipc::layout::ArrowLayout;
use crate::table::Columns;
use crate::table::documents::ColumnPaths;
use arrow_schema::{DataType, Field, Fields, Schema};
use simtool_base::fault::quoted;
use std::fs::File;

/// Returns the names of all columns of an Arrow file. The name of a column inside a struct is a
/// dotted path, such as `meta.id`. Returns an empty list if the file cannot be read.
pub(super) fn column_names(file: &File) -> Vec<String> {
    let mut names = Vec::new();
    if let Ok(layout) = ArrowLayout::load(file, 0) {
        add_names(layout.schema.fields(), "", &mut names);
    }
    names
}

fn add_names(fields: &Fields, prefix: &str, names: &mut Vec<String>) {
    for field in fields {
        let name = format!("{prefix}{}", field.name());
        match field.data_type() {
            DataType::Struct(inner) => add_names(inner, &format!("{name}."), names),
            _ => names.push(name),
        }
    }
}

/// The columns of a schema that are read: text, ID and the field that decides which documents are
/// kept.
pub(super) struct SelectedFields {
    pub(super) paths: ColumnPaths,
    /// Numbers of the top-level columns to decode, ascending.
    pub(super) projection: Vec<usize>,
    /// Name of the column with the text. If the schema has no such column, this is the column that
    /// is decoded only to count the rows.
    pub(super) first: String,
}

impl SelectedFields {
    /// Finds the columns that `columns` names. If the schema lacks the column of the text, selects
    /// the first column of text or numbers instead, so that the rows can still be counted.
    ///
    /// # Errors
    ///
    /// The column of the text has another type than text. Or that column is missing, and no other
    /// column can be used to count the rows.
    pub(super) fn new(schema: &Schema, columns: Columns<'_>) -> Result<Self, String> {
        let Some((text, field)) = find(schema.fields(), columns.text) else {
            let counted = schema.fields().iter().position(|field| shows_rows(field.data_type()));
            let counted = counted.ok_or("has no columns of text or numbers")?;
            let first = schema.field(counted).name().clone();
            return Ok(Self { paths: ColumnPaths::default(), projection: vec![counted], first });
        };
        if !is_text(field.data_type()) {
            let name = quoted(columns.text.as_bytes());
            let kind = quoted(field.data_type().to_string().as_bytes());
            return Err(format!("the column \"{name}\" holds {kind}, not text"));
        }
        let id = find(schema.fields(), columns.id).map(|(path, _)| path);
        let keep = columns.keep.and_then(|keep| find(schema.fields(), keep));
        let keep = keep.map(|(path, _)| path);
        let paths = ColumnPaths { text: Some(text), id, keep };
        let wanted = [&paths.text, &paths.id, &paths.keep];
        let top_names: Vec<&String> =
            wanted.into_iter().flatten().filter_map(|path| path.first()).collect();
        let is_wanted = |name: &String| top_names.contains(&name);
        let mut projection = Vec::new();
        for (number, field) in schema.fields().iter().enumerate() {
            if is_wanted(field.name()) {
                projection.push(number);
            }
        }
        let first = columns.text.to_owned();
        Ok(Self { paths, projection, first })
    }
}

/// Finds the column called `name`. A dotted name leads into structs, but the name of a column may
/// also contain dots itself. Returns the path to the column and its field, or `None`.
fn find<'s>(fields: &'s Fields, name: &str) -> Option<(Vec<String>, &'s Field)> {
    // A column whose own name has dots comes first, since it could not be named in another way.
    if let Some(field) = fields.iter().find(|field| field.name() == name) {
        return Some((vec![name.to_owned()], field));
    }
    for field in fields {
        let rest = name.strip_prefix(field.name().as_str()).and_then(|rest| rest.strip_prefix('.'));
        let (Some(rest), DataType::Struct(inner)) = (rest, field.data_type()) else { continue };
        if let Some((mut path, found)) = find(inner, rest) {
            path.insert(0, field.name().clone());
            return Some((path, found));
        }
    }
    None
}

/// Returns whether values of this type are text or bytes.
fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::FixedSizeBinary(width) => *width > 0,
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => true,
        _ => false,
    }
}

/// Returns whether an array of this type takes some memory for each row. The size of such an array
/// limits the number of rows, whatever number a crafted file declares.
fn shows_rows(data_type: &DataType) -> bool {
    is_text(data_type) || data_type.is_primitive() || *data_type == DataType::Boolean
}
