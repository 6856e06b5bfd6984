//! Compares the receipt of a finished run with its files, with its request and with its rows.

use super::pairs::{method_of, request_of};
use super::sampled_rows::SampledRows;
use crate::run::face::Face;
use crate::run::receipt::{hash_of_input, hash_of_output, hashed_outputs};
use crate::run::recorded_request::RecordedRequest;
use crate::run::recorded_run::RecordedRun;
use crate::write::merkle::{FileHash, hex};
use crate::write::output_inventory::files_of;
use crate::write::receipt::{HashedInput, HashedOutput, RECEIPT, Receipt};
use simtool_base::error::{Error, Result};
use simtool_base::progress::Work;
use simtool_compute::context::Context;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;

/// Result of comparing a receipt, which has the hashes of inputs and outputs, with the files of a run.
#[derive(Clone, Debug, Default)]
pub struct ReceiptCheck {
    /// Number of all input files in the receipt, and of the compared ones that are unchanged.
    pub inputs: FileCounts,
    /// Number of all output files in the receipt, and of the unchanged ones.
    pub outputs: FileCounts,
    /// A sentence for each file, setting or count that is not as in the receipt.
    pub changed: Vec<String>,
    /// A sentence for each file that could not be compared.
    pub unchecked: Vec<String>,
}

/// Numbers of files that a receipt lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    /// Number of all files in the receipt.
    pub all: u64,
    /// Number of compared files whose bytes are as the receipt says.
    pub equal: u64,
}

/// State of a file that is compared with the receipt.
enum FileState {
    Equal,
    Changed(String),
    Unchecked(String),
}

impl ReceiptCheck {
    fn add(&mut self, states: Vec<FileState>) -> FileCounts {
        let mut counts = FileCounts { all: states.len() as u64, equal: 0 };
        for state in states {
            match state {
                FileState::Equal => counts.equal += 1,
                FileState::Changed(what) => self.changed.push(what),
                FileState::Unchecked(what) => self.unchecked.push(what),
            }
        }
        counts
    }
}

/// Compares each file of the output folder with its hash in the receipt, which is the root of a tree of hashes. `root`
/// is the hash of all outputs together, as the receipt has it. Adds the results to `check`.
///
/// # Errors
///
/// The folder cannot be listed, or the work is cancelled.
pub(super) fn check_outputs(
    folder: &Path,
    receipt: &Receipt,
    root: &str,
    context: &Context<'_>,
    check: &mut ReceiptCheck,
) -> Result<()> {
    if *root != hex(&receipt.root()) {
        let outputs = format!("the root in {RECEIPT} is not that of the outputs it lists");
        check.changed.push(outputs);
    }
    let files = files_of(folder).map_err(|error| Error::io(folder, "list", error))?;
    // Files that contain times have no hash in the receipt, so they are not compared.
    let there: BTreeSet<String> = hashed_outputs(&files).into_iter().collect();
    let sizes = there.iter().filter_map(|name| Some(fs::metadata(folder.join(name)).ok()?.len()));
    context.progress().begin("hashing outputs", Work::Bytes(sizes.sum()));
    let outputs = &receipt.outputs;
    let state = |(): &mut (), at: usize| {
        let output: &HashedOutput = &outputs[at];
        let name = &output.file;
        // Only names in the folder are opened, whatever the receipt lists.
        if !there.contains(name) {
            return Ok(FileState::Unchecked(format!("the output {name} is not in the folder")));
        }
        let found = hash_of_output(folder, name, context);
        context.check_cancelled()?;
        Ok(match found.map(|found| HashedOutput::new(name.clone(), &found)) {
            Ok(found) if found == *output => FileState::Equal,
            Ok(found) => FileState::Changed(format!(
                "the output {name} was changed: it has {} rows with the root {}, in the receipt {} with {}",
                found.rows,
                shortened(&found.root),
                output.rows,
                shortened(&output.root)
            )),
            Err(error) => {
                FileState::Unchecked(format!("the output {name} cannot be read: {error}"))
            }
        })
    };
    let states = context.threads().try_map(outputs.len(), || Ok(()), state)?;
    check.outputs = check.add(states);
    // Rows that somebody adds in a new file must not go unnoticed.
    let listed: BTreeSet<&str> = outputs.iter().map(|output| &*output.file).collect();
    let added = there.iter().filter(|name| !listed.contains(name.as_str()));
    check.changed.extend(added.map(|name| format!("the output {name} is not in the receipt")));
    Ok(())
}

