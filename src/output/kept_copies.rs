//! Copies the input files without the removed documents. Every input file is read a second time for this.

use super::caught_texts::CaughtTexts;
use super::document_status::DocumentStatus;
use super::leading_separator::LeadingSeparator;
use super::ordered_pieces::{OrderedPieces, UnitWriter};
use super::record_counts::RecordCounts;
use super::stored_copies::{FittingCopies, StoredCopies};
use crate::pipeline::watched::Watched;
use crate::write::kept_documents::{Chunk, Packing, distinct_names};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::{Error, Result};
use simtool_base::fault::Severity;
use simtool_base::progress::{Progress, Work};
use simtool_compute::tasks;
use simtool_model::compression::Compression;
use simtool_model::document::{Content, DocOrdinal, DocumentIds, Record};
use simtool_model::record_digest::RecordDigest;
use simtool_read::{AddedFields, Collection, Corpus, Event, Recognized, RowsCopy, TextEdit};
use std::collections::BTreeSet;
use std::io;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Number of bytes that are compressed together, as one gzip member or Zstandard frame.
const CHUNK_BYTES: usize = 1 << 20;

/// Choice of whether copies contain bad records, which could not be read as documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRecords {
    /// Copies bad records byte for byte. They were not compared, so they are not known to be duplicates.
    #[default]
    Keep,
    /// Leaves bad records out of the copies.
    Drop,
}

/// Rules for the records that are copied.
pub(crate) struct CopyRules<'r> {
    /// Function that returns the status of a document: whether its record is copied, left out, or copied with cuts in
    /// its text.
    pub(crate) status: &'r (dyn Fn(DocOrdinal) -> DocumentStatus + Sync),
    /// Text that replaces each part that is cut out of a text, see [`TextEdit::mask`].
    pub(crate) mask: Option<&'r str>,
    /// Whether bad records are copied.
    pub(crate) bad_records: BadRecords,
    /// For each file, whether it is copied. `None` if all are.
    pub(crate) files: Option<&'r [bool]>,
    /// Collector that keeps the beginnings of some texts while the files are copied. `None` if no texts are needed.
    pub(crate) texts: Option<&'r CaughtTexts>,
    /// Fields that are added to the records of documents. `None` if none are added.
    pub(crate) added: Option<AddedFields<'r, DocOrdinal>>,
    /// Store of finished copies, which a later run uses if this run is stopped. `None` if the run stores no copies.
    /// Must be `None` if fields are [`added`](Self::added).
    pub(crate) stored: Option<&'r StoredCopies>,
    /// Whether copies with cuts are read again and checked. Debug builds always check them.
    pub(crate) is_checked: bool,
}

impl<'r> CopyRules<'r> {
    /// Creates rules by which bad records are copied. `mask` is the text that replaces each part that is cut out of a
    /// text.
    pub(crate) fn new(
        status: &'r (dyn Fn(DocOrdinal) -> DocumentStatus + Sync),
        mask: Option<&'r str>,
    ) -> Self {
        let is_checked = cfg!(debug_assertions);
        let bad_records = BadRecords::Keep;
        Self {
            status,
            mask,
            bad_records,
            files: None,
            texts: None,
            added: None,
            stored: None,
            is_checked,
        }
    }

    /// Returns the same rules with a store: copies are stored in `stored`, and copies that are already there are used.
    pub(crate) fn with_stored(self, stored: Option<&'r StoredCopies>) -> Self {
        Self { stored, ..self }
    }

    /// Returns the same rules, but copies with cuts are read again and checked if `is_checked` is true.
    pub(crate) fn with_check(self, is_checked: bool) -> Self {
        Self { is_checked: self.is_checked || is_checked, ..self }
    }
}

/// Result of copying the input files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptCopies {
    /// For each input file, the path of its copy, or the reason why it has none.
    pub(crate) files: Vec<CopyStatus>,
    /// Documents whose records were copied as they are although parts of their texts should be cut, or although fields
    /// should be added, because these records cannot be edited. In reading order.
    pub(crate) unedited: Vec<DocOrdinal>,
}

