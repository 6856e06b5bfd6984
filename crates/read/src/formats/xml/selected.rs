//! The paths from the element of a record to its text, its ID and its other fields.

use super::known_roots::{ANY_ID, KnownRoot};
use super::tokens::{is_named, local_name};
use crate::formats::{Columns, FieldPath, Selector, Step, USUAL_ID};
use encoding_rs::{Encoding, UTF_8};

/// Name of the field that usually holds the text in other formats. In XML it does not name the element of a record.
const USUAL_TEXT: &str = "text";

/// Returns whether the selector of the text names the element of a record. It does not if it is the usual selector
/// `text`, selects all texts, or has only paths that begin with an attribute.
pub(super) fn names_record(text: &Selector) -> bool {
    let mut names = text.alternative_names().flatten();
    text.as_str() != USUAL_TEXT && names.any(|name| !name.starts_with('@'))
}

/// Path from the element of a record to an element or attribute.
#[derive(Debug)]
pub(super) struct XmlPath {
    /// Name of the element of a record, if the path begins with it.
    pub(super) record: Option<Vec<u8>>,
    /// Names of the elements on the path, from the outermost element to the innermost.
    pub(super) steps: Vec<Vec<u8>>,
    pub(super) attribute: Option<Vec<u8>>,
    /// Whether the text at the end of the path is HTML.
    pub(super) is_html: bool,
}

/// Alternatives of a selector. Their paths are consecutive elements of [`Selected::paths`].
#[derive(Debug)]
pub(super) struct XmlSelector {
    pub(super) alternatives: Vec<Vec<FieldPath>>,
    /// Index in [`Selected::paths`] of the first path of the first alternative.
    pub(super) first: usize,
}

/// Everything that is selected from the records of one file.
#[derive(Debug)]
pub(super) struct Selected {
    /// Names of the elements that are records.
    pub(super) records: Vec<Vec<u8>>,
    pub(super) paths: Vec<XmlPath>,
    pub(super) text: XmlSelector,
    pub(super) id: XmlSelector,
    pub(super) fields: Vec<XmlSelector>,
    /// Name of the element that marks a record as a redirect, for example `redirect` in a dump of a wiki. A redirect
    /// has no text of its own, and only names another record. `None` if the document has no such element.
    pub(super) redirect: Option<&'static str>,
    /// Whether a record may contain elements that have the name of a record.
    pub(super) may_nest: bool,
}

impl Selected {
    /// Creates the paths for a document with the root element `root`. Names are compared in the encoding of the file.
    pub(super) fn new(
        root: &[u8],
        wanted: Columns<'_>,
        encoding: Option<&'static Encoding>,
    ) -> Self {
        let known = KnownRoot::from_name(local_name(root));
        let names_record = names_record(wanted.text);
        let id = known.map_or(ANY_ID, |known| known.id);
        let id = if wanted.id.as_str() == USUAL_ID { &Selector::from(id) } else { wanted.id };
        let mut builder = PathBuilder {
            encoding: encoding.unwrap_or(UTF_8),
            html: known.map_or(&[], |known| known.html),
            records: Vec::new(),
            paths: Vec::new(),
        };
        let mut text = None;
        // The records of a known document have a name, whichever of their texts is selected.
        if let Some(known) = known.filter(|_| !names_record) {
            text = Some(builder.selector(&known.text(), true));
        }
        let text = match wanted.text.as_str() {
            Selector::ALL => builder.whole_record(),
            USUAL_TEXT => text.unwrap_or_else(|| builder.selector(wanted.text, true)),
            _ => builder.selector(wanted.text, true),
        };
        let id = builder.selector(id, false);
        let fields = wanted.fields.iter().map(|field| builder.selector(field, false)).collect();
        let PathBuilder { records, paths, .. } = builder;
        let redirect = known.and_then(|known| known.redirect);
        // The dumps and feeds that are known have no records inside of records.
        let may_nest = known.is_none() || names_record;
        Self { records, paths, text, id, fields, redirect, may_nest }
    }

    /// Returns whether an element with this name is a record.
    pub(super) fn is_record(&self, name: &[u8]) -> bool {
        self.records.iter().any(|record| is_named(name, record))
    }
}

struct PathBuilder {
    encoding: &'static Encoding,
    html: &'static [&'static str],
    records: Vec<Vec<u8>>,
    paths: Vec<XmlPath>,
}

impl PathBuilder {
    /// Adds the paths of `selector` to `self.paths`, and returns its alternatives. If `names_record` is true, the first
    /// name of each path is the element of a record.
    fn selector(&mut self, selector: &Selector, names_record: bool) -> XmlSelector {
        let first = self.paths.len();
        let mut alternatives = selector.alternatives().unwrap_or_default().to_vec();
        // The whole selector as one name, which other formats try first, is no name of XML.
        alternatives
            .retain(|paths| !paths.iter().any(|path| path.name().contains(['+', ',', '?', ' '])));
        for path in alternatives.iter().flatten() {
            let path = self.path(path, names_record);
            self.paths.push(path);
        }
        XmlSelector { alternatives, first }
    }

    /// Adds the path that selects all texts of a record to `self.paths`. Returns a selector with only this path.
    fn whole_record(&mut self) -> XmlSelector {
        let first = self.paths.len();
        let path = XmlPath { record: None, steps: Vec::new(), attribute: None, is_html: false };
        self.paths.push(path);
        XmlSelector { alternatives: vec![vec![FieldPath::of_key(Selector::ALL)]], first }
    }

    fn path(&mut self, path: &FieldPath, names_record: bool) -> XmlPath {
        let mut names: Vec<&str> = Vec::new();
        for step in path.steps() {
            // Elements that are repeated need no brackets.
            if let Step::Key { name, .. } = step {
                names.push(name);
            }
        }
        // Attributes and elements of this name have HTML.
        let is_html = names.last().is_some_and(|last| {
            let last = last.trim_start_matches('@');
            self.html.contains(&last)
        });
        let attribute = names.pop_if(|last| last.starts_with('@'));
        let attribute = attribute.map(|name| self.encoded(&name[1..]));
        let mut steps: Vec<Vec<u8>> = names.iter().map(|name| self.encoded(name)).collect();
        let mut record = None;
        let is_long = steps.len() + usize::from(attribute.is_some()) > 1;
        // A path of one attribute begins at the element of a record that another path or the document names.
        if names_record && !steps.is_empty() {
            let name = steps.remove(0);
            if !self.records.contains(&name) {
                self.records.push(name.clone());
            }
            record = Some(name);
        } else if is_long && steps.first().is_some_and(|first| self.records.contains(first)) {
            // Paths from the record may name the record, too.
            steps.remove(0);
        }
        XmlPath { record, steps, attribute, is_html }
    }

    fn encoded(&self, name: &str) -> Vec<u8> {
        self.encoding.encode(name).0.into_owned()
    }
}
