//! Writes the table of the files or folders from which documents were removed. The columns are the files or
//! folders of the documents that are kept in their place.

use super::escape::Cut;
use super::tables::{begin_table, end_table, share};
use super::{Source, Sources};
use crate::write::summary::Summary;
use simtool_base::quantity::grouped;
use std::io::{self, Write};

/// Maximum number of characters that the page shows of the name of a file or folder.
const NAME: usize = 44;

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
    let mut head = "<th>source</th><th class=\"n\">documents</th><th class=\"n\">removed</th>\
                    <th class=\"n\">rate</th>"
        .to_owned();
    let columns = if has_columns { &sources.columns[..] } else { &[] };
    for at in 0..columns.len() {
        head.push_str("<th class=\"n\">for ");
        head.push(letter(at));
        head.push_str("</th>");
    }
    // The number of columns is limited, so some kept documents are in a source without a column.
    let of_others = |source: &Source| {
        source.removed.saturating_sub(source.repeats.iter().fold(0, |a, b| a.saturating_add(*b)))
    };
    let has_others = has_columns && sources.rows.iter().any(|source| of_others(source) > 0);
    if has_others {
        head += "<th class=\"n\">for others</th>";
    }
    begin_table(out, "who repeats whom", &head)?;
    for source in &sources.rows {
        let own_letter = columns.iter().position(|column| *column == source.name);
        // In a match, a row and a column with the same name are different sources.
        let own_letter = own_letter.filter(|_| sources.is_one_collection).map(letter);
        write!(
            out,
            "<tr><td class=\"source\">{}{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td>",
            own_letter.map(|letter| format!("{letter}. ")).unwrap_or_default(),
            Cut(&source.name, NAME),
            grouped(source.documents),
            grouped(source.removed),
            share(source.removed, source.documents)
        )?;
        let others = has_others.then(|| of_others(source));
        for count in source.repeats.iter().take(columns.len()).copied().chain(others) {
            // The colour does not go beyond 60 percent, so that the number on it stays readable.
            let heat = (u128::from(count) * 60 / u128::from(source.removed.max(1))).min(60);
            let count = if count == 0 { "·".to_owned() } else { grouped(count) };
            write!(out, "<td class=\"n heat\" style=\"--heat:{heat}%\">{count}</td>")?;
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
        writeln!(out, "<li>{}</li>", Cut(column, NAME))?;
    }
    out.write_all(b"</ol>\n")
}

/// Returns the letter that names a column of the table of sources. `at` is the number of the column, counted
/// from 0. There are fewer columns than letters.
fn letter(at: usize) -> char {
    char::from(b'A' + (at % 26) as u8)
}
