//! Writes the HTML page about a run from top to bottom.

use super::escape::EscapedLine;
use super::{Report, clusters, examples, head, histograms, levels, run, sources, unread};
use crate::write::shortened::shortened;
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
pub(super) const TITLE: usize = 90;

/// Script of a page, and its SHA-256 hash.
pub(super) struct Script {
    code: &'static str,
    hash: &'static str,
}

/// The script that searches the clusters by ID.
const SEARCH: Script = Script { code: SCRIPT, hash: SCRIPT_HASH };

/// Writes the whole HTML page about a run.
///
/// # Errors
///
/// `out` fails.
pub fn write_report(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    let titles = report.titles.iter().map(|title| shortened(title.as_bytes(), TITLE).text);
    let title = titles.collect::<Vec<_>>().join(" in ");
    let title = EscapedLine(title.as_bytes());
    begin(out, &title, Some(&SEARCH))?;
    head::write(out, summary, &title)?;
    out.write_all(b"<main>\n")?;
    histograms::write(out, summary, report)?;
    levels::write(out, summary)?;
    clusters::write(out, summary, report)?;
    if summary.removed > 0 {
        sources::write_table(out, &report.sources, &sources::DOCUMENTS, summary.is_match())?;
    }
    examples::write(out, summary, report)?;
    unread::write(out, summary, report)?;
    run::write(out, summary)?;
    end(out, Some(&SEARCH))
}

/// Writes the start of a page, up to the start of its body. The page may run only `script`, or no script if it is
/// `None`.
pub(super) fn begin(
    out: &mut dyn Write,
    title: &EscapedLine<'_>,
    script: Option<&Script>,
) -> io::Result<()> {
    let policy = script.map(|Script { hash, .. }| format!("; script-src 'sha256-{hash}'"));
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title} · simtool</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        policy.unwrap_or_default()
    )
}

/// Writes the end of a page: the end of its main part, the footer, and `script` if there is one.
pub(super) fn end(out: &mut dyn Write, script: Option<&Script>) -> io::Result<()> {
    write!(
        out,
        "</main>\n<footer>Made by simtool {}. This page is one file and loads nothing",
        env!("CARGO_PKG_VERSION")
    )?;
    match script {
        Some(Script { code, .. }) => write!(
            out,
            "; its one script is the search by ID.</footer>\n<script>{code}</script>\n</body>\n</html>\n"
        ),
        None => out.write_all(b".</footer>\n</body>\n</html>\n"),
    }
}
