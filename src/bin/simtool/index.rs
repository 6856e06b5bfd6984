//! `simtool index`: runs the commands on a growing index of documents.

use crate::args::{
    AddArgs, CommonArgs, CreateArgs, ExportArgs, FilterArgs, IndexCommand, IndexedArgs, MemoryArgs,
    MergeArgs, OneIndexArgs, QueryArgs, RemoveArgs, SalvageArgs, StatArgs,
};
use crate::console;
use crate::exit_status::ExitStatus;
use crate::inputs;
use crate::terminal::Terminal;
use simtool::Error;
use simtool::index::{AddedCorpus, IndexSize, Salvaged};
use simtool::options::Options;
use simtool::quantity::{bytes, counted, grouped};
use simtool::run::{
    self, AddOutcome, AddRequest, ExportRequest, FilterEnd, FilterOutcome, FilterRequest,
    IndexedDocuments, MergeOutcome, OpenRequest, QueryRequest, RemoveRequest, StatOutcome,
};
use simtool::write::output_folder::Existing;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

/// Maximum number of names of files, or of IDs, that are printed. Further ones are only counted.
const LISTED: usize = 20;

/// Runs a subcommand of `simtool index`, for example `add`.
pub(crate) fn run(command: &IndexCommand) -> anyhow::Result<ExitStatus> {
    match command {
        IndexCommand::Create(args) => create(args)?,
        IndexCommand::Add(args) => return add(args),
        IndexCommand::Filter(args) => return filter(args),
        IndexCommand::Query(args) => return query(args),
        IndexCommand::Stat(args) => stat(args)?,
        IndexCommand::Verify(args) => verify(args)?,
        IndexCommand::Compact(args) => compact(args)?,
        IndexCommand::Merge(args) => merge(args)?,
        IndexCommand::Export(args) => export(args)?,
        IndexCommand::Remove(args) => remove(args)?,
        IndexCommand::Salvage(args) => return salvage(args),
    }
    Ok(ExitStatus::Done)
}

fn create(args: &CreateArgs) -> anyhow::Result<()> {
    let mut options = Options::new();
    args.near.set(&mut options);
    args.terms.set(&mut options);
    let method = run::create_index(&args.index, options, &holder("create"))?;
    if !args.quiet {
        console::note(&format!("{} keeps {method}", args.index.display()));
        if let Some(means) = method.distance_means() {
            console::note(&format!("{means} The distance of an index cannot be changed later"));
        }
    }
    Ok(())
}

/// Returns a description of this process, which other processes show if they cannot write to the index
/// meanwhile.
fn holder(what: &str) -> String {
    format!("process {} (simtool index {what})", std::process::id())
}

/// Returns the request to open `index`. `what` is the name of the subcommand, for example `add`.
fn open_request(
    index: &Path,
    what: &str,
    common: &CommonArgs,
    memory: &MemoryArgs,
) -> Result<OpenRequest, Error> {
    let index = index.to_owned();
    Ok(OpenRequest { index, resources: common.resources(memory)?, holder: holder(what) })
}

/// Returns the documents that are added or looked up, with the settings for reading them.
fn documents(args: &IndexedArgs) -> Result<IndexedDocuments, Error> {
    Ok(IndexedDocuments { paths: args.corpus.clone(), input: args.input.settings(&args.memory)? })
}

