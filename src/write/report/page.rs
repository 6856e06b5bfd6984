//! Writes the HTML page about a run from top to bottom.

use super::escape::{EscapedLine, shortened};
use super::{Report, clusters, examples, head, histograms, levels, run, sources, unread};
use crate::write::summary::Summary;
use std::io::{self, Write};

/// Style sheet of all pages, for light and dark mode.
pub(in crate::write) const STYLE: &str =
    concat!(include_str!("charts.css"), include_str!("page.css"));
/// Script of the page, which searches the clusters by ID.
pub(super) const SCRIPT: &str = include_str!("page.js");
/// SHA-256 hash of the script. The content security policy of the page allows only the script with this hash.
pub(super) const SCRIPT_HASH: &str = "dUEzn/rX/uf0S19+6GgmpIjhOPCPCZxZk+kgAJPIBDI=";

/// Maximum number of characters of the name of a collection in the title of the page.
const TITLE: usize = 90;

/// Writes the whole HTML page about a run.
///
/// # Errors
///
/// `out` fails.
pub fn write_report(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    let titles = report.titles.iter().map(|title| shortened(title.as_bytes(), TITLE).text);
    let title = titles.collect::<Vec<_>>().join(" in ");
    let title = EscapedLine(title.as_bytes());
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'sha256-{SCRIPT_HASH}'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title} · simtool</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )?;
    head::write(out, summary, &title)?;
    out.write_all(b"<main>\n")?;
    histograms::write(out, summary, report)?;
    levels::write(out, summary)?;
    clusters::write(out, summary, report)?;
    sources::write(out, summary, &report.sources)?;
    examples::write(out, summary, report)?;
    unread::write(out, summary, report)?;
    run::write(out, summary)?;
    write!(
        out,
        "</main>\n<footer>Made by simtool {}. This page is one file and loads nothing; its one \
         script is the search by ID.</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}
