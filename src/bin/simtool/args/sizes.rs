//! Sizes as people write them.

/// A number of bytes: alone, with K, M, G or T for powers of 1000, as sizes are shown, or with KiB,
/// MiB, GiB or TiB for powers of 1024.
pub(super) fn bytes(given: &str) -> Result<u64, String> {
    let digits = given.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match given[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(1),
        "K" | "KB" => Some(1000),
        "M" | "MB" => Some(1000_u64.pow(2)),
        "G" | "GB" => Some(1000_u64.pow(3)),
        "T" | "TB" => Some(1000_u64.pow(4)),
        "KIB" => Some(1 << 10),
        "MIB" => Some(1 << 20),
        "GIB" => Some(1 << 30),
        "TIB" => Some(1 << 40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok().zip(unit);
    let bytes = number.and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| {
        "expected a whole number of bytes, or one with K, M, G or T for powers of 1000, or with KiB, \
         MiB, GiB or TiB for powers of 1024, such as 512M or 8GiB"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units() {
        for (given, expected) in [
            ("17", 17),
            ("17B", 17),
            ("3K", 3000),
            ("700M", 700_000_000),
            ("700MB", 700_000_000),
            ("2g", 2_000_000_000),
            ("1T", 1_000_000_000_000),
            ("3KiB", 3 << 10),
            ("512MiB", 512 << 20),
            ("8gib", 8 << 30),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(bytes(given), Ok(expected), "{given}");
        }
        for wrong in ["", "M", "-1", "1.5M", "99999999999G", "1P", "1Ki", "1 M", "é"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
