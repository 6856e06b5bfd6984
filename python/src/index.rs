//! A growing index of documents that were seen before.
//!
//! No file stays open between calls, so each call sees everything that was committed before. Several processes can
//! share an index, and forking is safe.

use crate::columns::{ColumnData, Values};
use crate::errors::exception;
use crate::run::run;
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::index::{Added, Arrival, Index as Stored, IndexAdder, Near};
use simtool::method::Method;
use simtool::pipeline::{WithoutWords, fingerprint_collection};
use simtool::progress::Progress;
use simtool::stages::durable::{Disk, Durability};
use simtool::stages::fingerprint_rows::FingerprintRows;
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::read::Texts;
use simtool::stages::utc_time::UtcTime;
use simtool::{Resources, Result};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::SystemTime;

/// A growing index of documents in a folder: it finds documents that were seen before, and adds new
/// ones.
///
/// A missing or empty folder becomes a new index with the given `method` and its options. If `path` has an
/// index and options of the method are given, they must be those of the index. `threads`, `max_memory` and
/// `tmp_dir` apply to each call.
///
/// Args:
///     path: Folder of the index.
///
/// Raises:
///     TypeError: A keyword does not exist here.
///     ValueError: An option has a wrong value, or is not that of the index.
///     OSError: The folder has no index and is not empty, or a file cannot be read.
///
///     >>> import tempfile
///     >>> index = simtool.Index(tempfile.mkdtemp() + "/seen.idx", max_distance=3)
///     >>> index.filter(["one two three four", "five six", "One, two, three four!"]).to_pydict()
///     {'row': [0, 1]}
///     >>> index.add(["five six"], ids=["later"])
///     number  repeats  distance
///       null        1         0
///     [1 row]
///     >>> index.query(["one two three four"], only_nearest=True).to_pydict()
///     {'row': [0], 'number': [0], 'id': ['0'], 'distance': [0]}
///     >>> index.remove(["0"]), len(index), index.stat()["removed"]
///     (1, 1, 1)
#[doc = include_str!("../keywords/Index.txt")]
#[pyclass(frozen, module = "simtool")]
pub(crate) struct Index {
    path: PathBuf,
    resources: Resources,
}

fn holder(what: &str) -> String {
    format!("process {} (simtool.Index.{what})", std::process::id())
}

fn disk() -> Disk {
    Disk::new(Durability::Synced)
}

/// Returns the access to the files of an index, which maps them into memory.
#[expect(unsafe_code, reason = "maps are safe only if nobody changes the files")]
fn access() -> FileAccess {
    // SAFETY: an index never changes a file that is complete, and its guide says that others must not.
    unsafe { FileAccess::map(|_, _| ()) }
}

/// Computes the fingerprints of texts with the method of an index.
fn fingerprints(
    rows: &[&[u8]],
    method: &Method,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<FingerprintRows<'static>> {
    let (texts, without_words) = (Texts::of(rows), WithoutWords::Allowed);
    Ok(fingerprint_collection(&texts, method.recipe(), resources, without_words, progress)?.rows)
}

impl Index {
    fn adder(&self, what: &str) -> Result<IndexAdder> {
        IndexAdder::open(&self.path, access(), disk(), &holder(what), &self.resources)
    }

    fn stored(&self) -> Result<Stored> {
        Stored::open(&self.path, access(), &self.resources)
    }

    /// Adds documents, and returns the result for each document.
    fn added(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        source: &str,
        column: Option<String>,
        progress: bool,
    ) -> PyResult<Vec<Added>> {
        let input = ImportedTexts::of(texts, column)?;
        let ids = ids.map(|ids| ImportedTexts::of(ids, None)).transpose()?;
        let rows = &input.rows()?;
        let ids = ids.as_ref().map(ImportedTexts::rows).transpose()?;
        if let Some(ids) = ids.as_ref().filter(|ids| ids.len() != rows.len()) {
            let (ids, rows) = (ids.len(), rows.len());
            let rule =
                format!("ids {ids}: must be as many as the texts, of which there are {rows}");
            return Err(PyValueError::new_err(rule));
        }
        run(py, progress, |progress| {
            let mut adder = self.adder("add")?;
            let made = fingerprints(rows, adder.method(), &self.resources, progress)?;
            let id = |row: usize| match &ids {
                Some(ids) => Cow::Borrowed(ids[row]),
                None => Cow::Owned(row.to_string().into_bytes()),
            };
            let time = UtcTime::from(SystemTime::now()).seconds();
            let added = adder.add(&made, id, Arrival { source, time })?;
            adder.commit()?;
            Ok(added)
        })
    }
}

