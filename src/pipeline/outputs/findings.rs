//! What was found, and in what: the data of every output.

use crate::cluster::Removal;
use crate::pipeline::{CollectionSummary, NearDuplicates, Plan};
use crate::write::summary::Level;
use simtool_model::document::{DocOrdinal, DocumentIds, Place};
use simtool_model::document_name::DocumentName;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use simtool_set_join::close::Close;
use std::borrow::Cow;

/// A collection with what its reading told.
#[derive(Clone, Copy, Debug)]
pub struct Side<'s> {
    /// The collection.
    pub collection: &'s dyn Corpus,
    /// What its reading told.
    pub read: &'s CollectionSummary,
}

impl<'s> Side<'s> {
    /// The name of a document.
    pub(in crate::pipeline) fn name(&self, row: u32) -> DocumentName<'s> {
        document_name(self.collection, &self.read.ids, row)
    }
}

/// The name by which a collection's user knows a document; one without an ID is called by its file
/// and the number of its record.
pub(in crate::pipeline) fn document_name<'d>(
    collection: &'d dyn Corpus,
    ids: &'d DocumentIds,
    row: u32,
) -> DocumentName<'d> {
    let document = DocOrdinal(row);
    document_name_at(collection, ids.id(document), ids.place(document))
}

/// The same of the document at a place, with its own ID if it has one.
pub(in crate::pipeline) fn document_name_at<'d>(
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

/// What was found, and in what.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'f> {
    /// The documents of which some are removed, and those that are kept in their place: of one
    /// collection, or of two.
    pub sides: Sides<Side<'f>>,
    /// The documents to remove, in reading order.
    pub removals: &'f [Removal],
    /// What stricter limits would remove, and what that of the run does.
    pub levels: &'f [Level],
    /// All that is close.
    pub close: &'f Close,
    /// What the reading told.
    pub read: &'f Sides<CollectionSummary>,
    /// By what it was found.
    pub plan: &'f Plan,
}

impl<'f> Findings<'f> {
    /// What was found in `collections` by `plan`.
    ///
    /// # Panics
    ///
    /// There are more or fewer collections than when it was found.
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

    /// The documents of which some are removed.
    #[must_use]
    pub fn documents(&self) -> Side<'f> {
        *self.sides.first()
    }

    /// The documents that are kept in their place.
    #[must_use]
    pub fn originals(&self) -> Side<'f> {
        *self.sides.second()
    }
}
