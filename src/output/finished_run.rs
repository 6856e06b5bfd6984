//! Reads a finished run from its output folder, to find what became of a document.

use crate::pipeline::watched::Watched;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::json_text::write_string;
use simtool_compute::threads::Threads;
use simtool_model::document::{Content, Record};

use memchr::memmem::Finder;
use serde_json::Value;
use simtool_base::progress::{Progress, Work};
use simtool_read::{Corpus, Event};
use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::iter;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

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

/// Fate of a record in a finished run.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// The document belongs to a cluster, so it is similar to another document.
    Clustered {
        /// Position of the document in the list of removed documents of the cluster. `None` if it is the kept
        /// document.
        cluster: Arc<MemberCluster>,
        /// Position of the document in the list of removed documents. `None` if it is the kept document.
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
pub struct Sought<'s>(&'s str);

impl<'s> Sought<'s> {
    /// Creates the value from an ID, `FILE:RECORD` or `FILE#ID`.
    #[must_use]
    pub(crate) fn new(name: &'s str) -> Self {
        Self(name)
    }

    fn is_id(self, id: &str) -> bool {
        self.0 == id
    }

    /// Returns whether the name is `FILE:RECORD` or `FILE#ID` of the document with this file, record number
    /// and ID.
    fn is_place(self, file: &str, record: u64, id: Option<&str>) -> bool {
        self.record_in(file) == Some(record) || id.is_some_and(|id| self.is_id_in(file, id))
    }

    /// Returns the record number if the name has the form `FILE:RECORD` and names this file.
    fn record_in(self, file: &str) -> Option<u64> {
        let (name, number) = self.0.rsplit_once(':')?;
        if same_file(name) == same_file(file) { number.parse().ok() } else { None }
    }

    fn is_id_in(self, file: &str, id: &str) -> bool {
        let name = self.0.strip_suffix(id).and_then(|name| name.strip_suffix('#'));
        name.is_some_and(|name| same_file(name) == same_file(file))
    }

    /// Returns whether the name is this ID, or `FILE#ID` with this file and ID.
    fn is_named(self, file: &str, id: Option<&[u8]>) -> bool {
        let id = id.map(String::from_utf8_lossy);
        id.is_some_and(|id| self.is_id(&id) || self.is_id_in(file, &id))
    }

    /// Returns searches for strings. A JSON line can be about the document only if it contains at least one
    /// of the strings, so other lines need not be parsed.
    fn needles(self) -> Vec<Finder<'static>> {
        let parts = self.0.match_indices(['#', ':']).map(|(at, _)| same_file(&self.0[..at]));
        let mut needles = vec![finder(self.0, true)];
        needles.extend(parts.filter(|part| !part.is_empty()).map(|part| finder(part, false)));
        needles
    }
}

impl fmt::Display for Sought<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A collection in which documents of a finished run are sought by their names.
pub(crate) struct InputSearch<'s> {
    /// Collection that is read.
    pub(crate) collection: &'s dyn Corpus,
    /// Function that converts the path of a file to the path that the finished run used.
    pub(crate) name: &'s dyn Fn(&Path) -> PathBuf,
    /// Number of threads that read.
    pub(crate) threads: usize,
    /// Receiver of the number of bytes of the shards that were read.
    pub(crate) progress: &'s dyn Progress,
}

/// Documents that a search returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matches {
    /// The first document with the name.
    First,
    /// All documents with the name.
    All,
}

/// Result of reading one shard in a search: the number of its records, and whether it has a document with
/// the sought ID.
struct SearchedShard {
    shard: usize,
    records: u64,
    has_id: bool,
}

