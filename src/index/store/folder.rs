//! The folder of an index: a manifest and the segments that it lists.
//!
//! ```text
//! INDEX/MANIFEST               the list of segments; a commit replaces it by a rename
//! INDEX/LOCK                   locked by the writer, whose name is in its first line
//! INDEX/segment-0000000017     documents and tables; never changed
//! ```
//!
//! Files that the manifest does not list are not part of the index. A writer has not committed them, and
//! the next writer removes them.

use super::check_is_file;
use super::lock::Lock;
use super::manifest::{Manifest, SegmentEntry};
use super::sealed_file::Seal;
use super::segment::{Segment, SegmentRest, SegmentRows, SegmentWriter};
use simtool_base::durable::{Disk, creation_error};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::mapped_file::FileAccess;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MANIFEST: &str = "MANIFEST";
/// File name of the new manifest, which lists the segments, until it replaces the old manifest.
const NEXT_MANIFEST: &str = "MANIFEST.next";
/// Start of the names of segment files, which contain the documents.
pub(super) const SEGMENT: &str = "segment-";
/// Number of attempts to open an index. An attempt fails if a writer replaces segments at the same time.
const ATTEMPTS: u32 = 5;

/// An index as it was when it was opened. Later changes by a writer do not affect this value.
#[derive(Clone, Debug)]
pub struct IndexFolder {
    path: PathBuf,
    access: FileAccess,
    manifest: Manifest,
    segments: Vec<Arc<Segment>>,
}

pub(super) fn segment_path(folder: &Path, file: u64) -> PathBuf {
    folder.join(format!("{SEGMENT}{file:010}"))
}

pub(super) fn read_manifest(folder: &Path) -> Result<Manifest> {
    let path = folder.join(MANIFEST);
    match check_is_file(&path).and_then(|()| fs::read(&path)) {
        Ok(bytes) => Manifest::from_bytes(&bytes, &path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let what = format!("{} is no index", folder.display());
            let reason = "there is no MANIFEST in it; make one (index create)".to_owned();
            Err(ErrorKind::Missing { what, reason }.into())
        }
        Err(error) => Err(Error::io(path, "read", error)),
    }
}

impl IndexFolder {
    /// Opens the index in a folder for reading. No lock is needed, even if another process writes to the
    /// index.
    ///
    /// # Errors
    ///
    /// There is no index, or it is damaged.
    pub fn open(path: &Path, access: FileAccess) -> Result<Self> {
        let mut attempt = 1;
        loop {
            match Self::open_once(path, access) {
                // A writer may have merged segments after the manifest was read. Then opening is tried again.
                Err(error) if attempt < ATTEMPTS && is_missing(&error) => attempt += 1,
                opened => return opened,
            }
        }
    }

    fn open_once(path: &Path, access: FileAccess) -> Result<Self> {
        let manifest = read_manifest(path)?;
        let open = |entry: &SegmentEntry| {
            let file = segment_path(path, entry.file);
            Segment::open(&file, access, Some(entry.seal)).map(Arc::new)
        };
        let segments: Vec<_> = manifest.segments.iter().map(open).collect::<Result<_>>()?;
        let opened = Self { path: path.to_owned(), access, manifest, segments };
        opened.check_numbers()?;
        Ok(opened)
    }

