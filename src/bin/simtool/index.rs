//! `simtool index`: what was seen, and is asked for again.

use crate::args::{
    AddArgs, CreateArgs, ExportArgs, IndexCommand, IndexedArgs, MergeArgs, OneIndexArgs, QueryArgs,
    RemoveArgs, SalvageArgs, StatArgs,
};
use crate::inputs;
use crate::interrupt::Interrupted;
use crate::opened_index::{arrival, disk, holder, open, open_adder};
use crate::terminal::Terminal;
use crate::{ExitStatus, console};
use simtool::Error;
use simtool::index::{
    Added, AddedCorpus, Commits, Index, IndexAdder, Near, RepeatRow, salvage, write_only_new,
    write_repeat,
};
use simtool::method::Method;
use simtool::options::Options;
use simtool::pipeline::timings::Timings;
use simtool::quantity::{bytes, counted, grouped};
use simtool::read::{Collection, Strict};
use simtool::run::{
    Face, Input, InputSettings, OutputState, Places, STANDARD_INPUT, give_name, has_losses,
    refuse_existing, write_whole_file,
};
use simtool::write::columns::RowFormat;
use simtool::write::output_folder::{Existing, OutputFolder};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;

/// Does what was asked for.
pub(crate) fn run(command: &IndexCommand) -> anyhow::Result<ExitStatus> {
    match command {
        IndexCommand::Create(args) => create(args)?,
        IndexCommand::Add(args) => return add(args),
        IndexCommand::Filter(args) => return crate::index_filter::run(args),
        IndexCommand::Query(args) => return query(args),
        IndexCommand::Stat(args) => stat(args)?,
        IndexCommand::Verify(args) => verify(args)?,
        IndexCommand::Compact(args) => compact(args)?,
        IndexCommand::Merge(args) => merge(args)?,
        IndexCommand::Export(args) => export(args)?,
        IndexCommand::Remove(args) => remove(args)?,
        IndexCommand::Salvage(args) => return save(args),
    }
    Ok(ExitStatus::Done)
}

fn create(args: &CreateArgs) -> anyhow::Result<()> {
    let mut options = Options::new();
    args.terms.set(&mut options);
    args.sketch.set(&mut options);
    options.set_given([("max_distance", &args.max_distance)]);
    let method = Method::parse(&args.method, &mut options)?;
    if let Some((option, value)) = options.first() {
        return Err(method.refusal(option, &value).into());
    }
    let description = method.to_string();
    IndexAdder::create(&args.index, method, disk(), &holder("create"))?;
    if !args.quiet {
        console::note(&format!("{} keeps {description}", args.index.display()));
    }
    Ok(())
}

/// The documents that are added or asked for.
fn opened<'s>(
    args: &IndexedArgs,
    settings: &'s InputSettings,
    terminal: &Terminal,
) -> Result<Input<'s>, Error> {
    let options = settings.read_options(terminal.access());
    let paths = settings.with_listed(&args.corpus)?;
    let temporary = args.common.resources(&args.memory)?.temporary_folder;
    let places = Places { output: &args.index, temporary: &temporary };
    let input = Input::open(&paths, settings, options, places, terminal)?;
    Input::refuse_idle(&[&input], None)?;
    Ok(input)
}

