//! Pairs of rows that the caller gives.

use crate::capsules::Imported;
use crate::closeness_columns::ClosenessColumns;
use crate::numbers;
use crate::tables::no_table;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use simtool::stages::close::ClosePair;
use simtool::stages::closeness::Closeness;
use simtool::stages::similarity::Similarity;

/// Converts a floating-point number to a ratio that converts back to the same number.
fn similarity(float: f64) -> Similarity {
    const UNION: u64 = 1 << 62;
    #[expect(clippy::cast_sign_loss, reason = "it is from 0 to 1")]
    let shared = (float.clamp(0.0, 1.0) * UNION as f64) as u64;
    Similarity { shared, union: UNION }
}

/// Reads pairs of rows from an Arrow table or from tuples. Also returns whether the pairs have a similarity, and
/// whether they have a distance.
pub(crate) fn given_pairs(
    given: &Bound<'_, PyAny>,
) -> PyResult<(Vec<ClosePair>, ClosenessColumns)> {
    let Some(arrow) = Imported::of(given)? else { return pairs_of_tuples(given) };
    let (Some(a), Some(b)) = (arrow.column_number("a"), arrow.column_number("b")) else {
        return Err(no_table("pairs"));
    };
    let of_similarity = arrow.column_number("similarity");
    let of_distance = arrow.column_number("distance");
    let shown =
        ClosenessColumns { similarity: of_similarity.is_some(), distance: of_distance.is_some() };
    let mut pairs = Vec::new();
    let rows = |number| numbers::integers_of(arrow.parts(Some(number)));
    let (a, b) = (rows(a)?, rows(b)?);
    let distances = of_distance.map(rows).transpose()?;
    let similarities =
        of_similarity.map(|number| numbers::floats_of(arrow.parts(Some(number)))).transpose()?;
    for at in 0..a.len() {
        let distance = distances.as_ref().map(|distances| row(distances[at])).transpose()?;
        let similarity = similarities.as_ref().map(|of| similarity(of[at]));
        let closeness = match (similarity, distance) {
            (Some(similarity), Some(distance)) => Closeness::Verified(similarity, distance),
            (Some(similarity), None) => Closeness::Similarity(similarity),
            (None, distance) => Closeness::Distance(distance.unwrap_or_default()),
        };
        pairs.push(ClosePair { a: row(a[at])?, b: row(b[at])?, closeness });
    }
    Ok((pairs, shown))
}

fn pairs_of_tuples(given: &Bound<'_, PyAny>) -> PyResult<(Vec<ClosePair>, ClosenessColumns)> {
    let (mut pairs, mut shown) =
        (Vec::new(), ClosenessColumns { similarity: false, distance: false });
    for pair in given.try_iter()? {
        let values =
            pair?.try_iter().map_err(|_| no_table("pairs"))?.collect::<PyResult<Vec<_>>>()?;
        let (a, b) = match &values[..] {
            [a, b] | [a, b, _] => (row(a.extract()?)?, row(b.extract()?)?),
            _ => return Err(no_table("pairs")),
        };
        // A whole number is a distance, and any other number a similarity.
        let closeness = match values.get(2) {
            None => Closeness::Distance(0),
            Some(distance) if distance.hasattr("__index__")? => {
                shown.distance = true;
                Closeness::Distance(row(distance.extract()?)?)
            }
            Some(ratio) => {
                shown.similarity = true;
                Closeness::Similarity(similarity(ratio.extract()?))
            }
        };
        pairs.push(ClosePair { a, b, closeness });
    }
    if shown.similarity && shown.distance {
        let rule = "pairs: the third values must be all similarities or all distances";
        return Err(PyValueError::new_err(rule));
    }
    Ok((pairs, shown))
}

fn row(number: i64) -> PyResult<u32> {
    // The greatest number is reserved, so that the number of rows fits in 32 bits, too.
    let row = u32::try_from(number).ok().filter(|&row| row < u32::MAX);
    row.ok_or_else(|| PyValueError::new_err(format!("pairs: {number} is no row")))
}
