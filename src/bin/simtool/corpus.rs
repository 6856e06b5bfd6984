//! `simtool dedup` and `simtool match`: near-duplicates within a collection, or of one in another.

use crate::args::{AUTO, ClusterBy, CorpusArgs, Job, KeepWhich, OutputFormat, Quarantined};
use crate::inputs::Access;
use crate::output_file::existing;
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, interrupt, reference, shell};
use simtool::Error;
use simtool::fault::Fault;
use simtool::options::Options;
use simtool::pipeline::config::{ClusterRule, Config, Keep};
use simtool::pipeline::method::Method;
use simtool::pipeline::suggest::suggest;
use simtool::pipeline::{
    BadRecords, Care, CollectionSummary, Estimate, Findings, Outputs, Plan, Task, estimate,
    find_near_duplicates, write_outputs, write_summaries,
};
use simtool::progress::{Progress, Work};
use simtool::read::walk::Walked;
use simtool::read::{Collection, ReadOptions, Strict};
use simtool::shell_word::shell_word;
use simtool::sides::Sides;
use simtool::utc_time::UtcTime;
use simtool::write::document_rows::RowFormat;
use simtool::write::output_folder::OutputFolder;
use simtool::write::summary::{Commands, Setting, Summary, table, write_summary};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// The method, where `--method` names none.
const METHOD: &str = "exact";

/// A collection, and what is wrong with paths to it.
struct Input {
    collection: Collection,
    faults: Vec<Fault>,
}

/// Finds the near-duplicates and writes the outputs.
pub(crate) fn run(job: Job<'_>) -> anyhow::Result<Outcome> {
    let begin = UtcTime::from(SystemTime::now());
    let (common, args) = (&job.corpus.common, job.corpus);
    let is_auto = args.method.as_deref() == Some(AUTO);
    if let (true, Some(features)) = (is_auto, job.words.and_then(|words| words.features.as_ref())) {
        let rule = "in front is of simhash, which leaves `method` auto nothing to choose";
        return Err(Error::config("N", features, rule).into());
    }
    let method = if is_auto { Method::default() } else { method(job)? };
    let mut plan = plan(job, method)?;
    let inputs = inputs(job)?;
    let keep_field = job.keep_field();
    let collections: Vec<_> = inputs.iter().map(|input| &input.collection).collect();
    documents::refuse_idle(&args.input, keep_field, &collections)?;
    let strict = inputs.as_ref().map(|input| Strict(&input.collection));
    let collections = strict.as_ref().map(|strict| documents::watched(&args.input, strict));
    let progress =
        ProgressLine::new(common.running.quiet, common.running.progress).explaining(args.explain);
    let mut reasons = Vec::new();
    if is_auto {
        let chosen = suggest(collections, &given(job), plan.resources(), &progress)?;
        progress.end();
        plan = self::plan(job, chosen.method)?;
        reasons = chosen.reasons.iter().map(|reason| console::with_options(reason)).collect();
        let is_told = (args.explain || !common.running.quiet) && !args.dry_run;
        if is_told && chosen.profile.sampled > 0 {
            console::note(&format!("chosen: {}", plan.method()));
            for reason in &reasons {
                console::note(reason);
            }
        }
    }
    if args.dry_run || args.explain || !common.running.quiet {
        let care = if args.dry_run { Care::Thorough } else { Care::Quick };
        let estimate = estimate(collections, &plan, care);
        if let Some(warning) = &estimate.warning {
            console::warning(warning);
        }
        if args.dry_run {
            let (verbose, quiet) = (common.running.verbose, common.running.quiet);
            for input in inputs.iter() {
                documents::show(&input.faults, documents::Shown { verbose, quiet });
            }
            console::out(dry_run(&estimate, &plan, &reasons, &args.output).as_bytes())?;
            return Ok(Outcome::Done);
        }
        if args.explain {
            console::stats(&plan.to_string());
        }
        if !common.running.quiet {
            console::note(&estimate.to_string());
        }
    }
    let create = || OutputFolder::create(&args.output, existing(args.force));
    let folder = interrupt::create_unfinished(create, |folder| Some(folder.unfinished()))?;

    let mut found = find_near_duplicates(collections, &plan, &progress)?;
    let mut faults = Vec::new();
    for (input, read) in inputs.iter().zip(found.read.iter_mut()) {
        faults.extend(input.complete(args, read)?);
    }
    let read: Vec<_> = inputs.iter().map(|i| &i.collection).zip(found.read.iter()).collect();
    documents::refuse_missing_ids(&args.input, &read)?;
    if let Some(field) = keep_field.filter(|_| found.read.first().lacks_field()) {
        documents::refuse_missing_field("keep_field", field, &[&inputs.first().collection])?;
    }
    let mut summary = Summary {
        command: shell::command_line(),
        output: args.output.display().to_string(),
        commands: Some(commands(args, &plan)),
        begin: Some(begin),
        parameters: parameters(job, &plan, reasons),
        recipe: plan.method().recipe().to_string(),
        distance_means: plan.method().distance_means(),
        stages: found.timings.stages().to_vec(),
        ..Summary::default()
    };
    let findings = Findings::new(&found, collections, &plan);
    let page = write_outputs(&findings, outputs(job, &plan), &folder, &mut summary, &progress)?;
    progress.begin("syncing", Work::Steps(0));
    let begun = Instant::now();
    folder.sync()?;
    summary.add_time("write", begun.elapsed());
    summary.end = Some(UtcTime::from(SystemTime::now()));
    summary.peak_memory = console::peak_memory();
    // What tells of the times is written last, and the little that it is takes no time.
    write_summaries(&folder, &summary, &page)?;
    folder.sync()?;
    interrupt::commit(&args.output, || folder.finish())?;
    progress.end();

    let (verbose, quiet) = (common.running.verbose, common.running.quiet);
    documents::show(&faults, documents::Shown { verbose, quiet });
    let lacks_field = found.read.first().lacks_field();
    if let Some(field) = keep_field.filter(|_| !quiet && lacks_field) {
        console::note(&format!("the field {field} is empty everywhere; the first ones were kept"));
    }
    if let Some(missed) = plan.method().recall_means().filter(|_| !quiet) {
        console::note(&missed);
    }
    if common.running.stats {
        console::stats(&console::stage_times(&summary.stages, found.timings.counts()));
    }
    if args.json {
        let mut written = Vec::new();
        write_summary(&mut written, &summary)?;
        console::out(&written)?;
    } else {
        console::out(table(&summary).as_bytes())?;
    }
    Ok(documents::outcome(found.read.iter()))
}

