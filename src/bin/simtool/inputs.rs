//! Opens the user's files: mapped, unless told otherwise.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::signals;
use simtool::input_format::Format;
use simtool::mapped_file::{FileAccess, MappedFile};
use simtool::read::walk::{InputFile, Walker};
use simtool::{Error, ErrorKind};
use std::fs::File;
use std::io;
use std::path::Path;

/// What names standard input where a file is named.
pub(crate) const STANDARD_INPUT: &str = "-";

/// How a file's bytes come into memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Mapped where that is possible.
    Map,
    /// Read.
    Read,
}

impl Access {
    /// What `--no-mmap` asks for.
    pub(crate) fn of(no_mmap: bool) -> Self {
        if no_mmap { Self::Read } else { Self::Map }
    }
}

/// The bytes of `path`.
pub(crate) fn open(path: &Path, access: Access) -> Result<MappedFile, Error> {
    if access == Access::Read {
        return MappedFile::read(path);
    }
    // SAFETY: the help says that a mapped file must not change. One that shrinks all the same ends
    // the program with a sentence; one that is overwritten gives a result of mixed contents.
    match unsafe { MappedFile::open(path) } {
        Ok(file) => {
            signals::register_map(path, &file);
            Ok(file)
        }
        // Some file systems cannot map. What is opened here is a few files that are needed whole.
        Err(error) if matches!(error.kind(), ErrorKind::Io { action: "map", .. }) => {
            MappedFile::read(path)
        }
        Err(error) => Err(error),
    }
}

/// Adds standard input: the file that it is, or a copy in `folder` of what comes through it.
pub(crate) fn add_standard_input(walker: &mut Walker, folder: &Path) -> Result<(), Error> {
    if let Some(file) = standard_input_file() {
        walker.add_input_file(file);
        return Ok(());
    }
    walker.add_input_stream(&mut io::stdin().lock(), folder)
}

/// Standard input as [`add_standard_input`] adds it.
pub(crate) fn standard_input(folder: &Path) -> Result<InputFile, Error> {
    let mut walker = Walker::default();
    add_standard_input(&mut walker, folder)?;
    let file = walker.finish().files.pop();
    file.ok_or_else(|| Error::io(STANDARD_INPUT, "read", io::Error::other("it is no file")))
}

/// What leads to standard input if it is a file, of which nothing was read yet: then it needs no copy.
#[cfg(target_os = "linux")]
fn standard_input_file() -> Option<&'static Path> {
    use std::io::Seek;
    use std::os::fd::AsFd;

    // Here it leads to the file itself, with a position of its own for each who opens it.
    let path = Path::new("/dev/stdin");
    let mut shared = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let is_whole_file = shared.metadata().ok()?.is_file() && shared.stream_position().ok()? == 0;
    (is_whole_file && File::open(path).is_ok()).then_some(path)
}

/// Other systems have no path that leads to it.
#[cfg(not(target_os = "linux"))]
fn standard_input_file() -> Option<&'static Path> {
    None
}

/// The bytes of `path`, or nothing if there is no such file.
pub(crate) fn open_if_there(path: &Path, access: Access) -> Result<Option<MappedFile>, Error> {
    match open(path, access) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        },
    }
}

/// How the files of a collection are opened.
pub(crate) fn collection_access(access: Access) -> FileAccess {
    match access {
        Access::Read => FileAccess::READ,
        // SAFETY: as in `open`: the help says that a mapped file must not change.
        Access::Map => unsafe { FileAccess::map(signals::register_map) },
    }
}

/// The format that `--format` names, if it is given.
pub(crate) fn format(name: Option<&str>) -> Result<Option<Format>, Error> {
    let Some(name) = name else { return Ok(None) };
    Format::from_name(name).map(Some).ok_or_else(|| {
        let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
        Error::config("format", name, format!("must be one of {}", names.join(", ")))
    })
}
