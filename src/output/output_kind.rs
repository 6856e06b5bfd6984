//! An output of a run: the type of the rows of the table.

use super::results::Results;
use super::settings::Outputs;
use crate::write::columns::OutputDescription;
use simtool_base::error::Result;

/// The stage of a run that most outputs belong to.
pub(super) const WRITE_STAGE: &str = "write";
/// The stage in which the inputs are copied.
pub(super) const KEEP_STAGE: &str = "keep";

/// An output of a run, and how to write it.
pub(super) struct Output {
    pub(super) description: OutputDescription,
    /// The stage that the time of writing is added to.
    pub(super) stage: &'static str,
    /// Whether the user asked for the output.
    pub(super) is_wanted: fn(&Outputs) -> bool,
    pub(super) write: fn(&Results<'_>) -> Result<()>,
}
