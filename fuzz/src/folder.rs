//! The folder for the files of an execution. It is in memory where the system has such a folder, and later
//! executions overwrite its files: to create a folder on a disk takes longer than to read a small file.

use std::path::Path;
use tempfile::TempDir;

/// Folder of the system whose files are in memory.
const IN_MEMORY: &str = "/dev/shm";

thread_local! {
    /// The folder of this thread.
    static FOLDER: TempDir = new().expect("a temporary folder");
}

fn new() -> std::io::Result<TempDir> {
    if Path::new(IN_MEMORY).is_dir() { tempfile::tempdir_in(IN_MEMORY) } else { TempDir::new() }
}

/// Calls `work` with the path of the folder.
pub(super) fn with_folder<R>(work: impl FnOnce(&Path) -> R) -> R {
    FOLDER.with(|folder| work(folder.path()))
}
