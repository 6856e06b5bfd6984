//! The columns that selectors select in the tables of other programs, for example of Spark.

use crate::formats::table::columns::{ColumnPath, FoundColumns, column_names};
use crate::formats::{Columns, Selector};
use arrow_ipc::convert::try_schema_from_ipc_buffer;

/// Path to a column: the names of the columns from the outermost column to the selected one. `None` is a step from a
/// list to its elements.
pub type ColumnSteps = Vec<Option<String>>;

/// Columns that selectors select in a table that another program reads, for example Spark. A Parquet or Arrow file with
/// the same schema has the same selected columns.
#[derive(Clone, Debug)]
pub struct NamedColumns {
    /// Alternatives for the text, in order of preference. Each alternative is a list of columns whose texts are joined.
    /// The first alternative with a value that is not null has the text of a row.
    pub texts: Vec<Vec<ColumnSteps>>,
    /// Columns with IDs, in order of preference.
    pub ids: Vec<ColumnSteps>,
    /// Columns with the value that decides which documents are kept, in order of preference.
    pub keeps: Vec<ColumnSteps>,
    /// Names of all columns, as selectors write them.
    pub all_names: Vec<String>,
}

impl NamedColumns {
    /// Finds the columns of the text, of the ID, and of the value that decides which documents are
    /// kept. `schema` is the message of Arrow IPC that describes the columns of the table.
    ///
    /// # Errors
    ///
    /// The schema cannot be read, or a column of the text has another type than text or lists of
    /// texts.
    pub fn find(
        schema: &[u8],
        text: &Selector,
        id: &Selector,
        keep: Option<&Selector>,
    ) -> Result<Self, String> {
        let schema = try_schema_from_ipc_buffer(schema).map_err(|error| error.to_string())?;
        let fields: Vec<Selector> = keep.into_iter().cloned().collect();
        let wanted = Columns { text, id, fields: &fields };
        let mut found = FoundColumns::new(schema.fields(), wanted, &|_| false)?;
        Ok(Self {
            texts: found.texts.into_iter().map(steps).collect(),
            ids: steps(found.ids),
            keeps: steps(found.fields.pop().unwrap_or_default()),
            all_names: column_names(schema.fields()),
        })
    }
}

/// Converts each path to its steps, which are the names of the columns on the path.
fn steps(paths: Vec<ColumnPath>) -> Vec<ColumnSteps> {
    paths.into_iter().map(|path| path.steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::writer::StreamWriter;
    use arrow_schema::{DataType, Field, Schema};

    /// Returns a stream of Arrow IPC without rows. It begins with the message of the schema.
    fn schema() -> Vec<u8> {
        let message = DataType::Struct(vec![Field::new("content", DataType::Utf8, true)].into());
        let fields = vec![
            Field::new("a.b", DataType::Utf8, true),
            Field::new_list("messages", Field::new("element", message, true), true),
            Field::new("n", DataType::Int64, true),
        ];
        let mut bytes = Vec::new();
        drop(StreamWriter::try_new(&mut bytes, &Schema::new(fields)).unwrap());
        bytes
    }

    #[test]
    fn selectors_select_the_columns_of_a_schema() {
        let [text, id, keep] = ["a.b+messages[].content,a.b", "x,n", "n"].map(Selector::from);
        let found = NamedColumns::find(&schema(), &text, &id, Some(&keep)).unwrap();
        let step = |name: &str| Some(name.to_owned());
        let content = vec![step("messages"), None, step("content")];
        let dotted = vec![step("a.b")];
        assert_eq!(found.texts, [vec![dotted.clone(), content], vec![dotted]]);
        assert_eq!((found.ids, found.keeps), (vec![vec![step("n")]], vec![vec![step("n")]]));
        assert_eq!(found.all_names, ["a.b", "messages[].content", "n"]);
        let error = NamedColumns::find(&schema(), &id, &id, None).unwrap_err();
        assert_eq!(error, "the column \"n\" holds Int64, not text");
        assert!(NamedColumns::find(b"no schema", &text, &id, None).is_err());
    }
}