fn add(args: &AddArgs) -> anyhow::Result<ExitStatus> {
    let IndexedArgs { index, memory, common, .. } = &args.documents;
    let running = &common.running;
    let request = AddRequest {
        index: open_request(index, "add", common, memory)?,
        documents: documents(&args.documents)?,
        source: args.arrival.source.clone(),
        time: args.arrival.time,
        only_new: args.only_new.clone(),
        is_json: args.json,
    };
    let terminal = Terminal::new(running);
    let outcome = run::add_to_index(&request, &mut io::stdout().lock(), &terminal)?;
    terminal.end(&outcome.faults);
    if !running.has("quiet") {
        print_added(&outcome);
    }
    if running.has("stats") {
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

fn query(args: &QueryArgs) -> anyhow::Result<ExitStatus> {
    let IndexedArgs { index, memory, common, .. } = &args.documents;
    let request = QueryRequest {
        index: open_request(index, "query", common, memory)?,
        documents: documents(&args.documents)?,
        only_nearest: !args.all,
        is_json: args.json,
    };
    let terminal = Terminal::new(&common.running);
    let outcome = run::query_index(&request, &mut io::stdout().lock(), &terminal)?;
    terminal.end(&outcome.faults);
    let (documents, seen) = (counted(outcome.documents, "document"), grouped(outcome.seen_before));
    terminal.note(&format!("{documents}, {seen} seen before"));
    Ok(ExitStatus::after(outcome.has_losses))
}

fn filter(args: &FilterArgs) -> anyhow::Result<ExitStatus> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let request = FilterRequest {
        index: open_request(index, "filter", common, memory)?,
        input: args.settings()?,
        source: args.arrival.source.clone(),
        time: args.arrival.time,
        batch_lines: args.batch.into(),
        wait: Duration::from_millis(args.wait),
        duplicates: args.duplicates.clone(),
    };
    let terminal = Terminal::new(&common.running);
    let outcome = run::filter_lines(&request, io::stdin(), &mut io::stdout(), &terminal)?;
    let FilterOutcome { end, lines, new, repeats, bad } = outcome;
    let lines = counted(lines, "line");
    let [new, repeats, without] = [new, repeats, bad].map(grouped);
    terminal.note(&format!("{lines}: {new} new, {repeats} repeat others, {without} no documents"));
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

fn stat(args: &StatArgs) -> anyhow::Result<()> {
    let resources = simtool::resources::Resources::default();
    let index = args.index.clone();
    let request = OpenRequest { index, resources, holder: holder("stat") };
    // The command has no options for reading, so the files are mapped.
    let outcome = run::stat_index(&request, inputs::access(false))?;
    let mut out = Vec::new();
    if args.json {
        outcome.write_json(&mut out)?;
    } else {
        write_stat(&mut out, &outcome)?;
    }
    Ok(console::out(&out)?)
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

fn verify(args: &OneIndexArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = args;
    let request = open_request(index, "verify", common, memory)?;
    let size = run::verify_index(&request, inputs::access(common.running.has("no_mmap")))?;
    if !common.running.has("quiet") {
        let documents = counted(size.documents, "document");
        console::note(&format!("{documents}, {}: intact", bytes(size.bytes)));
    }
    Ok(())
}

fn compact(args: &OneIndexArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = args;
    let request = open_request(index, "compact", common, memory)?;
    let IndexSize { documents, segments, bytes: size, .. } =
        run::compact_index(&request, inputs::access(common.running.has("no_mmap")))?;
    if !common.running.has("quiet") {
        let documents = counted(documents, "document");
        let segments = counted(segments as u64, "segment");
        console::note(&format!("{documents} in {segments}, {}", bytes(size)));
    }
    Ok(())
}

fn merge(args: &MergeArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let request = open_request(index, "merge", common, memory)?;
    let access = inputs::access(common.running.has("no_mmap"));
    let MergeOutcome { new, repeats, same, documents } =
        run::merge_index(&request, &args.other, access)?;
    if !common.running.has("quiet") {
        let (all, after) = (counted(new + repeats, "document"), counted(documents, "document"));
        let counts = format!("{} new, {} repeat others", grouped(new), grouped(repeats));
        let (index, other) = (index.display(), args.other.display());
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
    Ok(())
}

fn export(args: &ExportArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let request = ExportRequest {
        index: open_request(index, "export", common, memory)?,
        output: args.output.clone(),
        existing: Existing::by_force(args.force),
    };
    Ok(run::export_index(&request, &mut io::stdout(), &Terminal::new(&common.running))?)
}

fn remove(args: &RemoveArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let index = open_request(index, "remove", common, memory)?;
    let request = RemoveRequest { index, ids: args.ids.clone(), is_json: args.json };
    let outcome = run::remove_from_index(&request, &Terminal::new(&common.running))?;
    if !common.running.has("quiet") {
        for id in outcome.unknown.iter().take(LISTED) {
            console::note(&format!("no document is called {}", simtool::fault::escaped(id)));
        }
        if outcome.unknown.len() > LISTED {
            let more = grouped((outcome.unknown.len() - LISTED) as u64);
            console::note(&format!("nor {more} more"));
        }
        console::note(&format!("{} removed", counted(outcome.removed, "document")));
    }
    Ok(())
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

fn salvage(args: &SalvageArgs) -> anyhow::Result<ExitStatus> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let request = open_request(index, "salvage", common, memory)?;
    let access = inputs::access(common.running.has("no_mmap"));
    let saved = run::salvage_index(&request, &args.new, args.force, access)?;
    // Damage is a loss, so it is printed even with --quiet.
    for damage in &saved.damages {
        console::error(damage);
    }
    if !common.running.has("quiet") {
        console::note(&salvaged_counts(&saved));
    }
    Ok(ExitStatus::after(!saved.damages.is_empty()))
}
