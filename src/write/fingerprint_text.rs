//! Fingerprints as lines of text: hexadecimal numbers, or JSON objects with the documents' names.

use crate::fingerprint_rows::FingerprintRows;
use crate::write::document_rows::{DocumentName, write_name};
use std::io::{self, Write};

/// Writes a lower-case hexadecimal number a line, f/4 digits, and an empty line for a row without a
/// fingerprint.
///
/// # Errors
///
/// Those of `out`.
pub fn write_numbers(rows: &FingerprintRows<'_>, out: &mut dyn Write) -> io::Result<()> {
    let digits = digits(rows);
    for row in 0..rows.lanes.len() {
        match rows.number(row) {
            Some(number) => writeln!(out, "{number:0digits$x}")?,
            None => out.write_all(b"\n")?,
        }
    }
    Ok(())
}

/// Writes a JSON object a line: the `id`, `file` and `record` of the row's document, by `name`, and
/// its `fingerprint` as a hexadecimal number, or null.
///
/// # Errors
///
/// Those of `out`.
pub fn write_objects<'d>(
    rows: &FingerprintRows<'_>,
    name: &dyn Fn(u32) -> DocumentName<'d>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let digits = digits(rows);
    for row in 0..rows.lanes.len() {
        out.write_all(b"{")?;
        write_name(out, &name(row as u32))?;
        match rows.number(row) {
            Some(number) => writeln!(out, ",\"fingerprint\":\"{number:0digits$x}\"}}")?,
            None => out.write_all(b",\"fingerprint\":null}\n")?,
        }
    }
    Ok(())
}

fn digits(rows: &FingerprintRows<'_>) -> usize {
    rows.bits.div_ceil(4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fingerprint_rows::RowNumbers;
    use std::borrow::Cow;
    use std::path::Path;

    #[test]
    fn rows_are_lines() {
        let mut rows = RowNumbers::default();
        for row in [Some(0xFF), None, Some(1 << 127)] {
            rows.push(row);
        }
        let rows = rows.finish(128);
        let mut out = Vec::new();
        write_numbers(&rows, &mut out).unwrap();
        let [first, third] = [format!("{:032x}", 0xFF), format!("8{:031}", 0)];
        assert_eq!(String::from_utf8(out).unwrap(), format!("{first}\n\n{third}\n"));

        let id = Cow::Borrowed(&b"a\"b"[..]);
        let name =
            |row: u32| DocumentName { id: id.clone(), file: Path::new("in/x"), record: row.into() };
        let mut out = Vec::new();
        write_objects(&rows, &name, &mut out).unwrap();
        let line = |record, fingerprint: &str| {
            format!(
                "{{\"id\":\"a\\\"b\",\"file\":\"in/x\",\"record\":{record},\
                 \"fingerprint\":{fingerprint}}}\n"
            )
        };
        let quoted = |number: &str| format!("\"{number}\"");
        let expected = line(0, &quoted(&first)) + &line(1, "null") + &line(2, &quoted(&third));
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
