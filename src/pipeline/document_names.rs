//! Names of documents, as users and outputs know them.

use simtool_model::document::{DocOrdinal, DocumentIds, Place};
use simtool_model::document_id::DocumentId;
use simtool_model::document_name::DocumentName;
use simtool_read::Corpus;
use std::borrow::Cow;

/// Returns the name by which users know the document with number `row`. A document without an ID is named by
/// its file and record number, for example `a.jsonl:3`.
pub(crate) fn document_name<'d>(
    collection: &'d dyn Corpus,
    ids: &'d DocumentIds,
    row: u32,
) -> DocumentName<'d> {
    let (id, place) = ids.id_and_place(DocOrdinal(row));
    document_name_at(collection, id, place)
}

/// Returns the name of a document from its ID, file and record number. Without an ID, its name is like
/// `a.jsonl:3`.
pub(crate) fn document_name_at<'d>(
    collection: &'d dyn Corpus,
    id: Option<DocumentId<'d>>,
    Place { file, record }: Place,
) -> DocumentName<'d> {
    let file = collection.file_name(file as usize);
    let is_number = id.is_some_and(DocumentId::is_number);
    // File names need not be UTF-8, so the name is built from bytes.
    let id = id.map_or_else(
        || {
            let mut id = file.as_os_str().as_encoded_bytes().to_vec();
            id.extend_from_slice(format!(":{record}").as_bytes());
            Cow::Owned(id)
        },
        |id| Cow::Borrowed(id.bytes()),
    );
    DocumentName { id, is_number, file, record }
}
