//! Where what was removed came from, and where what is kept in its place stands: which file, or
//! folder, repeats which.

use super::findings::{Findings, Side};
use crate::write::report::{SOURCES, Source, Sources};
use simtool_model::document::DocOrdinal;
use simtool_model::sides::Sides;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The sources of a collection, in reading order, and the one of each file.
struct Grouped {
    names: Vec<PathBuf>,
    of_file: Vec<u32>,
}

impl Grouped {
    /// Files, if they are few; else the deepest folders of which there are few; else files again, of
    /// which only some will be shown.
    fn of(files: &[&Path]) -> Self {
        if files.len() <= SOURCES {
            return Self::by(files, Path::to_owned);
        }
        let depth = |path: &&Path| path.components().count();
        let deepest = files.iter().map(depth).max().unwrap_or(0);
        let by_folder = (1..deepest).rev().map(|depth| Self::by(files, |file| cut(file, depth)));
        let mut few = by_folder.filter(|grouped| (2..=SOURCES).contains(&grouped.names.len()));
        few.next().unwrap_or_else(|| Self::by(files, Path::to_owned))
    }

    fn by(files: &[&Path], name: impl Fn(&Path) -> PathBuf) -> Self {
        let mut numbers: BTreeMap<PathBuf, u32> = BTreeMap::new();
        let (mut names, mut of_file) = (Vec::new(), Vec::with_capacity(files.len()));
        for file in files {
            let name = name(file);
            let number = *numbers.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            });
            of_file.push(number);
        }
        Self { names, of_file }
    }

    fn of_row(&self, side: Side<'_>, row: u32) -> u32 {
        self.of_file[side.read.ids.place(DocOrdinal(row)).file as usize]
    }

    fn name(&self, source: u32) -> Vec<u8> {
        self.names[source as usize].as_os_str().as_encoded_bytes().to_vec()
    }

    /// Documents of each source.
    fn documents(&self, Side { collection, read }: Side<'_>) -> Vec<u64> {
        let mut documents = vec![0; self.names.len()];
        for shard in 0..collection.shard_count() {
            let (first, end) = (read.ids.first_of_shard(shard), read.ids.end_of_shard(shard));
            let source = self.of_file[collection.shard_file(shard)];
            documents[source as usize] += u64::from(end.0 - first.0);
        }
        documents
    }
}

/// The folder of a file, to so many components.
fn cut(file: &Path, depth: usize) -> PathBuf {
    let folders = file.parent().unwrap_or(Path::new(""));
    let cut: PathBuf = folders.components().take(depth).collect();
    if cut.components().next().is_none() { Component::CurDir.as_os_str().into() } else { cut }
}

/// Which source repeats which: the [`SOURCES`] that most was removed from, by those that most is
/// kept in, most first.
///
/// # Complexity
///
/// O(r log s) for r removed documents and s shards.
pub(super) fn sources(findings: &Findings<'_>) -> Sources {
    let grouped = findings.sides.map(|side| {
        let files = 0..side.collection.file_count();
        Grouped::of(&files.map(|file| side.collection.file_name(file)).collect::<Vec<_>>())
    });
    let (documents, originals) = (findings.documents(), findings.originals());
    let mut repeats: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for removal in findings.removals {
        let from = grouped.first().of_row(documents, removal.row);
        let to = grouped.second().of_row(originals, removal.kept);
        *repeats.entry((from, to)).or_insert(0) += 1;
    }
    let total = |key: fn(&(u32, u32)) -> u32| {
        let mut totals: BTreeMap<u32, u64> = BTreeMap::new();
        for (pair, count) in &repeats {
            *totals.entry(key(pair)).or_insert(0) += count;
        }
        totals
    };
    let mut removed = total(|pair| pair.0);
    // Of few sources those without a repeat are worth a line too: theirs is a rate of 0.
    if grouped.first().names.len() <= SOURCES {
        (0..grouped.first().names.len() as u32).for_each(|source| {
            removed.entry(source).or_insert(0);
        });
    }
    let (rows, columns) = (most(&removed), most(&total(|pair| pair.1)));
    let in_source = grouped.first().documents(documents);
    let row = |&from: &u32| Source {
        name: grouped.first().name(from),
        documents: in_source[from as usize],
        removed: removed[&from],
        repeats: columns.iter().map(|&to| repeats.get(&(from, to)).copied().unwrap_or(0)).collect(),
    };
    Sources {
        rows: rows.iter().map(row).collect(),
        columns: columns.iter().map(|&to| grouped.second().name(to)).collect(),
        sources: grouped.first().names.len() as u64,
        is_one_collection: matches!(grouped, Sides::One(_)),
    }
}

/// The sources with the greatest counts, of equals the first.
fn most(counts: &BTreeMap<u32, u64>) -> Vec<u32> {
    let mut sources: Vec<u32> = counts.keys().copied().collect();
    sources.sort_by_key(|source| (Reverse(counts[source]), *source));
    sources.truncate(SOURCES);
    sources
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grouped(files: &[String]) -> Vec<String> {
        let files: Vec<&Path> = files.iter().map(Path::new).collect();
        let found = Grouped::of(&files);
        found.names.iter().map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn few_files_are_sources_and_of_many_their_folders() {
        let few = ["in/a.txt".to_owned(), "in/b.txt".to_owned()];
        assert_eq!(grouped(&few), few);
        let many: Vec<String> = (0..60).map(|n| format!("in/{}/x/{n}.txt", n % 3)).collect();
        assert_eq!(grouped(&many), ["in/0/x", "in/1/x", "in/2/x"]);
        let deep: Vec<String> = (0..60).map(|n| format!("in/{}/{n}/a.txt", n % 3)).collect();
        assert_eq!(grouped(&deep), ["in/0", "in/1", "in/2"]);
        let flat: Vec<String> = (0..60).map(|n| format!("{n}.txt")).collect();
        assert_eq!(grouped(&flat).len(), 60);
        let mixed: Vec<String> =
            (0..60).map(|n| if n < 30 { format!("{n}.txt") } else { format!("in/{n}") }).collect();
        assert_eq!(grouped(&mixed), [".", "in"]);
    }
}
