//! Paths and lists of paths → the files to read, in order.
//!
//! Files come in the order of the paths; those of a folder in byte order of their path, at any
//! depth. Nothing is hidden: neither names that begin with a dot nor what a `.gitignore` lists.
//! Symbolic links are followed where they are named, and not inside folders. A file that is
//! reached twice is read once. What is no file, or cannot be opened, is a fault of its own.

use crate::error::{Error, Result};
use crate::fault::{Fault, Severity};
use crate::unordered_map::UnorderedMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use tempfile::TempPath;

/// A file to read.
#[derive(Debug)]
pub struct InputFile {
    /// The file as the user named it; `-` is standard input.
    pub name: PathBuf,
    /// The relative path under which a copy of the file stands: its name, below the name of the
    /// folder that was named if it was found in one; `stdin` for standard input.
    pub copy_name: PathBuf,
    /// The copy of what came through standard input.
    spooled: Option<TempPath>,
}

impl InputFile {
    /// A file that is where its name says.
    pub fn new(name: impl Into<PathBuf>) -> Self {
        let name = name.into();
        let copy_name = name.file_name().unwrap_or_default().into();
        Self { name, copy_name, spooled: None }
    }

    /// Where the bytes are.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.spooled.as_deref().unwrap_or(&self.name)
    }
}

/// Decides which files of folders are read; named files always are. It gets the path below the
/// folder that was named.
pub type Selection<'s> = dyn Fn(&Path) -> bool + 's;

/// The files that were found, and what is wrong with other paths.
#[derive(Debug, Default)]
pub struct Walked {
    /// In reading order.
    pub files: Vec<InputFile>,
    /// In the order they were met.
    pub faults: Vec<Fault>,
}

/// Collects files.
#[derive(Debug)]
pub struct Walker<'w> {
    /// Folder for the copy of standard input.
    temporary_folder: &'w Path,
    walked: Walked,
    /// Files that were reached, by their path without links.
    seen: UnorderedMap<PathBuf, ()>,
    has_read_input: bool,
}

impl<'w> Walker<'w> {
    /// Nothing was reached yet. Standard input is copied to `temporary_folder`.
    #[must_use]
    pub fn new(temporary_folder: &'w Path) -> Self {
        Self {
            temporary_folder,
            walked: Walked::default(),
            seen: UnorderedMap::default(),
            has_read_input: false,
        }
    }

    /// Adds a file, the files of a folder, or, for `-`, what `input` holds.
    ///
    /// # Errors
    ///
    /// Standard input cannot be copied.
    pub fn add(
        &mut self,
        path: &Path,
        selection: &Selection<'_>,
        input: &mut dyn Read,
    ) -> Result<()> {
        if path.as_os_str() == "-" {
            return self.add_input(input);
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => {
                self.refuse(path, Severity::Loss, &error);
                return Ok(());
            }
        };
        if metadata.is_dir() {
            self.add_folder(path, selection);
        } else {
            let copy_name = path.file_name().unwrap_or_default().into();
            self.add_file(path, copy_name, &metadata, Severity::Loss);
        }
        Ok(())
    }

    /// The files that were found.
    #[must_use]
    pub fn finish(self) -> Walked {
        self.walked
    }

    fn add_input(&mut self, input: &mut dyn Read) -> Result<()> {
        if std::mem::replace(&mut self.has_read_input, true) {
            return Ok(());
        }
        let folder = self.temporary_folder;
        let mut file = tempfile::Builder::new()
            .prefix("simtool-stdin-")
            .tempfile_in(folder)
            .map_err(|e| Error::io(folder, "create a file in", e))?;
        io::copy(input, file.as_file_mut())
            .map_err(|e| Error::io(file.path(), "copy standard input to", e))?;
        let spooled = Some(file.into_temp_path());
        self.walked.files.push(InputFile { name: "-".into(), copy_name: "stdin".into(), spooled });
        Ok(())
    }

    fn add_file(
        &mut self,
        path: &Path,
        copy_name: PathBuf,
        metadata: &fs::Metadata,
        severity: Severity,
    ) {
        if !metadata.is_file() {
            let kind = kind(metadata.file_type());
            let detail = format!("is {kind}, not a regular file; use '-' to read a stream");
            let file = path.to_owned();
            self.walked.faults.push(Fault {
                severity,
                code: "input-type",
                file,
                byte: None,
                detail,
            });
            return;
        }
        match fs::canonicalize(path) {
            Ok(real) => {
                if self.seen.insert(real, ()).is_none() {
                    self.walked.files.push(InputFile { copy_name, ..InputFile::new(path) });
                }
            }
            Err(error) => self.refuse(path, Severity::Loss, &error),
        }
    }

    /// The files below a folder. Folders wait on a stack, so that no depth overflows ours.
    fn add_folder(&mut self, root: &Path, selection: &Selection<'_>) {
        let mut found = Vec::new();
        let mut waiting = vec![root.to_owned()];
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.refuse(&folder, Severity::Loss, &error);
                    continue;
                }
            };
            for entry in entries {
                let entry = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
                match entry {
                    Ok((path, kind)) if kind.is_dir() => waiting.push(path),
                    // A link inside a folder is not followed.
                    Ok((_, kind)) if kind.is_symlink() => {}
                    Ok((path, _)) => found.push(path),
                    Err(error) => self.refuse(&folder, Severity::Loss, &error),
                }
            }
        }
        found.sort_unstable_by(|a, b| {
            a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
        });
        for path in found {
            let below = path.strip_prefix(root).unwrap_or(&path);
            if !selection(below) {
                continue;
            }
            // The folder `..` has no name.
            let copy_name = Path::new(root.file_name().unwrap_or_default()).join(below);
            match fs::symlink_metadata(&path) {
                Ok(metadata) => self.add_file(&path, copy_name, &metadata, Severity::Warning),
                Err(error) => self.refuse(&path, Severity::Loss, &error),
            }
        }
    }

    fn refuse(&mut self, path: &Path, severity: Severity, error: &io::Error) {
        let is_loop = error.raw_os_error() == Some(TOO_MANY_LINKS);
        let code = if is_loop { "input-loop" } else { "input-open" };
        let detail = format!("{error}; skipped");
        let file = path.to_owned();
        self.walked.faults.push(Fault { severity, code, file, byte: None, detail });
    }
}

/// The system's number for a loop of symbolic links; the standard library's name is not stable.
const TOO_MANY_LINKS: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// What a path that is no regular file is.
fn kind(kind: fs::FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a FIFO";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    let _ = kind;
    "something else"
}

/// The paths of a list: one a line, or with a zero byte behind each. Blank lines are none; a
/// carriage return before a line's end is not part of the path. The list may be compressed by
/// gzip, which is how crawls publish theirs.
///
/// # Errors
///
/// The list cannot be read, or its gzip data is damaged.
pub fn listed_paths(list: &Path, zero_separated: bool) -> Result<Vec<PathBuf>> {
    let bytes = fs::read(list).map_err(|e| Error::io(list, "read", e))?;
    let bytes = crate::read::collection::unpacked(list, bytes)?;
    let separator = if zero_separated { 0 } else { b'\n' };
    let trimmed = |line: &[u8]| match line.strip_suffix(b"\r") {
        Some(line) if !zero_separated => line.to_vec(),
        _ => line.to_vec(),
    };
    Ok(bytes
        .split(|&byte| byte == separator)
        .map(trimmed)
        .filter(|line| !line.is_empty())
        .map(path_of_bytes)
        .collect())
}

#[cfg(unix)]
fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
