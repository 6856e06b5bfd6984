//! Arguments of the commands on fingerprints alone: `join`, `search` and `fingerprint`.

use super::sketch::methods_of_fingerprints;
use super::{CommonArgs, InputArgs, MemoryArgs, SketchArgs, TermArgs};
use clap::ValueHint;
use clap::builder::PossibleValuesParser;
use simtool::fingerprint_file::describe_formats;
use simtool::hamming::join::Join;
use simtool::hamming::joins;
use simtool::options::Options;
use std::path::{Path, PathBuf};

/// Arguments of `simtool join`.
#[derive(Debug, clap::Args)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) rows: RowsArgs,

    /// Use this method instead of the planner's choice; see --explain.
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

    /// The fingerprints that are searched for; - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) queries: PathBuf,

    /// Use this method instead of the planner's choice; see --explain.
    #[arg(long, value_name = "NAME", value_parser = names(joins::searches()),
        long_help = index_help(joins::searches()))]
    pub(crate) index: Option<String>,

    #[command(flatten)]
    pub(crate) pairs: PairsArgs,
}

/// The file that is joined with itself, or searched.
#[derive(Debug, clap::Args)]
pub(crate) struct RowsArgs {
    /// Fingerprints, in a format that is told by content; - is standard input.
    ///
    /// simtool's packed file; a NumPy array of uint64 of one or two dimensions; text with a lower-case
    /// hexadecimal number a line, an empty line where a row has none; JSON Lines with such a number
    /// or null in the field "fingerprint"; Parquet with a column "fingerprint" of bytes (the highest
    /// first), of 64-bit integers or of hexadecimal text, null where a row has none.
    #[arg(value_name = "FILE", required_unless_present = "fingerprints",
        value_hint = ValueHint::FilePath)]
    file: Option<PathBuf>,

    /// The same by its old name.
    #[arg(long, value_name = "FILE", conflicts_with = "file", hide = true)]
    fingerprints: Option<PathBuf>,
}

impl RowsArgs {
    /// The file, of which clap sees that it is named once.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_ref().or(self.fingerprints.as_ref()).map_or(Path::new(""), PathBuf::as_path)
    }
}

/// Which pairs of fingerprints, and in which form.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
pub(crate) struct PairsArgs {
    /// Most bits in which the rows of a pair may differ.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    /// Print row numbers, from 0, also where the file has IDs.
    ///
    /// JSON Lines and Parquet as `simtool fingerprint` writes them have an ID for each row, and lines
    /// have these. Arrays and Parquet files of pairs always have row numbers.
    #[arg(long)]
    pub(crate) rows: bool,

    /// Print on standard error which methods there are, what they would take, and the choice.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Write only the number of pairs.
    #[arg(long, help_heading = "Writing")]
    pub(crate) count: bool,

    /// Write each group of equal rows once, then the pairs of groups, each named by its first row.
    ///
    /// Lines are "group" and the rows, then "pair", a, b and distance; of a search, groups of
    /// queries are "query-group".
    #[arg(long, conflicts_with = "count", help_heading = "Writing")]
    pub(crate) groups: bool,

    /// Write to a file: text if it ends in .tsv or in nothing, an array of shape n x 3 if it ends
    /// in .npy, the columns a, b and distance if it ends in .parquet [default: text on standard
    /// output, which is also -].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file, if there is one.
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
    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    /// How fingerprints are made.
    #[arg(long, value_name = "METHOD", value_parser = methods_of_fingerprints(),
        default_value = "simhash")]
    pub(crate) method: String,

    #[command(flatten)]
    pub(crate) sketch: SketchArgs,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// File to write; its extension selects the format, and - prints JSON Lines.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing", long_help = output_help())]
    pub(crate) output: PathBuf,

    /// Replace the file, if there is one.
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
    /// Adds the settings that were given.
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
    /// Adds the settings that were given.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("method", &self.method);
        self.sketch.set(options);
        self.terms.set(options);
        options.set("output", &self.output);
        options.set_flag("force", self.force);
        self.input.set(options);
        self.memory.set(options);
        self.common.set(options);
    }
}

/// Returns the names of these methods.
fn names(methods: impl Iterator<Item = &'static dyn Join>) -> PossibleValuesParser {
    methods.map(simtool::hamming::join::JoinKind::name).collect::<Vec<_>>().into()
}

/// Returns the help of `--index`, with a line for each of these methods.
fn index_help(methods: impl Iterator<Item = &'static dyn Join>) -> String {
    let lines: Vec<_> =
        methods.map(|method| format!("- {}: {}", method.name(), method.help())).collect();
    format!(
        "Use this method instead of the planner's choice; see --explain.\n\n{}",
        lines.join("\n")
    )
}

/// Returns the help of the output file, which lists the formats of the library.
fn output_help() -> String {
    let formats = describe_formats();
    format!(
        "File to write; its extension selects the format, and - prints JSON Lines.\n\n{formats}"
    )
}
