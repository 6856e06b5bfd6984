//! Names of documents, as pages and previews show them.

/// Name of a document: its ID, its file and its record number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// ID of the document.
    pub id: Vec<u8>,
    /// File of the document, as the user named it.
    pub file: Vec<u8>,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
}
