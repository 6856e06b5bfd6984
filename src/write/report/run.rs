//! Writes the end of the page: the command line, settings and times of the run.

use super::escape::EscapedLine;
use super::tables::{bar, begin_table, end_table, share};
use crate::write::shortened::shortened;
use crate::write::summary::Summary;
use simtool_base::quantity::{bytes, rate, time};
use std::io::{self, Write};
use std::time::Duration;

/// Maximum number of characters that the page shows of the command line of the run.
const COMMAND: usize = 4000;
/// Maximum number of characters that the page shows of the value of a setting.
const SETTING: usize = 300;

pub(super) fn write(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    out.write_all(b"<h2>How it was made</h2>\n")?;
    let command = shortened(summary.command.as_bytes(), COMMAND);
    writeln!(
        out,
        "<div class=\"table\"><pre><code>{}</code></pre></div>",
        EscapedLine(command.text.as_bytes())
    )?;
    if command.is_cut {
        out.write_all(
            b"<p class=\"quiet\">See <code>summary.json</code> for the whole command.</p>\n",
        )?;
    }
    out.write_all(b"<div class=\"charts run\">\n")?;
    let times = [("began", summary.begin), ("ended", summary.end)];
    let times = times.into_iter().filter_map(|(name, time)| Some((name, time?.to_string())));
    let memory = summary.peak_memory.map(|peak| ("peak memory, maps included", bytes(peak)));
    let settings = summary.parameters.iter().map(|(name, value)| (*name, value.to_string()));
    let rows: Vec<_> = settings.chain(times).chain(memory).collect();
    if !summary.stages.is_empty() {
        write_stages(out, summary)?;
    }
    if !rows.is_empty() {
        begin_table(out, "settings", "<th>setting</th><th>value</th>")?;
        for (name, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
            let value = shortened(value.as_bytes(), SETTING).text;
            let value = EscapedLine(value.as_bytes());
            writeln!(out, "<tr><td>{name}</td><td class=\"name\">{value}</td></tr>")?;
        }
        end_table(out)?;
    }
    out.write_all(b"</div>\n")
}

fn write_stages(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    let total = summary.time();
    let head = "<th>stage</th><th class=\"n\">time</th><th class=\"n\">of all</th>\
                <th class=\"share\"></th>";
    begin_table(out, "time by stage", head)?;
    // Shares are computed from integers. The unit is small because most stages take less than a second.
    let microseconds = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    for (name, taken) in &summary.stages {
        let (part, whole) = (microseconds(*taken), microseconds(total));
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}</tr>",
            EscapedLine(name.as_bytes()),
            time(*taken),
            share(part, whole),
            bar(part, whole)
        )?;
    }
    writeln!(
        out,
        "<tr><td>all, {} of text</td><td class=\"n\">{}</td><td class=\"n\" colspan=\"2\">{}</td>\
         </tr>",
        bytes(summary.text_bytes()),
        time(total),
        rate(summary.text_bytes(), total)
    )?;
    end_table(out)
}
