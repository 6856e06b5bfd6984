//! Arguments of `simtool why`.

use super::CommonArgs;
use clap::ValueHint;
use std::ffi::OsString;
use std::path::PathBuf;

/// Arguments of `simtool why OUT ID`.
#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// Output folder of a finished run.
    #[arg(value_name = "OUT", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Document: its ID in the run's outputs, or `FILE:RECORD` or `FILE#ID` with the file name that
    /// the run used.
    #[arg(value_name = "ID")]
    pub(crate) document: OsString,

    /// Print one JSON object, without the differences between the texts.
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
