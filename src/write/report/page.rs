//! The page, from top to bottom.

use super::charts::{Bar, BarChart, Scale, write_bars, write_parts};
use super::escape::{Line, Lines};
use super::numbers::{bytes, counted, grouped, percent, time};
use super::{
    BAD_RECORDS, CLUSTERS, Counts, EXAMPLES, Example, Name, Report, SOURCES, Similarities, Stage,
};
use crate::write::text_difference::{Piece, Shown, text_difference};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

const STYLE: &str = include_str!("page.css");

/// Of an example, about so many words are shown, and so many beside each difference.
const SHOWN: Shown = Shown { context: 12, words: 300 };

/// Distances that have a bar of their own.
const MOST_DISTANCES: usize = 33;

pub(super) fn write(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let title = Line(report.title.as_bytes());
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title} · simtool</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )?;
    write_head(out, report)?;
    out.write_all(b"<main>\n")?;
    write_charts(out, report)?;
    write_clusters(out, report)?;
    write_sources(out, report)?;
    write_examples(out, &report.examples)?;
    write_bad_input(out, report)?;
    write_run(out, report)?;
    out.write_all(b"</main>\n")?;
    write!(
        out,
        "<footer>Made by simtool {}. This page is one file: it loads nothing and runs no script.\
         </footer>\n</body>\n</html>\n",
        Line(report.version.as_bytes())
    )
}

fn write_head(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let counts = &report.counts;
    let Counts { documents, kept, removed, quarantined, .. } = *counts;
    write!(
        out,
        "<header>\n<p class=\"eyebrow\">Near-duplicates</p>\n<h1>{}</h1>\n<p class=\"lead\">",
        Line(report.title.as_bytes())
    )?;
    if removed == 0 {
        write!(out, "No near-duplicates among {}.", counted(documents, "document"))?;
    } else {
        write!(
            out,
            "<strong>{}</strong> of {} ({}) are near-duplicates of one that stays.",
            grouped(removed),
            counted(documents, "document"),
            percent(removed, documents)
        )?;
    }
    out.write_all(b"</p>\n")?;
    let parts = [
        ("kept", "kept", kept),
        ("removed", "removed", removed),
        ("bad", "quarantined", quarantined),
    ];
    write_parts(out, "What went in, by what became of it", &parts)?;
    out.write_all(b"<ul class=\"legend\">\n")?;
    for (class, name, count) in parts.into_iter().filter(|part| part.2 > 0) {
        let (count, share) = (grouped(count), percent(count, documents));
        writeln!(
            out,
            "<li class=\"{class}\">{name} {count} <span class=\"quiet\">{share}</span></li>"
        )?;
    }
    out.write_all(b"</ul>\n<dl class=\"figures\">\n")?;
    let clusters: u64 = report.cluster_sizes.values().sum();
    let text = |part| format!("{} of text", bytes(part));
    figure(out, "Documents in", documents, &text(counts.bytes))?;
    figure(out, "Kept", kept, &text(counts.bytes.saturating_sub(counts.removed_bytes)))?;
    figure(out, "Removed", removed, &text(counts.removed_bytes))?;
    figure(out, "Clusters", clusters, "of two documents and more")?;
    figure(out, "Pairs found", counts.pairs, "equal documents included")?;
    if quarantined > 0 {
        figure(out, "Quarantined", quarantined, "records that could not be read")?;
    }
    if counts.without_words > 0 {
        figure(out, "Without words", counts.without_words, "kept, compared with nothing")?;
    }
    out.write_all(b"</dl>\n</header>\n")
}

fn figure(out: &mut dyn Write, name: &str, count: u64, note: &str) -> io::Result<()> {
    let count = grouped(count);
    writeln!(out, "<div><dt>{name}</dt><dd>{count}<small>{note}</small></dd></div>")
}

