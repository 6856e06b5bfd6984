//! The limit of time or bytes for reading a sample.

use std::time::Duration;

/// Limit of time or bytes for reading a sample of a collection, or a part of such a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Budget {
    /// Maximum wall time for reading the sample.
    Time(Duration),
    /// Maximum number of bytes of shards to read, without a limit of time. Every sample of the same
    /// collection then reads the same bytes.
    Bytes(f64),
}

impl Budget {
    /// A budget without a limit.
    pub(super) const UNLIMITED: Self = Self::Bytes(f64::INFINITY);

    /// Returns the fraction `share` of this budget.
    pub(super) fn share(self, share: f64) -> Self {
        match self {
            Self::Time(time) => Self::Time(time.mul_f64(share)),
            Self::Bytes(bytes) => Self::Bytes(bytes * share),
        }
    }

    /// Returns the rest of this budget after reading has taken the time `elapsed` and read `read` bytes. The rest is
    /// never below 0.
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
