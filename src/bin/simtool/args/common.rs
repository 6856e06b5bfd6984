//! Arguments that most commands take.

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ValueEnum, ValueHint};
use simtool::Error;
use simtool::options::{Choice, Options};
use simtool::resources::Resources;
use std::path::{Path, PathBuf};

/// Options for threads, notes and progress.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct CommonArgs {
    /// Number of worker threads, up to 512; 0 uses all cores.
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    pub(crate) threads: String,

    /// File with options of this command in TOML; options of the command line go before them.
    ///
    /// Options can also be in the environment, with SIMTOOL_ before their names, as in `SIMTOOL_MAX_MEMORY=4G`.
    /// `SIMTOOL_CONFIG` names the file. The environment goes before the file, and the command line before both.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Print a settings file with all options of this command, their meanings and defaults.
    #[arg(long)]
    pub(crate) print_config: bool,

    #[command(flatten)]
    pub(crate) running: RunningArgs,
}

/// Options of [`CommonArgs`] for commands that may run on a single thread.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct RunningArgs {
    /// Read files into memory instead of mapping them.
    ///
    /// A mapped file must not change while it is read.
    #[arg(long)]
    pub(crate) no_mmap: bool,

    /// Print neither notes nor progress.
    #[arg(short, long)]
    pub(crate) quiet: bool,

    /// Print more notes, and every fault of an input.
    ///
    /// Without it, the first 20 faults of each kind are printed. The notes are counts of the documents that
    /// were read and found.
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,

    /// When to show progress: as a bar on a terminal, otherwise as a line every two seconds.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: ShowProgress,

    /// Print counts, and the time and share of each stage, on standard error.
    #[arg(long)]
    pub(crate) stats: bool,
}

/// Options for memory and temporary files.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Running")]
pub(crate) struct MemoryArgs {
    /// Memory to use, for example 512M or 8G [default: four fifths of the machine's memory].
    ///
    /// K, M and G are powers of 1000, and KiB, MiB and GiB powers of 1024. Mapped files do not count. With less
    /// memory, simtool reads more files twice and writes more temporary files. In a control group with a limit,
    /// the default is four fifths of that limit.
    #[arg(long, value_name = "SIZE")]
    pub(crate) max_memory: Option<String>,

    /// Folder for temporary files [default: the system's temporary folder].
    #[arg(long, value_name = "DIR", value_parser = folder(), value_hint = ValueHint::DirPath)]
    pub(crate) tmp_dir: Option<PathBuf>,
}

impl CommonArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set("threads", &self.threads);
    }

    /// Returns the threads, memory and temporary folder that the run may use.
    pub(crate) fn resources(&self, memory: &MemoryArgs) -> Result<Resources, Error> {
        let mut options = Options::new();
        self.set(&mut options);
        memory.set(&mut options);
        Resources::parse(&mut options)
    }

    /// Returns the number of threads that the option `--threads` gives.
    pub(crate) fn thread_count(&self) -> Result<usize, Error> {
        Ok(self.resources(&MemoryArgs::default())?.threads)
    }
}

impl MemoryArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        options.set_given([("max_memory", &self.max_memory)]);
        if let Some(folder) = &self.tmp_dir {
            options.set("tmp_dir", folder);
        }
    }
}

/// Value of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowProgress {
    /// Show progress unless --quiet is given.
    Auto,
    /// Show progress even with --quiet.
    Always,
    /// Never show progress.
    Never,
}

/// File extensions that simtool reads or writes.
const ENDINGS: [&str; 12] =
    ["csv", "gz", "html", "json", "jsonl", "ndjson", "npy", "parquet", "tsv", "txt", "warc", "zst"];

/// Returns the file extension of a path, without the dot, if it is one of [`ENDINGS`].
pub(crate) fn ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    ENDINGS.into_iter().find(|known| *known == ending)
}

/// Returns a parser that accepts values by their names, and shows their help texts. `kinds` has the name and
/// the help text of each value. Settings in backquotes in a help text are shown as options.
pub(super) fn values(
    kinds: impl IntoIterator<Item = (&'static str, &'static str)>,
) -> PossibleValuesParser {
    let value =
        |(name, help): (&'static str, &'static str)| PossibleValue::new(name).help(spelled(help));
    kinds.into_iter().map(value).collect::<Vec<_>>().into()
}

/// Returns a help text in which settings in backquotes are shown as options.
pub(super) fn spelled(help: &str) -> String {
    // The library names settings with underscores, but options have hyphens.
    simtool::run::spell_settings(help, &|name| Some(format!("--{}", name.replace('_', "-"))))
}

/// Returns a parser that accepts the names of the values of the setting `T`, for example of
/// [`ClusterRule`](simtool::ClusterRule).
pub(super) fn choices<T: Choice>() -> PossibleValuesParser {
    values(T::ALL.iter().map(|choice| (choice.name(), choice.help())))
}

/// Returns a parser for the folder of results. It refuses `-`, and names with a file extension unless a
/// folder of that name exists.
pub(super) fn output_folder() -> impl TypedValueParser<Value = PathBuf> {
    folder().try_map(|path| match ending(&path) {
        // A name such as out.jsonl most likely means a file, unless a folder has this name.
        Some(ending) if !path.is_dir() => {
            Err(format!("results are several files in a folder: name one, without .{ending}"))
        }
        _ => Ok(path),
    })
}

/// Returns a parser for a folder. It refuses `-`, which means standard input or output elsewhere.
pub(super) fn folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.as_os_str().as_encoded_bytes() {
        b"-" => Err("is never a folder: name one, or ./- if that is its name"),
        _ => Ok(path),
    })
}
