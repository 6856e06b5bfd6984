//! Objects in stores as input files.

use super::output_folder::{HEAD_BYTES, SUMMARY, UNFINISHED, is_summary};
use super::{FolderWalk, InFolders, InputFile, Walker};
use crate::source::Source;
use crate::source::address::Address;
use crate::source::remote::{FoundObjects, RemoteSource};
use globset::{GlobBuilder, GlobMatcher};
use simtool_base::fault::Severity;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

impl Walker {
    /// Adds the object at `address`. If `address` is a folder or a pattern, adds the objects in it that `in_folders`
    /// selects.
    pub(super) fn add_address(&mut self, address: &Address, in_folders: InFolders<'_>) {
        let found = pattern(address).and_then(|glob| Ok((glob, RemoteSource::find(address)?)));
        match found {
            Ok((_, FoundObjects::One(source))) => {
                let copy_name = Path::new(source.key()).file_name().unwrap_or_default().into();
                self.add_object(source, copy_name);
            }
            Ok((glob, FoundObjects::Folder(prefix, sources))) => {
                let root = address.with_key(prefix.trim_end_matches('/')).name();
                let is_chosen = |source: &RemoteSource| {
                    glob.as_ref().is_none_or(|glob| glob.is_match(source.key()))
                };
                let chosen = sources.into_iter().filter(is_chosen).collect();
                self.add_objects(&root, prefix.len(), chosen, in_folders);
            }
            Err(error) => self.refuse(&address.name(), Severity::Loss, &error),
        }
    }

    /// Adds the objects `sources` in the folder `root`. The first `below_root` bytes of the key of each object are the
    /// path of the folder.
    fn add_objects(
        &mut self,
        root: &Path,
        below_root: usize,
        sources: Vec<RemoteSource>,
        in_folders: InFolders<'_>,
    ) {
        let mut walk = FolderWalk::default();
        let results = result_folders(&sources, below_root);
        for folder in &results {
            walk.results.add(root.join(folder));
        }
        let mut hidden = BTreeSet::new();
        let mut chosen = Vec::new();
        for source in sources {
            let below = PathBuf::from(&source.key()[below_root..]);
            let is_result = below.ancestors().skip(1).any(|folder| results.contains(folder));
            if is_result || !(in_folders.wanted)(&below) {
                continue;
            }
            match hidden_part(&below).filter(|_| !in_folders.hidden) {
                // Like those on the disk, the objects in a hidden folder count as one.
                Some(part) if hidden.insert(part.to_owned()) => walk.hidden.add(root.join(part)),
                Some(_) => {}
                None => chosen.push((source, below)),
            }
        }
        self.walked.hidden += walk.hidden.count;
        self.walked.left_out.extend(walk.warnings(root));
        for (source, below) in chosen {
            let copy_name = Path::new(root.file_name().unwrap_or_default()).join(below);
            self.add_object(source, copy_name);
        }
    }

    fn add_object(&mut self, source: RemoteSource, copy_name: PathBuf) {
        // A store has no links, so an object has one name.
        if self.seen.insert(source.name().as_os_str().to_owned()) {
            self.walked.files.push(InputFile { copy_name, ..InputFile::from_source(source) });
        }
    }
}

/// Returns a matcher for the pattern in the address, for example `*.jsonl`, to compare keys of objects with it. Returns
/// `None` if the address has no pattern.
fn pattern(address: &Address) -> io::Result<Option<GlobMatcher>> {
    let glob = address.before_pattern().map(|_| {
        let built = GlobBuilder::new(&address.key).literal_separator(true).build();
        let failed = |error: globset::Error| {
            io::Error::new(io::ErrorKind::InvalidInput, format!("bad pattern: {}", error.kind()))
        };
        built.map(|glob| glob.compile_matcher()).map_err(failed)
    });
    glob.transpose()
}

/// Returns the outermost hidden file or folder on the path `below`, or `None` if nothing on the path is hidden.
fn hidden_part(below: &Path) -> Option<&Path> {
    let folders: Vec<&Path> = below.ancestors().collect();
    folders.into_iter().rev().find(|path| super::is_hidden(path))
}

/// Returns the folders with results of earlier runs, as paths relative to the folder of all objects. That folder itself
/// is not returned, because the user named it.
fn result_folders(sources: &[RemoteSource], below_root: usize) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    for source in sources {
        let below = Path::new(&source.key()[below_root..]);
        let folder = below.parent().filter(|folder| !folder.as_os_str().is_empty());
        let is_mark = below.ends_with(SUMMARY) || below.ends_with(UNFINISHED);
        let Some(folder) = folder.filter(|_| is_mark) else { continue };
        let head = source.open().and_then(|open| {
            let mut head = vec![0; HEAD_BYTES];
            let filled = open.peek_full_at(0, &mut head)?;
            head.truncate(filled);
            Ok(head)
        });
        // A file that cannot be read is reported when it is read as an input.
        if head.is_ok_and(|head| is_summary(&head)) {
            folders.insert(folder.to_owned());
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hidden_part_of_a_path_counts() {
        for (path, part) in [
            ("a/.b/.c/d", Some("a/.b")),
            (".a", Some(".a")),
            ("a/b.c", None),
            ("a/b/.c", Some("a/b/.c")),
        ] {
            assert_eq!(hidden_part(Path::new(path)), part.map(Path::new), "{path}");
        }
    }

    #[test]
    fn patterns_match_keys() {
        let matched = |address: &str, key: &str| {
            let address = Address::parse(Path::new(address)).unwrap();
            pattern(&address).unwrap().unwrap().is_match(key)
        };
        assert!(matched("s3://b/x/*.gz", "x/a.gz") && !matched("s3://b/x/*.gz", "x/y/a.gz"));
        assert!(matched("s3://b/**/a.{gz,zst}", "x/y/a.zst"));
        let bad = Address::parse(Path::new("s3://b/[")).unwrap();
        assert!(pattern(&bad).is_err());
    }
}
