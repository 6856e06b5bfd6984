//! Standard input as a file of a collection, and the path that means standard output.

use simtool_base::error::{Error, Result};
use simtool_read::walk::{InputFile, Walker};
use std::io;
use std::path::Path;

/// Path of an input that means standard input.
pub const STANDARD_INPUT: &str = "-";
/// Path of an output that means standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// Returns whether the path of an output means standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    path.as_os_str() == STANDARD_OUTPUT
}

/// Adds standard input to the files of `walker`. If it is redirected from a file, that file is added.
/// Otherwise the input is copied to a file in `folder`, which is added.
pub(super) fn add_standard_input(walker: &mut Walker, folder: &Path) -> Result<()> {
    if let Some(file) = redirected_file() {
        walker.add_input_file(file);
        return Ok(());
    }
    walker.add_input_stream(&mut io::stdin().lock(), folder)
}

/// Returns standard input as a file. If it is a pipe, it is copied to a file in `folder`.
///
/// # Errors
///
/// Standard input cannot be read or copied.
pub(super) fn standard_input(folder: &Path) -> Result<InputFile> {
    let mut walker = Walker::default();
    add_standard_input(&mut walker, folder)?;
    let file = walker.finish().files.pop();
    file.ok_or_else(|| Error::io(STANDARD_INPUT, "read", io::Error::other("it is no file")))
}

/// Returns the path of the file that standard input is redirected from, which then needs no copy. `None` if
/// it is not redirected from a file, or if something was already read from it.
#[cfg(target_os = "linux")]
fn redirected_file() -> Option<&'static Path> {
    use std::fs::File;
    use std::io::Seek;
    use std::os::fd::AsFd;

    // On Linux, opening this path opens the redirected file again, with a position of its own.
    let path = Path::new("/dev/stdin");
    let mut shared = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let is_whole_file = shared.metadata().ok()?.is_file() && shared.stream_position().ok()? == 0;
    (is_whole_file && File::open(path).is_ok()).then_some(path)
}

/// Returns `None`, because this system has no path that leads to the redirected file.
#[cfg(not(target_os = "linux"))]
fn redirected_file() -> Option<&'static Path> {
    None
}
