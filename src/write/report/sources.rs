//! Writes the table of the files or folders from which documents were removed. The columns are the files or
//! folders of the documents that are kept in their place. The page about passages has the same table of words.

use super::escape::EscapedName;
use super::tables::{begin_table, end_table, share};
use super::{Source, Sources};
use simtool_base::quantity::grouped;
use std::io::{self, Write};

/// Maximum number of characters that the page shows of the name of a file or folder.
const NAME: usize = 44;

/// Texts of a table of sources, which depend on the things that it counts, for example documents or words.
pub(super) struct Wording {
    /// Heading of the table.
    title: &'static str,
    /// Heading of the column with the number of all things of a source, for example `documents`.
    all: &'static str,
    /// Heading of the column with the number of repeated things of a source, for example `removed`.
    repeated: &'static str,
    /// Preposition before the letter that names a column, for example `for` in the heading `for A`.
    column: &'static str,
    /// Text that explains the columns if they are sources of another collection than the rows, for example `files or
    /// folders of the corpus`.
    columns: &'static str,
    /// Explanation of the table.
    about: &'static str,
    /// Remark on the sources that the table leaves out, after their number: for example `with no more removed documents
    /// than these`.
    rest: &'static str,
}

/// Words of the table of removed documents.
pub(super) const DOCUMENTS: Wording = Wording {
    title: "Who repeats whom",
    all: "documents",
    repeated: "removed",
    column: "for",
    columns: " files or folders of the corpus",
    about: "how many documents were removed, and where the documents are that were kept in their place",
    rest: "with no more removed documents than these",
};

/// Words of the table of repeated words.
pub(super) const PASSAGES: Wording = Wording {
    title: "Who repeats whom",
    all: "words",
    repeated: "repeated",
    column: "also in",
    columns: "",
    about: "how many words are in passages, and where another copy of them is",
    rest: "with no more repeated words than these",
};

/// Words of the table of documents that contain items.
pub(super) const ITEMS: Wording = Wording {
    title: "Where the items are",
    all: "documents",
    repeated: "with items",
    column: "of",
    columns: " files or folders of items",
    about: "how many documents contain an item, and where the item is of which a document has the greatest share",
    rest: "with no more such documents than these",
};

/// Writes the section about the sources. Writes nothing if there are no sources.
pub(super) fn write_table(
    out: &mut dyn Write,
    sources: &Sources,
    wording: &Wording,
    is_match: bool,
) -> io::Result<()> {
    // If there is only one source, the counts at the top of the page already show everything.
    let has_columns = sources.rows.len() > 1 || sources.columns.len() > 1 || is_match;
    if sources.rows.is_empty() || !has_columns {
        return Ok(());
    }
    writeln!(out, "<h2>{}</h2>", wording.title)?;
    write_columns(out, sources, wording)?;
    let columns = &sources.columns[..];
    // The number of columns is limited, so some kept documents are in a source without a column.
    let has_others = sources.rows.iter().any(|source| removed_for_others(source) > 0);
    begin_table(out, &wording.title.to_lowercase(), &heading(columns.len(), has_others, wording))?;
    for source in &sources.rows {
        let column = columns.iter().position(|column| *column == source.name);
        // In a match, a row and a column with the same name are different sources.
        let own_letter = column.filter(|_| sources.is_one_collection).map(letter);
        write_source(out, source, own_letter)?;
        let others = has_others.then(|| removed_for_others(source));
        for count in source.repeats.iter().take(columns.len()).copied().chain(others) {
            write_count(out, count, source.removed)?;
        }
        out.write_all(b"</tr>\n")?;
    }
    end_table(out)?;
    match sources.sources.saturating_sub(sources.rows.len() as u64) {
        0 => Ok(()),
        more => {
            writeln!(out, "<p class=\"quiet\">And {} more, {}.</p>", grouped(more), wording.rest)
        }
    }
}

/// Returns the heading of a table with `columns` lettered columns, and with a column for all other
/// sources if `has_others` is true.
fn heading(columns: usize, has_others: bool, wording: &Wording) -> String {
    let Wording { all, repeated, column, .. } = wording;
    let letters = (0..columns).map(|at| letter(at).to_string());
    let others = has_others.then(|| "others".to_owned());
    let columns = letters.chain(others).map(|name| format!("{column} {name}"));
    let numbers = [(*all).to_owned(), (*repeated).to_owned(), "rate".to_owned()];
    let heads =
        numbers.into_iter().chain(columns).map(|name| format!("<th class=\"n\">{name}</th>"));
    "<th>source</th>".to_owned() + &heads.collect::<String>()
}

/// Returns how many documents of `source` were removed for documents of sources without a column.
fn removed_for_others(source: &Source) -> u64 {
    source.removed.saturating_sub(source.repeats.iter().fold(0, |a, b| a.saturating_add(*b)))
}

/// Begins the table row of `source` with its name and its counts. `own_letter` is the letter of the column for the same
/// source. It is `None` if there is no such column.
fn write_source(out: &mut dyn Write, source: &Source, own_letter: Option<char>) -> io::Result<()> {
    write!(
        out,
        "<tr><td class=\"source\">{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td>",
        own_letter.map(|letter| format!("{letter}. ")).unwrap_or_default(),
        EscapedName(&source.name, NAME),
        grouped(source.documents),
        grouped(source.removed),
        share(source.removed, source.documents)
    )
}

/// Writes a table cell with `count`. Its colour shows the share of `count` in `removed`, the number of removed
/// documents of the source.
fn write_count(out: &mut dyn Write, count: u64, removed: u64) -> io::Result<()> {
    // The colour does not go beyond 60 percent, so that the number on it stays readable.
    let heat = (u128::from(count) * 60 / u128::from(removed.max(1))).min(60);
    let count = if count == 0 { "·".to_owned() } else { grouped(count) };
    write!(out, "<td class=\"n heat\" style=\"--heat:{heat}%\">{count}</td>")
}

/// Writes the explanation of the table of sources, and the list of its columns with their names.
fn write_columns(out: &mut dyn Write, sources: &Sources, wording: &Wording) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"quiet\">For each file or folder: {}. The columns are{}:</p>\n\
         <ol class=\"columns\">",
        wording.about,
        if sources.is_one_collection { "" } else { wording.columns }
    )?;
    for column in &sources.columns {
        writeln!(out, "<li>{}</li>", EscapedName(column, NAME))?;
    }
    out.write_all(b"</ol>\n")
}

/// Returns the letter that names a column of the table of sources. `at` is the number of the column, counted
/// from 0. There are fewer columns than letters.
fn letter(at: usize) -> char {
    char::from(b'A' + (at % 26) as u8)
}
