//! The identity of an output folder that a run replaces.

use super::output_inventory::SUMMARY;
use std::fs;
use std::io;
use std::path::Path;
use std::time::SystemTime;

/// Identity of the old output folder, and of the file `summary.json` in it, when the run started. A later comparison
/// shows whether another process has changed the folder since then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    folder: Stamp,
    mark: Stamp,
}

/// Identity of a file or folder, with its time and size. The value differs if the file was replaced or its
/// content was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamp {
    /// Numbers of the device and the inode. Both stay the same when the file or folder is renamed.
    node: (u64, u64),
    modified: Option<SystemTime>,
    bytes: u64,
}

impl Stamp {
    fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(path)?;
        #[cfg(unix)]
        let node = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let node = (0, 0);
        Ok(Self { node, modified: metadata.modified().ok(), bytes: metadata.len() })
    }
}

impl Standing {
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        Ok(Self { folder: Stamp::of(folder)?, mark: Stamp::of(&folder.join(SUMMARY))? })
    }

    /// Returns whether `folder` is the old output under another name. Renaming can change the modification time of a
    /// folder. So the times of the file [`SUMMARY`] are compared, and not the times of the folder.
    pub(super) fn is_moved_to(&self, folder: &Path) -> bool {
        Self::of(folder)
            .is_ok_and(|other| (self.folder.node, &self.mark) == (other.folder.node, &other.mark))
    }
}
