//! `--dry-run`: the plan of a run and what it needs, from a sample of its input.

use super::dedup::{choose, corpora, open_inputs};
use super::dedup_request::Request;
use super::face::{Face, Notice};
use super::input::Input;
use super::job::{Job, JobRequest};
use super::parts_folder::parts_path;
use super::reading_faults::refuse_unknown_field;
use crate::estimate::{Care, Estimate, Guess, GuessedBytes, estimate};
use crate::method::{Criterion, Method};
use crate::output::{Outputs, files_of_folders};
use crate::pipeline::Plan;
use crate::write::output_folder::OutputFolder;
use simtool_base::durable::free_bytes;
use simtool_base::error::{Error, ErrorKind, Result};
use simtool_base::fault::Fault;
use simtool_base::quantity;
use simtool_model::sides::Sides;
use simtool_read::remote::is_address;
use simtool_read::{Corpus, Strict};
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::fs;
use std::path::{Path, PathBuf};

/// Size of a row of an output.
struct RowSize {
    /// Number of documents that the row names, each by its ID and its file.
    names: f64,
    /// Number of bytes of the rest of the row in JSON Lines.
    rest: f64,
}

/// Size of a row of the output `removed`.
const REMOVED_ROW: RowSize = RowSize { names: 2.0, rest: 170.0 };
/// Size of a removed document in a row of the output `clusters`.
const CLUSTER_ROW: RowSize = RowSize { names: 1.0, rest: 90.0 };
/// Size of a row of the output `documents`.
const DOCUMENT_ROW: RowSize = RowSize { names: 2.0, rest: 320.0 };
/// Size of a row of the outputs `pairs` and `coverage`. A document may have many of them.
const ROW_OF_TWO: RowSize = RowSize { names: 2.0, rest: 130.0 };
/// Number of bytes of the columns of the output `documents` that a copy has in each record.
const ADDED_BYTES: f64 = 240.0;
/// Number of bytes of a record number in the name of a document without an ID.
const NUMBER_BYTES: f64 = 10.0;

/// Plan of a run that was not carried out. Its `Display` is a text for people.
#[derive(Debug)]
pub struct DryRun {
    /// Faults of the input paths, for example paths that do not exist.
    pub faults: Vec<Fault>,
    /// Estimated time and memory of the run.
    pub estimate: Estimate,
    plan: Plan,
    reasons: Vec<String>,
    examples: Vec<String>,
    output: PathBuf,
    files: Vec<WrittenFiles>,
    /// Whether a warning says that the run would fail.
    would_fail: bool,
}

/// Files that a run would write to one folder, and the space that the folder has for them.
#[derive(Clone, Debug)]
struct WrittenFiles {
    /// Content of the files, for example `temporary files`.
    what: &'static str,
    folder: PathBuf,
    bytes: Guess,
    /// Whether `bytes` is an upper limit, so that the files may be much smaller.
    is_limit: bool,
    /// Noun for rows whose number is unknown, for example `pair`, and the number of bytes of such a row. `bytes` does not
    /// include these rows.
    more: Option<(&'static str, f64)>,
    /// Number of free bytes of the file system.
    free: u64,
    /// Number by which the system identifies the file system. `None` if it is unknown.
    file_system: Option<u64>,
}

impl WrittenFiles {
    fn new(what: &'static str, folder: &Path, bytes: Guess) -> Self {
        let existing = folder.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
        Self {
            what,
            folder: folder.to_owned(),
            bytes,
            is_limit: false,
            more: None,
            free: free_bytes(existing),
            file_system: file_system(existing),
        }
    }

    /// Returns whether the files of `self` and `other` are in one file system, so that they share its free space.
    fn shares_space(&self, other: &Self) -> bool {
        self.file_system == other.file_system
    }
}

/// Returns the number by which the system identifies the file system of `folder`. `None` if it is unknown.
fn file_system(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(folder).ok().map(|metadata| metadata.dev())
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        None
    }
}

