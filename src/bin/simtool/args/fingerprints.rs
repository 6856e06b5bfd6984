//! Arguments of the commands on fingerprints: `join`, `search` and `fingerprint`.

use super::given::{FingerprintRows, Given};
use super::{CommonArgs, InputArgs, MemoryArgs, TermArgs};
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use simtool::fingerprint_file::describe_formats;
use simtool::hamming::join::Join;
use simtool::hamming::joins;
use simtool::options::Options;
use std::path::PathBuf;

/// Arguments of `simtool join`.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    /// Use this method instead of the planner's choice; see --verbose.
    #[arg(long, value_name = "NAME", value_parser = names(joins::self_joins()),
        long_help = index_help(joins::self_joins()))]
    pub(crate) index: Option<String>,

    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
}

/// Arguments of `simtool search`.
#[derive(Debug, clap::Args)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    /// File with the fingerprints to search for; - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) queries: PathBuf,

    /// Use this method instead of the planner's choice; see --verbose.
    #[arg(long, value_name = "NAME", value_parser = names(joins::searches()),
        long_help = index_help(joins::searches()))]
    pub(crate) index: Option<String>,

    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
}

/// File that is joined with itself or searched.
#[derive(Debug, clap::Args)]
pub(crate) struct RowsArgs {
    /// File of fingerprints, in a format recognized by content; - is standard input.
    ///
    /// Formats: simtool's packed file; a NumPy array of uint64 with one or two dimensions; text with
    /// a lower-case hexadecimal number on each line, empty if a row has no fingerprint; JSON Lines
    /// with such a number or null in the field "fingerprint"; Parquet with a column "fingerprint" of
    /// bytes (highest first), 64-bit integers or hexadecimal text, null if a row has no fingerprint.
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
}

/// Options that choose pairs of fingerprints and their format.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct PairsArgs {
    /// Maximum number of bits in which the rows of a pair differ.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    /// Print row numbers, from 0, even if the file has IDs.
    ///
    /// JSON Lines and Parquet files of `simtool fingerprint` have an ID for each row, which printed
    /// lines use. Output in .npy or .parquet always has row numbers.
    #[arg(long)]
    pub(crate) rows: bool,

    /// Write only the number of pairs.
    #[arg(long, help_heading = "Writing")]
    pub(crate) count: bool,

    /// Write each group of equal rows once, then the pairs of groups, each named by its first row.
    ///
    /// Lines are "group" and the rows, then "pair", a, b and distance. In a search, groups of queries
    /// are lines with "query-group".
    #[arg(long, conflicts_with = "count", help_heading = "Writing")]
    pub(crate) groups: bool,

    /// File to write; its extension selects the format: text for .tsv or no extension, an array of
    /// shape n x 3 for .npy, the columns a, b and distance for .parquet; - is standard output
    /// [default: text on standard output].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: Option<PathBuf>,

    /// Replace an existing file.
    #[arg(long, requires = "output", help_heading = "Writing")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Arguments of `simtool fingerprint`.
#[derive(Debug, clap::Args)]
pub(crate) struct FingerprintArgs {
    /// Files and folders to read, including subfolders; - is standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    near: Given<FingerprintRows>,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// File to write; its extension selects the format, and - prints JSON Lines.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing", long_help = output_help())]
    pub(crate) output: PathBuf,

    /// Replace an existing file.
    #[arg(long, help_heading = "Writing")]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

impl PairsArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("max_distance", self.max_distance.to_string());
        options.set_flag("rows", self.rows);
        options.set_flag("count", self.count);
        options.set_flag("groups", self.groups);
        if let Some(output) = &self.output {
            options.set("output", output);
        }
        options.set_flag("force", self.force);
        self.memory.set(options);
        self.common.set(options);
    }
}

impl FingerprintArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        self.near.set(options);
        self.terms.set(options);
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}

/// Returns a parser that accepts the names of the join methods in `methods`.
fn names(methods: impl Iterator<Item = &'static dyn Join>) -> PossibleValuesParser {
    methods.map(simtool::hamming::join::JoinKind::name).collect::<Vec<_>>().into()
}

/// Returns the help text of `--index`, with a line for each join method in `methods`.
fn index_help(methods: impl Iterator<Item = &'static dyn Join>) -> String {
    let lines: Vec<_> =
        methods.map(|method| format!("- {}: {}", method.name(), method.help())).collect();
    format!(
        "Use this method instead of the planner's choice; see --verbose.\n\n{}",
        lines.join("\n")
    )
}

/// Returns the help text of the output file, with a line for each format that the library can write.
fn output_help() -> String {
    let formats = describe_formats();
    format!(
        "File to write; its extension selects the format, and - prints JSON Lines.\n\n{formats}"
    )
}
