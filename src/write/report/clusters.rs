//! Writes the list of the largest clusters, one on each line. Readers can open a line to see the documents of
//! the cluster, with command lines that show more about them.

use super::escape::{EscapedLine, EscapedName};
use super::wording::Wording;
use super::{CLUSTERS, MEMBERS, Name, Preview, Report, ReportCluster};
use crate::write::shared_words::SharedWords;
use crate::write::summary::{Commands, Summary};
use simtool_base::byte_text::byte_text;
use simtool_base::quantity::grouped;
use simtool_base::shell_word::shell_word;
use std::io::{self, Write};

/// Maximum number of characters that the page shows of the preview of a cluster.
const PREVIEW: usize = 180;
/// Maximum number of characters that the page shows of the ID of a document.
const ID: usize = 56;
/// Maximum number of characters that the page shows of the file name of a document.
const PLACE: usize = 40;
/// Maximum number of bytes of a command line that the page shows, counted before quoting. Longer command
/// lines are left out.
const COMMAND: usize = 1000;

pub(super) fn write(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    if report.clusters.is_empty() {
        return Ok(());
    }
    let other = if summary.is_match() { "it" } else { Wording::of(summary).other };
    let title = if summary.is_match() { "What was matched" } else { "The largest clusters" };
    writeln!(
        out,
        "<h2 id=\"clusters\">{title}</h2>\n<p class=\"quiet\">{} Open a line to see its documents, least \
         similar to {other} first.</p>",
        if summary.is_match() {
            "Documents of the corpus, sorted by the number of similar queries."
        } else {
            "Sorted by number of documents."
        }
    )?;
    if let Some(warning) = report.templates().warning() {
        let warning = EscapedLine(warning.as_bytes());
        writeln!(
            out,
            "<p class=\"losses\">{warning}. They are marked \u{201c}template?\u{201d} below.</p>"
        )?;
    }
    write_search(out, summary)?;
    for cluster in report.clusters.iter().take(CLUSTERS) {
        write_cluster(out, summary, cluster)?;
    }
    // The summary counts all clusters, but the report lists only the largest.
    match summary.clusters.saturating_sub(report.clusters.len().min(CLUSTERS) as u64) {
        0 => Ok(()),
        more => writeln!(
            out,
            "<p class=\"quiet\">And {} more, none larger: see <code>clusters.jsonl</code>.</p>",
            grouped(more)
        ),
    }
}

/// Writes the field for searching clusters by ID. It stays hidden until the script of the page shows it,
/// because it needs the script.
fn write_search(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    out.write_all(
        b"<div id=\"search\" hidden=\"hidden\"><label>Search by ID \
          <input id=\"wanted\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"/></label>\
          <p id=\"found\" class=\"quiet\" role=\"status\"></p>",
    )?;
    // If the results do not come from the command line program, there is no command line to show.
    if let Some(Commands { why, .. }) = &summary.commands {
        write!(
            out,
            "<p id=\"ask\" hidden=\"hidden\" data-why=\"{}\"><span class=\"quiet\">To see what \
             happened to any document, run:</span> <code class=\"command\"></code></p>",
            EscapedLine(why.as_bytes())
        )?;
    }
    out.write_all(b"</div>\n")
}

