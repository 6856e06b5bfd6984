//! Opens a finished run and reads its inputs again in the same way as the run did.

use super::face::{Face, Notice};
use super::input::Places;
use super::input_settings::{InputSettings, either};
use super::recorded_inputs::RecordedInputs;
use super::standard_streams::STANDARD_INPUT;
use crate::output::finished_run::{Fate, FinishedRun, Sought};
use crate::output::input_search::{InputSearch, Matches};
use crate::pipeline::compare::{ReadDocument, WantedDocument, read_document};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::quantity::counted;
use simtool_compute::resources::Resources;
use simtool_read::selection::Selection;
use simtool_read::walk::{InputFile, listed_paths};
use simtool_read::{Collection, Corpus, ReadOptions, Selector};
use std::env;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// File and record number of a document of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedDocument {
    /// Name of the file, as the run wrote it.
    pub file: String,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
    /// Whether the run did not compare the document, for example because of the option `sample`.
    pub is_passed_over: bool,
}

/// A finished run whose inputs can be read again.
pub(super) struct RecordedRun<'r> {
    pub(super) run: FinishedRun,
    /// Inputs of the run. `None` if [`Face::recorded_inputs`] cannot parse the command line of the run.
    inputs: Option<RecordedInputs>,
    /// Options for reading files in the same way as the run did.
    options: ReadOptions,
    /// Folder in which the run was started. Empty if it is the current folder or unknown.
    place: PathBuf,
    resources: &'r Resources,
    face: &'r dyn Face,
}

impl<'r> RecordedRun<'r> {
    /// Opens the run whose output folder is `folder`.
    ///
    /// # Errors
    ///
    /// The folder has no summary of a run, or a setting of the recorded command line is outside its range.
    pub(super) fn open(
        folder: &Path,
        resources: &'r Resources,
        face: &'r dyn Face,
    ) -> Result<Self> {
        let run = FinishedRun::open(folder)?;
        let inputs = face.recorded_inputs(run.command())?;
        let usual = InputSettings::default();
        let settings = inputs.as_ref().map_or(&usual, |inputs| &inputs.settings);
        let mut options = settings.read_options(face.access());
        // The summary has the names of the fields even if the command line cannot be parsed.
        if run.has_flag("all_strings") {
            options.text_field = Selector::all_strings();
        } else if let Some(field) = run.parameter("text_field") {
            options.text_field = field.into();
        }
        if let Some(field) = run.parameter("id_field") {
            options.id_field = field.into();
        }
        // The file of a document does not say of which collection it is, so the fields of both are tried.
        if let Some(field) = run.parameter("against_text_field") {
            options.text_field = (&*either(options.text_field.as_str(), field)).into();
        }
        if let Some(field) = run.parameter("against_id_field") {
            options.id_field = (&*either(options.id_field.as_str(), field)).into();
        }
        // Relative paths of the inputs start at the folder in which the run was started.
        let place = inputs.as_ref().and_then(|inputs| working_folder(folder, &inputs.output));
        let place = place.unwrap_or_default();
        Ok(Self { run, inputs, options, place, resources, face })
    }

    /// Returns the path by which a file of the run can be opened now.
    fn path(&self, file: &Path) -> PathBuf {
        // Joining a path to an empty path leaves it as it is.
        self.place.join(file)
    }

    /// Reads the document with this record number in a file, in the same way as the run did.
    ///
    /// # Errors
    ///
    /// The file was standard input or cannot be read, or it no longer has such a document.
    pub(super) fn read(&self, file: &str, record: u64) -> Result<ReadDocument> {
        if file == STANDARD_INPUT {
            let reason = "it came through standard input and cannot be read again";
            return Err(Error::io(file, "read", io::Error::other(reason)));
        }
        let path = self.path(Path::new(file));
        // For a missing file, this error is simpler than the fault of a collection.
        fs::metadata(&path).map_err(|error| Error::io(&path, "read", error))?;
        let wanted = WantedDocument::Record(record);
        read_document(InputFile::new(path), wanted, self.everything(), self.face.progress())
    }

