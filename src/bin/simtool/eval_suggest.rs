//! `simtool eval --suggest`: describes a sample of a collection and suggests a method for it.

use crate::args::Call;
use crate::console;
use crate::eval_format::EvalFormat;
use crate::exit_status::ExitStatus;
use crate::terminal::Terminal;
use simtool::method::Method;
use simtool::method::presets::NamedMethod;
use simtool::run::{self, EvalRequest, Truth};
use simtool::setting::{NEAR, TERMS};
use simtool::stages::json_text::write_string;
use simtool::stages::quantity::{grouped, percent};
use simtool::stages::shell_word::shell_word;
use simtool::suggest::{CorpusProfile, ExamplePair, Quantiles, Suggestion};
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

/// Name of the suggested method in tables of methods.
pub(crate) const NAME: &str = "suggested";

/// Chooses a method and prints it. If the method will be measured afterwards, only the reasons are printed,
/// as notes.
pub(crate) fn run(call: &Call, request: &EvalRequest) -> anyhow::Result<(NamedMethod, ExitStatus)> {
    let terminal = Terminal::new(call);
    let documents = &request.documents;
    let outcome = run::suggest_method(documents, &terminal)?;
    terminal.end(&outcome.faults);
    let suggestion = outcome.suggestion;
    let command = command(call, &documents.paths, &suggestion.method);
    // Standard output is for the measurement that follows, so the reasons are notes.
    if matches!(request.truth, Truth::Files { .. }) {
        if !call.has("quiet") {
            for reason in &suggestion.reasons {
                console::note(reason);
            }
        }
    } else {
        let text = match EvalFormat::of(call) {
            EvalFormat::Table => table(&suggestion, &command),
            EvalFormat::Tsv => lines(&suggestion, &command),
            EvalFormat::Json => json(&suggestion, &command)?,
        };
        console::out(text.as_bytes())?;
    }
    let named = NamedMethod { name: NAME.to_owned(), method: suggestion.method };
    Ok((named, ExitStatus::Done))
}

/// Returns the `simtool dedup` command line that uses the suggested method.
fn command(call: &Call, paths: &[PathBuf], method: &Method) -> String {
    let mut words = vec!["simtool".to_owned(), "dedup".to_owned()];
    words.extend(paths.iter().map(|path| path.to_string_lossy().into_owned()));
    let (options, own): (Vec<_>, Vec<_>) = method
        .parameters()
        .into_iter()
        .partition(|(name, _)| NEAR.iter().chain(TERMS).any(|row| row.name == *name));
    let own: Vec<String> = own.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let colon = if own.is_empty() { "" } else { ":" };
    words.extend(["--method".to_owned(), format!("{}{colon}{}", method.name(), own.join(","))]);
    // The command must read the same fields as the sample did.
    let fields = ["text_field", "id_field"].into_iter();
    let fields =
        fields.filter_map(|name| Some((name, call.value(name)?.to_string_lossy().into_owned())));
    for (name, value) in options.into_iter().chain(fields) {
        words.extend([format!("--{}", name.replace('_', "-")), value]);
    }
    let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
    words.join(" ")
}

/// Returns the suggestion as pairs of a name and a text, which are printed as lines.
fn named_lines(suggestion: &Suggestion, command: &str) -> Vec<(&'static str, String)> {
    let Suggestion { method, reasons, profile, nearest, compared: (terms, measure), least, .. } =
        suggestion;
    let CorpusProfile { documents, sampled, is_complete, characters, words, scripts, .. } = profile;
    let about = if *is_complete { "" } else { "about " };
    let range = |Quantiles { tenth, median, ninetieth }: &Quantiles| {
        format!(
            "half of the documents have up to {}, most from {} to {}",
            grouped(*median),
            grouped(*tenth),
            grouped(*ninetieth)
        )
    };
    // Less than half a percent would be shown as 0 %, so such scripts are left out.
    let scripts = scripts.iter().filter(|(_, share)| *share >= 0.005);
    let scripts: Vec<_> =
        scripts.map(|(script, share)| format!("{script} {:.0} %", share * 100.0)).collect();
    let tenths: Vec<String> = (0..10)
        .rev()
        .map(|tenth| (tenth * 10, (tenth + 1) * 10))
        .map(|(from, to)| {
            // Similarity 1 is counted separately and belongs to the highest tenth.
            let end = if to == 100 { 101 } else { to };
            nearest.of_first[from..end].iter().sum::<u64>().to_string()
        })
        .collect();
    let mut named = vec![
        (
            "documents",
            format!("{about}{}, {} of them sampled", grouped(*documents), grouped(*sampled)),
        ),
        ("characters", range(characters)),
        ("words", range(words)),
        ("scripts", scripts.join(", ")),
        (
            "repeats",
            format!(
                "{} of {} compared documents have a near-duplicate that is at least {:.2} similar ({} of {terms})",
                percent(nearest.repeated(*least), nearest.probes.max(1)),
                grouped(nearest.probes),
                *least as f64 / 100.0,
                measure.described
            ),
        ),
        ("nearest", format!("{} documents by tenths of similarity, from 1 down", tenths.join(" "))),
        ("seen", suggestion.seen.clone()),
    ];
    let pairs = &suggestion.pairs;
    named.extend(pairs.above.iter().map(|pair| ("above", pair.to_string())));
    named.extend(pairs.below.iter().map(|pair| ("below", pair.to_string())));
    named.push(("method", method.to_string()));
    named.extend(reasons.iter().map(|reason| ("why", console::with_options(reason))));
    named.push(("run", command.to_owned()));
    named
}

