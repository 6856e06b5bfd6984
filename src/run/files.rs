//! Functions for single files that a command reads or writes as a whole.

use super::face::{Face, OutputState, give_name};
use crate::write::output_folder::Existing;
use crate::write::whole_file::WholeFile;
use simtool_base::durable::Durability;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file that is needed as a whole.
///
/// # Errors
///
/// The file cannot be opened or read.
pub fn open_file(path: &Path, access: FileAccess) -> Result<MappedFile> {
    match access.open(path) {
        // Some file systems cannot map. These are a few files, so reading one instead is no loss.
        Err(error) if matches!(error.kind(), ErrorKind::Io { action: "map", .. }) => {
            MappedFile::read(path)
        }
        opened => opened,
    }
}

/// Opens a file that is needed as a whole. Returns `None` if there is no such file.
///
/// # Errors
///
/// The file is there and cannot be opened or read.
pub fn open_file_if_there(path: &Path, access: FileAccess) -> Result<Option<MappedFile>> {
    match open_file(path, access) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        },
    }
}

/// Refuses an output file that exists and may not be replaced.
///
/// # Errors
///
/// There is such a file; the error names it as the value of the setting `field`.
pub fn refuse_existing(field: &'static str, path: &Path, existing: Existing) -> Result<()> {
    // A link to nothing would be replaced, too, so the link itself counts.
    let is_there = fs::symlink_metadata(path).is_ok();
    // A pipe or a device holds nothing that could be lost. A folder is refused where it is opened.
    let is_file = || fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    if existing == Existing::Refuse && is_there && is_file() {
        let rule = "is there already: name another file, or replace it with `force`";
        return Err(Error::config(field, path.display(), rule));
    }
    Ok(())
}

/// Calls `write` with a temporary file, syncs it and renames it to `path`. An error or an interruption
/// leaves nothing of it behind.
///
/// # Errors
///
/// The file cannot be written, `write` fails, or another file got the name meanwhile and may not be
/// replaced.
pub fn write_whole_file<T>(
    path: &Path,
    existing: Existing,
    face: &dyn Face,
    write: impl FnOnce(&mut WholeFile) -> Result<T>,
) -> Result<T> {
    let mut file = create_whole_file(path, face)?;
    let written = write(&mut file)?;
    file.sync()?;
    // Another process may have created the file since the first check.
    refuse_existing("output", path, existing)?;
    give_name(face, path, || file.finish())?;
    Ok(written)
}

fn create_whole_file(path: &Path, face: &dyn Face) -> Result<WholeFile> {
    if WholeFile::is_direct(path) {
        // Opening a pipe waits until somebody reads it. Interruptions must not wait for that, and
        // there is nothing to remove.
        return WholeFile::create(path, Durability::Synced);
    }
    let mut held = face.hold_interruptions();
    let file = WholeFile::create(path, Durability::Synced)?;
    if let Some(aside) = file.aside() {
        held.set(OutputState::Unfinished(aside.to_owned()));
    }
    Ok(file)
}

/// Returns the absolute path with links resolved, as far as the path exists.
#[must_use]
pub fn without_links(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // The end of the path may not exist yet. The longest part that exists is resolved.
    let resolved = path.ancestors().find_map(|folder| {
        let real = folder.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(folder).ok()?))
    });
    resolved.unwrap_or(path)
}
