//! The columns of a table that a selector selects.

use super::Columns;
use super::numbers::is_number_or_boolean;
use crate::formats::{FieldPath, Selector, Step};
use arrow_schema::{DataType, Field, Fields};
use simtool_base::fault::quoted;
use std::collections::BTreeSet;
use std::ops::Range;

/// Columns of the text, of the ID, and of the other fields that are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoundColumns {
    /// Alternatives for the text, in order of preference. Each alternative is a list of columns whose texts are joined.
    /// If the list is empty, every row is a bad record.
    pub(crate) texts: Vec<Vec<ColumnPath>>,
    /// Columns with IDs, in order of preference.
    pub(crate) ids: Vec<ColumnPath>,
    /// For each other field, the columns with its values, in order of preference.
    pub(crate) fields: Vec<Vec<ColumnPath>>,
}

/// Path to a column of a table, which may be inside structs and lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnPath {
    /// Names of the columns from the outermost column to this column. `None` is a step from a list to its elements.
    pub(crate) steps: Vec<Option<String>>,
    /// Indexes of the leaf columns that the column consists of. A leaf is a column without nested columns. The leaves
    /// of a schema are numbered from 0.
    pub(crate) leaves: Range<usize>,
}

impl FoundColumns {
    /// Finds the selected columns. `is_null` gets the leaves of a column, and returns whether all their values are
    /// null.
    ///
    /// # Errors
    ///
    /// Several columns have the name of a selected column. Or a column of the text has another type than text or lists
    /// of texts, and not all its values are null. If the selector of the text joins columns, numbers and booleans count
    /// as texts, too.
    pub(crate) fn new(
        fields: &Fields,
        wanted: Columns<'_>,
        is_null: &dyn Fn(Range<usize>) -> bool,
    ) -> Result<Self, String> {
        refuse_ambiguous(fields, wanted)?;
        let mut texts = Vec::new();
        match wanted.text.alternatives() {
            None => texts.push(all_texts(fields)),
            Some(lists) => {
                for list in lists {
                    let found = FieldPath::find_all(list, |path| find(fields, path));
                    let found = found.unwrap_or_default();
                    for (path, field) in &found {
                        let is_joined = wanted.text.joins_fields();
                        if !is_texts(field.data_type(), is_joined) && !is_null(path.leaves.clone())
                        {
                            return Err(no_text(path, field));
                        }
                    }
                    texts.push(found.into_iter().map(|(path, _)| path).collect());
                }
            }
        }
        texts.retain(|list: &Vec<ColumnPath>| !list.is_empty());
        let each = |selector: &Selector| {
            let paths = selector.alternatives().into_iter().flatten().flatten();
            paths.filter_map(|path| Some(find(fields, path)?.0)).collect()
        };
        Ok(Self { texts, ids: each(wanted.id), fields: wanted.fields.iter().map(each).collect() })
    }

    /// Returns the paths to the columns with texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &ColumnPath> {
        self.texts.iter().flatten()
    }

    /// Returns the paths to all columns that are read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &ColumnPath> {
        self.texts().chain(&self.ids).chain(self.fields.iter().flatten())
    }
}

impl ColumnPath {
    /// Returns the path in the form in which users write it, such as `messages[].content`.
    pub(crate) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.steps {
            match step {
                None => name.push_str("[]"),
                Some(step) => {
                    if !name.is_empty() {
                        name.push('.');
                    }
                    name.push_str(step);
                }
            }
        }
        name
    }
}

/// Returns an error if several columns have the name of a selected column.
fn refuse_ambiguous(fields: &Fields, wanted: Columns<'_>) -> Result<(), String> {
    let selectors = [wanted.text, wanted.id].into_iter().chain(wanted.fields);
    let paths = selectors.filter_map(Selector::alternatives).flatten().flatten();
    let mut keys = paths.flat_map(FieldPath::steps).filter_map(|step| match step {
        Step::Key { name, rest } => Some([name, rest]),
        Step::Each => None,
    });
    // A column is found by its own name or by a path, so both kinds of names must be unique.
    let is_twice = |name: &&String| has_twice(fields, name);
    match keys.find_map(|names| names.into_iter().find(is_twice)) {
        Some(name) => {
            let name = quoted(name.as_bytes());
            Err(format!("several columns have the name {name}: rename all but one"))
        }
        None => Ok(()),
    }
}

