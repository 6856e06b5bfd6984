//! Places in stores to which results are written.

#[cfg(feature = "remote")]
use simtool_base::error::Error;
#[cfg(not(feature = "remote"))]
use simtool_base::error::ErrorKind;
use simtool_base::error::Result;
use std::fmt;
use std::io;
use std::path::Path;

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

/// Opens the folder of a store. `path` is its address.
///
/// # Errors
///
/// The store is only read, for example a web server, or its credentials cannot be read. Or this build has no stores.
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