/// Result of copying one input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CopyStatus {
    /// The copy was written. Its path in the folder of the copies is the name of the input, perhaps with a
    /// number because several inputs have that name.
    Written(PathBuf),
    /// The file has no copy.
    Missing(NoCopy),
}

/// Reason why no copy of an input file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCopy {
    /// The whole file is one document, which was removed.
    Removed,
    /// No record of the file can be read.
    Unreadable,
    /// The file is not among [`CopyRules::files`].
    Unwanted,
}

/// Writes a copy of every file of `collection` to `folder`. Returns the status of each file.
///
/// Records are copied byte for byte, except that the texts of documents whose status is [`DocumentStatus::Cut`] are
/// cut, and that records get the fields [`CopyRules::added`]. The copies leave out:
///
/// * documents whose status is [`DocumentStatus::Removed`],
/// * bad records, if [`CopyRules::bad_records`] is [`BadRecords::Drop`],
/// * damaged parts of a file that cannot be read.
///
/// A text file that is one removed document gets no copy, and neither does a file of JSON objects that are all
/// removed. A file without any readable record also gets no copy. Every other file has one.
///
/// Large files are written by the caller's pool of threads in parallel, and compressed in chunks. The bytes
/// are the same for any number of threads.
///
/// # Errors
///
/// A copy cannot be written, or a file has changed since the run first read it and made `ids`.
pub(crate) fn write_kept_copies(
    collection: &Collection,
    ids: &DocumentIds,
    rules: &CopyRules<'_>,
    folder: &Path,
    progress: &dyn Progress,
) -> Result<KeptCopies> {
    progress.begin("copying", Work::Bytes(collection.bytes()));
    let names: Vec<PathBuf> =
        (0..collection.file_count()).map(|file| collection.copy_name(file).to_owned()).collect();
    let names = distinct_names(&names);
    let (status, texts) = (rules.status, rules.texts);
    let stored = rules.stored.map(|stored| stored.fitting(collection, ids, status, texts));
    // A copy that is stored when it is finished is written in the store, and gets its name in the folder at the end.
    let paths: Vec<PathBuf> = (names.iter().enumerate())
        .map(|(file, name)| {
            let unfinished = stored.as_ref().and_then(|stored| stored.unfinished(file));
            unfinished.unwrap_or_else(|| folder.join(name))
        })
        .collect();
    let is_unwanted = |file: usize| rules.files.is_some_and(|wanted| !wanted[file]);
    let is_stored = |file| stored.as_ref().is_some_and(|stored| stored.has(file));
    let shards = shards_of_files(collection, rules);
    let mut files = Vec::with_capacity(names.len());
    let mut tables = Vec::new();
    for (file, (path, of_file)) in paths.iter().zip(&shards).enumerate() {
        let is_table = of_file.recognized.is_some_and(is_table);
        // A table is written by the writer of its format below. Any other file is written shard by shard if
        // its format is known, and otherwise in one piece. A stored copy is not written again.
        let units = match (is_stored(file) || is_table || is_unwanted(file), of_file.is_cut) {
            (true, _) => 0,
            (false, true) => of_file.shards.len(),
            (false, false) => 1,
        };
        if is_stored(file) || is_unwanted(file) {
            progress
                .advance(of_file.shards.clone().map(|shard| collection.shard_bytes(shard)).sum());
        } else if is_table {
            tables.push((file, path.clone()));
        }
        files.push((path.clone(), units));
    }
    let reason = |file| if is_unwanted(file) { NoCopy::Unwanted.into() } else { OnceLock::new() };
    let missing = (0..shards.len()).map(reason).collect();
    // Documents that were not edited in a stored copy count, too.
    let unedited = stored.as_ref().map(FittingCopies::unedited).unwrap_or_default();
    let unedited = Mutex::new(unedited);
    let copies = Copies { collection, progress, ids, rules, shards, missing, unedited };
    let completed = |file| match &stored {
        Some(stored) => stored.finish(file, &copies.unedited_among(stored.documents(file))),
        None => Ok(()),
    };
    let pieces = OrderedPieces::new(files, rayon::current_num_threads(), &completed);
    rayon::broadcast(|_| pieces.work(&|writer| copies.write(writer)));
    pieces.finish()?;
    // Tables are copied last, because copying one table already keeps all threads busy.
    tables.into_par_iter().with_max_len(1).try_for_each(|(file, path)| {
        copies.write_rows(file, &path)?;
        if copies.missing[file].get().is_none() { completed(file) } else { Ok(()) }
    })?;
    copies.place_stored(stored.as_ref(), &names, folder)?;
    Ok(copies.into_result(names))
}