/// Returns whether two of the columns `fields`, or two columns inside the same column, have this name.
fn has_twice(fields: &Fields, name: &str) -> bool {
    let same = fields.iter().filter(|field| field.name() == name).count();
    let nested = |kind: &DataType| match kind {
        DataType::Struct(inner) => has_twice(inner, name),
        _ => false,
    };
    let inner =
        |field: &DataType| element(field).map_or(nested(field), |of| nested(of.data_type()));
    same > 1 || fields.iter().any(|field| inner(field.data_type()))
}

/// Returns the message that the column at `path` was named as the text but has another type.
fn no_text(path: &ColumnPath, field: &Field) -> String {
    let name = quoted(path.name().as_bytes());
    let mut inner = Vec::new();
    visit_column(path.clone(), field, &mut |path, field| {
        if is_text(field.data_type()) {
            inner.push(quoted(path.name().as_bytes()));
        }
    });
    let kind = match (field.data_type(), element(field.data_type())) {
        (DataType::Struct(_), _) => "columns".to_owned(),
        (_, Some(_)) => "lists".to_owned(),
        (other, None) => quoted(other.to_string().as_bytes()),
    };
    let advice = if inner.is_empty() {
        String::new()
    } else {
        format!(". Columns with text inside of it: {}", inner.join(", "))
    };
    format!("the column \"{name}\" holds {kind}, not text{advice}")
}

/// Returns the names of all columns of a schema. The name of a column inside structs and lists is a
/// path, such as `meta.id` or `messages[].content`.
pub(crate) fn column_names(fields: &Fields) -> Vec<String> {
    let mut names = Vec::new();
    visit_columns(fields, &ColumnPath::default(), &mut |path, field| {
        if !matches!(field.data_type(), DataType::Struct(_)) && element(field.data_type()).is_none()
        {
            let name = path.name();
            names.push(name.strip_suffix("[]").unwrap_or(&name).to_owned());
        }
    });
    names
}

/// Returns the paths to all columns with texts, in order.
fn all_texts(fields: &Fields) -> Vec<ColumnPath> {
    let mut paths = Vec::new();
    visit_columns(fields, &ColumnPath::default(), &mut |path, field| {
        if is_text(field.data_type()) {
            paths.push(path.clone());
        }
    });
    paths
}

/// Calls `visit` with the path and the field of each column in `fields`, in order. After each column come the columns
/// inside it. `outer` is the path to the column that contains `fields`.
fn visit_columns(fields: &Fields, outer: &ColumnPath, visit: &mut dyn FnMut(&ColumnPath, &Field)) {
    let mut first = outer.leaves.start;
    for field in fields {
        let leaves = first..first + leaf_count(field.data_type());
        first = leaves.end;
        let mut steps = outer.steps.clone();
        steps.push(Some(field.name().clone()));
        visit_column(ColumnPath { steps, leaves }, field, visit);
    }
}

/// Calls `visit` with a column, and then with each column inside it.
fn visit_column(mut path: ColumnPath, field: &Field, visit: &mut dyn FnMut(&ColumnPath, &Field)) {
    visit(&path, field);
    if let DataType::Struct(inner) = field.data_type() {
        visit_columns(inner, &path, visit);
    } else if let Some(element) = element(field.data_type()) {
        path.steps.push(None);
        visit_column(path, element, visit);
    }
}

/// Finds the column to which `path` leads. Returns its path and its field, or `None` if there is no such column.
fn find<'s>(fields: &'s Fields, path: &FieldPath) -> Option<(ColumnPath, &'s Field)> {
    find_in(fields, path.steps(), ColumnPath::default())
}

