//! Writes pairs of fingerprints as tab-separated text or as an `.npy` array.
//!
//! A join can write billions of pairs. So these functions write digits and bytes directly, without the
//! formatting of the standard library.

use simtool_model::numpy_header;

/// Appends a pair as a line of two row numbers and their distance, separated by tabs.
pub(crate) fn push_tsv(a: u32, b: u32, distance: u32, out: &mut Vec<u8>) {
    push_number(a, out);
    out.push(b'\t');
    push_number(b, out);
    out.push(b'\t');
    push_number(distance, out);
    out.push(b'\n');
}

/// Appends the decimal digits of `number` to `out`.
pub(crate) fn push_number(mut number: u32, out: &mut Vec<u8>) {
    // `u32::MAX` has 10 digits, which are filled in from the end.
    let mut digits = [0; 10];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// Appends a pair as a row of a NumPy array of type `<u4`: two row numbers and their distance.
pub(crate) fn push_numpy(a: u32, b: u32, distance: u32, out: &mut Vec<u8>) {
    for number in [a, b, distance] {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Returns the header of an `.npy` file with `rows` pairs. In the file, the pairs follow the header.
#[must_use]
pub(crate) fn numpy_header(rows: u64) -> Vec<u8> {
    numpy_header::header("<u4", &format!("({rows}, 3)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_separated_by_tabs() {
        let mut out = Vec::new();
        push_tsv(0, u32::MAX, 10, &mut out);
        assert_eq!(out, b"0\t4294967295\t10\n");
    }
}
