//! `simtool join` and `simtool search`: fingerprints alone.

use crate::args::{JoinArgs, PairsArgs, SearchArgs};
use crate::console;
use crate::inputs;
use crate::interrupt::Interrupted;
use crate::progress_line::ProgressLine;
use simtool::Error;
use simtool::fingerprint_file::{self, RowIds};
use simtool::fingerprint_rows::FingerprintRows;
use simtool::hamming::join::Join;
use simtool::hamming::joins;
use simtool::hamming::planner::Plan;
use simtool::mapped_file::MappedFile;
use simtool::output::emit_pairs::{PairForm, PairOutput, Sink};
use simtool::pipeline::timings::Timings;
use simtool::run::join_fingerprints::{
    join_fingerprints, plan_search, plan_self_join, search_fingerprints,
};
use simtool::run::{STANDARD_INPUT, open_file, refuse_existing, standard_input, write_whole_file};
use simtool::write::output_folder::Existing;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Joins a file of fingerprints with itself.
pub(crate) fn join(args: &JoinArgs) -> anyhow::Result<()> {
    let (index, pairs) = (index(args.index.as_deref())?, &args.pairs);
    let (output, mut timings) = (Output::of(pairs)?, Timings::start());
    let resources = pairs.common.resources(&pairs.memory)?;
    let path = args.rows.path();
    let file = open(pairs, path)?;
    let rows = fingerprint_file::read(&file, path)?;
    let ids = ids(pairs, &file, path)?;
    told(pairs, path, &rows);
    timings.end("read");
    let plan = plan_self_join(&rows, pairs.max_distance, index, resources.memory)?;
    explain(pairs, &plan);
    timings.end("plan");
    let progress = ProgressLine::new(pairs.common.running.quiet, pairs.common.running.progress);
    let ids = [ids.as_ref(); 2];
    let joined = output.write(|output, sink| {
        let form = PairForm { output, ids };
        join_fingerprints(&rows, &plan, &resources, form, &progress, sink)
    })?;
    end(pairs, &progress, timings, &joined);
    Ok(())
}

/// Searches a file of fingerprints for those of another.
pub(crate) fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let (index, pairs) = (index(args.index.as_deref())?, &args.pairs);
    let (output, mut timings) = (Output::of(pairs)?, Timings::start());
    let resources = pairs.common.resources(&pairs.memory)?;
    let path = args.rows.path();
    if [path, &args.queries] == [Path::new(STANDARD_INPUT); 2] {
        let rule = "standard input can be read once";
        return Err(Error::config("queries", STANDARD_INPUT, rule).into());
    }
    let corpus_file = open(pairs, path)?;
    let corpus = fingerprint_file::read(&corpus_file, path)?;
    let corpus_ids = ids(pairs, &corpus_file, path)?;
    told(pairs, path, &corpus);
    let query_file = open(pairs, &args.queries)?;
    let queries = fingerprint_file::read(&query_file, &args.queries)?;
    let query_ids = ids(pairs, &query_file, &args.queries)?;
    told(pairs, &args.queries, &queries);
    timings.end("read");
    let plan = plan_search(&queries, &corpus, pairs.max_distance, index, resources.memory)?;
    explain(pairs, &plan);
    timings.end("plan");
    let progress = ProgressLine::new(pairs.common.running.quiet, pairs.common.running.progress);
    let ids = [query_ids.as_ref(), corpus_ids.as_ref()];
    let joined = output.write(|output, sink| {
        let form = PairForm { output, ids };
        search_fingerprints(&queries, &corpus, &plan, &resources, form, &progress, sink)
    })?;
    end(pairs, &progress, timings, &joined);
    Ok(())
}

/// The bytes of a file, or of standard input.
fn open(args: &PairsArgs, path: &Path) -> Result<MappedFile, Error> {
    let access = inputs::access(args.common.running.no_mmap);
    if path == Path::new(STANDARD_INPUT) {
        let folder = args.common.resources(&args.memory)?.temporary_folder;
        return open_file(standard_input(&folder)?.path(), access);
    }
    open_file(path, access)
}

