//! Opens the user's files: mapped, unless told otherwise.
#![expect(unsafe_code, reason = "the user, for whom this program speaks, lets files be mapped")]

use crate::signals;
use simtool::input_format::Format;
use simtool::mapped_file::{FileAccess, MappedFile};
use simtool::read::walk::{InFolders, InputFile, Walker};
use simtool::{Error, ErrorKind};
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

/// What comes through standard input, copied to a file in `folder` that goes away with the value.
pub(crate) fn standard_input(folder: &Path) -> Result<InputFile, Error> {
    let mut walker = Walker::new(folder);
    walker.add(Path::new(STANDARD_INPUT), InFolders::default(), &mut io::stdin().lock())?;
    let file = walker.finish().files.pop();
    file.ok_or_else(|| Error::io(STANDARD_INPUT, "read", io::Error::other("it is no file")))
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
