//! Adds the documents of a corpus to an index, or looks for documents near them.

use super::adder::{Added, Arrival, IndexAdder};
use super::document_groups::{Group, for_each_group};
use super::lookup::Near;
use super::pending::Input;
use super::stored::Index;
use crate::output::{BadRecords, write_kept_copies};
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
use std::collections::BTreeMap;

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
    /// Number of documents that an earlier call, which was interrupted, had already added.
    pub done_before: u64,
    /// Numbers of the files whose documents had all been added before this call.
    pub known_files: Vec<usize>,
    /// Summary of reading the corpus. IDs are in the summary only with [`Commits::ByCaller`].
    pub read: CollectionSummary,
    /// For each document that was read, whether a copy of the new documents contains it: it is new or has no
    /// words. Empty unless [`Commits::ByCaller`] was chosen.
    is_kept: Vec<bool>,
}

impl IndexAdder {
    /// Adds the documents of a collection in reading order, and calls `report` with the name of each document
    /// and the result of adding it.
    ///
    /// Files that were already added are skipped. They are recognized by name, length and content. An
    /// interrupted file continues where it stopped. Standard input is always added.
    ///
    /// # Errors
    ///
    /// [`add`](Self::add) or `report` fails. Documents that were committed before stay in the index.
    /// Unreadable records and files are no error but part of the result.
    pub(crate) fn add_corpus(
        &mut self,
        files: &Collection,
        corpus: &dyn Corpus,
        arrival: Arrival<'_>,
        commits: Commits,
        progress: &dyn Progress,
        report: &mut dyn FnMut(&Self, &DocumentName<'_>, Added) -> Result<()>,
    ) -> Result<AddedCorpus> {
        let mut inputs = BTreeMap::new();
        let mut result = AddedCorpus::default();
        for file in 0..corpus.file_count() {
            let (name, path) = (corpus.file_name(file), files.file_path(file));
            // Standard input can be read only once, so hashing it would lose its documents.
            if name.as_os_str() == "-" {
                continue;
            }
            // A file that cannot be read here becomes a fault when its documents are read.
            let Ok(input) = Input::of_file(name, path) else { continue };
            let known = self.known_input(&input)?;
            if known.as_ref().is_some_and(|known| known.is_whole) {
                result.known_files.push(file);
            }
            inputs.insert(file, known.unwrap_or(input));
        }
        // A copy of the new documents needs all files, even files that were added before.
        let keeps_ids = commits == Commits::ByCaller;
        let is_wanted =
            |shard: &usize| keeps_ids || !result.known_files.contains(&corpus.shard_file(*shard));
        let shards: Vec<usize> = (0..corpus.shard_count()).filter(is_wanted).collect();
        // For each file, the number of its documents that were read so far.
        let mut met: BTreeMap<usize, u64> = BTreeMap::new();
        let mut uncommitted = 0;
        let (recipe, context) = self.shared();
        let AddedCorpus { new, repeats, done_before, is_kept, .. } = &mut result;
        let read = for_each_group(
            corpus,
            &shards,
            &recipe,
            &context.with_progress(progress),
            keeps_ids,
            &mut |group| {
                let is_missing = |&file: &usize| {
                    // Files are always read in the same order, so the first documents of a file are those
                    // that an interrupted call added.
                    let met = met.entry(file).or_default();
                    *met += 1;
                    inputs.get(&file).is_none_or(|input| *met > input.documents)
                };
                let missing: Vec<bool> = group.files().iter().map(is_missing).collect();
                let (rows, numbers) = only(group.rows(), &missing);
                *done_before += (missing.len() - numbers.len()) as u64;
                let id = |row: usize| group.name(numbers[row]).id;
                let added = self.add(&rows, id, arrival)?;
                let before = is_kept.len();
                if keeps_ids {
                    // Documents that an earlier call added are not new, so their elements stay `false`.
                    is_kept.resize(before + missing.len(), false);
                }
                for (&row, &added) in numbers.iter().zip(&added) {
                    if keeps_ids {
                        is_kept[before + row] = !matches!(added, Added::Repeats(_));
                    }
                    match added {
                        Added::New(_) => *new += 1,
                        Added::Repeats(_) => *repeats += 1,
                        Added::Wordless => {}
                    }
                    report(self, &group.name(row), added)?;
                }
                // The inputs are stored before the commit. Otherwise an interruption could add documents
                // again or skip some.
                self.note_inputs(group, &met, &mut inputs);
                uncommitted += added.len() as u64;
                if commits == Commits::Often && uncommitted >= COMMITTED {
                    self.commit()?;
                    uncommitted = 0;
                }
                Ok(())
            },
        )?;
        result.read = read;
        if commits == Commits::Often {
            self.commit()?;
        }
        Ok(result)
    }

    /// Stores for each file of a group how many of its documents were read. `met` maps the number of a file
    /// to this count.
    fn note_inputs(
        &mut self,
        group: &Group<'_>,
        met: &BTreeMap<usize, u64>,
        inputs: &mut BTreeMap<usize, Input>,
    ) {
        for (file, is_whole) in group.ended_files() {
            if let Some(input) = inputs.get_mut(&file) {
                // If a file is read again, its count starts at 0, but the documents that an earlier call
                // added are still there.
                input.documents = input.documents.max(met.get(&file).copied().unwrap_or_default());
                input.is_whole = is_whole;
                self.note_input(input);
            }
        }
    }
}

/// Writes a copy of every file of `collection` without the documents that are near a document of the index.
/// `added` must be a result with [`Commits::ByCaller`].
///
/// # Errors
///
/// The same as [`write_kept_copies`].
pub fn write_only_new(
    collection: &Collection,
    added: &AddedCorpus,
    folder: &OutputFolder,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    let is_kept = |document: DocOrdinal| added.is_kept[document.index()];
    let (ids, bad, target) = (&added.read.ids, BadRecords::Keep, folder.staging());
    let workers = Threads::new(threads)?;
    workers.run(|| write_kept_copies(collection, ids, &is_kept, bad, target, progress))?
}

/// Returns the rows for which `wanted` is true, and the numbers of these rows in `rows`.
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
    /// Looks up the documents of a corpus in reading order. Calls `report` with the name of each document and
    /// the documents of the index near it. [`near`](Self::near) defines their order and number.
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
        let report_group = &mut |group: &Group<'_>| {
            let found = self.near(group.rows(), only_nearest)?;
            found.iter().enumerate().try_for_each(|(row, near)| report(&group.name(row), near))
        };
        let context = context.with_progress(progress);
        for_each_group(corpus, &shards, recipe, &context, false, report_group)
    }
}
