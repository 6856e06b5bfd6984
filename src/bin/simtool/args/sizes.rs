//! Sizes as people write them.

use simtool::quantity::{BYTES_EXPECTED, parse_bytes};

/// A number of bytes, as [`parse_bytes`] reads it.
pub(super) fn bytes(given: &str) -> Result<u64, &'static str> {
    parse_bytes(given).ok_or(BYTES_EXPECTED)
}
