//! Results of a run as tables: kept rows, removed rows and the reasons.

use crate::closeness_columns::ClosenessColumns;
use crate::columns::{ColumnData, Values};
use crate::document_columns::{DocumentRows, TextColumns, documents_table};
use crate::errors::exception;
use crate::fields;
use crate::given_pairs::given_pairs;
use crate::plain_rows::found_rows;
use crate::plain_values::{Numbers, Reduced, link, reduced};
use crate::run::run;
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use simtool::cluster::{Removal, clusters, components, keep, keep_several};
use simtool::output::{ClusterWeight, histograms};
use simtool::pipeline::Task;
use simtool::run::{FoundInTexts, TextsRequest, find_in_texts};
use simtool::stages::close::{Close, Neighbourhood};
use simtool::stages::closeness::Closeness;
use simtool::stages::groups::Groups;
use simtool::stages::quantity::{counted, grouped};
use simtool::stages::read::{Corpus, Texts};
use simtool::stages::sides::Sides;
use simtool::write::report::{Report, write_charts};
use simtool::write::summary::{ReadCounts, Summary};
use simtool::{ClusterRule, Config, Keep};
use std::convert::Infallible;

/// Near-duplicates among rows. Rows are numbered from 0.
///
///     >>> found = simtool.deduplicate(["a b c d", "e f g", "A b, c d!"])
///     >>> found.kept["row"].to_pylist(), found.clusters.to_pydict()
///     ([0, 1], {'kept': [0], 'removed': [[2]]})
///     >>> found.pairs
///     a  b  similarity
///     0  2       1.000
///     [1 row]
///     >>> len(found), found.pair_count, found.method
///     (3, 1, 'exact:similarity=0.8,shingle=words:3')
#[pyclass(frozen, module = "simtool")]
pub(crate) struct NearDuplicates {
    /// Number of documents. For a match, the number of texts, and the number of texts in `against`.
    pub(crate) documents: Sides<usize>,
    pub(crate) close: Close,
    pub(crate) removals: Vec<Removal>,
    /// Columns that only the method covered has, one value for each removal. `None` with another method.
    pub(crate) coverage: Option<CoverageColumns>,
    /// Columns that are computed from the texts, such as the number of tokens. `None` for a match, and if only pairs
    /// are known.
    pub(crate) texts: Option<TextColumns>,
    /// Rule by which the weight of a kept document is computed from its cluster.
    pub(crate) weight: ClusterWeight,
    pub(crate) shown: ClosenessColumns,
    pub(crate) method: String,
    pub(crate) distance_means: Option<String>,
    /// The memory limit in bytes. The table of pairs is not made if it would be larger.
    pub(crate) memory: u64,
    pub(crate) pairs: PyOnceLock<Py<Table>>,
}

/// Values of the removals of the method covered.
pub(crate) struct CoverageColumns {
    /// For each removed document, the number of its words that no kept document has.
    pub(crate) lost_words: Vec<u32>,
    /// For each removed document, the number of kept documents that together have all its words except the lost ones.
    pub(crate) covered_by: Vec<u32>,
}

impl NearDuplicates {
    fn len(&self) -> usize {
        *self.documents.first()
    }

    fn kept_rows(&self) -> Vec<u32> {
        let mut removals = self.removals.iter().map(|removal| removal.row).peekable();
        let is_kept = |row: &u32| removals.next_if_eq(row).is_none();
        // Rows are numbered in 32 bits.
        (0..self.len() as u32).filter(is_kept).collect()
    }

    fn pair_rows(&self) -> (Vec<u32>, Vec<u32>, Vec<Option<Closeness>>) {
        let (mut a, mut b, mut how) = (Vec::new(), Vec::new(), Vec::new());
        let visited = self.close.for_each_pair(|pair| {
            a.push(pair.a);
            b.push(pair.b);
            how.push(Some(pair.closeness));
            Ok::<_, Infallible>(())
        });
        match visited {
            Ok(()) => (a, b, how),
            Err(never) => match never {},
        }
    }

