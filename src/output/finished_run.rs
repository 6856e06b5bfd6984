//! Reads a finished run from its output folder, to find what became of a document.

use crate::write::output_inventory::SUMMARY;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use simtool_base::byte_text::byte_text;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::json_text::write_string;
use simtool_base::unordered_map::UnorderedMap;
use simtool_model::document_id::DocumentId;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A finished run that is read from its output folder.
#[derive(Clone, Debug)]
pub(crate) struct FinishedRun {
    folder: PathBuf,
    summary: Value,
}

/// A document in a cluster of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// ID of the document, or its file and record number if it has none.
    pub id: String,
    /// File of the document, as the user named it.
    pub file: String,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
    /// Similarity to the kept document of the cluster. `None` for the kept document, and if the method
    /// computes none.
    pub similarity: Option<f64>,
    /// Distance from the kept document of the cluster. `None` for the kept document, and if the method has no
    /// fingerprints.
    pub distance: Option<u64>,
}

impl Member {
    /// Returns the file and the record number of the document as `FILE:RECORD`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.record)
    }
}

/// A cluster of near-duplicates: the document that was kept, and the removed ones.
#[derive(Clone, Debug, PartialEq)]
pub struct MemberCluster {
    /// The document of the cluster that was kept.
    pub kept: Member,
    /// The documents that were removed in favour of the kept document, in reading order.
    pub removed: Vec<Member>,
}

/// Status of a record in a finished run.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The document belongs to a cluster, so it is similar to another document.
    Clustered {
        /// Cluster that the document belongs to.
        cluster: Arc<MemberCluster>,
        /// Index of the document in the list of removed documents of the cluster. `None` if it is the kept document.
        at: Option<usize>,
    },
    /// The record could not be read as a document, so it was not compared.
    Quarantined {
        /// File of the record, as the user named it.
        file: String,
        /// Number of the record in the file, counted from 0.
        record: u64,
        /// Stable name of the fault of the record.
        code: String,
        /// Description of the content that a good record would have in place of the fault.
        expected: String,
    },
}

/// Name by which a user asks for a document: an ID, `FILE:RECORD` or `FILE#ID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sought<'s>(&'s str);

impl<'s> Sought<'s> {
    /// Creates the value from an ID, `FILE:RECORD` or `FILE#ID`.
    #[must_use]
    pub(crate) fn new(name: &'s str) -> Self {
        Self(name)
    }

    pub(super) fn is_id(self, id: &str) -> bool {
        self.0 == id
    }

    /// Returns whether the name is `FILE:RECORD` or `FILE#ID` of the document with this file, record number
    /// and ID.
    pub(super) fn is_place(self, file: &str, record: u64, id: Option<&str>) -> bool {
        self.record_in(file) == Some(record) || id.is_some_and(|id| self.is_id_in(file, id))
    }

    /// Returns the record number if the name has the form `FILE:RECORD` and names this file, and otherwise `None`.
    pub(super) fn record_in(self, file: &str) -> Option<u64> {
        let (name, number) = self.0.rsplit_once(':')?;
        if same_file(name) == same_file(file) { number.parse().ok() } else { None }
    }

    fn is_id_in(self, file: &str, id: &str) -> bool {
        // The ID may contain `#`, so the name is not divided at the first one.
        let name = self.0.strip_suffix(id).and_then(|name| name.strip_suffix('#'));
        name.is_some_and(|name| same_file(name) == same_file(file))
    }

    /// Returns whether the name is this ID, or `FILE#ID` with this file and ID.
    pub(super) fn is_named(self, file: &str, id: Option<&[u8]>) -> bool {
        let id = id.map(byte_text);
        id.is_some_and(|id| self.is_id(&id) || self.is_id_in(file, &id))
    }

    /// Returns searches for strings. A JSON line can be about the document only if it contains at least one
    /// of the strings, so other lines need not be parsed.
    fn needles(self) -> Vec<Finder<'static>> {
        // Every `#` and `:` may end the name of the file, because names contain them, too.
        let parts = self.0.match_indices(['#', ':']).map(|(at, _)| same_file(&self.0[..at]));
        let mut needles = vec![finder(self.0, true)];
        if DocumentId::number(self.0.as_bytes()).is_number() {
            needles.push(Finder::new(self.0).into_owned());
        }
        needles.extend(parts.filter(|part| !part.is_empty()).map(|part| finder(part, false)));
        needles
    }
}

