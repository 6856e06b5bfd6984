//! Selectors: the fields of a record that hold its text, its ID or another value.
//!
//! A selector is written in the same way for all formats:
//!
//! | written | selects |
//! | --- | --- |
//! | `text` | the field or column `text` |
//! | `meta.text` | the field `text` of the object in the field `meta`, or the field `meta.text` |
//! | `messages[].content` | the field `content` of each element of the list `messages`, or an element that is a text |
//! | `title+body` | both fields, joined by a newline; a record that lacks one of them has no text |
//! | `title+body?` | the same, but records may lack the field `body` |
//! | `text,body` | the first of these fields that the record has |
//! | `meta\.text` | the field `meta.text` and nothing else |
//!
//! A field whose name is exactly as written comes first. So every name that a message lists can be
//! used as a selector without escapes.

use std::fmt;

/// Usual name of the field with the ID.
pub(crate) const USUAL_ID: &str = "id";

/// Usual names of fields with the date of a document, in order of preference.
pub const USUAL_DATES: [&str; 20] = [
    "WARC-Date",
    "date",
    "timestamp",
    "datetime",
    "published",
    "published_at",
    "publish_date",
    "created",
    "created_at",
    "created_utc",
    "updated",
    "updated_at",
    "modified",
    "last_modified",
    "crawl_date",
    "fetched_at",
    "metadata.date",
    "metadata.timestamp",
    "meta.date",
    "meta.timestamp",
];

/// Selection of the fields of a record that hold its text, its ID or another value. The selector is
/// parsed once and then used for records of every format.
///
/// ```
/// use simtool_read::Selector;
///
/// assert!(Selector::from("title+body").names("body"));
/// assert!(Selector::from("text,meta.text").names("meta.text"));
/// assert!(!Selector::from(r"meta\.text").names("text"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The selector as the user wrote it.
    written: String,
    /// Lists of fields whose values are joined, in order of preference. If a record has no value for the first list,
    /// the next list is tried. `None` selects all texts of a record.
    alternatives: Option<Vec<Vec<FieldPath>>>,
}

/// Path from a record to a field: steps into nested objects and lists. The first step is always a
/// [`Step::Key`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldPath {
    steps: Vec<Step>,
    /// Whether a record may lack the field when the values of several fields are joined. This is the meaning of the
    /// question mark in `title+body?`.
    is_optional: bool,
}

/// Step of a [`FieldPath`]: it leads from an object or list to the values inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Step from an object to one of its fields.
    Key {
        /// Name of the field.
        name: String,
        /// This step and all later steps as one name, for example `meta.text`. A field with this
        /// name is preferred to the field `name`.
        rest: String,
    },
    /// Step from a list to each of its elements.
    Each,
}

impl Selector {
    /// Selector of all texts of a record. With a backslash before it, it is the name of a field.
    pub(crate) const ALL: &str = "*";

    /// Creates the selector of all texts of a record.
    #[must_use]
    pub fn all_strings() -> Self {
        Self::ALL.into()
    }

    /// Creates the selector of the usual fields of dates: the date in a WARC header, and names that
    /// other formats use for the date of a document.
    #[must_use]
    pub fn usual_dates() -> Self {
        Self::from(&*USUAL_DATES.join(","))
    }

    /// Returns the selector as the user wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns whether the selector joins the values of several fields, as `title+body` does. The selector of all texts
    /// of a record does so, too.
    #[must_use]
    pub fn joins_fields(&self) -> bool {
        self.alternatives().is_none_or(|lists| lists.iter().any(|list| list.len() > 1))
    }

    /// Returns whether the selector may select the field that messages call `name`, for example
    /// `meta.text` or `messages[].content`.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        let name = without_brackets(name);
        let is_name = |path: &FieldPath| without_brackets(path.name()) == name;
        self.alternatives().is_none_or(|lists| lists.iter().flatten().any(is_name))
    }

    /// Returns the first selected field that is in `names`, a list of field names in the form that messages use.
    pub(crate) fn first_of<'n>(&self, names: &'n [String]) -> Option<&'n str> {
        let mut paths = self.alternatives()?.iter().flatten().map(FieldPath::name);
        // Upper and lower case are the same in the names of header fields.
        let name = |path: &str| names.iter().find(|name| name.eq_ignore_ascii_case(path));
        paths.find_map(name).map(String::as_str)
    }

    /// Returns the lists of fields to try, in order of preference. Returns `None` if the selector
    /// selects all texts of a record.
    pub(crate) fn alternatives(&self) -> Option<&[Vec<FieldPath>]> {
        self.alternatives.as_deref()
    }

    /// Returns the names of the fields of each alternative, as messages write them.
    pub(crate) fn alternative_names(&self) -> impl Iterator<Item = Vec<&str>> {
        let lists = self.alternatives().unwrap_or_default().iter();
        lists.map(|list| list.iter().map(FieldPath::name).collect())
    }

    /// Returns the name of the selected field if the selector is just the name of one field of the outermost object.
    /// Returns `None` for every other selector.
    pub(crate) fn plain_name(&self) -> Option<&str> {
        let [list] = self.alternatives()? else { return None };
        match &list[..] {
            [path] if path.steps.len() == 1 => Some(path.name()),
            _ => None,
        }
    }
}

