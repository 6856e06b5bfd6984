//! `index add`: adds new documents, and reports repeats of older ones.

use super::{IndexedDocuments, OpenRequest};
use crate::index::{Added, AddedCorpus, Arrival, Commits, Near, write_only_new};
use crate::output::index_rows::{RepeatRow, write_repeat};
use crate::pipeline::timings::Timings;
use crate::run::face::{Face, OutputState, give_name};
use crate::run::reading_faults::has_losses;
use crate::write::output_folder::{Existing, OutputFolder};
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::utc_time::UtcTime;
use simtool_read::{Corpus, Strict};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The documents to add, and the outputs of the command.
#[derive(Clone, Debug)]
pub struct AddRequest {
    /// The index.
    pub index: OpenRequest,
    /// The documents.
    pub documents: IndexedDocuments,
    /// Name of the source of the documents, such as a crawl.
    pub source: String,
    /// Time at which the documents came; now, if it is not given.
    pub time: Option<UtcTime>,
    /// Folder for a copy of every file without the documents that repeat others.
    pub only_new: Option<PathBuf>,
    /// Whether repeats are written as lines of JSON.
    pub is_json: bool,
}

/// Counts and faults of documents that were added.
#[derive(Debug)]
pub struct AddOutcome {
    /// Numbers of new documents and of repeats.
    pub added: AddedCorpus,
    /// Names of files that had been added before.
    pub known_files: Vec<PathBuf>,
    /// Faults of the input.
    pub faults: Vec<Fault>,
    /// Whether records or files were lost.
    pub has_losses: bool,
    /// Time of each stage.
    pub timings: Timings,
}

/// Adds the documents of `request` to the index, and writes a line for each repeat to
/// `standard_output`.
///
/// With `only_new`, the copies get their name and the index is committed in one step at the end.
/// Without it, the index is committed while documents are added.
///
/// # Errors
///
/// Another process writes to the index, the input is lost in part and `on_error` is `fail`, or a file
/// cannot be written. Earlier commits stay.
pub fn add_to_index(
    request: &AddRequest,
    standard_output: &mut dyn Write,
    face: &dyn Face,
) -> Result<AddOutcome> {
    let mut timings = Timings::start();
    let mut adder = request.index.open_adder(face.access())?;
    timings.end("open");
    let input = request.documents.open(&request.index, face)?;
    // The folder is created first, so that a name that is taken ends the run before documents are
    // read.
    let folder = request.only_new.as_deref().map(|path| create_folder(path, face)).transpose()?;
    let strict = Strict(&input.collection);
    let time = request.time.unwrap_or_else(|| SystemTime::now().into());
    let arrival = Arrival { source: &request.source, time: time.seconds() };
    // With copies, an early commit would make an interrupted run look complete: its documents would
    // be known, and their copies missing.
    let commits = if folder.is_some() { Commits::ByCaller } else { Commits::Often };
    let mut out = BufWriter::new(standard_output);
    let failed = |error| Error::io("standard output", "write", error);
    let mut added = adder.add_corpus(
        &input.collection,
        input.corpus(&strict),
        arrival,
        commits,
        face.progress(),
        &mut |adder, name, added| {
            // New documents and documents without words are counted, but not listed.
            let Added::Repeats(Near { distance, number }) = added else { return Ok(()) };
            let repeated = adder.id(number)?;
            let row = RepeatRow { name, repeated: &repeated, number, distance };
            write_repeat(&mut out, request.is_json, &row).map_err(failed)
        },
    )?;
    timings.end("read and add");
    input.add_faults(&mut added.read, face);
    let faults = input.faults(&added.read);
    // A refused loss leaves no copies. Commits that were made while reading stay.
    request.documents.input.refuse_losses(&faults)?;
    out.flush().map_err(failed)?;
    if let (Some(folder), Some(results)) = (folder, &request.only_new) {
        let threads = request.index.resources.threads;
        write_only_new(&input.collection, &added, &folder, threads, face.progress())?;
        folder.sync()?;
        // An interruption waits until both are done, so that neither is there without the other.
        give_name(face, results, || {
            folder.finish()?;
            adder.commit()
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

/// Creates the folder for copies under a temporary name, which is removed if the run is interrupted.
fn create_folder(path: &Path, face: &dyn Face) -> Result<OutputFolder> {
    let mut held = face.hold_interruptions();
    let folder = OutputFolder::create(path, Existing::Refuse)?;
    held.set(OutputState::Unfinished(folder.unfinished().to_owned()));
    Ok(folder)
}
