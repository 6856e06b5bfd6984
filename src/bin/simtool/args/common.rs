//! Arguments that most commands take.

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use simtool::Error;
use simtool::options::{Choice, Options};
use simtool::resources::Resources;
use std::path::{Path, PathBuf};

/// How a command works, and what it says meanwhile.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct CommonArgs {
    /// Worker threads, up to 512; 0 takes all cores.
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    pub(crate) threads: String,

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

/// What a command may use in addition to threads.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct MemoryArgs {
    /// Memory beside mapped files, such as 512M or 8G (powers of 1000, as sizes are shown) or 8GiB (of
    /// 1024); with less, more is read again or goes to temporary files [default: four fifths of the
    /// machine's, or of its control group's].
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_memory: Option<String>,

    /// Folder for temporary files [default: the system's].
    #[arg(long, value_name = "DIR", value_parser = folder(), value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,
}

impl CommonArgs {
    /// Adds what was given.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("threads", &self.threads);
    }

    /// What a run may use of the machine.
    pub(crate) fn resources(&self, memory: &MemoryArgs) -> Result<Resources, Error> {
        let mut options = Options::new();
        self.set(&mut options);
        memory.set(&mut options);
        Resources::parse(&mut options)
    }

    /// The number of worker threads that was asked for.
    pub(crate) fn thread_count(&self) -> Result<usize, Error> {
        Ok(self.resources(&MemoryArgs::default())?.threads)
    }
}

impl MemoryArgs {
    /// Adds what was given.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set_given([("max_memory", &self.max_memory)]);
        if let Some(folder) = &self.tmp_dir {
            options.set("tmp_dir", folder);
        }
    }
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

/// Values with names and help texts, whose settings in backquotes are shown as options.
pub(super) fn values(
    kinds: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    let option = |name: &str| Some(format!("--{}", name.replace('_', "-")));
    let value = |(name, help): (&'static str, &'static str)| {
        PossibleValue::new(name).help(simtool::run::spell_settings(help, &option))
    };
    kinds.into_iter().map(value).collect::<Vec<_>>().into()
}

/// The values of a setting.
pub(super) fn choices<T: Choice>() -> PossibleValuesParser {
    values(T::ALL.iter().map(|choice| (choice.name(), choice.help())))
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
