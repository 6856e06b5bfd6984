//! Paths and lists of paths → the files to read, in order.
//!
//! Files come in the order of the paths; those of a folder in byte order of their path, at any
//! depth. What is named is read, whatever it is called and wherever a link leads. Inside folders,
//! names that begin with a dot are left out unless they are asked for, and so are the results of
//! earlier runs; what a `.gitignore` lists is not. Links inside folders are followed to files, not
//! to folders, so that no loop of links is walked. A file that is reached twice is read once. What
//! is no file, or cannot be opened, is a fault of its own.

use crate::decompress::unpacked;
use crate::sniff;
use simtool_base::error::{Error, Result};
use simtool_base::fault::{Fault, Severity, escaped};
use simtool_base::unordered_map::{UnorderedMap, UnorderedSet};
use std::ffi::OsString;
use std::fmt;
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
    /// Where standard input is.
    input: Option<InputPlace>,
}

/// Where the bytes of standard input are.
#[derive(Debug)]
enum InputPlace {
    /// A copy of what came as a stream.
    Copied(TempPath),
    /// The file that it is.
    File(PathBuf),
}

impl InputFile {
    /// A file that is where its name says.
    pub fn new(name: impl Into<PathBuf>) -> Self {
        let name = name.into();
        let copy_name = name.file_name().unwrap_or_default().into();
        Self { name, copy_name, input: None }
    }

    fn standard_input(place: InputPlace) -> Self {
        Self { name: "-".into(), copy_name: "stdin".into(), input: Some(place) }
    }

    /// Where the bytes are.
    #[must_use]
    pub fn path(&self) -> &Path {
        match &self.input {
            None => &self.name,
            Some(InputPlace::Copied(path)) => path,
            Some(InputPlace::File(path)) => path,
        }
    }
}

/// Decides which files of folders are read; named files always are. It gets the path below the
/// folder that was named.
pub type FileFilter<'s> = dyn Fn(&Path) -> bool + 's;

/// What of a folder is read.
#[derive(Clone, Copy)]
pub struct InFolders<'f> {
    /// The files that are wanted.
    pub wanted: &'f FileFilter<'f>,
    /// Whether files and folders are read whose names begin with a dot.
    pub hidden: bool,
    /// A file or folder that is not read where it lies in a folder, by its path without links:
    /// where results go.
    pub output: Option<&'f Path>,
}

impl Default for InFolders<'_> {
    /// Everything but what is hidden.
    fn default() -> Self {
        Self { wanted: &|_| true, hidden: false, output: None }
    }
}

impl fmt::Debug for InFolders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("InFolders");
        shown.field("hidden", &self.hidden).field("output", &self.output).finish_non_exhaustive()
    }
}

/// The files that were found, and what is wrong with other paths.
#[derive(Debug, Default)]
pub struct Walked {
    /// In reading order.
    pub files: Vec<InputFile>,
    /// In the order they were met.
    pub faults: Vec<Fault>,
    /// What lies in the folders and was left out on purpose, told in one warning for each kind and
    /// folder that was named.
    pub left_out: Vec<Fault>,
    /// How many hidden files and folders were left out. What is in a hidden folder is not counted.
    pub hidden: u64,
}

/// Collects files.
#[derive(Debug, Default)]
pub struct Walker {
    walked: Walked,
    /// Files that were reached, by their path without links.
    seen: UnorderedSet<OsString>,
}

/// A file in a folder.
struct Found {
    path: PathBuf,
    kind: fs::FileType,
    /// The path without links.
    real: PathBuf,
}

/// What was left out of a folder: how many, and the first of them.
#[derive(Default)]
struct LeftOut {
    count: u64,
    first: Option<PathBuf>,
}

impl LeftOut {
    fn add(&mut self, path: PathBuf) {
        self.count += 1;
        // Folders are read in any order.
        if self.first.as_ref().is_none_or(|first| path < *first) {
            self.first = Some(path);
        }
    }

    /// Tells of it, if there is any, in the words of `detail`, which gets the number and the first.
    fn tell(
        &self,
        code: &'static str,
        root: &Path,
        detail: impl Fn(u64, &str) -> String,
    ) -> Option<Fault> {
        let first = self.first.as_ref()?;
        let first = escaped(first.as_os_str().as_encoded_bytes());
        Some(Fault {
            severity: Severity::Warning,
            code,
            file: root.to_owned(),
            byte: None,
            detail: detail(self.count, &first),
            lost_records: 0,
        })
    }
}

