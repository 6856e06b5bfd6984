//! Arguments of `simtool --corpus`.

use super::{InputArgs, memory_size};
use clap::{ValueEnum, ValueHint};
use std::path::PathBuf;

/// Arguments of `simtool --corpus`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Near-duplicates within a collection")]
pub(crate) struct CorpusArgs {
    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(long, value_name = "PATH", num_args = 1.., group = "source",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    /// Folder for the results; it appears when it is complete.
    #[arg(long, requires = "source", value_name = "DIR", default_value = "simtool-out", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Replace an output folder that simtool wrote.
    #[arg(long, requires = "source")]
    pub(crate) force: bool,

    /// Format of removed and pairs.
    #[arg(long, requires = "source", value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) output_format: OutputFormat,

    /// Of removed documents, write only the IDs.
    #[arg(long, requires = "source")]
    pub(crate) ids_only: bool,

    /// Also write every pair.
    #[arg(long, requires = "source")]
    pub(crate) pairs: bool,

    /// Also write the files without what is removed, in their own format, to kept/.
    #[arg(long, requires = "source")]
    pub(crate) write_kept: bool,

    /// Whether bad records stay in kept/, in their places.
    #[arg(long, requires = "write_kept", value_name = "WHAT", default_value = "keep")]
    pub(crate) quarantined: Quarantined,

    /// How near-duplicates are found.
    #[arg(long, value_name = "METHOD", default_value = "exact", requires = "source")]
    pub(crate) method: MethodName,

    /// With exact: least Jaccard similarity of near-duplicates, a decimal or a ratio such as 4/5
    /// [default: 0.8].
    #[arg(long, value_name = "S", requires = "source")]
    pub(crate) similarity: Option<String>,

    /// Match these documents against the corpus instead, and keep those that are like none of its.
    ///
    /// pairs.jsonl then holds all matches, removed.jsonl the documents that have one, with the
    /// corpus document that is most like it, and kept/ those that have none.
    #[arg(long, value_name = "PATH", num_args = 1.., requires = "source",
        value_hint = ValueHint::AnyPath)]
    pub(crate) queries: Vec<PathBuf>,

    /// With simhash: keep only pairs whose texts, read again, have a Jaccard similarity of at least
    /// S; their terms are in memory meanwhile.
    #[arg(long, value_name = "S", requires = "source")]
    pub(crate) verify: Option<String>,

    /// With simhash: bits of a fingerprint, 64 or 128 [default: 64].
    #[arg(long = "bits", value_name = "BITS", requires = "source")]
    pub(crate) simhash_bits: Option<String>,

    /// What is compared: sets of so many consecutive words (words:N) or characters (chars:N).
    #[arg(long, requires = "source", value_name = "UNIT:N", default_value = "words:3")]
    pub(crate) shingle: String,

    /// Which of several near-duplicates is kept.
    #[arg(long, requires = "source", value_name = "WHICH", default_value = "first")]
    pub(crate) keep: KeepWhich,

    /// Field that decides for --keep max and --keep min.
    #[arg(long, value_name = "NAME", requires = "source")]
    pub(crate) keep_field: Option<String>,

    /// What may be removed: only what is close to a kept document (proven), or all that a chain of
    /// close ones links (components).
    #[arg(long, requires = "source", value_name = "RULE", default_value = "proven")]
    pub(crate) cluster: ClusterBy,

    /// Memory for the join, such as 512M or 8G; with less it reads the collection more often.
    #[arg(long, value_name = "SIZE", value_parser = memory_size, requires = "source")]
    pub(crate) max_memory: Option<u64>,

    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR", requires = "source", value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,

    /// Print one JSON object instead of a table: what summary.json holds.
    #[arg(long, requires = "source")]
    pub(crate) json: bool,

    /// Print on standard error how near-duplicates are found, and why so.
    #[arg(long, requires = "source")]
    pub(crate) explain: bool,

    /// Read a sample, print what would be done and what it would take, and write nothing.
    #[arg(short = 'n', long, requires = "source")]
    pub(crate) dry_run: bool,
}

impl CorpusArgs {
    /// Whether a collection is named.
    pub(crate) fn is_asked_for(&self) -> bool {
        !self.corpus.is_empty() || self.input.files_from.is_some()
    }
}

/// How near-duplicates are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// All pairs whose sets of shingles have a Jaccard similarity of at least --similarity; takes
    /// some bytes of memory for each word, or reads the input more often.
    Exact,
    /// All pairs whose SimHash fingerprints differ in at most --max-distance bits; takes 16 bytes a
    /// document and reads the input once, so it goes where exact cannot.
    Simhash,
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
