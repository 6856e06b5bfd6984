//! Results → bytes. One file per output.

pub mod json_text;
pub mod kept_documents;
pub mod quarantine;
pub mod reference_text;
pub mod whole_file;
