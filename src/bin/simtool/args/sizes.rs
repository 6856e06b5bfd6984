//! Sizes as people write them.

/// A number of bytes, with or without a unit of 2^10, 2^20, 2^30 or 2^40.
pub(super) fn memory_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        "T" => Some(40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok().zip(shift);
    let bytes = number.and_then(|(number, shift)| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| "expected a number of bytes, such as 512M or 8G".to_owned())
}

/// A size in bytes: a number, or one with K, M or G.
pub(super) fn bytes(given: &str) -> Result<u64, String> {
    let (number, unit) = match given.as_bytes().last() {
        Some(b'K') => (&given[..given.len() - 1], 1_000),
        Some(b'M') => (&given[..given.len() - 1], 1_000_000),
        Some(b'G') => (&given[..given.len() - 1], 1_000_000_000),
        _ => (given, 1),
    };
    let number = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| "expected a whole number, with K, M or G behind it or none".to_owned())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("17"), Ok(17));
        assert_eq!(bytes("700M"), Ok(700_000_000));
        assert_eq!(bytes("2G"), Ok(2_000_000_000));
        for wrong in ["", "M", "-1", "1.5M", "99999999999G", "1T", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
