//! How the user's files are opened: mapped, unless --no-mmap is given.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::signals;
use simtool::mapped_file::FileAccess;

/// How files are opened.
pub(crate) fn access(no_mmap: bool) -> FileAccess {
    if no_mmap {
        return FileAccess::READ;
    }
    // SAFETY: the help says that a mapped file must not change. One that shrinks all the same ends
    // the program with a sentence; one that is overwritten gives a result of mixed contents.
    unsafe { FileAccess::map(signals::register_map) }
}
