//! Finds the input files in the paths, and in lists of paths, that the user gives.
//!
//! Files are in the order of the paths. Files in a folder, at any depth, are in byte order of their
//! paths. Paths that the user names are read, whatever their names and wherever their links lead.
//! Inside folders, two things are left out: names that begin with a dot, unless the user asks for
//! hidden files, and the results of earlier runs. A `.gitignore` has no effect. Links inside
//! folders are followed to files, not to folders, so that no loop of links is walked. A file that
//! is reached twice is read once. A path that cannot be opened, or is neither a file nor a folder,
//! is reported as a fault.

mod input_file;
mod lists;
#[cfg(feature = "remote")]
mod objects;
mod output_folder;
#[cfg(test)]
mod tests;

use crate::documents::sniff;
use crate::source::LocalSource;
use crate::source::address::{Address, without_credentials};
use simtool_base::error::Result;
use simtool_base::fault::{Fault, Severity, escaped};
use simtool_base::unordered_map::{UnorderedMap, UnorderedSet};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

pub use input_file::InputFile;
pub use lists::listed_paths;
pub use output_folder::{UNFINISHED, is_output_folder, is_summary};

/// Function that decides whether a file in a folder is read. Its argument is the path of the file
/// below the folder that the user named. The function is not called for files that the user names,
/// because these are always read.
pub(crate) type FileFilter<'s> = dyn Fn(&Path) -> bool + 's;

/// Options for the choice of files inside folders.
#[derive(Clone, Copy)]
pub struct InFolders<'f> {
    /// Function that returns whether a file in a folder is read. Its argument is the path of the
    /// file below the folder that the user named.
    pub wanted: &'f FileFilter<'f>,
    /// Whether hidden files and folders, whose names begin with a dot, are read, too.
    pub hidden: bool,
    /// Function that returns whether a file contains results of an earlier run. Such a file is not read. The argument
    /// is the path of the file.
    pub is_result: &'f FileFilter<'f>,
    /// Output file or folder of the run. It is not read if it lies in an input folder. The path
    /// must not contain links.
    pub output: Option<&'f Path>,
    /// Folder in which the run stores intermediate results for a run that resumes it. It is not read. The path must not
    /// contain links.
    pub own: Option<&'f Path>,
}

impl Default for InFolders<'_> {
    /// Returns options that select every file that is not hidden.
    fn default() -> Self {
        Self { wanted: &|_| true, hidden: false, is_result: &|_| false, output: None, own: None }
    }
}

impl fmt::Debug for InFolders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("InFolders");
        shown.field("hidden", &self.hidden).field("output", &self.output).finish_non_exhaustive()
    }
}

/// Input files that were found under the paths of the user, and the faults and warnings about other paths.
#[derive(Debug, Default)]
pub struct Walked {
    /// The files that were found, in reading order.
    pub files: Vec<InputFile>,
    /// Faults of paths that cannot be read, in the order of their discovery.
    pub faults: Vec<Fault>,
    /// Warnings about files and folders that were left out on purpose: hidden files, links to
    /// folders, and results of earlier runs. For each folder that the user named, there is at most
    /// one warning of each kind.
    pub left_out: Vec<Fault>,
    /// Number of hidden files and folders that were left out. Files inside a hidden folder are not
    /// counted.
    pub hidden: u64,
}

/// Collects the input files: files that the user names, and the files in folders that the user
/// names.
#[derive(Debug, Default)]
pub struct Walker {
    walked: Walked,
    /// Paths, with all links resolved, of the files that were found so far. So a file with two
    /// names is read only once.
    seen: UnorderedSet<OsString>,
}

/// A file that was found in a folder.
struct FoundFile {
    path: PathBuf,
    kind: fs::FileType,
    /// The path `path` with all links resolved.
    real: PathBuf,
}

/// Number of files and folders inside a named folder that were left out for the same reason, and the first of their
/// paths in byte order.
#[derive(Default)]
struct LeftOut {
    count: u64,
    first: Option<PathBuf>,
}

