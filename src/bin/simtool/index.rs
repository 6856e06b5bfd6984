//! `simtool index`: runs the commands on a growing index of documents.

use crate::args::Call;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::inputs;
use crate::terminal::Terminal;
use simtool::Error;
use simtool::index::{AddedCorpus, IndexSize, Salvaged};
use simtool::options::Options;
use simtool::run::{
    self, AddOutcome, AddRequest, ExportRequest, FilterEnd, FilterOutcome, FilterRequest,
    MergeOutcome, OpenRequest, QueryRequest, RemoveRequest, StatOutcome,
};
use simtool::stages::quantity::{bytes, counted, grouped};
use std::io::{self, Write};

/// Maximum number of names of files, or of IDs, that are printed. Further names are only counted.
const LISTED: usize = 20;

/// Creates an index.
pub(crate) fn create(call: &Call) -> anyhow::Result<ExitStatus> {
    let index = call.path("index");
    let method = run::create_index(&index, call.options(), &holder(call))?;
    if !call.has("quiet") {
        console::note(&format!("{} keeps {method}", index.display()));
        if let Some(means) = method.distance_means() {
            console::note(&format!("{means} The distance of an index cannot be changed later"));
        }
    }
    Ok(ExitStatus::Done)
}

/// Returns a description of this process. Other processes show it if they cannot write to the index because this
/// process does.
fn holder(call: &Call) -> String {
    format!("process {} (simtool {})", std::process::id(), call.command.words())
}

/// Returns the request to open the index that a call names. Takes its settings out of `options`. Returns an error if
/// other settings are left.
fn open_request(call: &Call, options: &mut Options) -> Result<OpenRequest, Error> {
    let request = OpenRequest::parse(call.path("index"), holder(call), options)?;
    options.refuse_rest("this command on an index has no such option")?;
    Ok(request)
}