impl InputSearch<'_> {
    /// Finds the documents that `sought` names. Returns their files and their record numbers, in reading
    /// order.
    ///
    /// # Errors
    ///
    /// This build cannot read a format of the collection, or the system does not start the threads.
    pub(crate) fn find(&self, sought: Sought<'_>, matches: Matches) -> Result<Vec<(PathBuf, u64)>> {
        let collection = self.collection;
        let names: Vec<PathBuf> = (0..collection.file_count())
            .map(|file| (self.name)(collection.file_name(file)))
            .collect();
        let name_of = |shard: usize| names[collection.shard_file(shard)].to_string_lossy();
        self.progress.begin("looking for the document", Work::Bytes(collection.bytes()));
        let searched = self.search_shards(sought, matches, &name_of)?;
        let mut found = Vec::new();
        // Record numbers of a shard follow from the number of records in the earlier shards of its file.
        let (mut records_before, mut last) = (0, None);
        for SearchedShard { shard, records, has_id } in searched {
            let (at, file) = (collection.shard_file(shard), name_of(shard));
            if last.replace(at) != Some(at) {
                records_before = 0;
            }
            let wanted = sought.record_in(&file);
            let wanted = wanted.and_then(|wanted| wanted.checked_sub(records_before));
            if has_id || wanted.is_some_and(|wanted| wanted < records) {
                collection.read_shard(shard, &mut |event| {
                    let is_found = |&(number, id): &(u64, Option<&[u8]>)| {
                        Some(number) == wanted || sought.is_named(&file, id)
                    };
                    if let Some((number, _)) = document(&event).filter(is_found) {
                        found.push((names[at].clone(), records_before + number));
                    }
                    Ok(matches.flow(!found.is_empty()))
                })?;
                if matches == Matches::First && !found.is_empty() {
                    break;
                }
            }
            records_before += records;
        }
        Ok(found)
    }

    /// Reads the shards, in any order, to count their records and to find the ID. Returns the results in the
    /// order of the shards. For [`Matches::First`], the shards after the first one with the ID may be missing.
    fn search_shards<'n>(
        &self,
        sought: Sought<'_>,
        matches: Matches,
        name_of: &(dyn Fn(usize) -> Cow<'n, str> + Sync),
    ) -> Result<Vec<SearchedShard>> {
        let shards = self.collection.shard_count();
        let first = AtomicUsize::new(shards);
        let watched = Watched { corpus: self.collection, progress: self.progress };
        let search_shard = |(): &mut (), shard: usize| {
            if matches == Matches::First && shard > first.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let file = name_of(shard);
            let mut has_id = false;
            let records = watched.read_shard(shard, &mut |event| {
                has_id |= document(&event).is_some_and(|(_, id)| sought.is_named(&file, id));
                Ok(matches.flow(has_id))
            })?;
            if has_id {
                first.fetch_min(shard, Ordering::Relaxed);
            }
            Ok(Some(SearchedShard { shard, records, has_id }))
        };
        let searched = Threads::new(self.threads)?.try_map(shards, || Ok(()), search_shard)?;
        Ok(searched.into_iter().flatten().collect())
    }
}

