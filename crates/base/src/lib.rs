//! Services that all other crates of simtool use, and that do not depend on documents or fingerprints: errors, options,
//! progress, counts of memory, buffers, mapped files, durable writes, the stable hash, and numbers and times as text.

#[doc(hidden)]
pub mod byte_text;
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
pub mod memory_turns;
pub mod options;
pub mod percentage;
pub mod progress;
pub mod quantity;
pub mod shell_word;
pub mod stable_hash;
pub mod steady_file;
#[doc(hidden)]
pub mod unordered_map;
pub mod utc_time;
pub mod work_cost;
pub mod work_time;
