//! Arguments of `simtool passages`.

use super::given::{CuttingRows, Given, PassagesRows};
use super::{CommonArgs, InputArgs, MemoryArgs, PartsArgs, RowsArgs};
use clap::ValueHint;
use simtool::options::Options;
use std::path::PathBuf;

/// Arguments of `simtool passages`.
#[derive(Debug, clap::Args)]
pub(crate) struct PassagesArgs {
    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    found: Given<PassagesRows>,

    #[command(flatten)]
    cutting: Given<CuttingRows>,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    parts: PartsArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl PassagesArgs {
    /// Adds the settings that were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        self.found.set(options);
        self.cutting.set(options);
        self.parts.set(options);
        self.rows.set(options);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}
