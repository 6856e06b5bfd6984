//! Writes the page about the repeated passages of a collection.

use super::charts::write_parts;
use super::escape::{EscapedLine, EscapedLines, EscapedName};
use super::head::{Tile, write_losses, write_tiles};
use super::page::{TITLE, begin, end};
use super::sources::{PASSAGES, write_table};
use super::tables::{bar, begin_table, end_table, share};
use super::{Report, run, unread};
use crate::write::repetition_summary::{RepeatedText, RepetitionSummary};
use crate::write::shortened::shortened;
use crate::write::summary::Summary;
use simtool_base::quantity::{bytes, counted, grouped};
use std::io::{self, Write};

/// Content of the page about repeated passages.
#[derive(Debug)]
pub(crate) struct PassagesPage<'p> {
    /// Settings, times and faults of the run, and counts of the documents that were read.
    pub(crate) summary: &'p Summary,
    /// Title, bad records, and the table of sources, whose counts are numbers of words.
    pub(crate) report: &'p Report,
    /// Numbers of words that are repeated in the collection, and the texts that are repeated most.
    pub(crate) repetition: &'p RepetitionSummary,
    /// Number of repeated passages that were found.
    pub(crate) passages: u64,
    /// Number of passages that have all words of their document.
    pub(crate) whole_documents: u64,
    /// Number of words that are in repeated passages.
    pub(crate) repeated_words: u64,
    /// Number of words that are in later copies of passages and in no first copy.
    pub(crate) later_words: u64,
    /// Number of words that were cut from the copies of the input files.
    pub(crate) cut_words: u64,
    /// Number of documents that were left out of the copies of the input files.
    pub(crate) removed_documents: u64,
}

/// Writes the page about repeated passages.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn write_passages_page(out: &mut dyn Write, page: &PassagesPage<'_>) -> io::Result<()> {
    let title = page.report.titles.iter().map(|title| shortened(title.as_bytes(), TITLE).text);
    let title = title.collect::<Vec<_>>().join(", ");
    let title = EscapedLine(title.as_bytes());
    // The page lists no clusters, so it needs no script that searches them.
    begin(out, &title, None)?;
    write_head(out, page, &title)?;
    out.write_all(b"<main>\n")?;
    write_levels(out, page.repetition)?;
    write_texts(out, page.repetition)?;
    // Without repeated words, the table of sources would have only zeros.
    if page.repeated_words > 0 {
        write_table(out, &page.report.sources, &PASSAGES, false)?;
    }
    unread::write(out, page.summary, page.report)?;
    run::write(out, page.summary)?;
    end(out, None)
}

/// Writes the top of the page: the result in one sentence, as a bar, and as tiles with the counts.
fn write_head(
    out: &mut dyn Write,
    page: &PassagesPage<'_>,
    title: &EscapedLine<'_>,
) -> io::Result<()> {
    let PassagesPage { repeated_words, later_words, .. } = *page;
    let words = page.repetition.words;
    let read = page.summary.read.first();
    writeln!(
        out,
        "<header>\n<p class=\"eyebrow\">Repeated passages</p>\n<h1>{title}</h1>\n\
         <p class=\"lead\"><strong>{}</strong> of {} in {} are in {}.</p>",
        share(repeated_words, words),
        counted(words, "word"),
        counted(read.documents, "document"),
        counted(page.passages, "repeated passage")
    )?;
    write_losses(out, page.summary)?;
    // The three counts add up to all words of the collection.
    let parts = [
        ("kept", "not repeated", words.saturating_sub(repeated_words)),
        ("passed", "first copies", repeated_words.saturating_sub(later_words)),
        ("removed", "later copies", later_words),
    ];
    write_parts(out, "Words by repetition", "word", &parts)?;
    out.write_all(b"<ul class=\"legend\">\n")?;
    for (class, name, count) in parts.into_iter().filter(|part| part.2 > 0) {
        let (count, part) = (grouped(count), share(count, words));
        writeln!(
            out,
            "<li class=\"{class}\">{name} {count} <span class=\"quiet\">{part}</span></li>"
        )?;
    }
    out.write_all(b"</ul>\n")?;
    // The names of the tiles are those of the fields in the summary.
    let tile = |key, name, count, notes| Tile { key, name, count: Some(count), notes };
    let of_words = |count| vec![share(count, words)];
    let text = vec![format!("{} of text", bytes(read.text_bytes))];
    let whole = vec![format!("{} of them whole documents", grouped(page.whole_documents))];
    let tiles = [
        tile("documents", "documents", read.documents, text),
        tile("words", "words", words, Vec::new()),
        tile("passages", "passages", page.passages, whole),
        tile("repeated_words", "repeated words", repeated_words, of_words(repeated_words)),
        tile("later_words", "words in later copies", later_words, of_words(later_words)),
        tile("cut_words", "words cut", page.cut_words, of_words(page.cut_words)),
        tile("removed_documents", "documents removed", page.removed_documents, Vec::new()),
    ];
    write_tiles(out, tiles.into_iter())?;
    out.write_all(b"</header>\n")
}

