//! Reads the copies of files again from which parts of texts were cut, and checks them.
//!
//! A copy with the wrong texts would pass for a right one, because the run reports what it meant to cut. So the texts
//! of a copy are compared with the texts that it should have.

use super::document_status::DocumentStatus;
use super::kept_copies::{CopyRules, CopyStatus, KeptCopies};
use rayon::prelude::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_base::stable_hash::StreamedHash;
use simtool_model::document::{Content, DocOrdinal, Document, DocumentIds};
use simtool_model::document_id::DocumentId;
use simtool_read::{Collection, Corpus, Event, TextEdit};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Check of the copies of input files from which parts of texts were cut.
#[derive(Clone, Copy)]
pub(super) struct CopyCheck<'c> {
    pub(super) files: &'c Collection,
    pub(super) ids: &'c DocumentIds,
    /// Rules by which the copies were written.
    pub(super) rules: &'c CopyRules<'c>,
    pub(super) copies: &'c KeptCopies,
    /// Folder of the copies.
    pub(super) folder: &'c Path,
}

/// Documents that a copy should have.
#[derive(Default)]
struct ExpectedDocuments {
    /// Hash of each document with words, in order.
    hashes: Vec<u64>,
    /// Number of records that the selection of the user excludes. The copy has them, too, and they count as documents
    /// there, because the copy is read without the selection.
    passed_over: usize,
}