    /// Checks that the document numbers of the segments ascend and are below the number of documents in the
    /// manifest.
    fn check_numbers(&self) -> Result<()> {
        // A document is looked up by the first number of each segment, which fails if the ranges of numbers
        // overlap.
        let mut next = 0;
        for segment in &self.segments {
            let end = match segment.len() {
                0 => segment.first(),
                rows => segment.number(rows - 1).saturating_add(1),
            };
            segment.check()?;
            if segment.first() < next || end > self.manifest.documents {
                let path = segment.path().to_owned();
                let expected =
                    format!("numbers of documents from {next} to {}", self.manifest.documents);
                return Err(ErrorKind::Format { path, byte: 0, expected }.into());
            }
            next = end.max(next);
        }
        Ok(())
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the manifest of the index, which lists its segments and sources.
    #[must_use]
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the segments, which are the files with the documents, in the order of their document numbers.
    #[must_use]
    pub fn segments(&self) -> &[Arc<Segment>] {
        &self.segments
    }
}

fn is_missing(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
}

/// Writer of an index. There can be only one at a time, because it holds the lock of the index.
///
/// Segments are written and merged immediately, and become part of the index at the next commit.
#[derive(Debug)]
pub struct IndexWriter {
    /// Index as it will be after the next commit.
    next: IndexFolder,
    /// Segments that the manifest on the disk lists.
    committed: Vec<SegmentEntry>,
    /// Numbers of new segment files that may not survive a power cut yet.
    unsynced: Vec<u64>,
    /// Whether the last commit failed after renaming the manifest. Then it is unknown which manifest a power
    /// cut would leave, and the files of both manifests are kept.
    is_in_doubt: bool,
    lock: Lock,
    disk: Disk,
}

impl IndexWriter {
    /// Creates an index without documents in a folder, and creates the folder if it does not exist. `holder`
    /// describes this process to other processes that try to write.
    ///
    /// # Errors
    ///
    /// The folder is not empty or cannot be written.
    pub fn create(path: &Path, manifest: Manifest, disk: Disk, holder: &str) -> Result<()> {
        Self::begin(path, manifest, FileAccess::READ, disk, holder)?.commit()
    }

