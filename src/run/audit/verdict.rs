//! The result of checking a removal.

/// Result of checking a removal, which is a row of the output with a removed document and the one that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The texts of the documents agree with the row.
    Holds,
    /// The row is wrong, for these reasons.
    Fails(Vec<String>),
    /// The row could not be checked, for this reason.
    Unchecked(String),
}
