//! Arguments of `simtool index`.

use super::common::output_folder;
use super::sketch::methods_of_fingerprints;
use super::{CommonArgs, InputArgs, MemoryArgs, SketchArgs, TermArgs, examples};
use clap::{Subcommand, ValueHint};
use simtool::utc_time::UtcTime;
use std::path::PathBuf;

/// What there is to do with an index.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Make an index, and fix for ever how its documents are compared.
    #[command(after_long_help = examples::INDEX_CREATE)]
    Create(CreateArgs),
    /// Add documents that are near none before them, and tell which of the others repeat what.
    ///
    /// Prints a line with tabs for each document that repeats one before it: its ID, the ID that it
    /// repeats, and their distance. What was added before is not added again, and what an interruption
    /// left is.
    #[command(after_long_help = examples::INDEX_ADD)]
    Add(AddArgs),
    /// Let the lines of JSON pass that are near none before them, and add them.
    ///
    /// Reads standard input and writes standard output: new lines byte for byte, also those that have
    /// no words or are no documents, which are told of. A line is answered when its batch is; lines of
    /// the last seconds that were answered before the program was killed may pass again.
    #[command(after_long_help = examples::INDEX_FILTER)]
    Filter(FilterArgs),
    /// Tell which documents of an index are near others, and add nothing.
    ///
    /// Prints a line with tabs for each document that is near one of the index: its ID, the nearest
    /// one's ID, and their distance.
    #[command(after_long_help = examples::INDEX_QUERY)]
    Query(QueryArgs),
    /// Tell how large an index is, and how its documents are compared.
    #[command(after_long_help = examples::INDEX_STAT)]
    Stat(StatArgs),
    /// Check every byte of an index.
    #[command(after_long_help = examples::INDEX_VERIFY)]
    Verify(OneIndexArgs),
    /// Put the segments of an index together, so that it is smaller and faster.
    #[command(after_long_help = examples::INDEX_COMPACT)]
    Compact(OneIndexArgs),
    /// Add all documents of another index, with their sources and repeats.
    #[command(after_long_help = examples::INDEX_MERGE)]
    Merge(MergeArgs),
    /// Write what an index knows of its documents: how often each was repeated, from where, and when.
    #[command(after_long_help = examples::INDEX_EXPORT)]
    Export(ExportArgs),
    /// Take documents out of an index.
    ///
    /// Nothing is near them any more; `compact` takes them from the disk, too.
    #[command(after_long_help = examples::INDEX_REMOVE)]
    Remove(RemoveArgs),
    /// Make a new index of what is intact of a damaged one.
    #[command(after_long_help = examples::INDEX_SALVAGE)]
    Salvage(SalvageArgs),
}

/// Arguments of `simtool plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// How many documents there will be, such as 5000000 or 1e11.
    #[arg(long, value_name = "COUNT")]
    pub(crate) documents: f64,

    /// Bits of a fingerprint.
    #[arg(id = "plan_bits", long = "bits", value_name = "BITS", default_value_t = 64)]
    pub(crate) bits: u32,

    /// Most bits in which near-duplicates differ.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    /// Memory of a machine, such as 64G [default: four fifths of this one's].
    #[arg(long, value_name = "SIZE", value_parser = super::sizes::bytes)]
    pub(crate) memory: Option<u64>,

    /// Print lines of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// An index, and how to work on it.
#[derive(Debug, clap::Args)]
pub(crate) struct OneIndexArgs {
    /// The folder of the index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Arguments of `simtool index create`.
#[derive(Debug, clap::Args)]
pub(crate) struct CreateArgs {
    /// The folder of the index, which is made.
    #[arg(value_name = "INDEX", value_parser = output_folder(), value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    /// How fingerprints are made.
    #[arg(long, value_name = "METHOD", value_parser = methods_of_fingerprints(),
        default_value = "simhash")]
    pub(crate) method: String,

    /// Most bits, or lanes, in which a document may differ from one that it repeats [default: 3, or
    /// what the method says].
    #[arg(short = 'k', long, value_name = "K")]
    pub(crate) max_distance: Option<String>,

    #[command(flatten)]
    pub(crate) sketch: SketchArgs,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// Print no notes.
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

/// An index, and documents that are looked for in it.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexedArgs {
    /// The folder of the index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    /// Files and folders with the documents; folders are read with all that is in them, - is
    /// standard input.
    #[arg(value_name = "PATH", required_unless_present = "files_from",
        value_hint = ValueHint::AnyPath)]
    pub(crate) corpus: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Where documents come from.
#[derive(Debug, clap::Args)]
pub(crate) struct ArrivalArgs {
    /// What the documents come from, such as the name of a crawl: the index counts for each document
    /// how many sources repeat it.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) source: String,

    /// When they came, as 2026-11-22 or 2026-11-22T18:05:00Z [default: now].
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<UtcTime>,
}

/// Arguments of `simtool index add`.
#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    #[command(flatten)]
    pub(crate) documents: IndexedArgs,

    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,

    /// Write a copy of every file to a folder, byte for byte but for the documents that repeat others.
    ///
    /// Everything is committed when the copies are complete.
    #[arg(long, value_name = "DIR", value_parser = output_folder(), value_hint = ValueHint::DirPath,
        help_heading = "Writing")]
    pub(crate) only_new: Option<PathBuf>,

    /// Print repeats as lines of JSON, with file and record.
    #[arg(long, help_heading = "Writing")]
    pub(crate) json: bool,
}

/// Arguments of `simtool index filter`.
#[derive(Debug, clap::Args)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    #[command(flatten)]
    pub(crate) arrival: ArrivalArgs,

    /// Lines after which a batch is answered.
    #[arg(long, value_name = "LINES", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    /// Milliseconds after its first line in which a batch is answered, however few lines it has.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    pub(crate) wait: u64,

    /// Append the lines that repeat others to a file, each with the ID that it repeats.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) duplicates: Option<PathBuf>,

    /// Field that holds the text; dots lead into nested objects.
    #[arg(long, value_name = "FIELD", default_value = "text")]
    pub(crate) text_field: String,

    /// Field that holds the ID.
    #[arg(long, value_name = "FIELD", default_value = "id")]
    pub(crate) id_field: String,
}

/// Arguments of `simtool index query`.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) documents: IndexedArgs,

    /// Print all documents that are near, and not the nearest alone.
    #[arg(long, help_heading = "Writing")]
    pub(crate) all: bool,

    /// Print lines of JSON, with what is known of the documents that are near: how often each was
    /// repeated, from where, and when.
    #[arg(long, help_heading = "Writing")]
    pub(crate) json: bool,
}

/// Arguments of `simtool index stat`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatArgs {
    /// The folder of the index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    /// Print an object of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simtool index merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// The folder of the other index, which stays as it is.
    #[arg(value_name = "OTHER", value_hint = ValueHint::DirPath)]
    pub(crate) other: PathBuf,
}

/// Arguments of `simtool index export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// The file to write: JSON Lines, or Parquet if it ends in .parquet [default: JSON Lines on
    /// standard output, which is also -].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: Option<PathBuf>,

    /// Replace the file, if there is one.
    #[arg(long, requires = "output", help_heading = "Writing")]
    pub(crate) force: bool,
}

/// Arguments of `simtool index remove`.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// A file with the IDs of the documents, one a line; - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ids: PathBuf,
}

/// Arguments of `simtool index salvage`.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// The folder of the new index, which is made.
    #[arg(value_name = "NEW", value_parser = output_folder(), value_hint = ValueHint::DirPath)]
    pub(crate) new: PathBuf,
}
