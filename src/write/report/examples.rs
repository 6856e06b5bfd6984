//! Shows pairs of a removed and a kept document, with their differences marked.

use super::escape::{EscapedLine, EscapedLines, EscapedName};
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
    out.write_all(
        b"<p class=\"quiet\">Least similar pairs first, among documents that can be read again \
          quickly. Different words are marked: <mark class=\"only-kept\">only in the kept \
          document</mark>, <mark class=\"only-removed\">only in the removed one</mark>.</p>\n",
    )?;
    report.examples.iter().take(EXAMPLES).try_for_each(|example| write_example(out, example))
}

fn write_example(out: &mut dyn Write, example: &Example) -> io::Result<()> {
    out.write_all(b"<article class=\"example\">\n<header><div>\n")?;
    for (what, name) in [("kept", &example.kept), ("removed", &example.removed)] {
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
        write_piece(out, piece)?;
    }
    out.write_all(b"</div>\n</article>\n")
}

fn write_piece(out: &mut dyn Write, piece: Piece<'_>) -> io::Result<()> {
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
            "<span class=\"gap\"> … not shown: {} of the kept document, {} of the removed one … \
             </span>",
            words(left),
            words(right)
        ),
    }
}
