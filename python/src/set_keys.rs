//! What a distributed run asks of one machine where sets are compared: their keys, and which of those
//! that come together under one may be alike.

use crate::columns::{ColumnData, Values};
use crate::engine::{fitted, whole_numbers};
use crate::errors::exception;
use crate::numbers;
use crate::settings;
use crate::tables::Table;
use crate::texts::Input;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::pipeline::{self, SetUnderKey};

/// Pairs after which those that were found are handed out.
const MOST_PAIRS: usize = 1 << 20;

/// Numbers of a set under a key: this, what it and all behind it weigh, the weight of the set, its side, and
/// the two of its class.
const NUMBERS: usize = 6;
type SetOfKey = [u64; NUMBERS];

/// Sets that go together, so that as many such as an engine hands out at once are no more than 60 MB.
const MOST_OF_ROW: usize = 128;

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

    /// The sets that stand under keys, those of one of `parts` parts of the keys side by side: a table of the
    /// column `set`, the numbers of each, and a table of the `part` and its `end` in the first one, a
    /// line for so many sets as go together at the most. The keys of a set are those up to its `ends`, each
    /// with its rest.
    #[staticmethod]
    fn parted(
        py: Python<'_>,
        classes: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        sides: &Bound<'_, PyAny>,
        keys: &Bound<'_, PyAny>,
        ends: &Bound<'_, PyAny>,
        parts: u32,
    ) -> PyResult<(Table, Table)> {
        let classes = of_width(classes, "classes", 2)?;
        let keys = of_width(keys, "keys", 2)?;
        let [weights, sides, ends] = [(weights, "weights"), (sides, "sides"), (ends, "ends")]
            .map(|(given, name)| whole_numbers(given, name));
        let (weights, sides, ends) = (weights?, sides?, ends?);
        let lengths = [classes.len() / 2, weights.len(), sides.len()];
        if lengths.into_iter().any(|length| length != ends.len()) || parts == 0 {
            return Err(PyValueError::new_err("weights, sides, ends: must be one for each class"));
        }
        let (sets, bounds) = py.detach(|| {
            let (classes, keys) = (classes.as_chunks::<2>().0, keys.as_chunks::<2>().0);
            let mut sets: Vec<SetOfKey> = Vec::with_capacity(keys.len());
            for (row, &end) in ends.iter().enumerate() {
                let [low, high] = classes[row];
                let [weight, side] = [weights[row], sides[row]].map(i64::cast_unsigned);
                let begin = sets.len();
                let end = usize::try_from(end).unwrap_or(0).clamp(begin, keys.len());
                let of_key = |&[term, rest]: &[u64; 2]| [term, rest, weight, side, low, high];
                sets.extend(keys[begin..end].iter().map(of_key));
            }
            side_by_side(&sets, parts)
        });
        let (parts, ends) = bounds.into_iter().unzip();
        Ok((
            Table::new(vec![ColumnData::new("set", Values::Words(NUMBERS, sets))]),
            Table::new(vec![
                ColumnData::new("part", Values::U32(parts)),
                ColumnData::new("end", Values::U32(ends)),
            ]),
        ))
    }

    /// The pairs of sets with one key that may be alike enough, each under the lowest of them: a table of the
    /// classes `a` and `b` and of the `term`, and where to go `on` for more of them, if there may be. All
    /// sets of a key are given, as [`Self::parted`] has them. If `is_sided`, pairs of one of side 0 and one
    /// of side 1.
    #[pyo3(signature = (sets, is_sided, on=(0, 0)))]
    fn candidates(
        &self,
        py: Python<'_>,
        sets: &Bound<'_, PyAny>,
        is_sided: bool,
        on: (usize, usize),
    ) -> PyResult<(Table, Option<(usize, usize)>)> {
        let sets = of_width(sets, "sets", NUMBERS)?;
        let (found, next) = py.detach(|| {
            let mut sets = sets.as_chunks::<NUMBERS>().0.to_vec();
            // Where a call goes on, the order is that of the one before.
            sets.sort_unstable();
            let (mut begin, mut from) = on;
            let mut found: Vec<[u64; 5]> = Vec::new();
            let rest = sets.get(begin..).unwrap_or_default();
            for run in rest.chunk_by(|one, other| one[0] == other[0]) {
                // Most sets are alone under their key.
                if run.len() == 1 {
                    begin += 1;
                    continue;
                }
                let under: Vec<SetUnderKey> = run.iter().map(under_key).collect();
                let most = MOST_PAIRS.saturating_sub(found.len());
                let (pairs, next) = self.0.candidates(&under, is_sided, from, most);
                found.extend(pairs.iter().map(|&(a, b)| pair(&run[a], &run[b], is_sided)));
                from = next.unwrap_or_default();
                if next.is_none() {
                    begin += run.len();
                }
                if found.len() >= MOST_PAIRS {
                    break;
                }
            }
            // Two sets come together under each key that they share.
            found.sort_unstable();
            found.dedup_by_key(|pair| [pair[0], pair[1], pair[2], pair[3]]);
            (found, (begin < sets.len()).then_some((begin, from)))
        });
        let words = |at: usize| found.iter().flat_map(|pair| [pair[at], pair[at + 1]]).collect();
        Ok((
            Table::new(vec![
                ColumnData::new("a", Values::Words(2, words(0))),
                ColumnData::new("b", Values::Words(2, words(2))),
                ColumnData::new("term", Values::U64(found.iter().map(|pair| pair[4]).collect())),
            ]),
            next,
        ))
    }
}

/// The sets of one part of the keys after those of another, and each part with the end of its sets, several
/// times where these are many.
fn side_by_side(sets: &[SetOfKey], parts: u32) -> (Vec<u64>, Vec<(u32, u32)>) {
    // Keys are hashes.
    let part = |set: &SetOfKey| ((set[0] >> 32) % u64::from(parts)) as usize;
    let mut ends = vec![0_usize; parts as usize];
    for set in sets {
        ends[part(set)] += 1;
    }
    let (mut bounds, mut begin) = (Vec::new(), 0);
    for (number, end) in (0..).zip(&mut ends) {
        let count = std::mem::replace(end, begin);
        let upto = begin + count;
        while begin < upto {
            begin = upto.min(begin + MOST_OF_ROW);
            bounds.push((number, begin as u32));
        }
    }
    let mut words = vec![0; sets.len() * NUMBERS];
    let places = words.as_chunks_mut::<NUMBERS>().0;
    for set in sets {
        let place = &mut ends[part(set)];
        places[*place] = *set;
        *place += 1;
    }
    (words, bounds)
}

fn under_key(&[_, rest, weight, side, ..]: &SetOfKey) -> SetUnderKey {
    SetUnderKey { is_second: side == 1, weight, rest }
}

/// The classes of two sets, in the order of the sides or in any that is always the same, and their key.
fn pair(a: &SetOfKey, b: &SetOfKey, is_sided: bool) -> [u64; 5] {
    let ([.., a_low, a_high], [.., b_low, b_high]) = (*a, *b);
    let is_swapped = !is_sided && [b_low, b_high] < [a_low, a_high];
    let [c, d] = if is_swapped { [b, a] } else { [a, b] };
    [c[4], c[5], d[4], d[5], a[0]]
}

/// The words of rows of so many.
fn of_width(given: &Bound<'_, PyAny>, name: &str, width: usize) -> PyResult<Vec<u64>> {
    let rows = numbers::fingerprints(given)?;
    if rows.shape.words() != width {
        return Err(PyValueError::new_err(format!("{name}: must be rows of {width} numbers")));
    }
    Ok(rows.words.into_owned())
}
