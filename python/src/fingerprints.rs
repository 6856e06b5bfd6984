//! Fingerprints of texts, and pairs of close fingerprints.

use crate::capsules::{array_capsules, schema_capsule};
use crate::columns::{ColumnData, Values};
use crate::errors::exception;
use crate::numbers;
use crate::plain_values::{Reduced, column_values, reduced};
use crate::run::run;
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyTuple};
use simtool::Config;
use simtool::method::{Fitted, Method};
use simtool::pipeline::{WithoutWords, fingerprint_by_fitted, fingerprint_collection};
use simtool::run::join_fingerprints::{list_pairs, plan_join};
use simtool::stages::context::Context;
use simtool::stages::fingerprint_rows::{FingerprintRows, recipe_difference};
use simtool::stages::hamming::joins;
use simtool::stages::read::Texts;
use simtool::stages::sides::Sides;
use std::sync::Arc;

/// Fingerprints: one row for each text. The row of a text without words is null.
///
///     >>> made = simtool.fingerprint(["one two three four", None], method="simhash:bits=128")
///     >>> len(made), made.bits, made.null_count
///     (2, 128, 1)
///     >>> made.recipe.split("/")[0]
///     'simhash128'
#[pyclass(frozen, module = "simtool")]
pub(crate) struct Fingerprints {
    column: Arc<ColumnData>,
    /// The rows without their 64-bit words, which are in `column`.
    rows: FingerprintRows<'static>,
    method: Method,
    /// Model that was learned from the texts for their fingerprints.
    fitted: Fitted,
}

impl Fingerprints {
    pub(crate) fn new(mut rows: FingerprintRows<'static>, method: Method, fitted: Fitted) -> Self {
        let words = std::mem::take(rows.words.to_mut());
        let values = Values::Words(rows.shape.words(), words);
        let column = ColumnData::nullable("fingerprint", values, |row| rows.has_fingerprint(row));
        Self { column, rows, method, fitted }
    }

    /// Returns the rows. The words are borrowed from the column.
    fn rows(&self) -> FingerprintRows<'_> {
        let words = self.column.words().map_or(&[][..], |(_, words)| words);
        FingerprintRows { words: words.into(), ..self.rows.clone() }
    }
}

#[pymethods]
impl Fingerprints {
    /// The recipe of the fingerprints. Fingerprints of different recipes cannot be compared.
    #[getter]
    fn recipe(&self) -> Option<&str> {
        self.rows.recipe.as_deref()
    }

    /// Number of bits of a fingerprint.
    #[getter]
    fn bits(&self) -> u32 {
        self.rows.shape.row_bits()
    }

    /// Number of texts without words.
    #[getter]
    fn null_count(&self) -> usize {
        self.column.values.null_count()
    }

    fn __len__(&self) -> usize {
        self.column.values.len()
    }

    /// Returns a NumPy array of `uint64` without copying. If a row has several words, the array has two dimensions, and
    /// the lowest word of a row comes first. Rows without a fingerprint are zeros.
    fn to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Table::new(vec![self.column.clone()]).to_numpy(py)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.column.field())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        drop(requested_schema);
        array_capsules(py, &self.column.field(), &self.column.values)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let fitted = PyBytes::new(py, &self.fitted.to_bytes());
        reduced(py, "_fingerprints", (self.method.to_string(), fitted, column_values(&self.column)))
    }

    fn __repr__(&self) -> String {
        let (count, shape) = (self.__len__(), self.rows.shape);
        let recipe = self.recipe().unwrap_or("of unknown recipe");
        format!("Fingerprints({count} rows of {shape}; {recipe})")
    }
}

