//! Opens a finished run and reads its inputs again in the same way as the run did.

mod documents;

use super::contamination::item_settings;
use super::face::{Face, Notice};
use super::input::Places;
use super::input_change::InputChange;
use super::line_cache::LineCache;
use super::recorded_inputs::{RecordedInputs, recorded};
use super::standard_streams::STANDARD_INPUT;
use crate::output::finished_run::{FinishedRun, Sought, Status};
use crate::output::input_search::{InputSearch, Matches};
use crate::output::listed_documents::find_listed;
use crate::write::summary::Summary;
use simtool_base::byte_text::{path_text, path_with_bytes};
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::quantity::counted;
use simtool_base::utc_time::UtcTime;
use simtool_compute::resources::Resources;
use simtool_model::document::Content;
use simtool_read::remote::is_address;
use simtool_read::selection::Selection;
use simtool_read::walk::{InputFile, listed_paths};
use simtool_read::{Collection, Corpus, Event, ReadOptions, Visit};
use std::env;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

/// Largest number of records of a file that a message lists.
const SHOWN_RECORDS: usize = 4;

/// File and record number of a document of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedDocument {
    /// Name of the file, as the outputs of the run have it.
    pub file: String,
    /// Number of the record that holds the document, counted from 0 in the file.
    pub record: u64,
    /// Whether the run did not compare the document, for example because of the option `sample`.
    pub is_passed_over: bool,
    /// Whether the document is one of the queries of a match.
    pub is_query: bool,
}

/// A finished run whose inputs can be read again.
pub(super) struct RecordedRun<'r> {
    pub(super) run: FinishedRun,
    inputs: RecordedInputs,
    /// Options for reading the corpus in the same way as the run did.
    options: ReadOptions,
    /// Options for reading the queries in the same way as the run did.
    query_options: ReadOptions,
    /// Folder in which the run was started. Empty if it is the current folder or unknown.
    place: PathBuf,
    resources: &'r Resources,
    face: &'r dyn Face,
    /// Offsets of lines in large files, so that many documents can be found quickly. `None` if each document is
    /// searched from the beginning of its file.
    lines: Option<&'r LineCache>,
}

impl<'r> RecordedRun<'r> {
    /// Opens the run whose output folder is `folder`.
    ///
    /// # Errors
    ///
    /// The folder has no summary of a run, or a setting of the recorded request is outside its range.
    pub(super) fn open(
        folder: &Path,
        resources: &'r Resources,
        face: &'r dyn Face,
    ) -> Result<Self> {
        let run = FinishedRun::open(folder)?;
        let inputs = RecordedInputs::of(recorded(folder)?)?;
        // The corpus of a match may have fields of its own.
        let mut options = inputs.settings.read_options(face.access(), resources);
        let query_options = match &inputs.item_fields {
            Some(fields) => {
                item_settings(&inputs.settings, fields).read_options(face.access(), resources)
            }
            None => options.clone(),
        };
        if let Some(field) = &inputs.against_text_field {
            options.text_field = field.as_str().into();
        }
        if let Some(field) = &inputs.against_id_field {
            options.id_field = field.as_str().into();
        }
        // Relative paths of the inputs start at the folder in which the run was started.
        let place = working_folder(folder, &inputs.output).unwrap_or_default();
        inputs.settings.configure_stores(&resources.temporary_folder);
        Ok(Self { run, inputs, options, query_options, place, resources, face, lines: None })
    }

    /// Returns the run with `lines`, which remembers where lines of large files begin, so that the next document of a
    /// file is found at once.
    pub(super) fn with_lines(self, lines: &'r LineCache) -> Self {
        Self { lines: Some(lines), ..self }
    }

    /// Returns the folder in which the run was started. Empty if it is the current folder or unknown.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Returns the path by which a file of the run can be opened now.
    fn path(&self, file: &Path) -> PathBuf {
        // Joining a path to an empty path leaves it as it is.
        if is_address(file) { file.to_owned() } else { self.place.join(file) }
    }

