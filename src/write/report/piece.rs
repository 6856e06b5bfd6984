//! The charts of the page as a piece of another one, such as a notebook.

use super::{Report, head, histograms};
use crate::write::summary::Summary;
use std::io::{self, Write};

/// The class of the piece, to which its style is bound.
const CLASS: &str = "simtool";
/// Colours, and how charts look.
const STYLE: &str = include_str!("charts.css");
/// What the page's body has, and the room between bar and charts.
const OF_PIECE: &str = "& { padding: 1px 1rem 1rem; background: var(--page); color: var(--ink); }\n\
                        .charts { margin-top: 1.2rem; }";

/// Writes what was found in a sentence, what became of the documents, and how alike they are, as an
/// element with a style of its own that leaves the page around it as it is.
///
/// # Errors
///
/// Those of `out`.
pub fn write_charts(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    // Nested rules are of what is in the element, and its own are those of the page's root.
    let style = STYLE.replace(":root", "&");
    write!(
        out,
        "<div class=\"{CLASS}\">\n<style>\n.{CLASS} {{\n{style}{OF_PIECE}\n}}\n</style>\n<p class=\"lead\">{}</p>\n",
        head::lead(summary)
    )?;
    head::write_shares(out, summary)?;
    histograms::write_figures(out, summary, report)?;
    out.write_all(b"</div>\n")
}
