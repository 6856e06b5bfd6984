//! Adds the documents of a corpus to an index, or looks for documents near them.

use super::adder::{Added, Arrival, IndexAdder};
use super::document_groups::{DocumentGroup, GroupedReading};
use super::lookup::Near;
use super::pending::{InputEntry, SelectionDigests};
use super::stored::Index;
use crate::output::{CopyRules, DocumentStatus, write_kept_copies};
use crate::pipeline::shard_summary::CollectionSummary;
use crate::write::output_folder::OutputFolder;
use simtool_base::error::{Error, Result};
use simtool_base::progress::Progress;
use simtool_compute::threads::Threads;
use simtool_model::document::DocOrdinal;
use simtool_model::document_name::DocumentName;
use simtool_model::fingerprint_rows::{FingerprintRows, RowsBuilder};
use simtool_read::{Collection, Corpus};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Number of added documents after which [`Commits::Often`] commits.
const COMMITTED: u64 = 1 << 20;

/// Choice of when added documents are committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commits {
    /// Commit regularly, so that an interruption loses few documents. If the same input is added again,
    /// adding continues after the last commit.
    Often,
    /// Leave the commit to the caller, after everything is added and a copy of the new documents is written.
    /// See [`write_only_new`].
    ByCaller,
}

/// Counts and other results of adding a corpus.
#[derive(Clone, Debug, Default)]
pub struct AddedCorpus {
    /// Number of documents that are new in the index.
    pub new: u64,
    /// Number of documents that were not added, because they are near a document of the index.
    pub repeats: u64,
    /// Number of documents that were skipped, because an earlier call processed them before it was interrupted.
    pub done_before: u64,
    /// Numbers of the files that were skipped as a whole, because earlier calls had added all their documents.
    pub known_files: Vec<usize>,
    /// Summary of reading the corpus. IDs are in the summary only with [`Commits::ByCaller`].
    pub read: CollectionSummary,
    /// For each document that was read, whether a copy of the new documents contains it: it is new or has no
    /// words. Empty unless [`Commits::ByCaller`] was chosen.
    is_kept: Vec<bool>,
}

/// A corpus whose documents are added to an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivingCorpus<'c> {
    /// The collection of files that `corpus` reads.
    pub(crate) files: &'c Collection,
    /// The documents that are read.
    pub(crate) corpus: &'c dyn Corpus,
    /// Source and time of the documents.
    pub(crate) arrival: Arrival<'c>,
    pub(crate) commits: Commits,
    /// Options that select the documents that are read from each file.
    pub(crate) selection: FileSelection,
}

/// Options that select the documents of a file. The index stores their digests with each added file, so that a later
/// call knows whether it selects the same documents.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileSelection {
    /// Digests of the options. Other options may select other documents of the same file.
    pub(crate) digests: SelectionDigests,
    /// Whether the number of documents is limited, so that the last file may not be read to its end.
    pub(crate) is_limited: bool,
}

/// An input file of a corpus that is added, with entries that say which of its documents were already added.
struct ArrivingFile {
    entry: InputEntry,
    /// Entries of earlier calls about the same file. Documents may have been added with other options, or before
    /// a part of the file was lost.
    earlier: Vec<InputEntry>,
}

impl ArrivingFile {
    /// Returns whether an earlier call processed the document in the record with the number `record`.
    fn has_record(&self, record: u64) -> bool {
        let reading = self.entry.selection.reading;
        self.earlier.iter().any(|earlier| earlier.has_record(record, reading))
    }
}

/// Receiver of the name and the result of each added document.
type ReportAdded<'r> = dyn FnMut(&IndexAdder, &DocumentName<'_>, Added) -> Result<()> + 'r;

impl IndexAdder {
    /// Adds the documents of a collection in reading order, and calls `report` with the name of each document
    /// and the result of adding it.
    ///
    /// Files that were already added as a whole with the same options are skipped. They are recognized by name, length
    /// and content. If the user names another source, time or field of IDs than before, all documents of a file are
    /// added once more. An interrupted file continues where it stopped. Other files are read again, and their documents
    /// that are in the index are neither new nor repeats. Standard input is always added.
    ///
    /// # Errors
    ///
    /// [`add`](Self::add) or `report` fails. Documents that were committed before stay in the index.
    /// Unreadable records and files are no error but part of the result.
    pub(crate) fn add_corpus(
        &mut self,
        arriving: &ArrivingCorpus<'_>,
        progress: &dyn Progress,
        report: &mut ReportAdded<'_>,
    ) -> Result<AddedCorpus> {
        let &ArrivingCorpus { corpus, commits, .. } = arriving;
        let mut added = AddedCorpus::default();
        let inputs = self.inputs_of(arriving, &mut added.known_files)?;
        // A copy of the new documents needs all files, even files that were added before.
        let keeps_ids = commits == Commits::ByCaller;
        // The numbers of known files ascend.
        let is_known = |file: usize| added.known_files.binary_search(&file).is_ok();
        let is_wanted = |shard: &usize| keeps_ids || !is_known(corpus.shard_file(*shard));
        let shards: Vec<usize> = (0..corpus.shard_count()).filter(is_wanted).collect();
        let (recipe, context) = self.shared();
        let mut addition = Addition {
            arriving,
            inputs,
            lossy: BTreeSet::new(),
            met: BTreeMap::new(),
            uncommitted: 0,
            added: &mut added,
        };
        let context = context.with_progress(progress);
        let reading = GroupedReading { recipe: &recipe, context: &context, keeps_ids };
        let read = reading.for_each_group(corpus, &shards, &mut |group| {
            addition.add_group(self, group, report)
        })?;
        added.read = read;
        if commits == Commits::Often {
            self.commit()?;
        }
        Ok(added)
    }

