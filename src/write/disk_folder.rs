//! An output folder on the disk, which gets its name at the end of a run.

use super::existing::{Existing, NOT_EMPTY, NOT_OURS, has_foreign, refusal};
use super::output_inventory::Inventory;
use super::staging::{StagingFolder, folder_of, remove_abandoned};
use super::standing_output::Standing;
use simtool_base::durable::{Disk, creation_error, is_taken};
use simtool_base::error::{Error, Result};
use simtool_read::walk::is_output_folder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Output folder on the disk. A run writes to a temporary folder, which is renamed to the final path at the end.
#[derive(Debug)]
pub(super) struct DiskFolder {
    /// Final path of the folder, with symbolic links resolved.
    place: PathBuf,
    /// Identity of the old output folder, and the names of the files in it. `None` if there is no old output to
    /// replace.
    standing: Option<(Standing, Inventory)>,
    above: FoldersAbove,
    disk: Disk,
}

/// Folders above the output that must be synced to the disk at the end, beginning with the folder that contains it. The
/// last one existed before the run, and the run created all others. Dropping the value removes those others if they are
/// empty.
#[derive(Debug)]
struct FoldersAbove(Vec<PathBuf>);

impl Drop for FoldersAbove {
    fn drop(&mut self) {
        if let [made @ .., _] = &self.0[..] {
            // Only empty folders can be removed in this way.
            made.iter().take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
        }
    }
}

impl DiskFolder {
    /// Checks that an output may be written at `path`, and creates a temporary folder for it. Also removes temporary
    /// folders that earlier runs left next to it.
    ///
    /// # Errors
    ///
    /// `path` has content that may not be replaced, or it cannot be created.
    pub(super) fn open(
        path: &Path,
        existing: Existing,
        replaceable: &[&str],
        disk: Disk,
    ) -> Result<(Self, StagingFolder)> {
        let error = |e| Error::io(path, "create", creation_error(path, e));
        let inventory = refuse_content(path, existing, replaceable)?;
        // If `path` is a symbolic link, the link stays and its target is replaced.
        let place =
            if path.is_symlink() { path.canonicalize().map_err(error)? } else { path.to_owned() };
        let standing = match inventory {
            Some(inventory) => Some((Standing::of(&place).map_err(error)?, inventory)),
            None => None,
        };
        let parent = folder_of(&place);
        // The missing folders are counted before they are created, because their names must be synced at the
        // end.
        let made = parent.ancestors().take_while(|folder| !folder.exists()).count();
        let above = parent.ancestors().take(made + 1);
        let shown = |folder: &Path| {
            if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
        };
        let above = FoldersAbove(above.map(shown).collect());
        fs::create_dir_all(parent).map_err(error)?;
        remove_abandoned(parent);
        // The temporary folder is created next to the output. So both are on the same file system, and
        // renaming is possible.
        let staging = StagingFolder::new(parent).map_err(error)?;
        Ok((Self { place, standing, above, disk }, staging))
    }

    /// Syncs all files in the folder `content` to the disk. `path` is the path of the output, for messages.
    ///
    /// # Errors
    ///
    /// The disk is full or broken.
    pub(super) fn sync(&self, path: &Path, content: &Path) -> Result<()> {
        let synced = self.disk.sync_tree(content);
        synced.map_err(|e| Error::io(path, "sync", e))
    }

