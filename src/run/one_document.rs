//! Reads a document that the user names: by a file with one document, `FILE:RECORD`, `FILE#ID`, or `OUT#ID`
//! for a document of a finished run with the output folder OUT.

use super::face::Face;
use super::recorded_run::RecordedRun;
use super::standard_streams::{STANDARD_INPUT, standard_input};
use crate::method::OF_TERMS;
use crate::output::finished_run::{FinishedRun, Sought};
use crate::pipeline::compare::{ReadDocument, WantedDocument, read_document};
use simtool_base::byte_text::{existing_file, path_text, path_with_bytes};
use simtool_base::error::{Error, Result};
use simtool_compute::resources::Resources;
use simtool_read::ReadOptions;
use simtool_read::remote::is_address;
use simtool_read::walk::InputFile;
use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

/// A document that was read by the name that the user gave.
#[derive(Clone, Debug)]
pub struct NamedDocument {
    /// Document that was read.
    pub document: ReadDocument,
    /// Name of the file with the document, as the user or the run wrote it.
    pub file: String,
    /// Kind of the name that the user gave.
    pub by: NamedBy,
    /// Other documents with the same ID, each as `FILE:RECORD`. Empty if the user gave no ID.
    pub others: Vec<String>,
    /// Settings of the run for terms, such as `shingle` and `stop_words`. Empty if the document is not of a run.
    pub(super) terms: Vec<(&'static str, String)>,
}

/// Kind of the name by which a user asks for a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedBy {
    /// `FILE`, or `FILE:RECORD` if the file has several documents.
    Place,
    /// `FILE#ID`: a file, and the ID of a document in it.
    Id,
    /// `OUT#ID`: the output folder of a finished run, and an ID.
    Run,
}

impl NamedDocument {
    /// Returns whether the document was read with the settings of the user. Otherwise it was read with the
    /// settings of a finished run.
    pub(super) fn is_of_file(&self) -> bool {
        matches!(self.by, NamedBy::Place | NamedBy::Id)
    }

    /// Returns whether settings that name fields, such as `text_field`, have an effect on reading the document. They
    /// have one if the document was read with the settings of the user, from a format that has fields.
    pub(super) fn is_of_fields(&self) -> bool {
        self.is_of_file() && self.document.format.has_fields()
    }

    /// Returns whether the document was read with the settings of the user, and from a format that has
    /// HTML pages.
    pub(super) fn is_of_pages(&self) -> bool {
        self.is_of_file() && self.document.format.has_pages()
    }
}

/// Reader of documents by the names that a user gives.
pub(super) struct NamedReader<'r> {
    /// Options for reading files. A document of a run is read with the options of the run instead.
    pub(super) options: ReadOptions,
    pub(super) resources: &'r Resources,
    pub(super) face: &'r dyn Face,
}

impl NamedReader<'_> {
    /// Reads the document with this name, which has one of the forms of [`NamedBy`], or is `-` for standard
    /// input.
    ///
    /// # Errors
    ///
    /// There is no such file or document, or it cannot be read.
    pub(super) fn read(&self, name: &Path) -> Result<NamedDocument> {
        if name == Path::new(STANDARD_INPUT) {
            let file = standard_input(&self.resources.temporary_folder)?;
            return self.read_file(file, WantedDocument::Only);
        }
        if is_address(name) {
            return self.read_object(&path_text(name));
        }
        // If a file has exactly this name, it is meant, even if the name contains `:` or `#`.
        let missing = match fs::metadata(name) {
            Ok(_) => return self.read_file(InputFile::new(name), WantedDocument::Only),
            Err(error) => Error::io(name, "read", error),
        };
        // Bytes that are not UTF-8 may be written as the outputs of a run write them.
        let text = path_text(name);
        if let Some(file) = existing_file(&text) {
            return self.read_file(InputFile::new(file), WantedDocument::Only);
        }
        if let Some((file, record)) = text.rsplit_once(':')
            && let Ok(record) = record.parse()
            && let Some(file) = existing_file(file)
        {
            return self.read_file(InputFile::new(file), WantedDocument::Record(record));
        }
        // File names and IDs can contain `#` as well, so the longest file name that exists is taken.
        for (at, _) in text.rmatch_indices('#') {
            let (folder, id) = (&text[..at], &text[at + 1..]);
            if let Some(file) = existing_file(folder) {
                return self.read_file(InputFile::new(file), WantedDocument::Id(id.as_bytes()));
            }
            // A folder cannot contain IDs, so it must be the output folder of a run.
            let with_bytes = path_with_bytes(folder);
            let folders = iter::once(PathBuf::from(folder)).chain(with_bytes);
            if let Some(folder) = folders.into_iter().find(|folder| FinishedRun::is_at(folder)) {
                return self.read_of_run(&folder, id);
            }
        }
        Err(missing)
    }

    /// Reads a document from an object in a remote store. `name` is the address of the object, which `:RECORD` or `#ID`
    /// may follow.
    fn read_object(&self, name: &str) -> Result<NamedDocument> {
        // A key may have these characters as well, but such keys are rare, and a request for each of them is slow.
        if let Some((file, record)) = name.rsplit_once(':')
            && let Ok(record) = record.parse()
            && is_address(Path::new(file))
        {
            return self.read_file(InputFile::new(file), WantedDocument::Record(record));
        }
        // The part behind `#` is never a part of a web address that a server gets.
        match name.rsplit_once('#') {
            Some((file, id)) => {
                self.read_file(InputFile::new(file), WantedDocument::Id(id.as_bytes()))
            }
            None => self.read_file(InputFile::new(name), WantedDocument::Only),
        }
    }

    fn read_file(&self, file: InputFile, wanted: WantedDocument<'_>) -> Result<NamedDocument> {
        let name = path_text(file.name()).into_owned();
        let document = read_document(file, wanted, self.options.clone(), self.face.progress())?;
        let by = if matches!(wanted, WantedDocument::Id(_)) { NamedBy::Id } else { NamedBy::Place };
        let others = document.others.iter().map(|record| format!("{name}:{record}")).collect();
        Ok(NamedDocument { document, file: name, by, others, terms: Vec::new() })
    }

    fn read_of_run(&self, folder: &Path, id: &str) -> Result<NamedDocument> {
        let run = RecordedRun::open(folder, self.resources, self.face)?;
        let sought = Sought::new(id);
        let located = run.locate(sought)?;
        let document = run.read(&located.file, located.record, located.is_query)?;
        let place = format!("{}:{}", located.file, located.record);
        let mut others = run.places_of(sought)?.unwrap_or_default();
        others.retain(|other| *other != place);
        let setting = |name: &&'static str| Some((*name, run.run.parameter(name)?.to_owned()));
        let terms = OF_TERMS.iter().filter_map(setting).collect();
        Ok(NamedDocument { document, file: located.file, by: NamedBy::Run, others, terms })
    }
}
