//! A temporary copy of the bytes that came through a pipe.

use simtool_base::error::{Error, Result};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A temporary file that is gone when the value is dropped.
#[derive(Debug)]
pub(super) enum InputCopy {
    /// A file without a name. The system frees it when the program ends, even if the program is
    /// killed. It is read at this path as long as it is open.
    Unnamed(PathBuf, #[expect(dead_code, reason = "keeps the file open")] File),
    /// A file that is removed when the value is dropped.
    Named(TempPath),
}

impl InputCopy {
    /// Copies all bytes of `input` to a file in `folder`.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read or written.
    pub(super) fn new(input: &mut dyn Read, folder: &Path) -> Result<Self> {
        let failed = |error| Error::io(folder, "copy standard input to a file in", error);
        if let Some((path, mut file)) = unnamed_file(folder) {
            io::copy(input, &mut file).map_err(failed)?;
            return Ok(Self::Unnamed(path, file));
        }
        let mut file = tempfile::Builder::new()
            .prefix("simtool-stdin-")
            .tempfile_in(folder)
            .map_err(|error| Error::io(folder, "create a file in", error))?;
        io::copy(input, file.as_file_mut()).map_err(failed)?;
        Ok(Self::Named(file.into_temp_path()))
    }

    /// Returns the path at which the file can be opened.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Unnamed(path, _) => path,
            Self::Named(path) => path,
        }
    }
}

/// Creates a file without a name in `folder`. Returns it, and a path at which it can be opened
/// again. `None` if the system cannot do that.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn unnamed_file(folder: &Path) -> Option<(PathBuf, File)> {
    use std::os::fd::AsRawFd as _;
    let file = tempfile::tempfile_in(folder).ok()?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    // Some containers have no /proc.
    File::open(&path).ok()?;
    Some((path, file))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn unnamed_file(_folder: &Path) -> Option<(PathBuf, File)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_copy_is_read_at_its_path_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let copy = InputCopy::new(&mut &b"some text"[..], folder.path()).unwrap();
        assert_eq!(fs::read(copy.path()).unwrap(), b"some text");
        // Each reader begins at the start.
        assert_eq!(fs::read(copy.path()).unwrap(), b"some text");
        // If the program is killed, a file with a name stays in the folder.
        let names = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, usize::from(!cfg!(target_os = "linux")));
        drop(copy);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
