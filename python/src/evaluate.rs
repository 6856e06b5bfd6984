//! Evaluation of methods on texts whose near-duplicates are known.

use crate::errors::exception;
use crate::given_pairs::given_pairs;
use crate::plain_values::{Reduced, reduced};
use crate::run::run;
use crate::settings;
use crate::tables::escaped;
use crate::texts::ImportedTexts;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::evaluate::truth::TruthFormat;
use simtool::evaluate::{DocumentsInMemory, Labelled, Labels, evaluate as evaluated};
use simtool::method::presets::NamedMethod;
use simtool::stages::evaluation::Evaluation as Evaluated;
use simtool::stages::read::Texts;
use simtool::write::evaluation::{overview, write_json, write_page, write_table};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// The quality of methods: precision, recall and F1 at every threshold.
///
///     >>> measured = simtool.evaluate(["a b c d", "a b c d", "e f g"], [(0, 1)], "exact")
///     >>> measured.to_html()[:15]
///     '<!DOCTYPE html>'
#[pyclass(frozen, module = "simtool")]
pub(crate) struct Evaluation {
    /// Text of `simtool eval --format json`.
    pub(crate) json: String,
    /// Page of `simtool eval --report`, as HTML.
    pub(crate) page: String,
    /// Table that `simtool eval` prints.
    pub(crate) table: String,
    /// Picture of `simtool eval --plot`, as SVG.
    pub(crate) picture: String,
}

impl Evaluation {
    fn new(evaluation: &Evaluated) -> io::Result<Self> {
        let (mut json, mut page, mut table) = (Vec::new(), Vec::new(), Vec::new());
        write_json(&mut json, evaluation)?;
        write_page(&mut page, evaluation)?;
        write_table(&mut table, evaluation)?;
        let [json, page, table] =
            [json, page, table].map(|text| String::from_utf8_lossy(&text).into_owned());
        Ok(Self { json, page, table, picture: overview(evaluation) })
    }
}

#[pymethods]
impl Evaluation {
    /// Returns the output of `simtool eval --format json` as a dict.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (&self.json,))
    }

    /// Returns the page of `simtool eval --report`: curves and wrong pairs in HTML.
    fn to_html(&self) -> &str {
        &self.page
    }

    /// Returns the picture of `simtool eval --plot`: F1 of all methods, and their precision and recall, in SVG.
    fn to_svg(&self) -> &str {
        &self.picture
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let Self { json, page, table, picture } = self;
        reduced(py, "_evaluation", (json, page, table, picture))
    }

    fn __repr__(&self) -> &str {
        &self.table
    }

    fn _repr_html_(&self) -> String {
        format!("<pre>{}</pre>", escaped(&self.table))
    }
}

/// Measures methods on texts whose near-duplicates are known.
///
/// All pairs are compared, so n texts take n² comparisons.
///
/// Args:
#[doc = include_str!("../parameters/texts.txt")]
///     truth: The true pairs of rows, in any form that `cluster` accepts.
///     methods: Names of presets and methods with their options, as in `simtool eval --method`: a text
///         with commas or a list. By default, all presets.
///     hash_seeds: Seeds of further hash functions, as in `simtool eval --seed`.
#[doc = include_str!("../parameters/progress.txt")]
#[doc = include_str!("../parameters/resources.txt")]
///
/// Returns:
///     Precision, recall and F1 of each method at all thresholds.
///
/// Raises:
///     TypeError: A text is not `str`, or a keyword does not exist here.
///     ValueError: A method or an option is wrong, or there is no true pair.
///
///     >>> texts = ["a b c d e f g h", "a b c d e f g i", "j k l m n o p", "q r s t u v"]
///     >>> measured = simtool.evaluate(texts, [(0, 1)], ["exact", "word-simhash"])
///     >>> [method["method"] for method in measured.to_dict()["methods"]]
///     ['exact', 'word-simhash']
#[pyfunction]
#[pyo3(signature = (texts, truth, methods=None, *, hash_seeds=Vec::new(), column=None, progress=false, **options))]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the Python function")]
pub(crate) fn evaluate(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    truth: &Bound<'_, PyAny>,
    methods: Option<&Bound<'_, PyAny>>,
    hash_seeds: Vec<u64>,
    column: Option<String>,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Evaluation> {
    let resources = settings::resources(settings::options(options)?)?;
    let methods = match methods {
        None => NamedMethod::all(),
        Some(methods) => NamedMethod::parse_list(&match methods.extract::<String>() {
            Ok(list) => list,
            Err(_) => methods.extract::<Vec<String>>()?.join(","),
        }),
    };
    let methods = methods.map_err(exception)?;
    let mut lines = String::new();
    for pair in given_pairs(truth)?.0 {
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{}\t{}", pair.a, pair.b);
    }
    let input = ImportedTexts::of(texts, column)?;
    let rows = &input.rows()?;
    let measured = run(py, progress, |progress| {
        // The labels are pairs of row numbers, so these are the IDs of the documents.
        let ids: Vec<String> = (0..rows.len()).map(|row| row.to_string()).collect();
        let texts = Texts::of(rows).with_ids(&ids)?;
        let documents = DocumentsInMemory::read(&texts, None, resources.threads, progress)?;
        let (path, bytes) = (Path::new("truth"), lines.as_bytes());
        let labels = Labels { path, bytes, format: TruthFormat::Pairs };
        let labelled = Labelled::new("texts", documents, labels, None)?;
        evaluated(&[labelled], &methods, &hash_seeds, &resources, progress)
    })?;
    Ok(Evaluation::new(&measured)?)
}
