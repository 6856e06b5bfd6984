//! Results → bytes. One file per output.

mod aside;
#[cfg(feature = "parquet")]
mod document_columns;
pub mod document_rows;
pub mod evaluation;
#[cfg(feature = "parquet")]
pub mod index_columns;
pub mod index_rows;
pub mod kept_documents;
pub mod output_folder;
#[cfg(feature = "parquet")]
pub mod pair_columns;
pub mod pair_table;
pub mod quarantine;
pub mod reference_text;
pub mod report;
pub mod row_fields;
pub mod summary;
pub mod text_difference;
pub mod tsv_field;
pub mod whole_file;
