//! Arguments that most commands take.

use super::given::{Given, MemoryRows, NoteRows, ThreadRows};
use clap::builder::{PathBufValueParser, TypedValueParser};
use simtool::Error;
use simtool::compression::Compression;
use simtool::options::Options;
use simtool::read::Format;
use simtool::resources::Resources;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Options for threads, notes and progress.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    threads: Given<ThreadRows>,

    #[command(flatten)]
    pub(crate) running: RunningArgs,
}

/// Options of [`CommonArgs`] for commands that may run on a single thread.
pub(crate) type RunningArgs = Given<NoteRows>;

/// Options for memory and temporary files.
pub(crate) type MemoryArgs = Given<MemoryRows>;

impl CommonArgs {
    /// Adds the settings whose options were given on the command line to `options`.
    pub(crate) fn set(&self, options: &mut Options) {
        self.threads.set(options);
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

/// Value of `--progress`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShowProgress {
    /// Show progress unless --quiet is given.
    Auto,
    /// Show progress even with --quiet.
    Always,
    /// Never show progress.
    Never,
}

impl RunningArgs {
    /// Returns when to show progress.
    pub(crate) fn progress(&self) -> ShowProgress {
        match self.value("progress").and_then(OsStr::to_str) {
            Some("always") => ShowProgress::Always,
            Some("never") => ShowProgress::Never,
            _ => ShowProgress::Auto,
        }
    }
}

/// File extensions of formats that simtool only writes.
const WRITTEN: [&str; 1] = ["npy"];

/// Returns the file extension of a path, without the dot, if simtool reads or writes files with this extension.
pub(crate) fn ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    let read = Format::all().flat_map(Format::extensions);
    let packed = Compression::ALL.into_iter().flat_map(Compression::extensions);
    read.chain(packed).copied().chain(WRITTEN).find(|known| *known == ending)
}

/// Returns a help text in which settings in backquotes are shown as options.
pub(super) fn spelled(help: &str) -> String {
    // The library names settings with underscores, but options have hyphens.
    simtool::run::spell_settings(help, &|name| Some(format!("--{}", name.replace('_', "-"))))
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
