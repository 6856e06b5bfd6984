//! `simtool eval --sample`: estimates recall and precision in a collection without labels.

use crate::args::Call;
use crate::console;
use crate::eval_format::EvalFormat;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::evaluate::{Interval, RatioEstimate, SampleSettings, SampledMethod};
use simtool::run::{self, EvalRequest};
use simtool::stages::json_text::write_string;
use simtool::stages::quantity::grouped;
use simtool::stages::similarity::JACCARD;
use std::fmt::Write as _;

/// Draws a sample of the documents, and prints the recall and precision of each method that are estimated from it.
pub(crate) fn run(
    call: &Call,
    request: &EvalRequest,
    settings: SampleSettings,
) -> anyhow::Result<ExitStatus> {
    let seed = settings.seed;
    let terminal = Terminal::new(call);
    let EvalRequest { documents, methods, .. } = request;
    let outcome = run::eval_by_sample(documents, methods, settings, &terminal)?;
    terminal.end(&outcome.faults);
    if call.has("stats") {
        console::stats(&console::stage_times(outcome.timings.stages(), outcome.timings.counts()));
    }
    let sampled = outcome.methods;
    let text = match EvalFormat::of(call) {
        EvalFormat::Table => table(&sampled, seed),
        EvalFormat::Tsv => lines(&sampled, seed),
        EvalFormat::Json => json(&sampled, seed)?,
    };
    console::out(text.as_bytes())?;
    Ok(ExitStatus::after(outcome.has_losses))
}

/// Returns the estimates as text for people. `seed` is the seed of the sample. Writing to a string cannot
/// fail.
fn table(sampled: &[SampledMethod], seed: u64) -> String {
    let mut text = String::new();
    for method in sampled {
        let _ = writeln!(
            text,
            "{}\n  sample     {} of {} documents (seed {seed}); true: {} of {} at least {}, which \
             is no person's judgement",
            method.name,
            grouped(method.sample),
            grouped(method.documents),
            match method.similarity.measure() {
                measure if *measure == JACCARD => "Jaccard",
                other => other.described,
            },
            method.terms,
            method.similarity
        );
        for (name, estimate) in [
            ("recall", &method.recall),
            ("precision", &method.precision),
            ("recall of small clusters", &method.recall_of_small),
        ] {
            // If all clusters are small, the third line would repeat the recall, so it is left out.
            if name.len() > 10 && estimate.partners == method.recall.partners {
                continue;
            }
            let _ = writeln!(text, "  {name:<10} {}", shown(estimate));
        }
    }
    text
}

/// Returns a ratio and its confidence interval as text.
fn shown(estimate: &RatioEstimate) -> String {
    let RatioEstimate { hits, partners, ratio, interval, .. } = estimate;
    if *partners == 0 {
        return "nothing to tell: no document of the sample has a partner".to_owned();
    }
    let (hits, partners) = (grouped(*hits), grouped(*partners));
    let Interval { low, high } = interval;
    format!("{ratio:.3}, {hits} of {partners} pairs; 95 %: {low:.3} to {high:.3}")
}

const COLUMNS: [&str; 19] = [
    "method",
    "parameters",
    "documents",
    "sample",
    "seed",
    "similarity",
    "recall",
    "recall_error",
    "recall_low",
    "recall_high",
    "recall_pairs",
    "precision",
    "precision_error",
    "precision_low",
    "precision_high",
    "precision_pairs",
    "whole_documents",
    "documents_with_partners",
    "recall_of_small",
];

/// Returns the values of all columns in the row of a method. `seed` is the seed of the sample.
fn cells(method: &SampledMethod, seed: u64) -> Vec<String> {
    let estimate = |estimate: &RatioEstimate| {
        let Interval { low, high } = estimate.interval;
        [estimate.ratio, estimate.standard_error, low, high]
            .map(|number| format!("{number:.6}"))
            .into_iter()
            .chain([estimate.partners.to_string()])
    };
    let SampledMethod { recall, precision, recall_of_small, .. } = method;
    let front = [
        method.name.clone(),
        method.parameters.clone(),
        method.documents.to_string(),
        method.sample.to_string(),
        seed.to_string(),
        method.similarity.to_string(),
    ];
    let back = [
        recall.whole_documents.to_string(),
        recall.documents.to_string(),
        format!("{:.6}", recall_of_small.ratio),
    ];
    let estimates = estimate(recall).chain(estimate(precision));
    front.into_iter().chain(estimates).chain(back).collect()
}

/// Returns a line with the names of the columns, and a tab-separated line for each method.
fn lines(sampled: &[SampledMethod], seed: u64) -> String {
    let mut text = COLUMNS.join("\t") + "\n";
    for method in sampled {
        text += &cells(method, seed).join("\t");
        text.push('\n');
    }
    text
}

/// Returns the results of the methods as a JSON list of objects.
fn json(sampled: &[SampledMethod], seed: u64) -> std::io::Result<String> {
    let mut out = b"[".to_vec();
    for (number, method) in sampled.iter().enumerate() {
        out.extend_from_slice(if number == 0 { b"\n{" } else { b",\n{" });
        for (at, (name, cell)) in COLUMNS.iter().zip(cells(method, seed)).enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(&mut out, name.as_bytes())?;
            out.push(b':');
            // Numbers are written without quotes. A name of a method never looks like a number.
            if cell.parse::<f64>().is_ok() {
                out.extend_from_slice(cell.as_bytes());
            } else {
                write_string(&mut out, cell.as_bytes())?;
            }
        }
        out.push(b'}');
    }
    out.extend_from_slice(b"\n]\n");
    Ok(String::from_utf8_lossy(&out).into_owned())
}
