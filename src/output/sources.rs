//! Counts the removed documents by source, for the output `sources`, for conditions on which a run fails, and for a
//! table on the page. The table also shows the sources of the kept documents.

use super::findings::{Findings, Side};
use crate::pipeline::scope::ScopeValue;
use crate::pipeline::{FoundContamination, FoundPassages, ItemInDocument};
use crate::write::report::{SOURCES, Source, Sources};
use simtool_base::fault::quoted;
use simtool_base::percentage::Percentage;
use simtool_base::quantity::{counted, grouped, percent};
use simtool_model::document::DocOrdinal;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// For each pair of sources, the number of documents of the first source that were removed because of a kept document
/// of the second source. In a search for passages, the number of words of the first source that are repeated in the
/// second one.
type Repeats = BTreeMap<(u32, u32), u64>;

/// Sources of the documents of one collection, for example its files or folders, in reading order.
#[derive(Debug)]
struct CollectionSources {
    /// Names as bytes, because file names need not be UTF-8.
    names: Vec<Vec<u8>>,
    numbers: Numbers,
}

/// Number of the source of each document, stored for whole files if possible. It is an index into the names.
#[derive(Debug)]
enum Numbers {
    /// Number of the source of each file. All documents of a file have the same source.
    OfFiles(Vec<u32>),
    /// Number of the source of each document.
    OfDocuments(Vec<u32>),
}

impl CollectionSources {
    /// Chooses the sources of a page: the files if there are at most [`SOURCES`] files, and otherwise folders.
    ///
    /// The folders are all folders at one depth: the greatest depth with 2 to [`SOURCES`] folders. If there
    /// is no such depth, the files are the sources, and the table shows only some of them.
    fn choose(files: &[&Path]) -> Self {
        let whole = |file| Cow::Borrowed(file);
        if files.len() <= SOURCES {
            return Self::of_files(files, whole);
        }
        let deepest = files.iter().map(|path| path.components().count()).max().unwrap_or(0);
        // Deep folders are tried first, because they say more about the origin of a document than shallow
        // ones.
        (1..deepest)
            .rev()
            .map(|depth| Self::of_files(files, |file| folder_at_depth(file, depth)))
            .find(|sources| (2..=SOURCES).contains(&sources.names.len()))
            .unwrap_or_else(|| Self::of_files(files, whole))
    }

    /// Creates the sources of a collection by the value that the option `by` names, for example the file of a document.
    fn by(by: ScopeValue, side: Side<'_>) -> Self {
        // Files need one number each, however many documents they have.
        if by == ScopeValue::File {
            return Self::of_files(&files(side.collection), Cow::Borrowed);
        }
        let ids = &side.read.ids;
        let (names, numbers) = numbered((0..ids.len() as u32).map(|row| {
            let file = side.collection.file_name(ids.place(DocOrdinal(row)).file as usize);
            side.read.source(row, file, by).unwrap_or_default()
        }));
        Self { names, numbers: Numbers::OfDocuments(numbers) }
    }

    /// Creates the sources from files. Files for which `name` returns the same name belong to the same
    /// source.
    fn of_files<'p>(files: &[&'p Path], name: impl Fn(&'p Path) -> Cow<'p, Path>) -> Self {
        let (names, numbers) = numbered(files.iter().map(|file| match name(file) {
            Cow::Borrowed(name) => Cow::Borrowed(name.as_os_str().as_encoded_bytes()),
            Cow::Owned(name) => Cow::Owned(name.into_os_string().into_encoded_bytes()),
        }));
        Self { names, numbers: Numbers::OfFiles(numbers) }
    }

    /// Returns the number of the source of the document with number `row`.
    fn source_of_row(&self, side: Side<'_>, row: u32) -> u32 {
        match &self.numbers {
            Numbers::OfFiles(numbers) => {
                numbers[side.read.ids.place(DocOrdinal(row)).file as usize]
            }
            Numbers::OfDocuments(numbers) => numbers[row as usize],
        }
    }

    /// Returns for each source the number of its documents.
    fn count_documents(&self, Side { collection, read }: Side<'_>) -> Vec<u64> {
        let mut documents = vec![0; self.names.len()];
        match &self.numbers {
            Numbers::OfFiles(numbers) => {
                for shard in 0..collection.shard_count() {
                    let first = read.ids.first_of_shard(shard);
                    let end = read.ids.end_of_shard(shard);
                    let source = numbers[collection.shard_file(shard)];
                    documents[source as usize] += u64::from(end.0 - first.0);
                }
            }
            Numbers::OfDocuments(numbers) => {
                for source in numbers {
                    documents[*source as usize] += 1;
                }
            }
        }
        documents
    }
}