    /// Locks the folder of a new index, and creates the folder if it does not exist. The index exists once
    /// the returned writer has committed. Until then, the folder has no manifest.
    ///
    /// # Errors
    ///
    /// The folder is not empty, cannot be written, or another process writes to it.
    pub(crate) fn begin(
        path: &Path,
        manifest: Manifest,
        access: FileAccess,
        disk: Disk,
        holder: &str,
    ) -> Result<Self> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::io(path, "create", creation_error(path, error)));
            }
            _ => {}
        }
        // The folder of another program gets no lock file.
        refuse_used(path)?;
        let lock = Lock::take(path, holder)?;
        // Before this process had the lock, another one may have created an index here.
        refuse_used(path)?;
        let next = IndexFolder { path: path.to_owned(), access, manifest, segments: Vec::new() };
        Ok(Self::of(next, lock, disk))
    }

    /// Opens the index in a folder for writing, and removes files that were never committed. `holder`
    /// describes this process to other processes that try to write.
    ///
    /// # Errors
    ///
    /// Another process writes to the index, there is no index, or it is damaged.
    pub fn open(path: &Path, access: FileAccess, disk: Disk, holder: &str) -> Result<Self> {
        // The manifest is read first, so that a folder without an index gets no lock file.
        read_manifest(path)?;
        let lock = Lock::take(path, holder)?;
        // The index is opened again under the lock, because another writer may have committed since the check
        // above.
        let next = IndexFolder::open(path, access)?;
        // Under the lock, these files cannot belong to a writer that is still running.
        remove_leftovers(path, &next.manifest.segments)?;
        Ok(Self::of(next, lock, disk))
    }

    fn of(next: IndexFolder, lock: Lock, disk: Disk) -> Self {
        let committed = next.manifest.segments.clone();
        Self { next, committed, unsynced: Vec::new(), is_in_doubt: false, lock, disk }
    }

    /// Returns the index as it will be after the next commit.
    #[must_use]
    pub fn folder(&self) -> &IndexFolder {
        &self.next
    }

    /// Returns the number that the next document gets.
    #[must_use]
    pub(crate) fn next_number(&self) -> u64 {
        self.next.manifest.documents
    }

    /// Returns the number of the source called `name`. A new name gets a new number.
    ///
    /// # Errors
    ///
    /// The name is empty or contains line ends or other control characters.
    pub fn source(&mut self, name: &str) -> Result<u32> {
        if name.is_empty() || name.contains(char::is_control) {
            return Err(Error::config("source", name.escape_debug(), "must be a name in one line"));
        }
        let sources = &mut self.next.manifest.sources;
        let found = sources.iter().position(|source| source == name);
        let number = found.unwrap_or_else(|| {
            sources.push(name.to_owned());
            sources.len() - 1
        });
        Ok(number as u32)
    }

    /// Writes a new segment, a file with documents, that replaces the last `merged` segments. `rows` and `rest` are its
    /// content, and `write` adds the IDs and the tables. `next_number` is the number that the next added document will
    /// get.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or `write` fails.
    pub(crate) fn push_segment(
        &mut self,
        merged: usize,
        rows: &SegmentRows<'_>,
        rest: &SegmentRest,
        next_number: u64,
        write: &mut dyn FnMut(&mut SegmentWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let number = self.next.manifest.next_segment;
        let path = segment_path(&self.next.path, number);
        let Manifest { method, recipe, .. } = &self.next.manifest;
        let written = write_segment(&path, rows, rest, &format!("{method}\n{recipe}\n"), write);
        let segment = written.and_then(|seal| {
            let segment = Segment::open(&path, self.next.access, Some(seal))?;
            Ok((segment, SegmentEntry { file: number, seal }))
        });
        let (segment, entry) = segment.inspect_err(|_| {
            remove_if_possible(&path);
        })?;
        let (segments, entries) = (&mut self.next.segments, &mut self.next.manifest.segments);
        let kept = segments.len() - merged;
        segments.truncate(kept);
        for retired in entries.drain(kept..) {
            // The manifest on the disk lists the committed segments, so these are kept until the next commit.
            // Other segments are known only to this writer.
            if !self.committed.contains(&retired) {
                remove_if_possible(&segment_path(&self.next.path, retired.file));
                self.unsynced.retain(|&file| file != retired.file);
            }
        }
        segments.push(Arc::new(segment));
        entries.push(entry);
        self.unsynced.push(number);
        self.next.manifest.next_segment += 1;
        self.next.manifest.documents = next_number;
        Ok(())
    }

    /// Commits everything that was added. The changes survive a power cut once this function has returned.
    /// Removes files that the index no longer needs.
    ///
    /// # Errors
    ///
    /// The index did not change. If only one of the last steps failed, the next opening finds the index
    /// either as before or as after the commit.
    pub fn commit(&mut self) -> Result<()> {
        self.prepare()?;
        self.publish()
    }

    /// Writes and syncs everything that the next commit needs, so that [`publish`](Self::publish) needs no more
    /// space on the disk. The index does not change.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(crate) fn prepare(&mut self) -> Result<()> {
        let folder = self.next.path.clone();
        // Segments must be on the disk before the manifest that lists them. Otherwise a power cut could leave
        // a manifest whose segments are incomplete.
        for &file in &self.unsynced {
            let path = segment_path(&folder, file);
            let failed = |e| Error::io(&path, "sync", e);
            let file = File::options().append(true).open(&path).map_err(failed)?;
            self.disk.sync_file(&file, &path).map_err(failed)?;
        }
        if !self.unsynced.is_empty() {
            self.disk.sync_folder(&folder).map_err(|e| Error::io(&folder, "sync", e))?;
        }
        self.next.manifest.generation += 1;
        let next = folder.join(NEXT_MANIFEST);
        let bytes = self.next.manifest.to_bytes();
        let write = || {
            // The name may be a link that someone created. A file behind it must not be overwritten.
            remove_if_there(&next)?;
            let mut file = File::options().write(true).create_new(true).open(&next)?;
            file.write_all(&bytes)?;
            self.disk.sync_file(&file, &next)
        };
        write().map_err(|e| Error::io(&next, "write", e))
    }

    /// Completes a commit. The changes that [`prepare`](Self::prepare) has written become part of the index. Removes
    /// segment files that the index no longer needs.
    ///
    /// # Errors
    ///
    /// The same as [`commit`](Self::commit).
    pub(crate) fn publish(&mut self) -> Result<()> {
        let folder = self.next.path.clone();
        let (path, next) = (folder.join(MANIFEST), folder.join(NEXT_MANIFEST));
        // If someone removed the lock file, another writer can hold a lock of its own. Its commit must not be
        // replaced.
        self.lock.check()?;
        // If a step from the rename to the sync fails, it is unknown which manifest is on the disk.
        self.is_in_doubt = true;
        self.disk.rename(&next, &path).map_err(|e| Error::io(&path, "rename", e))?;
        self.disk.sync_folder(&folder).map_err(|e| Error::io(&folder, "sync", e))?;
        if self.next.manifest.generation == 1 {
            self.sync_parent()?;
        }
        self.is_in_doubt = false;
        self.unsynced.clear();
        let entries = &self.next.manifest.segments;
        // No manifest that can survive a power cut lists the old segments any more.
        for retired in self.committed.iter().filter(|entry| !entries.contains(entry)) {
            remove_if_possible(&segment_path(&folder, retired.file));
        }
        self.committed.clone_from(entries);
        Ok(())
    }

    /// Syncs the folder that contains a new index. Otherwise a power cut may remove the folder of the index.
    fn sync_parent(&self) -> Result<()> {
        let Some(parent) = self.next.path.parent() else { return Ok(()) };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        self.disk.sync_folder(parent).map_err(|e| Error::io(parent, "sync", e))
    }
}

