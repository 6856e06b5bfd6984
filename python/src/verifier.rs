//! Comparison of texts in a distributed run: which texts are equal, and which texts with close fingerprints are similar
//! enough.

use crate::columns::{ColumnData, Values};
use crate::engine::{fitted, group_pairs};
use crate::errors::exception;
use crate::numbers::{self, whole_numbers};
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::stages::close::ClosePair;
use simtool::stages::matches::ValuePair;
use simtool::{Error, pipeline};

/// Compares texts for a method with the setting `verify`.
#[pyclass(frozen, module = "simtool._simtool")]
pub(crate) struct Verifier(pipeline::Verifier);

#[pymethods]
impl Verifier {
    /// Creates the verifier for the options of `simtool dedup`. `learned` is the model for the comparison of texts.
    #[new]
    #[pyo3(signature = (learned=None, **options))]
    fn new(learned: Option<&[u8]>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let mut options = settings::engine_options(options)?;
        options.complete(&[("method", "simhash")]);
        let mut config = settings::config(options)?;
        // Engines run one task for each core, so a task must not start threads.
        config.resources.threads = 1;
        let verifier =
            pipeline::Verifier::new(&config.method, &fitted(learned)?, &config.resources);
        let verifier = verifier.map_err(exception)?.ok_or_else(|| {
            exception(Error::config("method", &config.method, "compares no texts: give `verify`"))
        })?;
        Ok(Self(verifier))
    }

    /// Returns a table with the column `group`, which has two 64-bit words for each text. Texts with equal fingerprints
    /// and equal sets of terms have the same words.
    fn groups(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        fingerprints: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        let (input, rows) = (ImportedTexts::of(texts, None)?, numbers::fingerprints(fingerprints)?);
        let texts = input.rows()?;
        if texts.len() != rows.len() {
            return Err(PyValueError::new_err("fingerprints: must be one for each text"));
        }
        let words = py.detach(|| {
            let numbers = self.0.numbers(&texts, &rows);
            let words = numbers.iter().flat_map(|&number| [number as u64, (number >> 64) as u64]);
            words.collect()
        });
        Ok(Table::new(vec![ColumnData::new("group", Values::Words(2, words))]))
    }

    /// Returns the similar pairs among texts with close fingerprints: a table of the rows `a` and `b`, their
    /// `similarity` and their `distance`.
    ///
    /// `owners` has the index of the fingerprint of each text, from 0. `pairs` is a table of two such indexes, `a` and
    /// `b`, and their `distance`. For a pair of a fingerprint with itself, the texts of this fingerprint are compared
    /// with each other.
    fn similar(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        owners: &Bound<'_, PyAny>,
        pairs: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        let (input, owners) = (ImportedTexts::of(texts, None)?, whole_numbers(owners, "owners")?);
        let texts = input.rows()?;
        if texts.len() != owners.len() {
            return Err(PyValueError::new_err("owners: must be one for each text"));
        }
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (row, owner) in (0..).zip(owners) {
            let owner = usize::try_from(owner).ok().filter(|&owner| owner < texts.len());
            let Some(owner) = owner else {
                return Err(PyValueError::new_err("owners: must be numbered from 0"));
            };
            // Owners come in any order, so the list grows to the greatest number so far.
            groups.resize_with(groups.len().max(owner + 1), Vec::new);
            groups[owner].push(row);
        }
        let pairs = group_pairs(pairs, groups.len())?;
        let pairs = pairs.iter().map(|&ClosePair { a, b, closeness }| {
            let distance = closeness.distance().unwrap_or_default();
            ValuePair { a, b, distance }
        });
        let pairs: Vec<ValuePair> = pairs.collect();
        let found = py
            .detach(|| self.0.similar(&texts, &groups.iter().collect(), &pairs))
            .map_err(exception)?;
        let column = |name, of: fn(&ClosePair) -> u32| {
            ColumnData::new(name, Values::U32(found.iter().map(of).collect()))
        };
        let similarity = |pair: &ClosePair| pair.closeness.similarity().unwrap_or_default();
        Ok(Table::new(vec![
            column("a", |pair| pair.a),
            column("b", |pair| pair.b),
            ColumnData::new("similarity", Values::F64(found.iter().map(similarity).collect())),
            column("distance", |pair| pair.closeness.distance().unwrap_or_default()),
        ]))
    }
}
