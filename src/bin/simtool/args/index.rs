//! Arguments of `simtool index`.

use super::given::{Given, IndexRows, LineRows};
use super::values::output_folder;
use super::{CommonArgs, InputArgs, MemoryArgs, TermArgs, examples};
use clap::{Subcommand, ValueHint};
use simtool::Error;
use simtool::options::Options;
use simtool::run::InputSettings;
use simtool::utc_time::UtcTime;
use std::path::PathBuf;

/// Subcommands of `simtool index`.
#[derive(Debug, Subcommand)]
pub(crate) enum IndexCommand {
    /// Create an index, and choose how its documents are compared, which cannot change later.
    #[command(after_long_help = examples::INDEX_CREATE)]
    Create(CreateArgs),
    /// Add documents that are not near-duplicates of earlier ones, and list the repeats.
    ///
    /// Prints a tab-separated line for each document that repeats an earlier one: its ID, the ID that
    /// it repeats, and their distance. Files that were already added are skipped; an interrupted add
    /// resumes where it stopped.
    #[command(after_long_help = examples::INDEX_ADD)]
    Add(AddArgs),
    /// Pass through JSON lines that are not near-duplicates of anything seen so far, and add them.
    ///
    /// Reads standard input, which may be compressed, and writes new lines to standard output, byte for byte and
    /// not compressed. Lines without
    /// words and lines that are not documents also pass; the latter are reported as errors. Lines are
    /// answered in batches. If the program is interrupted or its reader ends, all answered lines are in
    /// the index. If it is killed, lines of the last seconds may pass again.
    #[command(after_long_help = examples::INDEX_FILTER)]
    Filter(FilterArgs),
    /// Look up documents in an index without adding them.
    ///
    /// Prints a tab-separated line for each document that is near a document of the index: its ID,
    /// the ID of the nearest document, and their distance.
    #[command(after_long_help = examples::INDEX_QUERY)]
    Query(QueryArgs),
    /// Print the size of an index and the method that compares its documents.
    #[command(after_long_help = examples::INDEX_STAT)]
    Stat(StatArgs),
    /// Check every byte of an index.
    #[command(after_long_help = examples::INDEX_VERIFY)]
    Verify(OneIndexArgs),
    /// Merge the segments of an index, which makes it smaller and faster.
    #[command(after_long_help = examples::INDEX_COMPACT)]
    Compact(OneIndexArgs),
    /// Add all documents of another index, with their sources and repeats.
    #[command(after_long_help = examples::INDEX_MERGE)]
    Merge(MergeArgs),
    /// Write the documents of an index: how often each was repeated, from which sources, and when.
    #[command(after_long_help = examples::INDEX_EXPORT)]
    Export(ExportArgs),
    /// Remove documents from an index.
    ///
    /// Removed documents match nothing any more. `compact` also deletes them from the disk.
    #[command(after_long_help = examples::INDEX_REMOVE)]
    Remove(RemoveArgs),
    /// Copy the intact documents of a damaged index to a new one.
    #[command(after_long_help = examples::INDEX_SALVAGE)]
    Salvage(SalvageArgs),
}

/// Arguments of `simtool plan`.
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Expected number of documents, for example 5000000 or 1e11.
    #[arg(long, value_name = "COUNT")]
    pub(crate) documents: f64,

    /// Number of bits of a fingerprint.
    #[arg(id = "plan_bits", long = "bits", value_name = "BITS", default_value_t = 64)]
    pub(crate) bits: u32,

    /// Maximum number of bits in which near-duplicates differ.
    #[arg(short = 'k', long, value_name = "K", default_value_t = 3)]
    pub(crate) max_distance: u32,

    /// Memory of a machine, for example 64G [default: four fifths of this machine's].
    #[arg(long, value_name = "SIZE", value_parser = super::sizes::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Print JSON Lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of commands on one index.
#[derive(Debug, clap::Args)]
pub(crate) struct OneIndexArgs {
    /// Folder of the index.
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
    /// Folder to create for the index.
    #[arg(value_name = "INDEX", value_parser = output_folder(), value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    #[command(flatten)]
    pub(crate) near: Given<IndexRows>,

