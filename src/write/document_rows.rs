//! Rows that name documents: what was removed, what is close, and clusters; as JSON Lines or TSV.

use crate::closeness::Closeness;
use crate::write::json_text::write_string;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// A document as its user knows it.
#[derive(Clone, Debug)]
pub struct DocumentName<'d> {
    /// Its ID.
    pub id: Cow<'d, [u8]>,
    /// Its file, as the user named it.
    pub file: &'d Path,
    /// Number of its record in the file, from 0.
    pub record: u64,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object a line.
    JsonLines,
    /// Fields between tabs, under a line of their names; a tab, line end or backslash in a field is
    /// `\t`, `\n`, `\r` or `\\`.
    Tsv,
}

impl RowFormat {
    /// The ending of a file of such rows.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::JsonLines => "jsonl",
            Self::Tsv => "tsv",
        }
    }
}

/// Which two documents a row names: the prefixes of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A removed document and the kept one: `id`, … `kept_id`, …
    Removed,
    /// Two close documents: `a_id`, … `b_id`, …
    Pair,
}

impl RowKind {
    fn prefixes(self) -> [&'static str; 2] {
        match self {
            Self::Removed => ["", "kept_"],
            Self::Pair => ["a_", "b_"],
        }
    }
}

/// Writes rows of one kind.
#[derive(Debug)]
pub struct DocumentRows<W> {
    out: W,
    format: RowFormat,
    kind: RowKind,
}

