//! Counts the removed documents by source (file or folder), for a table on the page. The table also shows the
//! sources of the kept documents.

use super::findings::{Findings, Side};
use crate::pipeline::FoundPassages;
use crate::write::report::{SOURCES, Source, Sources};
use simtool_model::document::DocOrdinal;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// For each pair of sources, the number of documents of the first source that were removed because of a kept document
/// of the second source. In a search for passages, the number of words of the first source that are repeated in the
/// second one.
type Repeats = BTreeMap<(u32, u32), u64>;

/// Sources of one collection in reading order. A source is a file, or a folder whose files count together.
struct CollectionSources {
    names: Vec<PathBuf>,
    /// For each file, the number of its source.
    file_sources: Vec<u32>,
}

impl CollectionSources {
    /// Chooses the sources: the files if there are at most [`SOURCES`] files, and otherwise folders.
    ///
    /// The folders are all folders at one depth: the greatest depth with 2 to [`SOURCES`] folders. If there
    /// is no such depth, the files are the sources, and the table shows only some of them.
    fn choose(files: &[&Path]) -> Self {
        if files.len() <= SOURCES {
            return Self::from_names(files, Path::to_owned);
        }
        let deepest = files.iter().map(|path| path.components().count()).max().unwrap_or(0);
        // Deep folders are tried first, because they say more about the origin of a document than shallow
        // ones.
        (1..deepest)
            .rev()
            .map(|depth| Self::from_names(files, |file| folder_at_depth(file, depth)))
            .find(|sources| (2..=SOURCES).contains(&sources.names.len()))
            .unwrap_or_else(|| Self::from_names(files, Path::to_owned))
    }

    /// Creates the sources from files. Files for which `name` returns the same name belong to the same
    /// source.
    fn from_names(files: &[&Path], name: impl Fn(&Path) -> PathBuf) -> Self {
        let mut numbers: BTreeMap<PathBuf, u32> = BTreeMap::new();
        let mut names = Vec::new();
        let mut file_sources = Vec::with_capacity(files.len());
        for file in files {
            let name = name(file);
            let number = *numbers.entry(name.clone()).or_insert_with(|| {
                names.push(name);
                names.len() as u32 - 1
            });
            file_sources.push(number);
        }
        Self { names, file_sources }
    }

    /// Returns the number of the source of the document with number `row`.
    fn source_of_row(&self, side: Side<'_>, row: u32) -> u32 {
        self.file_sources[side.read.ids.place(DocOrdinal(row)).file as usize]
    }

    /// Returns the name of a source as bytes, because file names need not be UTF-8.
    fn name(&self, source: u32) -> Vec<u8> {
        self.names[source as usize].as_os_str().as_encoded_bytes().to_vec()
    }

    /// Returns for each source the number of its documents.
    fn count_documents(&self, Side { collection, read }: Side<'_>) -> Vec<u64> {
        let mut documents = vec![0; self.names.len()];
        for shard in 0..collection.shard_count() {
            let first = read.ids.first_of_shard(shard);
            let end = read.ids.end_of_shard(shard);
            let source = self.file_sources[collection.shard_file(shard)];
            documents[source as usize] += u64::from(end.0 - first.0);
        }
        documents
    }
}

/// Returns the first `depth` components of the folder of `file`, or `.` if there are none.
fn folder_at_depth(file: &Path, depth: usize) -> PathBuf {
    let folder = file.parent().unwrap_or(Path::new(""));
    let start: PathBuf = folder.components().take(depth).collect();
    // An empty path would leave a field of the table empty.
    if start.components().next().is_none() { Component::CurDir.as_os_str().into() } else { start }
}

