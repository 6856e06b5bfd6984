//! Reads documents of a finished run again: one document with its text or its fields, or all documents that a search
//! wants.

use super::{RecordedRun, everything};
use crate::output::input_search::{InputSearch, IsWanted};
use crate::pipeline::compare::{ReadDocument, WantedDocument, read_document};
use crate::run::standard_streams::STANDARD_INPUT;
use simtool_base::byte_text::byte_text;
use simtool_base::error::{Error, Result};
use simtool_model::document::MOST_FIELDS;
use simtool_read::remote::is_address;
use simtool_read::walk::InputFile;
use simtool_read::{Collection, PageContent, ReadOptions, Selector};
use std::fs;
use std::io;
use std::path::Path;

impl RecordedRun<'_> {
    /// Reads the document with this record number in a file, in the same way as the run did. `is_query` says
    /// whether the document is one of the queries of a match.
    ///
    /// # Errors
    ///
    /// The file was standard input or cannot be read, or it no longer has such a document.
    pub(in crate::run) fn read(
        &self,
        file: &str,
        record: u64,
        is_query: bool,
    ) -> Result<ReadDocument> {
        self.read_with(file, record, self.options_of(is_query))
    }

    /// Reads the document with this record number in a file, which is an HTML page. `content` says which part of the
    /// page is read.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub(in crate::run) fn read_part_of_page(
        &self,
        file: &str,
        record: u64,
        is_query: bool,
        content: PageContent,
    ) -> Result<ReadDocument> {
        let options = ReadOptions { content, ..self.options_of(is_query).clone() };
        self.read_with(file, record, &options)
    }

    /// Returns the names and values of the fields of a document, except the fields of its text.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub(in crate::run) fn fields_of(
        &self,
        file: &str,
        record: u64,
        is_query: bool,
    ) -> Result<Vec<(String, String)>> {
        let (path, options) = (self.path_of_name(file), everything(self.options_of(is_query)));
        let (input, ..) = self.file_of_record(&path, record, &options);
        let mut names = Collection::open(vec![input], options.clone()).field_names();
        // The page shows the text anyway.
        names.retain(|name| !options.text_field.names(name));
        let mut found = Vec::new();
        // A reader reads a few fields at a time.
        for names in names.chunks(MOST_FIELDS) {
            let fields = names.iter().map(|name| Selector::from(&**name)).collect();
            let options = ReadOptions { fields, ..options.clone() };
            // A file in memory can be read only once, so it is made again for each group of names.
            let (input, options, record) = self.file_of_record(&path, record, &options);
            let wanted = WantedDocument::Record(record);
            let document = read_document(input, wanted, options, self.face.progress())?;
            for (name, value) in names.iter().zip(document.fields) {
                found.extend(value.map(|value| (name.clone(), byte_text(&value).into_owned())));
            }
        }
        Ok(found)
    }

    /// Returns a file with the record, options for reading it, and the number of the record in it. The returned file
    /// has only this record if the record can be found without reading the ones before it.
    fn file_of_record(
        &self,
        path: &Path,
        record: u64,
        options: &ReadOptions,
    ) -> (InputFile, ReadOptions, u64) {
        match self.lines.and_then(|lines| lines.file_of_line(path, record, options)) {
            Some((line, options)) => (line, options, 0),
            None => (InputFile::new(path), options.clone(), record),
        }
    }

    fn read_with(&self, file: &str, record: u64, options: &ReadOptions) -> Result<ReadDocument> {
        if file == STANDARD_INPUT {
            return Err(not_again());
        }
        let path = self.path_of_name(file);
        // For a missing file, this error is simpler than the fault of a collection.
        if !is_address(&path) {
            fs::metadata(&path).map_err(|error| Error::io(&path, "read", error))?;
        }
        let wanted = WantedDocument::Record(record);
        let options = everything(options);
        let by_line = self.lines.and_then(|lines| lines.document(&path, record, &options));
        if let Some(found) = by_line {
            return Ok(found);
        }
        read_document(InputFile::new(path), wanted, options, self.face.progress())
    }

    /// Opens files of the run by their names, to read the text and `fields` of their documents. With `is_selected`,
    /// documents that the run skipped, for example because of its option `sample`, are skipped again.
    pub(in crate::run) fn collection(
        &self,
        names: &[&str],
        is_query: bool,
        fields: Vec<Selector>,
        is_selected: bool,
    ) -> Collection {
        let options = self.options_of(is_query);
        let options = if is_selected { options.clone() } else { everything(options) };
        let files = names.iter().map(|name| InputFile::new(self.path_of_name(name)));
        Collection::open(files.collect(), ReadOptions { fields, ..options })
    }

    /// Calls `visit` with the file and the record number of each document of the inputs for which `is_wanted` returns
    /// true. The values of `fields` are read, too.
    ///
    /// # Errors
    ///
    /// An input cannot be read, or the work is cancelled.
    pub(in crate::run) fn visit_wanted(
        &self,
        fields: &[Selector],
        is_wanted: &IsWanted<'_>,
        visit: &mut dyn FnMut(&str, u64),
    ) -> Result<()> {
        // The other inputs alone would give an incomplete answer.
        if self.inputs.have_standard_input() {
            return Err(not_again());
        }
        for (paths, is_query) in self.paths_of_sides(&self.inputs)?.into_iter().zip([true, false]) {
            // The queries and the corpus of a match are read one after the other.
            if paths.is_empty() {
                continue;
            }
            let files = self.files_of_side(&self.inputs, &paths)?;
            let options =
                ReadOptions { fields: fields.to_vec(), ..self.options_of(is_query).clone() };
            let inputs = files.iter().map(InputFile::new).collect();
            let search = InputSearch {
                collection: &Collection::open(inputs, options),
                name: &|path| path.strip_prefix(&self.place).unwrap_or(path).to_owned(),
                threads: self.resources.threads,
                progress: self.face.progress(),
            };
            search.visit_wanted(is_wanted, visit)?;
        }
        Ok(())
    }
}

/// Returns the error for documents that came through standard input.
fn not_again() -> Error {
    let reason = "it came through standard input and cannot be read again";
    Error::io(STANDARD_INPUT, "read", io::Error::other(reason))
}
