//! `fingerprint`: writes the fingerprints of documents to a file.

use super::face::Face;
use super::input::Input;
use super::input_settings::InputSettings;
use super::output_target::{OutputPlace, OutputTarget};
use super::reading_faults::{has_losses, note_whole_pages};
use crate::method::Method;
use crate::output::write_fingerprints::write_fingerprints;
use crate::pipeline::timings::Timings;
use crate::pipeline::{WithoutWords, fingerprint_collection};
use crate::write::output_folder::Existing;
use simtool_base::error::{Error, Result};
use simtool_base::fault::Fault;
use simtool_base::options::Options;
use simtool_compute::resources::Resources;
use simtool_fingerprint::file::FileFormat;
use simtool_read::Strict;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Name of the default method of fingerprints.
const METHOD: &str = "simhash";

/// Documents whose fingerprints are written, the method, and the output file.
#[derive(Clone, Debug)]
pub struct FingerprintRequest {
    /// Files and folders with the documents.
    pub paths: Vec<PathBuf>,
    /// Settings for reading documents.
    pub input: InputSettings,
    /// Method that makes the fingerprints.
    pub method: Method,
    /// Path of the output file. Its extension selects the format; `-` is standard output.
    pub output: PathBuf,
    /// Whether an existing output file is replaced.
    pub existing: Existing,
    /// Memory and threads that the run may use.
    pub resources: Resources,
}

/// Result of [`fingerprint`]: numbers of documents and faults of the input. The fingerprints are in the output.
#[derive(Debug)]
pub struct Fingerprinted {
    /// Number of documents in the output. It includes documents without words, which have an empty place
    /// instead of a fingerprint.
    pub documents: u64,
    /// Number of documents without words, which have no fingerprint.
    pub without_words: u64,
    /// Number of records that could not be read as documents.
    pub bad_records: u64,
    /// Faults of the input: bad records, and damaged or unreadable files.
    pub faults: Vec<Fault>,
    /// Whether some records or files could not be read.
    pub has_losses: bool,
    /// Time that each stage took.
    pub timings: Timings,
}

/// Creates the method that makes fingerprints. The option `method` names it, and `simhash` is the default.
/// All options must belong to the method.
///
/// # Errors
///
/// The method does not have one of the options, or a value is outside its range.
pub fn parse_fingerprint_method(options: &mut Options) -> Result<Method> {
    if !options.has("method") {
        options.set("method", METHOD);
    }
    Method::parse_all(options)
}

impl FingerprintRequest {
    /// Creates the request to write fingerprints of the documents in `paths`. `options` may have the options of
    /// [`InputSettings`], [`Resources`] and [`Method`], and `output` and `force`.
    ///
    /// # Errors
    ///
    /// A value is outside its range, no output is named, or an option is unknown.
    pub fn parse(paths: Vec<PathBuf>, mut options: Options) -> Result<Self> {
        let Some(output) = options.take_path("output") else {
            return Err(Error::config("output", "", "is needed: name the file to write"));
        };
        Ok(Self {
            paths,
            output,
            existing: Existing::by_force(options.take_flag("force")?),
            input: InputSettings::parse(&mut options)?,
            resources: Resources::parse(&mut options)?,
            method: parse_fingerprint_method(&mut options)?,
        })
    }
}

