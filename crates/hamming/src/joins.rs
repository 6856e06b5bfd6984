//! The table of all indexes and joins. The planner, the entry point of the crate, the command line and
//! Python read this table, and nothing else lists the methods.

use crate::bipartite_join::BipartiteJoin;
use crate::block_index::BlockIndexJoin;
use crate::classic::bit_probing::BitProbingJoin;
use crate::classic::expanded_set::ExpandedSetJoin;
use crate::classic::permuted_tables::PermutedTablesJoin;
use crate::join::Join;
use crate::linear_scan::LinearScanJoin;
use crate::multi_index_join::MultiIndexJoin;
use crate::partition_join::PartitionJoin;
use crate::spilled_join::SpilledJoin;
use crate::streamed_queries::StreamedQueriesJoin;
use simtool_base::error::{Error, Result};

/// All methods that find near fingerprints. If two methods take the same time, a plan chooses the method that comes
/// first.
pub static JOINS: &[&dyn Join] = &[
    &LinearScanJoin,
    &BitProbingJoin,
    &ExpandedSetJoin,
    &PermutedTablesJoin,
    &BlockIndexJoin,
    &StreamedQueriesJoin,
    &PartitionJoin,
    &MultiIndexJoin,
    &BipartiteJoin,
    &SpilledJoin,
];

/// The method that takes fingerprints of every kind, for tasks that no other method can do.
pub(super) static LINEAR_SCAN: &dyn Join = &LinearScanJoin;

/// Returns the method called `name`.
///
/// # Errors
///
/// No method is called `name`.
///
/// ```
/// use simtool_hamming::joins::find;
///
/// assert_eq!(find("block-index")?.name(), "block-index");
/// assert!(find("tree").is_err());
/// # Ok::<(), simtool_base::error::Error>(())
/// ```
pub fn find(name: &str) -> Result<&'static dyn Join> {
    let known = JOINS.iter().find(|join| join.name() == name);
    known.copied().ok_or_else(|| {
        let names: Vec<_> = JOINS.iter().map(|join| join.name()).collect();
        Error::config("index", name, format!("must be one of {}", names.join(", ")))
    })
}

/// Returns the methods that can join a collection with itself.
pub fn self_joins() -> impl Iterator<Item = &'static dyn Join> {
    JOINS.iter().copied().filter(|join| join.limits().tasks.have_self_joins())
}

/// Returns the methods that can find the partners of queries, which are the rows of a corpus near them.
pub fn searches() -> impl Iterator<Item = &'static dyn Join> {
    JOINS.iter().copied().filter(|join| join.limits().tasks.have_searches())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_own_name() {
        for join in JOINS {
            assert_eq!(find(join.name()).unwrap(), *join);
            assert!(join.help().ends_with('.'), "{join}");
        }
        let names: std::collections::BTreeSet<_> = JOINS.iter().map(|join| join.name()).collect();
        assert_eq!(names.len(), JOINS.len());
        let error = find("tree").unwrap_err().to_string();
        assert!(error.starts_with("index tree: must be one of linear-scan, "), "{error}");
    }

    #[test]
    fn rows_of_every_kind_have_a_method_for_every_task() {
        assert!(LINEAR_SCAN.limits().takes_any_rows());
        assert!(self_joins().any(|join| join == LINEAR_SCAN));
        assert!(searches().any(|join| join == LINEAR_SCAN));
    }
}
