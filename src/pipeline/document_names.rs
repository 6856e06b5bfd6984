//! The names by which a collection's user knows its documents.

use crate::document::{DocOrdinal, DocumentIds, Place};
use crate::read::Corpus;
use crate::write::document_rows::DocumentName;
use std::borrow::Cow;

/// Names documents; one without an ID is called by its file, if that has a name, and the number of
/// its record.
pub(super) struct Names<'d> {
    pub(super) collection: &'d dyn Corpus,
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
                if !id.is_empty() {
                    id.push(b':');
                }
                id.extend_from_slice(record.to_string().as_bytes());
                Cow::Owned(id)
            },
            Cow::Borrowed,
        );
        DocumentName { id, file, record }
    }
}
