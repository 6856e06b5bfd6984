//! Exit codes of the program.

use crate::console;

/// Exit code of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExitStatus {
    /// Everything was done.
    Done = 0,
    /// The command failed without results.
    Failed = 1,
    /// The command line is wrong, and no command was started.
    Usage = 2,
    /// Everything was done, but some records or files could not be read.
    DoneWithLosses = 3,
    /// A condition of `--fail-if` holds, so nothing was written.
    Alarm = 4,
    /// The command was interrupted: 128 plus 2, the number of the signal SIGINT. Shells expect this code.
    Interrupted = 130,
}

impl ExitStatus {
    /// Returns the status of a finished command. `has_losses` says whether records or files could not be
    /// read.
    pub(crate) fn after(has_losses: bool) -> Self {
        if has_losses { Self::DoneWithLosses } else { Self::Done }
    }
}

/// Prints the error that ended a command, and returns the exit status for it.
pub(crate) fn failed(error: &anyhow::Error) -> ExitStatus {
    // A closed pipe means that a reader such as `head` has enough.
    if console::is_broken_pipe(error) {
        return ExitStatus::Done;
    }
    let kind = error.downcast_ref::<simtool::Error>().map(simtool::Error::kind);
    if let Some(simtool::ErrorKind::Finished { has_losses, .. }) = kind {
        console::note(&error.to_string());
        return ExitStatus::after(*has_losses);
    }
    console::error(&console::explained(error));
    match kind {
        Some(simtool::ErrorKind::Config { .. }) => ExitStatus::Usage,
        Some(simtool::ErrorKind::Alarm { .. }) => ExitStatus::Alarm,
        _ => ExitStatus::Failed,
    }
}
