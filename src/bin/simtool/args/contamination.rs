//! Arguments of `simtool contamination`.

use super::given::{FoundPartsRows, Given, ItemRemovalRows, ItemsRows};
use super::{CommonArgs, InputArgs, MemoryArgs, RowsArgs};
use clap::ValueHint;
use simtool::options::Options;
use std::path::PathBuf;

/// Arguments of `simtool contamination`.
#[derive(Debug, clap::Args)]
pub(crate) struct ContaminationArgs {
    /// Files and folders with the items of the evaluation set; - is standard input. Each line of a text
    /// file is an item.
    #[arg(value_name = "ITEMS", required = true, value_hint = ValueHint::AnyPath)]
    pub(crate) items: Vec<PathBuf>,

    /// Files and folders with the documents to search, including subfolders.
    #[arg(long = "in", value_name = "PATH", num_args = 1.., required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    searched: Given<ItemsRows>,

    #[command(flatten)]
    removal: Given<ItemRemovalRows>,

    #[command(flatten)]
    rows: RowsArgs,

    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    parts: Given<FoundPartsRows>,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl ContaminationArgs {
    /// Adds the settings that were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        self.searched.set(options);
        self.removal.set(options);
        self.parts.set(options);
        self.rows.set(options);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}
