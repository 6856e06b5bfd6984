//! `simtool --corpus`: near-duplicates within a collection, or of one in another.

use crate::args::{Args, ClusterBy, CorpusArgs, KeepWhich, OutputFormat, Quarantined};
use crate::inputs::Access;
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, interrupt, reference, shell};
use simtool::Error;
use simtool::fault::Fault;
use simtool::options::Options;
use simtool::pipeline::config::{ClusterRule, Config, Keep};
use simtool::pipeline::method::Method;
use simtool::pipeline::{
    BadRecords, Care, CollectionSummary, Estimate, Findings, Outputs, Plan, Task, estimate,
    find_near_duplicates, write_outputs,
};
use simtool::progress::{Progress, Work};
use simtool::read::walk::Walked;
use simtool::read::{Collection, ReadOptions, Strict};
use simtool::sides::Sides;
use simtool::write::document_rows::RowFormat;
use simtool::write::output_folder::{Existing, OutputFolder};
use simtool::write::summary::{Summary, write_summary};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A collection, and what is wrong with paths to it.
struct Input {
    collection: Collection,
    faults: Vec<Fault>,
}

/// Finds the near-duplicates and writes the outputs.
pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let plan = plan(args)?;
    let inputs = inputs(args)?;
    let (common, args) = (&args.common, &args.corpus);
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let collections = strict.as_ref().map(|strict| documents::watched(&args.input, strict));
    if args.dry_run || args.explain || !common.quiet {
        let care = if args.dry_run { Care::Thorough } else { Care::Quick };
        let estimate = estimate(collections, &plan, care);
        if let Some(warning) = &estimate.warning {
            console::warning(warning);
        }
        if args.dry_run {
            console::out(dry_run(&estimate, &plan, &args.output).as_bytes())?;
            return Ok(Outcome::Done);
        }
        if args.explain {
            console::stats(&plan.to_string());
        }
        if !common.quiet {
            console::note(&estimate.to_string());
        }
    }
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let folder = OutputFolder::create(&args.output, existing)?;
    interrupt::remove_if_interrupted(folder.unfinished().to_owned());

    let progress = ProgressLine::new(common.quiet, args.input.progress).explaining(args.explain);
    let mut found = find_near_duplicates(collections, &plan, &progress)?;
    let mut faults = Vec::new();
    for (input, read) in inputs.iter().zip(found.read.iter_mut()) {
        faults.extend(input.complete(args, read)?);
    }
    let read: Vec<_> = inputs.iter().map(|i| &i.collection).zip(found.read.iter()).collect();
    documents::refuse_missing_ids(&args.input, &read)?;
    if let Some(field) = args.keep_field.as_ref().filter(|_| found.read.first().lacks_field()) {
        documents::refuse_missing_field("keep_field", field, &[&inputs.first().collection])?;
    }
    let mut summary = Summary {
        command: shell::command_line(),
        parameters: parameters(args, &plan),
        recipe: plan.method().recipe().to_string(),
        distance_means: plan.method().distance_means(),
        stages: found.timings.stages().to_vec(),
        ..Summary::default()
    };
    let findings = Findings::new(&found, collections);
    write_outputs(&findings, outputs(args, &plan), &folder, &mut summary, &progress)?;
    progress.begin("syncing", Work::Steps(0));
    let begun = Instant::now();
    folder.sync()?;
    interrupt::commit(&args.output, || folder.finish())?;
    progress.end();
    let mut written = Vec::new();
    write_summary(&mut written, &summary)?;
    // The summary was written before this was known.
    summary.add_time("write", begun.elapsed());

    let (verbose, quiet) = (common.verbose, common.quiet);
    documents::show(&faults, documents::Shown { verbose, quiet });
    let lacks_field = found.read.first().lacks_field();
    if let Some(field) = args.keep_field.as_ref().filter(|_| !quiet && lacks_field) {
        console::note(&format!("the field {field} is empty everywhere; the first ones were kept"));
    }
    if common.stats {
        console::stats(&console::stage_times(&summary.stages, found.timings.counts()));
    }
    if args.json {
        console::out(&written)?;
    } else {
        console::out(table(&summary, &args.output).as_bytes())?;
    }
    Ok(documents::outcome(found.read.iter()))
}

