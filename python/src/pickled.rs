//! Results as plain values of Python, for pickle and copy. A class returns its values from
//! `__reduce__`, and a function here makes the object from them again.

use crate::columns::{ColumnData, Values};
use crate::compare::Comparison;
use crate::document_columns::TextColumns;
use crate::errors::exception;
use crate::evaluate::Evaluation;
use crate::fingerprints::Fingerprints;
use crate::near_duplicates::{ClosenessColumns, NearDuplicates};
use crate::settings;
use crate::tables::{Column, Table};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyTuple};
use simtool::close::{Close, ClosePair};
use simtool::closeness::Closeness;
use simtool::cluster::Removal;
use simtool::fingerprint_rows::RowsBuilder;
use simtool::groups::Groups;
use simtool::method::Fitted;
use simtool::options::Options;
use simtool::pipeline::fingerprint_by_fitted;
use simtool::progress::NoProgress;
use simtool::read::Texts;
use simtool::set_join::row_symbols::RowSymbols;
use simtool::sides::Sides;
use simtool::similarity::Similarity;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Number of numbers that store two rows and their closeness.
const LINK: usize = 5;
/// Largest number of words of a fingerprint. Rows of more words are damaged.
const MOST_WORDS: usize = 1 << 16;

/// Result of `__reduce__`: a function that makes the object, and its arguments.
pub(crate) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// Returns the function of the compiled module with this name, and its arguments.
pub(crate) fn reduced<'py, A>(
    py: Python<'py>,
    function: &str,
    arguments: A,
) -> PyResult<Reduced<'py>>
where
    A: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
{
    let function = py.import("simtool._simtool")?.getattr(function)?;
    Ok((function, arguments.into_pyobject(py)?))
}

/// Numbers as bytes that are the same on every machine.
pub(crate) struct Numbers(Vec<u8>);

impl Numbers {
    pub(crate) fn new(numbers: impl Iterator<Item = u64>) -> Self {
        Self(numbers.flat_map(u64::to_le_bytes).collect())
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0)
    }
}

/// Reads the bytes of [`Numbers`].
fn numbers(bytes: &[u8]) -> PyResult<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(damaged());
    }
    Ok(words.iter().map(|&word| u64::from_le_bytes(word)).collect())
}

/// Reads the bytes of [`Numbers`] that fit in a smaller type.
fn small<T: TryFrom<u64>>(bytes: &[u8]) -> PyResult<Vec<T>> {
    numbers(bytes)?.into_iter().map(|number| number.try_into().map_err(|_| damaged())).collect()
}

fn damaged() -> PyErr {
    PyValueError::new_err("the pickled result is damaged")
}

/// Returns a column as plain values: its name, the kind of its values, the number of numbers in a
/// row, its values, where each text or list begins, and its validity.
pub(crate) fn column_values(column: &ColumnData) -> PlainColumn {
    let starts = |starts: &[i64]| Numbers::new(starts.iter().map(|&start| start.cast_unsigned()));
    let (kind, width, values, starts) = match &column.values {
        Values::U32(rows) => {
            ("u32", 1, Numbers::new(rows.iter().map(|&row| row.into())), starts(&[]))
        }
        Values::U64(rows) => ("u64", 1, Numbers::new(rows.iter().copied()), starts(&[])),
        Values::F64(rows) => {
            ("f64", 1, Numbers::new(rows.iter().map(|row| row.to_bits())), starts(&[]))
        }
        Values::Texts(begins, text) => ("texts", 1, Numbers(text.clone()), starts(begins)),
        Values::Lists(begins, rows) => {
            ("lists", 1, Numbers::new(rows.iter().map(|&row| row.into())), starts(begins))
        }
        Values::Words(width, words) => {
            ("words", *width, Numbers::new(words.iter().copied()), starts(&[]))
        }
    };
    let validity = column.validity().map(<[u8]>::to_vec);
    (column.name.to_owned(), kind.to_owned(), width, values.0, starts.0, validity)
}