/// Returns the table of sources for the page.
///
/// Its rows are the [`SOURCES`] sources from which most documents were removed. Its columns are the
/// [`SOURCES`] sources whose documents replace the most removed documents. Both are in descending order.
///
/// # Complexity
///
/// O(r log s) for r removed documents and s shards.
pub(super) fn sources(findings: &Findings<'_>) -> Sources {
    let sources = findings.sides.map(|side| {
        let files = 0..side.collection.file_count();
        let files: Vec<&Path> = files.map(|file| side.collection.file_name(file)).collect();
        CollectionSources::choose(&files)
    });
    let documents = findings.documents();
    let originals = findings.originals();
    let mut repeats = Repeats::new();
    for removal in findings.removals {
        let from = sources.first().source_of_row(documents, removal.row);
        let to = sources.second().source_of_row(originals, removal.kept);
        *repeats.entry((from, to)).or_insert(0) += 1;
    }
    let document_counts = sources.first().count_documents(documents);
    table(&sources, &document_counts, &repeats)
}

/// Returns the table of sources for the page about passages. Its counts are numbers of words: of all words, of the
/// words in passages, and of those with a copy in the source of a column.
pub(super) fn passage_sources(collection: &dyn Corpus, found: &FoundPassages) -> Sources {
    let side = Side { collection, read: &found.summary };
    let files: Vec<&Path> =
        (0..collection.file_count()).map(|file| collection.file_name(file)).collect();
    let sources = CollectionSources::choose(&files);
    // A source with few documents can have many words, so the table counts words.
    let mut words = vec![0; sources.names.len()];
    for (row, count) in (0..).zip(&found.word_counts) {
        words[sources.source_of_row(side, row) as usize] += u64::from(*count);
    }
    let mut repeats = Repeats::new();
    for passage in &found.passages.passages {
        let from = sources.source_of_row(side, passage.document);
        // Each passage has one partner, so its words are counted once.
        let to = sources.source_of_row(side, passage.partner.document);
        *repeats.entry((from, to)).or_insert(0) += passage.words.len() as u64;
    }
    table(&Sides::One(sources), &words, &repeats)
}

/// Returns the table of sources. A source is a file or a folder. `counts` has the number of all documents, or of all
/// words, of each source. `repeats` has the number of removed documents, or of repeated words, for each pair of
/// sources.
fn table(sources: &Sides<CollectionSources>, counts: &[u64], repeats: &Repeats) -> Sources {
    let mut removed = add_up(repeats, |pair| pair.0);
    // If all sources fit in the table, sources without a removed document are shown as well.
    if sources.first().names.len() <= SOURCES {
        for source in 0..sources.first().names.len() as u32 {
            removed.entry(source).or_insert(0);
        }
    }
    let rows = largest_counts(&removed);
    let columns = largest_counts(&add_up(repeats, |pair| pair.1));
    let row = |&from: &u32| Source {
        name: sources.first().name(from),
        documents: counts[from as usize],
        removed: removed[&from],
        repeats: columns.iter().map(|&to| repeats.get(&(from, to)).copied().unwrap_or(0)).collect(),
    };
    Sources {
        rows: rows.iter().map(row).collect(),
        columns: columns.iter().map(|&to| sources.second().name(to)).collect(),
        sources: sources.first().names.len() as u64,
        is_one_collection: matches!(sources, Sides::One(_)),
    }
}

/// Adds up the counts of all pairs with the same source. `source` selects the source from a pair: the first one, of
/// the removed documents, or the second one, of the kept documents.
fn add_up(repeats: &Repeats, source: fn(&(u32, u32)) -> u32) -> BTreeMap<u32, u64> {
    let mut totals = BTreeMap::new();
    for (pair, count) in repeats {
        *totals.entry(source(pair)).or_insert(0) += count;
    }
    totals
}

/// Returns the numbers of the [`SOURCES`] sources with the greatest counts. Sources with equal counts are in
/// ascending order.
fn largest_counts(counts: &BTreeMap<u32, u64>) -> Vec<u32> {
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
        let sources = CollectionSources::choose(&files);
        sources.names.iter().map(|name| name.display().to_string()).collect()
    }

    #[test]
    fn few_files_are_sources_and_folders_if_there_are_many() {
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
