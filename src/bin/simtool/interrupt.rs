//! Ctrl-C, and being asked to end: what is half written goes, what stood there before stays.

use crate::output_file::refuse_existing;
use crate::{Outcome, console};
use simtool::Error;
use simtool::durable::Durability;
use simtool::write::output_folder::Existing;
use simtool::write::whole_file::WholeFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Exit code after an interruption, as shells know it.
const INTERRUPTED: i32 = 130;

/// How far the output is.
#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Nothing is written yet, or what was is given up.
    Nothing,
    /// A folder or file under another name, which goes with an interruption.
    Unfinished(PathBuf),
    /// It has its name, whatever the program still does.
    Finished(PathBuf),
}

/// How far the output is. Whoever gives it its name holds the lock meanwhile, so that an
/// interruption comes before or after.
static STATE: Mutex<State> = Mutex::new(State::Nothing);

/// Whether a thread waits for signals to end the program.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the signal will come from the program itself, which has told why.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Lends `write` a file that will be called `path`, and gives it that name at the end, unless another
/// has it by then that may not be replaced. An interruption, like an error, leaves nothing of it.
pub(crate) fn whole_file<T>(
    path: &Path,
    existing: Existing,
    write: impl FnOnce(&mut WholeFile) -> Result<T, Error>,
) -> Result<T, Error> {
    let create = || WholeFile::create(path, Durability::Synced);
    // To open a pipe takes until somebody reads it, and leaves nothing.
    let mut file = if WholeFile::is_direct(path) {
        create()?
    } else {
        create_unfinished(create, WholeFile::aside)?
    };
    let written = write(&mut file)?;
    file.sync()?;
    refuse_existing("output", path, existing)?;
    commit(path, || file.finish())?;
    Ok(written)
}

/// Creates a folder or file under another name, which `path` tells, and which goes if the program is
/// interrupted before [`commit`] is called. An interruption waits until it is there and known, so that
/// none comes between.
pub(crate) fn create_unfinished<T>(
    create: impl FnOnce() -> Result<T, Error>,
    path: impl FnOnce(&T) -> Option<&Path>,
) -> Result<T, Error> {
    install();
    let mut state = state();
    let created = create()?;
    if let Some(path) = path(&created) {
        *state = State::Unfinished(path.to_owned());
    }
    Ok(created)
}

/// Lets `rename` give an output its name, `results`. An interruption waits for it.
pub(crate) fn commit(
    results: &Path,
    rename: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let mut state = state();
    // What could not get its name is removed by its owner.
    *state = State::Nothing;
    rename()?;
    *state = State::Finished(results.to_owned());
    Ok(())
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Without a handler an interruption leaves a hidden folder behind, and no harm is done.
        IS_INSTALLED.store(ctrlc::set_handler(end).is_ok(), Ordering::Release);
    });
}

/// Whether a signal to end, sent now by a signal handler that has told what is wrong, removes what
/// is half written and ends the program as failed. Async-signal-safe.
pub(crate) fn will_end_failed() -> bool {
    HAS_FAILED.store(true, Ordering::Release);
    IS_INSTALLED.load(Ordering::Acquire)
}

#[expect(clippy::exit, reason = "an interrupted program ends here, in whatever thread")]
fn end() {
    // Held to the end, so that nothing that is being removed gets a name.
    let state = state();
    if let State::Unfinished(path) = &*state {
        // Files may still be created in a folder while it goes.
        for _ in 0..3 {
            if fs::remove_file(path).is_ok() || fs::remove_dir_all(path).is_ok() {
                break;
            }
        }
    }
    if HAS_FAILED.load(Ordering::Acquire) {
        std::process::exit(Outcome::Failed as i32);
    }
    console::error(&sentence(&state));
    std::process::exit(INTERRUPTED);
}

/// What an interruption left.
fn sentence(state: &State) -> String {
    match state {
        State::Nothing | State::Unfinished(_) => "interrupted; nothing was written".to_owned(),
        State::Finished(results) => {
            format!("interrupted; the results are in {}, complete", results.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_is_finished_when_it_has_its_name_and_not_before() {
        let results = Path::new("out");
        let create = || {
            assert!(STATE.try_lock().is_err(), "an interruption waits");
            Ok("aside")
        };
        create_unfinished(create, |aside| Some(Path::new(aside))).unwrap();
        assert_eq!(*state(), State::Unfinished("aside".into()));
        let failed = commit(results, || Err(Error::config("output", "out", "is no name")));
        assert!(failed.is_err());
        assert_eq!(sentence(&state()), "interrupted; nothing was written");
        commit(results, || {
            assert!(STATE.try_lock().is_err(), "an interruption waits");
            Ok(())
        })
        .unwrap();
        assert_eq!(sentence(&state()), "interrupted; the results are in out, complete");
    }
}
