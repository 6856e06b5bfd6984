//! Makes the receipt of a run, and compares the receipt of a finished run with its files.

use super::input::Input;
use super::recorded_request::RecordedRequest;
use crate::output::{REQUEST, write_file};
use crate::pipeline::Plan;
use crate::setting::{Effect, find_command};
use crate::write::merkle::{FileHash, hash_of_file, hash_of_lines, hex, sha256_of_file};
use crate::write::output_folder::OutputFolder;
use crate::write::output_inventory::SUMMARY;
use crate::write::receipt::{
    HashedInput, HashedOutput, RECEIPT, Receipt, ReceiptRequest, is_of_lines,
};
use crate::write::summary::Summary;
use simtool_base::byte_text::{byte_text, path_text};
use simtool_base::error::{Error, Result};
use simtool_base::progress::{Progress, Work};
use simtool_compute::context::Context;
use simtool_model::sides::Sides;
use simtool_read::Corpus;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Files of an output folder whose hashes a receipt does not have. They contain times or numbers of threads, which
/// differ between equal runs, or are the receipt itself.
const WITHOUT_HASH: [&str; 4] = [RECEIPT, REQUEST, SUMMARY, "report.html"];

/// A file that reports to `progress` how many bytes were read. Reading fails once the work is cancelled.
struct WatchedFile<'p, R> {
    file: R,
    progress: &'p dyn Progress,
}

impl<R: Read> Read for WatchedFile<'_, R> {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        if self.progress.is_cancelled() {
            return Err(io::Error::other("the work was cancelled"));
        }
        let count = self.file.read(block)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

/// Returns the SHA-256 hash of the bytes of an input as they are stored, for example compressed.
pub(super) fn hash_of_input(file: impl Read, context: &Context<'_>) -> io::Result<FileHash> {
    sha256_of_file(WatchedFile { file, progress: context.progress() })
}

/// Returns the hash of a file of an output folder, which is the root of a tree of hashes. `name` is the path of the
/// file in the folder.
pub(super) fn hash_of_output(
    folder: &Path,
    name: &str,
    context: &Context<'_>,
) -> io::Result<FileHash> {
    let file = WatchedFile { file: File::open(folder.join(name))?, progress: context.progress() };
    if is_of_lines(name) { hash_of_lines(file) } else { hash_of_file(file) }
}

/// Returns the paths of those `files` of the output folder whose hashes a receipt has. The paths have `/` between
/// folders, and are in ascending order.
pub(super) fn hashed_outputs(files: &[PathBuf]) -> Vec<String> {
    let names = files.iter().map(|file| path_text(file).replace('\\', "/"));
    let mut names: Vec<String> =
        names.filter(|name| !WITHOUT_HASH.contains(&name.as_str())).collect();
    names.sort_unstable();
    names
}

/// Reads all inputs once more, and returns their hashes. A file that the run could not read has no hash.
///
/// # Errors
///
/// The work is cancelled.
pub(super) fn hash_inputs(
    inputs: &Sides<Input<'_>>,
    context: &Context<'_>,
) -> Result<Vec<HashedInput>> {
    // SHA-256 goes through the bytes of a file in order, so each file has one thread.
    let bytes = inputs.iter().map(|input| input.collection.bytes()).sum();
    context.progress().begin("hashing inputs", Work::Bytes(bytes));
    let sides = inputs.iter().zip([inputs.is_two(), false]);
    let files = sides.flat_map(|(Input { collection, .. }, is_query)| {
        (0..collection.file_count()).map(move |file| (collection, file, is_query))
    });
    let files: Vec<_> = files.collect();
    context.threads().try_map(
        files.len(),
        || Ok(()),
        |(), at| {
            let (collection, file, is_query) = files[at];
            let found = collection.file_bytes(file).and_then(|file| hash_of_input(file, context));
            context.check_cancelled()?;
            // The fault of a file that cannot be read is in the summary already.
            let hash = found.ok().map(|FileHash { bytes, hash, .. }| (bytes, hex(&hash)));
            let file = path_text(collection.file_name(file)).into_owned();
            Ok(HashedInput { file, is_query, hash })
        },
    )
}

/// Writes the receipt to the output folder, after all other files except the summary and the page.
///
/// # Errors
///
/// A file of the folder cannot be read, the receipt cannot be written, or the work is cancelled.
pub(super) fn write_receipt(
    folder: &OutputFolder,
    inputs: Vec<HashedInput>,
    recorded: &RecordedRequest,
    plan: &Plan,
    summary: &Summary,
    context: &Context<'_>,
) -> Result<()> {
    // The files are read again as others will read them, so copies of inputs are hashed in the same way as rows.
    let names = hashed_outputs(&folder.written_files()?);
    context.progress().begin("hashing outputs", Work::Steps(0));
    let hash = |(): &mut (), at: usize| {
        let name: &String = &names[at];
        let found = hash_of_output(folder.staging(), name, context);
        context.check_cancelled()?;
        let found = found.map_err(|error| Error::io(folder.name(name), "read", error))?;
        Ok(HashedOutput::new(name.clone(), &found))
    };
    let outputs = context.threads().try_map(names.len(), || Ok(()), hash)?;
    let receipt = Receipt {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        request: recorded.of_receipt(),
        method: plan.method().name().to_owned(),
        settings: settings_of(plan),
        boilerplate: plan.boilerplate().map(|rule| rule.to_string()),
        recipe: summary.recipe.clone(),
        counts: counts_of(summary),
        inputs,
        outputs,
    };
    write_file(folder, RECEIPT, |out| receipt.write(out))
}

/// Returns the settings of the method of a plan, by which [`Method::parse`](crate::method::Method::parse) makes it
/// again.
fn settings_of(plan: &Plan) -> Vec<(String, String)> {
    let settings = plan.method().parameters().into_iter();
    settings.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the counts of a receipt. Counts that depend on the memory of the run, such as the number of pairs, are left
/// out.
fn counts_of(summary: &Summary) -> BTreeMap<String, u64> {
    // These counts are the same for any number of threads and any memory.
    let read = summary.read.first();
    let counts = [
        ("documents", read.documents),
        ("quarantined", read.quarantined),
        ("kept", summary.kept),
        ("removed", summary.removed),
        ("clusters", summary.clusters),
    ];
    let of_corpus = summary.read.is_two().then(|| summary.read.second().documents);
    let of_corpus = of_corpus.map(|documents| ("corpus_documents", documents));
    let counts = counts.into_iter().chain(of_corpus);
    counts.map(|(name, count)| (name.to_owned(), count)).collect()
}

impl RecordedRequest {
    /// Returns the parts of the request that affect the results, in the form in which a receipt has them.
    pub(super) fn of_receipt(&self) -> ReceiptRequest {
        let command = find_command(&self.command);
        // N and M come as settings of the method, so the paths of their files are left out.
        let is_result = |name: &str| {
            let row = command.and_then(|command| command.setting(name));
            row.is_none_or(|row| row.effect == Effect::Result)
        };
        let options = self.options.iter().filter(|(name, _)| is_result(name));
        let texts = |paths: &[PathBuf]| {
            paths.iter().map(|path| path_text(path).into_owned()).collect::<Vec<_>>()
        };
        ReceiptRequest {
            command: self.command.clone(),
            paths: texts(&self.paths),
            queries: texts(&self.queries),
            options: options
                .map(|(name, value)| {
                    (name.to_owned(), byte_text(value.as_encoded_bytes()).into_owned())
                })
                .collect(),
        }
    }
}
