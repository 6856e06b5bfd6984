//! Paths and lists of paths → the files to read, in order.
//!
//! Files come in the order of the paths; those of a folder in byte order of their path, at any
//! depth. Nothing is hidden: neither names that begin with a dot nor what a `.gitignore` lists.
//! Symbolic links are followed where they are named, and not inside folders. A file that is
//! reached twice is read once. What is no file, or cannot be opened, is a fault of its own.

use crate::error::{Error, Result};
use crate::fault::{Fault, Severity};
use crate::read::decompress::unpacked;
use crate::unordered_map::UnorderedSet;
use std::ffi::OsString;
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
pub type FileFilter<'s> = dyn Fn(&Path) -> bool + 's;

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
    seen: UnorderedSet<OsString>,
    has_read_input: bool,
}

impl<'w> Walker<'w> {
    /// Nothing was reached yet. Standard input is copied to `temporary_folder`.
    #[must_use]
    pub fn new(temporary_folder: &'w Path) -> Self {
        Self {
            temporary_folder,
            walked: Walked::default(),
            seen: UnorderedSet::default(),
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
        filter: &FileFilter<'_>,
        input: &mut dyn Read,
    ) -> Result<()> {
        if path.as_os_str() == "-" {
            return self.add_input(input);
        }
        let found = fs::metadata(path).and_then(|metadata| Ok((metadata, fs::canonicalize(path)?)));
        let (metadata, real) = match found {
            Ok(found) => found,
            Err(error) => {
                self.refuse(path, Severity::Loss, &error);
                return Ok(());
            }
        };
        if metadata.is_dir() {
            self.add_folder(path, &real, filter);
        } else {
            let copy_name = path.file_name().unwrap_or_default().into();
            self.add_file(path, real, copy_name, metadata.file_type(), Severity::Loss);
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
        real: PathBuf,
        copy_name: PathBuf,
        file_type: fs::FileType,
        severity: Severity,
    ) {
        if !file_type.is_file() {
            let kind = kind(file_type);
            let detail = format!("is {kind}, not a regular file; use '-' to read a stream");
            let file = path.to_owned();
            self.walked.faults.push(Fault {
                severity,
                code: "input-type",
                file,
                byte: None,
                detail,
                lost_records: 0,
            });
            return;
        }
        if self.seen.insert(real.into_os_string()) {
            self.walked.files.push(InputFile { copy_name, ..InputFile::new(path) });
        }
    }

    /// The files below a folder, which is called `real` without links. Folders wait on a stack, so
    /// that no depth overflows ours.
    fn add_folder(&mut self, root: &Path, real: &Path, filter: &FileFilter<'_>) {
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
                    Ok((path, kind)) => found.push((path, kind)),
                    Err(error) => self.refuse(&folder, Severity::Loss, &error),
                }
            }
        }
        found.sort_unstable_by(|(a, _), (b, _)| {
            a.as_os_str().as_encoded_bytes().cmp(b.as_os_str().as_encoded_bytes())
        });
        for (path, kind) in found {
            let below = path.strip_prefix(root).unwrap_or(&path);
            if !filter(below) {
                continue;
            }
            // The folder `..` has no name.
            let copy_name = Path::new(root.file_name().unwrap_or_default()).join(below);
            // No link is followed on the way.
            let real = real.join(below);
            self.add_file(&path, real, copy_name, kind, Severity::Warning);
        }
    }

    fn refuse(&mut self, path: &Path, severity: Severity, error: &io::Error) {
        let is_loop = error.raw_os_error() == Some(TOO_MANY_LINKS);
        let code = if is_loop { "input-loop" } else { "input-open" };
        let detail = format!("{error}; skipped");
        let file = path.to_owned();
        self.walked.faults.push(Fault {
            severity,
            code,
            file,
            byte: None,
            detail,
            lost_records: 0,
        });
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
    let bytes = unpacked(list, bytes)?;
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
    OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn walk(paths: &[PathBuf], filter: &FileFilter<'_>) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let mut walker = Walker::new(folder.path());
        for path in paths {
            walker.add(path, filter, &mut &b"piped"[..]).unwrap();
        }
        let walked = walker.finish();
        let mut found = Vec::new();
        for file in &walked.files {
            assert!(file.path().is_file());
            found.push(file.copy_name.to_str().unwrap().to_owned());
        }
        (found, walked.faults.iter().map(|fault| fault.code.to_owned()).collect())
    }

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t/b", "t/a/z", "t/a/.hidden", "t/a.x", "t/a-b", "t/.git/c", "u/b"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        }
        fs::write(folder.path().join("t/.gitignore"), "*\n").unwrap();
        folder
    }

    #[test]
    fn folders_are_walked_in_byte_order_and_hide_nothing() {
        let folder = tree();
        let (found, faults) = walk(&[folder.path().join("t")], &|_| true);
        let expected =
            ["t/.git/c", "t/.gitignore", "t/a-b", "t/a.x", "t/a/.hidden", "t/a/z", "t/b"];
        assert_eq!((found, faults), (expected.map(str::to_owned).to_vec(), vec![]));
        let (found, _) = walk(&[folder.path().join("t")], &|below| below.starts_with("a"));
        assert_eq!(found, ["t/a/.hidden", "t/a/z"]);
    }

    #[test]
    fn files_come_in_the_order_of_the_paths_and_once() {
        let folder = tree();
        let [t, u] = ["t", "u"].map(|name| folder.path().join(name));
        let paths =
            [u.join("b"), t.join("b"), "-".into(), u, t.join("a/../b"), "-".into(), t.join("a")];
        let (found, faults) = walk(&paths, &|_| true);
        assert_eq!(
            (found, faults),
            (
                vec!["b", "b", "stdin", "a/.hidden", "a/z"]
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
                vec![]
            )
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_where_they_are_named_alone() {
        use std::os::unix::fs::symlink;
        let folder = tree();
        let at = |name: &str| folder.path().join(name);
        symlink(at("t"), at("to-t")).unwrap();
        symlink(at("t/b"), at("u/to-b")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        assert_eq!(walk(&[at("u")], &|_| true).0, ["u/b"]);
        assert_eq!(walk(&[at("u/to-b"), at("t/b")], &|_| true).0, ["to-b"]);
        assert_eq!(walk(&[at("to-t")], &|_| true).0.len(), 7);
        let (_, faults) = walk(&[at("loop"), at("dangling"), "/dev/null".into()], &|_| true);
        assert_eq!(faults, ["input-loop", "input-open", "input-type"]);
    }

    #[test]
    fn lists_may_be_compressed_and_separated_by_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let check = |bytes: &[u8], zeros: bool, expected: &[&str]| {
            fs::File::create(&list).unwrap().write_all(bytes).unwrap();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(listed_paths(&list, zeros).unwrap(), expected);
        };
        check(b"a\r\nb c\n\nd", false, &["a", "b c", "d"]);
        check(b"a\nb\0c\0", true, &["a\nb", "c"]);
        #[cfg(feature = "gzip")]
        {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(b"a\nb\n").unwrap();
            let packed = gzip.finish().unwrap();
            check(&packed, false, &["a", "b"]);
            fs::write(&list, &packed[..packed.len() - 4]).unwrap();
            assert!(listed_paths(&list, false).is_err());
        }
    }
}
