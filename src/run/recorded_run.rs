//! A finished run and its inputs, read again as the run read them.

use super::face::{Face, Notice};
use super::input::Places;
use super::input_settings::InputSettings;
use super::recorded_inputs::RecordedInputs;
use super::standard_streams::STANDARD_INPUT;
use crate::output::finished_run::{Fate, FinishedRun, Sought, find_in};
use crate::pipeline::compare::{ReadDocument, Wanted, read_document};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::quantity::counted;
use simtool_compute::resources::Resources;
use simtool_read::selection::Selection;
use simtool_read::walk::{InputFile, listed_paths};
use simtool_read::{Collection, Corpus, ReadOptions};
use std::env;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Place of a document, with the names that the run has for file and record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedDocument {
    /// Its file.
    pub file: String,
    /// Number of its record in the file, from 0.
    pub record: u64,
    /// Whether the run passed it over, for example with `sample`.
    pub is_passed_over: bool,
}

/// A finished run, whose inputs can be read again.
pub(super) struct RecordedRun<'r> {
    pub(super) run: FinishedRun,
    /// The inputs; none if the face does not understand the command line.
    inputs: Option<RecordedInputs>,
    /// Options with which files are read.
    options: ReadOptions,
    /// Folder in which the run worked. Empty if it is the current folder or unknown.
    place: PathBuf,
    resources: &'r Resources,
    face: &'r dyn Face,
}

impl<'r> RecordedRun<'r> {
    /// Opens the run with the output folder `folder`.
    ///
    /// # Errors
    ///
    /// The folder has no summary of a run, or the face refuses a setting of its command line.
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
        // The summary has the names of the fields even if the command line is not understood.
        if let Some(field) = run.parameter("text_field") {
            field.clone_into(&mut options.text_field);
        }
        if let Some(field) = run.parameter("id_field") {
            field.clone_into(&mut options.id_field);
        }
        // Relative paths of the inputs are relative to the folder in which the run worked.
        let place = inputs.as_ref().and_then(|inputs| working_folder(folder, &inputs.output));
        let place = place.unwrap_or_default();
        Ok(Self { run, inputs, options, place, resources, face })
    }

    /// Returns the present path of a file of the run.
    fn path(&self, file: &Path) -> PathBuf {
        // Joined to an empty path, a path stays as it is.
        self.place.join(file)
    }

    /// Reads the document in a record of a file, as the run read it.
    ///
    /// # Errors
    ///
    /// The file came through standard input or cannot be read, or has no such document any more.
    pub(super) fn read(&self, file: &str, record: u64) -> Result<ReadDocument> {
        if file == STANDARD_INPUT {
            let reason = "it came through standard input and cannot be read again";
            return Err(Error::io(file, "read", io::Error::other(reason)));
        }
        let path = self.path(Path::new(file));
        // A missing file gets this plain error instead of a fault of a collection.
        fs::metadata(&path).map_err(|error| Error::io(&path, "read", error))?;
        let wanted = Wanted::Record(record);
        read_document(InputFile::new(path), wanted, self.everything(), self.face.progress())
    }

    /// Options that read all documents. A selection numbers the records in the same way, so it does
    /// not matter for a document that is named.
    fn everything(&self) -> ReadOptions {
        ReadOptions { selection: Selection::default(), ..self.options.clone() }
    }

    /// Finds the place of a document: in the outputs, or else in the inputs.
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

    /// Looks for a document in the inputs. A document that no output names was kept, or the run
    /// passed it over.
    ///
    /// # Errors
    ///
    /// An input cannot be read, or no input has the document.
    pub(super) fn look_for(&self, sought: Sought<'_>) -> Result<LocatedDocument> {
        let Some(inputs) = &self.inputs else { return Err(self.no_document(sought, true)) };
        let mut has_fields = false;
        for paths in self.paths_of_sides(inputs)? {
            // Nothing came from files on this side, for example all from standard input.
            if paths.is_empty() {
                continue;
            }
            if let Some(found) = self.look_in(inputs, &paths, sought, &mut has_fields)? {
                return Ok(found);
            }
        }
        Err(self.no_document(sought, has_fields))
    }

    /// Returns the present paths of the queries and of the corpus. Standard input is gone.
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

    /// Looks for a document in the files of `paths`. Sets `has_fields` if a file has a format with
    /// fields.
    fn look_in(
        &self,
        inputs: &RecordedInputs,
        paths: &[PathBuf],
        sought: Sought<'_>,
        has_fields: &mut bool,
    ) -> Result<Option<LocatedDocument>> {
        let output = self.path(&inputs.output);
        let places = Places { output: &output, temporary: &self.resources.temporary_folder };
        let files = inputs.settings.find_files(paths, places, self.face)?.files;
        let files: Vec<PathBuf> = files.into_iter().map(|file| file.name).collect();
        let count = counted(files.len() as u64, "input file");
        let detail = format!("no output tells of {sought}: looking for it in {count}");
        self.face.notice(Notice::Detail(&detail));

        // The outputs name files as the run did, relative to its folder.
        let name = |path: &Path| path.strip_prefix(&self.place).unwrap_or(path).to_owned();
        let has_all = self.options.selection == Selection::default();
        // The second reading finds the documents that the run passed over.
        let readings = [(self.options.clone(), false), (self.everything(), true)];
        for (options, is_passed_over) in readings {
            // Without a selection, the first reading has already seen all documents.
            if is_passed_over && has_all {
                continue;
            }
            let inputs = files.iter().map(InputFile::new).collect();
            let collection = Collection::open(inputs, options);
            *has_fields |= (0..collection.file_count())
                .filter_map(|file| collection.recognize(file).ok())
                .any(|file| file.format.has_fields());
            let threads = self.resources.threads;
            let found = find_in(&collection, sought, &name, threads, self.face.progress())?;
            if let Some((file, record)) = found {
                let file = file.to_string_lossy().into_owned();
                return Ok(Some(LocatedDocument { file, record, is_passed_over }));
            }
        }
        Ok(None)
    }

    /// Returns the error that says how the documents of the run are named.
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

/// Returns the folder in which a run wrote to `output`, if its output folder is now `folder`; none if
/// that is the current folder, or if it cannot be known.
fn working_folder(folder: &Path, output: &Path) -> Option<PathBuf> {
    let mut place = folder.canonicalize().ok()?;
    // The path of the output is taken off the end of the present path, name by name. A folder that
    // was moved or renamed since does not end in that path.
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
