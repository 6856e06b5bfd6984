//! Bad records, one JSON object a line.

use simtool_base::json_text::write_string;
use simtool_model::document::Bad;
use std::io::{self, Write};
use std::path::Path;

/// Writes the row of a bad record: file, record number and byte offset in the file, length, code
/// and what a good record has there.
///
/// # Errors
///
/// Those of `out`.
pub fn write_bad_record(
    out: &mut dyn Write,
    file: &Path,
    record: u64,
    byte: u64,
    bad: &Bad,
) -> io::Result<()> {
    out.write_all(b"{\"file\":")?;
    write_string(out, file.as_os_str().as_encoded_bytes())?;
    write!(out, ",\"record\":{record},\"byte\":{byte},\"length\":{}", bad.length)?;
    write!(out, ",\"code\":\"{}\",\"expected\":", bad.code)?;
    write_string(out, bad.expected.as_bytes())?;
    out.write_all(b"}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_names_file_place_code_and_expectation() {
        let bad = Bad { code: "json", expected: "a \"string\"".into(), length: 12 };
        let mut out = Vec::new();
        write_bad_record(&mut out, Path::new("a/b.jsonl"), 3, 45, &bad).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"file\":\"a/b.jsonl\",\"record\":3,\"byte\":45,\"length\":12,\"code\":\"json\",\
             \"expected\":\"a \\\"string\\\"\"}\n"
        );
    }
}