/// Numbers the different names in `given` in the order in which they first occur. Returns the different names, and for
/// each element of `given` the number of its name.
fn numbered<'n>(given: impl Iterator<Item = Cow<'n, [u8]>>) -> (Vec<Vec<u8>>, Vec<u32>) {
    let mut numbers: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let mut names = Vec::new();
    let number = |name: Cow<'_, [u8]>| {
        // Only a new name is copied.
        if let Some(&number) = numbers.get(&*name) {
            return number;
        }
        let number = names.len() as u32;
        names.push(name.to_vec());
        numbers.insert(name.into_owned(), number);
        number
    };
    let of_given = given.map(number).collect();
    (names, of_given)
}

/// Returns the files of a collection.
fn files(collection: &dyn Corpus) -> Vec<&Path> {
    (0..collection.file_count()).map(|file| collection.file_name(file)).collect()
}

/// Returns the first `depth` components of the path of the folder of `file`, or `.` if the folder has no components.
fn folder_at_depth(file: &Path, depth: usize) -> Cow<'static, Path> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let start: PathBuf = folder.components().take(depth).collect();
    // An empty path would leave a field of the table empty.
    let is_empty = start.components().next().is_none();
    if is_empty { Path::new(Component::CurDir.as_os_str()).into() } else { start.into() }
}

/// Numbers of documents and of removed documents of each source, for example of each file.
#[derive(Debug)]
pub(crate) struct SourceCounts {
    sources: Sides<CollectionSources>,
    /// For each source of documents that may be removed, the number of its documents.
    documents: Vec<u64>,
    repeats: Repeats,
    /// For each source of documents that may be removed, the number of words that its removals lose. `None` if they
    /// were not counted.
    lost_words: Option<Vec<u64>>,
}

/// Row of the output `sources`.
pub(super) struct SourceRow<'c> {
    pub(super) name: &'c [u8],
    pub(super) documents: u64,
    pub(super) removed: u64,
    pub(super) lost_words: Option<u64>,
    /// Names of the sources of the documents that are kept in place of removed documents of this source. Each has the
    /// number of these removed documents.
    pub(super) repeats: Vec<(&'c [u8], u64)>,
}

impl SourceCounts {
    /// Minimum number of documents of a source that is reported if too many of them are removed. Most documents of a
    /// smaller source may well be repeats.
    const LEAST_DOCUMENTS: u64 = 100;

    /// Counts the documents and the removals of each source. Sources are defined by an option of the user, and are
    /// files otherwise.
    #[must_use]
    pub(crate) fn new(findings: &Findings<'_>) -> Self {
        // Files are what users can look at if one of them is alarming.
        let by = findings.plan.source().unwrap_or(ScopeValue::File);
        Self::of(findings, findings.sides.map(|side| CollectionSources::by(by, side)))
    }

    /// Counts the documents and the removals of each source in `sources`, which has the sources of each collection.
    ///
    /// # Complexity
    ///
    /// O(r log s) for r removed documents and s shards.
    fn of(findings: &Findings<'_>, sources: Sides<CollectionSources>) -> Self {
        let documents = findings.documents();
        let originals = findings.originals();
        let mut repeats = Repeats::new();
        let mut lost_words =
            findings.counts_lost_words().then(|| vec![0; sources.first().names.len()]);
        for removal in findings.removals {
            let from = sources.first().source_of_row(documents, removal.row);
            let to = sources.second().source_of_row(originals, removal.kept);
            *repeats.entry((from, to)).or_insert(0) += 1;
            if let Some(lost_words) = &mut lost_words {
                let lost = findings.lost_words(removal.row).unwrap_or_default();
                lost_words[from as usize] += u64::from(lost.lost);
            }
        }
        let documents = sources.first().count_documents(documents);
        Self { sources, documents, repeats, lost_words }
    }

    /// Returns the number of documents that may be removed, and the number of documents that are removed.
    pub(crate) fn totals(&self) -> [u64; 2] {
        [self.documents.iter().sum(), self.repeats.values().sum()]
    }

