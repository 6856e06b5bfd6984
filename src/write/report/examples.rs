//! Shows pairs of a removed and a kept document, with their differences marked.

use super::escape::{EscapedLine, EscapedLines, EscapedName};
use super::wording::Wording;
use super::{EXAMPLES, Example, Name, Report};
use crate::write::summary::Summary;
use crate::write::text_difference::{Piece, Shown, text_difference};
use simtool_base::quantity::counted;
use std::io::{self, Write};

/// Limits on the number of words that the page shows of each example, which is a pair of a removed and a kept
/// document.
const SHOWN: Shown = Shown { context: 12, words: 300 };

pub(super) fn write(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    if summary.removed == 0 {
        return Ok(());
    }
    out.write_all(b"<h2>Examples</h2>\n")?;
    if report.examples.is_empty() {
        return out.write_all(
            b"<p class=\"quiet\">None: the texts are deep inside large compressed files, and reading \
              them again would take long. The commands under the clusters compare any two \
              documents.</p>\n",
        );
    }
    let wording = Wording::of(summary);
    let order = "Least similar pairs first, among documents that can be read again quickly.";
    write_legend(out, order, wording)?;
    let mut examples = report.examples.iter().take(EXAMPLES);
    examples.try_for_each(|example| write_example(out, example, wording))
}

/// Writes the order of the examples, and the meaning of the marks in them.
pub(super) fn write_legend(out: &mut dyn Write, order: &str, wording: &Wording) -> io::Result<()> {
    writeln!(
        out,
        "<p class=\"quiet\">{order} Different words are marked: \
         <mark class=\"only-kept\">only in {}</mark>, \
         <mark class=\"only-removed\">only in the {}</mark>.</p>",
        wording.other, wording.similar
    )
}

pub(super) fn write_example(
    out: &mut dyn Write,
    example: &Example,
    wording: &Wording,
) -> io::Result<()> {
    out.write_all(b"<article class=\"example\">\n<header><div>\n")?;
    for (what, name) in wording.labels.into_iter().zip([&example.kept, &example.removed]) {
        let Name { id, file, record } = name;
        writeln!(
            out,
            "<div><span class=\"quiet\">{what}</span> {} <span class=\"quiet\">in {}, record \
             {record}</span></div>",
            EscapedName(id, 72),
            EscapedName(file, 48)
        )?;
    }
    let closeness = EscapedLine(example.closeness.as_bytes());
    write!(
        out,
        "</div><strong>{closeness}</strong></header>\n<div class=\"text\" dir=\"auto\" \
         tabindex=\"0\" role=\"region\" aria-label=\"the two texts\">"
    )?;
    let [left, right] =
        [&example.kept_text, &example.removed_text].map(|text| String::from_utf8_lossy(text));
    for piece in text_difference(&left, &right, SHOWN) {
        write_piece(out, piece, wording)?;
    }
    out.write_all(b"</div>\n</article>\n")
}

fn write_piece(out: &mut dyn Write, piece: Piece<'_>, wording: &Wording) -> io::Result<()> {
    // White space after a word is not marked.
    let marked = |out: &mut dyn Write, class, text: &str| {
        let word = text.trim_end();
        let space = &text[word.len()..];
        write!(out, "<mark class=\"{class}\">{}</mark>{}", EscapedLines(word), EscapedLines(space))
    };
    let words = |count| counted(count as u64, "word");
    match piece {
        Piece::Both(text) => write!(out, "{}", EscapedLines(text)),
        Piece::Left(text) => marked(out, "only-kept", text),
        Piece::Right(text) => marked(out, "only-removed", text),
        Piece::Equal(count) => {
            write!(out, "<span class=\"gap\"> … {} equal … </span>", words(count))
        }
        Piece::Unread(left, right) => write!(
            out,
            "<span class=\"gap\"> … not shown: {} of {}, {} of the {} … </span>",
            words(left),
            wording.other,
            words(right),
            wording.similar
        ),
    }
}
