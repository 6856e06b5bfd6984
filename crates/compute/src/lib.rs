//! What a computation may use, and never changes its result: threads, instruction set, memory,
//! temporary files and progress.

pub mod context;
#[doc(hidden)]
pub mod lent_array;
pub mod resources;
pub mod threads;
