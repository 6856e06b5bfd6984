//! Comparison of sets in a distributed run: the keys of sets, and the candidate pairs among sets with the same key.

use crate::columns::{ColumnData, Values};
use crate::engine::fitted;
use crate::errors::exception;
use crate::numbers::{self, whole_numbers};
use crate::settings;
use crate::tables::Table;
use crate::texts::ImportedTexts;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::pipeline::{self, SetUnderKey};

/// Number of pairs after which a batch of results is returned.
const MOST_PAIRS: usize = 1 << 20;

/// Number of 64-bit numbers that describe a set under a key: the term, the weight of this term and of all later terms
/// of the set, the weight of the set, its side, and the two words of its class. Equal sets have the same class.
const NUMBERS: usize = 6;
type SetOfKey = [u64; NUMBERS];

/// Maximum number of sets that an engine moves together as one row of a table. An engine hands out several such rows at
/// once, which then take at most 60 MB.
const MOST_OF_ROW: usize = 128;

/// Finds the keys of sets for a method that compares sets.
#[pyclass(frozen, module = "simtool._simtool")]
pub(crate) struct SetKeys(pipeline::SetKeys);

#[pymethods]
impl SetKeys {
    /// Creates the finder of keys for the options of `simtool dedup`. `learned` is a model with the order of the terms.
    #[new]
    #[pyo3(signature = (learned=None, **options))]
    fn new(learned: Option<&[u8]>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let config = settings::config(settings::engine_options(options)?)?;
        let keys = pipeline::SetKeys::new(&config.method, &fitted(learned)?, config.resources.isa);
        keys.map(Self).map_err(exception)
    }

    /// Returns the sets of texts and their keys as two tables.
    ///
    /// The first table has a row for each text: `group`, two 64-bit words that equal sets share (null for a set without
    /// terms), and `weight`. The second table has a row for each key: the `row` of the text, the `term`, and `rest`,
    /// the weight of this term and of all later terms of the set.
    fn keys(&self, py: Python<'_>, texts: &Bound<'_, PyAny>) -> PyResult<(Table, Table)> {
        let input = ImportedTexts::of(texts, None)?;
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

    /// Sorts sets by their keys into `parts` parts, and returns two tables. A key belongs to one part.
    ///
    /// `classes`, `weights` and `sides` have a row for each set. `keys` has the keys of all sets, each with its `rest`,
    /// and `ends` has the index in `keys` at which the keys of each set end.
    ///
    /// The first table has the column `set`, the numbers of each set under each of its keys. Sets of the same part are
    /// neighbours. The second table has a row for each group of sets that are moved together: the `part`, and the `end`
    /// of the group in the first table.
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
                // Ends come from the engine, so wrong ones are clamped and cannot panic.
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

    /// Returns the candidate pairs: two sets with the same key that may be similar enough.
    ///
    /// `sets` must have all sets of a key, in the form of [`Self::parted`]. If `is_sided` is true, each pair has one
    /// set of side 0 and one set of side 1. The table has the classes `a` and `b`, and `term`, the lowest key of the
    /// pair in this input. The second value is the argument `on` for the next call. It is `None` if there are no more
    /// pairs.
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
            // A call that continues needs the order of the call before.
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
                // A key that many sets share has too many pairs for one batch, so the search can be continued.
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
            // Two sets meet under each key that they share.
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

/// Sorts the sets by the part to which their key belongs. There are `parts` parts. Returns the numbers of the sorted
/// sets, and a list of groups. A group has up to [`MOST_OF_ROW`] neighbouring sets of one part. It is given by the
/// number of the part and the index of the set behind the group.
fn side_by_side(sets: &[SetOfKey], parts: u32) -> (Vec<u64>, Vec<(u32, u32)>) {
    // Keys are hashes, so their upper bits divide them evenly into parts.
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

/// Returns the classes of two sets (two words each), and their common key. If `is_sided` is true, `a` is the set of
/// side 0 and comes first. Otherwise, the set with the lower class comes first.
fn pair(a: &SetOfKey, b: &SetOfKey, is_sided: bool) -> [u64; 5] {
    let ([.., a_low, a_high], [.., b_low, b_high]) = (*a, *b);
    let is_swapped = !is_sided && [b_low, b_high] < [a_low, a_high];
    let [c, d] = if is_swapped { [b, a] } else { [a, b] };
    [c[4], c[5], d[4], d[5], a[0]]
}

/// Reads rows of `width` 64-bit numbers, and returns the numbers of all rows. `name` is the name of the argument in the
/// error message.
fn of_width(given: &Bound<'_, PyAny>, name: &str, width: usize) -> PyResult<Vec<u64>> {
    let rows = numbers::fingerprints(given)?;
    if rows.shape.words() != width {
        return Err(PyValueError::new_err(format!("{name}: must be rows of {width} numbers")));
    }
    Ok(rows.words.into_owned())
}
