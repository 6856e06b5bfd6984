//! A document that the user names: a file of one, `FILE:RECORD`, `FILE#ID`, or an ID of a finished
//! run behind its output folder, as `OUT#ID`.

use crate::args::RunningArgs;
use crate::progress_line::ProgressLine;
use simtool::Error;
use simtool::pipeline::compare::{ReadDocument, Wanted, read_document};
use simtool::read::ReadOptions;
use simtool::read::walk::InputFile;
use simtool::run::{STANDARD_INPUT, standard_input};
use std::env;
use std::fs;
use std::path::Path;

/// How documents are read.
pub(crate) struct Reading<'r> {
    /// Those of files; those of a run are read as it read them.
    pub(crate) options: ReadOptions,
    pub(crate) running: &'r RunningArgs,
    pub(crate) progress: &'r ProgressLine,
}

/// A document that was named.
pub(crate) struct Named {
    pub(crate) document: ReadDocument,
    /// Its file, by the name that the user or the run has for it.
    pub(crate) file: String,
    pub(crate) by: By,
}

/// What a document was named by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// Its file, and in that its number where there are more.
    Place,
    /// Its file and ID.
    Id,
    /// A run that has read it.
    Run,
}

impl Named {
    /// Whether it is of a file that was read by the options.
    pub(crate) fn is_of_file(&self) -> bool {
        matches!(self.by, By::Place | By::Id)
    }

    /// Whether such a file has fields.
    pub(crate) fn is_of_fields(&self) -> bool {
        self.is_of_file() && self.document.format.has_fields()
    }
}

/// The document that `name` names.
pub(crate) fn read(name: &Path, reading: &Reading<'_>) -> anyhow::Result<Named> {
    let Reading { options, progress, .. } = reading;
    let read = |file: InputFile, wanted: Wanted<'_>| -> anyhow::Result<Named> {
        let name = file.name.to_string_lossy().into_owned();
        let document = read_document(file, wanted, options.clone(), *progress)?;
        let by = if matches!(wanted, Wanted::Id(_)) { By::Id } else { By::Place };
        Ok(Named { document, file: name, by })
    };
    if name == Path::new(STANDARD_INPUT) {
        return read(standard_input(&env::temp_dir())?, Wanted::Only);
    }
    let missing = match fs::metadata(name) {
        Ok(_) => return read(InputFile::new(name), Wanted::Only),
        Err(error) => Error::io(name, "read", error),
    };
    let Some(text) = name.to_str() else { return Err(missing.into()) };
    if let Some((file, record)) = text.rsplit_once(':')
        && let Ok(record) = record.parse()
        && Path::new(file).is_file()
    {
        return read(InputFile::new(file), Wanted::Record(record));
    }
    // Names of files and IDs may hold the sign themselves: the longest name that is there counts.
    for (at, _) in text.rmatch_indices('#') {
        let (file, id) = (Path::new(&text[..at]), &text[at + 1..]);
        if file.is_file() {
            return read(InputFile::new(file), Wanted::Id(id.as_bytes()));
        }
        if simtool::output::finished_run::FinishedRun::is_at(file) {
            let threads = simtool::Resources::default().threads;
            let (running, progress) = (reading.running, reading.progress);
            let run = crate::recorded::Recorded::open(file, running, threads, progress)?;
            let sought = simtool::output::finished_run::Sought::new(id);
            let crate::recorded::Located { file, record, .. } = run.locate(sought)?;
            return Ok(Named { document: run.read(&file, record)?, file, by: By::Run });
        }
    }
    Err(missing.into())
}