impl Drop for IndexWriter {
    /// Removes segment files that were not committed.
    fn drop(&mut self) {
        if self.is_in_doubt {
            return;
        }
        let entries = &self.next.manifest.segments;
        for entry in entries.iter().filter(|entry| !self.committed.contains(entry)) {
            remove_if_possible(&segment_path(&self.next.path, entry.file));
        }
    }
}

/// Returns an error if a folder has files. Files that an interrupted creation of an index leaves are allowed, because
/// the new index overwrites them.
fn refuse_used(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io(folder, "read", e))?;
    for entry in entries {
        let entry = entry.map_err(|e| Error::io(folder, "read", e))?;
        if !["LOCK", NEXT_MANIFEST].iter().any(|name| entry.file_name() == *name) {
            let rule = "is not empty: name a folder for the new index";
            return Err(Error::config("folder", folder.display(), rule));
        }
    }
    Ok(())
}

/// Removes a file if it exists.
fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a file that is not part of the index. Errors are ignored, because the next writer tries again.
fn remove_if_possible(path: &Path) {
    drop(fs::remove_file(path));
}

fn write_segment(
    path: &Path,
    rows: &SegmentRows<'_>,
    rest: &SegmentRest,
    description: &str,
    write: &mut dyn FnMut(&mut SegmentWriter<'_>) -> Result<()>,
) -> Result<Seal> {
    // An existing file is never overwritten, because a reader may have mapped it.
    let file = File::options().write(true).create_new(true).open(path);
    let mut file = file.map_err(|e| Error::io(path, "create", e))?;
    let mut segment = SegmentWriter::new(&mut file, path, rows)?;
    write(&mut segment)?;
    segment.finish(rest, description)
}

/// Removes segments that the manifest does not list, and a new manifest that never replaced the old one.
fn remove_leftovers(folder: &Path, entries: &[SegmentEntry]) -> Result<()> {
    let failed = |e| Error::io(folder, "read", e);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        // A name such as `segment-17` has a number but too few digits. Only names exactly as simtool writes
        // them count.
        let is_segment = |file: u64| {
            segment_path(folder, file).file_name() == Some(name.as_ref())
                && !entries.iter().any(|entry| entry.file == file)
        };
        let number = name.strip_prefix(SEGMENT).and_then(|number| number.parse().ok());
        let is_file = entry.file_type().map_err(failed)?.is_file();
        if is_file && (name == NEXT_MANIFEST || number.is_some_and(is_segment)) {
            fs::remove_file(entry.path()).map_err(|e| Error::io(entry.path(), "remove", e))?;
        }
    }
    Ok(())
}
