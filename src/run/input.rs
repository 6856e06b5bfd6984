//! Finds and opens the input files of a command, and refuses unsuitable ones.

use super::face::{Face, Notice};
use super::fetching::{note_fetched, note_fetching};
use super::files::without_links;
use super::input_settings::InputSettings;
use super::parts_folder::parts_path;
use super::reading_faults::{
    all_faults, have_different_fields, refuse_most_without_text, refuse_unknown_field,
};
use super::standard_streams::{STANDARD_INPUT, add_standard_input};
use crate::output::ResultFiles;
use crate::pipeline::CollectionSummary;
use crate::setting::OnError;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::{Fault, Severity, escaped};
use simtool_base::options::Choice;
use simtool_base::quantity::counted;
use simtool_compute::resources::Resources;
use simtool_model::document::Bad;
use simtool_read::walk::{InFolders, InputFile, Walked, Walker, listed_paths};
use simtool_read::{Collection, Corpus, Format, Globs, ReadOptions, Selector, Strict, TextSplit};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// Opened input files of a command, and the faults of their paths.
#[derive(Debug)]
pub struct Input<'s> {
    /// The input files, opened for reading.
    pub collection: Collection,
    pub(super) settings: &'s InputSettings,
    path_faults: Vec<Fault>,
}

/// Folders that are treated specially when input paths are searched for files.
#[derive(Clone, Copy, Debug)]
pub struct Places<'p> {
    /// Output of the command. It is not read, even if it is inside an input folder.
    pub output: &'p Path,
    /// Folder for a copy of standard input.
    pub temporary: &'p Path,
}

impl<'s> Input<'s> {
    /// Finds the files in `paths` and opens them. `options` say how the files will be read.
    ///
    /// # Errors
    ///
    /// There is no file to read, or a path has a fault and `on_error` is `fail`.
    pub fn open(
        paths: &[PathBuf],
        settings: &'s InputSettings,
        options: ReadOptions,
        places: Places<'_>,
        face: &dyn Face,
    ) -> Result<Self> {
        let walked = settings.find_files(paths, places, face)?;
        let collection = Collection::open(walked.files, options);
        let texts = collection.texts_with_blocks();
        if texts > 0 {
            let files = if texts == 1 { "text file is" } else { "text files are" };
            let note = format!(
                "{texts} {files} one document each, but blank lines seem to separate documents. \
                 If they do, use `split` blank-lines"
            );
            face.notice(Notice::Note(&face.message(&note)));
        }
        if let Some(limit) = settings.limit.filter(|_| collection.ends_at_limit()) {
            let documents = counted(limit, "document");
            let note = format!("nothing is read or copied after {documents}, as `limit` asks");
            face.notice(Notice::Note(&face.message(&note)));
        }
        note_alternatives(&collection, face);
        note_fetching(&collection, face);
        Ok(Self { collection, settings, path_faults: walked.faults })
    }

    /// Opens the files in `paths` and the files in the list `files_from` of `settings`, for a command that writes
    /// `output`. Also fails if the list cannot be read.
    pub(super) fn open_listed(
        paths: &[PathBuf],
        settings: &'s InputSettings,
        output: &Path,
        resources: &Resources,
        face: &dyn Face,
    ) -> Result<Self> {
        let paths = settings.with_listed(paths)?;
        let options = settings.read_options(face.access(), resources);
        let places = Places { output, temporary: &resources.temporary_folder };
        Self::open(&paths, settings, options, places, face)
    }

    /// Opens the given files as one collection. `options` say how their records are read. They come from `settings`,
    /// the settings of the user.
    #[must_use]
    pub(crate) fn of_files(
        files: Vec<InputFile>,
        settings: &'s InputSettings,
        options: ReadOptions,
    ) -> Self {
        let collection = Collection::open(files, options);
        Self { collection, settings, path_faults: Vec::new() }
    }