/// Finds the column to which `steps` lead from the columns `fields`. `outer` is the path to the column that contains
/// `fields`.
fn find_in<'s>(
    fields: &'s Fields,
    steps: &[Step],
    mut outer: ColumnPath,
) -> Option<(ColumnPath, &'s Field)> {
    let (Step::Key { name, rest }, inner) = steps.split_first()? else { return None };
    let number = |name: &str| fields.iter().position(|field| field.name() == name);
    // A column whose own name has dots comes first, like a field of other formats.
    let (number, inner) = match number(rest) {
        Some(number) => (number, &[][..]),
        None => (number(name)?, inner),
    };
    let before: usize = fields[..number].iter().map(|field| leaf_count(field.data_type())).sum();
    outer.leaves.start += before;
    outer.steps.push(Some(fields[number].name().clone()));
    descend(&fields[number], inner, outer)
}

/// Finds the column to which `steps` lead from the column `field`, whose path is `path`.
fn descend<'s>(
    field: &'s Field,
    steps: &[Step],
    mut path: ColumnPath,
) -> Option<(ColumnPath, &'s Field)> {
    match (steps.split_first(), field.data_type()) {
        (None, data_type) => {
            path.leaves.end = path.leaves.start + leaf_count(data_type);
            Some((path, field))
        }
        (Some((Step::Each, inner)), data_type) => {
            path.steps.push(None);
            descend(element(data_type)?, inner, path)
        }
        (Some((Step::Key { .. }, _)), DataType::Struct(fields)) => find_in(fields, steps, path),
        _ => None,
    }
}

/// Returns the number of leaf columns of a column, which is 1 unless it has nested columns.
fn leaf_count(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| leaf_count(field.data_type())).sum(),
        _ => element(data_type).map_or(1, |element| leaf_count(element.data_type())),
    }
}

/// Adds to `leaves` the other leaf columns of each map that has a leaf in `leaves`, because a map cannot be read in
/// part. `first` is the index of the first leaf of `fields`.
pub(crate) fn complete_maps(fields: &Fields, mut first: usize, leaves: &mut BTreeSet<usize>) {
    for field in fields {
        complete_maps_in(field.data_type(), first, leaves);
        first += leaf_count(field.data_type());
    }
}

fn complete_maps_in(data_type: &DataType, first: usize, leaves: &mut BTreeSet<usize>) {
    match data_type {
        DataType::Map(..) => {
            let all = first..first + leaf_count(data_type);
            if leaves.range(all.clone()).next().is_some() {
                leaves.extend(all);
            }
        }
        DataType::Struct(fields) => complete_maps(fields, first, leaves),
        _ => {
            if let Some(element) = element(data_type) {
                complete_maps_in(element.data_type(), first, leaves);
            }
        }
    }
}

/// Returns the field of the elements of a list or map. The elements of a map are its entries, which have the columns
/// `key` and `value`. Returns `None` for other types.
fn element(data_type: &DataType) -> Option<&Field> {
    match data_type {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::Map(element, _)
        | DataType::FixedSizeList(element, _) => Some(element),
        _ => None,
    }
}

/// Returns whether values of this type count as texts: texts, lists of texts, or only nulls. With `is_joined`, numbers
/// and booleans count, too. A table of nothing but numbers has no text, but in a joined text, such as a question with
/// its answer, one of the parts may be a number.
fn is_texts(data_type: &DataType, is_joined: bool) -> bool {
    let of_one = |data_type: &DataType| {
        is_text(data_type)
            || *data_type == DataType::Null
            || is_joined && is_number_or_boolean(data_type)
    };
    of_one(data_type) || element(data_type).is_some_and(|element| of_one(element.data_type()))
}

