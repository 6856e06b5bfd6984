//! Reads the rows of the output `removed` of a finished run, one line at a time.
//!
//! The rows are read from `removed.jsonl` or `removed.tsv`. A run that wrote its rows in another form also wrote
//! `clusters.jsonl`, whose documents are copied to a temporary file of rows. These rows have no lost words.
//!
//! Rows of `passages.jsonl` and `contamination.jsonl` are read, too. The document with the passage or the item is then
//! read as the removed document. The other document with the passage, or the item, is read as the kept document.

use super::finished_run::{CLUSTERS, Fields, Member, field, fields, id_field, member};
use crate::pipeline::OutputName;
use crate::write::tsv_field::{read_field, write_field};
use memchr::memchr_iter;
use serde_json::json;
use serde_json::value::RawValue;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::json_text::write_string;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};
use std::iter;
use std::mem;
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

/// Row of a finished run: a removed document, and the document that is kept in its place. In rows about passages and
/// evaluation items, the fields have other meanings, see [`spans`](Self::spans).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RemovedRow {
    /// The removed document.
    pub(crate) removed: OutputName,
    /// The kept document.
    pub(crate) kept: OutputName,
    /// Similarity of the two documents. `None` if the method computes none, or if they were not compared.
    pub(crate) similarity: Option<f64>,
    /// Distance of the two documents. `None` if the method has no fingerprints, or if they were not compared.
    pub(crate) distance: Option<u64>,
    /// Number of words of the removed document that are lost. `None` if they were not counted.
    pub(crate) lost_words: Option<u64>,
    /// Byte ranges of a passage in the texts of `removed` and `kept`, or of the words of an item in the text of
    /// `removed`. Empty in rows of the output `removed`. In rows about passages, `distance` is the number of documents
    /// with the passage, and `lost_words` is its number of words.
    pub(crate) spans: [Vec<Range<usize>>; 2],
}

/// Function that gets the byte offset of a line in the file, and its bytes. It returns [`ControlFlow::Break`] if it
/// needs no more lines.
type VisitLine<'v> = dyn FnMut(u64, &[u8]) -> Result<ControlFlow<()>> + 'v;

/// Some consecutive whole lines of a file of rows.
#[derive(Debug)]
pub(crate) struct RowBlock {
    offset: u64,
    /// Bytes of the lines.
    pub(crate) text: Vec<u8>,
}

impl RowBlock {
    /// Returns the lines with their line ends, each with its offset in the file.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let mut start = 0;
        let ends = memchr_iter(b'\n', &self.text).map(|at| at + 1);
        // The last line of the file may have no line end.
        let last = Some(self.text.len()).filter(|_| !self.text.ends_with(b"\n"));
        ends.chain(last).map(move |end| {
            let start = mem::replace(&mut start, end);
            (self.offset + start as u64, &self.text[start..end])
        })
    }
}

/// File with the rows of a finished run: its removed documents, passages, or documents with evaluation items.
#[derive(Debug)]
pub(crate) struct RowsFile {
    /// Path for error messages.
    pub(crate) path: PathBuf,
    pub(crate) file: File,
    format: LineFormat,
    /// Whether the rows were copied to a file without a name, so that an index of the rows cannot be kept for later.
    pub(crate) is_temporary: bool,
}

/// Form of the lines of a file of rows.
#[derive(Clone, Debug)]
enum LineFormat {
    Json,
    /// Rows of `passages.jsonl`.
    Passages,
    /// Rows of `contamination.jsonl`.
    Items,
    /// Tab-separated values. For each of the [`COLUMNS`], its index in the header of the file, or `None` if the file
    /// lacks the column.
    Tsv([Option<usize>; COLUMNS.len()]),
}

/// Kind of the rows in a [`RowsFile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowKind {
    /// Removed documents.
    Removed,
    /// Repeated passages of documents.
    Passages,
    /// Evaluation items in documents.
    Items,
}

impl RowKind {
    /// Returns the name of the kind in the pages of a review, for example `passages`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Removed => "removed",
            Self::Passages => "passages",
            Self::Items => "items",
        }
    }
}