impl fmt::Display for Sought<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// Returns the name without a leading `./`, so that `a.txt` and `./a.txt` count as the same file.
fn same_file(name: &str) -> &str {
    name.strip_prefix("./").unwrap_or(name)
}

/// Creates a search for a JSON string. If `whole` is true, the string must be equal to `text`. Otherwise it
/// must end with `text`.
fn finder(text: &str, whole: bool) -> Finder<'static> {
    let mut json = Vec::new();
    // Writing to memory does not fail.
    drop(write_string(&mut json, text.as_bytes()));
    Finder::new(&json[usize::from(!whole)..]).into_owned()
}

impl FinishedRun {
    /// Returns whether the folder holds the outputs of a run.
    #[must_use]
    pub(crate) fn is_at(folder: &Path) -> bool {
        folder.join(SUMMARY).is_file() && folder.join(CLUSTERS).is_file()
    }

    /// Opens the run whose outputs are in this folder.
    ///
    /// # Errors
    ///
    /// The folder has no outputs of a run.
    pub(crate) fn open(folder: &Path) -> Result<Self> {
        let path = folder.join(SUMMARY);
        let bytes = fs::read(&path).map_err(|e| Error::io(&path, "read", e))?;
        // A file that is no JSON becomes null, which has no command either.
        let summary: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if summary["command"].is_string() && summary["parameters"].is_object() {
            return Ok(Self { folder: folder.to_owned(), summary });
        }
        let expected = "the summary of a run of simtool".to_owned();
        Err(ErrorKind::Format { path, byte: 0, expected }.into())
    }

    /// Returns the folder with the outputs of the run.
    #[must_use]
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the command line of the run.
    #[must_use]
    pub(crate) fn command(&self) -> &str {
        self.summary["command"].as_str().unwrap_or_default()
    }