    /// Renames the folder `content` to the final path, and replaces an old output there. `path` is the path as the user
    /// wrote it, for messages.
    ///
    /// # Errors
    ///
    /// Another process wrote to `path` during the run, or the folder cannot be renamed or its new name cannot be
    /// synced. See [`OutputFolder::finish`](super::output_folder::OutputFolder::finish).
    pub(super) fn finish(self, path: &Path, staging: StagingFolder, content: &Path) -> Result<()> {
        // If the old output disappeared during the run, there is nothing to replace.
        let renamed = match &self.standing {
            Some((standing, inventory)) if self.place.exists() => {
                self.replace(content, &staging.replaced(), standing, inventory)
            }
            _ => self.disk.rename_folder(content, &self.place),
        };
        if let Err(error) = renamed {
            let error = if is_taken(&error) { refusal() } else { error };
            let error = Error::io(path, "write", error);
            if staging.replaced().exists() {
                // If the old output could not be moved back, it must stay in the temporary folder.
                staging.keep();
            }
            return Err(error);
        }
        // The new name survives a power cut only if the folders above it are synced.
        let synced = self.above.0.iter().try_for_each(|folder| self.disk.sync_folder(folder));
        synced.map_err(|e| Error::io(path, "sync the name of", e))
        // Dropping the temporary folder removes the old output. If removing fails, a later run does it.
    }

    /// Replaces the old output by the folder `content`. If the two names cannot be exchanged, the old output is moved
    /// to the path `replaced` first. Fails if the old output is no longer as `standing` and `inventory` describe it.
    fn replace(
        &self,
        content: &Path,
        replaced: &Path,
        standing: &Standing,
        inventory: &Inventory,
    ) -> io::Result<()> {
        // A file in a folder of the old output does not change the time of the output folder.
        let has_foreign = inventory.first_foreign(&self.place)?.is_some();
        if has_foreign || !Standing::of(&self.place).is_ok_and(|now| now == *standing) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // Exchanging two names is atomic, so the path always leads to a complete output.
        if self.disk.exchange_folders(content, &self.place).is_ok() {
            if standing.is_moved_to(content) {
                return Ok(());
            }
            // Another run replaced the old output between the check and the exchange. Its output gets the
            // path back.
            if let Err(error) = self.disk.exchange_folders(content, &self.place) {
                fs::rename(content, replaced)?;
                return Err(error);
            }
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // If the file system cannot exchange names, the old output is moved away first. The path then has no
        // results for a moment. The old output is removed only when the new one has the path.
        self.disk.rename_folder(&self.place, replaced)?;
        // Another run may have written to the folder after the check. Then the folder is moved back.
        let renamed = if standing.is_moved_to(replaced) {
            self.disk.rename_folder(content, &self.place)
        } else {
            Err(io::ErrorKind::AlreadyExists.into())
        };
        drop(fs::rename(replaced, if renamed.is_ok() { content } else { &self.place }));
        renamed
    }
}

/// Returns the names of the files of the old output at `path`, which the new output replaces. `None` if `path` does not
/// exist or is an empty folder.
///
/// # Errors
///
/// There is something at `path` that may not be replaced.
pub(super) fn refuse_content(
    path: &Path,
    existing: Existing,
    replaceable: &[&str],
) -> Result<Option<Inventory>> {
    // Only `index add` has a folder that is never replaced.
    let setting = if replaceable.is_empty() { "only_new" } else { "output" };
    let refused = |rule: String| Err(Error::config(setting, path.display(), rule));
    let mut entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        // A path that cannot be listed may be a file.
        Err(_) if path.exists() && !path.is_dir() => {
            return refused("is a file: name a folder that does not exist or is empty".to_owned());
        }
        Err(error) if path.exists() => return Err(Error::io(path, "list", error)),
        Err(_) => return Ok(None),
    };
    if entries.next().is_none() {
        return Ok(None);
    }
    if replaceable.is_empty() {
        return refused("is not empty: name another folder".to_owned());
    }
    if existing == Existing::Refuse {
        return refused(NOT_EMPTY.to_owned());
    }
    if !is_output_folder(path) {
        return refused(NOT_OURS.to_owned());
    }
    let inventory = Inventory::read(path, replaceable);
    let foreign = inventory.first_foreign(path).map_err(|error| Error::io(path, "list", error))?;
    match foreign {
        Some(foreign) => refused(has_foreign(&foreign)),
        None => Ok(Some(inventory)),
    }
}