fn write_charts(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let similarities = report.similarities.as_ref().map(similarity_bars);
    let distances = report.distances.as_deref().map(distance_bars);
    let sizes = size_bars(&report.cluster_sizes);
    if report.cluster_sizes.is_empty() {
        return Ok(());
    }
    out.write_all(b"<h2>How alike they are</h2>\n<div class=\"charts\">\n")?;
    if let Some(bars) = similarities {
        write_bars(
            out,
            &BarChart {
                key: "similarities",
                title: "Similarity",
                note: "Shared shingles by shingles of either. Equal sets have a bar of their own.",
                axis: "similarity",
                noun: "pair",
                scale: Scale::Linear,
                bars,
            },
        )?;
    }
    let distance_note = format!("Bits in which two fingerprints differ. {}", report.distance_means);
    if let Some(bars) = distances {
        write_bars(
            out,
            &BarChart {
                key: "distances",
                title: "Distance",
                note: distance_note.trim_end(),
                axis: "differing bits",
                noun: "pair",
                scale: Scale::Linear,
                bars,
            },
        )?;
    }
    write_bars(
        out,
        &BarChart {
            key: "sizes",
            title: "Cluster sizes",
            note: "Documents in a cluster, the kept one included; the upright axis is logarithmic.",
            axis: "documents",
            noun: "cluster",
            scale: Scale::Logarithmic,
            bars: sizes,
        },
    )?;
    out.write_all(b"</div>\n")
}

fn similarity_bars(similarities: &Similarities) -> Vec<Bar> {
    let Similarities { from, bins, equal } = similarities;
    let border = |at: usize| from + (1.0 - from) * at as f64 / bins.len() as f64;
    let mut bars: Vec<Bar> = bins
        .iter()
        .enumerate()
        .map(|(at, &count)| Bar {
            name: format!("{:.3} to {:.3}", border(at), border(at + 1)),
            label: if at % 4 == 0 { format!("{:.2}", border(at)) } else { String::new() },
            count,
            is_apart: false,
        })
        .collect();
    bars.push(Bar { name: "1".into(), label: "1".into(), count: *equal, is_apart: true });
    bars
}

fn distance_bars(distances: &[u64]) -> Vec<Bar> {
    let each = distances.len().div_ceil(MOST_DISTANCES).max(1);
    let bars = distances.chunks(each).enumerate().map(|(at, counts)| {
        let (from, to) = (at * each, at * each + counts.len() - 1);
        let name = if from == to { from.to_string() } else { format!("{from} to {to}") };
        let label =
            if distances.len() <= 12 || at % 4 == 0 { from.to_string() } else { String::new() };
        Bar { name, label, count: counts.iter().sum(), is_apart: from == 0 && each == 1 }
    });
    bars.collect()
}

/// Bars for 2, for 3 and 4, for 5 to 8, and so on by powers of two.
fn size_bars(sizes: &BTreeMap<u64, u64>) -> Vec<Bar> {
    let Some(&largest) = sizes.keys().next_back() else { return Vec::new() };
    let mut bars = Vec::new();
    let (mut from, mut to) = (2_u64, 2_u64);
    loop {
        let name = if from == to { from.to_string() } else { format!("{from}–{to}") };
        let count = sizes.range(from..=to).map(|(_, count)| count).sum();
        bars.push(Bar { label: name.clone(), name, count, is_apart: false });
        if to >= largest {
            break;
        }
        (from, to) = (to + 1, to.saturating_mul(2));
    }
    // Long rows of labels would run into each other.
    if bars.len() > 8 {
        bars.iter_mut().skip(1).step_by(2).for_each(|bar| bar.label.clear());
    }
    bars
}