impl CopyCheck<'_> {
    /// Checks the copy of each file that has a document with cuts.
    ///
    /// # Errors
    ///
    /// A copy lacks a document, or a document in it has another text, ID or field than it should have. A file or a
    /// copy cannot be read.
    pub(super) fn check_all(&self, progress: &dyn Progress) -> Result<()> {
        let edited = self.edited_files();
        progress.begin("checking copies", Work::Steps(edited.len() as u64));
        edited.into_par_iter().with_max_len(1).try_for_each(|(file, path)| {
            self.check(file, &path)?;
            progress.advance(1);
            Ok(())
        })
    }

    /// Returns the number of each file with a document from which parts were cut, and the path of its copy.
    fn edited_files(&self) -> Vec<(usize, PathBuf)> {
        let mut edited = Vec::new();
        for shard in 0..self.files.shard_count() {
            let file = self.files.shard_file(shard);
            let CopyStatus::Written(name) = &self.copies.files[file] else { continue };
            let documents = self.ids.first_of_shard(shard).0..self.ids.end_of_shard(shard).0;
            let is_cut =
                |document| matches!(self.status(DocOrdinal(document)), DocumentStatus::Cut(_));
            // The shards of a file follow each other.
            let is_listed = edited.last().is_some_and(|(last, _)| *last == file);
            if !is_listed && documents.into_iter().any(is_cut) {
                edited.push((file, self.folder.join(name)));
            }
        }
        edited
    }

    /// Returns the status of a document in the copy that was written. A document whose record could not be edited
    /// counts as kept.
    fn status(&self, document: DocOrdinal) -> DocumentStatus {
        match (self.rules.status)(document) {
            DocumentStatus::Cut(_) if self.copies.unedited.binary_search(&document).is_ok() => {
                DocumentStatus::Kept
            }
            status => status,
        }
    }

    /// Checks the copy of one file.
    fn check(&self, file: usize, path: &Path) -> Result<()> {
        let mut expected = self.expected(file)?;
        let copy = self.files.open_copy(file, path);
        let mut next = 0;
        let mut wrong = None;
        for shard in 0..copy.shard_count() {
            copy.read_shard(shard, &mut |event| {
                let Some(hash) = document(&event).and_then(|read| hash(&read, read.text)) else {
                    return Ok(ControlFlow::Continue(()));
                };
                if expected.hashes.get(next) == Some(&hash) {
                    next += 1;
                // Selected and excluded documents come in any order.
                } else if expected.passed_over > 0 {
                    expected.passed_over -= 1;
                } else {
                    wrong = Some(next);
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        // Documents at the end of the copy can be missing, too.
        match wrong.or_else(|| (next < expected.hashes.len()).then_some(next)) {
            None => Ok(()),
            Some(number) => Err(self.wrong(file, number)),
        }
    }

    /// Returns the documents that the copy of a file should have.
    fn expected(&self, file: usize) -> Result<ExpectedDocuments> {
        let mut expected = ExpectedDocuments::default();
        let shards = (0..self.files.shard_count()).filter(|&s| self.files.shard_file(s) == file);
        for shard in shards {
            let mut ordinals = (self.ids.first_of_shard(shard).0..).map(DocOrdinal);
            self.files.read_shard(shard, &mut |event| {
                if let Event::Record(record) = &event
                    && matches!(record.content, Content::PassedOver)
                {
                    expected.passed_over += 1;
                }
                let Some(read) = document(&event) else { return Ok(ControlFlow::Continue(())) };
                let ordinal = ordinals.next().filter(|ordinal| ordinal.index() < self.ids.len());
                let hash = match ordinal.map(|ordinal| self.status(ordinal)) {
                    None | Some(DocumentStatus::Removed) => None,
                    Some(DocumentStatus::Kept) => hash(&read, read.text),
                    Some(DocumentStatus::Cut(cuts)) => {
                        let edit = TextEdit { cuts: &cuts, mask: self.rules.mask };
                        edit.apply(read.text).and_then(|text| hash(&read, &text))
                    }
                };
                expected.hashes.extend(hash);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(expected)
    }

    /// Returns the error for a copy whose document at the position `number` is not as expected.
    fn wrong(&self, file: usize, number: usize) -> Error {
        let reason = format!(
            "document {number} of the copy, from 0, is not what it should be, so nothing was written. This is a fault of \
             simtool: please report it, with the format of the file"
        );
        Error::io(self.files.file_name(file), "check the copy of", io::Error::other(reason))
    }
}

/// Returns the document that a reader passes on in `event`, or `None` if the event has no document.
fn document<'e>(event: &Event<'e>) -> Option<Document<'e>> {
    match event {
        Event::Record(record) => match record.content {
            Content::Document(document) => Some(document),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the hash of the ID and the fields of `document`, and of `text` without its white space. `text` takes the
/// place of the document's own text. Returns `None` if `text` has only white space, because such a text is no document
/// in some formats.
fn hash(document: &Document<'_>, text: &[u8]) -> Option<u64> {
    let mut hasher = StreamedHash::default();
    let id = document.id.map_or(&[][..], DocumentId::bytes);
    for value in std::iter::once(id).chain(document.fields.into_iter().flatten()) {
        hasher.update(&(value.len() as u64).to_le_bytes());
        hasher.update(value);
    }
    // A reader may trim a text, and formats join the texts before and after a cut in different ways.
    let mut is_blank = true;
    for word in text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
        hasher.update(word);
        is_blank = false;
    }
    (!is_blank).then(|| hasher.digest())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::kept_copies::write_kept_copies;
    use crate::pipeline::CollectionSummary;
    use simtool_base::progress::NoProgress;
    use simtool_compute::context::Context;
    use simtool_read::ReadOptions;
    use std::fs;

    #[test]
    fn a_copy_with_another_text_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let line = |n: u32| format!("{{\"id\": {n}, \"text\": \"text {n}\"}}\n");
        fs::write(&path, (0..9).map(line).collect::<String>()).unwrap();
        let files = Collection::of_paths(&[&path], ReadOptions::default()).unwrap();
        let ids = CollectionSummary::read(&files, Context::default().threads()).unwrap().ids;
        let status = |document: DocOrdinal| match document.0 % 3 {
            0 => DocumentStatus::Cut(std::iter::once(0..4).collect()),
            1 => DocumentStatus::Kept,
            _ => DocumentStatus::Removed,
        };
        let rules = CopyRules::new(&status, Some("_"));
        let to = folder.path().join("copies");
        let copies = write_kept_copies(&files, &ids, &rules, &to, &NoProgress).unwrap();
        let check = || {
            let check =
                CopyCheck { files: &files, ids: &ids, rules: &rules, copies: &copies, folder: &to };
            check.check_all(&NoProgress)
        };
        check().unwrap();
        let copy = to.join("a.jsonl");
        let right = fs::read_to_string(&copy).unwrap();
        for (old, new) in [
            ("\"_ 3\"", "\"text 3\""),
            ("\"id\": 4", "\"id\": 44"),
            ("{\"id\": 7, \"text\": \"text 7\"}\n", ""),
            ("{\"id\": 7", "{\"text\": \"more\"}\n{\"id\": 7"),
        ] {
            assert!(right.contains(old), "{right}");
            fs::write(&copy, right.replace(old, new)).unwrap();
            let error = check().unwrap_err().to_string();
            assert!(error.contains("a.jsonl") && error.contains("check the copy of"), "{error}");
        }
    }
}