/// Writes the table of the shares of words that are repeated in few or many documents.
fn write_levels(out: &mut dyn Write, repetition: &RepetitionSummary) -> io::Result<()> {
    let RepetitionSummary { noun, words, levels, .. } = repetition;
    writeln!(
        out,
        "<h2>Repeated in how many {noun}s</h2>\n<p class=\"quiet\">Words in passages, by the number of \
         {noun}s with the same words. Each line includes the lines below it.</p>"
    )?;
    let head = format!(
        "<th>{noun}s</th><th class=\"n\">words</th><th class=\"n\">of all</th><th class=\"share\"></th>"
    );
    begin_table(out, "words by number of documents", &head)?;
    for (number, level) in levels.iter().enumerate() {
        // The first level is the least number with which words count as repeated.
        let documents = u64::from(level.documents);
        let name = if number == 0 {
            format!("{} or more", grouped(documents))
        } else {
            format!("more than {}", grouped(documents - 1))
        };
        writeln!(
            out,
            "<tr><td>{name}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}</tr>",
            grouped(level.words),
            share(level.words, *words),
            bar(level.words, *words)
        )?;
    }
    end_table(out)
}

/// Writes the texts that are repeated most.
fn write_texts(out: &mut dyn Write, repetition: &RepetitionSummary) -> io::Result<()> {
    if repetition.texts.is_empty() {
        return Ok(());
    }
    let noun = repetition.noun;
    writeln!(
        out,
        "<h2>Most repeated texts</h2>\n<p class=\"quiet\">The greatest products of words and {noun}s come \
         first. Each text is shown at its first place.</p>"
    )?;
    repetition.texts.iter().try_for_each(|text| write_text(out, text, noun))
}

fn write_text(out: &mut dyn Write, text: &RepeatedText, noun: &str) -> io::Result<()> {
    let RepeatedText { documents, words, name, bytes, text } = text;
    // Long texts are shown up to their first bytes only.
    let is_cut = (text.len() as u64) < bytes.end.saturating_sub(bytes.start);
    let gap = if is_cut { "<span class=\"gap\"> … </span>" } else { "" };
    writeln!(
        out,
        "<article class=\"example\">\n<header><div>\n<div><span class=\"quiet\">first</span> {} \
         <span class=\"quiet\">in {}, record {}, byte {}</span></div>\n</div><strong>{} in {}</strong></header>\n\
         <div class=\"text\" dir=\"auto\" tabindex=\"0\" role=\"region\" aria-label=\"the text\">{}{gap}</div>\n\
         </article>",
        EscapedName(&name.id, 72),
        EscapedName(&name.file, 48),
        name.record,
        bytes.start,
        counted(*words, "word"),
        counted(u64::from(*documents), noun),
        EscapedLines(&String::from_utf8_lossy(text))
    )
}