/// Reads a sample, and returns the plan of [`dedup`](super::dedup()) with its estimated costs. Writes nothing.
///
/// # Errors
///
/// The same as for [`dedup`](super::dedup()), if they can be noticed without reading all of the input.
pub fn dry_run(request: &Request, face: &dyn Face) -> Result<DryRun> {
    request.job.parts.refuse_share("does not go with `dry_run`, which reads a sample")?;
    let plan = request.plan(request.method(face)?)?;
    let job = Job::open(&request.job, &request.config.resources, face)?;
    let inputs = open_inputs(request, &job)?;
    let JobRequest { output, existing, .. } = &request.job;
    let unwritable = OutputFolder::check(output, *existing, &files_of_folders()).err();
    let failures: Vec<Error> =
        unwritable.into_iter().chain(missing_fields(request, &inputs)).collect();
    for error in &failures {
        let reason = match error.kind() {
            // The name in backquotes becomes the name that users of the face write.
            ErrorKind::Config { field, value, rule } => format!("`{field}` {value}: {rule}"),
            _ => error.to_string(),
        };
        face.notice(Notice::Warning(&face.message(&format!("a run would fail: {reason}"))));
    }
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let corpora = corpora(&inputs, &strict);
    let chosen = choose(request, plan, corpora, face)?;
    let estimate = estimate(corpora, &chosen.plan, Care::Thorough);
    let files = written_files(request, chosen.plan.method(), corpora, &estimate);
    Ok(DryRun {
        faults: inputs.iter().flat_map(|input| input.path_faults().iter().cloned()).collect(),
        estimate,
        plan: chosen.plan,
        reasons: chosen.reasons,
        examples: chosen.examples,
        output: output.clone(),
        files,
        would_fail: !failures.is_empty(),
    })
}