/// Returns the suggestion as text for people. `command` is the command line to run. Writing to a string
/// cannot fail.
fn table(suggestion: &Suggestion, command: &str) -> String {
    let mut text = String::new();
    let mut last = "";
    for (name, value) in named_lines(suggestion, command) {
        // If several reasons follow each other, only the first one shows the name.
        let shown = if name == last { "" } else { name };
        let _ = writeln!(text, "{shown:<12}{value}");
        last = name;
    }
    text
}

/// Returns the suggestion as lines, each with a name and a text separated by a tab.
fn lines(suggestion: &Suggestion, command: &str) -> String {
    named_lines(suggestion, command).iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name}\t{value}");
        text
    })
}

/// Returns the suggestion as one JSON object.
fn json(suggestion: &Suggestion, command: &str) -> io::Result<String> {
    let Suggestion { method, reasons, profile, nearest, compared: (terms, measure), least, .. } =
        suggestion;
    let string = |text: &str| -> io::Result<String> {
        let mut out = Vec::new();
        write_string(&mut out, text.as_bytes())?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    };
    let quantiles = |Quantiles { tenth, median, ninetieth }: &Quantiles| {
        format!("{{\"tenth\":{tenth},\"median\":{median},\"ninetieth\":{ninetieth}}}")
    };
    let numbers =
        |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let scripts: Vec<String> =
        profile.scripts.iter().map(|(script, share)| format!("\"{script}\":{share:.6}")).collect();
    let reasons: io::Result<Vec<String>> =
        reasons.iter().map(|reason| string(&console::with_options(reason))).collect();
    let pairs = |pairs: &[ExamplePair]| -> io::Result<String> {
        let pair = |ExamplePair { similarity, names: [a, b] }: &ExamplePair| {
            let similarity = *similarity as f64 / 100.0;
            Ok(format!(
                "{{\"similarity\":{similarity:.2},\"a\":{},\"b\":{}}}",
                string(a)?,
                string(b)?
            ))
        };
        let pairs: io::Result<Vec<String>> = pairs.iter().map(pair).collect();
        Ok(format!("[{}]", pairs?.join(",")))
    };
    let fields = [
        ("documents", profile.documents.to_string()),
        ("sampled", profile.sampled.to_string()),
        ("is_complete", profile.is_complete.to_string()),
        ("characters", quantiles(&profile.characters)),
        ("words", quantiles(&profile.words)),
        ("scripts", format!("{{{}}}", scripts.join(","))),
        ("compared", string(&format!("{} of {terms}", measure.name))?),
        ("probes", nearest.probes.to_string()),
        ("nearest_by_hundredths", format!("[{}]", numbers(&nearest.of_first))),
        ("least", format!("{:.2}", *least as f64 / 100.0)),
        ("repeated", nearest.repeated(*least).to_string()),
        ("seen", string(&suggestion.seen)?),
        ("above", pairs(&suggestion.pairs.above)?),
        ("below", pairs(&suggestion.pairs.below)?),
        ("method", string(&method.to_string())?),
        ("reasons", format!("[{}]", reasons?.join(","))),
        ("command", string(command)?),
    ];
    let fields: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    Ok(format!("{{{}}}\n", fields.join(",\n")))
}