fn add(args: &AddArgs) -> anyhow::Result<ExitStatus> {
    let mut timings = Timings::start();
    let IndexedArgs { index, memory, common, .. } = &args.documents;
    let running = &common.running;
    let mut adder = open_adder(index, "add", common, memory)?;
    timings.end("open");
    let terminal = Terminal::new(running);
    let settings = args.documents.input.settings()?;
    let input = opened(&args.documents, &settings, &terminal)?;
    let collection = &input.collection;
    let create = |path: &PathBuf| -> Result<OutputFolder, Error> {
        let mut held = terminal.hold_interruptions();
        let folder = OutputFolder::create(path, Existing::Refuse)?;
        held.set(OutputState::Unfinished(folder.unfinished().to_owned()));
        Ok(folder)
    };
    let folder = args.only_new.as_ref().map(create).transpose()?;
    let strict = Strict(collection);
    let corpus = input.corpus(&strict);
    let progress = terminal.progress();
    let commits = if folder.is_some() { Commits::ByCaller } else { Commits::Often };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut added = adder.add_corpus(
        collection,
        corpus,
        arrival(&args.arrival),
        commits,
        progress,
        &mut |adder, name, added| {
            let Added::Repeats(Near { distance, number }) = added else { return Ok(()) };
            let repeated = adder.id(number)?;
            let row = RepeatRow { name, repeated: &repeated, number, distance };
            write_repeat(&mut out, args.json, &row)
                .map_err(|e| Error::io("standard output", "write", e))
        },
    )?;
    timings.end("read and add");
    input.add_faults(&mut added.read, &terminal);
    let faults = input.faults(&added.read);
    settings.refuse_losses(&faults)?;
    out.flush()?;
    if let Some(folder) = folder {
        write_only_new(collection, &added, &folder, common.thread_count()?, progress)?;
        folder.sync()?;
        let results = args.only_new.clone().unwrap_or_default();
        give_name(&terminal, &results, || {
            folder.finish()?;
            adder.commit()
        })?;
        timings.end("write what is new");
    }
    terminal.end(&faults);
    if !running.quiet {
        tell_added(collection, &added);
    }
    if running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
    Ok(ExitStatus::after(has_losses(std::iter::once(&added.read))))
}

fn tell_added(collection: &Collection, added: &AddedCorpus) {
    let AddedCorpus { new, repeats, done_before, known_files, read, .. } = added;
    for &file in known_files.iter().take(20) {
        let file = simtool::read::Corpus::file_name(collection, file).display();
        console::note(&format!("{file} was added before"));
    }
    if known_files.len() > 20 {
        console::note(&format!(
            "and so were {} more",
            counted(known_files.len() as u64 - 20, "file")
        ));
    }
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
    let index = open(index, common, memory)?;
    let terminal = Terminal::new(&common.running);
    let settings = args.documents.input.settings()?;
    let input = opened(&args.documents, &settings, &terminal)?;
    let strict = Strict(&input.collection);
    let corpus = input.corpus(&strict);
    let progress = terminal.progress();
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut asked, mut seen) = (0, 0);
    let mut read = index.near_corpus(corpus, !args.all, progress, &mut |name, near| {
        asked += 1;
        seen += u64::from(!near.is_empty());
        near.iter().try_for_each(|&near| index.write_near(&mut out, args.json, name, near))
    })?;
    input.add_faults(&mut read, &terminal);
    let faults = input.faults(&read);
    settings.refuse_losses(&faults)?;
    out.flush()?;
    terminal.end(&faults);
    terminal.note(&format!("{}, {} seen before", counted(asked, "document"), grouped(seen)));
    Ok(ExitStatus::after(has_losses(std::iter::once(&read))))
}

fn stat(args: &StatArgs) -> anyhow::Result<()> {
    let access = inputs::access(false);
    let index = Index::open(&args.index, access, &simtool::resources::Resources::default())?;
    let size = index.size()?;
    let method = index.method().to_string();
    let mut out = Vec::new();
    if args.json {
        out.extend_from_slice(b"{\"method\":");
        simtool::json_text::write_string(&mut out, method.as_bytes())?;
        writeln!(
            out,
            ",\"documents\":{},\"removed\":{},\"repeats\":{},\"sources\":{},\"segments\":{},\
             \"tables\":{},\"bytes\":{},\"generation\":{}}}",
            size.documents,
            size.removed,
            size.repeats,
            index.sources().len(),
            size.segments,
            size.tables,
            size.bytes,
            size.generation
        )?;
    } else {
        let each = size.bytes as f64 / size.documents.max(1) as f64;
        writeln!(out, "method      {method}")?;
        writeln!(out, "documents   {}", grouped(size.documents))?;
        writeln!(out, "removed     {}", grouped(size.removed))?;
        writeln!(out, "repeats     {}", grouped(size.repeats))?;
        writeln!(out, "sources     {}", index.sources().join(", "))?;
        writeln!(out, "segments    {}", size.segments)?;
        let tables = match size.tables {
            0 => "none: all fingerprints are compared".to_owned(),
            tables => tables.to_string(),
        };
        writeln!(out, "tables      {tables}")?;
        writeln!(out, "size        {}, {each:.1} bytes a document", bytes(size.bytes))?;
        writeln!(out, "generation  {}", grouped(size.generation))?;
    }
    Ok(console::out(&out)?)
}

