//! Files as a corpus: large files are divided into shards, and each shard is read as its format
//! requires.

use crate::bytes::PageContent;
use crate::documents::longest_reading::LongestReading;
use crate::documents::walk::{InFolders, InputFile, Walked, Walker};
use crate::documents::{Opened, Part, ReadOptions, Recognized, Selection, sniff};
use crate::formats::{
    AddedField, AddedRecord, AddedValue, FieldNames, Format, Reader, RecordEdit, RowsCopy,
    Selector, TextEdit, TextSplit,
};
use crate::source::Fetching;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity};
use simtool_base::memory_turns::MemoryTurns;
use simtool_base::work_cost::WorkCost;
use simtool_model::compression::Compression;
use simtool_model::document::{Bad, Content, Record};
use std::io::{self, Read};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;
use std::time::SystemTime;

/// Number of threads that open objects in stores and divide them into shards.
const OPENING_THREADS: usize = 16;

/// A list of input files as a [`Corpus`](crate::Corpus). Files and shards are numbered from 0.
#[derive(Debug)]
pub struct Collection {
    pub(crate) options: ReadOptions,
    pub(crate) files: Vec<Opened>,
    pub(crate) shards: Vec<Shard>,
    /// Warnings about paths, which are reported when the first shard is read.
    pub(crate) odd_paths: Vec<Fault>,
    /// Whether [`Selection::limit`](crate::selection::Selection::limit), the largest number of documents that the user
    /// allows, was reached. Later shards and files were then dropped from the lists.
    pub(crate) ends_at_limit: bool,
}

/// A file, or a part of a file that one thread reads.
#[derive(Debug)]
pub(crate) struct Shard {
    pub(crate) file: u32,
    pub(crate) part: Part,
    /// Largest number of documents that are read from the shard. `u64::MAX` means no limit.
    pub(crate) most: u64,
    /// State of the longest reading of the shard so far. Every other reading must have the same records.
    pub(crate) longest: LongestReading,
}

impl Shard {
    fn new(file: u32, part: Part) -> Self {
        Self { file, part, most: u64::MAX, longest: LongestReading::default() }
    }
}

impl Collection {
    /// Cost of an input file in addition to the cost of its content, measured with both threads of a 2-core AMD EPYC in
    /// November 2026.
    ///
    /// `seconds` is the time to find the file, to recognize its format, and to list it on a report page. `bytes` is the
    /// memory for its paths, its state when it was found, and the summary of its reading.
    pub const FILE_COST: WorkCost = WorkCost { seconds: 6e-6, bytes: 900.0 };

    /// Returns the object by which threads take turns. Only one thread at a time may use more memory than its share.
    #[must_use]
    pub fn turns(&self) -> &MemoryTurns {
        &self.options.turns
    }

    /// Creates a collection of `inputs`. Checks the size of each file, and recognizes the format of
    /// large files to divide them into shards.
    ///
    /// A file that cannot be opened becomes a shard whose reading only reports the fault.
    #[must_use]
    pub fn open(inputs: Vec<InputFile>, options: ReadOptions) -> Self {
        let (files, shards, odd_paths) = (Vec::new(), Vec::new(), Vec::new());
        let mut collection = Self { options, files, shards, odd_paths, ends_at_limit: false };
        let mut files: Vec<Opened> = inputs.into_iter().map(Opened::new).collect();
        let parts = cut_all(&mut files, &collection.options);
        for (file, parts) in files.into_iter().zip(parts) {
            collection.add_cut(file, parts);
        }
        collection.end_at_limit();
        collection
    }

    /// Returns a collection of the same files, in which each document is the whole text of its record. Nothing is left
    /// out of HTML pages, and every document meets the conditions of the selection.
    #[must_use]
    pub fn with_whole_texts(&self) -> Self {
        let inputs = self.files.iter().map(|file| file.input.clone());
        let options = ReadOptions {
            content: PageContent::All,
            selection: Selection::default(),
            // With shared turns, a reader of this collection and a reader of the new one could wait for each other.
            turns: MemoryTurns::default(),
            ..self.options.clone()
        };
        Self::open(inputs.collect(), options)
    }

