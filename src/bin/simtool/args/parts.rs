//! Options for storing what a run reads, and arguments of `simtool combine`.

use super::common::folder;
use super::{CommonArgs, MemoryArgs};
use clap::ValueHint;
use simtool::options::Options;
use std::path::PathBuf;

/// Options for storing what a run reads.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct PartsArgs {
    /// Store what was read, and go on from there if this run was stopped before.
    ///
    /// The folder OUTPUT.parts has what each file gave: fingerprints, terms or words. A run with the same options
    /// reads only the files that are not there, or that have changed. The results are the same. The folder is
    /// removed after the run. Terms and words take about as much space as the texts.
    #[arg(long)]
    pub(crate) resume: bool,

    /// Read shard I of N, such as 2/4, store it in OUTPUT.parts, and end.
    ///
    /// After runs for all shards, on one or several machines with the same files, `simtool combine OUTPUT` writes
    /// the results of a run without --shard.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
}

impl PartsArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set_flag("resume", self.resume);
        options.set_given([("shard", &self.shard)]);
    }
}

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
