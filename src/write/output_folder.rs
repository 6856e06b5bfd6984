//! A folder of outputs that appears whole or not at all.

use crate::error::{Error, Result};
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A file that stands in every folder that was written here, and that nothing else writes.
const MARK: &str = "summary.json";

/// What to do with an output folder that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it alone and fail.
    Refuse,
    /// Replace it if this program wrote it, else fail.
    Replace,
}

/// A folder under another name, beside the one that it will be, until it is
/// [finished](OutputFolder::finish).
#[derive(Debug)]
pub struct OutputFolder {
    path: PathBuf,
    aside: TempDir,
}

impl OutputFolder {
    /// Begins a folder that will be called `path`.
    ///
    /// # Errors
    ///
    /// `path` holds something that may not be replaced, or cannot be created.
    pub fn create(path: &Path, existing: Existing) -> Result<Self> {
        let occupied = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => path.exists(),
        };
        if occupied && !path.is_dir() {
            let rule = "is a file: name a folder that is not there or holds nothing";
            return Err(Error::config("output", path.display(), rule));
        }
        if occupied && existing == Existing::Refuse {
            let rule = "holds something already: name another folder, or replace what simtool wrote \
                        there with `force`";
            return Err(Error::config("output", path.display(), rule));
        }
        if occupied && !path.join(MARK).is_file() {
            let rule = "was not written by simtool, and only that is replaced by `force`";
            return Err(Error::config("output", path.display(), rule));
        }
        let parent = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let error = |e| Error::io(path, "create", e);
        fs::create_dir_all(parent).map_err(error)?;
        let mut aside = tempfile::Builder::new();
        aside.prefix(".simtool-");
        #[cfg(unix)]
        aside.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
        Ok(Self { path: path.to_owned(), aside: aside.tempdir_in(parent).map_err(error)? })
    }

    /// Where the folder's files are written.
    #[must_use]
    pub fn aside(&self) -> &Path {
        self.aside.path()
    }

    /// The name that a file of the folder will have.
    #[must_use]
    pub fn name(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    /// Creates a file of the folder.
    ///
    /// # Errors
    ///
    /// It cannot be created.
    pub fn file(&self, name: &str) -> Result<BufWriter<File>> {
        let file = File::create_new(self.aside.path().join(name));
        file.map(BufWriter::new).map_err(|e| Error::io(self.name(name), "create", e))
    }

    /// Gives the folder its name, replacing what stood under it.
    ///
    /// # Errors
    ///
    /// The folder cannot be renamed; what stood there is left or put back.
    pub fn finish(self) -> Result<()> {
        let error = |e| Error::io(&self.path, "write", e);
        if self.path.exists() {
            // The old folder goes only when the new one has its name.
            let old = self.aside.path().with_extension("old");
            fs::rename(&self.path, &old).map_err(error)?;
            if let Err(e) = fs::rename(self.aside.path(), &self.path) {
                drop(fs::rename(&old, &self.path));
                return Err(error(e));
            }
            fs::remove_dir_all(&old).map_err(|e| Error::io(&old, "remove", e))?;
        } else {
            fs::rename(self.aside.path(), &self.path).map_err(error)?;
        }
        // There is nothing left to remove under the other name.
        drop(self.aside.keep());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn fill(folder: &OutputFolder, text: &str) {
        for name in ["data", MARK] {
            let mut file = folder.file(name).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.flush().unwrap();
        }
    }

    #[test]
    fn a_folder_appears_whole_and_replaces_only_what_we_wrote() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a/out");
        drop(OutputFolder::create(&path, Existing::Refuse).unwrap());
        assert!(!path.exists());
        let folder = OutputFolder::create(&path, Existing::Refuse).unwrap();
        fill(&folder, "old");
        assert!(!path.exists());
        folder.finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("data")).unwrap(), "old");

        let refused = OutputFolder::create(&path, Existing::Refuse).unwrap_err().to_string();
        assert!(refused.contains("`force`"), "{refused}");
        let folder = OutputFolder::create(&path, Existing::Replace).unwrap();
        fill(&folder, "new");
        folder.finish().unwrap();
        assert_eq!(fs::read_to_string(path.join("data")).unwrap(), "new");
        assert_eq!(fs::read_dir(parent.path().join("a")).unwrap().count(), 1);

        fs::remove_file(path.join(MARK)).unwrap();
        assert!(OutputFolder::create(&path, Existing::Replace).is_err());
        let file = parent.path().join("file");
        fs::write(&file, "x").unwrap();
        assert!(OutputFolder::create(&file, Existing::Replace).is_err());
    }
}
