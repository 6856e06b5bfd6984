//! Writes the charts of the page for use inside another page, such as a notebook.

use super::{Report, head, histograms};
use crate::write::summary::Summary;
use std::io::{self, Write};

/// CSS class of the HTML element that [`write_charts`] writes. The style sheet applies only to this element
/// and its content.
const CLASS: &str = "simtool";
/// Style sheet of the charts.
const STYLE: &str = include_str!("charts.css");
/// Style rules for the background and the margins of the element that [`write_charts`] writes. A whole page
/// does not need them, because its body has such rules.
const OF_PIECE: &str = "& { padding: 1px 1rem 1rem; background: var(--page); color: var(--ink); }\n\
                        .charts { margin-top: 1.2rem; }";

/// Writes one HTML element with the result in one sentence, the shares of kept and removed documents, and the
/// histograms. The style of the element does not affect the page around it.
///
/// # Errors
///
/// `out` fails.
pub fn write_charts(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    // The rules are nested in the class. Rules for the root apply to the element itself (`&`).
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