/// Compares the inputs that are `needed`, which have the sampled documents, with their hashes in the receipt. Other
/// inputs are not read. Adds the results to `check`.
///
/// # Errors
///
/// The work is cancelled.
pub(super) fn check_inputs(
    run: &RecordedRun<'_>,
    receipt: &Receipt,
    needed: &BTreeSet<&str>,
    context: &Context<'_>,
    check: &mut ReceiptCheck,
) -> Result<()> {
    let inputs = &receipt.inputs;
    let bytes = inputs.iter().filter(|input| needed.contains(&*input.file));
    let bytes = bytes.filter_map(|input| Some(input.hash.as_ref()?.0)).sum();
    context.progress().begin("hashing inputs", Work::Bytes(bytes));
    let state = |(): &mut (), at: usize| {
        let HashedInput { file, hash, .. } = &inputs[at];
        let (Some((bytes, hash)), true) = (hash, needed.contains(&**file)) else {
            return Ok(None);
        };
        // Devices and pipes have no end.
        let path = run.path_of_name(file);
        let opened = if path.is_file() { File::open(&path).ok() } else { None };
        let found = opened.map(|opened| hash_of_input(opened, context));
        context.check_cancelled()?;
        let Some(Ok(FileHash { bytes: bytes_now, hash: now, .. })) = found else {
            return Ok(Some(FileState::Unchecked(format!("the input {file} cannot be read"))));
        };
        // Equal hashes mean equal bytes, so sizes need not be compared.
        let now = hex(&now);
        Ok(Some(if now == *hash {
            FileState::Equal
        } else {
            FileState::Changed(format!(
                "the input {file} was changed: it has {bytes_now} bytes with SHA-256 {}, in the receipt {bytes} with {}",
                shortened(&now),
                shortened(hash)
            ))
        }))
    };
    let states = context.threads().try_map(inputs.len(), || Ok(()), state)?;
    let counts = check.add(states.into_iter().flatten().collect());
    check.inputs = FileCounts { all: inputs.len() as u64, ..counts };
    let listed: BTreeSet<&str> = inputs.iter().map(|input| &*input.file).collect();
    let foreign = needed.iter().filter(|name| !listed.contains(**name));
    check.changed.extend(foreign.map(|name| format!("the input {name} is not in the receipt")));
    Ok(())
}

/// Compares the receipt with the request, the summary and the number of rows of the run. Adds the results to `check`.
///
/// # Errors
///
/// The request or the receipt has a setting that this version does not know.
pub(super) fn check_request(
    run: &RecordedRun<'_>,
    recorded: &RecordedRequest,
    receipt: &Receipt,
    sampled: &SampledRows,
    face: &dyn Face,
    check: &mut ReceiptCheck,
) -> Result<()> {
    // Sentences about settings come first, because they decide what the rows mean.
    let mut changed = Vec::new();
    let of_run = recorded.of_receipt();
    let lists = [
        ("command", of_run.command == receipt.request.command),
        ("paths", of_run.paths == receipt.request.paths),
        ("queries", of_run.queries == receipt.request.queries),
        ("options", of_run.options == receipt.request.options),
    ];
    for (name, _) in lists.iter().filter(|(_, is_equal)| !is_equal) {
        changed.push(format!("the {name} of {RECEIPT} and of request.json differ"));
    }
    // If the user named the method, the receipt must have the settings of the request. Only a minimum similarity that
    // the user left open may differ.
    let request = request_of(recorded)?;
    let settings: BTreeMap<&str, &str> =
        receipt.settings.iter().map(|(name, value)| (&**name, &**value)).collect();
    if request.chosen_by_sample().is_none() && recorded.words.features.is_none() {
        let method = request.method(face)?;
        if method.name() != receipt.method {
            changed.push(format!(
                "the method {} in {RECEIPT} is not that of request.json",
                receipt.method
            ));
        }
        for (name, value) in method.parameters() {
            let is_open = name == "similarity" && request.is_default_similarity();
            let written = settings.get(name).copied().unwrap_or_default();
            if method.name() == receipt.method && !is_open && written != value {
                let of_receipt = format!("the {name} {written} in {RECEIPT}");
                changed.push(format!("{of_receipt} is not that of request.json, {value}"));
            }
        }
    }
    // People read the summary, so it must have the same facts as the receipt.
    let summary = run.run.summary();
    if summary["recipe"].as_str() != Some(&receipt.recipe) {
        changed.push(format!("the recipe in {RECEIPT} is not that in summary.json"));
    }
    let recipe = method_of(receipt)?.recipe().to_string();
    if recipe != receipt.recipe && recorded.words.features.is_none() {
        let text = format!("the recipe in {RECEIPT} is not that of its method, {recipe}");
        // Another version of simtool may make other sets or fingerprints from the same settings.
        let is_same = receipt.version == env!("CARGO_PKG_VERSION");
        if is_same { changed.push(text) } else { check.unchecked.push(text) }
    }
    for name in ["kept", "removed", "clusters"] {
        let count = receipt.counts.get(name).copied();
        if summary[name].as_u64() != count {
            changed.push(format!("the count of {name} in {RECEIPT} is not that in summary.json"));
        }
    }
    let removed = receipt.counts.get("removed").copied().unwrap_or_default();
    if removed != sampled.removals {
        let rows = sampled.removals;
        changed.push(format!("there are {rows} removals, and {removed} in {RECEIPT}"));
    }
    check.changed.append(&mut changed);
    Ok(())
}

/// Returns the first digits of a hash, which are enough to see a difference.
fn shortened(hash: &str) -> &str {
    hash.get(..16).unwrap_or(hash)
}
