//! Writes a table with the number of documents that a run with a stricter limit on similarity or distance
//! would remove.

use super::tables::{bar, begin_table, end_table, share};
use super::wording::Wording;
use crate::write::summary::{Closest, Summary};
use simtool_base::quantity::grouped;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    // A single limit is the one of the run, whose count is already at the top of the page.
    if summary.removed == 0 || summary.levels.len() < 2 {
        return Ok(());
    }
    let documents = summary.read.first().documents;
    let wording = Wording::of(summary);
    writeln!(
        out,
        "<h2>At another limit</h2>\n<p class=\"quiet\">{}, computed from the pairs of this run. A less \
         strict limit needs another run, because its pairs were not searched.</p>",
        wording.at_another_limit
    )?;
    let head = format!(
        "<th>limit</th><th class=\"n\">{}s</th><th class=\"n\">of all</th><th class=\"share\"></th>",
        wording.similar
    );
    begin_table(out, "documents at other limits", &head)?;
    let last = summary.levels.len() - 1;
    for (at, level) in summary.levels.iter().enumerate() {
        let limit = match level.least {
            Closest::Similarity(least) if least >= 1.0 => "similarity 1: equal sets".to_owned(),
            Closest::Similarity(least) => format!("similarity {least} or more"),
            Closest::Distance(0) => "distance 0: equal fingerprints".to_owned(),
            Closest::Distance(most) => format!("distance {most} or less"),
        };
        let own = if at == last { " <span class=\"quiet\">this run</span>" } else { "" };
        writeln!(
            out,
            "<tr><td>{limit}{own}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>{}</tr>",
            grouped(level.removed),
            share(level.removed, documents),
            bar(level.removed, documents)
        )?;
    }
    end_table(out)
}
