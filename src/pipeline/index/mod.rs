//! An index of documents that grows: what was seen is found again, what is new is added.
//!
//! An [`Index`] is asked, an [`IndexAdder`] adds. Rows are kept by the [store](crate::store) and found
//! by the [search](crate::search): in a segment by its tables, among those that are not in one yet by
//! a join.

mod adder;
mod document_groups;
mod documents;
mod export;
mod joined_indexes;
mod kept_recipe;
mod lines;
mod lookup;
mod merge;
mod pending;
mod salvage;
mod stored;
#[cfg(test)]
mod tests;

pub use adder::{Added, Arrival, IndexAdder};
pub use documents::{AddedCorpus, Commits, write_only_new};
pub use export::IndexRows;
pub use lines::{Line, LineFate, LineReader, ReadLines};
pub use lookup::Near;
pub use salvage::{Salvaged, salvage};
pub use stored::{Index, IndexSize, KnownDocument};
