//! Arguments of `simtool contamination`.

use super::common::choices;
use super::{CommonArgs, InputArgs, MemoryArgs, RowsArgs};
use clap::ValueHint;
use simtool::contamination::Measure;
use simtool::options::Options;
use simtool::run::ItemRemoval;
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

    /// Fields of the items, joined by newlines, such as question,answer [default: text].
    ///
    /// A comma joins fields here, and an item may lack some of them. In --text-field, which names the text of the
    /// documents, a plus sign joins fields, and a comma separates alternatives. Otherwise each field is written
    /// like --text-field.
    #[arg(long, value_name = "NAMES")]
    pub(crate) fields: Option<String>,

    /// Number of words of a shingle, from 1 to 1000.
    #[arg(short, long, value_name = "N", default_value = "5")]
    pub(crate) words: String,

    /// Measure of how much of an item a document has.
    #[arg(long, value_name = "MEASURE", default_value = "words", value_parser = choices::<Measure>())]
    pub(crate) measure: String,

    /// Minimum share of an item that a document has, as 0.8 or 4/5 [default: 0.8, and 0.6 with --measure
    /// weighted].
    #[arg(long, value_name = "SHARE")]
    pub(crate) share: Option<String>,

    /// Write copies of the documents' files without the items to the folder --output.
    ///
    /// The copies are in kept/ and have the format of the input. A document whose text was extracted or decoded,
    /// as from HTML, cannot be cut; it is copied whole and listed (uncut). The folder also has the rows, a list of
    /// the copies (files) and summary.json.
    #[arg(long, value_name = "HOW", requires = "output", help_heading = "Writing",
        value_parser = choices::<ItemRemoval>())]
    pub(crate) write_kept: Option<String>,

    /// Text in place of the words of items, with --write-kept mask [default: [...]].
    #[arg(long, value_name = "TEXT", requires = "write_kept", help_heading = "Writing")]
    pub(crate) mask: Option<String>,

    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Store what was found, and go on from there if this run was stopped before.
    ///
    /// The folder OUTPUT.parts has the items that the documents of each file contain. A run with the same options
    /// searches only the files that are not there, or that have changed. The results are the same. The folder is
    /// removed after the run.
    #[arg(long, requires = "output", help_heading = "Running")]
    pub(crate) resume: bool,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl ContaminationArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("words", &self.words);
        options.set("measure", &self.measure);
        options.set_given([("fields", &self.fields), ("share", &self.share)]);
        options.set_given([("write_kept", &self.write_kept), ("mask", &self.mask)]);
        options.set_flag("resume", self.resume);
        self.rows.set(options);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}
