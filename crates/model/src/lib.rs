//! The data that one stage of simtool passes to the next: documents, fingerprints, sets of terms,
//! similarities and distances.

pub mod closeness;
pub mod compression;
#[doc(hidden)]
pub mod distinct_terms;
pub mod document;
pub mod document_id;
pub mod document_name;
pub mod evaluation;
pub mod features;
pub mod field_value;
pub mod fingerprint_rows;
pub mod fingerprint_table;
pub mod groups;
pub mod matches;
pub mod non_document;
#[doc(hidden)]
pub mod numpy_header;
pub mod page_text;
pub mod record_digest;
pub mod sides;
pub mod similarity;
pub mod title_words;
pub mod validity;
