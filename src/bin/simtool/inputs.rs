//! Opens the files of the user: by mapping them, or by reading them with `SIMTOOL_NO_MMAP=true`.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::signals;
use simtool::mapped_file::FileAccess;

/// Returns how files are opened: mapped into memory, or read if `no_mmap` is true.
pub(crate) fn access(no_mmap: bool) -> FileAccess {
    if no_mmap {
        return FileAccess::READ;
    }
    // SAFETY: the help says that a mapped file must not change. If a file shrinks nevertheless, the program
    // ends with an error message. If it is overwritten, the results come from a mix of contents.
    unsafe { FileAccess::map(signals::register_map) }
}
