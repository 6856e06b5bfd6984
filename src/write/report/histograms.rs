//! Writes histograms of similarities, distances and cluster sizes.

use super::charts::{Bar, BarChart, BarScale, write_bars};
use super::wording::Wording;
use super::{Report, Similarities};
use crate::write::summary::Summary;
use simtool_base::quantity::{counted, grouped};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Maximum number of bars of the histogram of distances. If there are more different distances, several
/// neighbouring distances share a bar.
const MOST_DISTANCES: usize = 33;

pub(super) fn write(out: &mut dyn Write, summary: &Summary, report: &Report) -> io::Result<()> {
    if report.cluster_sizes.is_empty() {
        return Ok(());
    }
    if summary.covered_by_several.is_some() {
        writeln!(
            out,
            "<h2>Coverage</h2>\n<p class=\"quiet\">The words of each of the {} are in kept documents, one or several, \
             except for a few that may be lost.</p>",
            counted(summary.removed, "removed document"),
        )?;
        return write_figures(out, summary, report);
    }
    let wording = Wording::of(summary);
    writeln!(
        out,
        "<h2>Similarity and distance</h2>\n<p class=\"quiet\">Each of the {} is compared with {}{}.</p>",
        counted(summary.removed, wording.similar),
        wording.other,
        match report.unlinked {
            0 => String::new(),
            count => format!(", except {} that only a chain of others links to it", grouped(count)),
        }
    )?;
    write_figures(out, summary, report)
}

/// Writes the histograms of similarities, distances and cluster sizes, without a heading.
pub(super) fn write_figures(
    out: &mut dyn Write,
    summary: &Summary,
    report: &Report,
) -> io::Result<()> {
    if report.cluster_sizes.is_empty() {
        return Ok(());
    }
    out.write_all(b"<div class=\"charts\">\n")?;
    if let Some(similarities) = &report.similarities {
        write_bars(
            out,
            &BarChart {
                key: "similarities",
                title: "Similarity",
                note: "Equal documents (similarity 1) have their own bar, which is cut if it is far higher than the others.",
                axis: "similarity",
                noun: Wording::of(summary).similar,
                scale: BarScale::Linear,
                bars: similarity_bars(similarities),
            },
        )?;
    }
    let meaning = summary.distance_means.as_deref().unwrap_or_default();
    let distance_note = format!("Bits in which two fingerprints differ. {meaning}");
    if let Some(distances) = &report.distances {
        write_bars(
            out,
            &BarChart {
                key: "distances",
                title: "Distance",
                note: distance_note.trim_end(),
                axis: "differing bits",
                noun: Wording::of(summary).similar,
                scale: BarScale::Linear,
                bars: distance_bars(distances),
            },
        )?;
    }
    let (title, note, axis, noun) = if summary.is_match() {
        let note = "Number of queries similar to a document of the corpus; the vertical axis is logarithmic.";
        ("Queries of one document", note, "queries", "document")
    } else {
        let note =
            "Documents in a cluster, including the kept one; the vertical axis is logarithmic.";
        ("Cluster sizes", note, "documents", "cluster")
    };
    let (scale, bars) = (BarScale::Logarithmic, size_bars(&report.cluster_sizes));
    write_bars(out, &BarChart { key: "sizes", title, note, axis, noun, scale, bars })?;
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
    // Often most removed documents are equal to the kept ones. In a bar with others, they would hide how the
    // rest is distributed.
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
        // Distance 0 gets a different colour only if no other distance shares its bar.
        Bar { name, label, count: counts.iter().sum(), is_apart: from == 0 && each == 1 }
    });
    bars.collect()
}

/// Returns the bars of the histogram of cluster sizes. They count clusters of 1 document (if there are any),
/// of 2, of 3–4, of 5–8 documents, and so on by powers of two.
fn size_bars(sizes: &BTreeMap<u64, u64>) -> Vec<Bar> {
    let Some(&largest) = sizes.keys().next_back() else { return Vec::new() };
    let mut bars = Vec::new();
    let (mut from, mut to) = if sizes.contains_key(&1) { (1, 1) } else { (2_u64, 2_u64) };
    loop {
        let name = if from == to { from.to_string() } else { format!("{from}–{to}") };
        let count = sizes.range(from..=to).map(|(_, count)| count).sum();
        bars.push(Bar { label: name.clone(), name, count, is_apart: false });
        if to >= largest {
            break;
        }
        // With powers of two, small and very large clusters fit in one chart.
        (from, to) = (to + 1, to.saturating_mul(2));
    }
    // Labels of many bars would overlap, so every second one is removed.
    if bars.len() > 8 {
        bars.iter_mut().skip(1).step_by(2).for_each(|bar| bar.label.clear());
    }
    bars
}
