//! The integration tests, in one binary.
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod architecture;
#[cfg(feature = "gzip")]
mod report;