    /// Returns the value of a setting of the run as text. `None` if `summary.json` does not have it as text.
    #[must_use]
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.summary["parameters"][name].as_str()
    }

    /// Returns whether kept documents of the run may be similar, because some documents were not compared or several
    /// documents of a cluster were kept.
    #[must_use]
    pub(crate) fn keeps_similar(&self) -> bool {
        let parameters = &self.summary["parameters"];
        let is_scoped =
            ["within", "across", "lose"].iter().any(|name| parameters[*name].is_string());
        // Pages with other titles are not compared.
        let is_of_pages = parameters["boilerplate"] == "pages";
        is_scoped || is_of_pages || parameters["keep_count"].as_u64().is_some_and(|count| count > 1)
    }

    /// Returns whether the run decided by coverage: the words of a removed document may be in several kept documents.
    #[must_use]
    pub(crate) fn is_coverage(&self) -> bool {
        self.parameter("method") == Some("covered")
    }

    /// Returns whether several documents of the run have the same ID.
    #[must_use]
    pub(crate) fn has_shared_ids(&self) -> bool {
        let counts = ["shared_ids", "corpus_shared_ids"];
        counts.iter().any(|count| self.summary[*count].as_u64().is_some_and(|count| count > 0))
    }

    /// Returns the name, the size in bytes and the modification time of each input file, as the run saw them. Files for
    /// which `summary.json` lacks one of these values are left out.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, u64, &str)> {
        let inputs = self.summary["inputs"].as_array().into_iter().flatten();
        inputs.filter_map(|input| {
            Some((input["file"].as_str()?, input["bytes"].as_u64()?, input["modified"].as_str()?))
        })
    }

    /// Returns the summary of the run.
    #[must_use]
    pub(crate) fn summary(&self) -> &Value {
        &self.summary
    }

    /// Returns whether the run compared queries with a corpus.
    #[must_use]
    pub(crate) fn is_match(&self) -> bool {
        !self.summary["corpus_documents"].is_null()
    }

    /// Returns the statuses of the documents that `sought` names. These are all documents with that ID or, if
    /// there is none, the document with that file and record number. A document that is not in the result was
    /// kept and is similar to no other document, or was not read.
    ///
    /// # Errors
    ///
    /// An output cannot be read, or is not as it was written.
    ///
    /// # Complexity
    ///
    /// O(n) for n bytes of `clusters.jsonl`. Only the lines that may name the document are parsed.
    pub(crate) fn find(&self, sought: Sought<'_>) -> Result<Vec<Status>> {
        let (mut of_id, mut of_place) = (Vec::new(), Vec::new());
        self.for_each_line(CLUSTERS, sought, &mut |line| {
            let line = fields(line)?;
            let kept = member(line.get("kept")?.get())?;
            let removed: Vec<&RawValue> = field(&line, "removed")?;
            let removed =
                removed.into_iter().map(|json| member(json.get())).collect::<Option<_>>()?;
            let cluster = Arc::new(MemberCluster { kept, removed });
            let removed = cluster.removed.iter().enumerate().map(|(at, member)| (Some(at), member));
            for (at, member) in iter::once((None, &cluster.kept)).chain(removed) {
                let Member { id, file, record, .. } = member;
                let found = || Status::Clustered { cluster: Arc::clone(&cluster), at };
                if sought.is_id(id) {
                    of_id.push(found());
                } else if sought.is_place(file, *record, Some(id)) {
                    of_place.push(found());
                }
            }
            Some(())
        })?;
        self.for_each_line(QUARANTINE, sought, &mut |line| {
            let line = fields(line)?;
            let (file, record): (String, u64) = (field(&line, "file")?, field(&line, "record")?);
            if sought.is_place(&file, record, None) {
                let (code, expected) = (field(&line, "code")?, field(&line, "expected")?);
                of_place.push(Status::Quarantined { file, record, code, expected });
            }
            Some(())
        })?;
        Ok(if of_id.is_empty() { of_place } else { of_id })
    }

    /// Calls `visit` with each line of the output file `name` that may be about the document that `sought`
    /// names. `visit` returns `None` if the line is not as simtool writes it.
    pub(super) fn for_each_line(
        &self,
        name: &str,
        sought: Sought<'_>,
        visit: &mut dyn FnMut(&str) -> Option<()>,
    ) -> Result<()> {
        let path = self.folder.join(name);
        let error = |e: io::Error| Error::io(&path, "read", e);
        let mut file = BufReader::with_capacity(1 << 18, File::open(&path).map_err(error)?);
        let needles = sought.needles();
        let (mut line, mut byte) = (Vec::new(), 0);
        loop {
            line.clear();
            let length = file.read_until(b'\n', &mut line).map_err(error)?;
            if length == 0 {
                return Ok(());
            }
            // Parsing JSON takes many times as long as searching it, and nearly all lines are about others.
            if needles.iter().any(|needle| needle.find(&line).is_some()) {
                str::from_utf8(&line).ok().and_then(&mut *visit).ok_or_else(|| {
                    let expected =
                        "a line that simtool wrote; the file was changed since".to_owned();
                    ErrorKind::Format { path: path.clone(), byte, expected }
                })?;
            }
            byte += length as u64;
        }
    }
}

pub(super) const CLUSTERS: &str = "clusters.jsonl";
const QUARANTINE: &str = "quarantine.jsonl";

/// Fields of a JSON object by their names. Values have the form in which they are written, so an ID that is a number
/// keeps all its digits. A run has millions of rows, and a hash map needs fewer comparisons of names than a tree.
pub(super) type Fields<'l> = UnorderedMap<&'l str, &'l RawValue>;

/// Returns the fields of an object that simtool wrote. The names of its fields have no escapes.
pub(super) fn fields(json: &str) -> Option<Fields<'_>> {
    serde_json::from_str(json).ok()
}

