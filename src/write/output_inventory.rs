//! The list of the files of an output folder, by which a later run knows which files it may replace.

use serde_json::Value;
use simtool_base::byte_text::path_text;
use simtool_base::json_text::write_string;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// File that every output folder has. It is written last, and lists the files of the folder.
pub(crate) const SUMMARY: &str = "summary.json";
/// Key of the list of files in `summary.json`.
const KEY: &str = "written_files";
/// Folders that an output can have. Each name is followed by a text that the command line contains if the run wrote the
/// folder.
const FOLDERS: [(&str, &str); 2] = [("kept", "kept"), ("annotated", "annotate")];

/// Names of the files and folders that an earlier run wrote to its output folder. All other files in the folder are
/// foreign, and may not be replaced.
#[derive(Clone, Debug)]
pub(super) struct Inventory {
    /// Names that simtool gives to files and folders directly in an output folder.
    known: BTreeSet<String>,
    /// Paths of all files in the output folder, as the run listed them. `None` if an older version of simtool wrote
    /// the folder, which had no list.
    listed: Option<BTreeSet<String>>,
}

impl Inventory {
    /// Reads the list of files in the summary of the output folder `folder`. `known` has the names of files and folders
    /// that simtool writes.
    pub(super) fn read(folder: &Path, known: &[&str]) -> Self {
        Self::of_summary(&fs::read(folder.join(SUMMARY)).unwrap_or_default(), known)
    }

    /// Creates the inventory of a folder without a list of its files. All files and folders with the names `known`, and
    /// everything in them, count as written by simtool.
    pub(super) fn without_list(known: &[&str]) -> Self {
        let known = known.iter().map(|&name| name.to_owned()).collect();
        Self { known, listed: None }
    }

    /// Reads the list of files in `text`, the content of a `summary.json`. `known` has the names of files and folders
    /// that simtool writes.
    pub(super) fn of_summary(text: &[u8], known: &[&str]) -> Self {
        let summary: Value = serde_json::from_slice(text).unwrap_or_default();
        let mut known: BTreeSet<String> = known.iter().map(|&name| name.to_owned()).collect();
        let listed = summary[KEY].as_array().map(|files| {
            files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect()
        });
        if listed.is_none() {
            // The command line says which folders an older version wrote.
            let command = summary["command"].as_str().unwrap_or_default();
            for (name, option) in FOLDERS {
                if !command.contains(option) {
                    known.remove(name);
                }
            }
        }
        Self { known, listed }
    }

    /// Returns the first file or folder in `folder` that the earlier run did not write. `None` if it wrote all of
    /// them.
    ///
    /// # Errors
    ///
    /// A folder cannot be listed.
    pub(super) fn first_foreign(&self, folder: &Path) -> io::Result<Option<PathBuf>> {
        // The least name makes the message the same in every run.
        let mut names: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.push(entry?.file_name().into());
        }
        names.sort_unstable();
        if let Some(name) = names.into_iter().find(|name| !self.known.contains(&*path_text(name))) {
            return Ok(Some(name));
        }
        // Without a list, everything in a folder that the run wrote counts as its own.
        if self.listed.is_none() {
            return Ok(None);
        }
        let files = files_of(folder)?;
        Ok(files.into_iter().find(|file| self.is_foreign(&path_text(file))))
    }

    /// Returns whether the earlier run did not write the file with this path below the output folder.
    pub(super) fn is_foreign(&self, file: &str) -> bool {
        let first = file.split_once('/').map_or(file, |(folder, _)| folder);
        let is_listed = self.listed.as_ref().is_none_or(|listed| listed.contains(file));
        !self.known.contains(first) || !is_listed
    }
}

/// Returns the paths of all files in a folder and in the folders in it, ascending. A link counts as a file.
pub(crate) fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    // Folders are kept in a list, because names of inputs can make the tree deeper than the stack.
    let mut waiting = vec![PathBuf::new()];
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&path))? {
            let entry = entry?;
            let path = path.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                waiting.push(path);
            } else {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    Ok(files)
}

/// Writes the list of the files of the output folder as a field of the summary, followed by a comma. Adds the summary
/// itself to `files`, which must not contain it.
pub(super) fn write_written_files(out: &mut dyn Write, files: &[PathBuf]) -> io::Result<()> {
    write!(out, "  \"{KEY}\": [")?;
    for file in files {
        out.write_all(b"\n    ")?;
        write_string(out, path_text(file).as_bytes())?;
        out.write_all(b",")?;
    }
    write!(out, "\n    \"{SUMMARY}\"\n  ],\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[&str] = &["kept", "annotated", "documents.jsonl", SUMMARY];

    fn write(folder: &Path, file: &str, text: &str) {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn first_foreign(folder: &Path) -> Option<String> {
        let found = Inventory::read(folder, KNOWN).first_foreign(folder).unwrap();
        found.map(|path| path.display().to_string())
    }

    #[test]
    fn files_that_a_run_did_not_list_are_foreign() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "kept/in/a.txt", "");
        let mut summary = b"{\n".to_vec();
        write_written_files(&mut summary, &files_of(folder).unwrap()).unwrap();
        summary.extend_from_slice(b"  \"command\": \"simtool\"\n}\n");
        write(folder, SUMMARY, str::from_utf8(&summary).unwrap());
        assert_eq!(first_foreign(folder), None);
        for file in ["kept/in/b.txt", "kept/mine", "annotated/a", "documents.jsonl", "other"] {
            write(folder, file, "");
            assert_eq!(first_foreign(folder).as_deref(), Some(file));
            fs::remove_file(folder.join(file)).unwrap();
        }
        // A file that a user has removed is not missed.
        fs::remove_dir_all(folder.join("kept")).unwrap();
        assert_eq!(first_foreign(folder), None);
    }

    #[test]
    fn an_older_run_owns_only_the_folders_that_its_command_wrote() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write(folder, "kept/a.txt", "");
        for (command, foreign) in [("dedup a", Some("kept")), ("dedup a --write-kept", None)] {
            write(folder, SUMMARY, &format!("{{\"command\": \"{command}\"}}"));
            assert_eq!(first_foreign(folder).as_deref(), foreign);
        }
    }
}
