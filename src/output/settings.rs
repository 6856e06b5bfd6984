//! Settings of the outputs.

use super::kept_copies::BadRecords;
use crate::write::columns::RowFormat;

/// Settings of the user for the outputs of a run.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Format of the files that have rows and columns, for example TSV.
    pub rows: RowFormat,
    /// Whether the file of removed documents has only the column of IDs.
    pub only_ids: bool,
    /// Whether every pair of close documents is written.
    pub pairs: bool,
    /// Whether copies of the inputs without the removed documents are written.
    pub kept: bool,
    /// Rule for the bad records of the inputs in these copies.
    pub bad_records: BadRecords,
}
