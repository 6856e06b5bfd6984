//! The result of a join: groups of equal rows, and pairs of groups.

use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Groups of equal rows, and the pairs of groups that are within the distance.
///
/// A thousand equal rows are one group and not half a million pairs, so the result stays small however
/// often a row is repeated. [`RowPairs`](crate::row_pairs::RowPairs) expands it to pairs of rows.
#[derive(Debug)]
pub struct GroupPairs {
    /// The groups of the corpus, or of the queries and of the corpus.
    pub groups: Sides<Groups>,
    /// Pairs of groups, ascending. In a self-join `a` is below `b`; in a search `a` is a group of
    /// queries and `b` a group of the corpus.
    pub pairs: Vec<ValuePair>,
}
