//! Arguments that most commands take.

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use simtool::kernels::Isa;
use simtool::resources::{Resources, default_memory};
use std::path::{Path, PathBuf};

/// How a command works, and what it says meanwhile.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct CommonArgs {
    /// Worker threads, up to 512; 0 takes all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(0..=512))]
    pub(crate) threads: u16,

    #[command(flatten)]
    pub(crate) running: RunningArgs,
}

/// The same of a command that may have no work for several threads.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunningArgs {
    /// Read the files into memory instead of mapping them.
    ///
    /// A mapped file must not change while it is read.
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Print no notes and no progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print more notes, where --quiet prints none: what was read and found, and every fault of an
    /// input instead of the first 20 of each kind.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// When progress is shown: as a bar on a terminal, else as a line every two seconds.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ShowProgress,

    /// Print counts, and the time and share of each stage, on standard error.
    #[arg(long)]
    pub(crate) stats: bool,
}

/// What a command may use beside threads.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct MemoryArgs {
    /// Memory beside mapped files, such as 512M or 8G (powers of 1000, as sizes are shown) or 8GiB (of
    /// 1024); with less, more is read again or goes to temporary files [default: four fifths of the
    /// machine's, or of its control group's].
    #[arg(long, value_name = "SIZE", value_parser = super::sizes::bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR", value_parser = folder(), value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,
}

impl CommonArgs {
    /// What a run may use of the machine.
    pub(crate) fn resources(&self, memory: &MemoryArgs) -> Resources {
        Resources {
            memory: memory.max_memory.unwrap_or_else(default_memory),
            temporary_folder: memory.tmp_dir.clone().unwrap_or_else(std::env::temp_dir),
            threads: self.thread_count(),
            isa: Isa::detected(),
        }
    }

    /// The number of worker threads that was asked for.
    pub(crate) fn thread_count(&self) -> usize {
        match self.threads {
            0 => all_cores(),
            threads => threads.into(),
        }
    }
}

/// As many threads as there are cores.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// When progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowProgress {
    /// Unless --quiet is given.
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

/// Endings of files that hold documents, rows or a report.
const ENDINGS: [&str; 12] =
    ["csv", "gz", "html", "json", "jsonl", "ndjson", "npy", "parquet", "tsv", "txt", "warc", "zst"];

/// The ending of a path that says a format of files.
pub(crate) fn ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.into_iter().find(|known| *known == ending)
}

/// The path of a folder for results: neither `-` nor the name of a file, unless it is that of a folder
/// that is there.
pub(super) fn output_folder() -> impl TypedValueParser<Value = PathBuf> {
    folder().try_map(|path| match ending(&path) {
        Some(ending) if !path.is_dir() => {
            Err(format!("results are several files in a folder: name one, without .{ending}"))
        }
        _ => Ok(path),
    })
}

/// The path of a folder, which `-` is not: everywhere else it is standard input or output.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str().as_encoded_bytes() {
        b"-" => Err("is never a folder: name one, or ./- if that is its name"),
        _ => Ok(path),
    })
}