/// Returns an error for each field that an option names and that the first records of all files lack.
fn missing_fields(request: &Request, inputs: &Sides<Input<'_>>) -> Vec<Error> {
    // Files without fields, such as plain texts, are refused elsewhere if an option names a field.
    let named: Vec<(&Input<'_>, Vec<String>)> = inputs
        .iter()
        .map(|input| (input, input.collection.field_names()))
        .filter(|(_, names)| !names.is_empty())
        .collect();
    let mut errors = Vec::new();
    // The collections of a match may have different fields for the text and the ID, but share all others.
    let own = inputs.first().settings;
    let mut missing = BTreeSet::new();
    for (input, names) in &named {
        let settings = input.settings;
        for (setting, of_corpus, field, of_first) in [
            ("text_field", "against_text_field", &settings.text_field, &own.text_field),
            ("id_field", "against_id_field", &settings.id_field, &own.id_field),
        ] {
            let Some(given) = field else { continue };
            let setting = if field == of_first { setting } else { of_corpus };
            let error = refuse_unknown_field(setting, given, names.iter().cloned()).err();
            errors.extend(error.filter(|_| missing.insert(setting)));
        }
    }
    for (setting, field) in request.named_fields().into_iter().filter(|_| !named.is_empty()) {
        let all = named.iter().flat_map(|(_, names)| names.iter().cloned());
        errors.extend(refuse_unknown_field(setting, field, all).err());
    }
    errors
}

/// Returns the kinds of files that the run would write, for example results and temporary files, with their estimated
/// sizes.
fn written_files(
    request: &Request,
    method: &Method,
    corpora: Sides<&dyn Corpus>,
    estimate: &Estimate,
) -> Vec<WrittenFiles> {
    let JobRequest { output, parts, .. } = &request.job;
    let outputs = &request.outputs;
    let names = NameBytes::estimate(*corpora.first(), estimate);
    let of_rows = names.row_bytes(outputs);
    // Together, the copies with the kept and with the removed documents are as large as the inputs.
    let input_bytes = corpora.first().bytes() as f64;
    let copies = if outputs.kept || outputs.removed { input_bytes } else { 0.0 };
    let added = ADDED_BYTES * estimate.documents.most;
    let annotated = if outputs.annotates_copies() { input_bytes + added } else { 0.0 };
    let temporary = &request.config.resources.temporary_folder;
    // Results for a store wait on this machine until all are complete.
    let folder = if is_address(output) { temporary } else { output };
    let more = match method.close() {
        Criterion::Coverage => Some("stretch of words of a removed document"),
        _ if outputs.pairs => Some("pair"),
        _ => None,
    };
    let results = WrittenFiles {
        is_limit: true,
        more: more.map(|row| (row, names.of_row(&ROW_OF_TWO))),
        ..WrittenFiles::new("results", folder, Guess::exactly(of_rows + copies + annotated))
    };
    let mut files = vec![results];
    if parts.setting().is_some() {
        files.push(WrittenFiles::new("stored parts", &parts_path(output), estimate.stored_bytes));
    }
    if estimate.temporary_bytes.likely > 0.0 {
        files.push(WrittenFiles::new("temporary files", temporary, estimate.temporary_bytes));
    }
    files
}

/// Estimated number of documents, and of the bytes of the ID and file that name one of them in a row.
#[derive(Clone, Copy)]
struct NameBytes {
    documents: f64,
    mean: f64,
}

impl NameBytes {
    fn estimate(corpus: &dyn Corpus, estimate: &Estimate) -> Self {
        let documents = estimate.documents.most;
        let lengths = (0..corpus.file_count()).map(|file| corpus.file_name(file).as_os_str().len());
        let file_bytes = lengths.sum::<usize>() as f64 / corpus.file_count().max(1) as f64;
        // A document without an ID is named by its file and the number of its record.
        let ids = estimate.id_bytes.most / documents.max(1.0);
        let id_bytes = if ids > 0.0 { ids } else { file_bytes + NUMBER_BYTES };
        Self { documents, mean: id_bytes + file_bytes }
    }

    /// Returns the number of bytes of a row.
    fn of_row(self, row: &RowSize) -> f64 {
        row.names * self.mean + row.rest
    }

    /// Returns the number of bytes that the outputs with at most one row for each document have at most. They are that
    /// large if nearly all documents are removed.
    fn row_bytes(self, outputs: &Outputs) -> f64 {
        let documents = outputs.annotation.is_some().then_some(DOCUMENT_ROW);
        let rows = [REMOVED_ROW, CLUSTER_ROW].into_iter().chain(documents);
        self.documents * rows.map(|row| self.of_row(&row)).sum::<f64>()
    }
}

impl DryRun {
    /// Returns a sentence about the run: whether it would fail at once, or fit in the memory limit and in the free space
    /// of each file system.
    fn verdict(&self) -> String {
        if self.would_fail {
            return "The run would fail before it reads the documents".to_owned();
        }
        let (memory, limit) = (self.estimate.memory_bytes, self.plan.resources().memory);
        if memory.likely > limit as f64 {
            let memory = GuessedBytes(memory);
            return format!(
                "The run does not fit: it needs {memory} of memory, and the limit is {}",
                quantity::bytes(limit)
            );
        }
        for files in &self.files {
            // Files in one file system compete for its free space.
            let shared = self.files.iter().filter(|other| files.shares_space(other));
            let needed: f64 = shared.map(|other| other.bytes.likely).sum();
            if needed > files.free as f64 {
                let needed = GuessedBytes(Guess::exactly(needed));
                let (free, folder) = (quantity::bytes(files.free), files.folder.display());
                return format!(
                    "The run may not fit: it needs up to {needed} of disk, and {free} are free for {folder}"
                );
            }
        }
        "The run fits in memory and on disk".to_owned()
    }
}

impl fmt::Display for DryRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.reasons.is_empty() {
            let lines: Vec<&str> =
                self.reasons.iter().chain(&self.examples).map(String::as_str).collect();
            writeln!(f, "chosen: {}\n  {}", self.plan.method(), lines.join("\n  "))?;
        }
        self.plan.fmt(f)?;
        if let Some(join) = &self.estimate.join_plan {
            join.fmt(f)?;
        }
        writeln!(f, "{}", self.estimate)?;
        let mut disk = String::new();
        for WrittenFiles { what, folder, bytes, is_limit, more, free, .. } in &self.files {
            let comma = if disk.is_empty() { "" } else { ", " };
            let (unit, size) = quantity::unit(bytes.most);
            let size = match is_limit {
                true => format!("at most {:.1} {unit}", bytes.most / size),
                false => GuessedBytes(*bytes).to_string(),
            };
            let (folder, free) = (folder.display(), quantity::bytes(*free));
            write!(disk, "{comma}{size} of {what} in {folder} ({free} free)")?;
            if let Some((row, bytes)) = more {
                write!(disk, " and about {bytes:.0} bytes for each {row}")?;
            }
        }
        writeln!(f, "{disk}\n{}", self.verdict())?;
        writeln!(f, "nothing was written; results would be in {}", self.output.display())
    }
}