/// Returns whether values of this type are text or bytes.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::RunEndEncoded(_, values) => is_text(values.data_type()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn schema() -> Fields {
        let field = |name: &str, data_type| Arc::new(Field::new(name, data_type, true));
        let list = |data_type| DataType::List(field("element", data_type));
        let message = DataType::Struct(
            vec![field("role", DataType::Utf8), field("content", DataType::Utf8)].into(),
        );
        let meta = DataType::Struct(
            vec![field("n", DataType::Int32), field("lines", list(DataType::Utf8))].into(),
        );
        vec![
            field("id", DataType::Int64),
            field("meta", meta),
            field("messages", list(message)),
            field("meta.n", DataType::Utf8),
            field("nothing", DataType::Null),
        ]
        .into()
    }

    /// Name and leaves of a column.
    type Column = (String, Range<usize>);

    fn found(text: &str) -> Result<Vec<Vec<Column>>, String> {
        let (text, id) = (Selector::from(text), Selector::from("id"));
        let wanted = Columns { text: &text, id: &id, fields: &[] };
        let found = FoundColumns::new(&schema(), wanted, &|_| false)?;
        let path = |path: &ColumnPath| (path.name(), path.leaves.clone());
        Ok(found.texts.iter().map(|list| list.iter().map(path).collect()).collect())
    }

    #[test]
    fn columns_are_found_by_their_paths() {
        let one = |name: &str, leaf: usize| Ok(vec![vec![(name.to_owned(), leaf..leaf + 1)]]);
        assert_eq!(found("messages[].content"), one("messages[].content", 4));
        assert_eq!(found("meta.lines"), one("meta.lines", 2));
        assert_eq!(found("meta.lines[]"), one("meta.lines[]", 2));
        assert_eq!(found("meta.n"), one("meta.n", 5));
        assert_eq!(found("nothing"), one("nothing", 6));
        for missing in ["text", "meta.x", "messages.content", "meta[].n", "id.x", ""] {
            assert_eq!(found(missing), Ok(Vec::new()), "{missing}");
        }
        // Numbers are texts only where they are joined with others.
        assert_eq!(found("id+meta.n").unwrap()[0].len(), 2);
        assert!(found("id,meta.n").is_err() && found("id+meta").is_err());
        assert_eq!(found("meta.n+x"), Ok(Vec::new()));
        let both = found("meta.n+x?+nothing").unwrap();
        assert_eq!(both[0].iter().map(|path| &*path.0).collect::<Vec<_>>(), ["meta.n", "nothing"]);
        assert_eq!(found("x,meta.n,nothing").unwrap().len(), 2);
        for (other, kind) in [
            ("id", "Int64, not text"),
            ("meta", "columns, not text. Columns with text inside of it: meta.lines[]"),
            (
                "messages",
                "lists, not text. Columns with text inside of it: messages[].role, messages[].content",
            ),
        ] {
            let error = found(other).unwrap_err();
            assert_eq!(error, format!("the column \"{other}\" holds {kind}"));
        }
    }

    #[test]
    fn a_wanted_name_that_two_columns_have_is_refused() {
        let text = || Field::new("text", DataType::Utf8, true);
        let twice = DataType::Struct(vec![text(), text()].into());
        let meta = Field::new("meta", twice, true);
        for (fields, selector, is_refused) in [
            (vec![text(), text()], "text", true),
            (vec![text(), text()], "*", false),
            (vec![text(), meta.clone()], "meta.text", true),
            (vec![Field::new("id", DataType::Utf8, true), meta], "id", false),
        ] {
            let (text, id) = (&Selector::from(selector), &Selector::from("none"));
            let found =
                FoundColumns::new(&fields.into(), Columns { text, id, fields: &[] }, &|_| false);
            assert_eq!(found.is_err(), is_refused, "{selector}");
        }
    }

    #[test]
    fn names_and_all_texts_are_in_the_order_of_the_columns() {
        let names = column_names(&schema());
        let expected = [
            "id",
            "meta.n",
            "meta.lines",
            "messages[].role",
            "messages[].content",
            "meta.n",
            "nothing",
        ];
        assert_eq!(names, expected);
        let all: Vec<_> = all_texts(&schema()).iter().map(|p| (p.name(), p.leaves.start)).collect();
        let expected =
            [("meta.lines[]", 2), ("messages[].role", 3), ("messages[].content", 4), ("meta.n", 5)];
        assert_eq!(all, expected.map(|(name, leaf)| (name.to_owned(), leaf)));
    }
}