/// Computes the fingerprint of every text. The options are those of `simtool fingerprint`.
///
/// Args:
#[doc = include_str!("../parameters/texts.txt")]
///     by: Fingerprints of other texts. Their method is used, with the model learned from those texts,
///         so that both can be compared even if weights or words depend on the collection. With `by`,
///         only `threads`, `max_memory` and `tmp_dir` may be given.
#[doc = include_str!("../parameters/progress.txt")]
///
/// Returns:
///     One fingerprint for each text. A text without words has a null.
#[doc = include_str!("../parameters/errors.txt")]
///
///     >>> made = simtool.fingerprint(["one two three four", "five six"], method="simhash:weight=idf")
///     >>> later = simtool.fingerprint(["One, two, three four!"], by=made)
///     >>> simtool.pairs(later, against=made).to_pydict()
///     {'a': [0], 'b': [0], 'distance': [0]}
#[doc = include_str!("../keywords/fingerprint.txt")]
#[pyfunction]
#[pyo3(signature = (texts, *, column=None, by=None, progress=false, **options))]
pub(crate) fn fingerprint(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    column: Option<String>,
    by: Option<PyRef<'_, Fingerprints>>,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Fingerprints> {
    let mut options = settings::options(options)?;
    let config = if let Some(by) = &by {
        let (method, resources) = (by.method.clone(), settings::resources(options)?);
        Config { method, resources, ..Config::default() }
    } else {
        options.complete(&[("method", "simhash")]);
        settings::config(options)?
    };
    let input = ImportedTexts::of(texts, column)?;
    let rows = &input.rows()?;
    let fitted = by.as_ref().map(|by| &by.fitted);
    let made = run(py, progress, |progress| {
        let (recipe, resources, texts) =
            (config.method.recipe(), &config.resources, Texts::of(rows));
        match fitted {
            Some(fitted) => fingerprint_by_fitted(&texts, recipe, fitted, resources, progress),
            None => {
                fingerprint_collection(&texts, recipe, resources, WithoutWords::Allowed, progress)
            }
        }
    })?;
    Ok(Fingerprints::new(made.rows, config.method, made.fitted))
}

/// Fingerprints as an object of this package, or imported from Arrow or NumPy.
enum Given<'py> {
    Ours(PyRef<'py, Fingerprints>),
    Others(FingerprintRows<'static>),
}

impl<'py> Given<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        match object.extract::<PyRef<'py, Fingerprints>>() {
            Ok(ours) => Ok(Self::Ours(ours)),
            Err(_) => numbers::fingerprints(object).map(Self::Others),
        }
    }

    fn rows(&self) -> FingerprintRows<'_> {
        match self {
            Self::Ours(ours) => ours.rows(),
            Self::Others(rows) => rows.clone(),
        }
    }
}

/// Returns all pairs of fingerprints that differ in at most `max_distance`.
///
/// Args:
///     fingerprints: Result of `fingerprint`, or 64-bit integers in Arrow or NumPy: one for each
///         document, or a row of several.
///     max_distance: Maximum distance of a pair, inclusive.
///     against: Fingerprints of another collection, of the same kinds. Only pairs between the two are returned.
///     index: Search method, as in `simtool join` and `simtool search`. By default, the planner chooses.
#[doc = include_str!("../parameters/progress.txt")]
#[doc = include_str!("../parameters/resources.txt")]
///
/// Returns:
///     Table with the columns `a`, `b` and `distance`. With `against`, `b` is a row of `against`.
///
/// Raises:
///     TypeError: The two collections were made by other rules, or a value has another type.
///     ValueError: `max_distance` or an option has a wrong value.
///     MemoryError: `max_memory` is too small.
///
///     >>> simtool.pairs(simtool.fingerprint(["a b c d", "e f g", "A b, c d!"]), max_distance=3)
///     a  b  distance
///     0  2         0
///     [1 row]
#[pyfunction]
#[pyo3(signature = (fingerprints, max_distance=3, *, against=None, index=None, progress=false, **options))]
pub(crate) fn pairs(
    py: Python<'_>,
    fingerprints: &Bound<'_, PyAny>,
    max_distance: u32,
    against: Option<&Bound<'_, PyAny>>,
    index: Option<&str>,
    progress: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Table> {
    let resources = settings::resources(settings::options(options)?)?;
    let index = index.map(joins::find).transpose().map_err(exception)?;
    let given = Given::of(fingerprints)?;
    let against = against.map(Given::of).transpose()?;
    let (rows, against) = (&given.rows(), &against.as_ref().map(Given::rows));
    let recipes =
        against.as_ref().and_then(|against| rows.recipe.as_ref().zip(against.recipe.as_ref()));
    if let Some(difference) = recipes.and_then(|(a, b)| recipe_difference(a, b)) {
        let rule = format!("fingerprints do not compare with those of `against`: {difference}");
        return Err(PyTypeError::new_err(rule));
    }
    let found = run(py, progress, |progress| {
        let rows = match against {
            None => Sides::One(rows),
            Some(against) => Sides::Two(rows, against),
        };
        let plan = plan_join(rows, max_distance, index, resources.memory)?;
        list_pairs(rows, &plan, &Context::with_pool(&resources, progress)?)
    })?;
    let column = |name, of: fn(&simtool::stages::matches::ValuePair) -> u32| {
        ColumnData::new(name, Values::U32(found.iter().map(of).collect()))
    };
    Ok(Table::new(vec![
        column("a", |pair| pair.a),
        column("b", |pair| pair.b),
        column("distance", |pair| pair.distance),
    ]))
}
