//! Header of `NumPy`'s `.npy` files. The bytes of the array follow after the header.
//!
//! # References
//!
//! R. Kern, "NEP 1: A simple file format for `NumPy` arrays", 2007.

/// Returns the header of an array. `descr` is NumPy's name of the element type, such as `<u8`, and
/// `shape` is a Python tuple, such as `(1000, 2)`.
///
/// # Panics
///
/// `descr` and `shape` together are longer than about 65,000 bytes, which no real array needs.
#[must_use]
pub fn header(descr: &str, shape: &str) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length take ten bytes. The whole header is a multiple of 64 bytes and ends
    // with a newline.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("a type and a shape are short");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_aligned_and_ends_a_line() {
        for rows in [0, 7, u64::MAX] {
            let header = header("<u4", &format!("({rows}, 3)"));
            assert_eq!(header.len() % 64, 0);
            assert!(header.ends_with(b"\n"));
        }
    }
}
