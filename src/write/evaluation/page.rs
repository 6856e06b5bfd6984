//! Writes an evaluation as an HTML page for people.
//!
//! The page is one file without scripts that loads nothing. It supports light and dark mode. Text from the
//! input is escaped.

use super::plots::{self, CURVES, DARK_CURVES};
use super::table::columns;
use crate::write::report::{EscapedLine, EscapedLines, EscapedName, STYLE};
use crate::write::text_difference::{Piece, Shown, text_difference};
use simtool_base::quantity::{counted, grouped};
use simtool_model::evaluation::{Evaluated, Evaluation, WrongPair};
use std::io::{self, Write};

/// Limits on the excerpt that the page shows of each wrong pair. A wrong pair is a false pair that the best
/// method found, or a true pair that it missed.
const SHOWN: Shown = Shown { context: 10, words: 160 };
/// Maximum number of wrong pairs on the page. Wrong pairs are false pairs that the best method found, and
/// true pairs that it missed.
const WRONG: usize = 60;

/// Writes `evaluation` as an HTML page.
///
/// # Errors
///
/// `out` fails.
pub fn write_page(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>Methods compared · simtool</title>\n<style>\n{STYLE}{CURVES}\n\
         @media (prefers-color-scheme: dark) {{ {DARK_CURVES} }}\n\
         main > h3 {{ margin-top: 2rem; }} .legend li::before {{ content: none; }} .sample {{ width: 2.5rem; height: .5rem; }}\n</style>\n</head>\n<body>\n\
         <header>\n<p class=\"eyebrow\">simtool eval</p>\n<h1>Methods compared</h1>\n"
    )?;
    write_lead(out, evaluation)?;
    out.write_all(b"</header>\n<main>\n")?;
    write_overview(out, evaluation)?;
    write_collections(out, evaluation)?;
    out.write_all(b"<h2>Thresholds</h2>\n<p class=\"quiet\">A dot is the best threshold of its \
        collection. Precision is the share of the pairs found that are true, recall the share of the \
        true pairs that are found, F1 their harmonic mean.</p>\n")?;
    evaluation.methods.iter().try_for_each(|method| write_method(out, evaluation, method))?;
    write_wrong(out, evaluation)?;
    write!(
        out,
        "</main>\n<footer>Made by simtool {}. This page is one file and loads nothing.</footer>\n\
         </body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

fn write_lead(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let Some(best) = evaluation.best().and_then(|best| evaluation.methods.get(best)) else {
        return Ok(());
    };
    let name = EscapedLine(best.name.as_bytes());
    let (f1, bytes) = (best.headline_f1(), counted(best.bytes_per_document(), "byte"));
    let mean = if evaluation.collections.len() > 1 {
        "on average over the collections, each at the threshold that is best for the others"
    } else {
        "at its best threshold"
    };
    writeln!(
        out,
        "<p class=\"lead\"><strong>{name}</strong> does best: F1 {f1:.3} {mean}, with {bytes} a \
         document.</p>"
    )
}

fn write_overview(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let columns = columns(evaluation);
    out.write_all(b"<h2>F1 by method</h2>\n<div class=\"table\"><table><thead><tr>")?;
    for (number, (name, _)) in columns.iter().enumerate() {
        let class = if number == 0 { "" } else { " class=\"n\"" };
        write!(out, "<th{class}>{}</th>", EscapedLine(name.as_bytes()))?;
    }
    out.write_all(b"</tr></thead><tbody>\n")?;
    for line in 0..evaluation.methods.len() {
        out.write_all(b"<tr>")?;
        for (number, (_, cells)) in columns.iter().enumerate() {
            let class = if number == 0 { "" } else { " class=\"n\"" };
            write!(out, "<td{class}>{}</td>", EscapedLine(cells[line].as_bytes()))?;
        }
        out.write_all(b"</tr>\n")?;
    }
    out.write_all(
        b"</tbody></table></div>\n<p class=\"quiet\">The number after @ is the threshold: the \
          greatest distance or the least similarity.",
    )?;
    if evaluation.collections.len() > 1 {
        out.write_all(
            b" The column \"one threshold\" has the threshold with the greatest mean over all \
              collections. The column \"left out\" has the mean if each collection is measured at the \
              threshold that is best for the other collections.",
        )?;
    }
    out.write_all(b"</p>\n")
}

fn write_collections(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    out.write_all(
        b"<h2>Collections</h2>\n<div class=\"table\"><table><thead><tr><th>collection</th>\
          <th class=\"n\">documents</th><th class=\"n\">true pairs</th>\
          <th class=\"n\">pairs set aside</th></tr></thead><tbody>\n",
    )?;
    for collection in &evaluation.collections {
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             </tr>",
            EscapedLine(collection.name.as_bytes()),
            grouped(collection.documents),
            grouped(collection.positives),
            grouped(collection.set_aside)
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")
}

fn write_method(
    out: &mut dyn Write,
    evaluation: &Evaluation,
    method: &Evaluated,
) -> io::Result<()> {
    let (name, parameters) =
        (EscapedLine(method.name.as_bytes()), EscapedLine(method.parameters.as_bytes()));
    write!(out, "<h3>{name}</h3>\n<p class=\"quiet\"><code>{parameters}</code></p>\n")?;
    if evaluation.collections.len() > 1 {
        out.write_all(b"<ul class=\"legend\">")?;
        for (number, collection) in evaluation.collections.iter().enumerate() {
            let name = EscapedLine(collection.name.as_bytes());
            write!(out, "<li>{} {name}</li>", plots::sample_line(number))?;
        }
        out.write_all(b"</ul>\n")?;
    }
    out.write_all(b"<div class=\"charts\">\n")?;
    let title = |what: &str| format!("{what}, {}", method.name);
    for svg in [
        plots::precision_recall(evaluation, method).svg(&title("Precision and recall"), false),
        plots::f1_by_threshold(evaluation, method).svg(&title("F1 by threshold"), false),
    ] {
        write!(out, "<figure class=\"chart\">\n{svg}</figure>\n")?;
    }
    out.write_all(b"</div>\n")
}

/// Writes the false pairs that the best method found, and the true pairs that it missed.
fn write_wrong(out: &mut dyn Write, evaluation: &Evaluation) -> io::Result<()> {
    let Some(best) = evaluation.best().and_then(|best| evaluation.methods.get(best)) else {
        return Ok(());
    };
    let name = EscapedLine(best.name.as_bytes());
    writeln!(out, "<h2>Mistakes of {name}</h2>")?;
    if evaluation.wrong.is_empty() {
        return out.write_all(b"<p class=\"quiet\">None at its best thresholds.</p>\n");
    }
    out.write_all(
        b"<p class=\"quiet\">At the best threshold of each collection: first the false pairs that are \
          found, closest first; then the true pairs that are missed, farthest first. Different words \
          are marked: <mark class=\"only-kept\">only in the first document</mark>, \
          <mark class=\"only-removed\">only in the second</mark>.</p>\n",
    )?;
    evaluation.wrong.iter().take(WRONG).try_for_each(|wrong| write_pair(out, evaluation, wrong))
}

fn write_pair(out: &mut dyn Write, evaluation: &Evaluation, wrong: &WrongPair) -> io::Result<()> {
    out.write_all(b"<article class=\"example\">\n<header><div>\n")?;
    for id in &wrong.ids {
        writeln!(out, "<div>{}</div>", EscapedName(id, 72))?;
    }
    let collection = evaluation.collections.get(wrong.collection);
    let collection = collection.map_or("", |collection| &collection.name);
    write!(
        out,
        "<div class=\"quiet\">{} in {}, {} of the terms in common</div></div>\
         <strong>{}</strong></header>\n<div class=\"text\" dir=\"auto\" tabindex=\"0\" \
         role=\"region\" aria-label=\"the two texts\">",
        if wrong.is_true { "true but missed" } else { "found but not true" },
        EscapedLine(collection.as_bytes()),
        if wrong.similarity.is_empty() { "none" } else { &wrong.similarity },
        EscapedLine(wrong.closeness.as_bytes())
    )?;
    let [left, right] = [0, 1].map(|at| String::from_utf8_lossy(&wrong.texts[at]));
    for piece in text_difference(&left, &right, SHOWN) {
        write_piece(out, piece)?;
    }
    out.write_all(b"</div>\n</article>\n")
}

fn write_piece(out: &mut dyn Write, piece: Piece<'_>) -> io::Result<()> {
    let gap =
        |out: &mut dyn Write, text: String| write!(out, "<span class=\"gap\"> … {text} … </span>");
    let words = |count| counted(count as u64, "word");
    match piece {
        Piece::Both(text) => write!(out, "{}", EscapedLines(text)),
        Piece::Left(text) => {
            write!(out, "<mark class=\"only-kept\">{}</mark> ", EscapedLines(text.trim_end()))
        }
        Piece::Right(text) => {
            write!(out, "<mark class=\"only-removed\">{}</mark> ", EscapedLines(text.trim_end()))
        }
        Piece::Equal(count) => gap(out, format!("{} equal", words(count))),
        Piece::Unread(left, right) => gap(
            out,
            format!(
                "not shown: {} of the first document, {} of the second",
                words(left),
                words(right)
            ),
        ),
    }
}
