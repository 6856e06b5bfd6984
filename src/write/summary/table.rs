//! The summary on the terminal: one line for each count, then the speed and the folder.

use super::Summary;
use simtool_base::quantity::{bytes, percent, rate};
use std::fmt::Write;

/// Width of the column of names, unless a name is longer.
const NAMES: usize = 14;

/// Shown for a count that is not known.
const UNKNOWN: &str = "-";

/// Returns the counts of the summary, one a line, followed by the speed and the folder of the results.
#[must_use]
pub fn table(summary: &Summary) -> String {
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
    let (text_bytes, time) = (summary.text_bytes(), summary.time());
    let _ = writeln!(
        text,
        "{} of text in {:.3} s, {}",
        bytes(text_bytes),
        time.as_secs_f64(),
        rate(text_bytes, time)
    );
    let _ = writeln!(text, "results in {}", summary.output);
    text
}