    #[command(flatten)]
    pub(crate) terms: TermArgs,

    /// Print no notes.
    #[arg(short, long, help_heading = "Running")]
    pub(crate) quiet: bool,
}

/// An index, and documents to add to it or to look up in it.
#[derive(Debug, clap::Args)]
pub(crate) struct IndexedArgs {
    /// The folder of the index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    /// Files and folders to read, including subfolders; - is standard input.
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

/// Source and time of added documents.
#[derive(Debug, clap::Args)]
pub(crate) struct ArrivalArgs {
    /// Source of the documents, for example the name of a crawl. The index counts how many sources
    /// repeat each document.
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(crate) source: String,

    /// Time of arrival, for example 2026-11-22 or 2026-11-22T18:05:00Z [default: now].
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

    /// Write a copy of every file to a folder, byte for byte, without documents that repeat others.
    ///
    /// Nothing is committed to the index before all copies are complete.
    #[arg(long, value_name = "DIR", value_parser = output_folder(), value_hint = ValueHint::DirPath,
        help_heading = "Writing")]
    pub(crate) only_new: Option<PathBuf>,

    /// Print repeats as JSON Lines, with file and record.
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

    /// Number of lines in a batch, which are answered together.
    #[arg(long, value_name = "LINES", default_value_t = 1000,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,

    /// Answer a batch this many milliseconds after its first line arrived, even if it is not full.
    #[arg(long, value_name = "MS", default_value_t = 20)]
    pub(crate) wait: u64,

    /// Append lines that repeat others to this file, each with the ID that it repeats.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) duplicates: Option<PathBuf>,

    #[command(flatten)]
    lines: Given<LineRows>,
}

impl FilterArgs {
    /// Returns the settings for reading lines.
    pub(crate) fn settings(&self) -> Result<InputSettings, Error> {
        let mut options = Options::new();
        self.lines.set(&mut options);
        self.index.memory.set(&mut options);
        InputSettings::parse(&mut options)
    }
}

/// Arguments of `simtool index query`.
#[derive(Debug, clap::Args)]
pub(crate) struct QueryArgs {
    #[command(flatten)]
    pub(crate) documents: IndexedArgs,

    /// Print all near documents instead of only the nearest.
    #[arg(long, help_heading = "Writing")]
    pub(crate) all: bool,

    /// Print JSON Lines that include, for each near document, how often it was repeated, from which
    /// sources, and when.
    #[arg(long, help_heading = "Writing")]
    pub(crate) json: bool,
}

/// Arguments of `simtool index stat`.
#[derive(Debug, clap::Args)]
pub(crate) struct StatArgs {
    /// The folder of the index.
    #[arg(value_name = "INDEX", value_hint = ValueHint::DirPath)]
    pub(crate) index: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simtool index merge`.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// Folder of the other index, which is not changed.
    #[arg(value_name = "OTHER", value_hint = ValueHint::DirPath)]
    pub(crate) other: PathBuf,
}

/// Arguments of `simtool index export`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// File to write: Parquet if its name ends in .parquet, otherwise JSON Lines; - is standard
    /// output [default: JSON Lines on standard output].
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath,
        help_heading = "Writing")]
    pub(crate) output: Option<PathBuf>,

    /// Replace an existing file.
    #[arg(long, requires = "output", help_heading = "Writing")]
    pub(crate) force: bool,
}

/// Arguments of `simtool index remove`.
#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// File with the IDs of the documents, one a line; - is standard input.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ids: PathBuf,

    /// Read each line of --ids as JSON: an ID as a string or a number, or an object with the field id,
    /// such as a line of index export. An ID with line ends needs this.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `simtool index salvage`.
#[derive(Debug, clap::Args)]
pub(crate) struct SalvageArgs {
    #[command(flatten)]
    pub(crate) index: OneIndexArgs,

    /// Folder to create for the new index.
    #[arg(value_name = "NEW", value_parser = output_folder(), value_hint = ValueHint::DirPath)]
    pub(crate) new: PathBuf,

    /// Copy the index even if it has no damage.
    #[arg(long)]
    pub(crate) force: bool,
}