/// What is to be done.
fn plan(job: Job<'_>, method: Method) -> Result<Plan, Error> {
    let (mut keep, mut clusters) = (Keep::First, ClusterRule::Proven);
    if let Some(given) = job.keep {
        keep = match given.keep {
            KeepWhich::First => Keep::First,
            KeepWhich::Last => Keep::Last,
            KeepWhich::Longest => Keep::Longest,
            KeepWhich::Max => Keep::FieldMax,
            KeepWhich::Min => Keep::FieldMin,
        };
        clusters = match given.cluster {
            ClusterBy::Proven => ClusterRule::Proven,
            ClusterBy::Components => ClusterRule::Components,
        };
    }
    keep.check_field(job.keep_field().is_some())?;
    let is_input = |path: &&PathBuf| *path == Path::new("-");
    // A list beside the corpus is told of where it is read.
    let list = job.corpus.input.files_from.iter().filter(|_| !job.queries.is_empty());
    if job.paths.iter().chain(job.queries).chain(list).filter(is_input).count() > 1 {
        return Err(Error::config("PATH", "-", "standard input can be read once"));
    }
    let resources = job.corpus.common.resources(&job.corpus.memory);
    let task = if job.queries.is_empty() { Task::Deduplicate } else { Task::Match };
    // Whoever wants to see pairs wants all.
    let may_leave_pairs_out = job.keep.is_some_and(|keep| !keep.pairs);
    Plan::new(Config { method, keep, clusters, may_leave_pairs_out, resources }, task)
}

/// What was said of the method.
fn given(job: Job<'_>) -> Options {
    let given = job.corpus;
    let distance = given.max_distance.map(|distance| distance.to_string());
    let mut options = Options::new();
    given.terms.set(&mut options);
    given.sketch.set(&mut options);
    options.set_given([
        ("similarity", &given.similarity),
        ("max_distance", &distance),
        ("verify", &given.verify),
        ("verify_weight", &given.verify_weight),
        ("recall", &given.recall),
    ]);
    options
}

/// The method with the settings that were given, all of which it must know.
fn method(job: Job<'_>) -> Result<Method, Error> {
    let (given, mut options) = (job.corpus, given(job));
    let stop_words = given.terms.stop_words.as_deref();
    let features = |words| reference::word_features(words, stop_words, &given.common);
    let words = job.words.map(features).transpose()?;
    let method = match words.flatten() {
        Some((table, stop_words)) => {
            let of_verify =
                [("shingle", &given.terms.shingle), ("tokenizer", &given.terms.tokenizer)];
            let mut unused = of_verify.into_iter().filter(|_| given.verify.is_none());
            if let Some((field, value)) = unused.find_map(|(f, v)| Some((f, v.as_ref()?))) {
                let rule = "N and M fingerprint words, so that it goes with `verify` only";
                return Err(Error::config(field, value, rule));
            }
            // They are of the words.
            options.take("stop_words");
            Method::frequent_words(table, stop_words, &mut options)?
        }
        None => Method::parse(given.method.as_deref().unwrap_or(METHOD), &mut options)?,
    };
    if let Some(named) = given.method.as_deref().filter(|named| *named != method.name()) {
        let rule = format!("N and M in front are of {}: leave one of both away", method.name());
        return Err(Error::config("method", named, rule));
    }
    match options.first() {
        Some((option, value)) => Err(method.refusal(option, &value)),
        None => Ok(method),
    }
}