/// Names of the columns of the output `removed`, in the order of the fields of [`RemovedRow`].
const COLUMNS: [&str; 9] = [
    "id",
    "file",
    "record",
    "kept_id",
    "kept_file",
    "kept_record",
    "similarity",
    "distance",
    "lost_words",
];

impl RowsFile {
    /// Opens the rows of the run with this output folder. If only `clusters.jsonl` has the rows, converts them to a
    /// file in `temporary_folder`.
    ///
    /// # Errors
    ///
    /// The folder has no rows, or they cannot be read.
    pub(crate) fn open(folder: &Path, temporary_folder: &Path) -> Result<Self> {
        let is_temporary = false;
        // The usual form comes first. With `--output-format ids`, the rows do not name the kept documents.
        let path = folder.join("removed.jsonl");
        if let Some((file, first)) = opened(&path)?
            && (first.is_empty() || fields(&first).is_some_and(|f| f.contains_key(COLUMNS[5])))
        {
            return Ok(Self { path, file, format: LineFormat::Json, is_temporary });
        }
        let path = folder.join("removed.tsv");
        if let Some((file, header)) = opened(&path)? {
            // A later version may have more columns, so they are found by their names.
            let names: Vec<&str> = header.trim_end().split('\t').collect();
            let positions = COLUMNS.map(|column| names.iter().position(|name| *name == column));
            if positions[5].is_some() {
                return Ok(Self { path, file, format: LineFormat::Tsv(positions), is_temporary });
            }
        }
        for (name, format) in
            [("passages.jsonl", LineFormat::Passages), ("contamination.jsonl", LineFormat::Items)]
        {
            let path = folder.join(name);
            if let Some((file, _)) = opened(&path)? {
                return Ok(Self { path, file, format, is_temporary });
            }
        }
        let path = folder.join(CLUSTERS);
        if !path.exists() {
            let what = format!("{} has no rows to review", folder.display());
            let reason = "review reads the outputs of dedup and match, and the output folders of passages and \
                          contamination in their usual format";
            return Err(ErrorKind::Missing { what, reason: reason.to_owned() }.into());
        }
        let file = rows_of_clusters(&path, temporary_folder)?;
        Ok(Self { path, file, format: LineFormat::Json, is_temporary: true })
    }

