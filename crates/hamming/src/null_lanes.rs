//! Replaces null hashes in fingerprints by unique values. Then every method that compares fingerprints
//! hash by hash can join them, and two rows that share only nulls are never near.

use simtool_model::fingerprint_rows::{FingerprintRows, Metric, Shape, is_null};

/// The role of rows in a search. A null, which means that a hash is missing, is replaced by a value that depends on the
/// role. So a query never has the same value as a row of the corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullSide {
    /// The collection in which rows near the queries are searched, or all rows of a self-join.
    Corpus,
    /// The rows for which near rows of the corpus are searched.
    Queries,
}

/// Whether fingerprints of this shape may contain nulls, which mean that a hash is missing.
#[must_use]
pub fn may_be_null(shape: Shape) -> bool {
    matches!(shape.metric(), Metric::Lanes { null: true, .. })
}

/// Returns the shape that fingerprints have after [`without_nulls`] has replaced their nulls.
#[must_use]
pub fn shape_without_nulls(shape: Shape) -> Shape {
    Shape::lanes(shape.words() as u32, u64::BITS)
}

/// Copies the rows, and replaces each null (missing hash) by a value that no other row has. `numbers` gives each row a
/// unique number, from which the value is computed.
///
/// The value consists of 62 bits of the row's number and one bit for `side`. Its highest bit is 0. The highest bit of
/// every hash is 1, so the value equals no hash. It also equals no value of another row.
#[must_use]
pub fn without_nulls(
    rows: &FingerprintRows<'_>,
    numbers: impl IntoIterator<Item = u64>,
    side: NullSide,
) -> FingerprintRows<'static> {
    let count = rows.shape.words();
    let mut words = rows.words.to_vec();
    for (row, number) in words.chunks_exact_mut(count).zip(numbers) {
        let unlike_others = (number << 1 | u64::from(side == NullSide::Queries)) & u64::MAX >> 1;
        row.iter_mut().filter(|lane| is_null(**lane)).for_each(|lane| *lane = unlike_others);
    }
    FingerprintRows {
        shape: shape_without_nulls(rows.shape),
        words: words.into(),
        validity: rows.validity.clone(),
        recipe: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::fingerprint_rows::RowsBuilder;

    #[test]
    fn distances_without_nulls_are_those_with_them() {
        let value = |number: u64| number | 1 << 63;
        let mut rows = RowsBuilder::new(Shape::lanes_or_null(2));
        for a in [0, 9, value(0), value(7)] {
            for b in [0, value(0), value(7)] {
                rows.push(Some(&[a, b]));
            }
        }
        let rows = rows.finish();
        let (corpus, queries) = (
            without_nulls(&rows, 0.., NullSide::Corpus),
            without_nulls(&rows, 0.., NullSide::Queries),
        );
        for a in 0..rows.len() {
            for b in 0..rows.len() {
                let of = |one: &FingerprintRows<'_>, other: &FingerprintRows<'_>| {
                    one.shape.distance(one.row(a).unwrap(), other.row(b).unwrap())
                };
                assert_eq!(of(&queries, &corpus), of(&rows, &rows), "{a} {b}");
                if a != b {
                    assert_eq!(of(&corpus, &corpus), of(&rows, &rows), "{a} {b}");
                }
            }
        }
    }
}
