//! Alike rows → which are kept, and for which of them each other one is removed.
//!
//! Rows are taken in an order of preference that the caller gives as ranks. Not here: what makes
//! two rows alike (`search`), which documents rows are, how a preference is read from documents
//! (`pipeline`).

pub mod components;
pub mod keep;
