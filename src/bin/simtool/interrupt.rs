//! Ctrl-C and requests to end: removes unfinished outputs, and keeps files that existed before.

use crate::{ExitStatus, console};
use simtool::run::{HeldInterruptions, OutputState};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Exit code after an interruption, by the convention of shells.
const INTERRUPTED: i32 = 130;

/// State of the output. The code that renames the output holds the lock, so that an interruption comes
/// before or after the renaming, but not in between.
static STATE: Mutex<OutputState> = Mutex::new(OutputState::Nothing);

/// Whether the handler is installed, which ends the program after a signal.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the program sent the signal itself, after it printed an error.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Holds interruptions back until the returned value is dropped.
pub(crate) fn hold() -> Box<dyn HeldInterruptions> {
    install();
    Box::new(Held(state()))
}

/// Lock of the output's state, for which an interruption waits.
struct Held(MutexGuard<'static, OutputState>);

impl HeldInterruptions for Held {
    fn set(&mut self, state: OutputState) {
        *self.0 = state;
    }
}

fn state() -> MutexGuard<'static, OutputState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // If no handler can be installed, an interruption leaves a hidden folder behind. That does
        // not harm, so the run goes on.
        IS_INSTALLED.store(ctrlc::set_handler(end).is_ok(), Ordering::Release);
    });
}

/// Returns whether a signal to end, sent now by a signal handler that has printed an error, removes
/// half-written outputs and ends the program as failed. Async-signal-safe.
pub(crate) fn will_end_failed() -> bool {
    HAS_FAILED.store(true, Ordering::Release);
    IS_INSTALLED.load(Ordering::Acquire)
}

#[expect(clippy::exit, reason = "an interrupted program ends here, in whatever thread")]
fn end() {
    // The lock is held until the exit, so that no other thread renames the output meanwhile.
    let state = state();
    if let OutputState::Unfinished(path) = &*state {
        // Other threads may still create files in the folder, which makes its removal fail.
        for _ in 0..3 {
            if fs::remove_file(path).is_ok() || fs::remove_dir_all(path).is_ok() {
                break;
            }
        }
    }
    // The signal handler has already printed an error, so nothing more is printed.
    if HAS_FAILED.load(Ordering::Acquire) {
        std::process::exit(ExitStatus::Failed as i32);
    }
    console::error(&sentence(&state));
    std::process::exit(INTERRUPTED);
}

/// Returns the message about the output that an interruption leaves.
fn sentence(state: &OutputState) -> String {
    match state {
        OutputState::Nothing | OutputState::Unfinished(_) => {
            "interrupted; nothing was written".to_owned()
        }
        OutputState::Finished(results) => {
            format!("interrupted; the results are in {}, complete", results.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_finished_when_it_has_its_name_and_not_before() {
        let mut held = hold();
        assert!(STATE.try_lock().is_err(), "an interruption waits");
        held.set(OutputState::Unfinished("aside".into()));
        drop(held);
        assert_eq!(sentence(&state()), "interrupted; nothing was written");
        let mut held = hold();
        held.set(OutputState::Finished("out".into()));
        drop(held);
        assert_eq!(sentence(&state()), "interrupted; the results are in out, complete");
    }
}
