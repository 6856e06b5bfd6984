//! `simtool join` and `simtool search`: fingerprints alone.

use crate::args::{JoinArgs, SearchArgs, SharedJoinArgs, thread_count};
use crate::console;
use crate::inputs::{self, Access};
use simtool::Error;
use simtool::kernels::Isa;
use simtool::pipeline::emit_pairs::PairOutput;
use simtool::pipeline::join_fingerprints::{
    JoinConfig, join_fingerprints, plan_search, plan_self_join, read_fingerprints,
    search_fingerprints,
};
use simtool::write::whole_file::WholeFile;
use std::io::{self, Write};
use std::path::Path;

/// Joins a file of fingerprints with itself.
pub(crate) fn join(args: &JoinArgs) -> anyhow::Result<()> {
    let shared = &args.shared;
    let (config, access) = (config(shared)?, access(shared));
    let file = inputs::open(&shared.fingerprints, access)?;
    let rows = read_fingerprints(&file, &shared.fingerprints)?;
    let plan = plan_self_join(&rows, &config)?;
    explain(shared, &plan);
    let output = output(shared, args.groups)?;
    write(shared, |sink| join_fingerprints(&rows, &plan, &config, output, sink))
}

/// Searches a file of fingerprints for those of another.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let shared = &args.shared;
    let (config, access) = (config(shared)?, access(shared));
    let corpus = inputs::open(&shared.fingerprints, access)?;
    let corpus = read_fingerprints(&corpus, &shared.fingerprints)?;
    let queries = inputs::open(&args.queries, access)?;
    let queries = read_fingerprints(&queries, &args.queries)?;
    let plan = plan_search(&queries, &corpus, &config)?;
    explain(shared, &plan);
    let output = output(shared, false)?;
    write(shared, |sink| search_fingerprints(&queries, &corpus, &plan, &config, output, sink))
}

fn access(args: &SharedJoinArgs) -> Access {
    if args.no_mmap { Access::Read } else { Access::Map }
}

fn config(args: &SharedJoinArgs) -> Result<JoinConfig, Error> {
    let threads = thread_count(args.threads);
    Ok(JoinConfig {
        max_distance: args.max_distance,
        index: args.index.as_deref().map(str::parse).transpose()?,
        memory: args.max_memory.as_deref().map_or(Ok(u64::MAX), bytes)?,
        temporary_folder: args.tmp_dir.clone().unwrap_or_else(std::env::temp_dir),
        threads,
        isa: Isa::detected(),
    })
}

/// A number of bytes, with or without a unit of 2^10, 2^20, 2^30 or 2^40.
pub(crate) fn bytes(text: &str) -> Result<u64, Error> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" | "B" => Some(0),
        "K" => Some(10),
        "M" => Some(20),
        "G" => Some(30),
        "T" => Some(40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok().zip(shift);
    let bytes = number.and_then(|(number, shift)| number.checked_mul(1 << shift));
    bytes.ok_or_else(|| {
        Error::config("--max-memory", text, "must be a number of bytes, such as 512M or 8G")
    })
}

fn output(args: &SharedJoinArgs, groups: bool) -> Result<PairOutput, Error> {
    let extension = args.output.as_deref().and_then(Path::extension);
    let is_numpy = extension.is_some_and(|extension| extension == "npy");
    if let (Some(path), Some(extension)) = (&args.output, extension)
        && !is_numpy
        && extension != "tsv"
    {
        let rule = "must end in .tsv or .npy";
        return Err(Error::config("--output", path.display(), rule));
    }
    match (args.count, groups, is_numpy) {
        (true, _, _) => Ok(PairOutput::Count),
        (_, true, true) => {
            let rule = "takes no --groups, which are lines; name a .tsv file";
            Err(Error::config("--output", "to an array", rule))
        }
        (_, true, false) => Ok(PairOutput::Groups),
        (_, _, true) => Ok(PairOutput::Numpy),
        (_, _, false) => Ok(PairOutput::Tsv),
    }
}

fn explain(args: &SharedJoinArgs, plan: &simtool::search::planner::Plan) {
    if args.explain {
        console::stats(&plan.to_string());
    }
}

/// Lends `work` a sink to the file that was asked for, or to standard output.
fn write(
    args: &SharedJoinArgs,
    work: impl FnOnce(&mut (dyn FnMut(&[u8]) -> Result<(), Error> + Send)) -> Result<(), Error>,
) -> anyhow::Result<()> {
    if let Some(path) = &args.output {
        let mut file = WholeFile::create(path)?;
        work(&mut |bytes| file.write(bytes))?;
        return Ok(file.finish()?);
    }
    let mut out = io::stdout();
    work(&mut |bytes| out.write_all(bytes).map_err(|e| Error::io("standard output", "write", e)))?;
    Ok(out.flush()?)
}
