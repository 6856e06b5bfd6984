//! Settings of the outputs.

use super::annotation::Annotation;
use super::kept_copies::BadRecords;
use crate::write::columns::RowFormat;
use simtool_base::options::Choice as _;

/// Largest number of pairs that a run writes unless the user insists. They take about 20 GB as JSON Lines.
pub(super) const MOST_PAIRS: u64 = 100_000_000;

/// Value of the option `output_format` for the IDs of removed documents alone.
pub(crate) const ONLY_IDS: &str = "ids";
/// Value of the option `write_kept` for copies without bad records, which could not be read as documents.
pub(crate) const READABLE: &str = "readable";

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
    /// Whether pairs are written whatever their number is. Otherwise more than 100 million are an error.
    pub any_number_of_pairs: bool,
    /// Whether copies of the inputs without the removed documents are written.
    pub kept: bool,
    /// Whether copies of the inputs with nothing but the removed documents are written.
    pub removed: bool,
    /// Columns of the list of all documents. `None` if it is not written.
    pub annotation: Option<Annotation>,
    /// Whether copies of the inputs contain bad records, which could not be read as documents.
    pub bad_records: BadRecords,
}

impl Outputs {
    /// Returns the value of the option `output_format`.
    pub(crate) fn format_name(&self) -> &'static str {
        if self.only_ids { ONLY_IDS } else { self.rows.name() }
    }

    /// Returns the value of the option `write_kept`.
    pub(crate) fn kept_name(&self) -> &'static str {
        // Bad records matter only if there are copies.
        match (self.kept, self.bad_records) {
            (false, _) => "false",
            (true, BadRecords::Keep) => "true",
            (true, BadRecords::Drop) => READABLE,
        }
    }

    /// Returns whether the run writes any copies of the inputs.
    pub(crate) fn writes_copies(&self) -> bool {
        self.kept || self.removed || self.annotates_copies()
    }

    /// Returns whether the run writes copies of the inputs whose records also have the columns of the list of
    /// documents.
    pub(crate) fn annotates_copies(&self) -> bool {
        self.annotation.as_ref().is_some_and(|annotation| annotation.is_in_place)
    }
}
