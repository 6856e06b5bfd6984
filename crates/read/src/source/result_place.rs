//! Places in stores to which results are written.

#[cfg(not(feature = "remote"))]
use simtool_base::error::{ErrorKind, Result};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Folder of a store to which results are written. It consists of all objects whose keys begin with the key of the
/// folder and a slash. Names of objects are relative to the folder.
pub trait ResultPlace: fmt::Debug + Send + Sync {
    /// Returns the folder on this machine for files that wait to be uploaded.
    fn temporary_folder(&self) -> &Path;

    /// Returns the names of all objects in the folder in ascending order.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or refuses the list.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Returns whether there is an object with this name in the folder.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or refuses the request.
    fn contains(&self, name: &str) -> io::Result<bool>;

    /// Returns the content of the object `name`. Returns `None` if there is no such object.
    ///
    /// # Errors
    ///
    /// The object cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Uploads the content of `file` for the object `name`, without creating the object. [`StagedObject::finish`]
    /// creates it. The content of a short file is uploaded only then.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or the store does not take its content.
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

/// Uploaded content that waits to become an object. If the value is dropped before `finish`, the store discards the
/// content.
pub trait StagedObject: fmt::Debug + Send {
    /// Creates the object, or replaces the object of the same name. Readers get the old or the new content, never a
    /// mixture.
    ///
    /// # Errors
    ///
    /// The store cannot be reached, or does not take the object.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Returns the error that this build cannot write results to stores, because it was compiled without the feature
/// `remote`.
///
/// # Errors
///
/// Always.
#[cfg(not(feature = "remote"))]
pub fn result_place(_path: &Path) -> Result<Box<dyn ResultPlace>> {
    Err(ErrorKind::FeatureOff { what: "stores", feature: "remote" }.into())
}
