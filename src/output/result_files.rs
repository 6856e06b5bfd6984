//! Recognizes files with rows that simtool wrote, which are not read as documents if they are in an input folder.

use super::output_descriptions;
use crate::write::columns::{ColumnDescription, RowFormat};
use simtool_base::options::Choice as _;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Minimum number of columns of an output whose files are recognized. With fewer columns, a table of a user could have
/// the same column names by chance.
const LEAST_COLUMNS: usize = 4;

/// Number of bytes at the start of a file in which its first row must be, and at the end of a Parquet file in which the
/// name of its format must be.
const READ_BYTES: u64 = 16 << 10;

/// Name of an entry in the metadata of each Parquet file that simtool writes.
const PARQUET_FORMAT: &[u8] = b"simtool.format";

/// Columns of files with fingerprints as JSON Lines.
const FINGERPRINTS: [&str; 4] = ["id", "file", "record", "fingerprint"];

/// Names of the columns of all outputs with rows, by which files of these outputs are recognized.
#[derive(Debug)]
pub(crate) struct ResultFiles {
    outputs: Vec<Vec<String>>,
}

impl ResultFiles {
    /// Collects the columns of all outputs.
    pub(crate) fn new() -> Self {
        let outputs = output_descriptions().into_iter().map(|output| names(&(output.columns)()));
        let outputs = outputs.chain([FINGERPRINTS.map(str::to_owned).to_vec()]);
        Self { outputs: outputs.filter(|names| names.len() >= LEAST_COLUMNS).collect() }
    }

    /// Returns whether a file has rows of an output of simtool. A file that cannot be read has none.
    pub(crate) fn has(&self, path: &Path) -> bool {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = RowFormat::ALL.iter().find(|format| Some(format.extension()) == extension);
        format.is_some_and(|format| self.has_rows(path, *format).unwrap_or(false))
    }

    fn has_rows(&self, path: &Path, format: RowFormat) -> io::Result<bool> {
        let mut file = File::open(path)?;
        let is_text = matches!(format, RowFormat::JsonLines | RowFormat::Tsv);
        // Text has the names of its columns at the start, and Parquet has its metadata at the end.
        if !is_text {
            let length = file.seek(SeekFrom::End(0))?;
            file.seek(SeekFrom::Start(length.saturating_sub(READ_BYTES)))?;
        }
        let mut bytes = Vec::new();
        file.take(READ_BYTES).read_to_end(&mut bytes)?;
        if !is_text {
            return Ok(memchr::memmem::find(&bytes, PARQUET_FORMAT).is_some());
        }
        // A first line that is longer than the bytes that were read is of another program.
        let Some(line) = bytes.split_inclusive(|&byte| byte == b'\n').next() else {
            return Ok(false);
        };
        let Some(line) = line.strip_suffix(b"\n") else { return Ok(false) };
        let is_tsv = matches!(format, RowFormat::Tsv);
        let is_of = |names: &Vec<String>| {
            if is_tsv { line == names.join("\t").as_bytes() } else { is_row(line, names) }
        };
        Ok(self.outputs.iter().any(is_of))
    }
}

/// Returns the names of columns. A column with objects has a description for each of their fields, such as `kept.id`.
fn names(columns: &[ColumnDescription]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for column in columns {
        let name = column.name.split(['.', '[']).next().unwrap_or_default();
        if names.last().is_none_or(|last| last != name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns whether a line of JSON is an object whose fields begin with these names, in this order.
fn is_row(line: &[u8], names: &[String]) -> bool {
    let mut rest = line;
    for (at, name) in names.iter().enumerate() {
        let field = format!("{}\"{name}\":", if at == 0 { "{" } else { "," });
        // The first field is at the start of the line.
        let Some(found) = memchr::memmem::find(rest, field.as_bytes()) else { return false };
        if at == 0 && found > 0 {
            return false;
        }
        rest = &rest[found + field.len()..];
    }
    true
}
