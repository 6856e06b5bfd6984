//! `simtool eval`: measures methods on labelled collections.

use crate::args::Call;
use crate::eval_format::EvalFormat;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use crate::{console, eval_sample, eval_suggest};
use simtool::run::{self, EvalRequest, Truth};
use simtool::stages::evaluation::Evaluation;
use simtool::stages::quantity::counted;
use simtool::write::evaluation::{write_json, write_lines, write_table};

/// Runs `simtool eval` in the way that the arguments choose, and prints the results. It measures methods,
/// estimates their recall and precision from a sample, or suggests a method.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let mut options = call.options();
    // The library does not print results, so their format is a setting of the program.
    options.take("format");
    let format = EvalFormat::of(call);
    let mut request = EvalRequest::parse(call.paths("paths"), call.paths("corpus"), options)?;
    if let Some(settings) = request.sample {
        return eval_sample::run(call, &request, settings);
    }
    if request.suggests {
        let (suggestion, outcome) = eval_suggest::run(call, &request)?;
        // Without labels, the suggestion itself is the result.
        if matches!(request.truth, Truth::Folders) {
            return Ok(outcome);
        }
        // The suggested method is the first row, above the presets that it is compared with.
        request.methods.insert(0, suggestion);
    }
    let terminal = Terminal::new(call);
    let outcome = run::eval(&request, &terminal)?;
    terminal.end(&outcome.faults);
    let mut out = Vec::new();
    match format {
        EvalFormat::Table => write_table(&mut out, &outcome.evaluation)?,
        EvalFormat::Tsv => write_lines(&mut out, &outcome.evaluation)?,
        EvalFormat::Json => write_json(&mut out, &outcome.evaluation)?,
    }
    if call.value("plot").or(call.value("report")).is_some() {
        console::report(&out, "the written files")?;
    } else {
        console::out(&out)?;
    }
    // The other formats name their columns, so only the table needs an explanation.
    if format == EvalFormat::Table && !call.has("quiet") {
        explain(&outcome.evaluation);
    }
    if call.has("stats") {
        console::stats(&console::stage_times(outcome.timings.stages(), outcome.timings.counts()));
    }
    Ok(ExitStatus::after(outcome.has_losses))
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