/// The IDs that a file has beside its fingerprints, unless row numbers are wanted.
fn ids<'f>(args: &PairsArgs, file: &'f [u8], path: &Path) -> Result<Option<RowIds<'f>>, Error> {
    if args.rows { Ok(None) } else { RowIds::from_bytes(file, path) }
}

/// The method that was named.
fn index(name: Option<&str>) -> Result<Option<&'static dyn Join>, Error> {
    name.map(joins::find).transpose()
}

/// Tells of a file that was read.
fn told(args: &PairsArgs, path: &Path, rows: &FingerprintRows<'_>) {
    if args.common.running.verbose {
        let (file, count, shape) = (path.display(), rows.len(), rows.shape);
        console::note(&format!("{file}: {count} rows of {shape}"));
    }
}

fn explain(args: &PairsArgs, plan: &Plan) {
    if args.explain {
        console::stats(&plan.to_string());
    }
    if args.common.running.verbose {
        console::note(&format!("the method is {}", plan.join));
    }
}

/// Takes progress away, and tells what was found and where the time went.
fn end(args: &PairsArgs, progress: &ProgressLine, mut timings: Timings, joined: &Timings) {
    progress.end();
    timings.extend(joined);
    if args.common.running.verbose {
        for found in joined.counts() {
            console::note(&format!("{} {}", found.count, found.what));
        }
    }
    if args.common.running.stats {
        console::stats(&console::stage_times(timings.stages(), timings.counts()));
    }
}

/// Where pairs go, and in which form.
struct Output<'a> {
    form: PairOutput,
    /// The file; none is standard output.
    file: Option<(&'a PathBuf, bool)>,
}

impl<'a> Output<'a> {
    /// What the options and the extension of the output ask for.
    fn of(args: &'a PairsArgs) -> Result<Self, Error> {
        let lines = match (args.count, args.groups) {
            (true, _) => Some(PairOutput::Count),
            (_, true) => Some(PairOutput::Groups),
            _ => None,
        };
        let text = lines.unwrap_or(PairOutput::Tsv);
        let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") else {
            return Ok(Self { form: text, file: None });
        };
        let extension = path.extension().map(OsStr::as_encoded_bytes);
        let form = match extension.map(<[u8]>::to_ascii_lowercase).as_deref() {
            None | Some(b"tsv") => text,
            Some(b"npy") => PairOutput::Numpy,
            #[cfg(feature = "parquet")]
            Some(b"parquet") => PairOutput::Parquet,
            Some(_) => {
                let names = if cfg!(feature = "parquet") {
                    "must end in .tsv, .npy or .parquet"
                } else {
                    "must end in .tsv or .npy"
                };
                return Err(Error::config("output", path.display(), names));
            }
        };
        if lines.is_some() && form != text {
            let rule = "takes no --count and no --groups, which are lines; name a .tsv file";
            return Err(Error::config("output", path.display(), rule));
        }
        refuse_existing("output", path, Existing::by_force(args.force))?;
        Ok(Self { form, file: Some((path, args.force)) })
    }

    /// Lends `work` a sink to the file that was asked for, or to standard output.
    fn write(
        &self,
        work: impl FnOnce(PairOutput, &mut Sink<'_>) -> Result<Timings, Error>,
    ) -> anyhow::Result<Timings> {
        if let Some((path, force)) = self.file {
            return Ok(write_whole_file(path, Existing::by_force(force), &Interrupted, |file| {
                work(self.form, &mut |bytes| file.write(bytes))
            })?);
        }
        let mut out = io::stdout();
        let failed = |e| Error::io("standard output", "write", e);
        let timings = work(self.form, &mut |bytes| out.write_all(bytes).map_err(failed))?;
        out.flush()?;
        Ok(timings)
    }
}
