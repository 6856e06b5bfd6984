//! A file that appears whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A file under another name in the same folder, until it is [finished](WholeFile::finish).
///
/// If it is dropped before, or the process ends, what stood under the final name stays.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Aside(tempfile::NamedTempFile),
    /// A pipe or a device, which cannot be replaced.
    Direct(File),
}

impl WholeFile {
    /// Begins a file that will be called `path`.
    ///
    /// # Errors
    ///
    /// The folder does not exist or cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let error = |e| Error::io(path, "write", e);
        let is_special =
            fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir());
        let target = if is_special {
            Target::Direct(File::options().write(true).open(path).map_err(error)?)
        } else {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let mut aside = tempfile::Builder::new();
            aside.prefix(".simtool-").suffix(".tmp");
            // The permissions of any new file, which the umask then narrows.
            #[cfg(unix)]
            aside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            Target::Aside(aside.tempfile_in(folder.unwrap_or(Path::new("."))).map_err(error)?)
        };
        Ok(Self { path: path.to_owned(), target })
    }

    /// Appends `bytes`.
    ///
    /// # Errors
    ///
    /// The disk is full, or writing fails otherwise.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file().write_all(bytes);
        written.map_err(|e| Error::io(&self.path, "write", e))
    }

    /// Where the file is until it is finished; `None` for a pipe or a device.
    #[must_use]
    pub fn aside(&self) -> Option<&Path> {
        match &self.target {
            Target::Aside(file) => Some(file.path()),
            Target::Direct(_) => None,
        }
    }

    /// The file, for writers that want one; what they leave unwritten is not in it.
    pub fn file(&mut self) -> &mut File {
        match &mut self.target {
            Target::Aside(file) => file.as_file_mut(),
            Target::Direct(file) => file,
        }
    }

    /// Gives the file its name, replacing what stood under it.
    ///
    /// # Errors
    ///
    /// The file cannot be renamed.
    pub fn finish(self) -> Result<()> {
        match self.target {
            Target::Aside(file) => {
                file.persist(&self.path).map_err(|e| Error::io(&self.path, "write", e.error))?;
            }
            Target::Direct(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_file_leaves_the_old_one_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.txt");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write(b"half").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        let mut file = WholeFile::create(&path).unwrap();
        file.write(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = WholeFile::create(Path::new("no/such/folder/out.txt")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write no/such/folder/out.txt");
    }
}