    /// Returns the files of a corpus, each with the number of its documents that were already added.
    /// `known_files` receives the numbers of the files that were completely added.
    fn inputs_of(
        &self,
        arriving: &ArrivingCorpus<'_>,
        known_files: &mut Vec<usize>,
    ) -> Result<BTreeMap<usize, ArrivingFile>> {
        let known = self.known_inputs()?;
        let mut inputs = BTreeMap::new();
        for file in 0..arriving.corpus.file_count() {
            // A file that cannot be read here is read later or becomes a fault.
            let Some(input) = arriving.entry_of(file) else { continue };
            let entries = known.of(&input);
            let same = entries.iter().find(|entry| entry.selection == input.selection);
            if same.is_some_and(|same| same.is_whole) {
                known_files.push(file);
            }
            let entry = same.cloned().unwrap_or(input);
            inputs.insert(file, ArrivingFile { entry, earlier: entries });
        }
        Ok(inputs)
    }
}

impl ArrivingCorpus<'_> {
    /// Returns an entry about file number `file` that has no documents yet. Returns `None` if the file
    /// cannot be read, or if it is standard input, which can be read only once.
    fn entry_of(&self, file: usize) -> Option<InputEntry> {
        let name = self.corpus.file_name(file);
        if name.as_os_str() == "-" {
            return None;
        }
        let mut content = self.files.file_bytes(file).ok()?;
        InputEntry::of_file(name, &mut *content, self.selection.digests).ok()
    }

    /// Returns whether the file may have documents after the last one that is read.
    fn may_be_cut(&self, file: usize) -> bool {
        self.selection.is_limited && file + 1 == self.corpus.file_count()
    }
}

/// State while a corpus is added, one group of shards after the other. A shard is an input file or a part of one.
struct Addition<'c> {
    arriving: &'c ArrivingCorpus<'c>,
    /// For each file by its number, entries that say which of its documents were already added.
    inputs: BTreeMap<usize, ArrivingFile>,
    /// Numbers of the files that lost a part while they were read.
    lossy: BTreeSet<usize>,
    /// For each file, the number of its documents that were read so far.
    met: BTreeMap<usize, u64>,
    /// Number of documents since the last commit.
    uncommitted: u64,
    added: &'c mut AddedCorpus,
}

