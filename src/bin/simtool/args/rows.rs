//! Arguments of commands that write rows to a file or stream, or files to a folder.

use super::common::choices;
use clap::ValueHint;
use simtool::options::Options;
use simtool::write::columns::RowFormat;
use std::path::PathBuf;

/// Arguments that say where and how rows are written.
#[derive(Debug, clap::Args)]
pub(crate) struct RowsArgs {
    /// File to write, or the folder to write with --write-kept; - is standard output.
    #[arg(short, long, value_name = "PATH", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: PathBuf,

    /// Replace an existing output.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Format of the rows.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = "Writing",
        value_parser = choices::<RowFormat>())]
    pub(crate) output_format: String,
}

impl RowsArgs {
    /// Adds the settings to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        options.set("output_format", &self.output_format);
    }
}