fn write_cluster(
    out: &mut dyn Write,
    summary: &Summary,
    cluster: &ReportCluster,
) -> io::Result<()> {
    let ReportCluster { kept, removed, members, preview, shared } = cluster;
    // In a match, the kept document belongs to the corpus and is not one of the queries.
    let documents = if summary.is_match() { *removed } else { removed.saturating_add(1) };
    let mark = match shared {
        Some(SharedWords { is_template: true, .. }) => "<b>template?</b> ",
        _ => "",
    };
    writeln!(
        out,
        "<details class=\"cluster\"><summary><span class=\"size\">{}</span>\
         <span class=\"what\"><span class=\"preview{}\" dir=\"auto\">{}</span>\
         <span class=\"id quiet\">{mark}{}</span></span></summary>",
        grouped(documents),
        if preview.is_some() { "" } else { " quiet" },
        EscapedLine(preview_text(preview.as_ref(), Wording::of(summary)).as_bytes()),
        EscapedName(&kept.id, ID)
    )?;
    if let Some(shared) = shared {
        writeln!(out, "<p>{} documents were compared: they {shared}.</p>", shared.documents)?;
    }
    write!(out, "<p><span class=\"quiet\">{}</span> ", Wording::of(summary).labels[0])?;
    write_place(out, kept)?;
    if let Some(commands) = &summary.commands {
        write_command(out, why(commands, &kept.id))?;
    }
    out.write_all(b"</p>\n<ol>\n")?;
    for member in members.iter().take(MEMBERS) {
        let closeness = match member.closeness.as_str() {
            // The two were not compared, because only a chain of other documents links them.
            "" => "linked through others",
            closeness => closeness,
        };
        let name = &member.name;
        write!(
            out,
            "<li><details><summary><b>{}</b> <span class=\"id\">{}</span></summary><p>",
            EscapedLine(closeness.as_bytes()),
            EscapedName(&name.id, ID)
        )?;
        write_place(out, name)?;
        if let Some(commands) = &summary.commands {
            write_command(out, compare(commands, kept, name))?;
            write_command(out, why(commands, &name.id))?;
        }
        out.write_all(b"</p></details></li>\n")?;
    }
    out.write_all(b"</ol>\n")?;
    match removed.saturating_sub(members.len().min(MEMBERS) as u64) {
        0 => {}
        more => writeln!(
            out,
            "<p class=\"quiet\">And {} more: see <code>clusters.jsonl</code>.</p>",
            grouped(more)
        )?,
    }
    out.write_all(b"</details>\n")
}

/// Returns the preview as a single line of text, cut to [`PREVIEW`] characters. Without a preview, returns a note in
/// parentheses. `wording` has the noun for a removed document.
fn preview_text(preview: Option<&Preview>, wording: &Wording) -> String {
    let Some(Preview { text, is_of_kept }) = preview else {
        return "(not shown: deep inside a compressed file)".to_owned();
    };
    let text = String::from_utf8_lossy(text);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut shown: String = words.chars().take(PREVIEW).collect();
    if shown.len() < words.len() {
        shown.push('\u{2026}');
    }
    match (shown.is_empty(), is_of_kept) {
        (true, _) => "(empty)".to_owned(),
        (false, true) => shown,
        (false, false) => format!("{shown} (text of a {})", wording.similar),
    }
}

fn write_place(out: &mut dyn Write, Name { file, record, .. }: &Name) -> io::Result<()> {
    write!(out, "<span class=\"quiet\">in {}, record {record}</span>", EscapedName(file, PLACE))
}

/// Writes a command line that readers can copy. Writes nothing if `command` is `None`.
fn write_command(out: &mut dyn Write, command: Option<String>) -> io::Result<()> {
    match command {
        Some(command) => {
            write!(out, "<code class=\"command\">{}</code>", EscapedLine(command.as_bytes()))
        }
        None => Ok(()),
    }
}

/// Returns the command line that shows what became of the document with this ID. `None` if the command line
/// is too long for the page.
fn why(Commands { why, .. }: &Commands, id: &[u8]) -> Option<String> {
    with_words(why, &[(id, None)])
}

/// Returns the command line that compares two documents. `None` if the command line is too long for the page.
fn compare(commands: &Commands, kept: &Name, removed: &Name) -> Option<String> {
    let file = |name: &Name| [commands.compared_in.as_bytes(), &name.file].concat();
    let names = [(&*file(kept), Some(kept.record)), (&*file(removed), Some(removed.record))];
    with_words(&commands.compare, &names)
}

/// Appends arguments to a command line and returns the result. `names` has IDs or file names. A name with a
/// record number is written as `name:record`. If a name begins with `-`, the separator `--` precedes the
/// names, so that no name is read as an option. Returns `None` if the command line is too long for the page.
fn with_words(command: &str, names: &[(&[u8], Option<u64>)]) -> Option<String> {
    let length: usize = names.iter().map(|(name, _)| name.len()).sum();
    if command.len() + length > COMMAND {
        return None;
    }
    let word = |&(name, record): &(&[u8], Option<u64>)| {
        let name = byte_text(name);
        shell_word(&record.map_or(name.to_string(), |record| format!("{name}:{record}")))
    };
    let words = names.iter().map(word).collect::<Vec<_>>().join(" ");
    let is_option = names.iter().any(|(name, _)| name.starts_with(b"-"));
    Some(format!("{command} {}{words}", if is_option { "-- " } else { "" }))
}
