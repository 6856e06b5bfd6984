//! Collections of files: the commands of the program, run in this process.

use crate::errors::exception;
use crate::rows::Rows;
use crate::run::run;
use crate::settings;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use simtool::options::Options;
use simtool::progress::Progress;
use simtool::run::{
    AuditRequest, Combined, ContaminationRequest, Face, JobRequest, Notice, Outcome, PassagesFound,
    PassagesRequest, Paths, Previewed, Request, STANDARD_OUTPUT, WhyRequest, audit, combine,
    contamination, dedup, passages, preview, why,
};
use simtool::setting::{Effect, Setting, find_command, settings_of_file};
use simtool::stages::fault::Fault;
use simtool::stages::mapped_file::FileAccess;
use simtool::stages::read::remote::without_credentials;
use simtool::stages::shell_word::{shell_argument, shell_word};
use simtool::write::columns::RowFormat;
use simtool::write::preview::write_preview;
use simtool::write::summary::write_summary;
use simtool::{Error, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Finds the near-duplicates among the files in `paths`. If there are `queries`, finds the documents of `queries` that
/// are near a document of `paths` instead. Writes the results to `output`, and returns the text of `summary.json`.
#[pyfunction]
pub(crate) fn run_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    queries: Vec<PathBuf>,
    output: PathBuf,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut options = settings::repeated_options(options, command_of(&queries))?;
    // The folder is an argument of the function, so the option `output` of a settings file does not count.
    options.set("output", output);
    let Outcome { summary, .. } =
        run_request(py, Paths { corpus: paths, queries }, options, progress, dedup)?;
    let mut text = Vec::new();
    write_summary(&mut text, &summary)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Finds near-duplicates like `run_files`, but writes no files. Returns a preview of the results as the text of a JSON
/// object.
#[pyfunction]
pub(crate) fn preview_of_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    queries: Vec<PathBuf>,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = settings::repeated_options(options, command_of(&queries))?;
    let paths = Paths { corpus: paths, queries };
    let Previewed { summary, preview, .. } = run_request(py, paths, options, progress, preview)?;
    let mut text = Vec::new();
    write_preview(&mut text, &summary, &preview)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Writes the results of a run whose shards were computed separately and have stored their parts for `output`. Returns
/// the counts of the run as the text of a JSON object.
#[pyfunction]
pub(crate) fn combined_files(
    py: Python<'_>,
    output: PathBuf,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut options = settings::repeated_options(options, "combine")?;
    add_file(&mut options, "combine").map_err(exception)?;
    let access = take_access(&mut options)?;
    let combined = run_with_face(py, progress, access, |face| {
        combine(&output, &options, &mut Vec::new(), face)
    })?;
    let mut text = Vec::new();
    match combined {
        Combined::NearDuplicates(outcome) => write_summary(&mut text, &outcome.summary)?,
        Combined::Passages(found) => {
            let PassagesFound { documents, passages, words, repeated_words, .. } = *found;
            let counts = format!(
                "{{\"documents\":{documents},\"passages\":{passages},\"words\":{words},\
                 \"repeated_words\":{repeated_words}}}"
            );
            text.extend_from_slice(counts.as_bytes());
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Explains whether and why a document was removed in the run whose results are in `output`. Returns the text of a JSON
/// object.
#[pyfunction]
pub(crate) fn why_in_files(
    py: Python<'_>,
    output: PathBuf,
    document: String,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut options = settings::repeated_options(options, "why")?;
    add_file(&mut options, "why").map_err(exception)?;
    let access = take_access(&mut options)?;
    let request = WhyRequest::parse(output.clone(), document, options).map_err(exception)?;
    let found = run_with_face(py, progress, access, |face| why(&request, face))?;
    Ok(found.object(&output).to_string())
}

/// Checks the run whose results are in `output`, by its receipt and by the texts of a sample of documents. Returns the
/// result as the text of a JSON object.
#[pyfunction]
pub(crate) fn audit_of_files(
    py: Python<'_>,
    output: PathBuf,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut options = settings::repeated_options(options, "audit")?;
    add_file(&mut options, "audit").map_err(exception)?;
    let access = take_access(&mut options)?;
    let request = AuditRequest::parse(output, options).map_err(exception)?;
    let found = run_with_face(py, progress, access, |face| audit(&request, face))?;
    Ok(found.object().to_string())
}

/// Finds the items of an evaluation set, such as questions with their answers, that documents contain. Returns counts
/// with their names, and also the rows unless `options` has `output`.
#[pyfunction]
pub(crate) fn contamination_of_files(
    py: Python<'_>,
    items: Vec<PathBuf>,
    documents: Vec<PathBuf>,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<(Vec<(&'static str, u64)>, Rows)> {
    let mut options = settings::repeated_options(options, "contamination")?;
    add_file(&mut options, "contamination").map_err(exception)?;
    refuse_format(&options).map_err(exception)?;
    let access = take_access(&mut options)?;
    let mut request = ContaminationRequest::parse(items, documents, options).map_err(exception)?;
    request.rows = format_of(&request.job, request.rows);
    let (found, rows) = run_with_face(py, progress, access, |face| {
        let mut rows = Vec::new();
        let found = contamination(&request, &mut rows, face)?;
        Ok((found, rows))
    })?;
    let counts = vec![
        ("items", found.items),
        ("found_items", found.found_items),
        ("short_items", found.short_items),
        ("items_without_words", found.items_without_words),
        ("documents", found.documents),
        ("found_documents", found.found_documents),
    ];
    Ok((counts, Rows::of_stream(&rows)?))
}

/// Finds the passages that occur more than once in the files in `paths`. Returns the rows unless `options` has
/// `output`.
#[pyfunction]
pub(crate) fn passages_of_files(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    progress: bool,
    options: &Bound<'_, PyDict>,
) -> PyResult<Rows> {
    let mut options = settings::repeated_options(options, "passages")?;
    add_file(&mut options, "passages").map_err(exception)?;
    refuse_format(&options).map_err(exception)?;
    let access = take_access(&mut options)?;
    let command = command_line("simtool passages", &options, &[], &paths);
    let mut request = PassagesRequest::parse(paths, options).map_err(exception)?;
    request.job.recorded.command_line = command;
    request.rows = format_of(&request.job, request.rows);
    let rows = run_with_face(py, progress, access, |face| {
        let mut rows = Vec::new();
        passages(&request, &mut rows, face)?;
        Ok(rows)
    })?;
    Rows::of_stream(&rows)
}

/// Returns an error if the user chose a format for rows that are returned and not written.
fn refuse_format(options: &Options) -> Result<()> {
    match options.get("output_format").filter(|_| !options.has("output")) {
        Some(format) => Err(Error::config("output_format", format, "goes with `output`")),
        None => Ok(()),
    }
}

/// Returns the format of the rows: an Arrow stream if the rows are returned, otherwise `written`.
fn format_of(job: &JobRequest, written: RowFormat) -> RowFormat {
    if job.output == Path::new(STANDARD_OUTPUT) { RowFormat::ArrowStream } else { written }
}

/// Returns the name of the command of `simtool` that does the work of the function: `match` if there are queries,
/// otherwise `dedup`.
fn command_of(queries: &[PathBuf]) -> &'static str {
    if queries.is_empty() { "dedup" } else { "match" }
}

/// Parses the options of a request, and runs the request with `work`.
fn run_request<T: Send>(
    py: Python<'_>,
    paths: Paths,
    mut options: Options,
    progress: bool,
    work: fn(&Request, &dyn Face) -> Result<T>,
) -> PyResult<T> {
    add_file(&mut options, command_of(&paths.queries)).map_err(exception)?;
    let access = take_access(&mut options)?;
    let command = match &paths.queries[..] {
        [] => command_line("simtool dedup", &options, &[], &paths.corpus),
        queries => command_line("simtool match", &options, &paths.corpus, queries),
    };
    let mut request = Request::parse(paths, options).map_err(exception)?;
    request.job.recorded.command_line = command;
    run_with_face(py, progress, access, |face| work(&request, face))
}

/// Runs `work` with a receiver of its progress and of the faults of the input. If `work` fails, the faults are added to
/// the exception as notes.
fn run_with_face<T: Send>(
    py: Python<'_>,
    progress: bool,
    access: FileAccess,
    work: impl FnOnce(&dyn Face) -> Result<T> + Send,
) -> PyResult<T> {
    let faults = Mutex::default();
    let done =
        run(py, progress, |progress| work(&PythonFace { progress, access, faults: &faults }));
    done.map_err(|error| with_faults(py, error, &faults))
}

/// Adds the options of the settings file that the option `config` names. `words` is the name of the command. Options
/// that are already given, or that a given option excludes, are left out.
fn add_file(options: &mut Options, words: &str) -> Result<()> {
    let (Some(file), Some(command)) = (options.take_path("config"), find_command(words)) else {
        return Ok(());
    };
    let known: Vec<&Setting> = options.names().filter_map(|name| command.setting(name)).collect();
    for given in settings_of_file(command, &known, &file)? {
        // Settings for printed output have no effect in the Python package.
        if given.row.effect != Effect::Printing {
            options.set(given.row.name, given.value);
        }
    }
    Ok(())
}

/// Removes the option `no_mmap` from `options`, and returns whether files are mapped or read.
fn take_access(options: &mut Options) -> PyResult<FileAccess> {
    Ok(access(options.take_flag("no_mmap").map_err(exception)?))
}

/// Returns the way in which files are read: mapped into memory, or with `no_mmap` read with ordinary calls.
#[expect(unsafe_code, reason = "the caller lets files be mapped, as those of an index are")]
fn access(no_mmap: bool) -> FileAccess {
    if no_mmap {
        return FileAccess::READ;
    }
    // SAFETY: the documentation says that files must not change while they are read.
    unsafe { FileAccess::map(|_, _| ()) }
}

/// Returns the command line with which `program`, for example `simtool dedup`, does the same work as the function of
/// this package. `simtool why` uses it to read the files again. `against` has the values of the option `against`.
fn command_line(
    program: &str,
    options: &Options,
    against: &[PathBuf],
    paths: &[PathBuf],
) -> String {
    let mut command = program.to_owned();
    for (name, value) in options.iter() {
        let name = name.replace('_', "-");
        // Writing to a string cannot fail.
        let _ = match value.to_string_lossy() {
            flag if flag == "true" => write!(command, " --{name}"),
            flag if flag == "false" => Ok(()),
            value => {
                let value = without_credentials(Path::new(&*value));
                write!(command, " {}", shell_word(&format!("--{name}={}", value.display())))
            }
        };
    }
    if !against.is_empty() {
        command += " --against";
        push_paths(against, &mut command);
    }
    command += " --";
    push_paths(paths, &mut command);
    command
}

fn push_paths(paths: &[PathBuf], command: &mut String) {
    for path in paths {
        command.push(' ');
        command.push_str(&shell_argument(without_credentials(path).as_os_str()));
    }
}

/// Receives the progress and the faults of a run. The faults are kept in case the run fails.
struct PythonFace<'f> {
    progress: &'f dyn Progress,
    access: FileAccess,
    faults: &'f Mutex<Vec<String>>,
}

impl Face for PythonFace<'_> {
    fn progress(&self) -> &dyn Progress {
        self.progress
    }

    fn access(&self) -> FileAccess {
        self.access
    }

    fn notice(&self, notice: Notice<'_>) {
        if let Notice::Faults(faults) = notice {
            let mut kept = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(faults.iter().map(Fault::to_string));
        }
    }
}

/// Adds a note to the exception for each fault of the input, if this version of Python supports notes.
fn with_faults(py: Python<'_>, error: PyErr, faults: &Mutex<Vec<String>>) -> PyErr {
    for fault in faults.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        // Python 3.10 has no notes: there the message has to be enough.
        drop(error.value(py).call_method1("add_note", (fault,)));
    }
    error
}