impl Matches {
    /// Returns whether the reading of a shard goes on after a document that is or is not the sought one.
    fn flow(self, is_found: bool) -> ControlFlow<()> {
        if is_found && self == Self::First {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Returns the record number in the shard and, if there is one, the ID of the document that the reader passes
/// on in `event`. Returns `None` if the event has no document.
fn document<'e>(event: &Event<'e>) -> Option<(u64, Option<&'e [u8]>)> {
    match event {
        Event::Record(Record { number, content: Content::Document(document), .. }) => {
            Some((*number, document.id))
        }
        _ => None,
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
        let summary: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if summary["command"].is_string() && summary["parameters"].is_object() {
            return Ok(Self { folder: folder.to_owned(), summary });
        }
        let expected = "the summary of a run of simtool".to_owned();
        Err(ErrorKind::Format { path, byte: 0, expected }.into())
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

    /// Returns whether several documents of the run have the same ID. Runs of older versions of simtool do not
    /// say this, so the result is `false` for them.
    #[must_use]
    pub(crate) fn has_shared_ids(&self) -> bool {
        let counts = ["shared_ids", "corpus_shared_ids"];
        counts.iter().any(|count| self.summary[*count].as_u64().is_some_and(|count| count > 0))
    }

    /// Returns whether a setting of the run was turned on.
    #[must_use]
    pub(crate) fn has_flag(&self, name: &str) -> bool {
        self.summary["parameters"][name].as_bool().unwrap_or_default()
    }

    /// Returns whether the run compared queries with a corpus.
    #[must_use]
    pub(crate) fn is_match(&self) -> bool {
        !self.summary["corpus_documents"].is_null()
    }

    /// Returns the fates of the documents that `sought` names. These are all documents with that ID or, if
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
    pub(crate) fn find(&self, sought: Sought<'_>) -> Result<Vec<Fate>> {
        let (mut of_id, mut of_place) = (Vec::new(), Vec::new());
        self.for_each_line(CLUSTERS, sought, &mut |line| {
            let removed = line["removed"].as_array()?.iter().map(member).collect::<Option<_>>()?;
            let cluster = Arc::new(MemberCluster { kept: member(&line["kept"])?, removed });
            let removed = cluster.removed.iter().enumerate().map(|(at, member)| (Some(at), member));
            for (at, member) in iter::once((None, &cluster.kept)).chain(removed) {
                let Member { id, file, record, .. } = member;
                let found = || Fate::Clustered { cluster: Arc::clone(&cluster), at };
                if sought.is_id(id) {
                    of_id.push(found());
                } else if sought.is_place(file, *record, Some(id)) {
                    of_place.push(found());
                }
            }
            Some(())
        })?;
        self.for_each_line(QUARANTINE, sought, &mut |line| {
            let (file, record) = (line["file"].as_str()?.to_owned(), line["record"].as_u64()?);
            if sought.is_place(&file, record, None) {
                let text = |name: &str| Some(line[name].as_str()?.to_owned());
                let (code, expected) = (text("code")?, text("expected")?);
                of_place.push(Fate::Quarantined { file, record, code, expected });
            }
            Some(())
        })?;
        Ok(if of_id.is_empty() { of_place } else { of_id })
    }

    /// Calls `visit` with the JSON object of each line of the output file `name` that may be about the
    /// document that `sought` names. `visit` returns `None` if the object lacks a field that simtool writes.
    fn for_each_line(
        &self,
        name: &str,
        sought: Sought<'_>,
        visit: &mut dyn FnMut(&Value) -> Option<()>,
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
            if needles.iter().any(|needle| needle.find(&line).is_some()) {
                let value = serde_json::from_slice(&line).ok();
                value.as_ref().and_then(&mut *visit).ok_or_else(|| {
                    let expected = "a line as simtool wrote it".to_owned();
                    ErrorKind::Format { path: path.clone(), byte, expected }
                })?;
            }
            byte += length as u64;
        }
    }
}

const SUMMARY: &str = "summary.json";
const CLUSTERS: &str = "clusters.jsonl";
const QUARANTINE: &str = "quarantine.jsonl";

fn member(value: &Value) -> Option<Member> {
    Some(Member {
        id: value["id"].as_str()?.to_owned(),
        file: value["file"].as_str()?.to_owned(),
        record: value["record"].as_u64()?,
        similarity: value["similarity"].as_f64(),
        distance: value["distance"].as_u64(),
    })
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
"#;

    #[test]
    fn documents_are_found_by_id_and_by_place() {
        let (_folder, run) = run(LINES);
        assert_eq!(
            (run.command(), run.parameter("a"), run.is_match()),
            ("simtool x", Some("b"), false)
        );
        let found = |name: &str| -> Vec<Option<usize>> {
            let fates = run.find(Sought::new(name)).unwrap();
            let place = |fate| match fate {
                Fate::Clustered { at, .. } => at,
                Fate::Quarantined { .. } => Some(99),
            };
            fates.into_iter().map(place).collect()
        };
        // Several documents may have the same ID.
        assert_eq!(found("a"), [None, Some(0)]);
        assert_eq!(found("b#1"), [Some(0)]);
        assert_eq!(found("c:2"), [Some(1)]);
        assert_eq!(found("é \"q\""), [None]);
        assert_eq!(found("in/x.jsonl:0"), [None]);
        assert_eq!(found("./in/x.jsonl:3"), [Some(0)]);
        assert_eq!(found("in/x.jsonl#b#1"), [Some(0)]);
        assert_eq!(found("in/y#c:2"), [Some(1)]);
        assert_eq!(found("in/x.jsonl:7"), [Some(99)]);
        for none in ["b", "x", "in/x.jsonl", "x.jsonl:0", "in/x.jsonl:1", "in/z#b", "", "#", ":0"] {
            assert_eq!(found(none), [], "{none}");
        }
        let fates = run.find(Sought::new("a")).unwrap();
        let Fate::Clustered { cluster, .. } = &fates[0] else { panic!("{fates:?}") };
        let [b, c] = &cluster.removed[..] else { panic!("{cluster:?}") };
        assert_eq!((b.similarity, c.distance), (Some(0.9), Some(3)));
    }

    #[test]
    fn documents_are_found_in_inputs_by_any_number_of_threads() {
        use simtool_base::progress::NoProgress;
        use simtool_read::walk::InputFile;
        use simtool_read::{Collection, ReadOptions};
        let folder = tempfile::tempdir().unwrap();
        let line = |at: usize| match at % 7 {
            3 => "{\"no\":\"text\"}\n".to_owned(),
            5 => "{\"text\":\"nameless\"}\n".to_owned(),
            _ => format!("{{\"id\":{},\"text\":\"t\"}}\n", at % 30),
        };
        let lines: String = (0..60).map(line).collect();
        for name in ["x", "y"] {
            fs::write(folder.path().join(name), &lines).unwrap();
        }
        let files = || ["x", "y"].map(|name| InputFile::new(folder.path().join(name))).into();
        let name = |path: &Path| path.file_name().unwrap().into();
        for (shard_bytes, threads) in [(1 << 20, 1), (40, 1), (40, 4), (1, 3)] {
            let options = ReadOptions { shard_bytes, ..ReadOptions::default() };
            let collection = Collection::open(files(), options);
            let check = |sought: &str, expected: Option<(&str, usize)>| {
                let search = InputSearch {
                    collection: &collection,
                    name: &name,
                    threads,
                    progress: &NoProgress,
                };
                let found = search.find(Sought::new(sought), Matches::First).unwrap();
                let expected = expected.map(|(file, record)| (file.into(), record as u64));
                assert_eq!(found.first(), expected.as_ref(), "{sought}: {threads}, {shard_bytes}");
                let all = search.find(Sought::new(sought), Matches::All).unwrap();
                assert_eq!(all.first(), expected.as_ref(), "{sought}: {threads}, {shard_bytes}");
                // Records 0 to 59 have the IDs 0 to 29, so each ID occurs up to twice in each file.
                assert!(all.len() <= 4 && all.is_sorted(), "{sought}: {all:?}");
            };
            for record in 0..60 {
                let is_document = record % 7 != 3;
                for file in ["x", "y"] {
                    check(&format!("{file}:{record}"), is_document.then_some((file, record)));
                }
                let has_id = |at: &usize| ![3, 5].contains(&(at % 7)) && at % 30 == record;
                let first = (0..60).find(has_id);
                check(&record.to_string(), first.map(|first| ("x", first)));
                check(&format!("y#{record}"), first.map(|first| ("y", first)));
            }
            check("x:60", None);
            check("z:1", None);
        }
    }

    #[test]
    fn other_folders_and_lines_are_refused() {
        let (folder, run) = run("{\"kept\":\"a\"}\n");
        let error = run.find(Sought::new("a")).unwrap_err().to_string();
        assert!(
            error.contains("clusters.jsonl, byte 0: expected a line as simtool wrote it"),
            "{error}"
        );
        assert!(FinishedRun::is_at(folder.path()) && !FinishedRun::is_at(&folder.path().join("x")));
        fs::write(folder.path().join(SUMMARY), "[]").unwrap();
        let error = FinishedRun::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("expected the summary of a run of simtool"), "{error}");
    }
}
