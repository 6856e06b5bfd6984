//! Writes the page about evaluation items that documents contain.

use super::charts::write_parts;
use super::escape::{EscapedLine, EscapedName};
use super::examples::{write_example, write_legend};
use super::head::{Tile, write_losses, write_tiles};
use super::page::{TITLE, begin, end};
use super::sources::{ITEMS, write_table};
use super::tables::{bar, begin_table, end_table, share};
use super::wording::ITEM;
use super::{Name, Report, run, unread};
use crate::write::excerpt::excerpt;
use crate::write::item_source::ItemSource;
use crate::write::shortened::shortened;
use crate::write::summary::Summary;
use simtool_base::quantity::{bytes, counted, grouped};
use std::io::{self, Write};

/// Maximum number of rows of the table of files with items.
const FILES: usize = 50;
/// Maximum number of characters of the name of a file or an item.
const NAME: usize = 48;

/// Content of the page about evaluation items.
#[derive(Debug)]
pub(crate) struct ContaminationPage<'p> {
    /// Settings, times and faults of the run, and counts of the documents and items that were read.
    pub(crate) summary: &'p Summary,
    /// Titles of the items and of the documents, examples, bad records, and the table of sources.
    pub(crate) report: &'p Report,
    /// Counts of each file of evaluation items.
    pub(crate) sources: &'p [ItemSource],
    /// Evaluation items that the greatest numbers of documents contain.
    pub(crate) most: &'p [FoundItem],
    /// Number of documents that contain an item.
    pub(crate) found_documents: u64,
    /// Number of documents that were left out of the copies of the files.
    pub(crate) dropped: u64,
    /// Number of documents from which the words of items were cut in the copies of the files.
    pub(crate) cut: u64,
    /// Number of documents that were copied whole, with their items.
    pub(crate) uncut: u64,
}

/// An evaluation item that documents contain.
#[derive(Debug)]
pub(crate) struct FoundItem {
    /// Name of the item.
    pub(crate) name: Name,
    /// Number of words of the item.
    pub(crate) words: u32,
    /// Number of documents that contain the item.
    pub(crate) documents: u64,
    /// Beginning of the text of the item.
    pub(crate) text: Vec<u8>,
}

/// Writes the page about evaluation items.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn write_contamination_page(
    out: &mut dyn Write,
    page: &ContaminationPage<'_>,
) -> io::Result<()> {
    let titles = page.report.titles.iter().map(|title| shortened(title.as_bytes(), TITLE).text);
    let title = titles.collect::<Vec<_>>().join(" in ");
    let title = EscapedLine(title.as_bytes());
    // The page lists no clusters, so it needs no script that searches them.
    begin(out, &title, None)?;
    write_head(out, page, &title)?;
    out.write_all(b"<main>\n")?;
    write_files(out, page)?;
    if !page.most.is_empty() {
        write_table(out, &page.report.sources, &ITEMS, true)?;
        write_most(out, page)?;
        out.write_all(b"<h2>Examples</h2>\n")?;
        let order = "Smallest shares first, one for each item. If these are no copies of the items, use a greater \
                     <code>--share</code>.";
        write_legend(out, order, &ITEM)?;
        page.report.examples.iter().try_for_each(|example| write_example(out, example, &ITEM))?;
    }
    unread::write(out, page.summary, page.report)?;
    run::write(out, page.summary)?;
    end(out, None)
}