    /// Returns a path by which a file of the run can be opened now. `name` is the name of the file in the outputs of
    /// the run.
    pub(super) fn path_of_name(&self, name: &str) -> PathBuf {
        let path = self.path(Path::new(name));
        match path_with_bytes(name) {
            Some(with_bytes) if !path.exists() => self.path(&with_bytes),
            _ => path,
        }
    }

    /// Returns the options for reading a document of the queries or of the corpus.
    fn options_of(&self, is_query: bool) -> &ReadOptions {
        if is_query { &self.query_options } else { &self.options }
    }

    /// Returns the change of an input file since the run. `None` if it has not changed, or if that is not known.
    pub(super) fn change_of(&self, file: &str) -> Option<InputChange> {
        let now = fs::metadata(self.path_of_name(file)).ok()?;
        let bytes_now = now.len();
        let modified = UtcTime::from(now.modified().ok()?).to_string();
        let change = |bytes| InputChange { file: file.to_owned(), bytes, bytes_now };
        if let Some((_, bytes, then)) = self.run.inputs().find(|(name, ..)| *name == file) {
            return (bytes != bytes_now || then != modified).then(|| change(Some(bytes)));
        }
        // The list of the inputs may be cut if it is long, and searches for passages or items have none.
        let listed = self.run.inputs().count();
        (1..Summary::INPUTS).contains(&listed).then(|| change(None))
    }

