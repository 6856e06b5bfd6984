//! A document that the user names: a file with one document, `FILE:RECORD`, `FILE#ID`, or an ID of a
//! finished run behind its output folder, as `OUT#ID`.

use super::face::Face;
use super::recorded_run::RecordedRun;
use super::standard_streams::{STANDARD_INPUT, standard_input};
use crate::output::finished_run::{FinishedRun, Sought};
use crate::pipeline::compare::{ReadDocument, Wanted, read_document};
use simtool_base::error::{Error, Result};
use simtool_compute::resources::Resources;
use simtool_read::ReadOptions;
use simtool_read::walk::InputFile;
use std::fs;
use std::path::Path;

/// A document that was read by its name.
#[derive(Clone, Debug)]
pub struct NamedDocument {
    /// The document.
    pub document: ReadDocument,
    /// Its file, with the name that the user or the run has for it.
    pub file: String,
    /// The kind of name.
    pub by: NamedBy,
}

/// Kinds of names of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// Its file, and its record if the file has several.
    Place,
    /// Its file and ID.
    Id,
    /// The output folder of a run that has read it, and its ID.
    Run,
}

impl NamedDocument {
    /// Returns whether it was read with the settings of the caller instead of the settings of a run.
    pub(super) fn is_of_file(&self) -> bool {
        matches!(self.by, NamedBy::Place | NamedBy::Id)
    }

    /// Returns whether it was read with the settings of the caller from a format with fields.
    pub(super) fn is_of_fields(&self) -> bool {
        self.is_of_file() && self.document.format.has_fields()
    }
}

/// Reads documents by their names.
pub(super) struct NamedReader<'r> {
    /// Options with which files are read. A document of a run is read as the run read it.
    pub(super) options: ReadOptions,
    pub(super) resources: &'r Resources,
    pub(super) face: &'r dyn Face,
}

impl NamedReader<'_> {
    /// Reads the document with this name.
    ///
    /// # Errors
    ///
    /// There is no such file or document, or it cannot be read.
    pub(super) fn read(&self, name: &Path) -> Result<NamedDocument> {
        if name == Path::new(STANDARD_INPUT) {
            let file = standard_input(&self.resources.temporary_folder)?;
            return self.read_file(file, Wanted::Only);
        }
        // A file of exactly this name comes first, whatever signs are in the name.
        let missing = match fs::metadata(name) {
            Ok(_) => return self.read_file(InputFile::new(name), Wanted::Only),
            Err(error) => Error::io(name, "read", error),
        };
        // A name that is not UTF-8 can only be a file.
        let Some(text) = name.to_str() else { return Err(missing) };
        if let Some((file, record)) = text.rsplit_once(':')
            && let Ok(record) = record.parse()
            && Path::new(file).is_file()
        {
            return self.read_file(InputFile::new(file), Wanted::Record(record));
        }
        // Names of files and IDs may contain the sign, too: the longest name that exists counts.
        for (at, _) in text.rmatch_indices('#') {
            let file = Path::new(&text[..at]);
            let id = &text[at + 1..];
            if file.is_file() {
                return self.read_file(InputFile::new(file), Wanted::Id(id.as_bytes()));
            }
            // A folder is meant as the output of a run, because it has no IDs of its own.
            if FinishedRun::is_at(file) {
                return self.read_of_run(file, id);
            }
        }
        Err(missing)
    }

    fn read_file(&self, file: InputFile, wanted: Wanted<'_>) -> Result<NamedDocument> {
        let name = file.name.to_string_lossy().into_owned();
        let document = read_document(file, wanted, self.options.clone(), self.face.progress())?;
        let by = if matches!(wanted, Wanted::Id(_)) { NamedBy::Id } else { NamedBy::Place };
        Ok(NamedDocument { document, file: name, by })
    }

    fn read_of_run(&self, folder: &Path, id: &str) -> Result<NamedDocument> {
        let run = RecordedRun::open(folder, self.resources, self.face)?;
        let located = run.locate(Sought::new(id))?;
        let document = run.read(&located.file, located.record)?;
        Ok(NamedDocument { document, file: located.file, by: NamedBy::Run })
    }
}
