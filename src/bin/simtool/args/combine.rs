//! Arguments of `simtool combine`.

use super::values::folder;
use super::{CommonArgs, MemoryArgs};
use clap::ValueHint;
use std::path::PathBuf;

/// Arguments of `simtool combine`.
#[derive(Debug, clap::Args)]
pub(crate) struct CombineArgs {
    /// Output of the runs with --shard, which does not exist yet. The parts are in OUTPUT.parts.
    #[arg(value_name = "OUTPUT", value_parser = folder(), value_hint = ValueHint::AnyPath)]
    pub(crate) output: PathBuf,

    /// Replace the output if an earlier run of simtool wrote it.
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
