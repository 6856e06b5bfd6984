//! `--dry-run`: the plan of a run and what it needs, from a sample of its input.

use super::dedup::{choose, corpora, open_inputs};
use super::dedup_request::Request;
use super::face::{Face, Notice};
use super::input::Input;
use super::job::{Job, JobRequest};
use super::parts_folder::parts_path;
use super::reading_faults::refuse_unknown_field;
use crate::estimate::{Care, Estimate, Guess, GuessedBytes, estimate};
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
/// Size of a row of the output `pairs`.
const PAIR_ROW: RowSize = RowSize { names: 2.0, rest: 130.0 };
/// Size of a row of the output `documents`.
const DOCUMENT_ROW: RowSize = RowSize { names: 2.0, rest: 320.0 };
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
    for error in unwritable.into_iter().chain(missing_fields(request, &inputs)) {
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
    let files = written_files(request, corpora, &estimate);
    Ok(DryRun {
        faults: inputs.iter().flat_map(|input| input.path_faults().iter().cloned()).collect(),
        estimate,
        plan: chosen.plan,
        reasons: chosen.reasons,
        examples: chosen.examples,
        output: output.clone(),
        files,
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
    for (input, names) in &named {
        let settings = input.settings;
        let fields = [("text_field", &settings.text_field), ("id_field", &settings.id_field)];
        for (setting, field) in fields {
            if let Some(field) = field {
                errors.extend(refuse_unknown_field(setting, field, names.iter().cloned()).err());
            }
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
    corpora: Sides<&dyn Corpus>,
    estimate: &Estimate,
) -> Vec<WrittenFiles> {
    let JobRequest { output, parts, .. } = &request.job;
    let outputs = &request.outputs;
    let of_rows = row_bytes(outputs, *corpora.first(), estimate);
    // Together, the copies with the kept and with the removed documents are as large as the inputs.
    let copies = if outputs.writes_copies() { corpora.first().bytes() as f64 } else { 0.0 };
    let temporary = &request.config.resources.temporary_folder;
    // Results for a store wait on this machine until all are complete.
    let folder = if is_address(output) { temporary } else { output };
    let results = WrittenFiles {
        is_limit: true,
        ..WrittenFiles::new("results", folder, Guess::exactly(of_rows + copies))
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

/// Returns the number of bytes that the outputs with rows have at most. They are that large if nearly all documents are
/// removed. There may be more pairs than documents, but usually there are fewer.
fn row_bytes(outputs: &Outputs, corpus: &dyn Corpus, estimate: &Estimate) -> f64 {
    let documents = estimate.documents.most;
    let lengths = (0..corpus.file_count()).map(|file| corpus.file_name(file).as_os_str().len());
    let file_bytes = lengths.sum::<usize>() as f64 / corpus.file_count().max(1) as f64;
    // A document without an ID is named by its file and the number of its record.
    let ids = estimate.id_bytes.most;
    let id_bytes = if ids > 0.0 { ids } else { documents * (file_bytes + NUMBER_BYTES) };
    let names = id_bytes + documents * file_bytes;
    let rows = [
        (REMOVED_ROW, true),
        (CLUSTER_ROW, true),
        (PAIR_ROW, outputs.pairs),
        (DOCUMENT_ROW, outputs.annotation.is_some()),
    ];
    let written = rows.into_iter().filter(|(_, is_written)| *is_written);
    written.map(|(row, _)| row.names * names + row.rest * documents).sum()
}

impl DryRun {
    /// Returns a sentence that says whether the run fits in the memory limit and in the free space of each file system.
    fn verdict(&self) -> String {
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
        for WrittenFiles { what, folder, bytes, is_limit, free, .. } in &self.files {
            let comma = if disk.is_empty() { "" } else { ", " };
            let (unit, size) = quantity::unit(bytes.most);
            let size = match is_limit {
                true => format!("at most {:.1} {unit}", bytes.most / size),
                false => GuessedBytes(*bytes).to_string(),
            };
            let (folder, free) = (folder.display(), quantity::bytes(*free));
            write!(disk, "{comma}{size} of {what} in {folder} ({free} free)")?;
        }
        writeln!(f, "{disk}\n{}", self.verdict())?;
        writeln!(f, "nothing was written; results would be in {}", self.output.display())
    }
}