/// What is to be done.
fn plan(args: &Args) -> Result<Plan, Error> {
    let given = &args.corpus;
    let keep = match given.keep {
        KeepWhich::First => Keep::First,
        KeepWhich::Last => Keep::Last,
        KeepWhich::Longest => Keep::Longest,
        KeepWhich::Max => Keep::FieldMax,
        KeepWhich::Min => Keep::FieldMin,
    };
    if keep.is_by_field() != given.keep_field.is_some() {
        let rule = "`keep` max and `keep` min go with `keep_field` NAME, and it with one of them";
        return Err(Error::config("keep", keep.name(), rule));
    }
    let clusters = match given.cluster {
        ClusterBy::Proven => ClusterRule::Proven,
        ClusterBy::Components => ClusterRule::Components,
    };
    let is_input = |path: &&PathBuf| *path == Path::new("-");
    // A list beside the corpus is told of where it is read.
    let list = given.input.files_from.iter().filter(|_| !given.queries.is_empty());
    if given.corpus.iter().chain(&given.queries).chain(list).filter(is_input).count() > 1 {
        return Err(Error::config("queries", "-", "standard input can be read once"));
    }
    let resources = args.common.resources(&given.memory);
    let task = if given.queries.is_empty() { Task::Deduplicate } else { Task::Match };
    Plan::new(Config { method: method(args)?, keep, clusters, resources }, task)
}

/// The method with the settings that were given, all of which it must know.
fn method(args: &Args) -> Result<Method, Error> {
    let (reference, given) = (&args.reference, &args.corpus);
    let distance = reference.max_distance.map(|distance| distance.to_string());
    let mut options = Options::new();
    for (name, value) in [
        ("shingle", Some(&given.shingle)),
        ("similarity", given.similarity.as_ref()),
        ("bits", given.simhash_bits.as_ref()),
        ("max_distance", distance.as_ref()),
        ("verify", given.verify.as_ref()),
    ] {
        if let Some(value) = value {
            options.set(name, value);
        }
    }
    let method = match reference::word_features(reference, &args.common)? {
        Some((table, stop_words)) => Method::frequent_words(table, stop_words, &mut options)?,
        None => Method::parse(&given.method, &mut options)?,
    };
    match options.first() {
        Some((option, value)) => Err(method.refusal(option, value)),
        None => Ok(method),
    }
}

/// The corpus, or queries and corpus; none of them where the outputs go.
fn inputs(args: &Args) -> anyhow::Result<Sides<Input>> {
    let (common, args) = (&args.common, &args.corpus);
    if args.output.as_os_str() == "-" {
        let rule = "is never a folder, and results are several files: name a folder";
        return Err(Error::config("output", "-", rule).into());
    }
    let input = &args.input;
    let options = ReadOptions {
        keep_field: args.keep_field.clone(),
        ..documents::read_options(input, Access::of(common.no_mmap))?
    };
    let temporary = common.resources(&args.memory).temporary_folder;
    let open = |paths: &[PathBuf]| -> anyhow::Result<Input> {
        refuse_overlap(&args.output, paths)?;
        let Walked { files, faults, .. } = documents::walk(paths, input, &args.output, &temporary)?;
        Ok(Input { collection: Collection::open(files, options.clone()), faults })
    };
    let corpus = open(&documents::with_listed(&args.corpus, input)?)?;
    if args.queries.is_empty() {
        return Ok(Sides::One(corpus));
    }
    Ok(Sides::Two(open(&args.queries)?, corpus))
}

impl Input {
    /// Adds to what reading the collection told what is wrong with its paths and files; gives all
    /// faults, unless the user asked to fail for them.
    fn complete(
        &self,
        args: &CorpusArgs,
        read: &mut CollectionSummary,
    ) -> anyhow::Result<Vec<Fault>> {
        documents::add_faults(&self.collection, self.faults.clone(), read);
        let faults = documents::all_faults(&self.collection, read);
        documents::refuse_losses(&args.input, &faults)?;
        documents::refuse_nothing(&self.collection, read)?;
        Ok(faults)
    }
}