impl Walker {
    /// Adds a file, or the files of a folder.
    pub fn add(&mut self, path: &Path, in_folders: InFolders<'_>) {
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

    /// Adds standard input, which is a file, where it is.
    pub fn add_input_file(&mut self, path: &Path) {
        if !self.has_input() {
            let place = InputPlace::File(path.to_owned());
            self.walked.files.push(InputFile::standard_input(place));
        }
    }

    /// Adds what comes through standard input, copied to a file in `folder` that goes away with the
    /// walked files.
    ///
    /// # Errors
    ///
    /// It cannot be copied.
    pub fn add_input_stream(&mut self, input: &mut dyn Read, folder: &Path) -> Result<()> {
        if self.has_input() {
            return Ok(());
        }
        let mut file = tempfile::Builder::new()
            .prefix("simtool-stdin-")
            .tempfile_in(folder)
            .map_err(|e| Error::io(folder, "create a file in", e))?;
        io::copy(input, file.as_file_mut())
            .map_err(|e| Error::io(file.path(), "copy standard input to", e))?;
        let place = InputPlace::Copied(file.into_temp_path());
        self.walked.files.push(InputFile::standard_input(place));
        Ok(())
    }

    /// Whether standard input, which is read once, is among the files.
    fn has_input(&self) -> bool {
        self.walked.files.iter().any(|file| file.input.is_some())
    }

    /// The files that were found.
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
    fn add_folder(&mut self, root: &Path, real: &Path, in_folders: InFolders<'_>) {
        let mut found = Vec::new();
        let (mut hidden, mut links, mut results) = <(LeftOut, LeftOut, LeftOut)>::default();
        let (mut waiting, mut has_links) = (vec![root.to_owned()], false);
        while let Some(folder) = waiting.pop() {
            if folder != root && is_of_simtool(&folder) {
                results.add(folder);
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
                let entry = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)));
                let (path, kind) = match entry {
                    Ok(entry) => entry,
                    Err(error) => {
                        self.refuse(&folder, Severity::Loss, &error);
                        continue;
                    }
                };
                let below = path.strip_prefix(root).unwrap_or(&path);
                // No link is followed on the way.
                let mut at = Found { real: real.join(below), kind, path: path.clone() };
                let is_wanted = kind.is_dir() || (in_folders.wanted)(below);
                if in_folders.output.is_some_and(|output| at.real == output) {
                    results.add(path);
                } else if !in_folders.hidden && is_hidden(&path) {
                    if is_wanted {
                        hidden.add(path);
                    }
                } else if kind.is_dir() {
                    waiting.push(path);
                } else if !is_wanted {
                    // Another file.
                } else if !kind.is_symlink() {
                    found.push(at);
                } else {
                    let target = fs::metadata(&path)
                        .and_then(|metadata| Ok((metadata.file_type(), fs::canonicalize(&path)?)));
                    match target {
                        Ok((kind, _)) if kind.is_dir() => links.add(path),
                        Ok((kind, real)) => {
                            (at.kind, at.real, has_links) = (kind, real, true);
                            // Nothing of an output comes in by a link.
                            if in_folders.output.is_none_or(|output| !at.real.starts_with(output)) {
                                found.push(at);
                            }
                        }
                        // What it led to is not there to be lost.
                        Err(error) => self.refuse(&path, Severity::Warning, &error),
                    }
                }
            }
        }
        self.walked.hidden += hidden.count;
        self.walked.left_out.extend(hidden.tell("hidden", root, |count, first| match count {
            1 => format!("\"{first}\" is hidden and was left out; `hidden` reads it"),
            _ => format!(
                "{count} hidden files and folders were left out, such as \"{first}\"; `hidden` reads \
                 them"
            ),
        }));
        self.walked.left_out.extend(links.tell("link", root, |count, first| match count {
            1 => format!("\"{first}\" is a link to a folder and was left out; name it to read it"),
            _ => format!(
                "{count} links to folders were left out, such as \"{first}\"; name them to read them"
            ),
        }));
        self.walked.left_out.extend(results.tell("results", root, |count, first| match count {
            1 => format!("\"{first}\" is where results of simtool are and was left out"),
            _ => format!(
                "{count} folders with results of simtool were left out, such as \"{first}\"; name \
                 what you want to read in them"
            ),
        }));
        found.sort_unstable_by(|a, b| {
            let [a, b] = [a, b].map(|found| found.path.as_os_str().as_encoded_bytes());
            a.cmp(b)
        });
        let found = if has_links { named_best(found) } else { found };
        for Found { path, kind, real } in found {
            let below = path.strip_prefix(root).unwrap_or(&path);
            // The folder `..` has no name.
            let copy_name = Path::new(root.file_name().unwrap_or_default()).join(below);
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

/// Whether the name begins with a dot.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Whether the folder holds what a run of this program wrote.
fn is_of_simtool(folder: &Path) -> bool {
    /// Bytes that the summary of a run names the program in.
    const HEAD: u64 = 64;
    let mut head = Vec::new();
    let read = fs::File::open(folder.join("summary.json"))
        .and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let names_program = |head: &[u8]| {
        let mut words = head.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty());
        words.by_ref().take(2).eq([&b"{"[..], b"\"program\":"])
            && words.next() == Some(b"\"simtool")
    };
    read.is_ok() && names_program(&head)
}