    /// Calls `visit` with the byte offset and the bytes of each row of the file, until `visit` breaks. `file` is an
    /// open handle of the same file. This function changes its position.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or `visit` fails.
    pub(crate) fn visit(&self, file: &File, visit: &mut VisitLine<'_>) -> Result<()> {
        for block in self.blocks(file, 1 << 18)? {
            for (offset, line) in block?.lines() {
                if visit(offset, line)?.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of the file in blocks of at least `bytes` bytes. Only the last block can be smaller. `file` is
    /// an open handle of the same file. The iterator changes its position.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub(crate) fn blocks(
        &self,
        mut file: &File,
        bytes: u64,
    ) -> Result<impl Iterator<Item = Result<RowBlock>>> {
        let error = |e: io::Error| Error::io(&self.path, "read", e);
        file.rewind().map_err(error)?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut offset = 0;
        // The first line is a header.
        if matches!(self.format, LineFormat::Tsv(_)) {
            offset += reader.skip_until(b'\n').map_err(error)? as u64;
        }
        let next = move || {
            let mut text = Vec::new();
            let read = reader.by_ref().take(bytes).read_to_end(&mut text);
            // The last line of a block is whole.
            let read = read.and_then(|_| match text.last() {
                Some(b'\n') | None => Ok(0),
                Some(_) => reader.read_until(b'\n', &mut text),
            });
            if let Err(e) = read {
                return Some(Err(Error::io(&self.path, "read", e)));
            }
            let block = RowBlock { offset, text };
            offset += block.text.len() as u64;
            (!block.text.is_empty()).then_some(Ok(block))
        };
        Ok(iter::from_fn(next))
    }

    /// Returns the kind of the rows.
    pub(crate) fn kind(&self) -> RowKind {
        match self.format {
            LineFormat::Json | LineFormat::Tsv(_) => RowKind::Removed,
            LineFormat::Passages => RowKind::Passages,
            LineFormat::Items => RowKind::Items,
        }
    }

    /// Returns `text` with the escapes that it has in a field of this file, but without quotation marks.
    pub(crate) fn written(&self, text: &str) -> Vec<u8> {
        let mut written = Vec::new();
        // Writing to memory does not fail.
        drop(match self.format {
            LineFormat::Tsv(_) => write_field(&mut written, text.as_bytes()),
            _ => write_string(&mut written, text.as_bytes()),
        });
        // The quotation marks of JSON are not a part of the text.
        match self.format {
            LineFormat::Tsv(_) => written,
            _ => written[1..written.len() - 1].to_vec(),
        }
    }

    /// Parses a line of the file. `byte` is the offset of the line, for the error.
    ///
    /// # Errors
    ///
    /// The line is not as simtool writes it.
    pub(crate) fn parse(&self, line: &[u8], byte: u64) -> Result<RemovedRow> {
        let line = str::from_utf8(line).ok().map(|line| line.trim_end_matches(['\r', '\n']));
        let row = line.and_then(|line| match &self.format {
            LineFormat::Json => row_of_json(&fields(line)?),
            LineFormat::Tsv(positions) => row_of_tsv(line, positions),
            LineFormat::Passages => row_of_passage(&fields(line)?),
            LineFormat::Items => row_of_item(&fields(line)?),
        });
        row.ok_or_else(|| {
            let expected = "a row that simtool wrote".to_owned();
            ErrorKind::Format { path: self.path.clone(), byte, expected }.into()
        })
    }
}

/// Opens a file, and returns it with its first line. Returns `None` if it cannot be opened.
fn opened(path: &Path) -> Result<Option<(File, String)>> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let mut first = String::new();
    BufReader::new(&file).read_line(&mut first).map_err(|e| Error::io(path, "read", e))?;
    Ok(Some((file, first)))
}

/// Returns the document that the columns with these names describe. `None` if a column is missing.
fn name_of_json(fields: &Fields<'_>, [id, file, record]: [&str; 3]) -> Option<OutputName> {
    Some(OutputName {
        id: id_field(fields, id)?,
        file: field(fields, file)?,
        record: field(fields, record)?,
    })
}

fn row_of_passage(fields: &Fields<'_>) -> Option<RemovedRow> {
    let words = field::<u64>(fields, "word_end")?.checked_sub(field(fields, "word_start")?)?;
    let partner = ["partner_id", "partner_file", "partner_record"];
    let spans = [["byte_start", "byte_end"], ["partner_byte_start", "partner_byte_end"]];
    Some(RemovedRow {
        removed: name_of_json(fields, ["id", "file", "record"])?,
        kept: name_of_json(fields, partner)?,
        similarity: None,
        distance: field(fields, "documents"),
        lost_words: Some(words),
        spans: spans.map(|[start, end]| {
            field(fields, start)
                .zip(field(fields, end))
                .map(|(start, end)| start..end)
                .into_iter()
                .collect()
        }),
    })
}

fn row_of_item(fields: &Fields<'_>) -> Option<RemovedRow> {
    let spans: Vec<(usize, usize)> = field(fields, "spans")?;
    Some(RemovedRow {
        removed: name_of_json(fields, ["id", "file", "record"])?,
        kept: OutputName {
            id: id_field(fields, "item_id")?,
            // Rows of earlier versions do not name the files of items.
            file: field(fields, "item_file").unwrap_or_default(),
            record: field(fields, "item_record").unwrap_or_default(),
        },
        similarity: field(fields, "share"),
        distance: None,
        lost_words: field(fields, "words"),
        spans: [spans.into_iter().map(|(start, end)| start..end).collect(), Vec::new()],
    })
}

fn row_of_json(fields: &Fields<'_>) -> Option<RemovedRow> {
    Some(RemovedRow {
        removed: name_of_json(fields, [COLUMNS[0], COLUMNS[1], COLUMNS[2]])?,
        kept: name_of_json(fields, [COLUMNS[3], COLUMNS[4], COLUMNS[5]])?,
        similarity: field(fields, COLUMNS[6]),
        distance: field(fields, COLUMNS[7]),
        lost_words: field(fields, COLUMNS[8]),
        spans: [const { Vec::new() }; 2],
    })
}

fn row_of_tsv(line: &str, positions: &[Option<usize>; COLUMNS.len()]) -> Option<RemovedRow> {
    let values: Vec<&str> = line.split('\t').collect();
    let value = |column: usize| values.get(positions[column]?).copied();
    let name = |first: usize| {
        Some(OutputName {
            id: read_field(value(first)?),
            file: read_field(value(first + 1)?),
            record: value(first + 2)?.parse().ok()?,
        })
    };
    let number = |column| value(column).and_then(|value| value.parse().ok());
    Some(RemovedRow {
        removed: name(0)?,
        kept: name(3)?,
        similarity: value(6).and_then(|value| value.parse().ok()),
        distance: number(7),
        lost_words: number(8),
        spans: [const { Vec::new() }; 2],
    })
}

/// Reads the clusters in the file `path`, and writes a row for each removed document to a temporary file.
fn rows_of_clusters(path: &Path, temporary_folder: &Path) -> Result<File> {
    let error = |e: io::Error| Error::io(path, "read", e);
    let clusters = BufReader::new(File::open(path).map_err(error)?);
    let write = |e: io::Error| Error::io(temporary_folder, "write to", e);
    let mut out = BufWriter::new(tempfile::tempfile_in(temporary_folder).map_err(write)?);
    let mut byte = 0;
    for line in clusters.lines() {
        let line = line.map_err(error)?;
        let rows = rows_of_cluster(&line).ok_or_else(|| {
            let expected = "a cluster that simtool wrote".to_owned();
            ErrorKind::Format { path: path.to_owned(), byte, expected }
        })?;
        out.write_all(rows.as_bytes()).map_err(write)?;
        byte += line.len() as u64 + 1;
    }
    let mut file = out.into_inner().map_err(|e| write(e.into_error()))?;
    file.rewind().map_err(write)?;
    Ok(file)
}

/// Converts a line of `clusters.jsonl` to JSON lines, one for each removed document of the cluster. Returns `None` if
/// the line has another form.
fn rows_of_cluster(line: &str) -> Option<String> {
    let line = fields(line)?;
    let kept = member(line.get("kept")?.get())?;
    let removed: Vec<&RawValue> = field(&line, "removed")?;
    // The kept document is written again for each row, so that each row can be read alone.
    let mut rows = String::new();
    for removed in removed {
        let Member { id, file, record, similarity, distance } = member(removed.get())?;
        let row = json!({
            "id": id, "file": file, "record": record,
            "kept_id": kept.id, "kept_file": kept.file, "kept_record": kept.record,
            "similarity": similarity, "distance": distance,
        });
        rows += &row.to_string();
        rows.push('\n');
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn first_row(name: &str, content: &str) -> RemovedRow {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), content).unwrap();
        let rows = RowsFile::open(folder.path(), folder.path()).unwrap();
        let mut found = None;
        rows.visit(&rows.file, &mut |byte, line| {
            found = Some(rows.parse(line, byte)?);
            Ok(ControlFlow::Break(()))
        })
        .unwrap();
        found.unwrap()
    }

    #[test]
    fn all_forms_of_a_row_are_read() {
        let json = r#"{"id":12.50,"file":"a","record":3,"kept_id":"x\ty","kept_file":"b","kept_record":0,"similarity":0.9,"distance":null,"lost_words":2,"lost_share":0.1}"#;
        let row = first_row("removed.jsonl", json);
        assert_eq!((&*row.removed.id, &*row.kept.id), ("12.50", "x\ty"));
        assert_eq!((row.similarity, row.distance, row.lost_words), (Some(0.9), None, Some(2)));
        let tsv = "id\tfile\trecord\tkept_id\tkept_file\tkept_record\tsimilarity\tdistance\tlost_words\n\
                   12.50\ta\t3\tx\\ty\tb\t0\t0.9\t\t2\n";
        assert_eq!(first_row("removed.tsv", tsv), row);
        let cluster = r#"{"kept":{"id":"x\ty","file":"b","record":0},"removed":[{"id":"12.50","file":"a","record":3,"similarity":0.9,"distance":null}]}"#;
        assert_eq!(first_row("clusters.jsonl", cluster), RemovedRow { lost_words: None, ..row });
    }
}