/// A column as plain values, see [`column_values`].
pub(crate) type PlainColumn = (String, String, usize, Vec<u8>, Vec<u8>, Option<Vec<u8>>);

/// Makes a column from its plain values.
fn column(plain: PlainColumn) -> PyResult<Arc<ColumnData>> {
    let (name, kind, width, values, starts, validity) = plain;
    let parts = |length: usize| -> PyResult<Vec<i64>> {
        let starts: Vec<i64> = small(&starts)?;
        let is_whole = starts.first() == Some(&0) && starts.last() == Some(&(length as i64));
        if is_whole && starts.is_sorted() { Ok(starts) } else { Err(damaged()) }
    };
    let values = match &*kind {
        "u32" => Values::U32(small(&values)?),
        "u64" => Values::U64(numbers(&values)?),
        "f64" => Values::F64(numbers(&values)?.into_iter().map(f64::from_bits).collect()),
        "texts" => Values::Texts(parts(values.len())?, values),
        "lists" => {
            let rows: Vec<u32> = small(&values)?;
            Values::Lists(parts(rows.len())?, rows)
        }
        "words" if (1..=MOST_WORDS).contains(&width) => {
            let words = numbers(&values)?;
            if !words.len().is_multiple_of(width) {
                return Err(damaged());
            }
            Values::Words(width, words)
        }
        _ => return Err(damaged()),
    };
    Ok(match validity {
        Some(bits) => ColumnData::with_validity(known_name(&name), values, &bits),
        None => ColumnData::new(known_name(&name), values),
    })
}

/// Returns the name of a column as a text that lives as long as the process. There are few names,
/// and each is stored once.
fn known_name(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    name
}

/// Makes a `Table` from plain values.
#[pyfunction]
pub(crate) fn _table(columns: Vec<PlainColumn>) -> PyResult<Table> {
    let columns: Vec<_> = columns.into_iter().map(column).collect::<PyResult<_>>()?;
    let length = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != length) {
        return Err(damaged());
    }
    Ok(Table::new(columns))
}

/// Makes a `Column` from plain values.
#[pyfunction]
pub(crate) fn _column(plain: PlainColumn) -> PyResult<Column> {
    column(plain).map(Column)
}

/// Makes a `Comparison` from plain values.
#[pyfunction]
pub(crate) fn _comparison(
    similarity: Option<f64>,
    distance: Option<u32>,
    shared: u64,
    shingles: (u64, u64),
) -> Comparison {
    Comparison { similarity, distance, shared, shingles }
}

/// Makes an `Evaluation` from plain values.
#[pyfunction]
pub(crate) fn _evaluation(
    json: String,
    page: String,
    table: String,
    picture: String,
) -> Evaluation {
    Evaluation { json, page, table, picture }
}

/// Makes `Fingerprints` from plain values.
#[pyfunction]
pub(crate) fn _fingerprints(
    py: Python<'_>,
    method: &str,
    fitted: &[u8],
    plain: PlainColumn,
) -> PyResult<Fingerprints> {
    let mut options = Options::new();
    options.set("method", method);
    let config = settings::config(options)?;
    let fitted = Fitted::from_bytes(fitted, Path::new("pickle")).map_err(exception)?;
    let (recipe, resources) = (config.method.recipe(), &config.resources);
    // The shape and the recipe of the rows are those of the fingerprints of no text.
    let none = py.detach(|| {
        fingerprint_by_fitted(&Texts::of(&[] as &[&[u8]]), recipe, &fitted, resources, &NoProgress)
    });
    let none = none.map_err(exception)?.rows;
    let column = column(plain)?;
    let Values::Words(width, words) = &column.values else { return Err(damaged()) };
    if *width != none.shape.words() {
        return Err(damaged());
    }
    let mut rows = RowsBuilder::new(none.shape);
    for (row, words) in words.chunks_exact(*width).enumerate() {
        rows.push((!column.is_null(row)).then_some(words));
    }
    let mut rows = rows.finish();
    rows.recipe = none.recipe;
    Ok(Fingerprints::new(rows, config.method, fitted))
}

