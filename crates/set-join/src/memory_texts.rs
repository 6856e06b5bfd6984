//! Texts of messages about memory.

/// Description of memory that grows with the number of terms. Out-of-memory messages contain it.
pub(super) const TERMS: &str = "the terms of the documents";
/// Description of the memory for the terms of documents that are joined by prefixes. Out-of-memory
/// messages contain it.
pub(super) const INDEX: &str = "the index of the terms";

/// Returns the part of an error message about how much more memory is enough, for example `5M more is enough`. `left`
/// is the number of bytes that the rest of the run leaves for the join, and `enough` is the number that the join needs.
pub(super) fn enough_more(enough: u64, left: u64) -> String {
    format!("{}M more is enough", enough.saturating_sub(left).div_ceil(1_000_000))
}
