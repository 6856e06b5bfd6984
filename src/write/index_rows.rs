//! What an index knows of documents, in lines.

use super::tsv_field::write_field;
use simtool_base::json_text::write_string;
use simtool_base::utc_time::UtcTime;
use std::io::{self, Write};

/// What is known of a document.
#[derive(Clone, Copy, Debug)]
pub struct IndexRow<'r> {
    /// Its number.
    pub number: u64,
    /// Its ID.
    pub id: &'r [u8],
    /// How many repeats of it came.
    pub repeats: u64,
    /// The names of the sources of it and its repeats, its own first.
    pub sources: &'r [&'r str],
    /// When it came, or its first repeat.
    pub first: UtcTime,
    /// When it came, or its last repeat.
    pub last: UtcTime,
}

impl IndexRow<'_> {
    /// Writes the fields of a JSON object.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_fields(&self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "\"number\":{},\"id\":", self.number)?;
        write_string(out, self.id)?;
        write!(out, ",\"repeats\":{},\"sources\":[", self.repeats)?;
        for (at, source) in self.sources.iter().enumerate() {
            out.write_all(if at == 0 { b"" } else { b"," })?;
            write_string(out, source.as_bytes())?;
        }
        write!(out, "],\"first\":\"{}\",\"last\":\"{}\"", self.first, self.last)
    }
}

/// Writes a document that repeats another, as a line with tabs: both IDs, and the distance.
///
/// # Errors
///
/// Those of `out`.
pub fn write_repeat(
    out: &mut dyn Write,
    id: &[u8],
    repeated: &[u8],
    distance: u32,
) -> io::Result<()> {
    write_field(out, id)?;
    out.write_all(b"\t")?;
    write_field(out, repeated)?;
    writeln!(out, "\t{distance}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_lines() {
        let row = IndexRow {
            number: 7,
            id: b"a\"b",
            repeats: 2,
            sources: &["dump", "crawl 2"],
            first: UtcTime::from_seconds(0),
            last: UtcTime::from_seconds(86_400),
        };
        let mut out = Vec::new();
        row.write_fields(&mut out).unwrap();
        let expected = r#""number":7,"id":"a\"b","repeats":2,"sources":["dump","crawl 2"],"first":"1970-01-01T00:00:00Z","last":"1970-01-02T00:00:00Z""#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        write_repeat(&mut out, b"a\tb", b"c", 3).unwrap();
        assert_eq!(out, b"a\\tb\tc\t3\n");
    }
}