/// Values of `NearDuplicates` that are no rows: whether tables have a similarity and a distance, the
/// method, the meaning of distances, the limit of memory, and the rule for weights.
pub(crate) type PlainSettings = (bool, bool, String, Option<String>, u64, String);

/// Rows of `NearDuplicates`: the numbers of documents, the groups of equal rows of each collection,
/// the pairs, the removals, the hashes of the symbols of each collection, and the columns of the texts.
pub(crate) type PlainRows =
    (Vec<usize>, Vec<Vec<Vec<u32>>>, Vec<u8>, Vec<u8>, Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Returns the rows of a result as plain values.
pub(crate) fn found_rows(found: &NearDuplicates) -> PlainRows {
    let documents: Vec<usize> = each(&found.documents).copied().collect();
    let groups = each(&found.close.groups);
    let groups = groups.map(|groups| groups.iter().map(<[u32]>::to_vec).collect()).collect();
    let pairs = found.close.pairs.iter();
    let pairs = Numbers::new(pairs.flat_map(|pair| link(pair.a, pair.b, Some(pair.closeness))));
    let removals = found.removals.iter();
    let removals = Numbers::new(
        removals.flat_map(|removal| link(removal.row, removal.kept, removal.closeness)),
    );
    let symbols = found.close.symbols.hashes().into_iter().flat_map(each);
    let symbols = symbols.map(|hashes| Numbers::new(hashes.iter().copied()).0).collect();
    let texts = found.texts.as_ref().map(text_columns).unwrap_or_default();
    (documents, groups, pairs.0, removals.0, symbols, texts)
}

/// Returns the columns of the texts as plain values.
fn text_columns(texts: &TextColumns) -> Vec<Vec<u8>> {
    let columns = [&texts.bytes, &texts.tokens, &texts.exact_copies];
    let mut plain: Vec<Vec<u8>> =
        columns.map(|column| Numbers::new(column.iter().map(|&number| number.into())).0).into();
    let shares = texts.repeated_share.as_ref();
    plain.extend(shares.map(|shares| Numbers::new(shares.iter().map(|share| share.to_bits())).0));
    plain
}

/// Makes the columns of the texts of `rows` documents from plain values.
fn restored_columns(plain: &[Vec<u8>], rows: usize) -> PyResult<Option<TextColumns>> {
    let (bytes, tokens, exact_copies, shares) = match plain {
        [] => return Ok(None),
        [bytes, tokens, copies] => (bytes, tokens, copies, None),
        [bytes, tokens, copies, shares] => (bytes, tokens, copies, Some(shares)),
        _ => return Err(damaged()),
    };
    let floats = |bytes: &Vec<u8>| -> PyResult<Vec<f64>> {
        Ok(numbers(bytes)?.into_iter().map(f64::from_bits).collect())
    };
    let texts = TextColumns {
        bytes: small(bytes)?,
        tokens: small(tokens)?,
        exact_copies: small(exact_copies)?,
        repeated_share: shares.map(floats).transpose()?,
    };
    if texts.are_of(rows) { Ok(Some(texts)) } else { Err(damaged()) }
}

/// Returns the values of both sides.
fn each<T>(sides: &Sides<T>) -> impl Iterator<Item = &T> {
    let second = sides.is_two().then(|| sides.second());
    std::iter::once(sides.first()).chain(second)
}

/// Makes a `NearDuplicates` from plain values. `of_equal` is the closeness of equal documents.
#[pyfunction]
pub(crate) fn _near_duplicates(
    rows: PlainRows,
    of_equal: &[u8],
    is_complete: bool,
    settings: PlainSettings,
) -> PyResult<NearDuplicates> {
    let (documents, groups, pairs, removals, symbols, texts) = rows;
    let (similarity, distance, method, distance_means, memory, weight) = settings;
    let groups = groups.into_iter().map(|groups| groups.into_iter().collect::<Groups>());
    let documents = sides(documents)?;
    let ends = [*documents.first() as u64, *documents.second() as u64];
    let closeness = |closeness: Option<Closeness>| closeness.ok_or_else(damaged);
    let pair = |(a, b, of): Link| Ok(ClosePair { a, b, closeness: closeness(of)? });
    let pairs = links(&pairs, ends)?.into_iter().map(pair).collect::<PyResult<Vec<_>>>()?;
    let of_equal = links(of_equal, [1, 1])?.pop().ok_or_else(damaged)?;
    let removals = links(&removals, ends)?;
    let removal = |(row, kept, closeness): Link| Removal { row, kept, closeness };
    let groups = sides(groups.collect())?;
    if each(&groups)
        .zip(ends)
        .any(|(groups, end)| groups.iter().flatten().any(|&row| u64::from(row) >= end))
    {
        return Err(damaged());
    }
    let of_equal = closeness(of_equal.2)?;
    let symbols = symbols.iter().map(|hashes| numbers(hashes)).collect::<PyResult<Vec<_>>>()?;
    let symbols =
        if symbols.is_empty() { RowSymbols::default() } else { RowSymbols::new(sides(symbols)?) };
    Ok(NearDuplicates {
        documents,
        close: Close { groups, pairs: pairs.into(), of_equal, is_complete, symbols },
        removals: removals.into_iter().map(removal).collect(),
        texts: restored_columns(&texts, *documents.first())?,
        weight: weight.parse().map_err(|()| damaged())?,
        shown: ClosenessColumns { similarity, distance },
        method,
        distance_means,
        memory,
        pairs: PyOnceLock::new(),
    })
}

/// Returns the sides of one or two values.
fn sides<T>(values: Vec<T>) -> PyResult<Sides<T>> {
    let mut values = values.into_iter();
    match (values.next(), values.next(), values.next()) {
        (Some(first), None, None) => Ok(Sides::One(first)),
        (Some(first), Some(second), None) => Ok(Sides::Two(first, second)),
        _ => Err(damaged()),
    }
}

/// Two rows and their closeness.
type Link = (u32, u32, Option<Closeness>);

/// Returns two rows and their closeness as numbers. A closeness without similarity has the ratio 0/0,
/// and one without distance the number 0.
pub(crate) fn link(a: u32, b: u32, closeness: Option<Closeness>) -> [u64; LINK] {
    let similarity = closeness.and_then(Closeness::exact_similarity);
    let Similarity { shared, union } = similarity.unwrap_or(Similarity { shared: 0, union: 0 });
    let distance = closeness.and_then(Closeness::distance);
    let distance = distance.map_or(0, |distance| u64::from(distance) + 1);
    [a.into(), b.into(), shared, union, distance]
}

/// Reads the links that [`link`] wrote. The rows must be below `ends`, and sorted.
fn links(bytes: &[u8], ends: [u64; 2]) -> PyResult<Vec<Link>> {
    let numbers = numbers(bytes)?;
    let (links, rest) = numbers.as_chunks::<LINK>();
    if !rest.is_empty() || !links.is_sorted_by_key(|&[a, b, ..]| (a, b)) {
        return Err(damaged());
    }
    let read = |&[a, b, shared, union, distance]: &[u64; LINK]| {
        if a >= ends[0] || b >= ends[1] || shared > union {
            return Err(damaged());
        }
        let row = |row: u64| u32::try_from(row).map_err(|_| damaged());
        let similarity = (union > 0).then_some(Similarity { shared, union });
        let distance = distance.checked_sub(1).map(row).transpose()?;
        let closeness = match (similarity, distance) {
            (Some(similarity), Some(distance)) => Some(Closeness::Verified(similarity, distance)),
            (Some(similarity), None) => Some(Closeness::Similarity(similarity)),
            (None, distance) => distance.map(Closeness::Distance),
        };
        Ok((row(a)?, row(b)?, closeness))
    };
    links.iter().map(read).collect()
}