/// Returns for each file its shards (parts that can be read alone), and the way in which they are copied.
fn shards_of_files(collection: &Collection, rules: &CopyRules<'_>) -> Vec<FileShards> {
    let mut shards = Vec::with_capacity(collection.file_count());
    let mut next = 0;
    for file in 0..collection.file_count() {
        let first = next;
        while next < collection.shard_count() && collection.shard_file(next) == file {
            next += 1;
        }
        // The format of a small file is known from its first reading, so only large files are read here.
        let recognized = collection.recognize(file).ok();
        let is_table = recognized.is_some_and(is_table);
        let is_cut = next - first > 1 && recognized.is_some() && !is_table;
        let adds_fields =
            rules.added.is_some_and(|added| collection.adds_fields(file, added.fields));
        shards.push(FileShards { shards: first..next, is_cut, recognized, adds_fields });
    }
    shards
}

/// Returns whether a file is a table such as Parquet. Its rows are copied by the writer of its format.
fn is_table(recognized: Recognized) -> bool {
    recognized.format.is_table() && recognized.compression == Compression::None
}

/// Input files that are copied, and the rules for which records are copied.
struct Copies<'c> {
    collection: &'c Collection,
    progress: &'c dyn Progress,
    ids: &'c DocumentIds,
    rules: &'c CopyRules<'c>,
    shards: Vec<FileShards>,
    /// For each file, the reason why it has no copy. Empty if it has one. A file that several threads copy always has a
    /// copy.
    missing: Vec<OnceLock<NoCopy>>,
    /// Documents whose records could not be edited.
    unedited: Mutex<BTreeSet<DocOrdinal>>,
}

/// Shards of an input file, and the way in which they are copied.
struct FileShards {
    shards: Range<usize>,
    /// Whether each shard is copied as a unit of its own, so that several threads can copy the file. See
    /// [`OrderedPieces`].
    is_cut: bool,
    /// Compression and format of the file. `None` if they cannot be recognized.
    recognized: Option<Recognized>,
    /// Whether the records of the copy get the fields [`CopyRules::added`].
    adds_fields: bool,
}

