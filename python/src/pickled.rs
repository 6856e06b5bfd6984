//! Creates results from plain Python values, for pickle and copy. A class returns its values from `__reduce__`, and a
//! function here creates the object from these values.

use crate::closeness_columns::ClosenessColumns;
use crate::compare::Comparison;
use crate::document_columns::TextColumns;
use crate::errors::exception;
use crate::evaluate::Evaluation;
use crate::fingerprints::Fingerprints;
use crate::near_duplicates::{CoverageColumns, NearDuplicates};
use crate::plain_rows::{PlainRows, each};
use crate::plain_values::{Link, PlainColumn, column, damaged, links, numbers, small};
use crate::settings;
use crate::tables::{Column, Table};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use simtool::cluster::Removal;
use simtool::method::Fitted;
use simtool::options::Options;
use simtool::pipeline::fingerprint_by_fitted;
use simtool::progress::NoProgress;
use simtool::stages::close::{Close, ClosePair};
use simtool::stages::closeness::Closeness;
use simtool::stages::fingerprint_rows::RowsBuilder;
use simtool::stages::groups::Groups;
use simtool::stages::read::Texts;
use simtool::stages::set_join::row_sequences::RowSequences;
use simtool::stages::sides::Sides;
use std::path::Path;

/// Creates a `Table` from plain values.
#[pyfunction]
pub(crate) fn _table(columns: Vec<PlainColumn>) -> PyResult<Table> {
    let columns: Vec<_> = columns.into_iter().map(column).collect::<PyResult<_>>()?;
    let length = columns.first().map_or(0, |column| column.values.len());
    if columns.iter().any(|column| column.values.len() != length) {
        return Err(damaged());
    }
    Ok(Table::new(columns))
}

/// Creates a `Column` from plain values.
#[pyfunction]
pub(crate) fn _column(plain: PlainColumn) -> PyResult<Column> {
    column(plain).map(Column)
}

/// Creates a `Comparison` from plain values.
#[pyfunction]
pub(crate) fn _comparison(
    similarity: Option<f64>,
    distance: Option<u32>,
    shared: u64,
    shingles: (u64, u64),
) -> Comparison {
    Comparison { similarity, distance, shared, shingles }
}

/// Creates an `Evaluation` from plain values.
#[pyfunction]
pub(crate) fn _evaluation(
    json: String,
    page: String,
    table: String,
    picture: String,
) -> Evaluation {
    Evaluation { json, page, table, picture }
}

/// Creates `Fingerprints` from plain values.
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
    let (width, words) = column.words().ok_or_else(damaged)?;
    if width != none.shape.words() {
        return Err(damaged());
    }
    let mut rows = RowsBuilder::new(none.shape);
    for (row, words) in words.chunks_exact(width).enumerate() {
        rows.push(column.values.is_valid(row).then_some(words));
    }
    let mut rows = rows.finish();
    rows.recipe = none.recipe;
    Ok(Fingerprints::new(rows, config.method, fitted))
}

/// Values of `NearDuplicates` that are not rows: whether tables have a similarity, whether they have a distance, the
/// method, the meaning of distances, the memory limit in bytes, and the rule for weights.
pub(crate) type PlainSettings = (bool, bool, String, Option<String>, u64, String);

/// Creates the columns of the texts of `rows` documents from plain values. Returns `None` if there are no values.
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

/// Creates the columns of `removals` removals of the method covered from plain values. Returns `None` if there are no
/// values.
fn restored_coverage(plain: &[Vec<u8>], removals: usize) -> PyResult<Option<CoverageColumns>> {
    let [lost_words, covered_by] = match plain {
        [] => return Ok(None),
        [lost_words, covered_by] => [small(lost_words)?, small(covered_by)?],
        _ => return Err(damaged()),
    };
    if lost_words.len() != removals || covered_by.len() != removals {
        return Err(damaged());
    }
    Ok(Some(CoverageColumns { lost_words, covered_by }))
}

/// Creates a `NearDuplicates` from plain values. `of_equal` is the closeness of equal documents.
#[pyfunction]
pub(crate) fn _near_duplicates(
    rows: PlainRows,
    of_equal: &[u8],
    is_complete: bool,
    settings: PlainSettings,
    coverage: Vec<Vec<u8>>,
) -> PyResult<NearDuplicates> {
    let (documents, groups, pairs, removals, sequences, texts) = rows;
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
    let coverage = restored_coverage(&coverage, removals.len())?;
    let sequences = sequences.iter().map(|hashes| numbers(hashes)).collect::<PyResult<Vec<_>>>()?;
    let sequences = if sequences.is_empty() {
        RowSequences::default()
    } else {
        RowSequences::new(sides(sequences)?)
    };
    Ok(NearDuplicates {
        documents,
        close: Close { groups, pairs: pairs.into(), of_equal, is_complete, sequences },
        removals: removals.into_iter().map(removal).collect(),
        coverage,
        texts: restored_columns(&texts, *documents.first())?,
        weight: weight.parse().map_err(|()| damaged())?,
        shown: ClosenessColumns { similarity, distance },
        method,
        distance_means,
        memory,
        pairs: PyOnceLock::new(),
    })
}

/// Converts a list of one or two values to [`Sides`]. Returns an error for another number of values.
fn sides<T>(values: Vec<T>) -> PyResult<Sides<T>> {
    let mut values = values.into_iter();
    match (values.next(), values.next(), values.next()) {
        (Some(first), None, None) => Ok(Sides::One(first)),
        (Some(first), Some(second), None) => Ok(Sides::Two(first, second)),
        _ => Err(damaged()),
    }
}
