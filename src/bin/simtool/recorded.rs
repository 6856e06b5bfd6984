//! A finished run and its inputs, as the run recorded how it was asked to read them.

use crate::args::{Command, Job, RunningArgs};
use crate::interrupt::Interrupted;
use crate::progress_line::ProgressLine;
use crate::{console, inputs, shell, usage};
use simtool::Error;
use simtool::output::finished_run::{Fate, FinishedRun, Sought, find_in};
use simtool::pipeline::compare::{ReadDocument, Wanted, read_document};
use simtool::quantity::counted;
use simtool::read::selection::Selection;
use simtool::read::walk::InputFile;
use simtool::read::{Collection, Corpus, ReadOptions};
use simtool::run::{InputSettings, Places};
use std::env;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A finished run.
pub(crate) struct Recorded<'r> {
    pub(crate) run: FinishedRun,
    /// What the run was asked for, if its command line is understood.
    command: Option<Command>,
    /// How it was told to read documents.
    settings: InputSettings,
    /// How its files are read.
    options: ReadOptions,
    /// The folder in which it ran, as far as that can be told; empty if it is the current one.
    place: PathBuf,
    /// How its files are read now.
    running: &'r RunningArgs,
    threads: usize,
    progress: &'r ProgressLine,
}

/// A document, by the names that the run has for file and record.
pub(crate) struct Located {
    pub(crate) file: String,
    pub(crate) record: u64,
    /// Whether the run passed it over.
    pub(crate) is_passed_over: bool,
}

impl<'r> Recorded<'r> {
    /// The run whose output folder this is.
    pub(crate) fn open(
        folder: &Path,
        running: &'r RunningArgs,
        threads: usize,
        progress: &'r ProgressLine,
    ) -> Result<Self, Error> {
        let run = FinishedRun::open(folder)?;
        let command = usage::understood(shell::words(run.command()));
        let job = command.as_ref().and_then(Command::job);
        let settings = match job {
            Some(job) => job.corpus.input.settings()?,
            None => InputSettings::default(),
        };
        let mut options = settings.read_options(inputs::access(running.no_mmap));
        for (name, field) in
            [("text_field", &mut options.text_field), ("id_field", &mut options.id_field)]
        {
            if let Some(value) = run.parameter(name) {
                value.clone_into(field);
            }
        }
        let place = job.and_then(|job| place(folder, &job.corpus.output)).unwrap_or_default();
        Ok(Self { run, command, settings, options, place, running, threads, progress })
    }

    /// Where a file of the run is now.
    pub(crate) fn path(&self, file: &Path) -> PathBuf {
        // Joined to nothing, a path stays as it is.
        self.place.join(file)
    }

    /// The document in a record of a file, as the run read it.
    pub(crate) fn read(&self, file: &str, record: u64) -> Result<ReadDocument, Error> {
        if file == "-" {
            let reason = "it came through standard input and cannot be read again";
            return Err(Error::io(file, "read", io::Error::other(reason)));
        }
        let path = self.path(Path::new(file));
        std::fs::metadata(&path).map_err(|error| Error::io(&path, "read", error))?;
        // What was chosen of the documents does not matter where one is named.
        let options = ReadOptions { selection: Selection::default(), ..self.options.clone() };
        read_document(InputFile::new(path), Wanted::Record(record), options, self.progress)
    }

    /// Where the document is that is sought: in the outputs, or else in the inputs.
    pub(crate) fn locate(&self, sought: Sought<'_>) -> anyhow::Result<Located> {
        match self.run.find(sought)?.into_iter().next() {
            Some(Fate::Clustered { cluster, at }) => {
                let member = at.map_or(&cluster.kept, |at| &cluster.removed[at]);
                let (file, record) = (member.file.clone(), member.record);
                Ok(Located { file, record, is_passed_over: false })
            }
            Some(Fate::Quarantined { file, record, .. }) => {
                Ok(Located { file, record, is_passed_over: false })
            }
            None => self.look_for(sought),
        }
    }

    /// Looks for a document in the inputs.
    pub(crate) fn look_for(&self, sought: Sought<'_>) -> anyhow::Result<Located> {
        let id_field = &self.options.id_field;
        let missing = |has_fields: bool| {
            let ids = if has_fields {
                format!("those of the field \"{id_field}\"")
            } else {
                "those that its records have".to_owned()
            };
            anyhow::anyhow!(
                "{sought} is no document of this run: its IDs are {ids}, or FILE:RECORD where a \
                 document has none; FILE:RECORD and FILE#ID name any"
            )
        };
        let job = self.command.as_ref().and_then(Command::job);
        let Some(Job { paths, queries, corpus: args, .. }) = job else { return Err(missing(true)) };
        let mut has_fields = false;
        let mut sides = [queries.to_vec(), paths.to_vec()];
        let list = self.settings.files_from.as_ref();
        if let Some(list) = list.filter(|list| list.as_os_str() != "-") {
            let list = self.path(list);
            let null = self.settings.null;
            sides[1].extend(simtool::read::walk::listed_paths(&list, null, &mut io::empty())?);
        }
        for side in sides {
            let is_file = |path: &&PathBuf| path.as_os_str() != "-";
            let paths: Vec<_> = side.iter().filter(is_file).map(|path| self.path(path)).collect();
            if paths.is_empty() {
                continue;
            }
            let output = self.path(&args.output);
            let temporary = env::temp_dir();
            let places = Places { output: &output, temporary: &temporary };
            let files = self.settings.find_files(&paths, places, &Interrupted)?.files;
            let name = |path: &Path| path.strip_prefix(&self.place).unwrap_or(path).to_owned();
            let everything =
                ReadOptions { selection: Selection::default(), ..self.options.clone() };
            let has_all = self.options.selection == Selection::default();
            let files: Vec<_> = files.into_iter().map(|file| file.name).collect();
            if self.running.verbose {
                let count = counted(files.len() as u64, "input file");
                console::note(&format!("no output tells of {sought}: looking for it in {count}"));
            }
            for (options, is_passed_over) in [(&self.options, false), (&everything, true)] {
                if is_passed_over && has_all {
                    continue;
                }
                let inputs = files.iter().map(InputFile::new).collect();
                let collection = Collection::open(inputs, options.clone());
                has_fields |= (0..collection.file_count())
                    .filter_map(|file| collection.recognize(file).ok())
                    .any(|file| file.format.has_fields());
                if let Some((file, record)) =
                    find_in(&collection, sought, &name, self.threads, self.progress)?
                {
                    let file = file.to_string_lossy().into_owned();
                    return Ok(Located { file, record, is_passed_over });
                }
            }
        }
        Err(missing(has_fields))
    }
}

/// The folder in which a run wrote to `output`, if its output folder is now `folder`; `None` if that
/// is the current one, or if it cannot be told.
fn place(folder: &Path, output: &Path) -> Option<PathBuf> {
    let mut place = folder.canonicalize().ok()?;
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
