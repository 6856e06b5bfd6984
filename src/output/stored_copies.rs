//! Copies of input files that a run stores next to its output until it ends. If it is stopped, the next run takes them
//! and does not write them again.
//!
//! A stored copy has a key that is made from its input file, from the settings, and from the status of each of its
//! documents. So a copy is never used for a run with other results.

use super::caught_texts::CaughtTexts;
use super::document_status::DocumentStatus;
use crate::pipeline::stored_bytes::{BytesReader, BytesWriter};
use crate::write::copy_store::CopyStore;
use simtool_base::error::Result;
use simtool_base::stable_hash::wide_hash;
use simtool_model::document::{DocOrdinal, DocumentIds};
use simtool_read::{Collection, Corpus};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Minimum number of bytes of a file whose copy is stored. It takes longer to sync the copy of a smaller file to the
/// disk than to write it again.
const LEAST_BYTES: u64 = 1 << 20;

/// Store in which a run keeps finished copies of input files until it ends. If the run is stopped, the next run uses
/// them.
#[derive(Debug)]
pub(crate) struct StoredCopies {
    store: CopyStore,
    /// For each file, a key that is made from the file and the settings. `None` if the file cannot be recognized in a
    /// later run.
    file_keys: Vec<Option<u128>>,
    /// Minimum number of bytes of a file whose copy is stored.
    least_bytes: u64,
}

/// Stored copies that a run can use, because they were written with the same status of each document.
pub(super) struct FittingCopies<'c> {
    stored: &'c StoredCopies,
    /// For each file, the key of its copy, which depends on the statuses of its documents, and the range of its
    /// documents. `None` if the store takes no copy of the file, for example because it is small.
    files: Vec<Option<(u128, Range<u32>)>>,
    /// For each file, its documents whose records an earlier run could not edit in the stored copy. `None` if there is
    /// no stored copy.
    stored_unedited: Vec<Option<Vec<DocOrdinal>>>,
    /// Collector of texts while the files are copied. The collected texts of a file are stored with its copy, because a
    /// file whose copy is taken from the store is not read.
    texts: Option<&'c CaughtTexts>,
}

impl StoredCopies {
    /// Opens the store in `folder`. `file_keys` has, for each file of the collection, a key that is made from the file
    /// and the settings. `None` if the file cannot be recognized in a later run.
    ///
    /// # Errors
    ///
    /// The folder cannot be created.
    pub(crate) fn open(folder: &Path, file_keys: Vec<Option<u128>>) -> Result<Self> {
        Ok(Self { store: CopyStore::open(folder)?, file_keys, least_bytes: LEAST_BYTES })
    }

    /// Removes the store. It is called when the run has its results.
    pub(crate) fn remove(self) {
        self.store.remove();
    }

    /// Finds the stored copies that fit the statuses of all documents, which `status` returns. `texts` receives the
    /// texts that are stored with the copies.
    pub(super) fn fitting<'c>(
        &'c self,
        collection: &Collection,
        ids: &DocumentIds,
        status: &dyn Fn(DocOrdinal) -> DocumentStatus,
        texts: Option<&'c CaughtTexts>,
    ) -> FittingCopies<'c> {
        // Bytes and documents of each file, which are the sums over its shards.
        let mut bytes = vec![0; collection.file_count()];
        let mut documents: Vec<Option<Range<u32>>> = vec![None; collection.file_count()];
        for shard in 0..collection.shard_count() {
            let file = collection.shard_file(shard);
            bytes[file] += collection.shard_bytes(shard);
            let of_shard = ids.first_of_shard(shard).0..ids.end_of_shard(shard).0;
            // The shards of a file follow each other.
            let start = documents[file].as_ref().map_or(of_shard.start, |range| range.start);
            documents[file] = Some(start..of_shard.end);
        }
        let key = |(file, documents): (usize, Option<Range<u32>>)| {
            let file_key = self.file_keys.get(file).copied().flatten()?;
            let documents = documents.filter(|_| bytes[file] >= self.least_bytes)?;
            Some((key_with_statuses(file_key, documents.clone(), status), documents))
        };
        let files: Vec<_> = documents.into_iter().enumerate().map(key).collect();
        let mut fitting = FittingCopies { stored: self, files, stored_unedited: Vec::new(), texts };
        // Taking a copy hands its texts on, so it is done once for each file.
        fitting.stored_unedited = (0..fitting.files.len()).map(|file| fitting.take(file)).collect();
        fitting
    }
}

