//! Ctrl-C, and being asked to end: what is half written goes, what stood there before stays.

use crate::console;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};

/// Exit code after an interruption, as shells know it.
const INTERRUPTED: i32 = 130;

/// The folder to remove.
static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Removes `folder` if the program is interrupted before [`finished`] is called.
pub(crate) fn remove_if_interrupted(folder: PathBuf) {
    static INSTALLED: Once = Once::new();
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = Some(folder);
    INSTALLED.call_once(|| {
        // Without a handler an interruption leaves a hidden folder behind, and no harm is done.
        drop(ctrlc::set_handler(end));
    });
}

/// There is nothing half written any more.
pub(crate) fn finished() {
    *UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

#[expect(clippy::exit, reason = "an interrupted program ends here, in whatever thread")]
fn end() {
    let unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(folder) = unfinished {
        // Files may still be created in it while it goes.
        for _ in 0..3 {
            if fs::remove_dir_all(&folder).is_ok() {
                break;
            }
        }
    }
    console::error("interrupted; nothing was written");
    std::process::exit(INTERRUPTED);
}
