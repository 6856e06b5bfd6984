//! `simtool audit OUT`: checks a finished run by its receipt and by the texts of a sample.

use crate::args::Call;
use crate::compare::shown;
use crate::console;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::pipeline::OutputName;
use simtool::run::{self, Audit, AuditRequest, AuditedRow, FileCounts};
use simtool::stages::quantity::{counted, grouped};
use std::fmt::Write;

/// Maximum number of wrong rows and changed files that are listed, unless `--verbose` is given.
const LISTED: usize = 20;

/// Runs `simtool audit`: checks a finished run and prints the results of the checks. The exit code is 1 if a check
/// fails.
pub(crate) fn run(call: &Call) -> anyhow::Result<ExitStatus> {
    let request = AuditRequest::parse(call.path("output"), call.options())?;
    let terminal = Terminal::new(call);
    let found = run::audit(&request, &terminal)?;
    terminal.end(&[]);
    if call.has("stats") {
        console::stats(&console::stage_times(found.timings.stages(), found.timings.counts()));
    }
    if call.has("json") {
        console::out(format!("{}\n", found.object()).as_bytes())?;
    } else {
        let listed = if call.has("verbose") { usize::MAX } else { LISTED };
        console::out_wrapped(&page(&found, listed))?;
    }
    Ok(match (found.has_failed(), found.has_gaps()) {
        (true, _) => ExitStatus::Failed,
        (false, true) => ExitStatus::DoneWithLosses,
        (false, false) => ExitStatus::Done,
    })
}

/// Returns the results of an audit as text. It lists at most `listed` files, and at most `listed` rows of each kind.
fn page(found: &Audit, listed: usize) -> String {
    let Audit { receipt, removals, rows, seed, .. } = found;
    let mut text = String::new();
    let files = |FileCounts { all, equal }: FileCounts, of: &str| {
        format!("{} of {}{of}", grouped(equal), counted(all, "file"))
    };
    add_line(&mut text, "outputs", &files(receipt.outputs, " as in the receipt"));
    // Inputs without a checked document are not read.
    let of_inputs = " read again, as in the receipt";
    add_line(&mut text, "inputs", &files(receipt.inputs, of_inputs));
    list(&mut text, "changed", receipt.changed.iter(), listed);
    list(&mut text, "not compared", receipt.unchecked.iter(), listed);
    // A reader should see at once how much of the run was checked.
    let checked = if rows.len() as u64 == *removals {
        "all of them checked".to_owned()
    } else {
        format!("{} of them checked, by the seed {seed}", grouped(rows.len() as u64))
    };
    add_line(&mut text, "removals", &format!("{}, {checked}", grouped(*removals)));
    let (holding, failing) = (found.holding(), found.failing().count() as u64);
    let share = found.share().filter(|share| share.low < share.high).map(|share| {
        // Rounding must not make the interval smaller.
        let (low, high) = ((1e4 * share.low).floor() / 1e2, (1e4 * share.high).ceil() / 1e2);
        format!("; of all removals, {low} % to {high} % hold, with a confidence of 95 %")
    });
    let share = share.unwrap_or_default();
    add_line(&mut text, "hold", &format!("{}{share}", grouped(holding)));
    add_line(&mut text, "do not hold", &grouped(failing));
    for (reason, count) in found.unchecked() {
        add_line(&mut text, "not checked", &format!("{}: {}", grouped(count), shown(reason)));
    }
    // Rows that do not hold come last, because they are what a reader looks for.
    let failures = found.failing().map(|(AuditedRow { removed, kept, .. }, reasons)| {
        format!("{}, removed for {}: {}", named(removed), named(kept), reasons.join("; "))
    });
    let failures: Vec<String> = failures.collect();
    list(&mut text, "wrong", failures.iter(), listed);
    text
}

/// Appends a line for each of the first `listed` sentences, and a line with the number of the others.
fn list<'s>(
    text: &mut String,
    title: &str,
    sentences: impl ExactSizeIterator<Item = &'s String>,
    listed: usize,
) {
    let more = sentences.len().saturating_sub(listed);
    for sentence in sentences.take(listed) {
        add_line(text, title, &shown(sentence));
    }
    if more > 0 {
        add_line(text, title, &format!("and {} more; --verbose lists all", grouped(more as u64)));
    }
}

/// Appends a line with a name and a value.
fn add_line(text: &mut String, name: &str, value: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{name:<12} {value}");
}

/// Returns the ID of a document with its file and record number in parentheses. If the document has no ID, returns only
/// its file and record number.
fn named(OutputName { id, file, record }: &OutputName) -> String {
    let place = format!("{file}:{record}");
    if *id == place { place } else { format!("{id} ({place})") }
}
