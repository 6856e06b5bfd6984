//! `simtool eval`: measures methods on labelled collections.

use crate::args::{EvalArgs, EvalFormat, TruthLines};
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use crate::{console, eval_sample, eval_suggest};
use simtool::Error;
use simtool::evaluate::truth::TruthFormat;
use simtool::evaluation::Evaluation;
use simtool::method::presets::NamedMethod;
use simtool::quantity::counted;
use simtool::run::{self, EvalRequest, Truth};
use simtool::write::evaluation::{write_json, write_lines, write_table};
use simtool::write::output_folder::Existing;
use std::path::Path;

/// Runs `simtool eval` in the way that the arguments choose, and prints the results. It measures methods,
/// estimates their recall and precision from a sample, or suggests a method.
pub(crate) fn run(args: &EvalArgs) -> anyhow::Result<ExitStatus> {
    let mut methods = match &args.method {
        Some(list) => NamedMethod::parse_list(list)?,
        None => NamedMethod::all()?,
    };
    // A sample needs no labels, so it is handled before labels are required.
    if let Some(size) = args.sample {
        return eval_sample::run(args, &methods, size);
    }
    refuse_without_truth(args)?;
    if args.suggest {
        let (suggestion, outcome) = eval_suggest::run(args)?;
        // Without labels, the suggestion itself is the result.
        if args.truth.is_none() {
            return Ok(outcome);
        }
        // The suggested method is the first row, above the presets that it is compared with.
        methods.insert(0, suggestion);
    }
    let terminal = Terminal::new(&args.common.running);
    let outcome = run::eval(&request(args, methods)?, &terminal)?;
    terminal.end(&outcome.faults);
    let mut out = Vec::new();
    match args.format {
        EvalFormat::Table => write_table(&mut out, &outcome.evaluation)?,
        EvalFormat::Tsv => write_lines(&mut out, &outcome.evaluation)?,
        EvalFormat::Json => write_json(&mut out, &outcome.evaluation)?,
    }
    if args.plot.is_some() || args.report.is_some() {
        console::report(&out, "the written files")?;
    } else {
        console::out(&out)?;
    }
    // The other formats name their columns, so only the table needs an explanation.
    if args.format == EvalFormat::Table && !args.common.running.has("quiet") {
        explain(&outcome.evaluation);
    }
    if args.common.running.has("stats") {
        console::stats(&console::stage_times(outcome.timings.stages(), outcome.timings.counts()));
    }
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Creates the request to measure `methods`, which the library carries out.
fn request(args: &EvalArgs, methods: Vec<NamedMethod>) -> Result<EvalRequest, Error> {
    // The parser ensures that --truth comes with --corpus.
    let (paths, truth) = match &args.truth {
        Some(truth) => {
            let (truth, gray) = (truth.clone(), args.gray.clone());
            (&args.corpus, Truth::Files { truth, gray })
        }
        None => (&args.paths, Truth::Folders),
    };
    Ok(EvalRequest {
        documents: args.documents(paths.clone())?,
        truth,
        truth_format: match args.truth_format {
            TruthLines::Pairs => TruthFormat::Pairs,
            TruthLines::Clusters => TruthFormat::Clusters,
        },
        methods,
        hash_seeds: args.seed.clone(),
        report: args.report.clone(),
        plots: args.plot.clone().filter(|path| !is_picture(path)),
        plot: args.plot.clone().filter(|path| is_picture(path)),
        existing: Existing::by_force(args.force),
    })
}

/// Returns whether a path of plots is that of one picture. Otherwise it is that of a folder.
fn is_picture(path: &Path) -> bool {
    // A folder that exists may have a dot in its name.
    path.extension().is_some() && !path.is_dir()
}

/// Prints a note that explains the columns of the table.
fn explain(evaluation: &Evaluation) {
    let of_each = "F1 over all pairs, at the best threshold, which follows @";
    if evaluation.collections.len() > 1 {
        console::note(&format!(
            "{of_each}; then the mean, the mean at one threshold for all, and the mean at left-out thresholds, which \
             are best for the other collections: report this one"
        ));
    } else if let [collection] = &evaluation.collections[..] {
        let (documents, positives) = (collection.documents, collection.positives);
        let documents = counted(documents, "document");
        console::note(&format!("{of_each}; {documents}, {}", counted(positives, "true pair")));
    }
}

/// Returns an error if arguments were given that need labels, but no labels were given.
fn refuse_without_truth(args: &EvalArgs) -> Result<(), Error> {
    let of_choice = [("report", args.report.as_ref()), ("plot", args.plot.as_ref())];
    let of_corpus = [("corpus", args.corpus.first())];
    // With `--suggest`, `--corpus` alone is meaningful, but there is no measurement to report.
    let given: &[_] = if args.suggest { &of_choice } else { &of_corpus };
    match given.iter().find_map(|&(option, path)| Some((option, path?))) {
        Some((option, path)) if args.truth.is_none() => {
            Err(Error::config(option, path.display(), "goes with `truth` FILE"))
        }
        _ => Ok(()),
    }
}
