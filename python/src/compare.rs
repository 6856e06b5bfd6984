//! Comparison of two texts.

use crate::plain_values::{Reduced, reduced};
use crate::settings;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::stages::similarity::Similarity;

/// The similarity of two texts: their shared shingles, and the distance of their fingerprints.
///
///     >>> compared = simtool.compare("one two three four", "one two three five")
///     >>> compared.shared, compared.shingles
///     (1, (2, 2))
#[pyclass(frozen, module = "simtool", get_all)]
pub(crate) struct Comparison {
    /// Jaccard similarity of the sets of shingles. `None` if neither text has a shingle.
    pub(crate) similarity: Option<f64>,
    /// Distance of the fingerprints. `None` if one text has no shingle.
    pub(crate) distance: Option<u32>,
    /// Number of shingles that both texts have.
    pub(crate) shared: u64,
    /// Number of distinct shingles of the first and of the second text.
    pub(crate) shingles: (u64, u64),
}

#[pymethods]
impl Comparison {
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let Self { similarity, distance, shared, shingles } = *self;
        reduced(py, "_comparison", (similarity, distance, shared, shingles))
    }

    fn __repr__(&self) -> String {
        let shown = |value: Option<String>| value.unwrap_or_else(|| "None".to_owned());
        // A similarity just below 1 is not rounded to 1, which means equal.
        let rounded = |similarity: f64| if similarity < 1.0 { similarity.min(0.999) } else { 1.0 };
        let similarity = self.similarity.map(|similarity| format!("{:.3}", rounded(similarity)));
        let similarity = shown(similarity);
        let distance = shown(self.distance.map(|distance| distance.to_string()));
        let (shared, shingles) = (self.shared, self.shingles);
        format!(
            "Comparison(similarity={similarity}, distance={distance}, shared={shared}, \
             shingles={shingles:?})"
        )
    }
}

/// Compares two texts by the terms that the method compares. The options are those of `simtool dedup`.
///
/// Args:
///     a: First text.
///     b: Second text.
///
/// Returns:
///     The similarity and, if the method has fingerprints, their distance.
///
/// Raises:
///     TypeError: A keyword does not exist here.
///     ValueError: An option has a wrong value.
///
///     >>> simtool.compare("one two three four", "one two three five", method="simhash:bits=64")
///     Comparison(similarity=0.333, distance=17, shared=1, shingles=(2, 2))
#[doc = include_str!("../keywords/compare.txt")]
#[pyfunction]
#[pyo3(signature = (a, b, **options))]
pub(crate) fn compare(
    py: Python<'_>,
    a: &str,
    b: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Comparison> {
    let config = settings::config(settings::options(options)?)?;
    let compared = py.detach(|| simtool::compare(a, b, &config));
    let [first, second] = compared.shingles;
    Ok(Comparison {
        similarity: compared.similarity.map(Similarity::ratio),
        distance: compared.distance,
        shared: compared.shared,
        shingles: (first, second),
    })
}