    fn summary(&self) -> String {
        format!(
            "{}, {} kept, {} removed, {}",
            counted(self.len() as u64, "document"),
            grouped((self.len() - self.removals.len()) as u64),
            grouped(self.removals.len() as u64),
            counted(self.close.pair_count(), "pair"),
        )
    }
}

#[pymethods]
impl NearDuplicates {
    /// The kept rows in ascending order: a table with the column `row`.
    #[getter]
    fn kept(&self) -> Table {
        Table::new(vec![ColumnData::new("row", Values::U32(self.kept_rows()))])
    }

    /// The removed rows, each with the row that is kept in its place, and how close the two rows are. With the method
    /// covered, `lost_words` is the number of words of the removed row that no kept row has. `covered_by` is the number
    /// of kept rows that together have its other words.
    #[getter]
    fn removed(&self) -> Table {
        let column = |name, of: fn(&Removal) -> u32| {
            ColumnData::new(name, Values::U32(self.removals.iter().map(of).collect()))
        };
        let how: Vec<_> = self.removals.iter().map(|removal| removal.closeness).collect();
        let rows = [column("row", |removal| removal.row), column("kept", |removal| removal.kept)];
        let coverage =
            self.coverage.iter().flat_map(|CoverageColumns { lost_words, covered_by }| {
                [("lost_words", lost_words), ("covered_by", covered_by)]
            });
        let coverage =
            coverage.map(|(name, values)| ColumnData::new(name, Values::U32(values.clone())));
        Table::new(rows.into_iter().chain(self.shown.columns(&how)).chain(coverage).collect())
    }

    /// The clusters: each kept row in whose place other rows are removed, with the list of these removed rows.
    #[getter]
    fn clusters(&self) -> Table {
        let clusters = clusters(&self.removals);
        let (mut starts, mut removed) = (vec![0], Vec::new());
        for cluster in &clusters {
            removed.extend(cluster.removed.iter().map(|removal| removal.row));
            starts.push(removed.len() as i64);
        }
        let kept = clusters.iter().map(|cluster| cluster.kept).collect();
        Table::new(vec![
            ColumnData::new("kept", Values::U32(kept)),
            ColumnData::new("removed", Values::Lists(starts, removed)),
        ])
    }

    /// All rows, with the columns of the output `documents` that exist for texts in memory. `kept` and `cluster_id` are
    /// both the kept row of the cluster. For a kept row, this is the row itself, and its closeness is null. Without
    /// texts, as in the result of `cluster`, `bytes`, `tokens` and `exact_copies` are missing. A match has no clusters.
    #[getter]
    fn documents(&self) -> PyResult<Table> {
        if self.documents.is_two() {
            let rule = "documents: a match has no clusters; use kept and removed";
            return Err(PyValueError::new_err(rule));
        }
        // Rows are numbered in 32 bits.
        let count = self.len() as u32;
        Ok(documents_table(&DocumentRows {
            count,
            removals: &self.removals,
            texts: self.texts.as_ref(),
            weight: &self.weight,
            shown: self.shown,
        }))
    }

    /// All pairs of close rows, with their closeness. `a` is before `b`. Equal documents are pairs, too. For a match,
    /// `a` is one of the texts, and `b` is one of the texts in `against`.
    #[getter]
    fn pairs(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        let made = self.pairs.get_or_try_init(py, || {
            let (count, each) = (self.close.pair_count(), 48);
            // The estimate of 48 bytes for each pair refuses a table before it fills the memory.
            if count.saturating_mul(each) > self.memory {
                let rule = format!(
                    "{} pairs do not fit in max_memory: give more, or take clusters and removed",
                    grouped(count)
                );
                return Err(PyMemoryError::new_err(rule));
            }
            let (a, b, how) = py.detach(|| self.pair_rows());
            let rows = [("a", a), ("b", b)];
            let rows = rows.map(|(name, rows)| ColumnData::new(name, Values::U32(rows)));
            Py::new(py, Table::new(rows.into_iter().chain(self.shown.columns(&how)).collect()))
        })?;
        Ok(made.clone_ref(py))
    }

