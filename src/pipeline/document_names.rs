//! The names by which a collection's user knows its documents.

use crate::document::{DocOrdinal, DocumentIds, Place};
use crate::document_name::DocumentName;
use crate::read::{Collection, Corpus};
use std::borrow::Cow;

/// Names documents; one without an ID is called by its file and the number of its record.
pub(super) struct Names<'d> {
    pub(super) collection: &'d Collection,
    pub(super) ids: &'d DocumentIds,
}

impl<'d> Names<'d> {
    pub(super) fn of(&self, row: u32) -> DocumentName<'d> {
        let document = DocOrdinal(row);
        let Place { file, record } = self.ids.place(document);
        let file = self.collection.file_name(file as usize);
        let id = self.ids.id(document).map_or_else(
            || {
                let mut id = file.as_os_str().as_encoded_bytes().to_vec();
                id.extend_from_slice(format!(":{record}").as_bytes());
                Cow::Owned(id)
            },
            Cow::Borrowed,
        );
        DocumentName { id, file, record }
    }
}
