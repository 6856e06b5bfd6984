//! Results → bytes. One file per output.

pub mod document_rows;
pub mod json_text;
pub mod kept_documents;
pub mod output_folder;
pub mod quarantine;
pub mod reference_text;
pub mod report;
pub mod summary;
pub mod whole_file;