    /// Returns a row for each source of documents that may be removed, in reading order.
    pub(super) fn rows(&self) -> impl Iterator<Item = SourceRow<'_>> {
        (0_u32..).zip(&self.sources.first().names).map(|(source, name)| {
            let of_source = self.repeats.range((source, 0)..=(source, u32::MAX));
            let second = &self.sources.second().names;
            let repeats: Vec<(&[u8], u64)> =
                of_source.map(|(&(_, to), &count)| (&second[to as usize][..], count)).collect();
            let removed = repeats.iter().map(|(_, count)| count).sum();
            let documents = self.documents[source as usize];
            let lost_words = self.lost_words.as_ref().map(|lost| lost[source as usize]);
            SourceRow { name, documents, removed, lost_words, repeats }
        })
    }

    /// Returns the number of sources from which more than the share `most` is removed. Sources with few documents do
    /// not count.
    pub(crate) fn count_above(&self, most: Percentage) -> u64 {
        self.above(most).count() as u64
    }

    /// Describes the sources that [`count_above`](Self::count_above) counts. Returns `None` if there is no such source.
    #[must_use]
    pub(crate) fn described_above(&self, most: Percentage) -> Option<String> {
        let above: Vec<SourceRow<'_>> = self.above(most).collect();
        // Of several sources, the one with the most removed documents is named.
        let row = above.iter().max_by_key(|row| row.removed)?;
        let others = match above.len() - 1 {
            0 => String::new(),
            others => format!(", and too many of {}", counted(others as u64, "other source")),
        };
        Some(format!(
            "{} of {} of {} are removed ({}){others}",
            grouped(row.removed),
            counted(row.documents, "document"),
            quoted(row.name),
            percent(row.removed, row.documents)
        ))
    }

    /// Returns the sources from which more than the share `most` is removed. Sources with few documents do not count.
    fn above(&self, most: Percentage) -> impl Iterator<Item = SourceRow<'_>> {
        self.rows().filter(move |row| {
            row.documents >= Self::LEAST_DOCUMENTS && !most.allows(row.removed, row.documents)
        })
    }
}

/// Returns the table of sources for the report page. If the user defined sources by an option, they are the sources of
/// `counts`. Otherwise they are files or folders.
///
/// Its rows are the [`SOURCES`] sources from which most documents were removed. Its columns are the [`SOURCES`] sources
/// whose documents are kept in place of the most removed documents. Both are in descending order.
pub(super) fn sources(findings: &Findings<'_>, counts: &SourceCounts) -> Sources {
    let chosen;
    let counts = if findings.plan.source().is_some() {
        counts
    } else {
        let sources = findings.sides.map(|side| CollectionSources::choose(&files(side.collection)));
        chosen = SourceCounts::of(findings, sources);
        &chosen
    };
    table(&counts.sources, &counts.documents, &counts.repeats)
}

/// Returns the table of sources for the page about passages. Its counts are numbers of words. For each source, it has
/// the number of all words and of words in passages. For each source and column, it has the number of words with a copy
/// in the source of the column.
pub(super) fn passage_sources(collection: &dyn Corpus, found: &FoundPassages) -> Sources {
    let side = Side { collection, read: &found.summary };
    let sources = CollectionSources::choose(&files(collection));
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

/// Returns the table of sources for the page about evaluation items. The first side has the documents and the second
/// one the items. A document with several items counts for the item of which it has the greatest share.
pub(super) fn item_sources_of_documents(
    sides: &Sides<Side<'_>>,
    found: &FoundContamination,
) -> Sources {
    let sources = sides.map(|side| CollectionSources::choose(&files(side.collection)));
    // Each document is counted once, so the counts of a row add up to its documents with items.
    let mut most: BTreeMap<u32, &ItemInDocument> = BTreeMap::new();
    for hit in &found.found {
        let best = most.entry(hit.document).or_insert(hit);
        if hit.share > best.share {
            *best = hit;
        }
    }
    let mut repeats = Repeats::new();
    for hit in most.values() {
        let from = sources.first().source_of_row(*sides.first(), hit.document);
        let to = sources.second().source_of_row(*sides.second(), hit.item);
        *repeats.entry((from, to)).or_insert(0) += 1;
    }
    let documents = sources.first().count_documents(*sides.first());
    table(&sources, &documents, &repeats)
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
        name: sources.first().names[from as usize].clone(),
        documents: counts[from as usize],
        removed: removed[&from],
        repeats: columns.iter().map(|&to| repeats.get(&(from, to)).copied().unwrap_or(0)).collect(),
    };
    Sources {
        rows: rows.iter().map(row).collect(),
        columns: columns.iter().map(|&to| sources.second().names[to as usize].clone()).collect(),
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
        sources.names.into_iter().map(|name| String::from_utf8(name).unwrap()).collect()
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
