//! `simtool --corpus`: near-duplicates within a collection.

use crate::args::{
    Args, ClusterBy, CorpusArgs, KeepWhich, MAX_DISTANCE, MethodName, OutputFormat, ReferenceArgs,
    thread_count,
};
use crate::inputs::Access;
use crate::progress_line::ProgressLine;
use crate::{Outcome, console, documents, interrupt, reference};
use simtool::Error;
use simtool::fault::Fault;
use simtool::kernels::Isa;
use simtool::pipeline::config::{
    ClusterRule, DeduplicateConfig, Features, Keep, Method, SimhashBits,
};
use simtool::pipeline::{
    CollectionSummary, Estimate, Outputs, deduplicate, estimate, match_collections, write_outputs,
};
use simtool::read::walk::{InputFile, Walked};
use simtool::read::{Collection, ReadOptions};
use simtool::similarity::Threshold;
use simtool::write::document_rows::RowFormat;
use simtool::write::output_folder::{Existing, OutputFolder};
use simtool::write::summary::{Summary, write_summary};
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

/// Least similarity, where `--similarity` does not say.
const SIMILARITY: &str = "0.8";

/// A collection, and what is wrong with paths to it.
struct Input {
    collection: Collection,
    faults: Vec<Fault>,
}

/// Finds the near-duplicates and writes the outputs.
pub(crate) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let (common, args) = (&args.reference, &args.corpus);
    let config = config(common, args, thread_count(common.threads))?;
    let (mut corpus, mut queries) = inputs(common, args)?;
    if args.dry_run || args.explain || !common.quiet {
        let queries = queries.as_ref().map(|queries| &queries.collection);
        let estimate = estimate(&corpus.collection, queries, &config);
        if args.dry_run {
            console::out(dry_run(&estimate, &config, &args.output).as_bytes())?;
            return Ok(Outcome::Done);
        }
        if args.explain {
            console::stats(&estimate.explain(&config));
        }
        if !common.quiet {
            console::note(&estimate.to_string());
        }
    }
    let existing = if args.force { Existing::Replace } else { Existing::Refuse };
    let folder = OutputFolder::create(&args.output, existing)?;
    interrupt::remove_if_interrupted(folder.aside().to_owned());

    let outputs = outputs(args, &config);
    let mut summary = Summary {
        command: std::env::args().collect::<Vec<_>>().join(" "),
        parameters: parameters(args, &config),
        recipe: config.recipe(),
        distance_means: config.distance_means(),
        ..Summary::default()
    };
    let progress = ProgressLine::new(common.quiet, args.input.progress).explaining(args.explain);
    let mut faults = Vec::new();
    let read = if let Some(queries) = &mut queries {
        let mut found =
            match_collections(&queries.collection, &corpus.collection, &config, &progress)?;
        progress.end();
        faults.extend(queries.complete(args, &mut found.queries)?);
        faults.extend(corpus.complete(args, &mut found.corpus)?);
        let read = [(&queries.collection, &found.queries), (&corpus.collection, &found.corpus)];
        documents::refuse_missing_ids(&args.input, &read)?;
        summary.stages = found.timings.stages().to_vec();
        let findings = found.findings(&queries.collection, &corpus.collection);
        write_outputs(&findings, outputs, &folder, &mut summary)?;
        vec![found.queries, found.corpus]
    } else {
        let mut found = deduplicate(&corpus.collection, &config, &progress)?;
        progress.end();
        faults.extend(corpus.complete(args, &mut found.read)?);
        documents::refuse_missing_ids(&args.input, &[(&corpus.collection, &found.read)])?;
        if let Some(field) = args.keep_field.as_ref().filter(|_| found.read.lacks_field()) {
            documents::refuse_missing_field("keep_field", field, &[&corpus.collection])?;
        }
        summary.stages = found.timings.stages().to_vec();
        write_outputs(&found.findings(&corpus.collection), outputs, &folder, &mut summary)?;
        vec![found.read]
    };
    folder.finish()?;
    interrupt::finished();

    let (verbose, quiet) = (common.verbose, common.quiet);
    documents::show(&faults, documents::Shown { verbose, quiet });
    if let Some(field) = args.keep_field.as_ref().filter(|_| !quiet && read[0].lacks_field()) {
        console::note(&format!("the field {field} is empty everywhere; the first ones were kept"));
    }
    if common.stats {
        console::stats(&console::stage_times(&summary.stages));
    }
    if args.json {
        let mut text = Vec::new();
        write_summary(&mut text, &summary)?;
        console::out(&text)?;
    } else {
        console::out(table(&summary, &args.output).as_bytes())?;
    }
    Ok(documents::outcome(&read))
}

