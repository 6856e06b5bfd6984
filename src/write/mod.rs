//! Results → bytes. One file per output.

pub mod json_text;
pub mod kept_documents;
#[cfg(feature = "parquet")]
pub mod kept_rows;
pub mod quarantine;
pub mod reference_text;
pub mod whole_file;
