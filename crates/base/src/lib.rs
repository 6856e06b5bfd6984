//! Services that every other crate of simtool uses, and that know no word of its domain: errors,
//! options, resources, progress, buffers, mapped files, durable writes and the stable hash.

pub mod durable;
pub mod error;
pub mod fault;
#[doc(hidden)]
pub mod json_text;
#[doc(hidden)]
pub mod large_buffer;
#[doc(hidden)]
pub mod mapped_file;
pub mod memory_ledger;
pub mod options;
pub mod progress;
pub mod quantity;
pub mod shell_word;
pub mod stable_hash;
#[doc(hidden)]
pub mod unordered_map;
pub mod utc_time;
