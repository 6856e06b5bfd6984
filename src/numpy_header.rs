//! `NumPy`'s `.npy` files: the header before an array's bytes.
//!
//! # References
//!
//! R. Kern, "NEP 1: A simple file format for `NumPy` arrays", 2007.

/// The header of an array whose items are of the type `descr` and whose shape is `shape`, as
/// Python writes a tuple.
///
/// # Panics
///
/// The two are longer than any honest ones: 60,000 bytes.
#[must_use]
pub fn header(descr: &str, shape: &str) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version and length are ten bytes; the whole is a multiple of 64 and ends in a newline.
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