/// Returns the value of the field `name`. `None` if there is no such field, or if its value is of another
/// type.
pub(super) fn field<'l, T: Deserialize<'l>>(fields: &Fields<'l>, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

/// Returns the ID in the field `name` as text. An ID that is a number has the same digits as in the output.
pub(super) fn id_field(fields: &Fields<'_>, name: &str) -> Option<String> {
    let id = *fields.get(name)?;
    if id.get().starts_with('"') { field(fields, name) } else { Some(id.get().to_owned()) }
}

/// Returns the document that an object of `clusters.jsonl` describes. Returns `None` if the object has another form.
pub(super) fn member(json: &str) -> Option<Member> {
    let fields = fields(json)?;
    let (id, file, record) = named(&fields)?;
    Some(Member {
        id,
        file,
        record,
        // The kept document has neither.
        similarity: field(&fields, "similarity"),
        distance: field(&fields, "distance"),
    })
}

/// Returns the ID, the file and the record number of the document that a row describes. Returns `None` if the row lacks
/// one of these fields.
pub(super) fn named(row: &Fields<'_>) -> Option<(String, String, u64)> {
    Some((id_field(row, "id")?, field(row, "file")?, field(row, "record")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(clusters: &str) -> (tempfile::TempDir, FinishedRun) {
        let folder = tempfile::tempdir().unwrap();
        let summary = r#"{"program": "simtool", "command": "simtool x", "parameters": {"a": "b"}}"#;
        let bad =
            r#"{"file":"in/x.jsonl","record":7,"byte":1,"length":2,"code":"json","expected":"y"}"#;
        for (name, content) in [(SUMMARY, summary), (CLUSTERS, clusters), (QUARANTINE, bad)] {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let run = FinishedRun::open(folder.path()).unwrap();
        (folder, run)
    }

    const LINES: &str = r#"{"kept":{"id":"a","file":"./in/x.jsonl","record":0},"removed":[{"id":"b#1","file":"in/x.jsonl","record":3,"similarity":0.9,"distance":null},{"id":"c:2","file":"in/y","record":2,"similarity":null,"distance":3}]}
{"kept":{"id":"é \"q\"","file":"in/z","record":0},"removed":[{"id":"a","file":"in/z","record":1,"similarity":1,"distance":null}]}
{"kept":{"id":12.50,"file":"in/n","record":0},"removed":[{"id":12345678901234567890123,"file":"in/n","record":1,"similarity":1,"distance":null}]}
"#;

    #[test]
    fn documents_are_found_by_id_and_by_place() {
        let (_folder, run) = run(LINES);
        assert_eq!(
            (run.command(), run.parameter("a"), run.is_match()),
            ("simtool x", Some("b"), false)
        );
        let found = |name: &str| -> Vec<Option<usize>> {
            let statuses = run.find(Sought::new(name)).unwrap();
            let place = |status| match status {
                Status::Clustered { at, .. } => at,
                Status::Quarantined { .. } => Some(99),
            };
            statuses.into_iter().map(place).collect()
        };
        // Several documents may have the same ID.
        assert_eq!(found("a"), [None, Some(0)]);
        assert_eq!(found("b#1"), [Some(0)]);
        assert_eq!(found("c:2"), [Some(1)]);
        assert_eq!(found("é \"q\""), [None]);
        // Numbers have the digits of the input.
        assert_eq!(found("12.50"), [None]);
        assert_eq!(found("12345678901234567890123"), [Some(0)]);
        assert_eq!(found("12.5"), []);
        assert_eq!(found("in/x.jsonl:0"), [None]);
        assert_eq!(found("./in/x.jsonl:3"), [Some(0)]);
        assert_eq!(found("in/x.jsonl#b#1"), [Some(0)]);
        assert_eq!(found("in/y#c:2"), [Some(1)]);
        assert_eq!(found("in/x.jsonl:7"), [Some(99)]);
        for none in ["b", "x", "in/x.jsonl", "x.jsonl:0", "in/x.jsonl:1", "in/z#b", "", "#", ":0"] {
            assert_eq!(found(none), [], "{none}");
        }
        let statuses = run.find(Sought::new("a")).unwrap();
        let Status::Clustered { cluster, .. } = &statuses[0] else { panic!("{statuses:?}") };
        let [b, c] = &cluster.removed[..] else { panic!("{cluster:?}") };
        assert_eq!((b.similarity, c.distance), (Some(0.9), Some(3)));
    }

    #[test]
    fn other_folders_and_lines_are_refused() {
        let (folder, run) = run("{\"kept\":\"a\"}\n");
        let error = run.find(Sought::new("a")).unwrap_err().to_string();
        assert!(
            error.contains("clusters.jsonl, byte 0: expected a line that simtool wrote"),
            "{error}"
        );
        assert!(FinishedRun::is_at(folder.path()) && !FinishedRun::is_at(&folder.path().join("x")));
        fs::write(folder.path().join(SUMMARY), "[]").unwrap();
        let error = FinishedRun::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("expected the summary of a run of simtool"), "{error}");
    }
}
