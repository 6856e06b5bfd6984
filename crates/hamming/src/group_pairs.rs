//! The result of a join: groups of equal rows, and pairs of groups.

use simtool_model::groups::Groups;
use simtool_model::matches::ValuePair;
use simtool_model::sides::Sides;

/// Groups of equal rows, and the pairs of groups within the maximum distance.
///
/// A thousand equal rows are one group and not half a million pairs. So the result stays small, even if
/// rows are often repeated. It is expanded to pairs of rows only when these are requested.
#[derive(Debug)]
pub struct GroupPairs {
    /// The groups of equal rows. In a self-join, there is one collection with its groups. In a search, there are the
    /// groups of the queries and the groups of the corpus.
    pub groups: Sides<Groups>,
    /// Pairs of group numbers with their distance, in ascending order. In a self-join, `a` is below
    /// `b`. In a search, `a` is a group of queries and `b` a group of the corpus.
    pub pairs: Vec<ValuePair>,
}