    /// Number of pairs. It is computed without the table of pairs.
    #[getter]
    fn pair_count(&self) -> u64 {
        self.close.pair_count()
    }

    /// The method with all its settings, in the form of the argument `method`.
    #[getter]
    fn method(&self) -> &str {
        &self.method
    }

    /// Returns the number of documents. For a match, returns the number of texts without those of `against`.
    fn __len__(&self) -> usize {
        self.len()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let Self {
            documents,
            close,
            removals,
            coverage,
            texts,
            weight,
            shown,
            method,
            distance_means,
            memory,
            ..
        } = self;
        let of_equal = Numbers::new(link(0, 0, Some(close.of_equal)).into_iter()).object(py);
        let ClosenessColumns { similarity, distance } = *shown;
        let settings = (similarity, distance, method, distance_means, memory, weight.to_string());
        let rows = found_rows(documents, close, removals, texts.as_ref());
        let coverage =
            coverage.iter().flat_map(|columns| [&columns.lost_words, &columns.covered_by]);
        let coverage =
            coverage.map(|values| Numbers::new(values.iter().map(|&value| value.into())));
        let coverage: Vec<_> = coverage.map(|numbers| numbers.object(py)).collect();
        reduced(py, "_near_duplicates", (rows, of_equal, close.is_complete, settings, coverage))
    }

    fn __repr__(&self) -> String {
        format!("NearDuplicates({}; {})", self.summary(), self.method)
    }

    /// Returns the charts of the program's report, and the first removed rows, as HTML.
    fn _repr_html_(&self) -> PyResult<String> {
        let clusters = clusters(&self.removals);
        let report = histograms(&self.removals, &clusters, self.documents.is_two());
        let report = Report {
            similarities: report.similarities.filter(|_| self.shown.similarity),
            distances: report.distances.filter(|_| self.shown.distance),
            ..report
        };
        let (documents, removed) = (self.documents.as_ref(), self.removals.len());
        let summary = Summary {
            read: documents.map(|&documents| ReadCounts {
                documents: documents as u64,
                ..ReadCounts::default()
            }),
            kept: (self.len() - removed) as u64,
            removed: removed as u64,
            distance_means: self.distance_means.clone(),
            ..Summary::default()
        };
        let mut html = Vec::new();
        write_charts(&mut html, &summary, &report)?;
        let method = crate::tables::escaped(&self.method);
        let charts = String::from_utf8_lossy(&html);
        Ok(format!("{charts}<p><code>{method}</code></p>{}", self.removed().html()))
    }
}

/// Finds the near-duplicates among texts, and chooses which to remove.
///
/// The options are those of `simtool dedup`, with `_` for `-`. Fields in `keep="max:score"`, `prefer`,
/// `within` and `across` are columns of the table of texts.
///
/// Args:
#[doc = include_str!("../parameters/texts.txt")]
///     keep_field: Name of a column of the same table, or the values, one for each text. `keep="max"`
///         and `"min"` keep the document with the greatest or smallest value. `"newest"` and
///         `"oldest"` read these values as dates.
#[doc = include_str!("../parameters/progress.txt")]
///
/// Returns:
///     The kept and the removed rows, the clusters and the pairs, as tables.
#[doc = include_str!("../parameters/errors.txt")]
///
///     >>> texts = ["one two three four", "five six seven", "One, two, three four!"]
///     >>> simtool.deduplicate(texts)
///     NearDuplicates(3 documents, 2 kept, 1 removed, 1 pair; exact:similarity=0.8,shingle=words:3)
///     >>> simtool.deduplicate(texts, keep="max", keep_field=[2019, 2020, 2024]).kept.to_pydict()
///     {'row': [1, 2]}
#[doc = include_str!("../keywords/deduplicate.txt")]
#[pyfunction]
#[pyo3(signature = (texts, *, column=None, keep_field=None, progress=false, **options))]
pub(crate) fn deduplicate(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    column: Option<String>,
    keep_field: Option<&Bound<'_, PyAny>>,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<NearDuplicates> {
    let options = settings::options(options)?;
    let request = TextsRequest::parse(Task::Deduplicate, options, keep_field.is_some());
    let request = request.map_err(exception)?;
    let input = ImportedTexts::of(texts, column)?;
    let columns = fields::all(request.config(), keep_field, texts, &input)?;
    let rows = &input.rows()?;
    let documents = with_columns(Texts::of(rows), &columns)?;
    found(py, &request, progress, Sides::One(documents))
}