impl<W: Write> DocumentRows<W> {
    /// Rows to `out`, beginning with the names of the fields where the format has such a line.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn new(mut out: W, format: RowFormat, kind: RowKind) -> io::Result<Self> {
        if format == RowFormat::Tsv {
            for prefix in kind.prefixes() {
                write!(out, "{prefix}id\t{prefix}file\t{prefix}record\t")?;
            }
            out.write_all(b"similarity\tdistance\n")?;
        }
        Ok(Self { out, format, kind })
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(
        &mut self,
        documents: [&DocumentName<'_>; 2],
        closeness: Option<Closeness>,
    ) -> io::Result<()> {
        match self.format {
            RowFormat::JsonLines => {
                let mut before = "{";
                for (prefix, document) in self.kind.prefixes().into_iter().zip(documents) {
                    self.out.write_all(before.as_bytes())?;
                    write_name(&mut self.out, prefix, document)?;
                    before = ",";
                }
                write_closeness(&mut self.out, closeness)?;
                self.out.write_all(b"}\n")
            }
            RowFormat::Tsv => {
                for document in documents {
                    write_field(&mut self.out, &document.id)?;
                    self.out.write_all(b"\t")?;
                    write_field(&mut self.out, document.file.as_os_str().as_encoded_bytes())?;
                    write!(self.out, "\t{}\t", document.record)?;
                }
                if let Some(similarity) = closeness.and_then(Closeness::similarity) {
                    write!(self.out, "{similarity}")?;
                }
                self.out.write_all(b"\t")?;
                if let Some(distance) = closeness.and_then(Closeness::distance) {
                    write!(self.out, "{distance}")?;
                }
                self.out.write_all(b"\n")
            }
        }
    }

    /// Gives the writer back, with all rows written to it.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Writes a cluster as a JSON object: the kept document and the removed ones.
///
/// # Errors
///
/// Those of `out`.
pub fn write_cluster<'d>(
    out: &mut dyn Write,
    kept: &DocumentName<'_>,
    removed: impl Iterator<Item = (DocumentName<'d>, Option<Closeness>)>,
) -> io::Result<()> {
    out.write_all(b"{\"kept\":{")?;
    write_name(out, "", kept)?;
    out.write_all(b"},\"removed\":[")?;
    for (number, (document, closeness)) in removed.enumerate() {
        out.write_all(if number == 0 { b"{" } else { b",{" })?;
        write_name(out, "", &document)?;
        write_closeness(out, closeness)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]}\n")
}

pub(super) fn write_name(
    out: &mut dyn Write,
    prefix: &str,
    document: &DocumentName<'_>,
) -> io::Result<()> {
    write!(out, "\"{prefix}id\":")?;
    write_string(out, &document.id)?;
    write!(out, ",\"{prefix}file\":")?;
    write_string(out, document.file.as_os_str().as_encoded_bytes())?;
    write!(out, ",\"{prefix}record\":{}", document.record)
}

fn write_closeness(out: &mut dyn Write, closeness: Option<Closeness>) -> io::Result<()> {
    // The shortest decimal that gives the same number back.
    match closeness.and_then(Closeness::similarity) {
        Some(similarity) => write!(out, ",\"similarity\":{similarity}")?,
        None => out.write_all(b",\"similarity\":null")?,
    }
    match closeness.and_then(Closeness::distance) {
        Some(distance) => write!(out, ",\"distance\":{distance}"),
        None => out.write_all(b",\"distance\":null"),
    }
}

fn write_field(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(bytes);
    for c in text.chars() {
        match c {
            '\t' => out.write_all(b"\\t")?,
            '\n' => out.write_all(b"\\n")?,
            '\r' => out.write_all(b"\\r")?,
            '\\' => out.write_all(b"\\\\")?,
            c => write!(out, "{c}")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Similarity;

    fn name(id: &str, record: u64) -> DocumentName<'_> {
        DocumentName { id: Cow::Borrowed(id.as_bytes()), file: Path::new("in/a.jsonl"), record }
    }

    fn rows(format: RowFormat, kind: RowKind) -> String {
        let mut rows = DocumentRows::new(Vec::new(), format, kind).unwrap();
        let similarity = Similarity { shared: 1, union: 3 };
        let documents = [&name("a\t\"x\"", 3), &name("b", 0)];
        rows.write(documents, Some(Closeness::Similarity(similarity))).unwrap();
        rows.write(documents, Some(Closeness::Distance(2))).unwrap();
        rows.write(documents, None).unwrap();
        String::from_utf8(rows.finish().unwrap()).unwrap()
    }

    #[test]
    fn rows_of_json_lines() {
        let names = r#"{"id":"a\t\"x\"","file":"in/a.jsonl","record":3,"kept_id":"b","kept_file":"in/a.jsonl","kept_record":0"#;
        let expected = format!(
            "{names},\"similarity\":0.3333333333333333,\"distance\":null}}\n\
             {names},\"similarity\":null,\"distance\":2}}\n\
             {names},\"similarity\":null,\"distance\":null}}\n"
        );
        assert_eq!(rows(RowFormat::JsonLines, RowKind::Removed), expected);
    }

    #[test]
    fn rows_of_tsv() {
        let names = "a\\t\"x\"\tin/a.jsonl\t3\tb\tin/a.jsonl\t0";
        let expected = format!(
            "a_id\ta_file\ta_record\tb_id\tb_file\tb_record\tsimilarity\tdistance\n\
             {names}\t0.3333333333333333\t\n{names}\t\t2\n{names}\t\t\n"
        );
        assert_eq!(rows(RowFormat::Tsv, RowKind::Pair), expected);
    }

    #[test]
    fn a_cluster_is_one_object() {
        let mut out = Vec::new();
        let removed = [(name("b", 1), Some(Closeness::Distance(0))), (name("c", 2), None)];
        write_cluster(&mut out, &name("a", 0), removed.into_iter()).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"kept\":{\"id\":\"a\",\"file\":\"in/a.jsonl\",\"record\":0},\"removed\":[\
             {\"id\":\"b\",\"file\":\"in/a.jsonl\",\"record\":1,\"similarity\":null,\"distance\":0},\
             {\"id\":\"c\",\"file\":\"in/a.jsonl\",\"record\":2,\"similarity\":null,\"distance\":null}]}\n"
        );
    }
}
