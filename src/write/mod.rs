//! Results → bytes. One file per output.

mod aside;
#[cfg(feature = "parquet")]
mod document_columns;
pub mod document_rows;
#[cfg(feature = "parquet")]
pub mod fingerprint_columns;
pub mod fingerprint_text;
pub mod json_text;
pub mod kept_documents;
#[cfg(feature = "parquet")]
pub mod kept_rows;
pub mod numpy;
pub mod output_folder;
#[cfg(feature = "parquet")]
pub mod pair_columns;
pub mod pair_table;
pub mod quarantine;
pub mod reference_text;
pub mod report;
pub mod summary;
pub mod whole_file;
