//! Describes one output of a run, which is a line of the table of outputs.

use super::results::Results;
use super::settings::Outputs;
use crate::write::columns::OutputDescription;
use simtool_base::error::Result;

/// Name of the stage to which the time of most outputs is added.
pub(super) const WRITE_STAGE: &str = "write";
/// Name of the stage in which the inputs are copied.
pub(super) const KEEP_STAGE: &str = "keep";

/// An output of a run, and how to write it.
pub(super) struct Output {
    pub(super) description: OutputDescription,
    /// Stage to which the time of writing this output is added.
    pub(super) stage: &'static str,
    /// Whether the user asked for the output.
    pub(super) is_wanted: fn(&Outputs) -> bool,
    pub(super) write: fn(&Results<'_>) -> Result<()>,
}