    /// Returns options that read all documents, without a selection. A selection does not change record
    /// numbers.
    fn everything(&self) -> ReadOptions {
        ReadOptions { selection: Selection::default(), ..self.options.clone() }
    }

    /// Finds the file and the record number of a document. Searches the outputs of the run first, and then
    /// its inputs.
    ///
    /// # Errors
    ///
    /// An output or input cannot be read, or has no such document.
    pub(super) fn locate(&self, sought: Sought<'_>) -> Result<LocatedDocument> {
        let (file, record) = match self.run.find(sought)?.into_iter().next() {
            Some(Fate::Clustered { cluster, at }) => {
                let member = at.map_or(&cluster.kept, |at| &cluster.removed[at]);
                (member.file.clone(), member.record)
            }
            Some(Fate::Quarantined { file, record, .. }) => (file, record),
            None => return self.look_for(sought),
        };
        Ok(LocatedDocument { file, record, is_passed_over: false })
    }

    /// Looks for a document in the inputs of the run. Callers need this for a document that no output names,
    /// because it was kept or not compared.
    ///
    /// # Errors
    ///
    /// An input cannot be read, or no input has the document.
    pub(super) fn look_for(&self, sought: Sought<'_>) -> Result<LocatedDocument> {
        let mut has_fields = self.inputs.is_none();
        let found = self.look_in_inputs(sought, Matches::First, &mut has_fields)?;
        found.into_iter().next().ok_or_else(|| self.no_document(sought, has_fields))
    }

    /// Returns the places of all documents that `sought` names, as `FILE:RECORD`. Returns `None` if the run
    /// says that no two documents have the same ID, or if the inputs of the run are not known.
    ///
    /// # Errors
    ///
    /// An input cannot be read.
    pub(super) fn places_of(&self, sought: Sought<'_>) -> Result<Option<Vec<String>>> {
        if self.inputs.is_none() || !self.run.has_shared_ids() {
            return Ok(None);
        }
        let found = self.look_in_inputs(sought, Matches::All, &mut false)?;
        Ok(Some(found.iter().map(|found| format!("{}:{}", found.file, found.record)).collect()))
    }

