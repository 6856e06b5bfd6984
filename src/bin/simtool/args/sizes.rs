//! A parser of numbers of bytes such as 8GiB.

use simtool::quantity::{BYTES_EXPECTED, parse_bytes};

/// Parses a number of bytes, for example `512M` or `8GiB`, with [`parse_bytes`].
pub(super) fn bytes(given: &str) -> Result<u64, &'static str> {
    parse_bytes(given).ok_or(BYTES_EXPECTED)
}
