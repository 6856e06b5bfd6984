//! Writes results as bytes: tables of rows, pages, summaries, and copies of inputs.
//!
//! The code here knows nothing about the stages of a run. Files of results get their final names only when
//! they are complete (see [`whole_file`] and [`output_folder`]).

pub mod columns;
pub(crate) mod copy_store;
mod disk_folder;
pub mod evaluation;
mod excerpt;
mod existing;
pub mod item_source;
pub mod kept_documents;
pub(crate) mod merkle;
pub mod name;
pub mod output_folder;
pub(crate) mod output_inventory;
pub mod pair_table;
pub mod preview;
pub(crate) mod receipt;
pub mod reference_text;
pub mod repetition_summary;
pub mod report;
pub mod shared_words;
mod shortened;
mod staging;
mod standing_output;
mod store_file;
mod store_folder;
pub mod summary;
pub mod text_difference;
pub mod tsv_field;
pub mod whole_file;
