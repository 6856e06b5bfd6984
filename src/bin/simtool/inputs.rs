//! Access to the user's files: mapped, or read with `--no-mmap`.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::signals;
use simtool::mapped_file::FileAccess;

/// Returns the access to files that the user chose.
pub(crate) fn access(no_mmap: bool) -> FileAccess {
    if no_mmap {
        return FileAccess::READ;
    }
    // SAFETY: the help says that a mapped file must not change. If one shrinks nevertheless, the
    // program ends with an error message. If one is overwritten, the result has mixed contents.
    unsafe { FileAccess::map(signals::register_map) }
}