impl FittingCopies<'_> {
    /// Returns whether an earlier run stored the copy of a file, so that it need not be written.
    pub(super) fn has(&self, file: usize) -> bool {
        self.stored_unedited[file].is_some()
    }

    /// Returns the documents whose records earlier runs could not edit in the stored copies.
    pub(super) fn unedited(&self) -> BTreeSet<DocOrdinal> {
        self.stored_unedited.iter().flatten().flatten().copied().collect()
    }

    /// Returns the range of the documents of a file. The range is empty if the store takes no copy of the file.
    pub(super) fn documents(&self, file: usize) -> Range<u32> {
        self.files[file].as_ref().map_or(0..0, |(_, documents)| documents.clone())
    }

    /// Returns the path at which the copy of a file is written before it is stored. `None` if the store takes no copy
    /// of the file.
    pub(super) fn unfinished(&self, file: usize) -> Option<PathBuf> {
        self.files[file].as_ref().map(|(key, _)| self.stored.store.unfinished(*key))
    }

    /// Stores the complete copy of a file. `unedited` are the documents whose records could not be edited in the copy.
    /// Does nothing if the store takes no copy of the file.
    ///
    /// # Errors
    ///
    /// The copy cannot be synced to the disk.
    pub(super) fn finish(&self, file: usize, unedited: &[DocOrdinal]) -> Result<()> {
        let Some((key, documents)) = &self.files[file] else { return Ok(()) };
        let mut note = BytesWriter::default();
        let texts = self.texts.map(|texts| texts.seen(documents.clone())).unwrap_or_default();
        note.number(texts.len() as u64);
        for (document, text) in texts {
            note.number((document - documents.start).into());
            note.bytes(&text);
        }
        note.numbers(unedited.iter().map(|document| (document.0 - documents.start).into()));
        self.stored.store.finish(*key, &note.into_bytes())
    }

    /// Puts the stored copy of a file at the path `to`. Does nothing if the store takes no copy of the file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub(super) fn place(&self, file: usize, to: &Path) -> Result<()> {
        match &self.files[file] {
            Some((key, _)) => self.stored.store.place(*key, to),
            None => Ok(()),
        }
    }

    /// Looks for the stored copy of the file with the index `file`. Passes the texts that are stored with the copy to
    /// the collector `self.texts`, if there is one. Returns the documents whose records could not be edited in the
    /// copy. Returns `None` if there is no copy, or if a text that the collector needs is not stored with it.
    fn take(&self, file: usize) -> Option<Vec<DocOrdinal>> {
        let (key, documents) = self.files[file].as_ref()?;
        let note = self.stored.store.note(*key)?;
        let mut note = BytesReader::new(&note);
        let texts = note.list(|note| Some((note.short_number()?, note.bytes()?)))?;
        let document = |number: u32| DocOrdinal(documents.start + number);
        let unedited = note.list(|note| note.short_number().map(document))?;
        let Some(wanted) = self.texts else { return Some(unedited) };
        for (number, text) in texts {
            wanted.see(document(number), text);
        }
        wanted.has_all(documents.clone()).then_some(unedited)
    }
}

