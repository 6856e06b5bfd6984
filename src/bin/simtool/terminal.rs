//! Shows the notes, faults and progress of a run on standard error.

use crate::args::Call;
use crate::console::Verbosity;
use crate::progress_line::{ProgressLine, ShowProgress};
use crate::{console, inputs, interrupt, signals};
use simtool::progress::Progress;
use simtool::run::{Face, HeldInterruptions, Notice};
use simtool::stages::fault::{Fault, Severity};
use simtool::stages::mapped_file::FileAccess;

/// Maximum number of faults of each kind that are shown. Further faults are only counted.
const SHOWN_FAULTS: usize = 20;

/// Shows the messages of a run on standard error.
pub(crate) struct Terminal {
    verbosity: Verbosity,
    access: FileAccess,
    progress: ProgressLine,
}

impl Terminal {
    pub(crate) fn new(call: &Call) -> Self {
        signals::keep_ignored(interrupt::install);
        interrupt::set_storing(call.has("resume"));
        let verbosity = call.verbosity();
        Self {
            verbosity,
            access: inputs::access(call.has("no_mmap")),
            progress: ProgressLine::new(verbosity, ShowProgress::of(call)),
        }
    }

    /// Removes the progress bar and shows the faults of the input.
    pub(crate) fn end(&self, faults: &[Fault]) {
        self.progress.end();
        show(faults, self.verbosity);
    }

    /// Shows a note, unless `--quiet` was given.
    pub(crate) fn note(&self, note: &str) {
        if !self.verbosity.quiet {
            self.progress.suspend(|| console::note(note));
        }
    }

    /// Shows a note that is only for users who gave `--verbose`.
    pub(crate) fn detail(&self, detail: &str) {
        if self.verbosity.verbose {
            self.progress.suspend(|| console::note(detail));
        }
    }
}

impl Face for Terminal {
    fn progress(&self) -> &dyn Progress {
        &self.progress
    }

    fn access(&self) -> FileAccess {
        self.access
    }

    fn reads_notes(&self) -> bool {
        !self.verbosity.quiet
    }

    fn notice(&self, notice: Notice<'_>) {
        match notice {
            Notice::Note(note) => self.note(note),
            Notice::Warning(warning) => self.progress.suspend(|| console::warning(warning)),
            Notice::Explanation(text) if self.verbosity.verbose => {
                self.progress.suspend(|| console::stats(text));
            }
            Notice::Chosen(method, reasons) if self.reads_notes() => {
                self.progress.suspend(|| {
                    console::note(&format!("chosen: {method}"));
                    for reason in reasons {
                        console::note(reason);
                    }
                });
            }
            // These faults explain the error that follows, so they are shown even with `--quiet`.
            Notice::Faults(faults) => self.progress.suspend(|| {
                show(faults, Verbosity { verbose: false, quiet: false });
            }),
            Notice::Detail(detail) => self.detail(detail),
            Notice::Explanation(_) | Notice::Chosen(..) => {}
        }
    }

    fn spelled(&self, name: &str) -> Option<String> {
        console::option(name)
    }

    fn defer_interruptions(&self, is_deferred: bool) {
        interrupt::defer(is_deferred);
    }

    fn is_interrupted(&self) -> bool {
        interrupt::is_noted()
    }

    fn hold_interruptions(&self) -> Box<dyn HeldInterruptions + '_> {
        interrupt::hold()
    }
}

impl Drop for Terminal {
    /// Removes the progress bar, so that an error that ends the run starts on a line of its own.
    fn drop(&mut self) {
        self.progress.end();
    }
}

/// Shows faults on standard error, one kind after the other.
pub(crate) fn show(faults: &[Fault], Verbosity { verbose, quiet }: Verbosity) {
    let most = if verbose { usize::MAX } else { SHOWN_FAULTS };
    let is_shown = |fault: &&Fault| !quiet || fault.severity == Severity::Loss;
    let faults: Vec<&Fault> = faults.iter().filter(is_shown).collect();
    let mut codes: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
    // Kinds are sorted by their codes, so that the output does not depend on threads.
    codes.sort_unstable();
    codes.dedup();
    for code in codes {
        let of_code: Vec<&Fault> =
            faults.iter().copied().filter(|fault| fault.code == code).collect();
        for fault in of_code.iter().take(most) {
            match fault.severity {
                Severity::Warning => console::note(&fault.to_string()),
                Severity::Loss => console::error(&fault.to_string()),
            }
        }
        let more = of_code.len().saturating_sub(most);
        if more > 0 {
            console::note(&format!("[{code}] {more} more; --verbose shows all"));
        }
    }
}