impl From<&str> for Selector {
    fn from(written: &str) -> Self {
        if written == Self::ALL {
            return Self { written: written.to_owned(), alternatives: None };
        }
        let mut alternatives = Parser::default().parse(written);
        // A name with a comma or plus sign may be a single name, which is tried first.
        if alternatives.len() > 1 || alternatives[0].len() > 1 {
            alternatives.insert(0, vec![FieldPath::of_key(written)]);
        }
        Self { written: written.to_owned(), alternatives: Some(alternatives) }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl FieldPath {
    /// Creates the path to a field of the outermost object.
    pub(crate) fn of_key(name: &str) -> Self {
        let steps = vec![Step::Key { name: name.to_owned(), rest: name.to_owned() }];
        Self { steps, is_optional: false }
    }

    /// Creates a path from its steps. Sets the `rest` of each step.
    fn new(mut steps: Vec<Step>, is_optional: bool) -> Self {
        let mut after = String::new();
        for step in steps.iter_mut().rev() {
            after = match step {
                Step::Each => format!("[]{}", dotted(&after)),
                Step::Key { name, rest } => {
                    *rest = format!("{name}{}", dotted(&after));
                    rest.clone()
                }
            };
        }
        Self { steps, is_optional }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns whether a record may lack this field if its text is joined from several fields. This is so for `body` in
    /// `title+body?`.
    pub(crate) fn is_optional(&self) -> bool {
        self.is_optional
    }

    /// Calls `find` for each of `paths`, the fields whose values are joined, and returns the results. Optional fields
    /// for which `find` returns `None` are left out. Returns `None` if a required field is missing, or if all fields
    /// are missing.
    pub(crate) fn find_all<T>(
        paths: &[Self],
        mut find: impl FnMut(&Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut found = Vec::new();
        for path in paths {
            match find(path) {
                Some(one) => found.push(one),
                None if path.is_optional => {}
                // The rest of the text alone could equal that of another record.
                None => return None,
            }
        }
        (!found.is_empty()).then_some(found)
    }

    /// Returns the whole path as one name without escapes, such as `meta.text`.
    pub(crate) fn name(&self) -> &str {
        match self.steps.first() {
            Some(Step::Key { rest, .. }) => rest,
            Some(Step::Each) | None => "",
        }
    }
}

/// Returns the text of `steps` as it follows another step: `id` becomes `.id`, and `[].id` stays as it is. An empty
/// text stays empty.
fn dotted(steps: &str) -> String {
    let needs_dot = !steps.is_empty() && !steps.starts_with('[');
    if needs_dot { format!(".{steps}") } else { steps.to_owned() }
}

/// Returns the name without `[]` at its end. A list of texts has the same name as its texts.
fn without_brackets(name: &str) -> &str {
    name.strip_suffix("[]").unwrap_or(name)
}

/// State while a selector is parsed. Every string is a valid selector: a character that has no special meaning at its
/// position belongs to a name.
#[derive(Default)]
struct Parser {
    alternatives: Vec<Vec<FieldPath>>,
    paths: Vec<FieldPath>,
    steps: Vec<Step>,
    /// Characters so far of the name that is being read. It is `None` directly after brackets, because no name can
    /// follow them without a dot.
    name: Option<String>,
    /// Whether a question mark ended the path to the current field.
    is_optional: bool,
}

impl Parser {
    fn parse(mut self, written: &str) -> Vec<Vec<FieldPath>> {
        self.name = Some(String::new());
        let mut characters = written.chars().peekable();
        while let Some(character) = characters.next() {
            match (character, characters.peek().copied()) {
                ('\\', Some(escaped)) if ".,+[?\\".contains(escaped) => {
                    characters.next();
                    self.push(escaped);
                }
                ('[', Some(']')) => {
                    characters.next();
                    self.end_name();
                    self.steps.push(Step::Each);
                }
                ('?', None | Some('+' | ',')) => self.is_optional = true,
                ('.', _) => {
                    self.end_name();
                    self.name = Some(String::new());
                }
                ('+', _) => self.end_path(),
                (',', _) => self.end_alternative(),
                _ => self.push(character),
            }
        }
        self.end_alternative();
        self.alternatives
    }

    fn push(&mut self, character: char) {
        self.name.get_or_insert_default().push(character);
    }

    fn end_name(&mut self) {
        if let Some(name) = self.name.take() {
            self.steps.push(Step::Key { name, rest: String::new() });
        }
    }

    fn end_path(&mut self) {
        self.end_name();
        let is_optional = std::mem::take(&mut self.is_optional);
        self.paths.push(FieldPath::new(std::mem::take(&mut self.steps), is_optional));
        self.name = Some(String::new());
    }

    fn end_alternative(&mut self) {
        // Without another field, the question mark belongs to the name.
        if self.paths.is_empty() && std::mem::take(&mut self.is_optional) {
            self.push('?');
        }
        self.end_path();
        self.alternatives.push(std::mem::take(&mut self.paths));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each path of a selector as its steps, separated by slashes.
    fn paths(written: &str) -> Vec<Vec<String>> {
        let step = |step: &Step| match step {
            Step::Key { name, .. } => name.clone(),
            Step::Each => "*".to_owned(),
        };
        let path = |path: &FieldPath| path.steps().iter().map(step).collect::<Vec<_>>().join("/");
        let selector = Selector::from(written);
        let lists = selector.alternatives().unwrap().iter();
        lists.map(|list| list.iter().map(path).collect()).collect()
    }

    #[test]
    fn selectors_are_parsed_and_a_literal_name_comes_first() {
        assert_eq!(paths("text"), [["text"]]);
        assert_eq!(paths("meta.text"), [["meta/text"]]);
        assert_eq!(paths("messages[].content"), [["messages/*/content"]]);
        assert_eq!(paths("a[][]"), [["a/*/*"]]);
        assert_eq!(paths("a+b.c"), [vec!["a+b.c"], vec!["a", "b/c"]]);
        assert_eq!(paths("a,b"), [["a,b"], ["a"], ["b"]]);
        assert_eq!(paths(r"meta\.text"), [["meta.text"]]);
        assert_eq!(paths(r"a\+b\,c\[]\\d"), [[r"a+b,c[]\d"]]);
        assert_eq!(paths(r"a\b"), [[r"a\b"]]);
        for odd in ["", "[", "a]", "\\"] {
            assert_eq!(paths(odd), [[odd]], "{odd}");
        }
        assert_eq!(paths("C++"), [vec!["C++"], vec!["C", "", ""]]);
        assert_eq!(paths("why?"), [["why?"]]);
        assert_eq!(paths(r"a?+b\?"), [vec![r"a?+b\?"], vec!["a", "b?"]]);
    }

    #[test]
    fn steps_know_the_rest_of_the_path_as_one_name() {
        let selector = Selector::from(r"a\.b[].c.d");
        let lists = selector.alternatives().unwrap();
        let rest = |step: &Step| match step {
            Step::Key { rest, .. } => rest.clone(),
            Step::Each => String::new(),
        };
        let rests: Vec<String> = lists[0][0].steps().iter().map(rest).collect();
        assert_eq!(rests, ["a.b[].c.d", "", "c.d", "d"]);
        assert_eq!(lists[0][0].name(), "a.b[].c.d");
    }

    #[test]
    fn a_joined_text_needs_the_fields_without_a_question_mark() {
        let selector = Selector::from("title?+body");
        let joined = &selector.alternatives().unwrap()[1];
        let found = |names: &[&str]| {
            let find = |path: &FieldPath| names.contains(&path.name()).then(|| path.name().len());
            FieldPath::find_all(joined, find)
        };
        assert_eq!(found(&["title", "body"]), Some(vec![5, 4]));
        assert_eq!(found(&["body"]), Some(vec![4]));
        assert_eq!(found(&["title"]), None);
        assert_eq!(FieldPath::find_all(&joined[..1], |_| None::<u8>), None);
    }

    #[test]
    fn plain_names_are_known() {
        assert_eq!(Selector::from("text").plain_name(), Some("text"));
        assert_eq!(Selector::from(r"a\.b").plain_name(), Some("a.b"));
        for other in ["a.b", "a[]", "a,b", "a+b"] {
            assert_eq!(Selector::from(other).plain_name(), None, "{other}");
        }
        assert_eq!(Selector::all_strings().plain_name(), None);
        assert!(Selector::from("a,b+c").joins_fields() && !Selector::from("a,b").joins_fields());
    }
}