impl LeftOut {
    fn add(&mut self, path: PathBuf) {
        self.count += 1;
        // The entries of a folder come in any order, so the smallest path is kept.
        if self.first.as_ref().is_none_or(|first| path < *first) {
            self.first = Some(path);
        }
    }

    /// Returns the warning about the files and folders that were left out, or `None` if nothing was
    /// left out. `root` is the named folder. `detail` creates the text of the warning from the
    /// number of files and folders and from the first path.
    fn warning(
        &self,
        code: &'static str,
        root: &Path,
        detail: impl Fn(u64, &str) -> String,
    ) -> Option<Fault> {
        let first = self.first.as_ref()?;
        let first = escaped(first.as_os_str().as_encoded_bytes());
        Some(fault(Severity::Warning, code, root, detail(self.count, &first)))
    }
}

/// A folder that the user named.
#[derive(Clone, Copy)]
struct NamedFolder<'f> {
    root: &'f Path,
    /// The path `root` with all links resolved.
    real: &'f Path,
    in_folders: InFolders<'f>,
}

/// State of a walk through a folder that the user named.
#[derive(Default)]
struct FolderWalk {
    found: Vec<FoundFile>,
    hidden: LeftOut,
    /// Links to folders, which are not followed.
    links: LeftOut,
    /// Folders with results of earlier runs, which are not read.
    results: LeftOut,
    /// Files with results of earlier runs, which are not read.
    result_files: LeftOut,
    /// Folders whose entries were not visited yet.
    waiting: Vec<PathBuf>,
    /// Whether any file was found through a link. Only in this case can one file have several
    /// names.
    has_links: bool,
}

impl FolderWalk {
    /// Returns the warnings about the files and folders that were left out, at most one for each
    /// reason. `root` is the named folder.
    fn warnings(&self, root: &Path) -> impl Iterator<Item = Fault> {
        let hidden = self.hidden.warning("hidden", root, |count, first| match count {
            1 => format!("\"{first}\" is hidden and was left out; `hidden` reads it"),
            _ => format!(
                "{count} hidden files and folders were left out, such as \"{first}\"; `hidden` reads \
                 them"
            ),
        });
        let links = self.links.warning("link", root, |count, first| match count {
            1 => format!("\"{first}\" is a link to a folder and was left out; name it to read it"),
            _ => format!(
                "{count} links to folders were left out, such as \"{first}\"; name them to read them"
            ),
        });
        let results = self.results.warning("results", root, |count, first| match count {
            1 => format!("\"{first}\" is where results of simtool are and was left out"),
            _ => format!(
                "{count} folders with results of simtool were left out, such as \"{first}\"; name \
                 what you want to read in them"
            ),
        });
        let files = self.result_files.warning("results", root, |count, first| match count {
            1 => format!("\"{first}\" has results of simtool and was left out; name it to read it"),
            _ => format!(
                "{count} files with results of simtool were left out, such as \"{first}\"; name them to \
                 read them"
            ),
        });
        [hidden, links, results, files].into_iter().flatten()
    }

    /// Returns the files that were found, in byte order of their paths, each file once.
    fn into_files(mut self) -> Vec<FoundFile> {
        self.found.sort_unstable_by(|a, b| {
            let a = a.path.as_os_str().as_encoded_bytes();
            let b = b.path.as_os_str().as_encoded_bytes();
            a.cmp(b)
        });
        if self.has_links { named_best(self.found) } else { self.found }
    }
}