/// The files, each once: of several names for one, which links give it, the first that tells a
/// format, since a cache keeps files under names that say nothing and links to them.
fn named_best(found: Vec<Found>) -> Vec<Found> {
    let tells = |found: &Found| sniff::named(&found.path).is_some();
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

/// The paths of a list, or, for `-`, of the one that `input` holds: one a line, or with a zero byte
/// behind each. Blank lines are none; a carriage return before a line's end is not part of the path.
/// The list may be compressed by gzip, which is how crawls publish theirs.
///
/// # Errors
///
/// The list cannot be read, or its gzip data is damaged.
pub fn listed_paths(
    list: &Path,
    zero_separated: bool,
    input: &mut dyn Read,
) -> Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    let is_input = list.as_os_str() == "-";
    let list = if is_input { Path::new("standard input") } else { list };
    let read = if is_input {
        input.read_to_end(&mut bytes)
    } else {
        fs::File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|e| Error::io(list, "read", e))?;
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
    use std::slice;

    fn walk(paths: &[PathBuf], wanted: &FileFilter<'_>) -> (Vec<String>, Vec<String>) {
        let walked = walked(paths, InFolders { wanted, hidden: true, output: None });
        let mut found = Vec::new();
        for file in &walked.files {
            found.push(file.copy_name.to_str().unwrap().to_owned());
        }
        (found, walked.faults.iter().map(|fault| fault.code.to_owned()).collect())
    }

    fn walked(paths: &[PathBuf], in_folders: InFolders<'_>) -> Walked {
        let folder = tempfile::tempdir().unwrap();
        let mut walker = Walker::default();
        for path in paths {
            if path.as_os_str() == "-" {
                walker.add_input_stream(&mut &b"piped"[..], folder.path()).unwrap();
            } else {
                walker.add(path, in_folders);
            }
        }
        let walked = walker.finish();
        // What came through standard input goes away with the folder.
        assert!(walked.files.iter().all(|file| file.path().is_file()));
        walked
    }

    /// Copy names of the files, and what was left out.
    fn left_out(paths: &[PathBuf], in_folders: InFolders<'_>) -> (Vec<PathBuf>, Vec<String>) {
        let walked = walked(paths, in_folders);
        let told = walked.left_out.iter().map(|f| format!("{} {}", f.code, f.detail)).collect();
        (walked.files.into_iter().map(|file| file.copy_name).collect(), told)
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
    fn hidden_files_are_left_out_of_folders_and_counted() {
        let folder = tree();
        let t = folder.path().join("t");
        let found = walked(slice::from_ref(&t), InFolders::default());
        assert_eq!((found.files.len(), found.hidden), (4, 3));
        let (found, told) = left_out(slice::from_ref(&t), InFolders::default());
        assert_eq!(found, ["t/a-b", "t/a.x", "t/a/z", "t/b"].map(PathBuf::from));
        let first = format!("such as \"{}\"; `hidden` reads them", t.join(".git").display());
        assert_eq!(told, [format!("hidden 3 hidden files and folders were left out, {first}")]);
        // What is not wanted anyway is not told of, and what is named is read.
        let wanted: &FileFilter<'_> = &|below| !below.ends_with(".hidden");
        let in_a = InFolders { wanted, ..InFolders::default() };
        assert_eq!(left_out(&[t.join("a")], in_a).1, [""; 0]);
        let (found, told) = left_out(&[t.join(".git"), t.join("a/.hidden")], InFolders::default());
        assert_eq!((found.len(), told.len()), (2, 0));
    }

    #[test]
    fn results_are_left_out_of_folders() {
        let folder = tree();
        let t = folder.path().join("t");
        let real = t.canonicalize().unwrap();
        let output = real.join("a");
        let in_t = InFolders { output: Some(&output), hidden: true, ..InFolders::default() };
        let (found, told) = left_out(slice::from_ref(&t), in_t);
        assert_eq!(found.len(), 5, "{found:?}");
        let a = t.join("a");
        let expected =
            format!("results \"{}\" is where results of simtool are and was left out", a.display());
        assert_eq!(told, slice::from_ref(&expected));
        // A folder that another run wrote, and one that another program did.
        fs::write(t.join("a/summary.json"), "{\n  \"program\": \"simtool 1.0\",\n").unwrap();
        let (found, told) = left_out(slice::from_ref(&t), InFolders::default());
        assert_eq!((found.len(), told.last()), (3, Some(&expected)));
        assert_eq!(left_out(&[t.join("a")], InFolders::default()).0.len(), 2);
        fs::write(t.join("a/summary.json"), "{\"program\": \"other\"}").unwrap();
        assert_eq!(left_out(&[t], InFolders::default()).0.len(), 5);
    }

    #[test]
    fn folders_are_walked_in_byte_order_and_may_hide_nothing() {
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
    fn links_are_followed_to_files_and_where_they_are_named() {
        use std::os::unix::fs::symlink;
        let folder = tree();
        let at = |name: &str| folder.path().join(name);
        symlink(at("t"), at("to-t")).unwrap();
        symlink(at("t/b"), at("u/to-b")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        assert_eq!(walk(&[at("u")], &|_| true).0, ["u/b", "u/to-b"]);
        assert_eq!(walk(&[at("u"), at("t/b")], &|_| true).0, ["u/b", "u/to-b"]);
        symlink("..", at("u/up")).unwrap();
        symlink("loop", at("u/loop")).unwrap();
        let (found, told) = left_out(&[at("u")], InFolders::default());
        assert_eq!(found, ["u/b", "u/to-b"].map(PathBuf::from));
        let expected = "is a link to a folder and was left out; name it to read it";
        assert_eq!(told, [format!("link \"{}\" {expected}", at("u/up").display())]);
        let of_links = walked(&[at("u")], InFolders::default()).faults;
        assert_eq!((of_links[0].code, of_links[0].severity), ("input-loop", Severity::Warning));
        fs::remove_file(at("u/loop")).unwrap();
        assert_eq!(walk(&[at("u/to-b"), at("t/b")], &|_| true).0, ["to-b"]);
        assert_eq!(walk(&[at("to-t")], &|_| true).0.len(), 7);
        let (_, faults) = walk(&[at("loop"), at("dangling"), "/dev/null".into()], &|_| true);
        assert_eq!(faults, ["input-loop", "input-open", "input-type"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_layout_of_a_cache_is_read_once_and_under_names_that_tell() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join("cache").join(name);
        for name in ["blobs", "snapshots/1/data", "snapshots/2"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        for blob in ["b1", "b2", "b3"] {
            fs::write(at("blobs").join(blob), "text\nx\n").unwrap();
        }
        symlink("../../../blobs/b1", at("snapshots/1/data/z.csv")).unwrap();
        symlink("../../blobs/b2", at("snapshots/1/LICENSE")).unwrap();
        symlink("../../blobs/b1", at("snapshots/2/a.csv")).unwrap();
        let cache = folder.path().join("cache");
        let (found, told) = left_out(slice::from_ref(&cache), InFolders::default());
        let names = ["blobs/b2", "blobs/b3", "snapshots/1/data/z.csv"];
        assert_eq!(found, names.map(|name| Path::new("cache").join(name)));
        assert_eq!(told, [""; 0]);
        assert_eq!(left_out(&[at("snapshots/2")], InFolders::default()).0, [Path::new("2/a.csv")]);
        // Nothing of an output comes in by a link.
        let output = cache.canonicalize().unwrap().join("blobs");
        let in_cache = InFolders { output: Some(&output), ..InFolders::default() };
        assert_eq!(left_out(&[cache], in_cache).0.len(), 0);
    }

    #[test]
    fn lists_may_be_compressed_and_separated_by_zeros() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("list");
        let check = |bytes: &[u8], zeros: bool, expected: &[&str]| {
            fs::File::create(&list).unwrap().write_all(bytes).unwrap();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(listed_paths(&list, zeros, &mut io::empty()).unwrap(), expected);
            let piped = listed_paths(Path::new("-"), zeros, &mut &bytes[..]);
            assert_eq!(piped.unwrap(), expected);
        };
        check(b"a\r\nb c\n\nd", false, &["a", "b c", "d"]);
        check(b"a\nb\0c\0", true, &["a\nb", "c"]);
        {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(b"a\nb\n").unwrap();
            let packed = gzip.finish().unwrap();
            check(&packed, false, &["a", "b"]);
            fs::write(&list, &packed[..packed.len() - 4]).unwrap();
            assert!(listed_paths(&list, false, &mut io::empty()).is_err());
        }
    }
}