/// Unit of bytes that is read from an input file and written to its copy.
enum CopiedBytes<'k> {
    /// A whole record. `number` is its number in the file, and `document` is the document in it.
    Record { bytes: &'k [u8], number: u64, document: Option<DocOrdinal> },
    /// The next bytes of a record that is too long to be read whole.
    Piece(&'k [u8]),
}

impl Copies<'_> {
    /// Puts each copy that is in the store at its path in `folder`. All other copies are there already.
    fn place_stored(
        &self,
        stored: Option<&FittingCopies<'_>>,
        names: &[PathBuf],
        folder: &Path,
    ) -> Result<()> {
        let Some(stored) = stored else { return Ok(()) };
        for (file, name) in names.iter().enumerate() {
            if self.missing[file].get().is_none() {
                stored.place(file, &folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Returns the result of copying. `names` has the name of each copy.
    fn into_result(self, names: Vec<PathBuf>) -> KeptCopies {
        let missing = self.missing.into_iter().map(OnceLock::into_inner);
        let status = |(name, missing): (PathBuf, Option<NoCopy>)| {
            missing.map_or(CopyStatus::Written(name), CopyStatus::Missing)
        };
        let files = names.into_iter().zip(missing).map(status).collect();
        let unedited = self.unedited.into_inner().unwrap_or_else(PoisonError::into_inner);
        KeptCopies { files, unedited: unedited.into_iter().collect() }
    }

    /// Reads the unit that `writer` names, which is one shard or a whole file, and writes the records that are copied.
    fn write(&self, writer: &mut UnitWriter<'_>) -> Result<()> {
        let unit = writer.unit();
        let FileShards { shards, is_cut, recognized, .. } = &self.shards[unit.file];
        let Some(recognized) = *recognized else {
            self.leave_out(unit.file, NoCopy::Unreadable);
            return Ok(());
        };
        let shards = if *is_cut {
            let shard = shards.start + unit.number;
            shard..shard + 1
        } else {
            shards.clone()
        };
        let packing = Packing::new(recognized.compression, recognized.format.is_packed_by_record());
        let mut chunk = Chunk::default();
        let mut is_begun = false;
        writer.wait()?;
        let counts = self.read_kept(unit.file, shards, &mut |kept| {
            match kept {
                CopiedBytes::Record { bytes, .. } => chunk.push(bytes),
                CopiedBytes::Piece(bytes) => chunk.push_piece(bytes),
            }
            if chunk.bytes() < CHUNK_BYTES {
                return Ok(());
            }
            is_begun = true;
            writer.write(std::mem::take(&mut chunk), packing, false)
        })?;
        // An empty copy is right for an empty file, but not for a removed text or an unreadable file. A unit
        // that is only one shard of a file cannot decide this.
        let is_nothing = !is_cut && !is_begun && chunk.bytes() == 0;
        if is_nothing && recognized.format.leaves_no_empty_copy() && counts.removed > 0 {
            self.leave_out(unit.file, NoCopy::Removed);
            return Ok(());
        }
        if is_nothing && counts.is_unreadable() {
            self.leave_out(unit.file, NoCopy::Unreadable);
            return Ok(());
        }
        writer.write(chunk, packing, true)
    }

    /// Records the reason why a file has no copy.
    fn leave_out(&self, file: usize, reason: NoCopy) {
        self.missing[file].get_or_init(|| reason);
    }

    /// Copies a table such as a Parquet file. All threads read its shards (parts), and then encode groups of its rows.
    fn write_rows(&self, file: usize, path: &Path) -> Result<()> {
        let shards = self.shards[file].shards.clone();
        let read = shards.into_par_iter().with_max_len(1).map(|shard| {
            let (mut kept, mut edited) = (Vec::new(), Vec::new());
            let counts = self.read_kept(file, shard..shard + 1, &mut |record| {
                if let CopiedBytes::Record { number, document, .. } = record {
                    kept.push(number);
                    edited.extend(document.filter(|&d| self.is_edited(d)).map(|d| (number, d)));
                }
                Ok(())
            })?;
            Ok((counts, kept, edited))
        });
        let mut all = RecordCounts::default();
        let (mut kept, mut edited) = (Vec::new(), Vec::new());
        for (counts, rows, edited_rows) in read.collect::<Result<Vec<_>>>()? {
            // Each shard was read alone, so its rows were counted from 0. Lost rows count as well, because
            // the writer numbers all rows of the file.
            let first = all.records_with_lost;
            kept.extend(rows.into_iter().map(|row| first + row));
            edited.extend(edited_rows.into_iter().map(|(row, document)| (first + row, document)));
            all.add(&counts);
        }
        let is_editable = match self.rules.added {
            Some(_) => self.shards[file].adds_fields,
            None => self.collection.edits_rows(file),
        };
        if !is_editable {
            self.add_unedited(edited.drain(..).map(|(_, document)| document));
        }
        if all.is_unreadable() {
            self.leave_out(file, NoCopy::Unreadable);
            return Ok(());
        }
        let document = |row: u64| {
            let at = edited.binary_search_by_key(&row, |(row, _)| *row).ok()?;
            Some(edited[at].1)
        };
        let edit = |row: u64, text: &[u8]| {
            let document = document(row)?;
            let DocumentStatus::Cut(cuts) = (self.rules.status)(document) else { return None };
            let edited = TextEdit { cuts: &cuts, mask: self.rules.mask }.apply(text);
            // The text is shorter than before, so the file has changed. Its row must not count as cut.
            if edited.is_none() {
                self.add_unedited([document]);
            }
            edited
        };
        let added = self.rules.added.filter(|_| is_editable);
        let values = |row: u64| (added?.values)(document(row)?);
        let copy = RowsCopy {
            to: path,
            kept: &kept,
            edit: if edited.is_empty() { None } else { Some(&edit) },
            added: added.map(|added| AddedFields { fields: added.fields, values: &values }),
            at_once: rayon::current_num_threads(),
            in_parallel: &tasks::each,
        };
        self.collection.copy_rows(file, &copy)
    }

    /// Reads some shards (parts) of a file and calls `keep` with every record, or part of a record, that is copied.
    /// Returns counts of the records.
    fn read_kept(
        &self,
        file: usize,
        shards: Range<usize>,
        keep: &mut dyn FnMut(CopiedBytes<'_>) -> Result<()>,
    ) -> Result<RecordCounts> {
        let mut counts = RecordCounts::default();
        let mut first_record = 0;
        let mut separator = LeadingSeparator::of_format(self.shards[file].recognized);
        let keeps_bad = self.rules.bad_records == BadRecords::Keep;
        let watched = Watched { corpus: self.collection, progress: self.progress };
        for shard in shards {
            let mut next = self.ids.first_of_shard(shard).0;
            let mut digest = RecordDigest::new();
            let records = watched.read_shard(shard, &mut |event| {
                let record = match event {
                    Event::Record(record) => record,
                    // Only bad records come in pieces, so the rule for bad records applies.
                    Event::Piece(bytes) if keeps_bad => {
                        let bytes = separator.copied(bytes);
                        return keep(CopiedBytes::Piece(bytes)).map(ControlFlow::Continue);
                    }
                    Event::Piece(_) | Event::Reached(_) => return Ok(ControlFlow::Continue(())),
                    Event::Fault(fault) => {
                        counts.has_loss |= fault.severity == Severity::Loss;
                        return Ok(ControlFlow::Continue(()));
                    }
                };
                counts.records += 1;
                let mut document = None;
                let status = match record.content {
                    Content::Document(read) => {
                        let ordinal = DocOrdinal(next);
                        document = Some(ordinal);
                        next += 1;
                        if let Some(texts) = self.rules.texts {
                            texts.see(ordinal, read.text);
                        }
                        // If the file has grown, it has more documents than before. The check below reports
                        // this.
                        let is_known = ordinal.index() < self.ids.len();
                        if is_known {
                            (self.rules.status)(ordinal)
                        } else {
                            DocumentStatus::Removed
                        }
                    }
                    Content::Bad(_) if !keeps_bad => DocumentStatus::Removed,
                    _ => DocumentStatus::Kept,
                };
                if status == DocumentStatus::Removed {
                    digest.add(record.content_hash());
                    separator.leave_out(&record.content);
                    counts.removed += u64::from(document.is_some());
                    return Ok(ControlFlow::Continue(()));
                }
                let edited = self.edited(file, &record, document, &status);
                let copied = Record { bytes: edited.as_deref().unwrap_or(record.bytes), ..record };
                let bytes = separator.copied_record(&copied);
                let number = first_record + record.number;
                keep(CopiedBytes::Record { bytes, number, document })?;
                // The digest comes last, so it is of the bytes that were copied or of later ones.
                digest.add(record.content_hash());
                Ok(ControlFlow::Continue(()))
            })?;
            // Documents are recognized by their order alone. A different count means that wrong documents
            // were left out. Other bytes were never compared.
            let is_same = digest.agrees_with(self.ids.digest_of_shard(shard));
            if next != self.ids.end_of_shard(shard).0 || !is_same {
                return Err(self.changed(file));
            }
            first_record += records;
        }
        if !separator.end().is_empty() {
            keep(CopiedBytes::Piece(separator.end()))?;
        }
        counts.records_with_lost = first_record;
        Ok(counts)
    }

    /// Returns whether the record of a document in a table is cut or gets fields.
    fn is_edited(&self, document: DocOrdinal) -> bool {
        let is_cut = |status| matches!(status, DocumentStatus::Cut(_));
        self.rules.added.is_some() || is_cut((self.rules.status)(document))
    }

    /// Returns the bytes of a record from which text is cut or to which fields are added, or `None` if the record is
    /// copied as it is. Rows of a table are edited by the writer of its format.
    fn edited(
        &self,
        file: usize,
        record: &Record<'_>,
        document: Option<DocOrdinal>,
        status: &DocumentStatus,
    ) -> Option<Vec<u8>> {
        let FileShards { recognized, adds_fields, .. } = &self.shards[file];
        if recognized.is_some_and(is_table) {
            return None;
        }
        let edited = match (status, self.rules.added) {
            (_, Some(added)) if *adds_fields => {
                let values = document.and_then(|document| (added.values)(document));
                let values = values.unwrap_or_default();
                self.collection.record_with_fields(file, record, added.fields, &values)
            }
            (DocumentStatus::Cut(cuts), None) => {
                let edit = TextEdit { cuts, mask: self.rules.mask };
                self.collection.edited_record(file, record, edit)
            }
            (_, Some(_)) => None,
            (_, None) => return None,
        };
        if edited.is_none() {
            self.add_unedited(document);
        }
        edited
    }

    /// Adds documents whose records could not be edited.
    fn add_unedited(&self, documents: impl IntoIterator<Item = DocOrdinal>) {
        self.unedited.lock().unwrap_or_else(PoisonError::into_inner).extend(documents);
    }

    /// Returns the documents with numbers in `documents` whose records could not be edited.
    fn unedited_among(&self, documents: Range<u32>) -> Vec<DocOrdinal> {
        let unedited = self.unedited.lock().unwrap_or_else(PoisonError::into_inner);
        unedited.range(DocOrdinal(documents.start)..DocOrdinal(documents.end)).copied().collect()
    }

    /// Returns the error for a file that has changed since its first reading.
    fn changed(&self, file: usize) -> Error {
        let reason =
            "the file changed during the run; run again when no other program writes to it";
        Error::io(self.collection.file_name(file), "copy", io::Error::other(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_base::memory_ledger::Ledger;
    use simtool_base::progress::NoProgress;
    use simtool_model::document::ShardIds;
    use simtool_model::document_id::DocumentId;
    use simtool_read::ReadOptions;
    use simtool_read::walk::{InFolders, Walker};
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Write;

    fn collection(folder: &Path) -> Collection {
        let mut walker = Walker::default();
        walker.add(folder, InFolders::default());
        let options = ReadOptions { shard_bytes: 5000, ..ReadOptions::default() };
        Collection::open(walker.finish().files, options)
    }

    /// Returns the file, ID and text of every document, and the document IDs as one value.
    fn documents(collection: &Collection) -> (Vec<(PathBuf, String, String)>, DocumentIds) {
        let (mut documents, mut shards) = (Vec::new(), Vec::new());
        for shard in 0..collection.shard_count() {
            let file = collection.shard_file(shard);
            let mut ids = ShardIds::new(file as u32);
            let records = collection.read_shard(shard, &mut |event| {
                if let Event::Record(record) = event
                    && let Content::Document(document) = record.content
                {
                    ids.push(record.number, document.id)?;
                    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                    documents.push((
                        collection.copy_name(file).to_owned(),
                        text(document.id.map_or(&[], DocumentId::bytes)),
                        text(document.text),
                    ));
                }
                Ok(ControlFlow::Continue(()))
            });
            ids.close(records.unwrap());
            shards.push(ids);
        }
        (documents, DocumentIds::new(shards).unwrap())
    }

    fn inputs() -> BTreeMap<&'static str, String> {
        let ids = 0..3000;
        let jsonl = |n| match n % 10 {
            7 => "no object\n".to_owned(),
            8 => "\n".to_owned(),
            _ => format!("{{\"id\": {n}, \"text\": \"text {n}\"}}\n"),
        };
        let warc = |n: i32| {
            let kind = if n % 10 == 0 { "request" } else { "conversion" };
            let block = format!("text {n}");
            let length = block.len();
            format!(
                "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: w{n}\r\nContent-Length: {length}\r\n\r\n{block}\r\n\r\n"
            )
        };
        let mut inputs = BTreeMap::from([
            (
                "a.txt",
                ids.clone()
                    .map(|n| format!("\r\nf{n}\ntext\n{n}\x0C"))
                    .collect::<Vec<_>>()
                    .concat(),
            ),
            (
                "b/last-is-open.txt",
                ids.clone().map(|n| format!("\x0Cg{n}\ntext {n}")).collect::<Vec<_>>().concat(),
            ),
            ("b/c.jsonl", ids.clone().map(jsonl).collect::<String>() + "{\"text\": \"end\"}"),
        ]);
        let object = |n: i32| match n % 10 {
            7 => "\n {\"text\": 7}".to_owned(),
            _ => format!("\n {{\"id\": {n},\n  \"text\": \"text {n}\"}}"),
        };
        let objects: Vec<String> = ids.clone().map(object).collect();
        inputs.insert("d.json", format!("[{}\n]\n", objects.join(",")));
        inputs.insert("d.warc", ids.map(warc).collect());
        inputs
    }

    #[cfg(feature = "parquet")]
    fn write_rows(path: &Path) {
        use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
        use std::sync::Arc;
        let ids = Int64Array::from_iter_values(0..3000);
        let texts = (0..3000).map(|n| (n % 10 != 7).then(|| format!("row {n}")));
        let texts: StringArray = texts.collect();
        let other = StringArray::from_iter_values((0..3000).map(|n| format!("other {n}")));
        let columns: [(&str, ArrayRef); 3] =
            [("id", Arc::new(ids)), ("other", Arc::new(other)), ("text", Arc::new(texts))];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let properties = parquet::file::properties::WriterProperties::builder()
            .set_max_row_group_row_count(Some(1100))
            .set_compression(parquet::basic::Compression::SNAPPY)
            .build();
        let file = fs::File::create(path).unwrap();
        let mut writer =
            parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    #[test]
    fn copies_have_exactly_the_kept_documents_in_the_same_format() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::create_dir_all(input.join("b")).unwrap();
        for (name, content) in inputs() {
            fs::write(input.join(name), &content).unwrap();
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(content.as_bytes()).unwrap();
            fs::write(input.join(format!("{name}.gz")), gzip.finish().unwrap()).unwrap();
            let packed = zstd::encode_all(content.as_bytes(), 1).unwrap();
            fs::write(input.join(format!("{name}.zst")), packed).unwrap();
        }
        #[cfg(feature = "parquet")]
        write_rows(&input.join("e.parquet"));
        let whole = collection(&input);
        let (all, ids) = documents(&whole);
        assert!(all.len() > 20_000, "{} documents", all.len());

        let everything = folder.path().join("all");
        let caught = CaughtTexts::new(vec![2, 11, 20_001], &Ledger::new(1 << 30));
        let rules = CopyRules {
            bad_records: BadRecords::Drop,
            texts: Some(&caught),
            is_checked: false,
            ..CopyRules::new(&|_| DocumentStatus::Kept, None)
        };
        write_kept_copies(&whole, &ids, &rules, &everything, &NoProgress).unwrap();
        let caught = caught.into_texts();
        assert_eq!(caught.len(), 3);
        for (row, text) in [2, 11, 20_001].map(|row| (row, &all[row as usize].2)) {
            assert_eq!(String::from_utf8_lossy(&caught[&row]), *text, "{row}");
        }
        for (name, content) in inputs() {
            let is_good = |line: &&str| !["no object\n", " {\"text\": 7},\n"].contains(line);
            let good: String = content.split_inclusive('\n').filter(is_good).collect();
            assert!(
                fs::read_to_string(everything.join("in").join(name)).unwrap() == good,
                "{name}"
            );
        }

        let some = folder.path().join("some");
        let status = |document: DocOrdinal| DocumentStatus::kept_if(!document.0.is_multiple_of(3));
        let rules = CopyRules { is_checked: false, ..CopyRules::new(&status, None) };
        write_kept_copies(&whole, &ids, &rules, &some, &NoProgress).unwrap();
        let copies = collection(&some.join("in"));
        let kept = all.iter().enumerate().filter(|(at, _)| at % 3 != 0).map(|(_, d)| d.clone());
        assert!(documents(&copies).0 == kept.collect::<Vec<_>>());
        for file in 0..copies.file_count() {
            assert_eq!(copies.recognize(file).unwrap(), whole.recognize(file).unwrap());
        }
    }
}
