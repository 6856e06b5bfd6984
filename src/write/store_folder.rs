//! An output folder in a store, whose objects are uploaded at the end of a run.
//!
//! A store cannot give a folder its name at once. So the summary is the manifest of the folder: it is uploaded last,
//! and the summary of old results is removed first. Until then, the object [`UNFINISHED`] marks the folder.

use super::existing::{Existing, NOT_EMPTY, NOT_OURS, has_foreign, refusal};
use super::output_inventory::{Inventory, SUMMARY, files_of};
use simtool_base::byte_text::path_text;
use simtool_base::error::{Error, Result};
use simtool_read::remote::{ResultPlace, result_place};
use simtool_read::walk::{UNFINISHED, is_summary};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Text of the object that marks a folder to which a run writes.
const MARK: &str = concat!(
    "{\n  \"program\": \"simtool ",
    env!("CARGO_PKG_VERSION"),
    "\",\n  \"state\": \"results are being written; the last file is summary.json\"\n}\n"
);

/// Folder of a store, such as a bucket of S3, to which results are written.
#[derive(Debug)]
pub(super) struct StoreFolder {
    place: Box<dyn ResultPlace>,
    /// Names of the objects that were there before the run and will be replaced, ascending.
    old: Vec<String>,
    /// Names of the objects that were uploaded so far.
    sent: Mutex<BTreeSet<String>>,
}

impl StoreFolder {
    /// Opens the folder with the address `path`. `replaceable` has the names of the files and folders that an old
    /// output may contain.
    ///
    /// # Errors
    ///
    /// The folder has objects that may not be replaced, the store cannot be reached, or the store can only be read.
    pub(super) fn open(path: &Path, existing: Existing, replaceable: &[&str]) -> Result<Self> {
        let refused = |rule: String| Err(Error::config("output", path.display(), rule));
        let failed = |error| Error::io(path, "list", error);
        let place = result_place(path)?;
        let old = place.names().map_err(failed)?;
        if !old.is_empty() {
            if existing == Existing::Refuse {
                return refused(NOT_EMPTY.to_owned());
            }
            let known = [replaceable, &[UNFINISHED]].concat();
            let has_mark = |name| -> io::Result<Option<Vec<u8>>> {
                Ok(place.read(name)?.filter(|text| is_summary(text)))
            };
            let inventory = if has_mark(UNFINISHED).map_err(failed)?.is_some() {
                // An unfinished folder has files of two runs, and no list of them.
                Inventory::without_list(&known)
            } else if let Some(summary) = has_mark(SUMMARY).map_err(failed)? {
                Inventory::of_summary(&summary, &known)
            } else {
                return refused(NOT_OURS.to_owned());
            };
            if let Some(name) = old.iter().find(|name| inventory.is_foreign(name)) {
                return refused(has_foreign(Path::new(name)));
            }
        }
        Ok(Self { place, old, sent: Mutex::default() })
    }

    /// Returns the folder on this machine for files that wait to be uploaded.
    pub(super) fn temporary_folder(&self) -> &Path {
        self.place.temporary_folder()
    }

    /// Uploads the files in `content` that were not uploaded yet, except the summary.
    ///
    /// # Errors
    ///
    /// Another process wrote to the folder during the run, or an upload fails.
    pub(super) fn send(&self, content: &Path) -> io::Result<()> {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        if sent.is_empty() {
            if self.place.names()? != self.old {
                return Err(refusal());
            }
            let mark = content.with_file_name(UNFINISHED);
            std::fs::write(&mark, MARK)?;
            self.place.stage(UNFINISHED, &mark)?.finish()?;
            sent.insert(UNFINISHED.to_owned());
            // The old results are incomplete from now on.
            self.place.remove(SUMMARY)?;
        }
        let files = files_of(content)?.into_iter();
        let files = files.map(|file| (name(&file), content.join(file)));
        let files: Vec<(String, PathBuf)> =
            files.filter(|(name, _)| name != SUMMARY && !sent.contains(name)).collect();
        self.place.upload(&files)?;
        sent.extend(files.into_iter().map(|(name, _)| name));
        Ok(())
    }

    /// Uploads the rest of the files in `content`, removes the objects of older results, and uploads the summary.
    ///
    /// # Errors
    ///
    /// A request fails. Then the folder stays marked as unfinished.
    pub(super) fn finish(&self, content: &Path) -> io::Result<()> {
        self.send(content)?;
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = self.old.iter().filter(|name| !sent.contains(*name) && *name != SUMMARY);
        stale.into_iter().try_for_each(|name| self.place.remove(name))?;
        let summary = content.join(SUMMARY);
        // Only the copies of `index add` have no summary.
        if summary.exists() {
            self.place.stage(SUMMARY, &summary)?.finish()?;
        }
        self.place.remove(UNFINISHED)
    }
}

/// Returns the name of an object for the path of a file in the folder. Names of objects are text.
fn name(file: &Path) -> String {
    let names: Vec<_> = file.iter().map(|name| path_text(Path::new(name))).collect();
    names.join("/")
}
