//! `passages`: finds the passages of a collection that occur more than once.

use super::face::Face;
use super::files::{refuse_existing, write_whole_file};
use super::input::{Input, Places};
use super::input_settings::InputSettings;
use super::reading_faults::{has_losses, note_whole_pages};
use super::standard_streams::{STANDARD_OUTPUT, is_standard_output};
use crate::output::passages::write_passages;
use crate::pipeline::find_passages;
use crate::pipeline::timings::Timings;
use crate::write::columns::RowFormat;
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_compute::context::Context;
use simtool_compute::resources::Resources;
use simtool_passages::{PassageSearch, Repeated};
use simtool_read::Strict;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Default number of words of a passage.
const WORDS: usize = 50;

/// Documents whose repeated passages are sought, the kind of passages, and the output.
#[derive(Clone, Debug)]
pub struct PassagesRequest {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Minimum number of words of a passage.
    pub words: usize,
    /// Condition for repeated passages.
    pub rule: Repeated,
    /// Whether the words of all passages that were found equal are compared.
    pub is_verified: bool,
    /// Format of the output.
    pub rows: RowFormat,
    /// Path of the output file; `-` is standard output.
    pub output: PathBuf,
    /// Whether an existing output file is replaced.
    pub existing: Existing,
    /// Memory and threads that the run may use.
    pub resources: Resources,
}

/// Result of a finished [`passages`].
#[derive(Debug)]
pub struct PassagesFound {
    /// Number of documents.
    pub documents: u64,
    /// Number of words of all documents.
    pub words: u64,
    /// Number of passages.
    pub passages: u64,
    /// Number of words in passages.
    pub repeated_words: u64,
    /// Number of words that a cut would remove which keeps the first copy of everything.
    pub later_words: u64,
    /// Number of passages that are whole documents.
    pub whole_documents: u64,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

impl PassagesRequest {
    /// Creates the request for `paths`. `options` may have the options of [`InputSettings`] and [`Resources`],
    /// and `words`, `anywhere`, `min_documents`, `verify_words`, `output_format`, `output` and `force`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, or an option is unknown.
    pub fn parse(paths: Vec<PathBuf>, mut options: Options) -> Result<Self> {
        let rule = "must be a number of documents of at least 2";
        let documents: Option<u32> = options.take_parsed("min_documents", rule)?;
        let request = Self {
            paths,
            words: options.take_parsed("words", "must be a number of words")?.unwrap_or(WORDS),
            rule: match (options.take_flag("anywhere")?, documents) {
                (true, None) => Repeated::Anywhere,
                (true, Some(documents)) => {
                    let rule = "does not go with `anywhere`, which needs no second document";
                    return Err(Error::config("min_documents", documents, rule));
                }
                (false, Some(documents)) if documents < 2 => {
                    return Err(Error::config("min_documents", documents, rule));
                }
                (false, documents) => documents.map_or_else(Repeated::default, Repeated::Documents),
            },
            is_verified: options.take_flag("verify_words")?,
            rows: options.take_choice("output_format")?.unwrap_or(RowFormat::JsonLines),
            output: options.take_path("output").unwrap_or_else(|| STANDARD_OUTPUT.into()),
            existing: Existing::by_force(options.take_flag("force")?),
            input: InputSettings::parse(&mut options)?,
            resources: Resources::parse(&mut options)?,
        };
        options.refuse_rest("passages have no such option")?;
        Ok(request)
    }
}

/// Finds the passages of at least so many words that occur more than once, and writes them in reading order.
///
/// If the output is `-`, they are written to `standard_output`.
///
/// # Errors
///
/// The output exists already, the input has no document or lacks a field that was named, the number of words is
/// wrong, or the output cannot be written. In all these cases, no file is written.
pub fn passages(
    request: &PassagesRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<PassagesFound> {
    let mut timings = Timings::start();
    let paths = request.input.with_listed(&request.paths)?;
    let options = request.input.read_options(face.access());
    let places = Places { output: &request.output, temporary: &request.resources.temporary_folder };
    let context = &Context::new(&request.resources, face.progress())?;
    let search = PassageSearch::new(request.words, context)?;
    let search = search.with_rule(request.rule).with_verification(request.is_verified);
    let input = Input::open(&paths, &request.input, options, places, face)?;
    let is_standard = is_standard_output(&request.output);
    if !is_standard {
        input.refuse_as_output(&request.output)?;
        refuse_existing("output", &request.output, request.existing)?;
    }
    Input::refuse_idle(&[&input], &[])?;
    timings.end("find files");

    let strict = Strict(&input.collection);
    let mut found = find_passages(input.corpus(&strict), &search)?;
    timings.end("find passages");
    // Losses must be refused before the file is written.
    let faults = input.complete(&mut found.summary, face)?;
    Input::refuse_missing_ids(&[(&input, &found.summary)])?;

    let write = |out: &mut (dyn Write + Send), path: &Path| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        let written = write_passages(&input.collection, &found, request.rows, &mut out);
        written.map_err(|error| Error::io(path, "write", error))
    };
    if is_standard {
        write(standard_output, Path::new("standard output"))?;
    } else {
        write_whole_file(&request.output, request.existing, face, |file| {
            write(&mut file.file(), &request.output)
        })?;
    }
    note_whole_pages(std::iter::once(&found.summary), face);
    timings.end("write");
    let all = &found.passages;
    Ok(PassagesFound {
        documents: all.documents,
        words: all.words,
        passages: all.passages.len() as u64,
        repeated_words: all.covered_words(),
        later_words: all.later_words(),
        whole_documents: all.passages.iter().filter(|passage| passage.is_whole).count() as u64,
        has_losses: has_losses(std::iter::once(&found.summary)),
        faults,
        timings,
    })
}