impl Walker {
    /// Adds the file `path`. If `path` is a folder, adds the files in it that `in_folders` selects. If it is an address
    /// such as `s3://bucket/key`, adds the object, or the objects in the folder of this name.
    pub fn add(&mut self, path: &Path, in_folders: InFolders<'_>) {
        #[cfg(feature = "remote")]
        if let Some(address) = Address::parse(path) {
            self.add_address(&address, in_folders);
            return;
        }
        let found = fs::metadata(path).and_then(|metadata| Ok((metadata, fs::canonicalize(path)?)));
        let (metadata, real) = match found {
            Ok(found) => found,
            Err(error) => {
                self.refuse(path, Severity::Loss, &error);
                return;
            }
        };
        if metadata.is_dir() {
            self.add_folder(path, &real, in_folders);
        } else {
            let copy_name = path.file_name().unwrap_or_default().into();
            self.add_file(path, real, copy_name, metadata.file_type(), Severity::Loss);
        }
    }

    /// Adds standard input that was redirected from the file `path`, unless standard input was
    /// added before.
    pub fn add_input_file(&mut self, path: &Path) {
        if !self.has_input() {
            self.walked.files.push(InputFile::standard_input(LocalSource::redirected(path)));
        }
    }

    /// Adds standard input that is a pipe, unless standard input was added before. The bytes of the
    /// pipe are copied to a temporary file in `folder`. The temporary file is gone when its
    /// [`InputFile`] is dropped. It has no name, so it is also gone if the program is killed.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read or copied.
    pub fn add_input_stream(&mut self, input: &mut dyn Read, folder: &Path) -> Result<()> {
        if self.has_input() {
            return Ok(());
        }
        self.walked.files.push(InputFile::standard_input(LocalSource::copied(input, folder)?));
        Ok(())
    }

    /// Returns whether standard input, which can be read only once, was added.
    fn has_input(&self) -> bool {
        self.walked.files.iter().any(|file| !file.source.is_lasting())
    }

