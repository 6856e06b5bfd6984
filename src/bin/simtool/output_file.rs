//! Files that are written: what stands under their names stays, unless the user says otherwise.

use simtool::Error;
use simtool::write::output_folder::Existing;
use std::fs;
use std::path::Path;

/// What `--force` says about outputs that are there.
pub(crate) fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Refuse }
}

/// Refuses a file that is there and may not be replaced; `option` names it. A pipe or a device holds
/// nothing that would be lost, and a folder is no file to write, which is told later.
pub(crate) fn refuse_existing(
    option: &'static str,
    path: &Path,
    existing: Existing,
) -> Result<(), Error> {
    let is_there = fs::symlink_metadata(path).is_ok();
    // A link to nothing is something too.
    let is_file = || fs::metadata(path).map_or(true, |metadata| metadata.is_file());
    if existing == Existing::Refuse && is_there && is_file() {
        let rule = "is there already: name another file, or replace it with `force`";
        return Err(Error::config(option, path.display(), rule));
    }
    Ok(())
}
