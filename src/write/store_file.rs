//! An output file in a store, which is uploaded when it is complete.

use super::staging;
use simtool_base::error::{Error, Result};
use simtool_read::remote::{ResultPlace, StagedObject, result_place};
use std::fs::File;
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// An output file in a store, such as a bucket of S3. It is written to a temporary file, and becomes an object of the
/// store at the end.
#[derive(Debug)]
pub(super) struct StoreFile {
    place: Box<dyn ResultPlace>,
    name: String,
    file: NamedTempFile,
    staged: Option<Box<dyn StagedObject>>,
}

impl StoreFile {
    /// Creates the temporary file for the object with the address `path`.
    ///
    /// # Errors
    ///
    /// The store can only be read, or the temporary file cannot be created.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let (place, name) = place_and_name(path)?;
        let folder = place.temporary_folder();
        staging::remove_abandoned(folder);
        let file = staging::file(folder).map_err(|e| Error::io(folder, "create a file in", e))?;
        Ok(Self { place, name, file, staged: None })
    }

    /// Returns the path of the temporary file.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(super) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Uploads the content of the temporary file, so that [`finish`](Self::finish) has little left to do.
    pub(super) fn send(&mut self) -> io::Result<()> {
        self.staged = Some(self.place.stage(&self.name, self.file.path())?);
        Ok(())
    }

    /// Creates the object in the store from the uploaded content. [`send`](Self::send) must be called first.
    pub(super) fn finish(self) -> io::Result<()> {
        self.staged.map_or(Ok(()), StagedObject::finish)
    }
}

/// Returns whether the object with the address `path` exists.
///
/// # Errors
///
/// The store can only be read, or cannot be reached.
pub(crate) fn object_exists(path: &Path) -> Result<bool> {
    let (place, name) = place_and_name(path)?;
    place.contains(&name).map_err(|error| Error::io(path, "write", error))
}

/// Returns the folder of an object, and its name in the folder.
fn place_and_name(path: &Path) -> Result<(Box<dyn ResultPlace>, String)> {
    let text = path.to_string_lossy();
    let (folder, name) = text.rsplit_once('/').unwrap_or_default();
    // Without a key, the address is that of a bucket.
    if name.is_empty() || folder.ends_with('/') {
        return Err(Error::config("output", path.display(), "names a folder: name an object"));
    }
    Ok((result_place(Path::new(folder))?, name.to_owned()))
}