/// Finds the texts that are similar to a text of `against`. These texts are removed, and all other texts are kept. In
/// the table `removed`, the column `kept` has rows of `against`.
///
/// The options are those of `deduplicate`, except `keep` and `cluster`, which choose among documents of
/// one collection.
///
/// Args:
///     texts: Texts to find in the other collection, in any form that `deduplicate` takes.
///     against: Texts of the collection to compare with, in any of these forms.
///     column: Name of the column of the texts, in both tables. Needed if a table has several columns
///         of text.
#[doc = include_str!("../parameters/progress.txt")]
///
/// Returns:
///     The kept and the removed texts, and the pairs, as tables.
#[doc = include_str!("../parameters/errors.txt")]
///
///     >>> known = ["one two three four", "five six"]
///     >>> found = simtool.match(["seven eight", "One, two, three four!"], against=known)
///     >>> found.removed.to_pydict()
///     {'row': [1], 'kept': [0], 'similarity': [1.0]}
#[doc = include_str!("../keywords/match.txt")]
#[pyfunction(name = "match")]
#[pyo3(signature = (texts, *, against, column=None, progress=false, **options))]
pub(crate) fn match_(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    against: &Bound<'_, PyAny>,
    column: Option<String>,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<NearDuplicates> {
    let request = TextsRequest::parse(Task::Match, settings::options(options)?, false);
    let request = request.map_err(exception)?;
    let given = Sides::Two(texts, against);
    let inputs = given.try_map(|texts| ImportedTexts::of(texts, column.clone()))?;
    let columns = given
        .zip(inputs.as_ref())
        .try_map(|(texts, input)| fields::all(request.config(), None, texts, input))?;
    let rows = inputs.as_ref().try_map(ImportedTexts::rows)?;
    let texts = rows.as_ref().zip(columns.as_ref());
    let texts = texts.try_map(|(rows, columns)| with_columns(Texts::of(rows), columns))?;
    found(py, &request, progress, texts)
}

/// Adds the values of fields to the texts. `columns` has the values of each field, in the order of the fields.
fn with_columns<'t>(mut texts: Texts<'t>, columns: &'t [Vec<String>]) -> PyResult<Texts<'t>> {
    for (number, values) in columns.iter().enumerate() {
        texts = texts.with_field(number, values).map_err(exception)?;
    }
    Ok(texts)
}

/// Finds the near-duplicates among texts.
fn found(
    py: Python<'_>,
    request: &TextsRequest,
    progress: bool,
    texts: Sides<Texts<'_>>,
) -> PyResult<NearDuplicates> {
    let documents = texts.as_ref().map(Texts::len);
    let FoundInTexts { found, method, repeated_words } = run(py, progress, |progress| {
        find_in_texts(texts.as_ref().map(|texts| texts as &dyn Corpus), request, progress)
    })?;
    // A match has no table of all documents.
    let texts = (!documents.is_two()).then(|| TextColumns::new(&found, repeated_words));
    let coverage = found.coverage.map(|coverage| CoverageColumns {
        lost_words: coverage.documents.iter().map(|document| document.loss.lost).collect(),
        covered_by: coverage.documents.iter().map(|document| document.covering).collect(),
    });
    Ok(NearDuplicates {
        documents,
        close: found.close,
        removals: found.removals,
        coverage,
        texts,
        weight: request.annotation().weight.clone(),
        shown: ClosenessColumns::by(&method),
        method: method.to_string(),
        distance_means: method.distance_means(),
        memory: request.config().resources.memory,
        pairs: PyOnceLock::new(),
    })
}

/// Chooses which of the rows in pairs are kept.
///
/// Args:
///     pairs: Table with the columns `a`, `b` and, if known, `similarity` or `distance`, or an iterable
///         of tuples with these values.
///     rows: Number of documents. Needed if documents follow the last row that a pair names.
///     keep: Document to keep of a cluster, first or last.
///     cluster: Documents to remove: only documents in a pair with a kept document (proven), or also
///         documents that a chain of pairs links to it (components).
///     keep_count: Keep up to this number of documents of each cluster.
#[doc = include_str!("../parameters/resources.txt")]
///
/// Returns:
///     The kept and the removed rows, and the clusters, as tables.
///
/// Raises:
///     TypeError: `pairs` has another form, or a keyword does not exist here.
///     ValueError: A pair names a row that does not exist, or an option has a wrong value.
///
///     >>> simtool.cluster([(0, 3), (3, 4)], rows=5, cluster="components").clusters.to_pydict()
///     {'kept': [0], 'removed': [[3, 4]]}
#[pyfunction]
#[pyo3(signature = (pairs, rows=None, **options))]
pub(crate) fn cluster(
    py: Python<'_>,
    pairs: &Bound<'_, PyAny>,
    rows: Option<usize>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<NearDuplicates> {
    let mut options = settings::options(options)?;
    let config = Config::parse_without_method(&mut options).map_err(exception)?;
    settings::refuse_rest(&options)?;
    // The longest document, for example, cannot be found without texts.
    let rule = config.keep.only_rule().filter(|rule| matches!(rule, Keep::First | Keep::Last));
    let Some(keep) = rule.filter(|_| config.scope.is_none()) else {
        let rule = "needs the documents, but only their rows are known here: take first or last";
        let written = config.keep.written(&config.fields);
        return Err(exception(simtool::Error::config("keep", written, rule)));
    };
    let (mut pairs, shown) = given_pairs(pairs)?;
    // A document is always near itself, which is no reason to remove it. A pair counts in either
    // order of its rows.
    pairs.retain(|pair| pair.a != pair.b);
    for pair in &mut pairs {
        (pair.a, pair.b) = (pair.a.min(pair.b), pair.a.max(pair.b));
    }
    py.detach(|| {
        pairs.sort_by(|one, other| {
            (one.a, one.b).cmp(&(other.a, other.b)).then(other.closeness.compare(one.closeness))
        });
        // Of a pair that is given several times, the closest one is first and is kept.
        pairs.dedup_by_key(|pair| (pair.a, pair.b));
    });
    let named = pairs.iter().map(|pair| pair.b as usize + 1).max().unwrap_or(0);
    let documents = rows.unwrap_or(named);
    if documents < named {
        let rule = format!("rows: must be at least {named}, as the pairs have row {}", named - 1);
        return Err(PyValueError::new_err(rule));
    }
    let groups = Sides::One(Groups::default());
    let close = Close::new(groups, pairs.into(), Closeness::Distance(0));
    let removals = py.detach(|| {
        let around = Neighbourhood::new(&close);
        let prefer = |a: u32, b: u32| if keep == Keep::Last { b.cmp(&a) } else { a.cmp(&b) };
        let removals = match config.clusters {
            ClusterRule::Proven => keep::keep_preferred(&around, prefer),
            ClusterRule::Components => components::keep_one_each(&around, prefer),
        };
        keep_several(removals, config.keep_count.0, prefer)
    });
    Ok(NearDuplicates {
        documents: Sides::One(documents),
        close,
        removals,
        coverage: None,
        texts: None,
        weight: ClusterWeight::default(),
        shown,
        method: "pairs".to_owned(),
        distance_means: None,
        memory: config.resources.memory,
        pairs: PyOnceLock::new(),
    })
}