    /// Returns the faults of the input paths, for example that a path does not exist.
    #[must_use]
    pub(crate) fn path_faults(&self) -> &[Fault] {
        &self.path_faults
    }

    /// Returns the collection for reading. If `on_error` is `fail`, returns `strict` instead, which ends
    /// reading at the first record or file that cannot be read.
    #[must_use]
    pub fn corpus<'c>(&'c self, strict: &'c Strict<'c>) -> &'c dyn Corpus {
        match self.settings.on_error {
            OnError::Skip => &self.collection,
            OnError::Fail => strict,
        }
    }

    /// Adds faults to the summary `read`: those of input paths, and those of files that another program has changed
    /// meanwhile. The texts of faults name settings as users write them, because outputs show these texts.
    pub(crate) fn add_faults(&self, read: &mut CollectionSummary, face: &dyn Face) {
        read.faults.splice(0..0, self.path_faults.iter().cloned());
        for fault in self.collection.changed_files() {
            // The reader may already have noticed the change.
            let is_same = |known: &Fault| (known.code, &known.file) == (fault.code, &fault.file);
            if !read.faults.iter().any(is_same) {
                read.faults.push(fault);
            }
        }
        for fault in &mut read.faults {
            fault.detail = face.message(&fault.detail);
        }
        // All records without a text have the same description, because there can be very many of them. It names
        // the option of this side of a match.
        let setting = self.collection.text_setting();
        let missing = face.message(&format!("a text in the field that `{setting}` names"));
        read.quarantined.rewrite(|code, expected| {
            if code == Bad::NO_TEXT {
                Some(missing.as_str().into())
            } else {
                expected.contains('`').then(|| face.message(expected).into())
            }
        });
    }

    /// Returns all faults: first of files, then of bad records. All records without a text together are one
    /// fault.
    #[must_use]
    pub fn faults(&self, read: &CollectionSummary) -> Vec<Fault> {
        all_faults(&self.collection, read)
    }

    /// Returns an error if the file `output` is one of the input files, which writing would destroy.
    pub(crate) fn refuse_as_output(&self, output: &Path) -> Result<()> {
        // Links are resolved before paths are compared, because a file can have several names. A file that does not
        // exist, such as an object in a store, has one name.
        let resolved = output.canonicalize().unwrap_or_else(|_| output.to_owned());
        let is_output = |name: &&Path| {
            **name == *resolved || name.canonicalize().is_ok_and(|input| input == resolved)
        };
        let collection = &self.collection;
        let mut names = (0..collection.file_count()).map(|file| collection.file_name(file));
        let Some(input) = names.find(is_output) else { return Ok(()) };
        let rule = format!("is the input {}: choose another file", input.display());
        Err(Error::config("output", output.display(), rule))
    }

    /// Completes the summary `read` with the faults that are only known after reading. Returns all faults.
    ///
    /// # Errors
    ///
    /// Something could not be read and `on_error` is `fail`, no document was read, or most records of a file
    /// lack the text.
    pub fn complete(&self, read: &mut CollectionSummary, face: &dyn Face) -> Result<Vec<Fault>> {
        self.add_faults(read, face);
        let faults = self.faults(read);
        self.settings.refuse_losses(&faults)?;
        self.refuse_nothing(read)?;
        refuse_most_without_text(&self.collection, read)?;
        if let Some(note) = self.collection.turns().note() {
            face.notice(Notice::Note(&face.message(&note)));
        }
        note_fetched(&self.collection, face);
        Ok(faults)
    }

    /// Returns an error if no document was read, because empty results must not replace good ones.
    ///
    /// # Errors
    ///
    /// No document was read. The error gives the most likely reason.
    pub(crate) fn refuse_nothing(&self, read: &CollectionSummary) -> Result<()> {
        if !read.ids.is_empty() || read.passed_over > 0 {
            return Ok(());
        }
        let faults = self.faults(read);
        let wrong_field = faults.iter().find(|fault| fault.code == Bad::NO_TEXT);
        if wrong_field.is_some() && have_different_fields(&self.collection, read) {
            refuse_most_without_text(&self.collection, read)?;
        }
        let first_loss = || faults.iter().find(|fault| fault.severity == Severity::Loss);
        // Folders first report the files that they left out, so the last fault is about a file.
        let likeliest = wrong_field.or_else(first_loss).or(faults.last());
        let reason = likeliest.map_or_else(|| self.without_documents(read), Fault::to_string);
        Err(ErrorKind::NothingRead { reason }.into())
    }

    /// Returns the reason why a collection without faults has no document.
    fn without_documents(&self, read: &CollectionSummary) -> String {
        let files = match self.collection.file_count() {
            1 => format!(
                "\"{}\"",
                escaped(self.collection.file_name(0).as_os_str().as_encoded_bytes())
            ),
            count => format!("{count} files"),
        };
        let counts =
            read.non_documents.kinds().map(|(kind, count)| format!("{count} {}", kind.title()));
        match counts.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => format!("there are no records in {files}"),
            counts => format!("no record in {files} has a page or a text; there are: {counts}"),
        }
    }

    /// Returns an error if the user named a field for IDs and no document of the inputs has it.
    ///
    /// # Errors
    ///
    /// There are documents, and none of them has the field.
    pub(crate) fn refuse_missing_ids(inputs: &[(&Self, &CollectionSummary)]) -> Result<()> {
        for (first, _) in inputs {
            let Some(field) = &first.settings.id_field else { continue };
            // The collections of a match may have different fields.
            let same = || {
                inputs
                    .iter()
                    .filter(|(input, _)| input.settings.id_field == first.settings.id_field)
            };
            // If there are no documents, another error is more helpful than the missing field.
            let has_documents = same().any(|(_, read)| !read.ids.is_empty());
            let has_ids = same().any(|(_, read)| read.ids.has_any_id());
            if has_documents && !has_ids {
                let inputs: Vec<&Self> = same().map(|(input, _)| *input).collect();
                Self::refuse_missing_field("id_field", field, &inputs)?;
            }
        }
        Ok(())
    }

    /// Returns an error if no record of `inputs` has the field `field`. A record with an empty field has the field.
    /// `setting` is the option that names the field.
    ///
    /// # Errors
    ///
    /// No record has the field. The error lists the fields that records have.
    pub(crate) fn refuse_missing_field(
        setting: &'static str,
        field: &str,
        inputs: &[&Self],
    ) -> Result<()> {
        let names = inputs.iter().flat_map(|input| input.collection.field_names());
        refuse_unknown_field(setting, field, names)
    }

    /// Returns an error if the user gave a setting that affects no input file, for example a field although no file has
    /// a format with fields. `fields` has further options that name a field, each with the field.
    ///
    /// # Errors
    ///
    /// A setting has no effect on any file. The error lists the formats that the setting is for.
    pub(crate) fn refuse_idle(inputs: &[&Self], fields: &[(&'static str, &str)]) -> Result<()> {
        let Some(first) = inputs.first() else { return Ok(()) };
        let settings = first.settings;
        if let Some(field) = &settings.text_field {
            refuse_without_files(inputs, "text_field", field, &Format::has_fields)?;
        }
        let id_field = settings.id_field.as_deref().map(|field| ("id_field", field));
        for (setting, field) in id_field.iter().chain(fields) {
            refuse_without_files(inputs, setting, field, &Format::has_values).or_else(|error| {
                // Files of every format can be in folders such as `lang=en`.
                let selector = Selector::from(*field);
                let mut names = inputs.iter().flat_map(|input| input.collection.field_names());
                if names.any(|name| selector.names(&name)) { Ok(()) } else { Err(error) }
            })?;
        }
        for (setting, value) in settings.dialect_settings() {
            refuse_without_files(inputs, setting, &value, &Format::has_delimiter)?;
        }
        if settings.split != TextSplit::File {
            refuse_without_files(inputs, "split", settings.split.name(), &Format::is_plain)?;
        }
        Ok(())
    }
}

/// Sends a note if the setting of the text field names several fields with commas between them, and the documents have
/// more than one of these fields. Only the first one is read then. The option `fields` of `contamination` joins fields
/// at commas, so users may expect the same here.
fn note_alternatives(collection: &Collection, face: &dyn Face) {
    let rivals = collection.rival_fields(collection.text_field());
    if let [first, .., last] = &rivals[..] {
        face.notice(Notice::Note(&face.message(&format!(
            "`{}` reads the first of its fields that a document has: {first}, not {last}. A comma does not join them. To \
             join the fields, name them with a plus sign: {}",
            collection.text_setting(),
            rivals.join("+")
        ))));
    }
}

/// Returns an error if no input file has a format for which `is_meant` returns true. `setting` and `value`
/// are the option that needs such a format.
fn refuse_without_files(
    inputs: &[&Input<'_>],
    setting: &'static str,
    value: &str,
    is_meant: &dyn Fn(Format) -> bool,
) -> Result<()> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    for collection in inputs.iter().map(|input| &input.collection) {
        for file in 0..collection.file_count() {
            match collection.recognize(file) {
                Ok(file) if !is_meant(file.format) => _ = found.insert(file.format.name()),
                // The setting affects this file, or the file cannot be opened, which is reported when it is
                // read.
                _ => return Ok(()),
            }
        }
    }
    let meant: Vec<&str> =
        Format::all().filter(|format| is_meant(*format)).map(Format::name).collect();
    let found: Vec<&str> = found.into_iter().collect();
    let rule = format!("is of {}; the input is {}", meant.join(", "), found.join(", "));
    Err(Error::config(setting, value, rule))
}

impl InputSettings {
    /// Returns `paths`, followed by the paths in the list `files_from`.
    ///
    /// # Errors
    ///
    /// The list cannot be read, or standard input is both the list and a document.
    pub(crate) fn with_listed(&self, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let mut all = paths.to_vec();
        let Some(list) = &self.files_from else { return Ok(all) };
        // The list may be in a store, too.
        self.configure_stores(&std::env::temp_dir());
        all.extend(listed_paths(list, &mut io::stdin().lock())?);
        let is_input = |path: &PathBuf| path == Path::new(STANDARD_INPUT);
        if is_input(list) && all.iter().any(is_input) {
            let rule =
                "reads the list from standard input, which can be read once; name no other -";
            return Err(Error::config("files_from", STANDARD_INPUT, rule));
        }
        Ok(all)
    }

    /// Finds the files in `paths`. Also returns faults, for example paths that do not exist, or files that were left
    /// out when folders were searched.
    ///
    /// # Errors
    ///
    /// There is no file to read, or a path has a fault and `on_error` is `fail`.
    pub(crate) fn find_files(
        &self,
        paths: &[PathBuf],
        places: Places<'_>,
        face: &dyn Face,
    ) -> Result<Walked> {
        self.configure_stores(places.temporary);
        let globs = Globs::new(&self.glob)?;
        // The paths that are found are compared with the real path of the output.
        let output = without_links(places.output);
        let own = without_links(&parts_path(places.output));
        let results = ResultFiles::new();
        let in_folders = InFolders {
            wanted: &|path| globs.select(path),
            hidden: self.hidden,
            is_result: &|path| results.has(path),
            output: Some(&output),
            own: Some(&own),
        };
        let mut walker = Walker::default();
        for path in paths {
            if path == Path::new(STANDARD_INPUT) {
                add_standard_input(&mut walker, places.temporary)?;
            } else {
                walker.add(path, in_folders);
            }
        }
        let mut walked = walker.finish();
        walked.faults.append(&mut walked.left_out);
        if walked.files.is_empty() {
            // The faults explain why there is no file, and nothing else would report them.
            face.notice(Notice::Faults(&walked.faults));
            return Err(nothing_to_read(paths, &self.glob));
        }
        self.refuse_losses(&walked.faults)?;
        Ok(walked)
    }

    /// Checks that nothing was lost if the user chose `--on-error fail`. A fault is a loss if a part of the input could
    /// not be read.
    ///
    /// # Errors
    ///
    /// `on_error` is `fail`, and one of `faults` is a loss. The error describes the first such fault.
    pub(crate) fn refuse_losses(&self, faults: &[Fault]) -> Result<()> {
        let first = faults.iter().find(|fault| fault.severity == Severity::Loss);
        match first {
            Some(fault) if self.on_error == OnError::Fail => {
                Err(ErrorKind::Loss { fault: fault.clone() }.into())
            }
            _ => Ok(()),
        }
    }
}

fn nothing_to_read(paths: &[PathBuf], globs: &[String]) -> Error {
    let first = paths.first().map_or(Path::new("an empty list"), PathBuf::as_path);
    let reason = match globs {
        [] => "there is none to read".to_owned(),
        globs => format!("there is none that `glob` {} lets be read", globs.join(", ")),
    };
    Error::io(first, "read any file of", io::Error::other(reason))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use std::fs;
    use std::sync::Mutex;

    fn opened<'s>(paths: &[PathBuf], settings: &'s InputSettings) -> Result<Input<'s>> {
        let none = Path::new("");
        let places = Places { output: none, temporary: none };
        let options = settings
            .read_options(simtool_base::mapped_file::FileAccess::READ, &Resources::default());
        Input::open(paths, settings, options, places, &Silent)
    }

    #[test]
    fn paths_without_files_are_reported_before_the_run_fails() {
        #[derive(Default)]
        struct Listening(Mutex<Vec<String>>);
        impl Face for Listening {
            fn notice(&self, notice: Notice<'_>) {
                if let Notice::Faults(faults) = notice {
                    self.0.lock().unwrap().extend(faults.iter().map(|f| f.code.to_owned()));
                }
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let missing = [folder.path().join("none")];
        let face = Listening::default();
        let places = Places { output: Path::new(""), temporary: Path::new("") };
        let settings = InputSettings { glob: vec!["*.md".to_owned()], ..InputSettings::default() };
        let error = settings.find_files(&missing, places, &face).unwrap_err();
        assert!(error.to_string().starts_with("cannot read any file of"), "{error}");
        assert_eq!(*face.0.lock().unwrap(), ["input-open"]);
    }

    #[test]
    fn a_missing_path_ends_a_run_that_may_lose_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("a.txt");
        fs::write(&there, "some text").unwrap();
        let paths = [there, folder.path().join("none")];
        let skip = InputSettings::default();
        assert_eq!(opened(&paths, &skip).unwrap().path_faults.len(), 1);
        let fail = InputSettings { on_error: OnError::Fail, ..InputSettings::default() };
        let error = opened(&paths, &fail).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Loss { .. }), "{error}");
    }

    #[test]
    fn settings_without_a_file_to_work_on_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "some text").unwrap();
        let field = Some("body".to_owned());
        let settings = InputSettings { text_field: field, ..InputSettings::default() };
        let input = opened(std::slice::from_ref(&path), &settings).unwrap();
        let error = Input::refuse_idle(&[&input], &[]).unwrap_err();
        let expected =
            "text_field body: is of parquet, arrow, csv, tsv, json, jsonl, xml; the input is text";
        assert_eq!(error.to_string(), expected);
        let settings = InputSettings { split: TextSplit::Lines, ..InputSettings::default() };
        let input = opened(&[path], &settings).unwrap();
        assert!(Input::refuse_idle(&[&input], &[]).is_ok());
    }
}
