//! The methods of the stage by name.

use simtool_base::error::{Error, Result};
use simtool_model::fingerprint_rows::Metric;
use std::fmt;
use std::str::FromStr;

/// A search method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IndexName {
    /// Compares everything.
    LinearScan,
    /// Looks up all flips of a query.
    BitProbing,
    /// Stores all flips of the corpus.
    ExpandedSet,
    /// Sorted tables under permutations.
    PermutedTables,
    /// k + 1 tables of buckets.
    BlockIndex,
    /// The queries in tables, the corpus scanned once.
    StreamedQueries,
    /// The recursive self-join, in memory.
    PartitionJoin,
    /// The self-join by buckets of near keys.
    MultiIndexJoin,
    /// The recursive join of queries and corpus.
    BipartiteJoin,
    /// The recursive self-join with its first partition in files.
    SpilledJoin,
}

/// Every name, in the order of [`IndexName`].
const NAMES: [(IndexName, &str); 10] = [
    (IndexName::LinearScan, "linear-scan"),
    (IndexName::BitProbing, "bit-probing"),
    (IndexName::ExpandedSet, "expanded-set"),
    (IndexName::PermutedTables, "permuted-tables"),
    (IndexName::BlockIndex, "block-index"),
    (IndexName::StreamedQueries, "streamed-queries"),
    (IndexName::PartitionJoin, "partition-join"),
    (IndexName::MultiIndexJoin, "multi-index-join"),
    (IndexName::BipartiteJoin, "bipartite-join"),
    (IndexName::SpilledJoin, "spilled-join"),
];

impl IndexName {
    /// Its name, as it is read.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// Whether the method can count what `metric` does.
    pub(super) fn counts(self, metric: Metric) -> bool {
        match metric {
            Metric::Bits => true,
            Metric::Lanes { .. } => {
                let of_bits = matches!(
                    self,
                    Self::BitProbing
                        | Self::ExpandedSet
                        | Self::PermutedTables
                        | Self::MultiIndexJoin
                );
                !of_bits
            }
            Metric::Cosine { .. } => self == Self::LinearScan,
            Metric::Votes { .. } => {
                matches!(self, Self::LinearScan | Self::PartitionJoin | Self::BipartiteJoin)
            }
        }
    }
}

impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for IndexName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let known = NAMES.iter().find(|known| known.1 == name);
        known.map(|known| known.0).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|known| known.1).collect();
            Error::config("index", name, format!("must be one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for (at, (index, name)) in NAMES.into_iter().enumerate() {
            assert_eq!(index as usize, at);
            assert_eq!(name.parse::<IndexName>().unwrap(), index);
            assert_eq!(index.to_string(), name);
        }
        let error = "tree".parse::<IndexName>().unwrap_err().to_string();
        assert!(error.starts_with("index tree: must be one of linear-scan, "), "{error}");
    }
}
