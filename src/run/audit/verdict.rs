//! The result of checking a removal.

/// Result of checking a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The texts agree with the row.
    Holds,
    /// The row is wrong, for these reasons.
    Fails(Vec<String>),
    /// The row could not be checked, for this reason.
    Unchecked(String),
}
