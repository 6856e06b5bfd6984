//! `index export`: writes a table of the documents of an index.

use super::OpenRequest;
use crate::run::face::Face;
use crate::run::files::{refuse_existing, write_whole_file};
use crate::run::standard_streams::is_standard_output;
use crate::write::columns::RowFormat;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The index to export, and the file to write.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// The index.
    pub index: OpenRequest,
    /// The file to write, whose extension selects the format. Without one, or with `-`, JSON Lines are
    /// written to standard output.
    pub output: Option<PathBuf>,
    /// Whether the file may replace another one.
    pub existing: Existing,
}

/// Writes a row for each document of the index to the file of `request`, or to `standard_output`.
///
/// # Errors
///
/// The file exists already, its extension is not the extension of a table, it cannot be written, or the
/// index is damaged.
pub fn export_index(
    request: &ExportRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<()> {
    let index = request.index.open(face.access())?;
    let Some(path) = request.output.as_deref().filter(|path| !is_standard_output(path)) else {
        let mut out = BufWriter::new(standard_output);
        index.export(&mut out, RowFormat::JsonLines)?;
        return out.flush().map_err(|error| Error::io("standard output", "write", error));
    };
    let format = format_of(path)?;
    refuse_existing("output", path, request.existing)?;
    write_whole_file(path, request.existing, face, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file.file());
        index.export(&mut out, format)?;
        out.flush().map_err(|error| Error::io(path, "write", error))
    })
}

/// Returns the format of a table that the extension of `path` names.
fn format_of(path: &Path) -> Result<RowFormat> {
    let extension = path.extension().map(OsStr::as_encoded_bytes);
    match extension.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"jsonl" | b"ndjson") => Ok(RowFormat::JsonLines),
        Some(b"parquet") => RowFormat::parquet(),
        Some(_) => {
            let rule = "must end in .jsonl or .parquet";
            Err(Error::config("output", path.display(), rule))
        }
    }
}