    /// Returns the first records of the file that `sought` names, each as `FILE:RECORD`, and whether the file has more
    /// records. `sought` is the name that the user gave. The list is empty if this name is not that of a file.
    fn records_of_file(&self, sought: Sought<'_>) -> (Vec<String>, bool) {
        let name = sought.to_string();
        let path = self.path_of_name(&name);
        let mut records = Vec::new();
        if !path.is_file() {
            return (records, false);
        }
        let options = everything(self.options_of(self.is_query_file(&name)));
        let collection = Collection::open(vec![InputFile::new(path)], options);
        let visit: &mut Visit<'_> = &mut |event| {
            if let Event::Record(record) = event
                && matches!(record.content, Content::Document(_) | Content::Bad(_))
            {
                records.push(format!("{name}:{}", record.number));
            }
            let is_enough = records.len() > SHOWN_RECORDS;
            Ok(if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        // The first shard counts its records as the file does. A file that cannot be read has no records to name.
        drop(collection.read_shard(0, visit));
        let has_more = records.len() > SHOWN_RECORDS || collection.shard_count() > 1;
        records.truncate(SHOWN_RECORDS);
        (records, has_more)
    }

    /// Returns the only record of the file that `sought` names, as `FILE:RECORD`. Returns `None` if `sought` names no
    /// file, or a file with several records.
    pub(super) fn only_record(&self, sought: Sought<'_>) -> Option<String> {
        let (mut records, has_more) = self.records_of_file(sought);
        if records.len() == 1 && !has_more { records.pop() } else { None }
    }

    /// Finds the file and the record number of a document. Searches the outputs of the run first, and then
    /// its inputs.
    ///
    /// # Errors
    ///
    /// An output or input cannot be read, or has no such document.
    pub(super) fn locate(&self, sought: Sought<'_>) -> Result<LocatedDocument> {
        let (file, record, is_query) = match self.run.find(sought)?.into_iter().next() {
            Some(Status::Clustered { cluster, at }) => {
                let member = at.map_or(&cluster.kept, |at| &cluster.removed[at]);
                // The kept document of a match belongs to the corpus, and the removed ones are queries.
                (member.file.clone(), member.record, at.is_some() && self.run.is_match())
            }
            Some(Status::Quarantined { file, record, .. }) => {
                let is_query = self.is_query_file(&file);
                (file, record, is_query)
            }
            None => match self.look_for(sought) {
                Ok(found) => return Ok(found),
                // The name of a file with one document also names the document.
                Err(error) => {
                    let Some(place) = self.only_record(sought) else { return Err(error) };
                    return self.locate(Sought::new(&place));
                }
            },
        };
        Ok(LocatedDocument { file, record, is_passed_over: false, is_query })
    }

    /// Returns the name of the field that has the texts of the documents in `file`. Returns `None` if the summary of
    /// the run does not name the field.
    pub(super) fn text_field_of(&self, file: &str) -> Option<&str> {
        let of_corpus = self.run.parameter("against_text_field");
        of_corpus.filter(|_| !self.is_query_file(file)).or(self.run.parameter("text_field"))
    }

    /// Returns whether a file of the run has queries. If both the queries and the corpus have a path that leads to the
    /// file, the longer path decides.
    fn is_query_file(&self, file: &str) -> bool {
        let RecordedInputs { corpus, queries, .. } = &self.inputs;
        let longest = |paths: &[PathBuf]| {
            let above = paths.iter().filter(|path| Path::new(file).starts_with(&*path_text(path)));
            above.map(|path| path.components().count()).max()
        };
        longest(queries) > longest(corpus)
    }

    /// Looks for the document that `sought` names in the inputs of the run. Callers need this for a document that no
    /// cluster names, because it was kept or not compared. If the run read standard input, which cannot be read again,
    /// also looks for the document in the list of all documents.
    ///
    /// # Errors
    ///
    /// An input cannot be read, or no input has the document.
    pub(super) fn look_for(&self, sought: Sought<'_>) -> Result<LocatedDocument> {
        let mut has_fields = false;
        let mut found = self.look_in_inputs(sought, Matches::First, &mut has_fields)?;
        if let Some(found) = found.pop() {
            return Ok(found);
        }
        if !self.inputs.have_standard_input() {
            return Err(self.no_document(sought, has_fields));
        }
        match find_listed(self.run.folder(), sought)? {
            Some((file, record)) => {
                let is_query = self.is_query_file(&file);
                Ok(LocatedDocument { file, record, is_passed_over: false, is_query })
            }
            None => Err(unlisted_document(sought, &self.inputs)),
        }
    }

    /// Returns all documents that `sought` names, each as `FILE:RECORD`. Returns `None` if the run has recorded that no
    /// two documents have the same ID.
    ///
    /// # Errors
    ///
    /// An input cannot be read.
    pub(super) fn places_of(&self, sought: Sought<'_>) -> Result<Option<Vec<String>>> {
        if !self.run.has_shared_ids() {
            return Ok(None);
        }
        let found = self.look_in_inputs(sought, Matches::All, &mut false)?;
        Ok(Some(found.iter().map(|found| format!("{}:{}", found.file, found.record)).collect()))
    }

    /// Looks for the documents that `sought` names in the inputs of the run. `matches` says whether to return only the
    /// first document or all. Sets `has_fields` to true if a file has a format with fields.
    fn look_in_inputs(
        &self,
        sought: Sought<'_>,
        matches: Matches,
        has_fields: &mut bool,
    ) -> Result<Vec<LocatedDocument>> {
        let mut found = Vec::new();
        let inputs = &self.inputs;
        for (paths, is_query) in self.paths_of_sides(inputs)?.into_iter().zip([true, false]) {
            // This collection came from no file, for example only from standard input.
            if paths.is_empty() {
                continue;
            }
            let files = self.files_of_side(inputs, &paths)?;
            let count = counted(files.len() as u64, "input file");
            let detail = match matches {
                Matches::First => format!("no output lists {sought}: looking for it in {count}"),
                Matches::All => format!("looking for all documents {sought} in {count}"),
            };
            self.face.notice(Notice::Detail(&detail));
            let search = SideSearch { sought, matches, is_query };
            found.extend(self.look_in(&files, search, has_fields)?);
            if matches == Matches::First && !found.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// Returns the paths of the queries and of the corpus, as paths that can be opened from the current folder.
    /// Standard input is left out, because it cannot be read again.
    fn paths_of_sides(&self, inputs: &RecordedInputs) -> Result<[Vec<PathBuf>; 2]> {
        let mut sides = [inputs.queries.clone(), inputs.corpus.clone()];
        let is_file = |path: &Path| path != Path::new(STANDARD_INPUT);
        if let Some(list) = inputs.settings.files_from.as_deref().filter(|list| is_file(list)) {
            let list = self.path(list);
            sides[1].extend(listed_paths(&list, &mut io::empty())?);
        }
        Ok(sides.map(|side| {
            side.iter().filter(|path| is_file(path)).map(|path| self.path(path)).collect()
        }))
    }

    /// Returns the files that the run read in `paths`, as paths that can be opened from the current folder.
    fn files_of_side(&self, inputs: &RecordedInputs, paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let output = self.path(&inputs.output);
        let places = Places { output: &output, temporary: &self.resources.temporary_folder };
        let files = inputs.settings.find_files(paths, places, self.face)?.files;
        Ok(files.into_iter().map(|file| file.name().to_owned()).collect())
    }

    /// Looks in `files` for the documents that `search` names. Sets `has_fields` to true if a file has a format with
    /// fields.
    fn look_in(
        &self,
        files: &[PathBuf],
        search: SideSearch<'_>,
        has_fields: &mut bool,
    ) -> Result<Vec<LocatedDocument>> {
        let SideSearch { sought, matches, is_query } = search;
        let options = self.options_of(is_query);
        // The outputs name files as the run did, relative to the folder in which it was started.
        let name = |path: &Path| path.strip_prefix(&self.place).unwrap_or(path).to_owned();
        let has_all = options.selection == Selection::default();
        // The second reading finds the documents that the run did not compare.
        let readings = [(options.clone(), false), (everything(options), true)];
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
                    let file = path_text(&file).into_owned();
                    LocatedDocument { file, record, is_passed_over, is_query }
                };
                return Ok(found.into_iter().map(located).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns the error for a document that is not found. The message explains by which names the documents of the run
    /// can be found.
    fn no_document(&self, sought: Sought<'_>, has_fields: bool) -> Error {
        let ids = if has_fields {
            let (of_corpus, of_queries) = (&self.options.id_field, &self.query_options.id_field);
            let also = if of_queries == of_corpus {
                String::new()
            } else {
                format!(" and of the field \"{of_queries}\"")
            };
            format!("those of the field \"{of_corpus}\"{also}")
        } else {
            "those that its records have".to_owned()
        };
        let what = format!("{sought} is no document of this run");
        let reason = format!(
            "its IDs are {ids}, or FILE:RECORD where a document has none; FILE:RECORD and FILE#ID \
             name any{}{}",
            self.choices(sought),
            self.changes()
        );
        ErrorKind::Missing { what, reason }.into()
    }
}

/// Returns the error for a document that no output lists, if the run read standard input.
fn unlisted_document(sought: Sought<'_>, inputs: &RecordedInputs) -> Error {
    let what = format!("{sought} is in no output of this run");
    let is_list = inputs.settings.files_from.as_deref() == Some(Path::new(STANDARD_INPUT));
    let input = if is_list { "the list of its input files" } else { "its input" };
    let reason = format!(
        "{input} was standard input, which cannot be read again; the output `documents` of \
         `simtool dedup --annotate` lists all documents"
    );
    ErrorKind::Missing { what, reason }.into()
}

impl RecordedRun<'_> {
    /// Returns a sentence that lists the documents of the file that `sought` names, as the end of a message.
    fn choices(&self, sought: Sought<'_>) -> String {
        let (records, has_more) = self.records_of_file(sought);
        if records.is_empty() {
            return String::new();
        }
        let more = if has_more { " and more" } else { "" };
        format!(". The documents of this file are {}{more}", records.join(", "))
    }

    /// Returns a sentence about the first input that has changed since the run, as the end of a message. The text is
    /// empty if no input has changed.
    fn changes(&self) -> String {
        let mut changes = self.run.inputs().filter_map(|(file, ..)| self.change_of(file));
        match changes.next() {
            Some(first) => format!(". The inputs have changed: {first}"),
            None => String::new(),
        }
    }
}

/// Search for documents in the files of the queries or of the corpus.
#[derive(Clone, Copy)]
struct SideSearch<'s> {
    sought: Sought<'s>,
    matches: Matches,
    /// Whether the files are those of the queries of a match.
    is_query: bool,
}

/// Returns options that read all documents, without a selection. A selection does not change record
/// numbers.
fn everything(options: &ReadOptions) -> ReadOptions {
    ReadOptions { selection: Selection::default(), ..options.clone() }
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
