//! `simtool join` and `simtool search`: fingerprints alone.

use crate::args::{JoinArgs, SearchArgs};
use crate::inputs::{self, Access};
use crate::{console, interrupt};
use simtool::Error;
use simtool::fingerprint_file::{self, RowIds};
use simtool::pipeline::emit_pairs::{PairOutput, Sink};
use simtool::pipeline::join_fingerprints::{
    join_fingerprints, plan_search, plan_self_join, search_fingerprints,
};
use simtool::search::planner::{IndexName, Plan};
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

/// Joins a file of fingerprints with itself.
pub(crate) fn join(args: &JoinArgs) -> anyhow::Result<()> {
    let (index, resources) = (index(args)?, args.common.resources(&args.memory));
    let file = inputs::open(&args.fingerprints, Access::of(args.common.no_mmap))?;
    let rows = fingerprint_file::read(&file, &args.fingerprints)?;
    let ids = ids(args, &file, &args.fingerprints)?;
    let plan = plan_self_join(&rows, args.max_distance, index, resources.memory)?;
    explain(args, &plan);
    let output = output(args)?;
    write(args, |sink| join_fingerprints(&rows, &plan, &resources, output, ids.as_ref(), sink))
}

/// Searches a file of fingerprints for those of another.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let join = &args.join;
    let (index, resources) = (index(join)?, join.common.resources(&join.memory));
    let access = Access::of(join.common.no_mmap);
    let corpus_file = inputs::open(&join.fingerprints, access)?;
    let corpus = fingerprint_file::read(&corpus_file, &join.fingerprints)?;
    let query_file = inputs::open(&args.queries, access)?;
    let queries = fingerprint_file::read(&query_file, &args.queries)?;
    let query_ids = ids(join, &query_file, &args.queries)?;
    let corpus_ids = ids(join, &corpus_file, &join.fingerprints)?;
    let ids = [query_ids.as_ref(), corpus_ids.as_ref()];
    let plan = plan_search(&queries, &corpus, join.max_distance, index, resources.memory)?;
    explain(join, &plan);
    let output = output(join)?;
    write(join, |sink| search_fingerprints(&queries, &corpus, &plan, &resources, output, ids, sink))
}

/// The IDs that a file has beside its fingerprints, unless row numbers are wanted.
fn ids<'f>(args: &JoinArgs, file: &'f [u8], path: &Path) -> Result<Option<RowIds<'f>>, Error> {
    if args.rows { Ok(None) } else { RowIds::of(file, path) }
}

/// The method that was named.
fn index(args: &JoinArgs) -> Result<Option<IndexName>, Error> {
    args.index.as_deref().map(str::parse).transpose()
}

/// The form that the options and the extension of the output ask for.
fn output(args: &JoinArgs) -> Result<PairOutput, Error> {
    let lines = match (args.count, args.groups) {
        (true, _) => Some(PairOutput::Count),
        (_, true) => Some(PairOutput::Groups),
        _ => None,
    };
    let Some(path) = &args.output else { return Ok(lines.unwrap_or(PairOutput::Tsv)) };
    let table = match path.extension().map(OsStr::as_encoded_bytes) {
        None | Some(b"tsv") => return Ok(lines.unwrap_or(PairOutput::Tsv)),
        Some(b"npy") => PairOutput::Numpy,
        Some(b"parquet") => PairOutput::Parquet,
        Some(_) => {
            let rule = "must end in .tsv, .npy or .parquet";
            return Err(Error::config("output", path.display(), rule));
        }
    };
    if lines.is_some() {
        let rule = "takes no --count and no --groups, which are lines; name a .tsv file";
        return Err(Error::config("output", path.display(), rule));
    }
    Ok(table)
}

fn explain(args: &JoinArgs, plan: &Plan) {
    if args.explain {
        console::stats(&plan.to_string());
    }
}

/// Lends `work` a sink to the file that was asked for, or to standard output.
fn write(
    args: &JoinArgs,
    work: impl FnOnce(&mut Sink<'_>) -> Result<(), Error>,
) -> anyhow::Result<()> {
    if let Some(path) = &args.output {
        return Ok(interrupt::whole_file(path, |file| work(&mut |bytes| file.write(bytes)))?);
    }
    let mut out = io::stdout();
    work(&mut |bytes| out.write_all(bytes).map_err(|e| Error::io("standard output", "write", e)))?;
    Ok(out.flush()?)
}
