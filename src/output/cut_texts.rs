//! Cuts repeated passages out of the copies of the input files, and lists the documents that were cut.

use super::document_status::DocumentStatus;
use super::kept::ListedCopies;
use super::kept_copies::CopyRules;
use super::named::RECORD_MEANING;
use super::removed_texts::write_removed_texts;
use super::results::write_file;
use super::stored_copies::StoredCopies;
use super::uncut::write_uncut;
use crate::pipeline::FoundPassages;
use crate::pipeline::document_names::document_name;
use crate::write::columns::{
    Column, IdType, OutputDescription, RowFormat, RowTable, RowsFile, Value, describe_columns,
};
use crate::write::output_folder::OutputFolder;
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::document::DocOrdinal;
use simtool_model::document_name::DocumentName;
use simtool_passages::{Cut, CutRange};
use simtool_read::Collection;
use std::ops::Range;

/// Description of the list of the documents that were cut.
pub(super) const OUTPUT: OutputDescription = OutputDescription {
    name: "cuts",
    files: &["cuts.jsonl", "cuts.tsv", "cuts.parquet"],
    command: "passages",
    description: "Each document with passages to cut, in reading order. Written with --write-kept.",
    columns: || describe_columns(CutRows::COLUMNS),
};

/// Rules for cutting passages out of copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutRules {
    /// Choice of the copies of a passage that are cut.
    pub cut: Cut,
    /// Text that replaces each cut. `None` puts a line feed between the texts before and after a cut.
    pub mask: Option<String>,
    /// Minimum number of words that a cut document must have left. A document with fewer words is removed, unless
    /// it has words of a passage that are kept, such as its first copy.
    pub min_left: u64,
    /// Whether the texts that the copies lack are listed.
    pub writes_removed: bool,
}

/// Numbers of documents and words that were cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutCounts {
    /// Number of documents from which words were cut.
    pub cut: u64,
    /// Number of documents that were removed because too few words were left.
    pub removed: u64,
    /// Number of documents that were copied whole because their records cannot be edited.
    pub uncut: u64,
    /// Number of words that were cut, including all words of the removed documents.
    pub words: u64,
}

/// Columns of the output `cuts`, for example `id` and `cut_words`.
#[derive(Debug)]
struct CutRows;

struct CutRow<'r> {
    name: &'r DocumentName<'r>,
    words: u32,
    cut_words: u64,
    status: &'static str,
}

impl RowTable for CutRows {
    type Row<'r> = CutRow<'r>;

    const COLUMNS: &'static [Column<Self>] = &[
        Column::new("id", "ID of the document.", Value::Id(|row| row.name.id())),
        Column::new("file", "File of the document.", Value::Text(|row| row.name.file_bytes())),
        Column::new("record", RECORD_MEANING, Value::Number(|row| row.name.record)),
        Column::new("words", "Number of its words.", Value::Number(|row| row.words.into())),
        Column::new(
            "cut_words",
            "Number of its words in passages to cut.",
            Value::Number(|row| row.cut_words),
        ),
        Column::new(
            "status",
            "`cut` if the copy lacks these words, `removed` if the copy lacks the document because too few words \
             were left, or `whole` if the copy has all words because the record cannot be edited.",
            Value::Text(|row| row.status.as_bytes()),
        ),
    ];
}

/// Repeated passages that a search found in a collection, and the rules for cutting them out of copies of its files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cutting<'c> {
    pub(crate) files: &'c Collection,
    pub(crate) found: &'c FoundPassages,
    pub(crate) rules: &'c CutRules,
    /// Whether the copies are read again and checked.
    pub(crate) is_checked: bool,
    /// Store of finished copies, which a later run uses if this run is stopped. `None` if the run stores no copies.
    pub(crate) stored: Option<&'c StoredCopies>,
}

