//! `index export`: writes the documents of an index as a table.

use super::{OpenRequest, refuse_rest};
use crate::run::face::Face;
use crate::run::files::{refuse_existing, write_whole_file};
use crate::run::standard_streams::is_standard_output;
use crate::write::columns::RowFormat;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::options::Options;
use std::ffi::OsStr;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Index that is exported, and the file that is written.
#[derive(Clone, Debug)]
pub struct ExportRequest {
    /// Index whose documents are written.
    pub index: OpenRequest,
    /// Path of the output file, whose extension selects the format. If it is `None` or `-`, JSON Lines are
    /// written to standard output.
    pub output: Option<PathBuf>,
    /// Whether an existing output file is replaced.
    pub existing: Existing,
}

impl ExportRequest {
    /// Creates the request to write the documents of `index`. `holder` describes this process. `options` may have the
    /// settings of the command `index export`.
    ///
    /// # Errors
    ///
    /// A value is wrong, or a setting is unknown.
    pub fn parse(index: PathBuf, holder: String, mut options: Options) -> Result<Self> {
        let request = Self {
            index: OpenRequest::parse(index, holder, &mut options)?,
            output: options.take_path("output"),
            existing: Existing::by_force(options.take_flag("force")?),
        };
        refuse_rest(&options)?;
        Ok(request)
    }
}

/// Writes a row for each document of the index, to the file of `request` or to `standard_output`.
///
/// # Errors
///
/// The file already exists, its extension is not that of a table format, it cannot be written, or the index
/// is damaged.
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

/// Returns the table format for the extension of `path`.
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