/// Returns the key of the copy of a file. The key depends on the status of each document of the file.
fn key_with_statuses(
    file_key: u128,
    documents: Range<u32>,
    status: &dyn Fn(DocOrdinal) -> DocumentStatus,
) -> u128 {
    // All settings, such as a mask for cuts, are part of the key of the file.
    let mut bytes = BytesWriter::default();
    bytes.bytes(&file_key.to_le_bytes());
    documents.for_each(|document| status(DocOrdinal(document)).store(&mut bytes));
    wide_hash(&bytes.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::kept_copies::{CopyRules, write_kept_copies};
    use crate::pipeline::CollectionSummary;
    use simtool_base::memory_ledger::Ledger;
    use simtool_base::progress::NoProgress;
    use simtool_compute::context::Context;
    use simtool_read::ReadOptions;
    use simtool_read::walk::{InFolders, Walker};
    use std::fs;

    /// Number of documents of each file.
    const DOCUMENTS: u32 = 300;

    fn collection(folder: &Path) -> Collection {
        let mut walker = Walker::default();
        walker.add(folder, InFolders::default());
        let options = ReadOptions { shard_bytes: 2000, ..ReadOptions::default() };
        Collection::open(walker.finish().files, options)
    }

    /// Returns whether a document is kept. Every third document and all documents from `from` on are removed.
    fn is_kept(document: DocOrdinal, from: u32) -> bool {
        !document.0.is_multiple_of(3) && document.0 < from
    }

    #[test]
    fn stored_copies_are_taken_if_their_documents_have_the_same_statuses() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::create_dir(&input).unwrap();
        for name in ["a.jsonl", "b.jsonl", "c.jsonl"] {
            let line = |n: u32| format!("{{\"text\": \"text {n} of {name}\"}}\n");
            fs::write(input.join(name), (0..DOCUMENTS).map(line).collect::<String>()).unwrap();
        }
        let files = collection(&input);
        let ids = CollectionSummary::read(&files, Context::default().threads()).unwrap().ids;
        let copied = |name: &str, from: u32, wanted: &[u32], stored: Option<&StoredCopies>| {
            let texts = CaughtTexts::new(wanted.to_vec(), &Ledger::new(1 << 30));
            let status = |document| DocumentStatus::kept_if(is_kept(document, from));
            let rules = CopyRules {
                texts: Some(&texts),
                stored,
                is_checked: false,
                ..CopyRules::new(&status, None)
            };
            let to = folder.path().join(name);
            let copies = write_kept_copies(&files, &ids, &rules, &to, &NoProgress).unwrap();
            assert_eq!(copies.files.len(), 3);
            let read = |name| fs::read_to_string(to.join("in").join(name)).unwrap();
            let mut texts: Vec<_> = texts.into_texts().into_iter().collect();
            texts.sort_unstable();
            (["a.jsonl", "b.jsonl", "c.jsonl"].map(read), texts)
        };
        let expected = copied("plain", u32::MAX, &[5, 700], None);
        assert!(expected.0[0].len() > 1000 && expected.1.len() == 2);
        let store = folder.path().join("copies");
        let open = |least_bytes| {
            // The third file cannot be recognized in a later run.
            let stored = StoredCopies::open(&store, vec![Some(1), Some(2), None]).unwrap();
            StoredCopies { least_bytes, ..stored }
        };
        let all = |wanted: &[u32], name: &str| copied(name, u32::MAX, wanted, Some(&open(0)));
        assert_eq!(all(&[5, 700], "first"), expected);
        // A copy in the store is changed, which shows where it is taken.
        let mut changed = 0;
        for entry in fs::read_dir(&store).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "copy") {
                let text = fs::read_to_string(&path).unwrap().replace("text", "TEXT");
                fs::remove_file(&path).unwrap();
                fs::write(&path, text).unwrap();
                changed += 1;
            }
        }
        assert_eq!(changed, 2);
        let is_taken = |copies: &[String; 3]| copies.each_ref().map(|text| text.contains("TEXT"));
        let again = all(&[5, 700], "again");
        assert_eq!((is_taken(&again.0), again.1), ([true, true, false], expected.1.clone()));
        // A text is wanted that is not stored with the copy of its file.
        let other = all(&[5, 400], "other");
        assert_eq!((is_taken(&other.0), other.1.len()), ([true, false, false], 2));
        // Documents of the second file have other statuses.
        let statuses = copied("statuses", 450, &[5, 700], Some(&open(0)));
        assert_eq!(is_taken(&statuses.0), [true, false, false]);
        // Small files are written again.
        let small = copied("small", u32::MAX, &[5, 700], Some(&open(1 << 20)));
        assert_eq!(small, expected);
        open(0).remove();
        assert!(!store.exists());
    }

    #[test]
    fn a_stored_copy_has_its_cuts_and_names_its_unedited_documents() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("in");
        fs::create_dir(&input).unwrap();
        let line = |n: u32| format!("{{\"text\": \"text {n}\"}}\n");
        fs::write(input.join("a.jsonl"), (0..9).map(line).collect::<String>()).unwrap();
        // A text that is extracted from a page is not edited.
        fs::write(input.join("b.html"), "<html><body><p>text of a page</p></body></html>").unwrap();
        let files = collection(&input);
        let ids = CollectionSummary::read(&files, Context::default().threads()).unwrap().ids;
        assert_eq!(ids.len(), 10);
        let store = folder.path().join("copies");
        let copied = |name: &str, end: usize| {
            let stored = StoredCopies::open(&store, vec![Some(1), Some(2)]).unwrap();
            let stored = StoredCopies { least_bytes: 0, ..stored };
            let status = |document: DocOrdinal| match document.0 % 3 {
                0 => DocumentStatus::Cut(std::iter::once(0..end).collect()),
                1 => DocumentStatus::Kept,
                _ => DocumentStatus::Removed,
            };
            let rules = CopyRules::new(&status, Some("_")).with_stored(Some(&stored));
            let to = folder.path().join(name);
            let copies = write_kept_copies(&files, &ids, &rules, &to, &NoProgress).unwrap();
            let unedited: Vec<u32> = copies.unedited.iter().map(|document| document.0).collect();
            assert_eq!(unedited, [9]);
            fs::read_to_string(to.join("in/a.jsonl")).unwrap()
        };
        let first = copied("first", 4);
        assert!(first.starts_with("{\"text\": \"_ 0\"}\n{\"text\": \"text 1\"}\n{"), "{first}");
        let stored = || fs::read_dir(&store).unwrap().count();
        let count = stored();
        assert_eq!(copied("again", 4), first);
        assert_eq!(stored(), count);
        // Other cuts need other copies.
        assert_ne!(copied("other", 5), first);
        assert_eq!(stored(), 2 * count);
    }
}
