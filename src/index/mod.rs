//! An index of documents that grows. New documents are added, and documents near an indexed one are
//! recognized.
//!
//! An [`Index`] answers queries, and an [`IndexAdder`] adds documents. The [`store`] keeps the fingerprints
//! in files called segments. If the method allows it, each segment has tables, which find near fingerprints
//! fast. Fingerprints that are not in a segment yet are compared without tables.

mod adder;
mod document_groups;
mod documents;
mod export;
#[cfg(test)]
mod fault_tests;
mod joined_indexes;
mod kept_recipe;
mod lines;
mod lookup;
mod merge;
mod pending;
mod record_ranges;
mod removal;
mod salvage;
pub mod store;
mod stored;
#[cfg(test)]
mod tests;
mod within;

pub use crate::output::index_rows::{RepeatRow, write_repeat};
pub use adder::{Added, Arrival, IndexAdder};
pub use documents::{AddedCorpus, Commits, write_only_new};
pub(crate) use documents::{ArrivingCorpus, FileSelection};
pub use joined_indexes::JoinedCounts;
pub use kept_recipe::methods_of_indexes;
pub use lines::{Line, LineReader, LineStatus, ReadLines};
pub use lookup::Near;
pub(crate) use pending::SelectionDigests;
pub use salvage::{SalvageFolders, Salvaged, salvage};
pub use stored::{Index, IndexSize, KnownDocument};