    /// Creates a collection of the files that `paths` name, including all files in named folders
    /// that are not hidden. A path that cannot be read is reported as a fault during reading.
    ///
    /// # Errors
    ///
    /// None of the paths leads to a file.
    pub fn of_paths<P: AsRef<Path>>(paths: &[P], options: ReadOptions) -> Result<Self> {
        let mut walker = Walker::default();
        for path in paths {
            walker.add(path.as_ref(), InFolders::default());
        }
        let Walked { files, faults, .. } = walker.finish();
        let Some(first) = paths.first().filter(|_| files.is_empty()) else {
            let mut collection = Self::open(files, options);
            for fault in faults {
                if fault.severity == Severity::Warning {
                    collection.odd_paths.push(fault);
                    continue;
                }
                let file = collection.files.len() as u32;
                collection.files.push(Opened::new(InputFile::new(&fault.file)));
                collection.shards.push(Shard::new(file, Part::Unreadable(fault)));
            }
            return Ok(collection);
        };
        let reason = faults.first().map_or("there is none to read".to_owned(), Fault::to_string);
        Err(Error::io(first, "read any file of", io::Error::other(reason)))
    }

    /// Returns whether the input was cut after the largest number of documents that the options allow. Later records
    /// and files are not read, and copies of the input do not contain them.
    #[must_use]
    pub fn ends_at_limit(&self) -> bool {
        self.ends_at_limit
    }

    fn add(&mut self, mut opened: Opened) {
        let parts = opened.cut(&self.options);
        self.add_cut(opened, parts);
    }

    fn add_cut(&mut self, opened: Opened, parts: io::Result<Vec<Part>>) {
        let file = self.files.len() as u32;
        match parts {
            Ok(parts) => {
                self.shards.extend(parts.into_iter().map(|part| Shard::new(file, part)));
            }
            Err(error) => {
                let part = Part::Unreadable(opened.unreadable("input-open", &error));
                self.shards.push(Shard::new(file, part));
            }
        }
        self.files.push(opened);
    }

    /// Returns the settings and counts of the downloads from stores. Returns `None` if all files are on this machine.
    #[must_use]
    pub fn fetching(&self) -> Option<Fetching> {
        self.files.iter().find_map(|file| file.input.source.fetching())
    }

    /// Returns the lengths in bytes of all input objects that lie in stores.
    pub fn fetched_lengths(&self) -> impl Iterator<Item = u64> {
        let fetched = self.files.iter().filter(|file| file.input.source.fetching().is_some());
        fetched.map(Opened::bytes)
    }

    /// Returns a warning for each file that changed after it was opened.
    pub fn changed_files(&self) -> impl Iterator<Item = Fault> {
        let advice = "what was found in it may be wrong; run again when nothing writes to it";
        self.files.iter().filter_map(move |file| file.changed_since(advice))
    }

    /// Returns the name, the size in bytes and the modification time that each file had when it was opened. Leaves out
    /// standard input, files that could not be opened, and files whose modification time is not known.
    pub fn file_states(&self) -> impl Iterator<Item = (&Path, u64, SystemTime)> {
        let files = self.files.iter().filter(|file| file.input.source.is_lasting());
        files.filter_map(|file| Some((file.name(), file.bytes(), file.state.modified?)))
    }

    /// Returns the number of large text files that are read as one document each, although their content or name shows
    /// that blank lines separate documents in them.
    #[must_use]
    pub fn texts_with_blocks(&self) -> usize {
        let is_text = |opened: &&Opened| {
            let format = self.options.format.or_else(|| sniff::named(opened.name()));
            opened.has_blocks
                || format == Some(Format::TEXT)
                    && self.options.split == TextSplit::File
                    && sniff::is_name_of_blocks(opened.name())
        };
        self.files.iter().filter(is_text).count()
    }

    /// Returns whether file number `file` is not memory-mapped. Each reading then streams the file
    /// from the disk.
    #[cfg(test)]
    pub(crate) fn is_streamed(&self, file: usize) -> bool {
        self.files[file].map.is_none()
    }

