//! Files as sources of bytes, and standard input that is a file or is copied to one.

use super::{OpenSource, Source, SourceState, SourceStream};
use simtool_base::error::{Error, Result};
use simtool_base::mapped_file::{FileAccess, MappedFile};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file, or standard input that is a file or was copied to one.
#[derive(Debug)]
pub(crate) struct LocalSource {
    name: PathBuf,
    /// Path at which standard input is opened. `None` if the name is the path of the file.
    input: Option<PathBuf>,
    /// Copy of the bytes that came through a pipe, in a file without a name. The system deletes the file when it is
    /// closed, even if the program is killed.
    copy: Option<Arc<File>>,
}

impl LocalSource {
    /// Creates the source of the file at the path `name`.
    pub(crate) fn new(name: PathBuf) -> Self {
        Self { name, input: None, copy: None }
    }

    /// Creates the source of standard input that was redirected from the file `path`.
    pub(crate) fn redirected(path: &Path) -> Self {
        Self { name: "-".into(), input: Some(path.into()), copy: None }
    }

    /// Creates the source of standard input that is a pipe. Copies all bytes of `input` to a
    /// temporary file in `folder`.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read or written.
    pub(crate) fn copied(input: &mut dyn Read, folder: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(folder);
        let mut file = file.map_err(|error| Error::io(folder, "create a file in", error))?;
        let copied = io::copy(input, &mut file);
        copied.map_err(|error| Error::io(folder, "copy standard input to a file in", error))?;
        // A memory map needs a path. This path opens the file again, as long as the file is open.
        #[cfg(unix)]
        let path = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
        // Without a path, the file is read, but not mapped.
        #[cfg(not(unix))]
        let path = String::new();
        Ok(Self { name: "-".into(), input: Some(path.into()), copy: Some(Arc::new(file)) })
    }

    fn path(&self) -> &Path {
        self.input.as_ref().unwrap_or(&self.name)
    }
}

impl Source for LocalSource {
    fn name(&self) -> &Path {
        &self.name
    }

    fn is_lasting(&self) -> bool {
        // The next run has another standard input.
        self.input.is_none()
    }

    fn state(&self) -> io::Result<SourceState> {
        match &self.copy {
            // The copy is open, and has no path on some systems.
            Some(file) => file.state(),
            None => fs::metadata(self.path()).map(|metadata| state_of(&metadata)),
        }
    }

    fn open(&self) -> io::Result<Arc<dyn OpenSource>> {
        match &self.copy {
            Some(file) => Ok(Arc::clone(file) as Arc<dyn OpenSource>),
            None => Ok(Arc::new(File::open(self.path())?)),
        }
    }

    fn map(&self, access: FileAccess) -> Option<MappedFile> {
        access.maps().then(|| access.open(self.path()).ok()).flatten()
    }
}

impl OpenSource for File {
    fn state(&self) -> io::Result<SourceState> {
        self.metadata().map(|metadata| state_of(&metadata))
    }

    fn read_at(&self, at: u64, space: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self, space, at);
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self, space, at);
        match read {
            // A pipe that a user names is read in order, because it has no positions.
            Err(error) if error.kind() == io::ErrorKind::NotSeekable => {
                let mut pipe = self;
                pipe.read(space)
            }
            read => read,
        }
    }

    fn stream(self: Arc<Self>, from: u64) -> Box<dyn Read + Send> {
        Box::new(SourceStream { source: self, at: from })
    }
}

fn state_of(metadata: &Metadata) -> SourceState {
    SourceState { bytes: metadata.len(), modified: metadata.modified().ok(), tag: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_read_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let source = LocalSource::copied(&mut &b"some text"[..], folder.path()).unwrap();
        let entries = || fs::read_dir(folder.path()).unwrap().count();
        // If the program is killed, a file with a name stays in the folder.
        assert_eq!(entries(), usize::from(!cfg!(unix)));
        // Each reader begins at the start.
        for _ in 0..2 {
            assert_eq!(source.open().unwrap().bytes_at(0, 99).unwrap(), b"some text");
        }
        assert_eq!(source.open().unwrap().bytes_at(5, 99).unwrap(), b"text");
        assert_eq!((source.state().unwrap().bytes, source.is_lasting()), (9, false));
        #[cfg(unix)]
        assert_eq!(&*source.map(FileAccess::map_own_files()).unwrap(), b"some text");
        drop(source);
        assert_eq!(entries(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_that_a_user_names_is_read_in_order() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"some text").unwrap();
        drop(writer);
        let source = LocalSource::new(format!("/dev/fd/{}", reader.as_raw_fd()).into());
        let open = source.open().unwrap();
        assert_eq!(open.bytes_at(0, 5).unwrap(), b"some ");
        let mut rest = String::new();
        open.stream(5).read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "text");
    }
}
