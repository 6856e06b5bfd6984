//! The results of a run with the collections that were read: the data of every output.

use crate::cluster::Removal;
use crate::pipeline::{CollectionSummary, NearDuplicates, Plan};
use crate::write::summary::Level;
use simtool_model::document::{DocOrdinal, DocumentIds, Place};
use simtool_model::document_name::DocumentName;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_set_join::close::Close;
use std::borrow::Cow;

/// A collection and the summary of its reading.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The collection.
    pub collection: &'s dyn Corpus,
    /// Summary of its reading.
    pub read: &'s CollectionSummary,
}

impl<'s> Side<'s> {
    /// Returns the name of a document.
    pub(crate) fn name(&self, row: u32) -> DocumentName<'s> {
        document_name(self.collection, &self.read.ids, row)
    }
}

/// Returns the name by which a user knows a document. A document without an ID is called by its file and
/// the number of its record, for example `a.jsonl:3`.
pub(crate) fn document_name<'d>(
    collection: &'d dyn Corpus,
    ids: &'d DocumentIds,
    row: u32,
) -> DocumentName<'d> {
    let document = DocOrdinal(row);
    document_name_at(collection, ids.id(document), ids.place(document))
}

/// Returns the name of a document at a place, with its ID if it has one.
pub(crate) fn document_name_at<'d>(
    collection: &'d dyn Corpus,
    id: Option<&'d [u8]>,
    Place { file, record }: Place,
) -> DocumentName<'d> {
    let file = collection.file_name(file as usize);
    let id = id.map_or_else(
        || {
            let mut id = file.as_os_str().as_encoded_bytes().to_vec();
            id.extend_from_slice(format!(":{record}").as_bytes());
            Cow::Owned(id)
        },
        Cow::Borrowed,
    );
    DocumentName { id, file, record }
}

/// The results of a run with the collections that were read.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'f> {
    /// One collection, or the queries and the corpus.
    pub sides: Sides<Side<'f>>,
    /// The documents to remove, in reading order.
    pub removals: &'f [Removal],
    /// Numbers of documents that stricter limits would remove, and of those that this run removes.
    pub levels: &'f [Level],
    /// All close pairs.
    pub close: &'f Close,
    /// Summaries of the reading.
    pub read: &'f Sides<CollectionSummary>,
    /// The plan of the run.
    pub plan: &'f Plan,
}

impl<'f> Findings<'f> {
    /// Combines the results of `plan` with its `collections`.
    ///
    /// # Panics
    ///
    /// Panics if the number of collections differs from the run.
    #[must_use]
    pub fn new(
        found: &'f NearDuplicates,
        collections: Sides<&'f dyn Corpus>,
        plan: &'f Plan,
    ) -> Self {
        let sides = collections.zip(found.read.as_ref());
        let sides = sides.map(|(collection, read)| Side { collection, read });
        let NearDuplicates { read, close, removals, levels, .. } = found;
        Self { sides, removals, levels, close, read, plan }
    }

    /// The documents that may be removed.
    #[must_use]
    pub fn documents(&self) -> Side<'f> {
        *self.sides.first()
    }

    /// The documents that may be kept in their place.
    #[must_use]
    pub fn originals(&self) -> Side<'f> {
        *self.sides.second()
    }
}
