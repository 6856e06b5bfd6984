//! Inputs of commands: N and M, and files. Files are mapped, or read if `SIMTOOL_NO_MMAP=true` is set.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::args::Call;
use crate::signals;
use simtool::options::Options;
use simtool::run::WordsRequest;
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::resources::addressable_memory;

/// Returns how files are opened: mapped into memory, or read if `no_mmap` is true. If the address space is limited,
/// they are read as well, because the maps of large files would leave no space for the program itself.
pub(crate) fn access(no_mmap: bool) -> FileAccess {
    if no_mmap || addressable_memory().is_some() {
        return FileAccess::READ;
    }
    // SAFETY: the help says that a mapped file must not change. If a file shrinks nevertheless, the program
    // ends with an error message. If it is overwritten, the results come from a mix of contents.
    unsafe { FileAccess::map(signals::register_map) }
}

/// Returns N and M as the user wrote them, and takes the paths of the files that they need out of `options`.
pub(crate) fn words(call: &Call, options: &mut Options) -> WordsRequest {
    let text = |name| call.value(name).map(|value| value.to_string_lossy().into_owned());
    WordsRequest::parse(text("features"), text("bits"), options)
}