    /// Returns the name of the option with which users name the fields of the text. Messages recommend this option.
    #[must_use]
    pub fn text_setting(&self) -> &'static str {
        self.options.text_setting
    }

    /// Returns the selector of the text, which names the fields or columns that hold the text.
    #[must_use]
    pub fn text_field(&self) -> &Selector {
        &self.options.text_field
    }

    /// Returns whether a record that begins at offset `byte` of the file may belong to the shard. A file may have
    /// several shards.
    pub(crate) fn may_hold(&self, shard: usize, byte: u64) -> bool {
        match &self.shards[shard].part {
            Part::Range(_, range) => range.contains(&byte),
            _ => true,
        }
    }

    /// Returns bytes that identify the content of a shard: the name, length and modification time of
    /// its file, and the part of the file. Returns `None` if the file is standard input or cannot be
    /// opened.
    #[must_use]
    pub fn shard_identity(&self, shard: usize) -> Option<Vec<u8>> {
        let Shard { file, part, most, .. } = &self.shards[shard];
        let (kind, start, end) = match part {
            Part::Whole => (0, 0, 0),
            Part::Range(_, range) => (1, range.start, range.end),
            Part::Rows(_, share) => (2, share.groups.start as u64, share.groups.end as u64),
            Part::Unreadable(_) => return None,
        };
        let mut identity = self.files[*file as usize].identity()?;
        // The limit decides how many documents of the shard are read.
        identity.extend([kind, start, end, *most].into_iter().flat_map(u64::to_le_bytes));
        Some(identity)
    }

    /// Returns the path at which a copy of the file with index `file` is written. The path is relative to the folder of
    /// all copies.
    #[must_use]
    pub fn copy_name(&self, file: usize) -> &Path {
        &self.files[file].input.copy_name
    }

    /// Returns a reader of the bytes of the file with index `file`, as they are stored. Compressed files are not
    /// decompressed.
    ///
    /// # Errors
    ///
    /// The file cannot be opened.
    pub fn file_bytes(&self, file: usize) -> io::Result<Box<dyn Read + Send>> {
        Ok(self.files[file].open()?.stream(0))
    }

    /// Returns the bytes of a record, in which the text is replaced by the edited text. `file` is the index of the file
    /// of the record. All other bytes stay as they are, except that a WARC record gets a new length and loses digests
    /// of its block.
    ///
    /// Returns `None` if the text cannot be edited in the record, for example because the text was extracted from HTML
    /// or a mail, was decoded from another encoding, or is not the document of the record.
    #[must_use]
    pub fn edited_record(
        &self,
        file: usize,
        record: &Record<'_>,
        edit: TextEdit<'_>,
    ) -> Option<Vec<u8>> {
        let Content::Document(document) = record.content else { return None };
        let Recognized { format, dialect, .. } = *self.files[file].recognized.get()?;
        let selector = &self.options.text_field;
        let text = document.text;
        let job = RecordEdit { record: record.bytes, text, edit, selector, dialect };
        format.byte_reader().ok()?.edited(&job)
    }

    /// Returns whether a copy of the file with index `file` can have `fields` in addition to its own fields. The format
    /// must have named fields, and the texts must be UTF-8. A table must not have a column with one of the new names.
    #[must_use]
    pub fn adds_fields(&self, file: usize, fields: &[AddedField]) -> bool {
        let Ok(recognized) = self.recognize(file) else { return false };
        match recognized.format.reader() {
            Reader::Table(_) => {}
            Reader::Bytes(format) if recognized.encoding.is_none() => match format.field_names() {
                FieldNames::Nowhere => return false,
                // Each record is looked at when it is copied.
                FieldNames::InEachRecord(_) => return true,
                FieldNames::InHeader(_) => {}
            },
            _ => return false,
        }
        let first = self.shards.iter().position(|shard| shard.file as usize == file);
        let names = first.map_or_else(Vec::new, |shard| self.names_of(file, shard));
        !fields.iter().any(|field| names.contains(&field.name))
    }

    /// Returns the bytes of a record with additional fields. `file` is the index of the file of the record. All other
    /// bytes stay as they are.
    ///
    /// A document gets `values`. A record that is not compared, or is bad, gets fields without values. Bytes outside of
    /// records, such as the first row of a text table, get the names of the fields.
    ///
    /// Returns `None` if the record cannot have these fields, see [`Self::adds_fields`].
    #[must_use]
    pub fn record_with_fields(
        &self,
        file: usize,
        record: &Record<'_>,
        fields: &[AddedField],
        values: &[AddedValue],
    ) -> Option<Vec<u8>> {
        let missing;
        let values = match record.content {
            Content::Document(_) => Some(values),
            // These bytes are only a part of a record, or there are none.
            Content::Bad(bad) if bad.code == Bad::PART || record.bytes.is_empty() => return None,
            Content::PassedOver | Content::Bad(_) => {
                missing = vec![AddedValue::Missing; fields.len()];
                Some(&missing[..])
            }
            Content::PassThrough => None,
            Content::NonDocument(_) => return None,
        };
        let is_bad = matches!(record.content, Content::Bad(_));
        let Recognized { format, dialect, .. } = *self.files[file].recognized.get()?;
        let job = AddedRecord { record: record.bytes, fields, values, is_bad, dialect };
        format.byte_reader().ok()?.with_fields(&job)
    }

    /// Returns whether the file with index `file` is a table in which the texts of rows can be edited. This is the case
    /// if all texts are values of one column.
    #[must_use]
    pub fn edits_rows(&self, file: usize) -> bool {
        match self.recognize(file).map(|recognized| recognized.format.reader()) {
            Ok(Reader::Table(table)) => self.files[file]
                .open()
                .is_ok_and(|source| table.edits_texts(&source, &self.options.text_field)),
            _ => false,
        }
    }

    /// Writes a copy of the Parquet or Arrow file with index `file`, in the same format. The copy has only the rows
    /// that `copy` keeps.
    ///
    /// # Errors
    ///
    /// The copy cannot be written, or the file cannot be read again or has changed.
    pub fn copy_rows(&self, file: usize, copy: &RowsCopy<'_>) -> Result<()> {
        let source = &*self.files[file].input.source;
        let reader = self.recognize(file).map(|recognized| recognized.format.reader());
        let Ok(Reader::Table(table)) = reader else {
            let reason = io::Error::other("the file changed while it was read");
            return Err(Error::io(source.name(), "copy", reason));
        };
        table.copy_rows(source, copy, &self.options.text_field)?;
        // The rows were chosen by their numbers, which are wrong in another file.
        self.files[file]
            .changed_since("a copy of this file would keep the wrong rows")
            .map_or(Ok(()), |fault| Err(ErrorKind::Changed { fault }.into()))
    }

    /// Opens `copy`, a copy of the file with index `file`. The copy is read in the format and dialect of the original,
    /// because edited texts could make them unrecognizable. All documents of the copy are selected.
    #[must_use]
    pub fn open_copy(&self, file: usize, copy: &Path) -> Self {
        let recognized = self.recognize(file).ok();
        let format = recognized.map(|recognized| recognized.format);
        let selection = Selection::default();
        let mut opened =
            Self::open(Vec::new(), ReadOptions { format, selection, ..self.options.clone() });
        let copy = Opened::new(InputFile::new(copy));
        if let Some(recognized) = recognized {
            copy.recognized.get_or_init(|| recognized);
        }
        opened.add(copy);
        opened
    }

    /// Returns the compression and the format that the extensions of the file's name stand for. The file is not read.
    /// If the user chose a format, that format is returned instead.
    #[must_use]
    pub fn named_kind(&self, file: usize) -> (Compression, Option<Format>) {
        let name = self.files[file].name();
        (sniff::promised_compression(name), self.options.format.or_else(|| sniff::named(name)))
    }
}

