//! Defines the type of an output of a run.

use super::results::Results;
use crate::write::columns::OutputDescription;
use simtool_base::error::Result;

/// Name of the stage in the summary to which the time of most outputs is added.
pub(super) const WRITE_STAGE: &str = "write";
/// Name of the stage in the summary in which the inputs are copied.
pub(super) const KEEP_STAGE: &str = "keep";

/// An output of a run: its description, the condition on which it is written, and the function that writes
/// it.
pub(super) struct Output {
    pub(super) description: OutputDescription,
    /// Name of the stage in the summary to which the time of writing this output is added.
    pub(super) stage: &'static str,
    /// Function that returns whether the output is written: the user has asked for it, and the method can make it.
    pub(super) is_wanted: fn(&Results<'_>) -> bool,
    pub(super) write: fn(&Results<'_>) -> Result<()>,
}