/// The corpus, and the queries if there are any; none of them where the outputs go.
fn inputs(common: &ReferenceArgs, args: &CorpusArgs) -> anyhow::Result<(Input, Option<Input>)> {
    let input = &args.input;
    let options = ReadOptions {
        keep_field: args.keep_field.clone(),
        ..documents::read_options(input, Access::of(common.no_mmap))?
    };
    let temporary = temporary_folder(args);
    let open = |paths: &[PathBuf]| -> anyhow::Result<Input> {
        let Walked { files, faults } = documents::walk(paths, input, &temporary)?;
        refuse_overlap(&args.output, paths, &files)?;
        Ok(Input { collection: Collection::open(files, options.clone()), faults })
    };
    let corpus = open(&documents::with_listed(&args.corpus, input)?)?;
    let queries = (!args.queries.is_empty()).then(|| open(&args.queries)).transpose()?;
    Ok((corpus, queries))
}

impl Input {
    /// Adds to what reading the collection told what is wrong with its paths and files; gives all
    /// faults, unless the user asked to fail for them.
    fn complete(
        &mut self,
        args: &CorpusArgs,
        read: &mut CollectionSummary,
    ) -> anyhow::Result<Vec<Fault>> {
        documents::add_faults(&self.collection, std::mem::take(&mut self.faults), read);
        documents::refuse_losses(&args.input, &self.collection, read)?;
        Ok(documents::all_faults(&self.collection, read))
    }
}

fn outputs(args: &CorpusArgs, config: &DeduplicateConfig) -> Outputs {
    Outputs {
        rows: match args.output_format {
            OutputFormat::Jsonl => RowFormat::JsonLines,
            OutputFormat::Tsv => RowFormat::Tsv,
            #[cfg(feature = "parquet")]
            OutputFormat::Parquet => RowFormat::Parquet,
        },
        only_ids: args.ids_only,
        pairs: args.pairs || !args.queries.is_empty(),
        kept: args.write_kept,
        threads: config.threads,
    }
}

/// What would be done.
fn dry_run(estimate: &Estimate, config: &DeduplicateConfig, output: &Path) -> String {
    let mut text = estimate.explain(config);
    if let Some(plan) = estimate.plan(config) {
        text += &plan.to_string();
    }
    let _ = writeln!(text, "{estimate}");
    let _ = writeln!(text, "nothing was written; results would be in {}", output.display());
    text
}

fn config(
    common: &ReferenceArgs,
    args: &CorpusArgs,
    threads: usize,
) -> Result<DeduplicateConfig, Error> {
    let keep = match args.keep {
        KeepWhich::First => Keep::First,
        KeepWhich::Last => Keep::Last,
        KeepWhich::Longest => Keep::Longest,
        KeepWhich::Max => Keep::FieldMax,
        KeepWhich::Min => Keep::FieldMin,
    };
    let by_field = matches!(keep, Keep::FieldMax | Keep::FieldMin);
    if by_field != args.keep_field.is_some() {
        let rule = "--keep max and --keep min go with --keep-field NAME, and it with one of them";
        let given = format!("{:?}", args.keep).to_lowercase();
        return Err(Error::config("keep", given, rule));
    }
    if !args.queries.is_empty() {
        let refuse = |option: &'static str, given: String| {
            let rule = "chooses among documents of one collection: it does not go with --queries";
            Err(Error::config(option, given.to_lowercase(), rule))
        };
        if args.keep != KeepWhich::First {
            return refuse("keep", format!("{:?}", args.keep));
        }
        if args.cluster != ClusterBy::Proven {
            return refuse("cluster", format!("{:?}", args.cluster));
        }
        if args.corpus.iter().chain(&args.queries).filter(|path| *path == Path::new("-")).count()
            > 1
        {
            let rule = "standard input can be read once";
            return Err(Error::config("queries", "-", rule));
        }
    }
    Ok(DeduplicateConfig {
        method: method(common, args)?,
        shingle: args.shingle.parse()?,
        keep,
        clusters: match args.cluster {
            ClusterBy::Proven => ClusterRule::Proven,
            ClusterBy::Components => ClusterRule::Components,
        },
        memory_bytes: args.max_memory.unwrap_or(u64::MAX),
        temporary_folder: temporary_folder(args),
        threads,
        isa: Isa::detected(),
    })
}

fn temporary_folder(args: &CorpusArgs) -> PathBuf {
    args.tmp_dir.clone().unwrap_or_else(std::env::temp_dir)
}