/// The corpus, or queries and corpus; none of them where the outputs go.
fn inputs(job: Job<'_>) -> anyhow::Result<Sides<Input>> {
    let (common, args) = (&job.corpus.common, job.corpus);
    let input = &args.input;
    let options = ReadOptions {
        keep_field: job.keep_field().cloned(),
        ..documents::read_options(input, Access::of(common.running.no_mmap))?
    };
    let temporary = common.resources(&args.memory).temporary_folder;
    let open = |paths: &[PathBuf]| -> anyhow::Result<Input> {
        refuse_overlap(&args.output, paths)?;
        let Walked { files, faults, .. } = documents::walk(paths, input, &args.output, &temporary)?;
        Ok(Input { collection: Collection::open(files, options.clone()), faults })
    };
    let corpus = open(&documents::with_listed(job.paths, input)?)?;
    if job.queries.is_empty() {
        return Ok(Sides::One(corpus));
    }
    Ok(Sides::Two(open(job.queries)?, corpus))
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

fn outputs(job: Job<'_>, plan: &Plan) -> Outputs {
    let args = job.corpus;
    Outputs {
        rows: match args.output_format {
            OutputFormat::Jsonl => RowFormat::JsonLines,
            OutputFormat::Tsv => RowFormat::Tsv,
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet => RowFormat::Parquet,
        },
        only_ids: args.ids_only,
        pairs: job.keep.is_some_and(|keep| keep.pairs) || plan.task() == Task::Match,
        kept: args.write_kept,
        bad_records: match args.quarantined {
            Quarantined::Keep => BadRecords::Keep,
            Quarantined::Drop => BadRecords::Drop,
        },
        threads: plan.resources().threads,
    }
}

/// What would be done.
fn dry_run(estimate: &Estimate, plan: &Plan, reasons: &[String], output: &Path) -> String {
    let mut text = String::new();
    if !reasons.is_empty() {
        let _ = writeln!(text, "chosen: {}\n  {}", plan.method(), reasons.join("\n  "));
    }
    text += &plan.to_string();
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

/// What the user can type to look further at what was found.
fn commands(args: &CorpusArgs, plan: &Plan) -> Commands {
    let chosen = plan.method().compared().to_string();
    let shingle = if args.method.as_deref() == Some(AUTO) { Some(&chosen) } else { None };
    let shingle = shingle.or(args.terms.shingle.as_ref()).map(String::as_str);
    let mut compare = "simtool compare".to_owned();
    let given = [
        ("format", args.input.format.as_deref()),
        ("text-field", Some(args.input.text_field()).filter(|field| *field != "text")),
        ("shingle", shingle.filter(|shingle| *shingle != "words:3")),
        ("tokenizer", args.terms.tokenizer.as_deref()),
        ("stop-words", args.terms.stop_words.as_deref()),
    ];
    for (option, value) in given {
        if let Some(value) = value {
            // Writing to a string cannot fail.
            let _ = write!(compare, " --{option} {}", shell_word(value));
        }
    }
    Commands { why: format!("simtool why {}", shell_word(&args.output.to_string_lossy())), compare }
}

/// What shaped the result, by name.
fn parameters(job: Job<'_>, plan: &Plan, reasons: Vec<String>) -> Vec<(&'static str, Setting)> {
    let input = &job.corpus.input;
    let paths = |paths: &[PathBuf]| {
        Setting::List(paths.iter().map(|path| path.display().to_string()).collect())
    };
    let mut parameters = vec![("method", Setting::Text(plan.method().name().to_owned()))];
    let of_method = plan.method().parameters();
    parameters.extend(of_method.into_iter().map(|(name, value)| (name, Setting::read(&value))));
    if !reasons.is_empty() {
        parameters.push(("chosen_because", Setting::List(reasons)));
    }
    parameters.extend([
        ("keep", Setting::Text(plan.keep().name().to_owned())),
        ("keep_field", Setting::text(job.keep_field().map(String::as_str))),
        ("cluster", Setting::Text(plan.clusters().name().to_owned())),
        ("corpus", paths(job.paths)),
        ("queries", paths(job.queries)),
        ("files_from", Setting::text(input.files_from.as_ref().map(|list| list.to_string_lossy()))),
        ("glob", Setting::List(input.glob.clone())),
        ("format", Setting::text(input.format.as_deref())),
        ("per_line", Setting::Flag(input.per_line)),
        ("text_field", Setting::Text(input.text_field().to_owned())),
        ("id_field", Setting::Text(input.id_field().to_owned())),
        ("min_tokens", Setting::Count(input.min_tokens as u64)),
        ("max_bytes", Setting::count(input.max_bytes)),
        ("sample", input.sample.map_or(Setting::None, Setting::Number)),
        ("limit", Setting::count(input.limit)),
        ("max_record", Setting::Count(input.max_record)),
    ]);
    parameters
}
