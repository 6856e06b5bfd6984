//! `index add`: adds documents to an index, and lists the documents that are near a document of the index.

use super::{ArrivalSettings, IndexedDocuments, OpenRequest, SOURCE, refuse_rest};
use crate::index::{
    Added, AddedCorpus, Arrival, ArrivingCorpus, Commits, FileSelection, Near, write_only_new,
};
use crate::output::index_rows::{RepeatRow, write_repeat};
use crate::pipeline::timings::Timings;
use crate::run::face::{Face, give_name};
use crate::run::files::create_output_folder;
use crate::run::reading_faults::{has_losses, note_whole_pages};
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_base::utc_time::UtcTime;
use simtool_read::{Corpus, Strict};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// Documents that are added to an index, and the outputs of the command.
#[derive(Clone, Debug)]
pub struct AddRequest {
    /// Index that the documents are added to.
    pub index: OpenRequest,
    /// Documents that are added, and the settings for reading them.
    pub documents: IndexedDocuments,
    /// Name of the source of the documents, for example the name of a crawl.
    pub source: String,
    /// Time at which the documents arrived. `None` means the time of the run.
    pub time: Option<UtcTime>,
    /// Folder for a copy of every input file without the documents that are near a document of the index. `None` if no
    /// copies are written.
    pub only_new: Option<PathBuf>,
    /// Whether each printed line is a JSON object instead of tab-separated text. Lines are printed for repeats, which
    /// are added documents near a document of the index.
    pub is_json: bool,
}

impl AddRequest {
    /// Creates the request to add the documents of `paths` to `index`. `holder` describes this process. `options` may
    /// have the settings of the command `index add`, except those of printing.
    ///
    /// # Errors
    ///
    /// A value is wrong, or a setting is unknown.
    pub fn parse(
        index: PathBuf,
        holder: String,
        paths: Vec<PathBuf>,
        mut options: Options,
    ) -> Result<Self> {
        let ArrivalSettings { source, time } = ArrivalSettings::parse(&mut options)?;
        let request = Self {
            documents: IndexedDocuments::parse(paths, &mut options)?,
            index: OpenRequest::parse(index, holder, &mut options)?,
            source,
            time,
            only_new: options.take_path("only_new"),
            is_json: false,
        };
        refuse_rest(&options)?;
        Ok(request)
    }
}

/// Result of [`add_to_index`]: numbers of new documents and repeats, and the faults of the input.
#[derive(Debug)]
pub struct AddOutcome {
    /// Numbers of new documents, of repeats and of documents that were added before.
    pub added: AddedCorpus,
    /// Names of the files whose documents had all been added before this run.
    pub known_files: Vec<PathBuf>,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

/// Adds the documents of `request` to the index. Writes a line to `standard_output` for each document that is
/// near a document of the index. If standard output cannot be written, for example because its reader has
/// ended, the documents are still added.
///
/// With `only_new`, the index is committed at the end, just after the folder of copies gets its final name.
/// An interruption waits until both are done. Without `only_new`, the index is committed regularly while
/// documents are added.
///
/// # Errors
///
/// Another process writes to the index, parts of the input are lost and `on_error` is `fail`, or a file
/// cannot be written. Documents that were committed before stay in the index.
pub fn add_to_index(
    request: &AddRequest,
    standard_output: &mut dyn Write,
    face: &dyn Face,
) -> Result<AddOutcome> {
    let mut timings = Timings::start();
    let mut adder = request.index.open_adder(face.access())?;
    timings.end("open");
    let input = request.documents.open(&request.index, face)?;
    // The folder is created first, so that an existing folder is reported before documents are read.
    let folder = request
        .only_new
        .as_deref()
        .map(|path| create_output_folder(path, Existing::Refuse, &[], face))
        .transpose()?;
    let given_source = Some(request.source.as_str()).filter(|source| *source != SOURCE);
    let strict = Strict(&input.collection);
    let time = request.time.unwrap_or_else(|| SystemTime::now().into());
    let arrival = Arrival { source: &request.source, time: time.seconds() };
    // With copies, the index must not be committed early. After an interruption, its documents would be
    // known, but their copies would be missing.
    let commits = if folder.is_some() { Commits::ByCaller } else { Commits::Often };
    let mut lines =
        RepeatLines { out: BufWriter::new(standard_output), is_json: request.is_json, error: None };
    let arriving = ArrivingCorpus {
        files: &input.collection,
        corpus: input.corpus(&strict),
        arrival,
        commits,
        selection: FileSelection {
            digests: request.documents.input.selection_digests(given_source, request.time),
            is_limited: request.documents.input.limit.is_some(),
        },
    };
    let mut added = adder.add_corpus(&arriving, face.progress(), &mut |adder, name, added| {
        // New documents and documents without words are counted but not listed.
        let Added::Repeats(Near { distance, number }) = added else { return Ok(()) };
        let repeated = adder.id(number)?;
        lines.write(&RepeatRow { name, repeated: &repeated, number, distance });
        Ok(())
    })?;
    timings.end("read and add");
    input.add_faults(&mut added.read, face);
    let faults = input.faults(&added.read);
    // If losses are refused, there are no copies. Commits that were made while reading stay.
    request.documents.input.refuse_losses(&faults)?;
    lines.finish(if folder.is_some() {
        "nothing was added"
    } else {
        "all documents were added"
    })?;
    note_whole_pages(std::iter::once(&added.read), face);
    if let (Some(folder), Some(results)) = (folder, &request.only_new) {
        let threads = request.index.resources.threads;
        write_only_new(&input.collection, &added, &folder, threads, face.progress())?;
        folder.sync()?;
        // A full disk must end the run before the folder has its name.
        adder.prepare_commit()?;
        // An interruption waits until both steps are done, so that none is done without the other.
        give_name(face, results, || {
            folder.finish()?;
            adder.finish_commit()
        })?;
        timings.end("write what is new");
    }
    let name = |&file: &usize| input.collection.file_name(file).to_owned();
    Ok(AddOutcome {
        known_files: added.known_files.iter().map(name).collect(),
        has_losses: has_losses(std::iter::once(&added.read)),
        added,
        faults,
        timings,
    })
}

/// Output of one line for each repeat, which is an added document near a document of the index. After the first
/// failure, nothing more is written.
struct RepeatLines<'o> {
    out: BufWriter<&'o mut dyn Write>,
    is_json: bool,
    /// Error of the first line that could not be written.
    error: Option<io::Error>,
}

impl RepeatLines<'_> {
    fn write(&mut self, row: &RepeatRow<'_>) {
        if self.error.is_none() {
            self.error = write_repeat(&mut self.out, self.is_json, row).err();
        }
    }

    /// Writes the lines that are still in memory. `state` says which documents were added to the index, for the error
    /// message.
    ///
    /// # Errors
    ///
    /// A line could not be written. A reader that ended, such as `head`, is no error.
    fn finish(&mut self, state: &str) -> Result<()> {
        let flushed = match self.error.take() {
            Some(error) => Err(error),
            None => self.out.flush(),
        };
        match flushed {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let error = io::Error::new(error.kind(), format!("{error}; {state}"));
                Err(Error::io("standard output", "write", error))
            }
            _ => Ok(()),
        }
    }
}