#[pymethods]
impl Index {
    #[new]
    #[pyo3(signature = (path, **options))]
    fn new(py: Python<'_>, path: PathBuf, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = settings::options(options)?;
        let resources = Resources::parse(&mut options).map_err(exception)?;
        let is_named = options.first().is_some();
        let mut method = || {
            options.complete(&[("method", "simhash")]);
            Method::parse_all(&mut options)
        };
        py.detach(|| {
            // A folder that exists and is empty may become an index, for example one of `tempfile`.
            let is_empty =
                !path.exists() || path.read_dir().is_ok_and(|mut files| files.next().is_none());
            if !is_empty {
                let index = Stored::open(&path, access(), &resources)?;
                // An index knows its method, so it needs none. A given one must agree.
                return if is_named { index.check(&method()?) } else { Ok(()) };
            }
            IndexAdder::create(&path, method()?, disk(), &holder("create"))
        })
        .map_err(exception)?;
        Ok(Self { path, resources })
    }

    /// Adds texts in their order. A text that is near a known document, or near an earlier text of the same call, is
    /// not added.
    ///
    /// Args:
    #[doc = include_str!("../parameters/texts.txt")]
    ///     ids: IDs of the texts, one for each. By default, their row numbers.
    ///     source: Name of the source of the texts, for example of a crawl.
    #[doc = include_str!("../parameters/progress.txt")]
    ///
    /// Returns:
    ///     Table with a row for each text. `number` is the new number of the text in the index. If the text
    ///     repeats a document, `repeats` is the number of that document, and `distance` their distance. All
    ///     columns are null for a text without words.
    ///
    /// Raises:
    ///     TypeError: A text or an ID is not `str`.
    ///     ValueError: There are more or fewer IDs than texts, or `column` names no column of the table.
    ///     IndexLockedError: Another process writes to the index.
    #[pyo3(signature = (texts, ids=None, *, source="default", column=None, progress=false))]
    fn add(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        source: &str,
        column: Option<String>,
        progress: bool,
    ) -> PyResult<Table> {
        let added = self.added(py, texts, ids, source, column, progress)?;
        let number = |at: usize| match added[at] {
            Added::New(number) => Some(number),
            _ => None,
        };
        let near = |at: usize| match added[at] {
            Added::Repeats(near) => Some(near),
            _ => None,
        };
        let numbers = |of: &dyn Fn(usize) -> Option<u64>| {
            Values::U64((0..added.len()).map(|at| of(at).unwrap_or_default()).collect())
        };
        let distances = (0..added.len()).map(|at| near(at).map_or(0, |near| near.distance));
        let repeats = |at: usize| near(at).map(|near| near.number);
        Ok(Table::new(vec![
            ColumnData::nullable("number", numbers(&number), |at| number(at).is_some()),
            ColumnData::nullable("repeats", numbers(&repeats), |at| near(at).is_some()),
            ColumnData::nullable("distance", Values::U32(distances.collect()), |at| {
                near(at).is_some()
            }),
        ]))
    }

    /// Adds texts like `add`, and returns the texts that repeat no known document.
    ///
    /// Args:
    #[doc = include_str!("../parameters/texts.txt")]
    ///     ids: IDs of the texts, one for each. By default, their row numbers.
    ///     source: Name of the source of the texts, for example of a crawl.
    #[doc = include_str!("../parameters/progress.txt")]
    ///
    /// Returns:
    ///     Table with the column `row`: the numbers of the texts that repeat no document, in their order.
    ///
    /// Raises:
    ///     TypeError: A text or an ID is not `str`.
    ///     ValueError: There are more or fewer IDs than texts, or `column` names no column of the table.
    ///     IndexLockedError: Another process writes to the index.
    #[pyo3(signature = (texts, ids=None, *, source="default", column=None, progress=false))]
    fn filter(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        source: &str,
        column: Option<String>,
        progress: bool,
    ) -> PyResult<Table> {
        let added = self.added(py, texts, ids, source, column, progress)?;
        // Texts without words are not in the index. They repeat nothing, so they pass the filter.
        let rows = (0_u32..).zip(&added).filter(|(_, added)| !matches!(added, Added::Repeats(_)));
        Ok(Table::new(vec![ColumnData::new(
            "row",
            Values::U32(rows.map(|(row, _)| row).collect()),
        )]))
    }

