//! Copies of files without the evaluation items that their documents contain.

use super::document_status::DocumentStatus;
use super::kept::{ListedCopies, write_copies_of};
use super::kept_copies::CopyRules;
use super::stored_copies::StoredCopies;
use super::uncut::write_uncut;
use crate::pipeline::FoundContamination;
use crate::write::columns::RowFormat;
use crate::write::output_folder::OutputFolder;
use simtool_base::error::Result;
use simtool_base::options::Choice;
use simtool_compute::context::Context;
use simtool_model::document::DocOrdinal;
use simtool_read::Collection;
use std::collections::BTreeMap;
use std::ops::Range;

/// Way in which copies of the files are freed from evaluation items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemRemoval {
    /// Leaves out documents that contain an evaluation item.
    Drop,
    /// Cuts the words of evaluation items out of the texts.
    Cut,
    /// Replaces the words of evaluation items by another text.
    Mask,
}

impl Choice for ItemRemoval {
    const ALL: &'static [Self] = &[Self::Drop, Self::Cut, Self::Mask];

    fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Cut => "cut",
            Self::Mask => "mask",
        }
    }

    fn help(self) -> &'static str {
        match self {
            Self::Drop => "Leave out documents that contain an item",
            Self::Cut => "Cut the words of items out of their documents",
            Self::Mask => "Put the text of `mask` in place of the words of items",
        }
    }
}

/// Counts of the documents that contain evaluation items, one count for each way in which the copies treat them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreedDocuments {
    /// Number of documents that were left out.
    pub dropped: u64,
    /// Number of documents from which words were cut.
    pub cut: u64,
    /// Number of documents that were copied whole, with their items, because their records cannot be edited.
    pub uncut: u64,
}

/// Input files whose copies are written without the items of an evaluation set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithoutItems<'c> {
    pub(crate) files: &'c Collection,
    pub(crate) found: &'c FoundContamination,
    pub(crate) removal: ItemRemoval,
    /// Text that replaces the words of items with [`ItemRemoval::Mask`].
    pub(crate) mask: &'c str,
    /// Whether the documents that contain evaluation items are also written to separate files.
    pub(crate) writes_removed: bool,
    /// Store of finished copies, which a later run uses if this run is stopped. `None` if the run stores no copies.
    pub(crate) stored: Option<&'c StoredCopies>,
}

impl WithoutItems<'_> {
    /// Writes copies of the files without the items, and the list of the copies in this format.
    ///
    /// # Errors
    ///
    /// A copy or the list cannot be written, or a file has changed since its first reading.
    pub(crate) fn write(
        &self,
        folder: &OutputFolder,
        format: RowFormat,
        context: &Context<'_>,
    ) -> Result<FreedDocuments> {
        let Self { files, found, removal, mask, writes_removed, stored } = *self;
        // Few documents contain items, so the spans of all of them fit in memory.
        let spans = self.spans();
        let status = |document: DocOrdinal| match spans.get(&document.0) {
            None => DocumentStatus::Kept,
            Some(_) if removal == ItemRemoval::Drop => DocumentStatus::Removed,
            Some(spans) => DocumentStatus::Cut(spans.clone()),
        };
        let mask = (removal == ItemRemoval::Mask).then_some(mask);
        let rules = CopyRules::new(&status, mask).with_stored(stored);
        let copies = ListedCopies { files, ids: &found.documents.ids, rules, recipe: "" };
        let uncut = copies.write(folder, format, context)?.unedited;
        write_uncut(folder, format, files, &found.documents.ids, &uncut)?;
        if writes_removed {
            let contains_item = |document: DocOrdinal| spans.contains_key(&document.0);
            write_copies_of(files, &found.documents.ids, &contains_item, folder, context)?;
        }
        let uncut = uncut.len() as u64;
        let documents = spans.len() as u64;
        Ok(match removal {
            ItemRemoval::Drop => FreedDocuments { dropped: documents, ..FreedDocuments::default() },
            _ => FreedDocuments { cut: documents - uncut, uncut, dropped: 0 },
        })
    }

    /// Returns for each document that contains items the byte ranges of their words in its text. The ranges ascend and
    /// do not overlap.
    fn spans(&self) -> BTreeMap<u32, Vec<Range<usize>>> {
        let mut spans: BTreeMap<u32, Vec<Range<usize>>> = BTreeMap::new();
        for item in &self.found.found {
            // The text of a document is in memory, so its offsets fit.
            let bytes = item.bytes.iter().map(|span| span.start as usize..span.end as usize);
            spans.entry(item.document).or_default().extend(bytes);
        }
        for spans in spans.values_mut() {
            spans.sort_unstable_by_key(|span| (span.start, span.end));
            // Several items may have words in common.
            spans.dedup_by(|next, last| {
                let is_joined = next.start <= last.end;
                if is_joined {
                    last.end = last.end.max(next.end);
                }
                is_joined
            });
        }
        spans
    }
}