/// Divides each file into shards. Objects in stores are opened by several threads, because each answer takes a while.
fn cut_all(files: &mut [Opened], options: &ReadOptions) -> Vec<io::Result<Vec<Part>>> {
    let is_fetched = files.iter().any(|file| file.input.source.fetching().is_some());
    if !is_fetched {
        return files.iter_mut().map(|file| file.cut(options)).collect();
    }
    // Each thread gets adjacent files, so that the results are in order without a sort.
    let share = files.len().div_ceil(OPENING_THREADS).max(1);
    thread::scope(|scope| {
        let threads: Vec<_> = files
            .chunks_mut(share)
            .map(|files| {
                scope.spawn(|| files.iter_mut().map(|file| file.cut(options)).collect::<Vec<_>>())
            })
            .collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        results.flatten().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_shard_keeps_its_identity_until_its_file_changes() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
        for path in &paths {
            fs::write(path, "{\"text\":\"a\"}\n").unwrap();
        }
        let identities = || {
            let collection = Collection::of_paths(&paths, ReadOptions::default()).unwrap();
            [0, 1].map(|shard| collection.shard_identity(shard).unwrap())
        };
        let before = identities();
        assert_ne!(before[0], before[1]);
        assert_eq!(identities(), before);
        fs::write(&paths[1], "{\"text\":\"a b\"}\n").unwrap();
        let after = identities();
        assert_eq!(after[0], before[0]);
        assert_ne!(after[1], before[1]);
    }
}
