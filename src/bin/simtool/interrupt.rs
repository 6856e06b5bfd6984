//! Handles Ctrl-C and requests to end: removes unfinished outputs, and keeps files that existed before.

use crate::console;
use crate::exit_status::ExitStatus;
use simtool::run::{HeldInterruptions, OutputState};
use simtool::write::output_folder::remove_unfinished;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// State of the output of this run. Code that renames the output holds the lock of this value. So an
/// interruption is handled before or after the renaming, but not in between.
static STATE: Mutex<OutputState> = Mutex::new(OutputState::Nothing);

/// Whether the signal handler that ends the program is installed.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the program itself sent the interruption, after it had printed an error. Then the program ends as
/// failed and not as interrupted.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Whether the next interruption is only noted in [`IS_NOTED`], so that the run can complete what it began.
static IS_DEFERRED: AtomicBool = AtomicBool::new(false);

/// Whether an interruption came after the output was finished.
static HAS_FINISHED: AtomicBool = AtomicBool::new(false);

/// Whether an interruption came while interruptions were deferred.
static IS_NOTED: AtomicBool = AtomicBool::new(false);

/// Whether this run stores the data that it reads. After an interruption, the same command then need not read it again.
static STORES: AtomicBool = AtomicBool::new(false);

/// Records whether this run stores what it reads.
pub(crate) fn set_storing(stores: bool) {
    STORES.store(stores, Ordering::Release);
}

/// Chooses whether the next interruption is only noted, or ends the program at once.
pub(crate) fn defer(is_deferred: bool) {
    IS_NOTED.store(false, Ordering::Release);
    IS_DEFERRED.store(is_deferred, Ordering::Release);
}

/// Returns whether an interruption came while interruptions were deferred.
pub(crate) fn is_noted() -> bool {
    IS_NOTED.load(Ordering::Acquire)
}

/// Delays the handling of interruptions until the returned value is dropped.
pub(crate) fn hold() -> Box<dyn HeldInterruptions> {
    Box::new(HeldOutput(state()))
}

/// Guard that holds the lock of [`STATE`]. An interruption waits until the lock is released.
struct HeldOutput(MutexGuard<'static, OutputState>);

impl HeldInterruptions for HeldOutput {
    fn set(&mut self, state: OutputState) {
        *self.0 = state;
    }
}

fn state() -> MutexGuard<'static, OutputState> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the handler, which handles interruptions from now on.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Without a handler, an interruption leaves a hidden folder behind. This does no harm, so the run
        // goes on.
        IS_INSTALLED.store(ctrlc::set_handler(end).is_ok(), Ordering::Release);
    });
}

/// Prepares for an interruption that the program sends to itself after an error. Returns whether the
/// interruption will remove unfinished outputs and end the program as failed. The caller is a signal handler,
/// so this function is async-signal-safe.
#[cfg(unix)]
pub(crate) fn will_end_failed() -> bool {
    HAS_FAILED.store(true, Ordering::Release);
    IS_INSTALLED.load(Ordering::Acquire)
}

#[expect(clippy::exit, reason = "an interrupted program ends here, in whatever thread")]
fn end() {
    let has_failed = HAS_FAILED.load(Ordering::Acquire);
    // A second interruption ends a run that does not come to its end.
    if !has_failed && IS_DEFERRED.swap(false, Ordering::AcqRel) {
        IS_NOTED.store(true, Ordering::Release);
        return;
    }
    // The lock is held until the program exits, so that no other thread renames the output meanwhile.
    let state = state();
    // Nothing can be lost any more, and the program is about to end. It ends as if there were no interruption, so
    // its exit code says that the results are there. A second interruption ends a program that does not end.
    if !has_failed
        && matches!(*state, OutputState::Finished(_))
        && !HAS_FINISHED.swap(true, Ordering::AcqRel)
    {
        return;
    }
    if let OutputState::Unfinished(path) = &*state {
        // Other threads may still create files in the folder, which makes removing it fail. So it is tried
        // again.
        for _ in 0..3 {
            remove_unfinished(path);
            if !path.exists() {
                break;
            }
        }
    }
    // The handler that sent the signal has already printed an error, so nothing more is printed.
    if has_failed {
        std::process::exit(ExitStatus::Failed as i32);
    }
    console::error(&sentence(&state, STORES.load(Ordering::Acquire)));
    std::process::exit(ExitStatus::Interrupted as i32);
}

/// Returns the message about the output after an interruption. `stores` says whether the run stored what it read.
fn sentence(state: &OutputState, stores: bool) -> String {
    match state {
        OutputState::Nothing | OutputState::Unfinished(_) if stores => {
            "interrupted; no results were written, but what was read is stored: the same command goes on from there".to_owned()
        }
        // Some lines of the results may be on standard output already.
        OutputState::Nothing => "interrupted".to_owned(),
        OutputState::Unfinished(_) => "interrupted; no results were written".to_owned(),
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
        assert_eq!(sentence(&state(), false), "interrupted; no results were written");
        assert!(sentence(&state(), true).ends_with("the same command goes on from there"));
        let mut held = hold();
        held.set(OutputState::Nothing);
        drop(held);
        assert_eq!(sentence(&state(), false), "interrupted");
        let mut held = hold();
        held.set(OutputState::Finished("out".into()));
        drop(held);
        assert_eq!(sentence(&state(), true), "interrupted; the results are in out, complete");
        // The program would exit here if the interruption counted.
        end();
    }
}
