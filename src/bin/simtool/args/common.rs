//! Arguments that most commands take.

use super::given::{Given, MemoryRows, NoteRows, ThreadRows};
use simtool::Error;
use simtool::options::Options;
use simtool::resources::Resources;
use std::ffi::OsStr;

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
