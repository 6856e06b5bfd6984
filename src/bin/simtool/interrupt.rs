//! Ctrl-C, and being asked to end: what is half written goes, what stood there before stays.

use crate::{ExitStatus, console};
use simtool::run::{HeldInterruptions, OutputState};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Exit code after an interruption, as shells know it.
const INTERRUPTED: i32 = 130;

/// How far the output is. Whoever gives it its name holds the lock meanwhile, so that an
/// interruption comes before or after.
static STATE: Mutex<OutputState> = Mutex::new(OutputState::Nothing);

/// Whether a thread waits for signals to end the program.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the program itself sends the signal, after it has printed the reason.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Lets interruptions wait until the value is dropped.
pub(crate) fn hold() -> Box<dyn HeldInterruptions> {
    install();
    Box::new(Held(state()))
}

/// The state of the output, which an interruption waits for.
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
        // Without a handler an interruption leaves a hidden folder behind, and no harm is done.
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
    // Held to the end, so that nothing that is being removed gets a name.
    let state = state();
    if let OutputState::Unfinished(path) = &*state {
        // Files may still be created in a folder while it goes.
        for _ in 0..3 {
            if fs::remove_file(path).is_ok() || fs::remove_dir_all(path).is_ok() {
                break;
            }
        }
    }
    if HAS_FAILED.load(Ordering::Acquire) {
        std::process::exit(ExitStatus::Failed as i32);
    }
    console::error(&sentence(&state));
    std::process::exit(INTERRUPTED);
}

/// What an interruption left.
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
