//! Resources of a computation: threads, instruction set, memory, temporary files and progress. None
//! of them changes a result.

pub mod context;
#[doc(hidden)]
pub mod lent_array;
pub mod resources;
pub mod tasks;
pub mod threads;
pub mod written_ranges;
