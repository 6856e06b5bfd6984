//! Writes a page with the whole texts of documents, in which the part that is compared is marked.

use super::escape::{EscapedLine, EscapedLines, EscapedName};
use super::page::{TITLE, begin, end};
use crate::write::shortened::shortened;
use crate::write::text_difference::{Piece, marked_text};
use simtool_base::quantity::counted;
use simtool_model::document_name::DocumentName;
use simtool_model::page_text::PageText;
use std::io::{self, Write};

/// A document on the page, with its whole text and the part of the text that is compared.
pub(crate) struct MarkedDocument<'d> {
    pub(crate) name: &'d DocumentName<'d>,
    /// Kind of text that is compared, for example the main content of an HTML page.
    pub(crate) content: PageText,
    /// Number of words that are not compared.
    pub(crate) left_out: u32,
    pub(crate) whole_text: &'d [u8],
    pub(crate) compared_text: &'d [u8],
}

/// Writes the start of the page. `title` names the inputs.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn begin_marked_texts(out: &mut dyn Write, title: &str) -> io::Result<()> {
    let title = shortened(title.as_bytes(), TITLE).text;
    let title = EscapedLine(title.as_bytes());
    begin(out, &title, None)?;
    writeln!(
        out,
        "<header>\n<p class=\"eyebrow\">Texts as they are compared</p>\n<h1>{title}</h1>\n\
         <p class=\"lead\"><mark class=\"compared\">Marked text</mark> is compared. Grey text is not: other parts of web \
         pages, lines that many documents have, and ignored pieces.</p>\n</header>\n<main>\n<h2>Documents</h2>"
    )
}

/// Writes a document as an article of the page.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn write_marked_text(
    out: &mut dyn Write,
    document: &MarkedDocument<'_>,
) -> io::Result<()> {
    let MarkedDocument { name, content, left_out, .. } = document;
    let content = match content {
        PageText::All => "the text is compared",
        PageText::Main => "the main content is compared",
        PageText::Little => "the main content is compared, a small part of the page",
        PageText::Whole => "the whole page is compared, because it has no main content",
        PageText::NoScript => "the text for browsers without scripts is compared",
        PageText::Hidden => "the main content with hidden elements is compared",
    };
    write!(
        out,
        "<article class=\"example\">\n<header><div>{} <span class=\"quiet\">in {}, record {}</span></div></header>\n\
         <p class=\"quiet\">{content}; {} left out</p>\n\
         <div class=\"text\" dir=\"auto\" tabindex=\"0\" role=\"region\" aria-label=\"text\">",
        EscapedName(&name.id, 72),
        EscapedName(name.file_bytes(), 48),
        name.record,
        counted((*left_out).into(), "word")
    )?;
    let texts = [document.whole_text, document.compared_text].map(String::from_utf8_lossy);
    for piece in marked_text(&texts[0], &texts[1]) {
        match piece {
            // Words that only the compared text has are rare. They occur because the main content has other white space
            // than the whole text.
            Piece::Both(text) | Piece::Right(text) => {
                write!(out, "<mark class=\"compared\">{}</mark>", EscapedLines(text))?;
            }
            Piece::Left(text) => {
                write!(out, "<span class=\"quiet\">{}</span>", EscapedLines(text))?;
            }
            Piece::Equal(words) | Piece::Unread(words, _) => write!(
                out,
                "<span class=\"gap\"> … {} not shown … </span>",
                counted(words as u64, "word")
            )?,
        }
    }
    out.write_all(b"</div>\n</article>\n")
}

/// Writes the end of the page.
///
/// # Errors
///
/// `out` fails.
pub(crate) fn end_marked_texts(out: &mut dyn Write) -> io::Result<()> {
    end(out, None)
}