/// Adds documents to an index.
pub(crate) fn add(call: &Call) -> anyhow::Result<ExitStatus> {
    let (index, paths) = (call.path("index"), call.paths("paths"));
    let request = AddRequest::parse(index, holder(call), paths, call.options())?;
    let request = AddRequest { is_json: call.has("json"), ..request };
    let terminal = Terminal::new(call);
    let outcome = run::add_to_index(&request, &mut io::stdout().lock(), &terminal)?;
    terminal.end(&outcome.faults);
    if !call.has("quiet") {
        print_added(&outcome);
    }
    if call.has("stats") {
        console::stats(&console::stage_times(outcome.timings.stages(), outcome.timings.counts()));
    }
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Prints the numbers of new documents and repeats, and the names of files that were already in the index.
fn print_added(AddOutcome { added, known_files, .. }: &AddOutcome) {
    let AddedCorpus { new, repeats, done_before, read, .. } = added;
    for file in known_files.iter().take(LISTED) {
        console::note(&format!("{} was added before", file.display()));
    }
    if known_files.len() > LISTED {
        let more = counted((known_files.len() - LISTED) as u64, "file");
        console::note(&format!("and so were {more} more"));
    }
    // Earlier documents come from a file whose `add` was interrupted.
    if *done_before > 0 {
        console::note(&format!("{} had been added before", counted(*done_before, "document")));
    }
    let all = counted(new + repeats + read.without_terms, "document");
    let (new, without) = (grouped(*new), grouped(read.without_terms));
    let bad = counted(read.quarantined.len() as u64, "bad record");
    let repeats = grouped(*repeats);
    console::note(&format!(
        "{all}: {new} new, {repeats} repeat others, {without} without words; {bad}"
    ));
}

/// Looks up documents in an index.
pub(crate) fn query(call: &Call) -> anyhow::Result<ExitStatus> {
    let (index, paths) = (call.path("index"), call.paths("paths"));
    let request = QueryRequest::parse(index, holder(call), paths, call.options())?;
    let request = QueryRequest { is_json: call.has("json"), ..request };
    let terminal = Terminal::new(call);
    let outcome = run::query_index(&request, &mut io::stdout().lock(), &terminal)?;
    terminal.end(&outcome.faults);
    let (documents, seen) = (counted(outcome.documents, "document"), grouped(outcome.seen_before));
    terminal.note(&format!("{documents}, {seen} seen before"));
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Prints the lines of standard input that are new to an index, and adds them to the index.
pub(crate) fn filter(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = FilterRequest::parse(call.path("index"), holder(call), call.options())?;
    let terminal = Terminal::new(call);
    let outcome = run::filter_lines(&request, io::stdin(), &mut io::stdout(), &terminal)?;
    let FilterOutcome { end, lines, new, repeats, bad } = outcome;
    let lines = counted(lines, "line");
    let [new, repeats, without] = [new, repeats, bad].map(grouped);
    terminal.note(&format!(
        "{lines}: {new} new, {repeats} that repeat others, {without} without a document"
    ));
    Ok(match end {
        FilterEnd::Input => ExitStatus::after(bad > 0),
        FilterEnd::Reader => {
            console::error(
                "the reader of standard output ended before the input; answered lines are in the index",
            );
            ExitStatus::Failed
        }
        FilterEnd::Interruption => {
            console::error("interrupted; answered lines are in the index");
            ExitStatus::Interrupted
        }
    })
}

/// Prints the size of an index.
pub(crate) fn stat(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = open_request(call, &mut call.options())?;
    // The command has no options for reading, so the files are mapped.
    let outcome = run::stat_index(&request, inputs::access(false))?;
    let mut out = Vec::new();
    if call.has("json") {
        outcome.write_json(&mut out)?;
    } else {
        write_stat(&mut out, &outcome)?;
    }
    console::out(&out)?;
    Ok(ExitStatus::Done)
}

fn write_stat(out: &mut Vec<u8>, outcome: &StatOutcome) -> io::Result<()> {
    let StatOutcome { method, sources, size } = outcome;
    // An index without documents has a header, but its size cannot be divided by 0.
    let each = size.bytes as f64 / size.documents.max(1) as f64;
    let tables = match size.tables {
        0 => "none: all fingerprints are compared".to_owned(),
        tables => tables.to_string(),
    };
    writeln!(out, "method      {method}")?;
    writeln!(out, "documents   {}", grouped(size.documents))?;
    writeln!(out, "removed     {}", grouped(size.removed))?;
    writeln!(out, "repeats     {}", grouped(size.repeats))?;
    writeln!(out, "sources     {}", sources.join(", "))?;
    writeln!(out, "segments    {}", size.segments)?;
    writeln!(out, "tables      {tables}")?;
    writeln!(out, "size        {}, {each:.1} bytes a document", bytes(size.bytes))?;
    writeln!(out, "generation  {}", grouped(size.generation))
}

/// Checks every byte of an index.
pub(crate) fn verify(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = open_request(call, &mut call.options())?;
    let size = run::verify_index(&request, inputs::access(call.has("no_mmap")))?;
    if !call.has("quiet") {
        let documents = counted(size.documents, "document");
        console::note(&format!("{documents}, {}: intact", bytes(size.bytes)));
    }
    Ok(ExitStatus::Done)
}

/// Merges the segments of an index.
pub(crate) fn compact(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = open_request(call, &mut call.options())?;
    let IndexSize { documents, segments, bytes: size, .. } =
        run::compact_index(&request, inputs::access(call.has("no_mmap")))?;
    if !call.has("quiet") {
        let documents = counted(documents, "document");
        let segments = counted(segments as u64, "segment");
        console::note(&format!("{documents} in {segments}, {}", bytes(size)));
    }
    Ok(ExitStatus::Done)
}

/// Adds the documents of another index to an index.
pub(crate) fn merge(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = open_request(call, &mut call.options())?;
    let other = call.path("other");
    let access = inputs::access(call.has("no_mmap"));
    let MergeOutcome { new, repeats, same, documents } =
        run::merge_index(&request, &other, access)?;
    if !call.has("quiet") {
        let (all, after) = (counted(new + repeats, "document"), counted(documents, "document"));
        let counts = format!("{} new, {} repeat others", grouped(new), grouped(repeats));
        let (index, other) = (request.index.display(), other.display());
        console::note(&format!(
            "merged {other} into {index}: {all}, {counts}; {index} has {after}"
        ));
        if same > 0 && same == new + repeats {
            let is = if same == 1 { "is" } else { "are" };
            console::note(&format!(
                "{} of {other} {is} in {index} with the same ID and fingerprint, so {other} may be a copy of {index}. \
                 Merging a copy counts its repeats twice; to restore an index from a copy, put the copy in its place",
                counted(same, "document")
            ));
        }
    }
    Ok(ExitStatus::Done)
}

/// Writes the documents of an index.
pub(crate) fn export(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = ExportRequest::parse(call.path("index"), holder(call), call.options())?;
    run::export_index(&request, &mut io::stdout(), &Terminal::new(call))?;
    Ok(ExitStatus::Done)
}

/// Removes documents from an index.
pub(crate) fn remove(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = RemoveRequest::parse(call.path("index"), holder(call), call.options())?;
    let request = RemoveRequest { is_json: call.has("json"), ..request };
    let outcome = run::remove_from_index(&request, &Terminal::new(call))?;
    if !call.has("quiet") {
        for id in outcome.unknown.iter().take(LISTED) {
            console::note(&format!(
                "no document is called {}",
                simtool::stages::fault::escaped(id)
            ));
        }
        if outcome.unknown.len() > LISTED {
            let more = grouped((outcome.unknown.len() - LISTED) as u64);
            console::note(&format!("nor {more} more"));
        }
        console::note(&format!("{} removed", counted(outcome.removed, "document")));
    }
    Ok(ExitStatus::Done)
}

/// Returns a sentence about the documents that were saved, and everything that is lost.
fn salvaged_counts(saved: &Salvaged) -> String {
    let lost = match saved.lost_documents {
        Some(lost) => format!("at most {} lost", grouped(lost)),
        None => "an unknown number lost".to_owned(),
    };
    let more = [(saved.loses_removals, "removals"), (saved.loses_repeats, "counts of repeats")];
    let more: Vec<&str> =
        more.iter().filter(|(is_lost, _)| *is_lost).map(|(_, what)| *what).collect();
    let saved = counted(saved.documents, "document");
    if more.is_empty() {
        return format!("{saved} saved, {lost}");
    }
    format!("{saved} saved, {lost}; {} are lost, too", more.join(" and "))
}

/// Copies the intact documents of a damaged index.
pub(crate) fn salvage(call: &Call) -> anyhow::Result<ExitStatus> {
    let mut options = call.options();
    let copies_intact = options.take_flag("force")?;
    let request = open_request(call, &mut options)?;
    let access = inputs::access(call.has("no_mmap"));
    let saved = run::salvage_index(&request, &call.path("new"), copies_intact, access)?;
    // Damage is a loss, so it is printed even with --quiet.
    for damage in &saved.damages {
        console::error(damage);
    }
    if !call.has("quiet") {
        console::note(&salvaged_counts(&saved));
    }
    Ok(ExitStatus::after(!saved.damages.is_empty()))
}