/// The method with its settings, none of them of another method.
fn method(common: &ReferenceArgs, args: &CorpusArgs) -> Result<Method, Error> {
    let refuse = |option: &'static str, given: &dyn Display, method: &str| {
        Err(Error::config(option, given, format!("goes with --method {method}")))
    };
    if let Some(features) = &common.features {
        let Some(bits) = &common.bits else {
            let rule = "N and M stand together in front, as in `simtool 1000 64 --corpus PATH`";
            return Err(Error::config("N", features, rule));
        };
        for (option, given) in [("bits", &args.simhash_bits), ("similarity", &args.similarity)] {
            if let Some(given) = given {
                return Err(Error::config(option, given, "does not go with N and M"));
            }
        }
        let features = Features::Words(reference::word_features(common, features, bits)?);
        return simhash(features, common, args);
    }
    let folder = Some(&common.directory).filter(|folder| *folder != Path::new("."));
    for (option, given) in [
        ("directory", folder),
        ("stop_words", common.stop_words.as_ref()),
        ("hash_table", common.hash_table.as_ref()),
    ] {
        if let Some(given) = given {
            return Err(Error::config(option, given.display(), "goes with N and M"));
        }
    }
    match args.method {
        MethodName::Exact => {
            if let Some(distance) = common.max_distance {
                return refuse("max_distance", &distance, "simhash");
            }
            if let Some(bits) = &args.simhash_bits {
                return refuse("bits", bits, "simhash");
            }
            if let Some(similarity) = &args.verify {
                return refuse("verify", similarity, "simhash; exact verifies every pair");
            }
            let similarity = args.similarity.as_deref().unwrap_or(SIMILARITY);
            Ok(Method::Exact(similarity.parse()?))
        }
        MethodName::Simhash => {
            if let Some(similarity) = &args.similarity {
                return refuse("similarity", similarity, "exact");
            }
            let bits: SimhashBits = args.simhash_bits.as_deref().unwrap_or("64").parse()?;
            simhash(Features::Shingles(bits), common, args)
        }
    }
}

/// The method of fingerprints of some features.
fn simhash(features: Features, common: &ReferenceArgs, args: &CorpusArgs) -> Result<Method, Error> {
    let max_distance = common.max_distance.unwrap_or(MAX_DISTANCE);
    let bits = features.bits();
    if max_distance >= bits.div_ceil(2) {
        let rule = format!(
            "must be below {}: unlike documents differ in half of {bits} bits",
            bits.div_ceil(2)
        );
        return Err(Error::config("max_distance", max_distance, rule));
    }
    let verify = args.verify.as_deref().map(|s| Threshold::parse("verify", s)).transpose()?;
    Ok(Method::Simhash { features, max_distance, verify })
}

/// Refuses an output folder that is an input or lies in one, and inputs that lie in it.
fn refuse_overlap(output: &Path, paths: &[PathBuf], files: &[InputFile]) -> Result<(), Error> {
    let refuse = |input: &Path| {
        let rule = format!("overlaps the input {}: choose another folder", input.display());
        Err(Error::config("output", output.display(), rule))
    };
    let resolved_output = resolved(output);
    for folder in paths.iter().filter(|path| path.is_dir()) {
        if resolved_output.starts_with(resolved(folder)) {
            return refuse(folder);
        }
    }
    // Nothing lies in a folder that is not there.
    let inside = |file: &&InputFile| resolved(&file.name).starts_with(&resolved_output);
    match files.iter().filter(|_| output.exists()).find(inside) {
        Some(file) => refuse(&file.name),
        None => Ok(()),
    }
}

/// The path without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = path
        .ancestors()
        .find_map(|folder| Some(folder.canonicalize().ok()?.join(path.strip_prefix(folder).ok()?)));
    real.unwrap_or(path)
}

fn parameters(args: &CorpusArgs, config: &DeduplicateConfig) -> Vec<(&'static str, String)> {
    let lower = |value: String| value.to_lowercase();
    let mut parameters = vec![("method", lower(format!("{:?}", args.method)))];
    match &config.method {
        Method::Exact(_) => {
            let similarity = args.similarity.as_deref().unwrap_or(SIMILARITY);
            parameters.push(("similarity", similarity.to_owned()));
        }
        Method::Simhash { features, max_distance, .. } => {
            "simhash".clone_into(&mut parameters[0].1);
            if let Features::Words(words) = features {
                parameters.push(("words", words.hash_table.rows().len().to_string()));
            }
            parameters.push(("bits", features.bits().to_string()));
            parameters.push(("max_distance", max_distance.to_string()));
            parameters.extend(args.verify.clone().map(|similarity| ("verify", similarity)));
        }
    }
    parameters.extend([
        ("shingle", args.shingle.clone()),
        ("keep", lower(format!("{:?}", args.keep))),
        ("cluster", lower(format!("{:?}", args.cluster))),
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
