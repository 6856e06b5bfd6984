//! Lists documents and records that were not compared, pages of which little is compared, and damaged or unreadable
//! files.

use super::escape::{EscapedLine, EscapedName};
use super::tables::{begin_table, end_table};
use super::{BAD_RECORDS, PartOfPage, Report};
use crate::write::shortened::shortened;
use crate::write::summary::{FaultPlace, Summary};
use simtool_base::quantity::{counted, grouped};
use std::io::{self, Write};

/// Maximum number of characters that the page shows of the file name of a fault.
const FILE: usize = 48;
/// Maximum number of characters that the page shows of the ID of a document.
const ID: usize = 72;
/// Maximum number of characters that the page shows of the description of a fault.
const WHAT: usize = 300;

pub(super) fn write(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    let passed_over: u64 = summary.read.iter().map(|read| read.passed_over).sum();
    let lost = summary.read.iter().map(|read| read.lost).fold(0, u64::saturating_add);
    let quarantined: u64 = summary.read.iter().map(|read| read.quarantined).sum();
    // Bad records are left out here, because they have a table of their own below.
    let of_files = || summary.faults.places().iter().filter(|place| place.record.is_none());
    if passed_over > 0 {
        let were = if passed_over == 1 { "was" } else { "were" };
        writeln!(
            out,
            "<h2>Documents outside the selection</h2>\n<p>{} {were} excluded by the settings below: \
             kept without comparison.</p>",
            counted(passed_over, "document")
        )?;
    }
    write_little_pages(out, report)?;
    if summary.faults.counts().is_empty() && lost == 0 {
        return Ok(());
    }
    out.write_all(b"<h2 id=\"unread\">Records and files that could not be read</h2>\n")?;
    let kinds = summary.faults.counts().iter();
    let kinds = kinds.map(|(kind, count)| format!("<code>{kind}</code> {}", grouped(*count)));
    writeln!(out, "<p>By kind: {}.</p>", kinds.collect::<Vec<_>>().join(", "))?;
    if lost > 0 {
        writeln!(out, "<p>Damaged files lost {}.</p>", counted(lost, "row"))?;
    }
    let all: u64 = summary.faults.counts().values().sum();
    if of_files().next().is_some() {
        let head = "<th>file</th><th class=\"n\">byte</th><th>kind</th><th>what</th>";
        begin_table(out, "faults of files", head)?;
        for FaultPlace { kind, file, byte, what, .. } in of_files().take(BAD_RECORDS) {
            let byte = byte.map(|byte| byte.to_string()).unwrap_or_default();
            writeln!(
                out,
                "<tr><td>{}</td><td class=\"n\">{byte}</td><td><code>{kind}</code></td><td>{}</td>\
                 </tr>",
                EscapedName(file, FILE),
                EscapedLine(shortened(what.as_bytes(), WHAT).text.as_bytes())
            )?;
        }
        end_table(out)?;
        // The table lists these files, too. A reader of the copies must not look for them there.
        if summary.uncopied_files > 0 {
            let files = counted(summary.uncopied_files, "file");
            let has = if summary.uncopied_files == 1 { "has" } else { "have" };
            writeln!(
                out,
                "<p>{files} of these {has} no copy in <code>kept</code>, because nothing in it can be read. The output \
                 <code>files</code> names each, with the reason <code>unreadable</code>.</p>"
            )?;
        }
        // Bad records count as faults as well, but this table does not list them.
        write_more(out, all.saturating_sub(quarantined), "fault", "summary.json")?;
    }
    write_bad_records(out, report, quarantined)
}

/// Writes the table of pages of which little is compared.
fn write_little_pages(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.little_pages.is_empty() {
        return Ok(());
    }
    out.write_all(
        b"<h2>Pages of which little is compared</h2>\n<p class=\"quiet\">Their main content is a small share of their \
          text. <code>simtool text</code> writes what is compared.</p>\n",
    )?;
    let head = "<th>page</th><th>file</th><th class=\"n\">record</th><th class=\"n\">words compared</th>\
                <th class=\"n\">not compared</th>";
    begin_table(out, "pages of which little is compared", head)?;
    for PartOfPage { name, words, left_out_words } in &report.little_pages {
        writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            EscapedName(&name.id, ID),
            EscapedName(&name.file, FILE),
            name.record,
            grouped((*words).into()),
            grouped((*left_out_words).into())
        )?;
    }
    end_table(out)
}

/// Writes the table of bad records. `all` is the number of all bad records of the run, whether the table
/// lists them or not.
fn write_bad_records(out: &mut dyn Write, report: &Report, all: u64) -> io::Result<()> {
    if report.quarantined.is_empty() {
        return Ok(());
    }
    let head = "<th>file</th><th class=\"n\">record</th><th class=\"n\">byte</th><th>kind</th>\
                <th>expected</th>";
    begin_table(out, "bad records", head)?;
    for bad in report.quarantined.iter().take(BAD_RECORDS) {
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td><code>{}</code></td><td>{}</td></tr>",
            EscapedName(&bad.file, FILE),
            bad.record,
            bad.byte,
            EscapedLine(bad.code.as_bytes()),
            EscapedLine(shortened(bad.expected.as_bytes(), WHAT).text.as_bytes())
        )?;
    }
    end_table(out)?;
    write_more(out, all, "record", "quarantine.jsonl")
}

/// Writes a line below a table, if the table does not list all of the `all` entries. The line reports how many
/// entries are left out and which `file` has more of them. `noun` is the word for an entry, for example
/// `record`.
fn write_more(out: &mut dyn Write, all: u64, noun: &str, file: &str) -> io::Result<()> {
    match all.saturating_sub(BAD_RECORDS as u64) {
        0 => Ok(()),
        more => writeln!(
            out,
            "<p class=\"quiet\">And {} more: see <code>{file}</code>.</p>",
            counted(more, noun)
        ),
    }
}
