//! The limit of a sample.

use std::time::Duration;

/// The limit of a sample of a collection, or of a part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// Maximum time.
    Time(Duration),
    /// Maximum bytes of the shards, without a limit of time. Every sample reads the same bytes.
    Bytes(f64),
}

impl Budget {
    /// A budget without a limit.
    pub(super) const UNLIMITED: Self = Self::Bytes(f64::INFINITY);

    /// Returns this fraction of the budget.
    pub(super) fn share(self, share: f64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.mul_f64(share)),
            Self::Bytes(bytes) => Self::Bytes(bytes * share),
        }
    }

    /// Returns the rest of the budget after `elapsed` time and `read` bytes.
    pub(super) fn less(self, elapsed: Duration, read: u64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.saturating_sub(elapsed)),
            Self::Bytes(bytes) => Self::Bytes((bytes - read as f64).max(0.0)),
        }
    }

    pub(super) fn is_spent(self) -> bool {
        match self {
            Self::Time(time) => time.is_zero(),
            Self::Bytes(bytes) => bytes <= 0.0,
        }
    }
}