    /// Looks for documents in the inputs of the run. `has_fields` becomes true if a file has a format with
    /// fields.
    fn look_in_inputs(
        &self,
        sought: Sought<'_>,
        matches: Matches,
        has_fields: &mut bool,
    ) -> Result<Vec<LocatedDocument>> {
        let mut found = Vec::new();
        let Some(inputs) = &self.inputs else { return Ok(found) };
        for paths in self.paths_of_sides(inputs)? {
            // This collection came from no file, for example only from standard input.
            if paths.is_empty() {
                continue;
            }
            let files = self.files_of_side(inputs, &paths, sought, matches)?;
            found.extend(self.look_in(&files, sought, matches, has_fields)?);
            if matches == Matches::First && !found.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the paths of the queries and of the corpus, by which they can be opened now. Standard input is
    /// left out, because it cannot be read again.
    fn paths_of_sides(&self, inputs: &RecordedInputs) -> Result<[Vec<PathBuf>; 2]> {
        let mut sides = [inputs.queries.clone(), inputs.corpus.clone()];
        let is_file = |path: &Path| path != Path::new(STANDARD_INPUT);
        if let Some(list) = inputs.settings.files_from.as_deref().filter(|list| is_file(list)) {
            let list = self.path(list);
            sides[1].extend(listed_paths(&list, inputs.settings.null, &mut io::empty())?);
        }
        Ok(sides.map(|side| {
            side.iter().filter(|path| is_file(path)).map(|path| self.path(path)).collect()
        }))
    }

    /// Returns the paths of the files that the run read in `paths`, by which they can be opened now.
    fn files_of_side(
        &self,
        inputs: &RecordedInputs,
        paths: &[PathBuf],
        sought: Sought<'_>,
        matches: Matches,
    ) -> Result<Vec<PathBuf>> {
        let output = self.path(&inputs.output);
        let places = Places { output: &output, temporary: &self.resources.temporary_folder };
        let files = inputs.settings.find_files(paths, places, self.face)?.files;
        let files: Vec<PathBuf> = files.into_iter().map(|file| file.name).collect();
        let count = counted(files.len() as u64, "input file");
        let detail = match matches {
            Matches::First => format!("no output lists {sought}: looking for it in {count}"),
            Matches::All => format!("looking for all documents {sought} in {count}"),
        };
        self.face.notice(Notice::Detail(&detail));
        Ok(files)
    }

    /// Looks for documents in `files`. `has_fields` becomes true if a file has a format with fields.
    fn look_in(
        &self,
        files: &[PathBuf],
        sought: Sought<'_>,
        matches: Matches,
        has_fields: &mut bool,
    ) -> Result<Vec<LocatedDocument>> {
        // The outputs name files as the run did, relative to the folder in which it was started.
        let name = |path: &Path| path.strip_prefix(&self.place).unwrap_or(path).to_owned();
        let has_all = self.options.selection == Selection::default();
        // The second reading finds the documents that the run did not compare.
        let readings = [(self.options.clone(), false), (self.everything(), true)];
        for (options, is_passed_over) in readings {
            // Without a selection, the first reading has already covered all documents.
            if is_passed_over && has_all {
                continue;
            }
            let inputs = files.iter().map(InputFile::new).collect();
            let collection = Collection::open(inputs, options);
            *has_fields |= (0..collection.file_count())
                .filter_map(|file| collection.recognize(file).ok())
                .any(|file| file.format.has_fields());
            let search = InputSearch {
                collection: &collection,
                name: &name,
                threads: self.resources.threads,
                progress: self.face.progress(),
            };
            let found = search.find(sought, matches)?;
            if !found.is_empty() {
                let located = |(file, record): (PathBuf, u64)| {
                    let file = file.to_string_lossy().into_owned();
                    LocatedDocument { file, record, is_passed_over }
                };
                return Ok(found.into_iter().map(located).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns the error for a document that is not found. The message explains how documents of the run are
    /// named.
    fn no_document(&self, sought: Sought<'_>, has_fields: bool) -> Error {
        let ids = if has_fields {
            format!("those of the field \"{}\"", self.options.id_field)
        } else {
            "those that its records have".to_owned()
        };
        let what = format!("{sought} is no document of this run");
        let reason = format!(
            "its IDs are {ids}, or FILE:RECORD where a document has none; FILE:RECORD and FILE#ID \
             name any"
        );
        ErrorKind::Missing { what, reason }.into()
    }
}

/// Returns the folder in which a run was started. The run wrote its output to the path `output`, and its
/// output folder is now `folder`. Returns `None` if the run was started in the current folder, or if the
/// folder cannot be known.
fn working_folder(folder: &Path, output: &Path) -> Option<PathBuf> {
    let mut place = folder.canonicalize().ok()?;
    // The components of `output` are removed one by one from the end of the present path. If the folder was
    // moved or renamed, the present path does not end in them.
    for component in output.components().rev() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) if place.file_name() == Some(name) => drop(place.pop()),
            _ => return None,
        }
    }
    let here = env::current_dir().and_then(|here| here.canonicalize()).ok();
    (here.as_ref() != Some(&place)).then_some(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_run_is_found_from_its_output() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let output = root.join("a/out/found");
        fs::create_dir_all(&output).unwrap();
        let place = |named: &str| working_folder(&output, Path::new(named));
        assert_eq!(place("out/found"), Some(root.join("a")));
        assert_eq!(place("./found"), Some(root.join("a/out")));
        assert_eq!(place("out/renamed"), None);
        assert_eq!(place("../found"), None);
    }
}