    /// Returns the files and faults that were found.
    #[must_use]
    pub fn finish(self) -> Walked {
        self.walked
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
            self.walked.faults.push(fault(severity, "input-type", path, detail));
            return;
        }
        // The path without links identifies the file. If a file were read under two names, each of
        // its documents would be a duplicate of itself.
        if self.seen.insert(real.into_os_string()) {
            self.walked.files.push(InputFile { copy_name, ..InputFile::new(path) });
        }
    }

    /// Adds the files at any depth in the folder `root`. `real` is the path of this folder with all
    /// links resolved. Folders to visit are on a list, not on the call stack, so that deep folders
    /// cause no stack overflow.
    fn add_folder(&mut self, root: &Path, real: &Path, in_folders: InFolders<'_>) {
        let named = NamedFolder { root, real, in_folders };
        let mut walk = FolderWalk::default();
        walk.waiting.push(root.to_owned());
        while let Some(folder) = walk.waiting.pop() {
            // Results contain documents of an earlier run. They would be duplicates of the
            // documents that the run was made from.
            if folder != root && is_output_folder(&folder) {
                walk.results.add(folder);
                continue;
            }
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    self.refuse(&folder, Severity::Loss, &error);
                    continue;
                }
            };
            for entry in entries {
                match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                    Ok((path, kind)) => self.add_entry(named, path, kind, &mut walk),
                    Err(error) => self.refuse(&folder, Severity::Loss, &error),
                }
            }
        }
        self.walked.hidden += walk.hidden.count;
        self.walked.left_out.extend(walk.warnings(root));
        for FoundFile { path, kind, real } in walk.into_files() {
            let below = path.strip_prefix(root).unwrap_or(&path);
            // The folder `..` has no name.
            let copy_name = Path::new(root.file_name().unwrap_or_default()).join(below);
            self.add_file(&path, real, copy_name, kind, Severity::Warning);
        }
    }

    /// Handles an entry of a folder: a file to read, a folder to visit, or something to leave out.
    fn add_entry(
        &mut self,
        named: NamedFolder<'_>,
        path: PathBuf,
        kind: fs::FileType,
        walk: &mut FolderWalk,
    ) {
        let NamedFolder { root, real, in_folders } = named;
        let below = path.strip_prefix(root).unwrap_or(&path);
        // No link was followed on the way from `root`, so the joined path contains no links.
        let real = real.join(below);
        let is_wanted = kind.is_dir() || (in_folders.wanted)(below);
        if in_folders.own.is_some_and(|own| real == own) {
            // The folder comes and goes, so a warning would differ from run to run.
        } else if in_folders.output.is_some_and(|output| real == output) {
            walk.results.add(path);
        } else if !in_folders.hidden && is_hidden(&path) {
            if is_wanted {
                walk.hidden.add(path);
            }
        } else if kind.is_dir() {
            walk.waiting.push(path);
        } else if is_wanted && kind.is_symlink() {
            self.add_link(in_folders, path, walk);
        } else if is_wanted && (in_folders.is_result)(&path) {
            walk.result_files.add(path);
        } else if is_wanted {
            walk.found.push(FoundFile { path, kind, real });
        }
    }

    /// Adds the file that the link `path` leads to. Links to folders are not followed.
    fn add_link(&mut self, in_folders: InFolders<'_>, path: PathBuf, walk: &mut FolderWalk) {
        let target = fs::metadata(&path)
            .and_then(|metadata| Ok((metadata.file_type(), fs::canonicalize(&path)?)));
        match target {
            Ok((kind, _)) if kind.is_dir() => walk.links.add(path),
            Ok((kind, real)) => {
                walk.has_links = true;
                // A link must not add a file of the output to the input.
                if in_folders.output.is_none_or(|output| !real.starts_with(output)) {
                    walk.found.push(FoundFile { path, kind, real });
                }
            }
            // The target of the link cannot be opened, and usually does not exist. So nothing is
            // lost, and a warning is enough.
            Err(error) => self.refuse(&path, Severity::Warning, &error),
        }
    }

    fn refuse(&mut self, path: &Path, severity: Severity, error: &io::Error) {
        let is_loop = error.raw_os_error() == Some(TOO_MANY_LINKS);
        let code = if is_loop { "input-loop" } else { "input-open" };
        let has_scheme =
            memchr::memmem::find(path.as_os_str().as_encoded_bytes(), b"://").is_some();
        let advice = match Address::parse(path) {
            Some(_) if cfg!(feature = "remote") => "",
            Some(_) => "; this build reads only local files: rebuild with --features remote",
            None if has_scheme => {
                "; files are read, and addresses with s3://, gs://, az://, hf://, https:// and http://"
            }
            None => "",
        };
        // An address can have credentials, which nothing may show.
        let path = without_credentials(path);
        self.walked.faults.push(fault(severity, code, &path, format!("{error}{advice}; skipped")));
    }
}

/// Creates a fault of the file or folder at `path`.
fn fault(severity: Severity, code: &'static str, path: &Path, detail: String) -> Fault {
    Fault { severity, code, file: path.to_owned(), byte: None, detail, lost_records: 0 }
}

/// Returns whether a file or folder is hidden, which means that its name begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Removes repeated files. If links give a file several names, the first name with the extension of an input format is
/// kept. This helps with caches, in which links with good names lead to files with meaningless names.
fn named_best(found: Vec<FoundFile>) -> Vec<FoundFile> {
    let tells = |found: &FoundFile| sniff::named(&found.path).is_some();
    let mut best: UnorderedMap<&Path, usize> = UnorderedMap::default();
    for (at, file) in found.iter().enumerate() {
        let known = best.entry(&file.real).or_insert(at);
        if !tells(&found[*known]) && tells(file) {
            *known = at;
        }
    }
    let is_best: Vec<bool> =
        found.iter().enumerate().map(|(at, file)| best.get(&*file.real) == Some(&at)).collect();
    found.into_iter().zip(is_best).filter_map(|(file, best)| best.then_some(file)).collect()
}

/// Error number of the operating system for a loop of symbolic links. The standard library has no
/// stable name for this error.
const TOO_MANY_LINKS: i32 = if cfg!(target_os = "linux") { 40 } else { 62 };

/// Returns a phrase for messages that names the type of a file that is not a regular file, for
/// example "a FIFO".
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