/// Writes the top of the page: the result in one sentence, as a bar, and as tiles with the counts.
fn write_head(
    out: &mut dyn Write,
    page: &ContaminationPage<'_>,
    title: &EscapedLine<'_>,
) -> io::Result<()> {
    // The documents are the first side of the summary, and the items the second one.
    let [read, items] = [page.summary.read.first(), page.summary.read.second()];
    let found_items: u64 = page.sources.iter().map(|source| source.found_items).sum();
    let hits: u64 = page.sources.iter().map(|source| source.hits).sum();
    let with_items = page.found_documents;
    writeln!(
        out,
        "<header>\n<p class=\"eyebrow\">Evaluation items in documents</p>\n<h1>{title}</h1>\n\
         <p class=\"lead\"><strong>{}</strong> of {} ({}) are in {} of {}.</p>",
        grouped(found_items),
        counted(items.documents, "item"),
        share(found_items, items.documents),
        grouped(with_items),
        counted(read.documents, "document")
    )?;
    write_losses(out, page.summary)?;
    let parts = [
        ("kept", "without items", read.documents.saturating_sub(with_items)),
        ("removed", "with items", with_items),
    ];
    write_parts(out, "Documents by result", "document", &parts)?;
    out.write_all(b"<ul class=\"legend\">\n")?;
    for (class, name, count) in parts.into_iter().filter(|part| part.2 > 0) {
        let (count, part) = (grouped(count), share(count, read.documents));
        writeln!(
            out,
            "<li class=\"{class}\">{name} {count} <span class=\"quiet\">{part}</span></li>"
        )?;
    }
    out.write_all(b"</ul>\n")?;
    let ContaminationPage { dropped, cut, uncut, .. } = *page;
    let tile = |key, name, count, notes| Tile { key, name, count: Some(count), notes };
    let text = vec![format!("{} of text", bytes(read.text_bytes))];
    let of_items = vec![share(found_items, items.documents)];
    // The names of the tiles are those of the fields in the summary.
    let tiles = [
        tile("items", "items", items.documents, Vec::new()),
        tile("found_items", "items found", found_items, of_items),
        tile("hits", "pairs of item and document", hits, Vec::new()),
        tile("documents", "documents", read.documents, text),
        tile("found_documents", "documents with items", with_items, Vec::new()),
        tile("dropped_documents", "left out of the copies", dropped, Vec::new()),
        tile("cut_documents", "cut in the copies", cut, Vec::new()),
        tile("uncut_documents", "copied with items", uncut, Vec::new()),
    ];
    write_tiles(out, tiles.into_iter())?;
    out.write_all(b"</header>\n")
}

/// Writes the table of the files of items.
fn write_files(out: &mut dyn Write, page: &ContaminationPage<'_>) -> io::Result<()> {
    let documents = page.summary.read.first().documents;
    out.write_all(
        b"<h2>Files of items</h2>\n<p class=\"quiet\">Common items are in at least 1 % of the documents and in \
          10 of them. So many documents can hardly have copied them.</p>\n",
    )?;
    let head = "<th>file</th><th class=\"n\">items</th><th class=\"n\">found</th><th class=\"n\">of all</th>\
                <th class=\"share\"></th><th class=\"n\">documents</th><th class=\"n\">common items</th>";
    begin_table(out, "files of items", head)?;
    // A file of which many documents have items is named, as in the notes on the terminal.
    for source in page.sources.iter().take(FILES) {
        let remark = if source.is_suspicious(documents) { " (a template?)" } else { "" };
        writeln!(
            out,
            "<tr><td class=\"source\">{}{remark}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td>{}<td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            EscapedName(source.file.as_bytes(), NAME),
            grouped(source.items),
            grouped(source.found_items),
            share(source.found_items, source.items),
            bar(source.found_items, source.items),
            grouped(source.found_documents),
            grouped(source.common_items)
        )?;
    }
    end_table(out)?;
    match page.sources.len().saturating_sub(FILES) {
        0 => Ok(()),
        more => {
            let more = counted(more as u64, "file");
            writeln!(out, "<p class=\"quiet\">And {more}: see <code>summary.json</code>.</p>")
        }
    }
}

/// Writes the table of the items that most documents contain.
fn write_most(out: &mut dyn Write, page: &ContaminationPage<'_>) -> io::Result<()> {
    let documents = page.summary.read.first().documents;
    out.write_all(b"<h2>Items in most documents</h2>\n")?;
    let head = "<th>item</th><th class=\"n\">words</th><th class=\"n\">documents</th><th class=\"n\">of all</th>";
    begin_table(out, "items in most documents", head)?;
    for FoundItem { name, words, documents: count, text } in page.most {
        writeln!(
            out,
            "<tr><td class=\"source\">{} <span class=\"quiet\">in {}</span><div dir=\"auto\">{}</div></td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            EscapedName(&name.id, NAME),
            EscapedName(&name.file, NAME),
            EscapedLine(excerpt(&String::from_utf8_lossy(text), 0).as_bytes()),
            grouped(u64::from(*words)),
            grouped(*count),
            share(*count, documents)
        )?;
    }
    end_table(out)
}
