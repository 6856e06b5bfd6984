//! Formats the summary for the terminal: one line for each count, then the speed and the output folder.

use super::Summary;
use simtool_base::quantity::{bytes, percent, rate};
use std::fmt::Write;
use std::path::Path;

/// Minimum width of the column with the names of the counts, in characters.
const NAMES: usize = 14;

/// Text that is shown for a count that is not known.
const UNKNOWN: &str = "-";

/// Returns the table for the terminal: one line for each count, then the speed and the output folder.
#[must_use]
pub fn table(summary: &Summary) -> String {
    let mut text = counts_table(summary);
    let (text_bytes, time) = (summary.text_bytes(), summary.time());
    let _ = writeln!(
        text,
        "{} of text in {:.3} s, {}",
        bytes(text_bytes),
        time.as_secs_f64(),
        rate(text_bytes, time)
    );
    let output = Path::new(&summary.output);
    let page = output.join("report.html");
    let _ = writeln!(text, "results in {}, see {}", output.display(), page.display());
    text
}

/// Returns the part of the table with the counts.
pub(in crate::write) fn counts_table(summary: &Summary) -> String {
    let figures = summary.figures();
    let shown = || figures.iter().filter(|figure| figure.is_for_people());
    let width = shown().map(|figure| figure.name.len()).max().unwrap_or(0).max(NAMES);
    let mut text = String::new();
    for figure in shown() {
        let share = figure.count.zip(figure.whole).map(|(count, whole)| percent(count, whole));
        let notes = [share.as_deref().unwrap_or_default(), figure.note];
        let notes = notes.into_iter().filter(|note| !note.is_empty()).collect::<Vec<_>>();
        let count = figure.count.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string());
        let line = format!("{:<width$} {count:>12}  {}", figure.name, notes.join("  "));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", line.trim_end());
    }
    if let Some(share) = summary.found_share {
        let share = format!("{:.1} %", share * 100.0);
        let note = "of the pairs at the maximum distance, on average (recall)";
        let _ = writeln!(text, "{:<width$} {share:>12}  {note}", "found");
    }
    if let Some(dates) = summary.dates.as_ref().filter(|dates| !dates.fields.is_empty()) {
        let _ = writeln!(text, "dates from {}", dates.fields.join(", "));
    }
    text
}