impl Cutting<'_> {
    /// Returns the number of words to cut from a document, and the status that it gets (kept, cut or removed) if its
    /// record can be edited.
    fn of(&self, document: DocOrdinal) -> (u64, DocumentStatus) {
        let CutRules { cut, min_left, .. } = *self.rules;
        let FoundPassages { passages, word_counts, .. } = self.found;
        // Most documents have nothing to cut.
        let cuts = passages.cuts(cut, document.0);
        let cut_words = cuts.iter().map(|cut| cut.words.len() as u64).sum();
        if cut_words == 0 {
            return (0, DocumentStatus::Kept);
        }
        let repeated = passages.of_document(document.0).iter();
        let repeated_words: u64 = repeated.map(|passage| passage.words.len() as u64).sum();
        // The words of passages that stay are in no other copy, so they must not vanish with their document.
        let has_first_copy = cut == Cut::First && cut_words < repeated_words;
        let left = u64::from(word_counts[document.index()]).saturating_sub(cut_words);
        if left < min_left && !has_first_copy {
            return (cut_words, DocumentStatus::Removed);
        }
        (cut_words, DocumentStatus::Cut(cuts.iter().filter_map(bytes).collect()))
    }

    /// Writes copies of the files without the passages, and the lists of the copies and of the cut documents.
    ///
    /// # Errors
    ///
    /// A copy or a list cannot be written, or a file has changed since its first reading.
    pub(crate) fn write(
        &self,
        folder: &OutputFolder,
        format: RowFormat,
        context: &Context<'_>,
    ) -> Result<CutCounts> {
        let Self { files, found, rules, is_checked, stored } = *self;
        let ids = &found.summary.ids;
        let CutRules { writes_removed, .. } = *rules;
        let status = |document: DocOrdinal| self.of(document).1;
        let mask = rules.mask.as_deref();
        let rules = CopyRules::new(&status, mask).with_stored(stored).with_check(is_checked);
        let copies = ListedCopies { files, ids, rules, recipe: "" };
        let uncut = copies.write(folder, format, context)?.unedited;
        write_uncut(folder, format, files, ids, &uncut)?;
        if writes_removed {
            let removed = |document| match self.of(document).1 {
                DocumentStatus::Removed => None,
                DocumentStatus::Cut(cuts) if uncut.binary_search(&document).is_err() => Some(cuts),
                DocumentStatus::Kept | DocumentStatus::Cut(_) => Some(Vec::new()),
            };
            write_removed_texts(folder, format, files, ids, &removed)?;
        }
        let id_type = IdType::of(ids.are_integers());
        let mut counts = CutCounts::default();
        write_file(folder, &format!("{}.{}", OUTPUT.name, format.extension()), |out| {
            let mut rows = RowsFile::new(out, format, CutRows::COLUMNS, id_type, "")?;
            // The status of a document depends only on its passages, so it is computed again instead of being kept.
            for document in (0..ids.len() as u32).map(DocOrdinal) {
                let (cut_words, status) = self.of(document);
                let is_uncut = uncut.binary_search(&document).is_ok();
                let (status, count) = match status {
                    DocumentStatus::Kept => continue,
                    DocumentStatus::Removed => ("removed", &mut counts.removed),
                    DocumentStatus::Cut(_) if is_uncut => ("whole", &mut counts.uncut),
                    DocumentStatus::Cut(_) => ("cut", &mut counts.cut),
                };
                *count += 1;
                // A document that is copied whole has lost no words.
                counts.words += if is_uncut { 0 } else { cut_words };
                let words = found.word_counts[document.index()];
                let name = &document_name(files, ids, document.0);
                rows.write(&CutRow { name, words, cut_words, status })?;
            }
            rows.finish().map(drop)
        })?;
        Ok(counts)
    }
}

/// Returns the range of bytes of a cut, or `None` if an offset is too large for a text in memory.
fn bytes(cut: &CutRange) -> Option<Range<usize>> {
    let [start, end] = [cut.bytes.start, cut.bytes.end].map(usize::try_from);
    Some(start.ok()?..end.ok()?)
}