/// Computes the fingerprints of the documents of `request` in reading order, and writes them to the output file of the
/// request.
///
/// If the output is `-`, they are written to `standard_output`.
///
/// # Errors
///
/// The output is an input or already exists, the input has no document or lacks a field that was named, the
/// method makes no fingerprints, or the file cannot be written. In all these cases, nothing is written.
pub fn fingerprint(
    request: &FingerprintRequest,
    standard_output: &mut (dyn Write + Send),
    face: &dyn Face,
) -> Result<Fingerprinted> {
    let mut timings = Timings::start();
    // An unknown file extension must be reported before any document is read.
    let format = FileFormat::for_output(&request.output)?;
    let FingerprintRequest { paths, input, output, resources, .. } = request;
    let input = Input::open_listed(paths, input, output, resources, face)?;
    let place = OutputPlace { path: &request.output, existing: request.existing, mark: None };
    let target = OutputTarget::file(place, &[&input], standard_output)?;
    Input::refuse_idle(&[&input], &[])?;
    timings.end("find files");

    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    // If a format cannot mark missing fingerprints, later documents would get wrong row numbers.
    let without_words =
        if format.marks_missing { WithoutWords::Allowed } else { WithoutWords::Refused };
    let recipe = request.method.recipe();
    let mut made =
        fingerprint_collection(corpus, recipe, &request.resources, without_words, face.progress())?;
    timings.end("read and fingerprint");
    // Losses must be refused before the file is written.
    let faults = input.complete(&mut made.summary, face)?;
    Input::refuse_missing_ids(&[(&input, &made.summary)])?;

    let write_rows = |path: &Path, out: &mut (dyn Write + Send)| {
        let mut out = BufWriter::with_capacity(1 << 20, out);
        write_fingerprints(&input.collection, &made, format, path, &mut out)
    };
    target.write(place, &write_rows, &mut |_| Ok(()), face)?;
    note_whole_pages(std::iter::once(&made.summary), face);
    timings.end("write");
    Ok(Fingerprinted {
        documents: made.rows.len() as u64,
        without_words: made.summary.without_terms,
        bad_records: made.summary.quarantined.len() as u64,
        has_losses: has_losses(std::iter::once(&made.summary)),
        faults,
        timings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Silent;
    use std::fs;

    fn request(folder: &Path, options: &str) -> Result<FingerprintRequest> {
        let mut options = Options::parse(options)?;
        if !options.has("output") {
            options.set("output", "-");
        }
        FingerprintRequest::parse(vec![folder.to_owned()], options)
    }

    #[test]
    fn rows_are_written_in_reading_order_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.jsonl"), "{\"id\":\"x\",\"text\":\"one two\"}\n{}\n")
            .unwrap();
        fs::write(folder.path().join("b.jsonl"), "{\"id\":\"y\",\"text\":\"\"}\n").unwrap();
        let mut out = Vec::new();
        let made = fingerprint(&request(folder.path(), "").unwrap(), &mut out, &Silent).unwrap();
        assert_eq!((made.documents, made.without_words, made.bad_records), (2, 1, 1));
        assert!(made.has_losses && made.faults.len() == 1);
        let lines = String::from_utf8(out).unwrap();
        let ids: Vec<_> = lines.lines().map(|line| &line[..9]).collect();
        assert_eq!(ids, ["{\"id\":\"x\"", "{\"id\":\"y\""]);
    }

    #[test]
    fn an_output_that_is_an_input_is_refused_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.jsonl");
        fs::write(&file, "{\"text\":\"one two\"}\n").unwrap();
        let mut options = Options::parse("force=true").unwrap();
        options.set("output", &file);
        let request = FingerprintRequest::parse(vec![file.clone()], options).unwrap();
        let error = fingerprint(&request, &mut Vec::new(), &Silent).unwrap_err().to_string();
        assert!(error.contains(": is the input "), "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"text\":\"one two\"}\n");
    }

    #[test]
    fn settings_that_no_one_knows_are_refused_before_anything_is_read() {
        let nowhere = Path::new("no-such-folder");
        for (options, message) in [
            ("votes=sum", "method simhash:votes=sum: "),
            ("on_error=stop", "on_error stop: must be one of skip, fail"),
            ("method=md5", "method md5: "),
        ] {
            let error = request(nowhere, options).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let exact = request(nowhere, "method=exact").unwrap();
        assert!(fingerprint(&exact, &mut Vec::new(), &Silent).is_err());
    }
}
