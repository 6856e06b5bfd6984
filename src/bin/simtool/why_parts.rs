//! Describes what a search for passages or evaluation items has found in a document, for `simtool why`.

use crate::compare::shown;
use simtool::output::found_parts::{FoundPart, PartSource};
use simtool::run::DocumentParts;
use simtool::stages::quantity::counted;
use std::fmt::Write;

/// Maximum number of characters of a part that are printed, unless the whole part is wanted.
const EXCERPT: usize = 200;

/// Describes the parts of a document. At most `listed` parts are printed. Of a long part, only the beginning is printed
/// unless `is_whole` is true.
pub(crate) fn parts_page(document: &DocumentParts, listed: usize, is_whole: bool) -> String {
    let place = format!("{}:{}", document.located.file, document.located.record);
    let (place, count) = (shown(&place), document.parts.len());
    let what = match document.parts.first().map(|part| &part.source) {
        None => return format!("{place} was searched: nothing was found in it\n"),
        Some(PartSource::Passage { .. }) => {
            format!("has {}", counted(count as u64, "repeated passage"))
        }
        Some(PartSource::Item { .. }) => format!("contains {}", counted(count as u64, "item")),
    };
    let mut text = format!("{place} {what}\n");
    for (part, words) in document.parts.iter().zip(document.shown_parts()).take(listed) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\n{}", heading(part));
        if let Some(words) = words {
            let _ = writeln!(text, "  {}", excerpt(&words, is_whole));
        }
    }
    if count > listed {
        let _ = writeln!(text, "\nand {} more; --verbose lists all", count - listed);
    }
    if let Err(error) = &document.text {
        let _ = writeln!(text, "\nthe text cannot be read: {error}");
    }
    text
}

fn heading(part: &FoundPart) -> String {
    let FoundPart { spans, words, source, .. } = part;
    let bytes: Vec<String> =
        spans.iter().map(|span| format!("{} to {}", span.start, span.end)).collect();
    let (words, bytes) = (counted(*words, "word"), bytes.join(", "));
    match source {
        PartSource::Passage { partner, documents, is_first } => {
            let order = if *is_first { "first occurrence" } else { "repeats an earlier one" };
            let also = if partner.is_empty() {
                "repeated in this document alone".to_owned()
            } else {
                format!("in {}, for example {}", counted(*documents, "document"), shown(partner))
            };
            format!("{words}, bytes {bytes}: {order}, {also}")
        }
        PartSource::Item { id, share } => {
            format!("item {}: {share} of it, {words}, bytes {bytes}", shown(id))
        }
    }
}

/// Returns the words on one line, and only their beginning unless `is_whole` is true.
fn excerpt(words: &str, is_whole: bool) -> String {
    let line: Vec<&str> = words.split_whitespace().collect();
    let line = shown(&line.join(" "));
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) if !is_whole => format!("{} \u{2026}", &line[..end]),
        _ => line,
    }
}
