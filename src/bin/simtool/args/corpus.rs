//! Arguments of `simtool --corpus`.

use super::{InputArgs, MemoryArgs};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ValueEnum, ValueHint};
use simtool::pipeline::method::Method;
use std::path::PathBuf;

/// Arguments of `simtool --corpus`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates within a collection")]
pub(crate) struct CorpusArgs {
    /// Files and folders with the documents; folders are read with all that is in them and not
    /// hidden, - is standard input.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "source",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Folder for the results; it appears when it is complete.
    #[arg(long, value_name = "DIR", default_value = "simtool-out", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Replace an output folder that simtool wrote.
    #[arg(long)]
    pub(crate) force: bool,

    /// Format of removed and pairs.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) output_format: OutputFormat,

    /// Of removed documents, write only the IDs.
    #[arg(long)]
    pub(crate) ids_only: bool,

    /// Also write every pair.
    #[arg(long)]
    pub(crate) pairs: bool,

    /// Also write the files without what is removed, in their own format, to kept/.
    #[arg(long)]
    pub(crate) write_kept: bool,

    /// Whether bad records stay in kept/, in their places.
    #[arg(long, requires = "write_kept", value_name = "WHAT", default_value = "keep")]
    pub(crate) quarantined: Quarantined,

    /// How near-duplicates are found.
    #[arg(long, value_name = "METHOD", default_value = "exact",
        value_parser = methods())]
    pub(crate) method: String,

    /// With exact: least Jaccard similarity of near-duplicates, a decimal or a ratio such as 4/5
    /// [default: 0.8].
    #[arg(long, value_name = "S")]
    pub(crate) similarity: Option<String>,

    /// Match these documents against the corpus instead, and keep those that are like none of its.
    ///
    /// pairs.jsonl then holds all matches, removed.jsonl the documents that have one, with the
    /// corpus document that is most like it, and kept/ those that have none.
    #[arg(long, value_name = "PATH", num_args = 1..,
        value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    /// With simhash: keep only pairs whose texts, read again, have a Jaccard similarity of at least
    /// S; their terms are in memory meanwhile.
    #[arg(long, value_name = "S")]
    pub(crate) verify: Option<String>,

    /// With simhash: bits of a fingerprint [default: 64].
    #[arg(long = "bits", value_name = "BITS")]
    pub(crate) simhash_bits: Option<String>,

    /// What is compared: sets of so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// Which of several near-duplicates is kept.
    #[arg(long, value_name = "WHICH", default_value = "first")]
    pub(crate) keep: KeepWhich,

    /// Field that decides for --keep max and --keep min.
    #[arg(long, value_name = "NAME")]
    pub(crate) keep_field: Option<String>,

    /// What may be removed: only what is close to a kept document (proven), or all that a chain of
    /// close ones links (components).
    #[arg(long, value_name = "RULE", default_value = "proven")]
    pub(crate) cluster: ClusterBy,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// Print one JSON object instead of a table: what summary.json holds.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print on standard error how near-duplicates are found, and why so.
    #[arg(long)]
    pub(crate) explain: bool,

    /// Read a sample, print what would be done and what it would take, and write nothing.
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
}

impl CorpusArgs {
    /// Whether a collection is named.
    pub(crate) fn is_asked_for(&self) -> bool {
        !self.corpus.is_empty() || self.input.files_from.is_some()
    }
}

/// The methods that the library knows, with what it says of them.
fn methods() -> PossibleValuesParser {
    // What stands in backquotes is an option here.
    let option = |(at, part): (usize, &str)| match at % 2 {
        0 => part.to_owned(),
        _ => format!("--{}", part.replace('_', "-")),
    };
    let value = |(name, help): (&'static str, &'static str)| {
        PossibleValue::new(name).help(help.split('`').enumerate().map(option).collect::<String>())
    };
    Method::kinds().map(value).collect::<Vec<_>>().into()
}

/// Format of rows of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// One JSON object a line.
    Jsonl,
    /// Fields between tabs.
    Tsv,
    /// Columns, compressed with Zstandard.
    #[cfg(feature = "parquet")]
    Parquet,
}

/// Which of several near-duplicates is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepWhich {
    /// The first in reading order.
    First,
    /// The last in reading order.
    Last,
    /// The one with most bytes of text.
    Longest,
    /// The one with the greatest value of --keep-field.
    Max,
    /// The one with the smallest value of --keep-field.
    Min,
}

/// What becomes of bad records in copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Quarantined {
    /// They stay: what was not compared was not found to be a repetition.
    Keep,
    /// They go.
    Drop,
}

/// What may be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClusterBy {
    /// What is close to a kept document.
    Proven,
    /// All that a chain of close documents links, but one.
    Components,
}