fn verify(args: &OneIndexArgs) -> anyhow::Result<()> {
    let index = open(&args.index, &args.common, &args.memory)?;
    index.verify()?;
    if !args.common.running.quiet {
        let size = index.size()?;
        let documents = counted(size.documents, "document");
        console::note(&format!("{documents}, {}: intact", bytes(size.bytes)));
    }
    Ok(())
}

fn compact(args: &OneIndexArgs) -> anyhow::Result<()> {
    let mut adder = open_adder(&args.index, "compact", &args.common, &args.memory)?;
    adder.compact()?;
    drop(adder);
    if !args.common.running.quiet {
        let size = open(&args.index, &args.common, &args.memory)?.size()?;
        let documents = counted(size.documents, "document");
        let segments = counted(size.segments as u64, "segment");
        console::note(&format!("{documents} in {segments}, {}", bytes(size.bytes)));
    }
    Ok(())
}

fn merge(args: &MergeArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let other = open(&args.other, common, memory)?;
    let mut adder = open_adder(index, "merge", common, memory)?;
    let (new, repeats) = adder.add_index(&other)?;
    adder.commit()?;
    if !common.running.quiet {
        let all = counted(new + repeats, "document");
        console::note(&format!("{all}: {} new, {} repeat others", grouped(new), grouped(repeats)));
    }
    Ok(())
}

fn export(args: &ExportArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let index = open(index, common, memory)?;
    let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") else {
        let mut out = BufWriter::new(io::stdout());
        index.export(&mut out, RowFormat::JsonLines)?;
        out.flush()?;
        return Ok(());
    };
    let extension = path.extension().map(OsStr::as_encoded_bytes);
    let is_table = match extension.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"jsonl" | b"ndjson") => false,
        Some(b"parquet") => true,
        Some(_) => {
            let rule = "must end in .jsonl or .parquet";
            return Err(Error::config("output", path.display(), rule).into());
        }
    };
    refuse_existing("output", path, Existing::by_force(args.force))?;
    write_whole_file(path, Existing::by_force(args.force), &Interrupted, |file| {
        let mut out = BufWriter::with_capacity(1 << 20, file.file());
        let format = if is_table { RowFormat::parquet()? } else { RowFormat::JsonLines };
        index.export(&mut out, format)?;
        out.flush().map_err(|e| Error::io(path, "write", e))
    })?;
    Ok(())
}

fn remove(args: &RemoveArgs) -> anyhow::Result<()> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let ids = if args.ids.as_os_str() == STANDARD_INPUT {
        let mut ids = Vec::new();
        io::stdin().lock().read_to_end(&mut ids)?;
        ids
    } else {
        fs::read(&args.ids).map_err(|e| Error::io(&args.ids, "read", e))?
    };
    let lines = ids.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut wanted: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut found = vec![false; wanted.len()];
    let mut adder = open_adder(index, "remove", common, memory)?;
    let removed = adder.remove(&mut |id| match wanted.binary_search(&id) {
        Ok(at) => {
            found[at] = true;
            true
        }
        Err(_) => false,
    })?;
    adder.commit()?;
    if !common.running.quiet {
        let unknown: Vec<_> =
            wanted.iter().zip(&found).filter(|(_, found)| !**found).map(|(id, _)| id).collect();
        for id in unknown.iter().take(20) {
            let id = simtool::fault::escaped(id);
            console::note(&format!("no document is called {id}"));
        }
        if unknown.len() > 20 {
            console::note(&format!("nor {} more", grouped(unknown.len() as u64 - 20)));
        }
        console::note(&format!("{} removed", counted(removed, "document")));
    }
    Ok(())
}

fn save(args: &SalvageArgs) -> anyhow::Result<ExitStatus> {
    let OneIndexArgs { index, memory, common } = &args.index;
    let access = inputs::access(common.running.no_mmap);
    let resources = common.resources(memory)?;
    let saved = salvage((index, &args.new), access, disk(), &holder("salvage"), &resources)?;
    for damage in &saved.damages {
        console::error(damage);
    }
    if !common.running.quiet {
        let (saved, lost) = (counted(saved.documents, "document"), grouped(saved.lost_documents));
        console::note(&format!("{saved} saved, {lost} known to be lost"));
    }
    Ok(if saved.damages.is_empty() { ExitStatus::Done } else { ExitStatus::DoneWithLosses })
}
