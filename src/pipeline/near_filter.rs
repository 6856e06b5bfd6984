//! Filter for the pairs of documents whose texts are compared: their fingerprints must be near.

use super::close_fingerprints::RowJoin;
use super::row_scope::RowScope;
use simtool_base::error::Result;
use simtool_hamming::door::equal_rows;
use simtool_hamming::layout::Layout;
use simtool_model::fingerprint_rows::FingerprintRows;
use simtool_model::groups::NO_GROUP;
use simtool_model::sides::Sides;
use simtool_set_join::PairFilter;

/// Filter for a join of sets. It accepts exactly the pairs of documents that a join of fingerprints finds.
#[derive(Debug)]
pub(super) struct NearFilter<'r> {
    rows: Sides<&'r FingerprintRows<'r>>,
    max_distance: u32,
    /// LSH bands of the join. The fingerprints of a pair must be equal in one of the bands. `None` if the join uses no
    /// bands.
    layout: Option<Layout>,
    /// In one collection, the number of the group of equal fingerprints to which each document belongs. Empty if there
    /// are two collections.
    group_of: Vec<u32>,
    /// Selects the documents that are compared with each other. `None` if all documents are compared.
    scope: Option<&'r RowScope>,
}

impl<'r> NearFilter<'r> {
    /// Creates the filter that accepts the pairs that `join` finds among the fingerprints `rows`.
    ///
    /// # Errors
    ///
    /// There are too many rows, or there is too little memory.
    pub(super) fn new(join: RowJoin<'r>, rows: Sides<&'r FingerprintRows<'r>>) -> Result<Self> {
        let group_of = match rows {
            Sides::One(rows) => {
                let equal = join.context.threads().run(|| equal_rows(rows, join.context))??;
                equal.group_of_rows(rows.len())
            }
            Sides::Two(..) => Vec::new(),
        };
        let layout = join.layout(rows.second().shape);
        Ok(Self { rows, max_distance: join.distance, layout, group_of, scope: join.scope })
    }
}

impl PairFilter for NearFilter<'_> {
    fn class(&self, row: u32) -> Option<u64> {
        let group = *self.group_of.get(row as usize).filter(|&&group| group != NO_GROUP)?;
        let class = self.scope.map_or(Some(0), |scope| scope.class(row))?;
        Some(u64::from(group) << 32 | u64::from(class))
    }

    fn takes(&self, a: u32, b: u32) -> bool {
        self.scope.is_none_or(|scope| scope.takes(a, b)) && self.distance(a, b).is_some()
    }

    fn distance(&self, a: u32, b: u32) -> Option<u32> {
        let a = self.rows.first().row(a as usize)?;
        let b = self.rows.second().row(b as usize)?;
        let distance = self.rows.second().shape.distance(a, b);
        let is_near = distance <= self.max_distance
            && self.layout.as_ref().is_none_or(|layout| layout.has_equal_mask(a, b));
        is_near.then_some(distance)
    }

    fn has_distances(&self) -> bool {
        true
    }
}
