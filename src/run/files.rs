//! Opens, checks and writes single files.

use super::face::{Face, OutputState, give_name};
use crate::write::output_folder::{Existing, OutputFolder};
use crate::write::whole_file::{WholeFile, object_exists};
use simtool_base::byte_text::path_text;
use simtool_base::durable::Durability;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use simtool_read::remote::is_address;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Opens a file that must be in memory as a whole, by mapping or reading it.
///
/// # Errors
///
/// The file cannot be opened or read.
pub(super) fn open_file(path: &Path, access: FileAccess) -> Result<MappedFile> {
    match access.open(path) {
        // Some file systems cannot map files. Reading is as good, because there are only a few such files.
        Err(error) if matches!(error.kind(), ErrorKind::Io { action: "map", .. }) => {
            MappedFile::read(path)
        }
        opened => opened,
    }
}

/// Opens a file that must be in memory as a whole. Returns `None` if the file does not exist.
///
/// # Errors
///
/// The file exists but cannot be opened or read.
pub(super) fn open_file_if_there(path: &Path, access: FileAccess) -> Result<Option<MappedFile>> {
    match open_file(path, access) {
        Ok(file) => Ok(Some(file)),
        Err(error) => match error.kind() {
            ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Ok(None),
            _ => Err(error),
        },
    }
}

/// Returns the folder in which the run was started, for summaries. Relative paths of a command line begin there.
/// Returns `None` if the system does not report it.
pub(super) fn working_folder() -> Option<String> {
    std::env::current_dir().ok().map(|folder| path_text(&folder).into_owned())
}

/// Returns an error if an output file exists and may not be replaced.
///
/// # Errors
///
/// The file exists. The error names it as the value of the setting `field`.
pub fn refuse_existing(field: &'static str, path: &Path, existing: Existing) -> Result<()> {
    let rule = "is there already: name another file, or replace it with `force`";
    if is_address(path) {
        let is_refused = existing == Existing::Refuse && object_exists(path)?;
        return if is_refused { Err(Error::config(field, path.display(), rule)) } else { Ok(()) };
    }
    // A link without a target would be replaced as well, so the link itself counts as a file.
    let is_there = fs::symlink_metadata(path).is_ok();
    // A pipe or a device has no content that could be lost. A folder is refused when it is opened as a file.
    let is_file = || fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    if existing == Existing::Refuse && is_there && is_file() {
        return Err(Error::config(field, path.display(), rule));
    }
    Ok(())
}

/// Returns an error if the output folder is an input or contains one. An output folder inside an input folder
/// is allowed, because it is not read.
///
/// # Errors
///
/// The output folder is an input or contains one.
pub(super) fn refuse_overlap(output: &Path, paths: &[PathBuf]) -> Result<()> {
    if is_address(output) {
        // A slash at the end of an address changes nothing.
        let folder = |path: &Path| path_text(path).trim_end_matches('/').to_owned() + "/";
        let output_folder = folder(output);
        let input = paths.iter().find(|path| folder(path).starts_with(&output_folder));
        return input.map_or(Ok(()), |input| Err(overlap(output, input)));
    }
    // Links are resolved, because a link and its target are the same folder with two names.
    let real_output = without_links(output);
    let input = paths.iter().find(|path| without_links(path).starts_with(&real_output));
    match input {
        // A folder that does not exist contains nothing.
        Some(input) if output.exists() => Err(overlap(output, input)),
        _ => Ok(()),
    }
}

fn overlap(output: &Path, input: &Path) -> Error {
    let rule = format!("overlaps the input {}: choose another folder", input.display());
    Error::config("output", output.display(), rule)
}

/// Creates an output folder under a temporary name. If the run is interrupted, the folder is removed.
/// `replaceable` has the names of the files and folders that an old output may contain.
///
/// # Errors
///
/// The path has content that may not be replaced, or it cannot be created.
pub(super) fn create_output_folder(
    path: &Path,
    existing: Existing,
    replaceable: &[&str],
    face: &dyn Face,
) -> Result<OutputFolder> {
    let mut held = face.hold_interruptions();
    let folder = OutputFolder::create(path, existing, replaceable)?;
    held.set(OutputState::Unfinished(folder.unfinished().to_owned()));
    Ok(folder)
}

/// Writes a file under a temporary name by calling `write`, syncs it, and renames it to `path`. After an
/// error or an interruption, no part of the file is left.
///
/// # Errors
///
/// The file cannot be written, `write` fails, or another process created a file at `path` meanwhile that may
/// not be replaced.
pub(super) fn write_whole_file<T>(
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
        // Opening a pipe waits for a reader. Interruptions must not wait for that, and there is nothing to
        // remove after one.
        return WholeFile::create(path, Durability::Synced);
    }
    let mut held = face.hold_interruptions();
    let file = WholeFile::create(path, Durability::Synced)?;
    if let Some(temporary) = file.staging() {
        held.set(OutputState::Unfinished(temporary.to_owned()));
    }
    Ok(file)
}

/// Returns the absolute path with symbolic links resolved. The end of the path need not exist.
#[must_use]
pub(super) fn without_links(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // The end of the path may not exist yet, so the longest existing part of it is resolved.
    let resolved = path.ancestors().find_map(|folder| {
        let real = folder.canonicalize().ok()?;
        Some(real.join(path.strip_prefix(folder).ok()?))
    });
    resolved.unwrap_or(path)
}
