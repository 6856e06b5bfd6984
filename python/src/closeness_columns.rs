//! The columns of a table that show how close two documents are.

use crate::columns::{ColumnData, Values};
use simtool::method::{Criterion, Method};
use simtool::stages::closeness::Closeness;
use std::sync::Arc;

/// Whether a table of results has the columns `similarity` and `distance`.
#[derive(Clone, Copy)]
pub(crate) struct ClosenessColumns {
    pub(crate) similarity: bool,
    pub(crate) distance: bool,
}

impl ClosenessColumns {
    /// Determines whether the results of `method` have the column `similarity`, and the column `distance`.
    pub(crate) fn by(method: &Method) -> Self {
        // Coverage compares no two documents, so its results have neither column.
        let by_similarity = matches!(method.close(), Criterion::Similarity(_));
        let distance = matches!(method.close(), Criterion::Distance(_));
        Self { similarity: by_similarity || method.verify().is_some(), distance }
    }

    /// Creates the column `similarity`, the column `distance`, or both. `of` has the closeness of each row. The value
    /// of a row without closeness is null.
    pub(crate) fn columns(self, of: &[Option<Closeness>]) -> impl Iterator<Item = Arc<ColumnData>> {
        let similarity = self.similarity.then(|| {
            let values = of.iter().map(|of| of.and_then(Closeness::similarity).unwrap_or(f64::NAN));
            ColumnData::nullable("similarity", Values::F64(values.collect()), |row| {
                of[row].is_some()
            })
        });
        let distance = self.distance.then(|| {
            let values = of.iter().map(|of| of.and_then(Closeness::distance).unwrap_or_default());
            ColumnData::nullable("distance", Values::U32(values.collect()), |row| of[row].is_some())
        });
        similarity.into_iter().chain(distance)
    }
}