fn outputs(args: &CorpusArgs, plan: &Plan) -> Outputs {
    Outputs {
        rows: match args.output_format {
            OutputFormat::Jsonl => RowFormat::JsonLines,
            OutputFormat::Tsv => RowFormat::Tsv,
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet => RowFormat::Parquet,
        },
        only_ids: args.ids_only,
        pairs: args.pairs || plan.task() == Task::Match,
        kept: args.write_kept,
        bad_records: match args.quarantined {
            Quarantined::Keep => BadRecords::Keep,
            Quarantined::Drop => BadRecords::Drop,
        },
        threads: plan.resources().threads,
    }
}

/// What would be done.
fn dry_run(estimate: &Estimate, plan: &Plan, output: &Path) -> String {
    let mut text = plan.to_string();
    if let Some(plan) = &estimate.join_plan {
        text += &plan.to_string();
    }
    let _ = writeln!(text, "{estimate}");
    let _ = writeln!(text, "nothing was written; results would be in {}", output.display());
    text
}

/// Refuses an output folder that is an input or holds one. One that lies in an input is no input.
fn refuse_overlap(output: &Path, paths: &[PathBuf]) -> Result<(), Error> {
    let resolved_output = documents::resolved(output);
    match paths.iter().find(|path| documents::resolved(path).starts_with(&resolved_output)) {
        // Nothing lies in a folder that is not there.
        Some(input) if output.exists() => {
            let rule = format!("overlaps the input {}: choose another folder", input.display());
            Err(Error::config("output", output.display(), rule))
        }
        _ => Ok(()),
    }
}

/// What shaped the result, by name.
fn parameters(args: &CorpusArgs, plan: &Plan) -> Vec<(&'static str, String)> {
    let mut parameters = vec![("method", plan.method().name().to_owned())];
    parameters.extend(plan.method().parameters());
    parameters.extend([
        ("keep", plan.keep().name().to_owned()),
        ("cluster", plan.clusters().name().to_owned()),
        ("text_field", args.input.text_field.clone()),
        ("id_field", args.input.id_field().to_owned()),
    ]);
    parameters.extend(args.keep_field.clone().map(|field| ("keep_field", field)));
    parameters
}

/// What a person wants to know first.
fn table(summary: &Summary, output: &Path) -> String {
    let mut text = String::new();
    if let Some(corpus) = summary.matched_against {
        let _ = writeln!(text, "{:<14} {:>12}", "corpus", corpus.documents);
    }
    let share = |part: u64| 100.0 * part as f64 / summary.documents.max(1) as f64;
    for (name, count, note) in [
        ("files", summary.files, String::new()),
        ("documents", summary.documents, String::new()),
        ("kept", summary.kept, format!("{:.1} %", share(summary.kept))),
        ("removed", summary.removed, format!("{:.1} %", share(summary.removed))),
        ("clusters", summary.clusters, String::new()),
        ("pairs", summary.pairs, String::new()),
        ("without words", summary.without_terms, String::new()),
        ("quarantined", summary.quarantined, String::new()),
        ("lost", summary.lost, "rows of damaged files".to_owned()),
        ("passed over", summary.passed_over, String::new()),
    ] {
        if ["lost", "passed over"].contains(&name) && count == 0 {
            continue;
        }
        let line = format!("{name:<14} {count:>12}  {note}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let seconds: f64 = summary.stages.iter().map(|(_, time)| time.as_secs_f64()).sum();
    let megabytes = summary.text_bytes as f64 / 1e6;
    let rate = megabytes / seconds.max(1e-9);
    let _ = writeln!(text, "{megabytes:.1} MB of text in {seconds:.3} s, {rate:.0} MB/s");
    let _ = writeln!(text, "results in {}", output.display());
    text
}