impl Addition<'_> {
    /// Adds the documents of `group`, some consecutive input files or parts of them, that are not in the index yet.
    /// Calls `report` with the name of each added document and the result.
    fn add_group(
        &mut self,
        adder: &mut IndexAdder,
        group: &DocumentGroup<'_>,
        report: &mut ReportAdded<'_>,
    ) -> Result<()> {
        let missing = self.missing(adder, group)?;
        let (rows, numbers) = only(group.rows(), &missing);
        self.added.done_before += (missing.len() - numbers.len()) as u64;
        let id = |row: usize| group.name(numbers[row]).id;
        let &ArrivingCorpus { arrival, commits, .. } = self.arriving;
        let results = adder.add(&rows, id, arrival)?;
        let keeps_ids = commits == Commits::ByCaller;
        let before = self.added.is_kept.len();
        if keeps_ids {
            // Documents that an earlier call added are not new, so their elements stay `false`.
            self.added.is_kept.resize(before + missing.len(), false);
        }
        for (&row, &result) in numbers.iter().zip(&results) {
            if keeps_ids {
                self.added.is_kept[before + row] = !matches!(result, Added::Repeats(_));
            }
            match result {
                Added::New(_) => self.added.new += 1,
                Added::Repeats(_) => self.added.repeats += 1,
                Added::WithoutWords => {}
            }
            report(adder, &group.name(row), result)?;
        }
        // The inputs are stored before the commit. Otherwise an interruption could add documents
        // again or skip some.
        self.note_inputs(adder, group);
        self.uncommitted += results.len() as u64;
        if commits == Commits::Often && self.uncommitted >= COMMITTED {
            adder.commit()?;
            self.uncommitted = 0;
        }
        Ok(())
    }

    /// Returns for each document of `group` whether it must be added, because no earlier call has added it.
    fn missing(&mut self, adder: &IndexAdder, group: &DocumentGroup<'_>) -> Result<Vec<bool>> {
        let files = group.files();
        let mut missing: Vec<bool> = files.iter().map(|&file| self.is_missing(file)).collect();
        // Whether a document must be looked up in the index to know if it is missing.
        let mut is_doubtful = vec![false; files.len()];
        for (row, file) in files.iter().enumerate() {
            let Some(input) = self.inputs.get_mut(file) else { continue };
            let record = group.place(row).record;
            input.entry.records.push(record);
            missing[row] &= !input.has_record(record);
            is_doubtful[row] = missing[row] && !input.earlier.is_empty();
        }
        let (rows, numbers) = only(group.rows(), &is_doubtful);
        if numbers.is_empty() {
            return Ok(missing);
        }
        // The index already has some documents of a file that is read again. They must not count as repeats of
        // themselves.
        let stored = adder.has_documents(&rows, |row| group.name(numbers[row]).id)?;
        for (&row, is_stored) in numbers.iter().zip(stored) {
            missing[row] = !is_stored;
        }
        Ok(missing)
    }

    /// Counts the next document of file number `file`, and returns whether no earlier call has added it. Files are
    /// always read in the same order. So an interrupted call has added the first documents of the file.
    fn is_missing(&mut self, file: usize) -> bool {
        let met = self.met.entry(file).or_default();
        *met += 1;
        self.inputs.get(&file).is_none_or(|input| *met > input.entry.documents)
    }

    /// Stores for each file of a group how many of its documents were read.
    fn note_inputs(&mut self, adder: &mut IndexAdder, group: &DocumentGroup<'_>) {
        for (file, has_ended) in group.ended_files() {
            if group.has_loss(file) {
                self.lossy.insert(file);
            }
            if !self.inputs.contains_key(&file)
                && let Some(entry) = self.arriving.entry_of(file)
            {
                // The file could not be read for its hash when this call began.
                self.inputs.insert(file, ArrivingFile { entry, earlier: Vec::new() });
            }
            let Some(ArrivingFile { entry, .. }) = self.inputs.get_mut(&file) else { continue };
            if self.lossy.contains(&file) {
                // A later call may read the lost part. It cannot know which documents come before that part.
                entry.forget_documents();
            } else {
                // If a file is read again, its count starts at 0, but the documents that an earlier call added
                // are still there.
                let met = self.met.get(&file).copied().unwrap_or_default();
                entry.documents = entry.documents.max(met);
                entry.is_whole = has_ended && !self.arriving.may_be_cut(file);
            }
            adder.note_input(entry);
        }
    }
}

/// Writes a copy of every file of `collection` without the documents that are near a document of the index. `added`
/// must be the result of an addition with [`Commits::ByCaller`].
///
/// # Errors
///
/// A copy cannot be written, or a file has changed since it was added.
pub fn write_only_new(
    collection: &Collection,
    added: &AddedCorpus,
    folder: &OutputFolder,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    let status = |document: DocOrdinal| DocumentStatus::kept_if(added.is_kept[document.index()]);
    let rules = CopyRules::new(&status, None);
    let (ids, target) = (&added.read.ids, folder.staging());
    let workers = Threads::new(threads)?;
    workers.run(|| write_kept_copies(collection, ids, &rules, target, progress))??;
    Ok(())
}

/// Returns the rows for which `wanted` is true, and the index of each of them in `rows`.
fn only<'r>(
    rows: &'r FingerprintRows<'static>,
    wanted: &[bool],
) -> (Cow<'r, FingerprintRows<'static>>, Vec<usize>) {
    let numbers: Vec<usize> = (0..rows.len()).filter(|&row| wanted[row]).collect();
    // Usually every row is wanted, and then no row is copied.
    if numbers.len() == rows.len() {
        return (Cow::Borrowed(rows), numbers);
    }
    let mut some = RowsBuilder::new(rows.shape);
    for &row in &numbers {
        some.push(rows.row(row));
    }
    (Cow::Owned(some.finish()), numbers)
}

impl Index {
    /// Looks up the documents of a corpus in reading order. Calls `report` with the name of each document and the
    /// documents of the index within the maximum distance, sorted by distance. With `only_nearest`, this is at most one
    /// document.
    ///
    /// # Errors
    ///
    /// [`near`](Self::near) or `report` fails. Unreadable records and files are no error but part of the
    /// result.
    pub(crate) fn near_corpus(
        &self,
        corpus: &dyn Corpus,
        only_nearest: bool,
        progress: &dyn Progress,
        report: &mut dyn FnMut(&DocumentName<'_>, &[Near]) -> Result<()>,
    ) -> Result<CollectionSummary> {
        if corpus.shard_count() == 0 {
            return Err(Error::config("corpus", "nothing", "must name a file"));
        }
        let shards: Vec<usize> = (0..corpus.shard_count()).collect();
        let (recipe, context) = self.shared();
        let report_group = &mut |group: &DocumentGroup<'_>| {
            let found = self.near(group.rows(), only_nearest)?;
            found.iter().enumerate().try_for_each(|(row, near)| report(&group.name(row), near))
        };
        let context = context.with_progress(progress);
        let reading = GroupedReading { recipe, context: &context, keeps_ids: false };
        reading.for_each_group(corpus, &shards, report_group)
    }
}
