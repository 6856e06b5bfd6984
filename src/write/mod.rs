//! Results → bytes. One file per output.

pub mod reference_text;
pub mod whole_file;
