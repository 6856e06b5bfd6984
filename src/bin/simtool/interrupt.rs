//! Ctrl-C, and being asked to end: what is half written goes, what stood there before stays.

use crate::{Outcome, console};
use simtool::Error;
use simtool::write::whole_file::WholeFile;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Exit code after an interruption, as shells know it.
const INTERRUPTED: i32 = 130;

/// The folder or file to remove.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Whether a thread waits for signals to end the program.
static IS_INSTALLED: AtomicBool = AtomicBool::new(false);

/// Whether the signal will come from the program itself, which has told why.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Lends `write` a file that will be called `path`, and gives it that name at the end. An
/// interruption, like an error, leaves nothing of it.
pub(crate) fn whole_file(
    path: &Path,
    write: impl FnOnce(&mut WholeFile) -> Result<(), Error>,
) -> Result<(), Error> {
    install();
    let mut file = WholeFile::create(path)?;
    if let Some(aside) = file.aside() {
        remove_if_interrupted(aside.to_owned());
    }
    write(&mut file)?;
    file.finish()?;
    finished();
    Ok(())
}

/// Removes a folder or file if the program is interrupted before [`finished`] is called.
pub(crate) fn remove_if_interrupted(unfinished: PathBuf) {
    install();
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(unfinished);
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

/// There is nothing half written any more.
pub(crate) fn finished() {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

#[expect(clippy::exit, reason = "an interrupted program ends here, in whatever thread")]
fn end() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(path) = unfinished {
        // Files may still be created in a folder while it goes.
        for _ in 0..3 {
            if fs::remove_file(&path).is_ok() || fs::remove_dir_all(&path).is_ok() {
                break;
            }
        }
    }
    if HAS_FAILED.load(Ordering::Acquire) {
        std::process::exit(Outcome::Failed as i32);
    }
    console::error("interrupted; nothing was written");
    std::process::exit(INTERRUPTED);
}
