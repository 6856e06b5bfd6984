//! Arguments of `simtool passages`.

use super::common::choices;
use super::{CommonArgs, InputArgs, MemoryArgs};
use clap::ValueHint;
use simtool::options::Options;
use simtool::write::columns::RowFormat;
use std::path::PathBuf;

/// Arguments of `simtool passages`.
#[derive(Debug, clap::Args)]
pub(crate) struct PassagesArgs {
    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) paths: Vec<PathBuf>,

    /// Minimum number of words of a passage, from 1 to 1000.
    #[arg(short, long, value_name = "N", default_value = "50")]
    pub(crate) words: String,

    /// Minimum number of documents with the words of a passage [default: 2].
    #[arg(long, value_name = "N", conflicts_with = "anywhere")]
    pub(crate) min_documents: Option<String>,

    /// Also list passages that are repeated only within one document.
    #[arg(long)]
    pub(crate) anywhere: bool,

    /// Compare the words of all passages whose hashes are equal.
    ///
    /// Two different runs of words have equal hashes with a probability of less than 1 in 3,000 for a
    /// hundred million words. Takes two more readings of the documents with passages.
    #[arg(long)]
    pub(crate) verify_words: bool,

    /// File to write; - is standard output.
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: PathBuf,

    /// Replace an existing file.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    /// Format of the rows.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl", help_heading = "Writing",
        value_parser = choices::<RowFormat>())]
    pub(crate) output_format: String,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl PassagesArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("words", &self.words);
        options.set_given([("min_documents", &self.min_documents)]);
        options.set_flag("anywhere", self.anywhere);
        options.set_flag("verify_words", self.verify_words);
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        options.set("output_format", &self.output_format);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}
