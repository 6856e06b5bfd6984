//! Places in stores to which results are written.

#[cfg(not(feature = "remote"))]
use simtool_base::error::{ErrorKind, Result};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of a store to which results are written: all objects whose keys begin with its key and a slash. Names of
/// objects are relative to it.
pub trait ResultPlace: fmt::Debug + Send + Sync {
    /// Returns the folder on this machine for files that wait to be uploaded.
    fn temporary_folder(&self) -> &Path;

    /// Returns the names of all objects in the folder, ascending.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or refuses the list.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Returns whether there is an object with this name.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or refuses the request.
    fn contains(&self, name: &str) -> io::Result<bool>;

    /// Returns the content of an object. Returns `None` if there is none with this name.
    ///
    /// # Errors
    ///
    /// The object cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Sends the content of a file, so that little is left to do until the object `name` has it. A short file is sent
    /// only when the returned value is finished.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the store does not take it.
    fn stage(&self, name: &str, file: &Path) -> io::Result<Box<dyn StagedObject>>;

    /// Creates or replaces the objects with these names, several at the same time. Each gets the content of a file.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the store does not take it. Some of the other objects may be there.
    fn upload(&self, files: &[(String, PathBuf)]) -> io::Result<()>;

    /// Removes an object. It need not exist.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or refuses to remove the object.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// Content that waits to become an object. If the value is dropped, the store forgets the content.
pub trait StagedObject: fmt::Debug + Send {
    /// Creates the object, or replaces the one with its name. Readers see the old or the new content, never a mixture.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or does not take the object.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Returns the error of a build that has no stores.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "remote"))]
pub fn result_place(_path: &Path) -> Result<Box<dyn ResultPlace>> {
    Err(ErrorKind::FeatureOff { what: "stores", feature: "remote" }.into())
}