    /// Finds the documents that are near each text. The index is not changed.
    ///
    /// Args:
    #[doc = include_str!("../parameters/texts.txt")]
    ///     only_nearest: Return at most one document for each text.
    #[doc = include_str!("../parameters/progress.txt")]
    ///
    /// Returns:
    ///     Table with the `row` of the text and the `number`, `id` and `distance` of each near document, the
    ///     nearest first.
    ///
    /// Raises:
    ///     TypeError: A text is not `str`.
    ///     ValueError: `column` names no column of the table.
    #[pyo3(signature = (texts, *, only_nearest=false, column=None, progress=false))]
    fn query(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        only_nearest: bool,
        column: Option<String>,
        progress: bool,
    ) -> PyResult<Table> {
        let input = ImportedTexts::of(texts, column)?;
        let rows = &input.rows()?;
        let (found, ids) = run(py, progress, |progress| {
            let index = self.stored()?;
            let made = fingerprints(rows, index.method(), &self.resources, progress)?;
            let found = index.near(&made, only_nearest)?;
            let (mut starts, mut ids) = (vec![0], Vec::new());
            for near in found.iter().flatten() {
                ids.extend(
                    index.document(near.number)?.map(|document| document.id).unwrap_or_default(),
                );
                starts.push(ids.len() as i64);
            }
            Ok((found, Values::Texts(starts, ids)))
        })?;
        let all = || {
            (0_u32..).zip(&found).flat_map(|(row, near)| near.iter().map(move |near| (row, near)))
        };
        let distances = all().map(|(_, Near { distance, .. })| *distance).collect();
        Ok(Table::new(vec![
            ColumnData::new("row", Values::U32(all().map(|(row, _)| row).collect())),
            ColumnData::new("number", Values::U64(all().map(|(_, near)| near.number).collect())),
            ColumnData::new("id", ids),
            ColumnData::new("distance", Values::U32(distances)),
        ]))
    }

    /// Removes documents from the index, and returns their number.
    ///
    /// Args:
    ///     ids: IDs of the documents. An ID that no document has is ignored.
    ///
    /// Raises:
    ///     IndexLockedError: Another process writes to the index.
    fn remove(&self, py: Python<'_>, ids: Vec<String>) -> PyResult<u64> {
        let removed = py.detach(|| {
            let mut wanted: Vec<&[u8]> = ids.iter().map(String::as_bytes).collect();
            // The index passes every ID to the predicate, so the look-up must be fast.
            wanted.sort_unstable();
            let mut adder = self.adder("remove")?;
            let removed = adder.remove(&mut |id| wanted.binary_search(&id).is_ok())?;
            adder.commit()?;
            Ok(removed)
        });
        removed.map_err(exception)
    }

    /// Merges all segments into one, which makes queries fastest.
    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.adder("compact")?.compact()).map_err(exception)
    }

    /// Checks every byte of the index, and raises an error if it is damaged.
    fn verify(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.stored()?.verify()).map_err(exception)
    }

    /// Returns the size of the index as a dict.
    fn stat<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let added = py.detach(|| {
            self.stored().and_then(|index| Ok((index.size()?, index.method().to_string())))
        });
        let (size, method) = added.map_err(exception)?;
        let stat = PyDict::new(py);
        stat.set_item("method", method)?;
        stat.set_item("documents", size.documents)?;
        stat.set_item("removed", size.removed)?;
        stat.set_item("repeats", size.repeats)?;
        stat.set_item("generation", size.generation)?;
        stat.set_item("segments", size.segments)?;
        stat.set_item("bytes", size.bytes)?;
        stat.set_item("tables", size.tables)?;
        Ok(stat)
    }

    /// The method with all its settings.
    #[getter]
    fn method(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.stored().map(|index| index.method().to_string())).map_err(exception)
    }

    /// The folder of the index.
    #[getter]
    fn path(&self) -> &std::path::Path {
        &self.path
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        let size = py.detach(|| self.stored()?.size()).map_err(exception)?;
        Ok(usize::try_from(size.documents)?)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (path, count) = (self.path.display(), self.__len__(py)?);
        let documents = simtool::stages::quantity::counted(count as u64, "document");
        Ok(format!("Index({path}, {documents}; {})", self.method(py)?))
    }
}
