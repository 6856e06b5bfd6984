//! What a distributed run asks of one machine where sets are compared: their keys, and which of those
//! that come together under one may be alike.

use crate::columns::{ColumnData, Values};
use crate::engine::{fitted, whole_numbers};
use crate::errors::exception;
use crate::settings;
use crate::tables::Table;
use crate::texts::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::pipeline::{self, SetUnderKey};

/// Pairs after which those that were found are handed out.
const MOST_PAIRS: usize = 1 << 20;

/// Finds keys of sets by a method that compares these.
#[pyclass(frozen, module = "simtool._simtool")]
pub(crate) struct SetKeys(pipeline::SetKeys);

#[pymethods]
impl SetKeys {
    /// What finds keys for the options of `simtool dedup`; by what was `learned` terms are ordered.
    #[new]
    #[pyo3(signature = (learned=None, **options))]
    fn new(learned: Option<&[u8]>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let config = settings::config(settings::options(options)?)?;
        let keys = pipeline::SetKeys::new(&config.method, &fitted(learned)?, config.resources.isa);
        keys.map(Self).map_err(exception)
    }

    /// The sets of texts: a table of the column `group`, two words that equal sets share and sets without
    /// terms lack, and of the `weight`; and a table of the keys, by the `row` of the text: the `term` and
    /// what it and all behind it weigh, the `rest`.
    fn keys(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<(Table, Table)> {
        let input = Input::of(texts, None)?;
        let rows = input.rows()?;
        let sets = py.detach(|| self.0.of(&rows));
        let words = |number: u128| [number as u64, (number >> 64) as u64];
        let groups = sets.iter().flat_map(|set| words(set.as_ref().map_or(0, |set| set.number)));
        let weights = sets.iter().map(|set| set.as_ref().map_or(0, |set| set.weight)).collect();
        let (mut rows, mut terms, mut rests) = (Vec::new(), Vec::new(), Vec::new());
        for (row, set) in (0..).zip(&sets) {
            for &(term, rest) in set.iter().flat_map(|set| &set.keys) {
                rows.push(row);
                terms.push(term);
                rests.push(rest);
            }
        }
        let groups = Values::Words(2, groups.collect());
        let groups = ColumnData::nullable("group", groups, |row| sets[row].is_some());
        let keys = [
            ("row", Values::U32(rows)),
            ("term", Values::U64(terms)),
            ("rest", Values::U64(rests)),
        ];
        let keys = keys.map(|(name, values)| ColumnData::new(name, values));
        let weights = ColumnData::new("weight", Values::U64(weights));
        Ok((Table::new(vec![groups, weights]), Table::new(keys.into())))
    }

    /// The pairs of sets with one key that may be alike enough: a table of the rows `a` and `b`, and where to
    /// go `on` for more of them, if there may be. All sets of a key are given, and neighbours. With `sides`,
    /// pairs of one of side 0 and one of side 1.
    #[pyo3(signature = (terms, weights, rests, sides=None, on=(0, 0)))]
    fn candidates(
        &self,
        py: Python<'_>,
        terms: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        rests: &Bound<'_, PyAny>,
        sides: Option<&Bound<'_, PyAny>>,
        on: (usize, usize),
    ) -> PyResult<(Table, Option<(usize, usize)>)> {
        let terms = whole_numbers(terms, "terms")?;
        let [weights, rests] = [whole_numbers(weights, "weights")?, whole_numbers(rests, "rests")?];
        let sides = sides.map(|sides| whole_numbers(sides, "sides")).transpose()?;
        let lengths = [Some(weights.len()), Some(rests.len()), sides.as_ref().map(Vec::len)];
        if lengths.into_iter().flatten().any(|length| length != terms.len()) {
            return Err(PyValueError::new_err("weights: must be one for each term"));
        }
        let under = |row: usize| SetUnderKey {
            is_second: sides.as_ref().is_some_and(|sides| sides[row] == 1),
            weight: weights[row].cast_unsigned(),
            rest: rests[row].cast_unsigned(),
        };
        let (mut begin, mut from) = on;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        py.detach(|| {
            for run in terms.get(begin..).unwrap_or_default().chunk_by(|one, other| one == other) {
                let under: Vec<SetUnderKey> = (begin..begin + run.len()).map(under).collect();
                let most = MOST_PAIRS.saturating_sub(a.len());
                let (found, next) = self.0.candidates(&under, sides.is_some(), from, most);
                a.extend(found.iter().map(|&(a, _)| (begin + a) as u32));
                b.extend(found.iter().map(|&(_, b)| (begin + b) as u32));
                from = next.unwrap_or_default();
                if next.is_none() {
                    begin += run.len();
                }
                if a.len() >= MOST_PAIRS {
                    break;
                }
            }
        });
        let columns =
            [("a", a), ("b", b)].map(|(name, rows)| ColumnData::new(name, Values::U32(rows)));
        let next = (begin < terms.len()).then_some((begin, from));
        Ok((Table::new(columns.into()), next))
    }
}
