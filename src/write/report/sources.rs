//! Writes the table of the files or folders from which documents were removed. The columns are the files or
//! folders of the documents that are kept in their place.

use super::escape::EscapedName;
use super::tables::{begin_table, end_table, share};
use super::{Source, Sources};
use crate::write::summary::Summary;
use simtool_base::quantity::grouped;
use std::io::{self, Write};

/// Maximum number of characters that the page shows of the name of a file or folder.
const NAME: usize = 44;

/// Writes the section about the sources. Writes nothing if no document was removed.
pub(super) fn write(out: &mut dyn Write, summary: &Summary, sources: &Sources) -> io::Result<()> {
    if sources.rows.is_empty() || summary.removed == 0 {
        return Ok(());
    }
    out.write_all(b"<h2>Who repeats whom</h2>\n")?;
    // If there is only one source, the counts at the top of the page already show everything.
    let has_columns = sources.rows.len() > 1 || sources.columns.len() > 1 || summary.is_match();
    if has_columns {
        write_columns(out, sources)?;
    }
    let columns = if has_columns { &sources.columns[..] } else { &[] };
    // The number of columns is limited, so some kept documents are in a source without a column.
    let has_others =
        has_columns && sources.rows.iter().any(|source| removed_for_others(source) > 0);
    begin_table(out, "who repeats whom", &heading(columns.len(), has_others))?;
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
        more => writeln!(
            out,
            "<p class=\"quiet\">And {} more, with no more removed documents than these.</p>",
            grouped(more)
        ),
    }
}

/// Returns the heading of a table with `columns` lettered columns, and with a column for all other
/// sources if `has_others` is true.
fn heading(columns: usize, has_others: bool) -> String {
    let mut head = "<th>source</th><th class=\"n\">documents</th><th class=\"n\">removed</th>\
                    <th class=\"n\">rate</th>"
        .to_owned();
    for at in 0..columns {
        head.push_str("<th class=\"n\">for ");
        head.push(letter(at));
        head.push_str("</th>");
    }
    if has_others {
        head += "<th class=\"n\">for others</th>";
    }
    head
}

/// Returns how many documents of `source` were removed for documents of sources without a column.
fn removed_for_others(source: &Source) -> u64 {
    source.removed.saturating_sub(source.repeats.iter().fold(0, |a, b| a.saturating_add(*b)))
}

/// Begins the table row of `source` with its name and its counts. `own_letter` is the letter of its column.
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

/// Writes the table cell for `count` of the `removed` documents of a source.
fn write_count(out: &mut dyn Write, count: u64, removed: u64) -> io::Result<()> {
    // The colour does not go beyond 60 percent, so that the number on it stays readable.
    let heat = (u128::from(count) * 60 / u128::from(removed.max(1))).min(60);
    let count = if count == 0 { "·".to_owned() } else { grouped(count) };
    write!(out, "<td class=\"n heat\" style=\"--heat:{heat}%\">{count}</td>")
}

/// Writes the explanation of the table of sources, and the list of its columns with their names.
fn write_columns(out: &mut dyn Write, sources: &Sources) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"quiet\">For each file or folder: how many documents were removed, and where \
         the documents are that were kept in their place. The columns are{}:</p>\n\
         <ol class=\"columns\">",
        if sources.is_one_collection { "" } else { " files or folders of the corpus" }
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
