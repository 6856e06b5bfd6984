//! What the user chose about the outputs.

use super::kept_copies::BadRecords;
use crate::write::columns::RowFormat;

/// Choices of the user about the outputs.
#[derive(Clone, Copy, Debug)]
pub struct Outputs {
    /// Format of files of rows.
    pub rows: RowFormat,
    /// Whether rows of removed documents have only the IDs.
    pub only_ids: bool,
    /// Whether every pair is written.
    pub pairs: bool,
    /// Whether copies of the inputs without the removed documents are written.
    pub kept: bool,
    /// What to do with bad records in these copies.
    pub bad_records: BadRecords,
}
