//! Places in stores to which results are written.

#[cfg(feature = "remote")]
use simtool_base::error::Error;
#[cfg(not(feature = "remote"))]
use simtool_base::error::ErrorKind;
use simtool_base::error::Result;
use std::fmt;
use std::io;
use std::path::Path;

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
    /// The file cannot be read, or the store does not take its content.
    ///
    /// The file cannot be read, or the store does not take it.
    fn stage(&self, name: &str, file: &Path) -> io::Result<Box<dyn StagedObject>>;

    /// Removes the object `name`. It is no error if there is no such object.
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

/// Opens the folder of a store for writing. `path` is the address of the folder.
///
/// # Errors
///
/// The store cannot be written to, for example because it is a web server, its credentials cannot be read, or this
/// build was compiled without stores.
pub fn result_place(path: &Path) -> Result<Box<dyn ResultPlace>> {
    #[cfg(feature = "remote")]
    {
        super::remote::result_place(path).map_err(|error| Error::io(path, "write", error))
    }
    #[cfg(not(feature = "remote"))]
    {
        let _ = path;
        Err(ErrorKind::FeatureOff { what: "stores", feature: "remote" }.into())
    }
}
