//! Writes the top of the page: the result in one sentence, as a bar, and as tiles with the counts.

use super::charts::write_parts;
use super::escape::EscapedLine;
use super::tables::share;
use crate::write::summary::{Figure, Summary};
use simtool_base::quantity::{bytes, counted, grouped};
use std::io::{self, Write};

pub(super) fn write(
    out: &mut dyn Write,
    summary: &Summary,
    title: &EscapedLine<'_>,
) -> io::Result<()> {
    let eyebrow = if summary.is_match() { "Queries in a corpus" } else { "Near-duplicates" };
    write!(
        out,
        "<header>\n<p class=\"eyebrow\">{eyebrow}</p>\n<h1>{title}</h1>\n<p class=\"lead\">{}</p>\n",
        lead(summary)
    )?;
    write_losses(out, summary)?;
    write_shares(out, summary)?;
    let figures = summary.figures();
    let shown = || figures.iter().filter(|figure| figure.is_for_people());
    let is_of_corpus = |figure: &&Figure| figure.key.starts_with("corpus_");
    let tile = |figure| tile(summary, figure);
    write_tiles(out, shown().filter(|figure| !is_of_corpus(figure)).map(tile))?;
    if summary.is_match() {
        out.write_all(b"<h2>The corpus that they were matched against</h2>\n")?;
        write_tiles(out, shown().filter(is_of_corpus).map(tile))?;
    }
    out.write_all(b"</header>\n")
}

/// Writes a bar and its legend. The bar is divided by the shares of the records of the input that were kept,
/// removed, excluded, bad or lost.
pub(super) fn write_shares(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let read = summary.read.first();
    let parts = [
        ("kept", "kept", summary.kept),
        ("removed", "removed", summary.removed),
        ("passed", "passed over", read.passed_over),
        ("bad", "quarantined", read.quarantined),
        ("lost", "lost", read.lost),
    ];
    write_parts(out, "Records of the input by result", "document", &parts)?;
    // Where all records are documents, these are the shares of the lead. Otherwise counts alone are shown, so that
    // no two shares of kept documents differ.
    let records = Some(read.records()).filter(|records| *records == read.documents);
    out.write_all(b"<ul class=\"legend\">\n")?;
    for (class, name, count) in parts.into_iter().filter(|part| part.2 > 0) {
        let part = records.map_or_else(String::new, |records| share(count, records));
        let count = grouped(count);
        writeln!(
            out,
            "<li class=\"{class}\">{name} {count} <span class=\"quiet\">{part}</span></li>"
        )?;
    }
    out.write_all(b"</ul>\n")
}

/// Returns the result of the run in one sentence.
pub(super) fn lead(summary: &Summary) -> String {
    let documents = summary.read.first().documents;
    let (removed, part) = (grouped(summary.removed), share(summary.removed, documents));
    let (one, many) =
        if summary.is_match() { ("query", "queries") } else { ("document", "documents") };
    let noun = |count| if count == 1 { one } else { many };
    let of_corpus = || counted(summary.read.second().documents, "document");
    match (documents, summary.removed, summary.is_match()) {
        (0, ..) => format!("No {one} was compared."),
        (count, 0, false) => {
            format!("No near-duplicates among {} {}.", grouped(count), noun(count))
        }
        (count, 0, true) => format!(
            "None of {} {} is similar to any of {} of the corpus.",
            grouped(count),
            noun(count),
            of_corpus()
        ),
        (count, some, false) => format!(
            "<strong>{removed}</strong> of {} {} ({part}) {} of a kept document.",
            grouped(count),
            noun(count),
            if some == 1 { "is a near-duplicate" } else { "are near-duplicates" }
        ),
        (count, some, true) => format!(
            "<strong>{removed}</strong> of {} {} ({part}) {} similar to one of {} of the corpus.",
            grouped(count),
            noun(count),
            if some == 1 { "is" } else { "are" },
            of_corpus()
        ),
    }
}

/// Writes a warning if records or files of the input could not be read and so were not compared.
pub(super) fn write_losses(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    // A damaged file can claim any number of lost rows, so the sum must not overflow.
    let sum = |of: fn(&crate::write::summary::ReadCounts) -> u64| {
        summary.read.iter().map(of).fold(0_u64, u64::saturating_add)
    };
    let quarantined = sum(|read| read.quarantined);
    let (lost, faults) = (sum(|read| read.lost), sum(|read| read.file_faults));
    let mut losses = Vec::new();
    if quarantined > 0 {
        losses.push(format!("{} could not be read", counted(quarantined, "record")));
    }
    if lost > 0 {
        losses.push(format!("{} of damaged files", counted(lost, "row")) + " are lost");
    }
    if faults > 0 {
        losses.push(counted(faults, "fault") + " of files");
    }
    if losses.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<p class=\"losses\">Not everything was compared: {}. <a href=\"#unread\">See the \
         list</a>.</p>",
        losses.join(", ")
    )
}

/// A box of the page with a count, its name and notes.
pub(super) struct Tile<'t> {
    /// Name of the field in `summary.json`.
    pub(super) key: &'t str,
    /// Name for people.
    pub(super) name: &'t str,
    /// The count. `None` if it is not known.
    pub(super) count: Option<u64>,
    /// Notes as HTML. Empty notes are left out.
    pub(super) notes: Vec<String>,
}

/// Returns the tile, which is a box of the page, for a figure (a count of the summary with its names).
fn tile<'f>(summary: &Summary, figure: &'f Figure) -> Tile<'f> {
    let Figure { key, name, count, whole, note, .. } = figure;
    let part = count.zip(*whole).map(|(count, whole)| share(count, whole));
    let text = text_bytes(summary, key).map(|size| format!("{} of text", bytes(size)));
    let notes = [part, Some((*note).to_owned()), text].into_iter().flatten().collect();
    // Some names are indented for the table on the terminal.
    Tile { key, name: name.trim(), count: *count, notes }
}

/// Writes tiles with counts.
pub(super) fn write_tiles<'t>(
    out: &mut dyn Write,
    tiles: impl Iterator<Item = Tile<'t>>,
) -> io::Result<()> {
    out.write_all(b"<dl class=\"figures\">\n")?;
    for Tile { key, name, count, notes } in tiles {
        let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
        let notes: Vec<String> = notes.into_iter().filter(|note| !note.is_empty()).collect();
        writeln!(
            out,
            "<div data-key=\"{key}\"><dt>{}{rest}</dt><dd>{}<small>{}</small></dd></div>",
            first.to_uppercase(),
            count.map_or_else(|| "–".to_owned(), grouped),
            notes.join(", ")
        )?;
    }
    out.write_all(b"</dl>\n")
}

/// Returns the number of bytes of text of the documents that a figure counts. `key` is [`Figure::key`], for
/// example `removed`. `None` if the figure does not count documents.
fn text_bytes(summary: &Summary, key: &str) -> Option<u64> {
    let read = summary.read.first();
    match key {
        "documents" => Some(read.text_bytes),
        "kept" => Some(read.text_bytes.saturating_sub(summary.removed_bytes)),
        "removed" => Some(summary.removed_bytes),
        "corpus_documents" => Some(summary.read.second().text_bytes),
        _ => None,
    }
}
