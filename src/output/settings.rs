//! Settings of the outputs.

use super::cluster_weight::ClusterWeight;
use super::kept_copies::BadRecords;
use crate::write::columns::RowFormat;

/// Largest number of pairs that a run writes unless the user insists. They take about 20 GB as JSON Lines.
pub(super) const MOST_PAIRS: u64 = 100_000_000;

/// Settings that say which outputs a run writes, and in which format.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct Outputs {
    /// Format of the files with rows and columns, for example TSV.
    pub rows: RowFormat,
    /// Whether the output `removed` has only the column with the IDs.
    pub only_ids: bool,
    /// Whether every pair of near-duplicates is written.
    pub pairs: bool,
    /// Whether pairs are written however many they are. Otherwise more than 100 million are an error.
    pub any_number_of_pairs: bool,
    /// Whether copies of the inputs without the removed documents are written.
    pub kept: bool,
    /// Whether all documents are written, with their clusters.
    pub documents: bool,
    /// Whether copies of the inputs are written in which records have the columns of that output.
    pub annotated: bool,
    /// Weights of the documents in these outputs.
    pub weight: ClusterWeight,
    /// Minimum number of words of a passage, if these outputs have the share of words in repeated passages.
    pub repeated_share: Option<usize>,
    /// Whether copies of the inputs contain bad records.
    pub bad_records: BadRecords,
}