fn write_clusters(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.largest_clusters.is_empty() {
        return Ok(());
    }
    out.write_all(
        b"<h2>The largest clusters</h2>\n<div class=\"table\"><table><thead><tr>\
          <th class=\"n\">documents</th><th>the one that stays</th><th>file</th>\
          <th class=\"n\">record</th></tr></thead><tbody>\n",
    )?;
    for cluster in report.largest_clusters.iter().take(CLUSTERS) {
        let Name { id, file, record } = &cluster.kept;
        writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"name\"><bdi>{}</bdi></td>\
             <td class=\"name\"><bdi>{}</bdi></td><td class=\"n\">{record}</td></tr>",
            grouped(cluster.size),
            Line(id),
            Line(file)
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")
}

fn write_sources(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    if report.sources.is_empty() {
        return Ok(());
    }
    out.write_all(
        b"<h2>Where the removed ones came from</h2>\n<div class=\"table\"><table><thead><tr>\
          <th>source</th><th class=\"n\">removed</th><th class=\"n\">of all removed</th>\
          <th class=\"share\"></th></tr></thead><tbody>\n",
    )?;
    for source in report.sources.iter().take(SOURCES) {
        writeln!(
            out,
            "<tr><td class=\"name\"><bdi>{}</bdi></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"share\"><i style=\"width:{}%\"></i></td></tr>",
            Line(&source.name),
            grouped(source.removed),
            percent(source.removed, report.counts.removed),
            whole_percent(source.removed, report.counts.removed),
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")
}

fn whole_percent(part: u64, whole: u64) -> u128 {
    (u128::from(part) * 100 / u128::from(whole.max(1))).min(100)
}

fn write_examples(out: &mut dyn Write, examples: &[Example]) -> io::Result<()> {
    if examples.is_empty() {
        return Ok(());
    }
    out.write_all(
        b"<h2>Examples</h2>\n<p class=\"quiet\">Differences are marked word by word: \
          <mark class=\"only-kept\">only in the kept document</mark>, \
          <mark class=\"only-removed\">only in the removed one</mark>.</p>\n",
    )?;
    for example in examples.iter().take(EXAMPLES) {
        out.write_all(b"<article class=\"example\">\n<header><div>\n")?;
        for (what, name) in [("kept", &example.kept), ("removed", &example.removed)] {
            let Name { id, file, record } = name;
            writeln!(
                out,
                "<div><span class=\"quiet\">{what}</span> <bdi class=\"name\">{}</bdi> \
                 <span class=\"quiet\">in <bdi class=\"name\">{}</bdi>, record {record}</span></div>",
                Line(id),
                Line(file)
            )?;
        }
        let closeness = Line(example.closeness.as_bytes());
        write!(
            out,
            "</div><strong>{closeness}</strong></header>\n<div class=\"text\" dir=\"auto\">"
        )?;
        let [left, right] =
            [&example.kept_text, &example.removed_text].map(|text| String::from_utf8_lossy(text));
        for piece in text_difference(&left, &right, SHOWN) {
            write_piece(out, piece)?;
        }
        out.write_all(b"</div>\n</article>\n")?;
    }
    Ok(())
}

fn write_piece(out: &mut dyn Write, piece: Piece<'_>) -> io::Result<()> {
    // White space behind a word stands behind its mark.
    let marked = |out: &mut dyn Write, class, text: &str| {
        let word = text.trim_end();
        let space = &text[word.len()..];
        write!(out, "<mark class=\"{class}\">{}</mark>{}", Lines(word), Lines(space))
    };
    let words = |count| counted(count as u64, "word");
    match piece {
        Piece::Both(text) => write!(out, "{}", Lines(text)),
        Piece::Left(text) => marked(out, "only-kept", text),
        Piece::Right(text) => marked(out, "only-removed", text),
        Piece::Equal(count) => {
            write!(out, "<span class=\"gap\"> … {} alike … </span>", words(count))
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

fn write_bad_input(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Report { quarantined, faults, counts, .. } = report;
    if quarantined.is_empty() && faults.is_empty() {
        return Ok(());
    }
    out.write_all(b"<h2>What could not be read</h2>\n")?;
    if !faults.is_empty() {
        out.write_all(
            b"<div class=\"table\"><table><thead><tr><th>files</th></tr></thead><tbody>\n",
        )?;
        for fault in faults.iter().take(BAD_RECORDS) {
            let fault = fault.to_string();
            writeln!(out, "<tr><td class=\"name\">{}</td></tr>", Line(fault.as_bytes()))?;
        }
        out.write_all(b"</tbody></table></div>\n")?;
        write_more(out, faults.len() as u64, "file")?;
    }
    if quarantined.is_empty() {
        return Ok(());
    }
    out.write_all(
        b"<div class=\"table\"><table><thead><tr><th>file</th><th class=\"n\">record</th>\
          <th class=\"n\">byte</th><th>fault</th><th>expected</th></tr></thead><tbody>\n",
    )?;
    for bad in quarantined.iter().take(BAD_RECORDS) {
        writeln!(
            out,
            "<tr><td class=\"name\"><bdi>{}</bdi></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td><code>{}</code></td><td>{}</td></tr>",
            Line(&bad.file),
            bad.record,
            bad.byte,
            Line(bad.code.as_bytes()),
            Line(bad.expected.as_bytes())
        )?;
    }
    out.write_all(b"</tbody></table></div>\n")?;
    write_more(out, counts.quarantined, "record")
}

/// Says how many are not in a table.
fn write_more(out: &mut dyn Write, all: u64, noun: &str) -> io::Result<()> {
    match all.saturating_sub(BAD_RECORDS as u64) {
        0 => Ok(()),
        more => {
            let s = if more == 1 { "" } else { "s" };
            writeln!(out, "<p class=\"quiet\">And {} more {noun}{s}.</p>", grouped(more))
        }
    }
}

fn write_run(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    out.write_all(b"<h2>How it was made</h2>\n")?;
    writeln!(
        out,
        "<div class=\"table\"><pre><code>{}</code></pre></div>",
        Line(report.command.as_bytes())
    )?;
    out.write_all(b"<div class=\"charts\" style=\"margin-top:1.2rem\">\n")?;
    if !report.stages.is_empty() {
        write_stages(out, &report.stages)?;
    }
    if !report.parameters.is_empty() {
        out.write_all(
            b"<div class=\"table\"><table><thead><tr><th>setting</th><th>value</th></tr></thead>\
              <tbody>\n",
        )?;
        for (name, value) in &report.parameters {
            let (name, value) = (Line(name.as_bytes()), Line(value.as_bytes()));
            writeln!(out, "<tr><td>{name}</td><td class=\"name\">{value}</td></tr>")?;
        }
        out.write_all(b"</tbody></table></div>\n")?;
    }
    out.write_all(b"</div>\n")
}

fn write_stages(out: &mut dyn Write, stages: &[Stage]) -> io::Result<()> {
    let total: Duration = stages.iter().map(|stage| stage.time).sum();
    out.write_all(
        b"<div class=\"table\"><table><thead><tr><th>stage</th><th class=\"n\">time</th>\
          <th class=\"n\">speed</th><th class=\"share\"></th></tr></thead><tbody>\n",
    )?;
    for stage in stages {
        let microseconds = |time: Duration| time.as_micros() as u64;
        let speed = match (stage.bytes, microseconds(stage.time)) {
            (0, _) | (_, 0) => "–".to_owned(),
            (bytes, time) => format!("{} MB/s", grouped(bytes / time)),
        };
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{speed}</td>\
             <td class=\"share\"><i style=\"width:{}%\"></i></td></tr>",
            Line(stage.name.as_bytes()),
            time(stage.time),
            whole_percent(microseconds(stage.time), microseconds(total)),
        )?;
    }
    writeln!(
        out,
        "<tr><td>all</td><td class=\"n\">{}</td><td></td><td></td></tr>\n</tbody></table></div>",
        time(total)
    )
}
