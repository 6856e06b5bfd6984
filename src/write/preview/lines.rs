//! Formats the preview of a run for the terminal.

use super::{Band, NearPair, RunPreview};
use crate::write::excerpt::{excerpt, excerpts};
use crate::write::name::Name;
use crate::write::report::{Example, ReportCluster};
use crate::write::shortened::shortened;
use crate::write::summary::{Summary, counts_table};
use crate::write::text_difference::{Piece, Shown, text_difference};
use simtool_base::quantity::{counted, grouped, percent};
use simtool_model::closeness::Closeness;
use std::fmt::Write;

/// Number of the largest clusters that are listed. Template clusters, which have pages with the same frame and
/// different contents, are listed even if they are smaller.
const CLUSTERS: usize = 10;
/// Maximum number of template clusters that are listed.
const TEMPLATES: usize = 20;
/// Maximum number of characters of the name of a document.
const NAME: usize = 72;
/// Maximum number of characters of the file and record number of a document.
const PLACE: usize = 48;

/// Limits of the differences of a pair: the number of equal words next to each difference, and of words in all.
const DIFFERENCE: Shown = Shown { context: 5, words: 60 };

/// Returns the preview as text for people. If `is_marked`, the differing words of each pair are marked in one text.
/// Otherwise each pair has an excerpt of each text.
#[must_use]
pub fn preview_text(summary: &Summary, preview: &RunPreview, is_marked: bool) -> String {
    let mut text = counts_table(summary);
    push_bands(
        &mut text,
        "removed documents by closeness to the kept one",
        &preview.by_closeness,
        summary,
    );
    push_bands(&mut text, "removed documents by size of their cluster", &preview.by_size, summary);
    push_clusters(&mut text, summary, preview);
    push_pairs(&mut text, summary, preview, is_marked);
    text.push_str(
        "\nnothing was written; a run without the preview removes exactly these documents\n",
    );
    text
}

fn push_bands(text: &mut String, title: &str, bands: &[Band], summary: &Summary) {
    if bands.is_empty() {
        return;
    }
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n{title}");
    let width = bands.iter().map(|band| band.name.len()).max().unwrap_or(0);
    for Band { name, removed, clusters } in bands {
        let share = percent(*removed, summary.removed);
        let clusters = clusters.map(|clusters| format!("  in {}", counted(clusters, "cluster")));
        let _ = writeln!(
            text,
            "  {name:<width$} {:>12}  {share:>7}{}",
            grouped(*removed),
            clusters.unwrap_or_default()
        );
    }
}

fn push_clusters(text: &mut String, summary: &Summary, preview: &RunPreview) {
    let clusters = &preview.report.clusters;
    if clusters.is_empty() {
        return;
    }
    let title = if summary.is_match() { "most matched documents" } else { "largest clusters" };
    let _ = writeln!(text, "\n{title}");
    let is_template =
        |cluster: &ReportCluster| cluster.shared.is_some_and(|words| words.is_template);
    // Small template clusters are listed, too, because the warning counts them.
    let mut templates = 0;
    for (number, cluster) in clusters.iter().enumerate() {
        templates += usize::from(is_template(cluster));
        if number < CLUSTERS || (is_template(cluster) && templates <= TEMPLATES) {
            push_cluster(text, summary, cluster);
        }
    }
    if let Some(warning) = preview.report.templates().warning() {
        let _ = writeln!(text, "\nwarning: {warning}");
    }
}

fn push_cluster(text: &mut String, summary: &Summary, cluster: &ReportCluster) {
    let ReportCluster { kept, removed, preview, shared, .. } = cluster;
    let documents = removed + u64::from(!summary.is_match());
    let _ = writeln!(text, "{:>8} documents, kept {}", grouped(documents), name(kept));
    if let Some(shared) = shared {
        let compared = match shared.documents {
            compared if compared < removed + 1 => format!(" ({} compared)", grouped(compared)),
            _ => String::new(),
        };
        let template = if shared.is_template { "template? " } else { "" };
        let _ = writeln!(text, "           {template}they {shared}{compared}");
    }
    if let Some(preview) = preview {
        let beginning = excerpt(&String::from_utf8_lossy(&preview.text), 0);
        let _ = writeln!(text, "           {beginning}");
    }
}

fn push_pairs(text: &mut String, summary: &Summary, preview: &RunPreview, is_marked: bool) {
    let is_coverage = summary.covered_by_several.is_some();
    if is_marked {
        text.push_str(
            "\nbelow, [-text-] is in the first document alone, {+text+} in the second alone\n",
        );
    }
    if !preview.above.is_empty() {
        let first = if is_coverage { "most lost words" } else { "least similar" };
        let _ = writeln!(text, "\nremoved, closest to the limit: {first} first");
        for pair in &preview.above {
            push_pair(text, ["kept", "removed"], pair, is_marked);
        }
    }
    match &preview.below {
        Some(pairs) if pairs.is_empty() => {
            text.push_str("\nno two kept documents are just below the limit\n");
        }
        Some(pairs) => {
            text.push_str("\nboth kept, just below the limit: most similar first\n");
            for pair in pairs {
                push_pair(text, ["kept", "kept"], pair, is_marked);
            }
        }
        None if is_coverage => {}
        None => text.push_str("\npairs just below the limit were not searched\n"),
    }
}

fn push_pair(text: &mut String, statuses: [&str; 2], pair: &NearPair, is_marked: bool) {
    let NearPair { closeness, documents, lost_words, first_lost } = pair;
    let Example { kept, removed, kept_text, removed_text, .. } = documents;
    let _ = writeln!(text, "  {}", closeness.map(shown).unwrap_or_default());
    for (status, document) in statuses.iter().zip([kept, removed]) {
        let _ = writeln!(text, "    {status:<7}   {}", name(document));
    }
    // One text with marks shows all differences. Excerpts begin at the first one and end after some words.
    if is_marked {
        let _ = writeln!(text, "    texts     {}", marked_difference(kept_text, removed_text));
    } else {
        for (status, excerpt) in statuses.iter().zip(excerpts([kept_text, removed_text])) {
            let _ = writeln!(text, "    {status:<7} | {excerpt}");
        }
    }
    if let Some(lost) = lost_words.filter(|&lost| lost > 0) {
        let list = if first_lost.is_empty() { "" } else { ": " };
        let more = if lost as usize > first_lost.len() && !list.is_empty() { ", …" } else { "" };
        let words = counted(lost.into(), "word");
        let _ = writeln!(text, "    lost      {words}{list}{}{more}", first_lost.join(", "));
    }
}

/// Returns both texts as one line, with marks around words that only one of them has.
fn marked_difference(left: &[u8], right: &[u8]) -> String {
    let [left, right] = [left, right].map(String::from_utf8_lossy);
    // White space after a word is not marked.
    let marked = |text: &str, [from, to]: [&str; 2]| {
        let words = text.trim_end();
        format!("{from}{words}{to}{}", &text[words.len()..])
    };
    let pieces = text_difference(&left, &right, DIFFERENCE).into_iter().map(|piece| match piece {
        Piece::Both(text) => text.to_owned(),
        Piece::Left(text) => marked(text, ["[-", "-]"]),
        Piece::Right(text) => marked(text, ["{+", "+}"]),
        Piece::Equal(_) | Piece::Unread(..) => "… ".to_owned(),
    });
    pieces.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the similarity or the distance as a text for people. Similarities are rounded down, so that none below the
/// limit seems to reach it.
fn shown(closeness: Closeness) -> String {
    let similarity = closeness.exact_similarity().map(|similarity| {
        let digits = u128::from(similarity.shared) * 10_000 / u128::from(similarity.union.max(1));
        format!("similarity {}.{:04}", digits / 10_000, digits % 10_000)
    });
    let distance = closeness.distance().map(|distance| format!("distance {distance}"));
    similarity.into_iter().chain(distance).collect::<Vec<_>>().join(", ")
}

/// Returns the ID of a document and its place. The place is left out if it is the ID.
fn name(Name { id, file, record }: &Name) -> String {
    let place = [file, format!(":{record}").as_bytes()].concat();
    let shown = shortened(id, NAME).text;
    if *id == place { shown } else { format!("{shown}  ({})", shortened(&place, PLACE).text) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::similarity::Similarity;

    #[test]
    fn similarities_are_rounded_down() {
        let similar = |shared, union| Closeness::Similarity(Similarity { shared, union });
        assert_eq!(shown(similar(79_999, 100_000)), "similarity 0.7999");
        assert_eq!(shown(similar(3, 3)), "similarity 1.0000");
        let verified = Closeness::Verified(Similarity::ALMOST_ONE, 2);
        assert_eq!(shown(verified), "similarity 0.9999, distance 2");
    }

    #[test]
    fn words_of_one_text_are_marked_and_numbers_too() {
        let [left, right] = ["From 7 April,\nthe ferry", "From 8 April, the night ferry"];
        let marked = marked_difference(left.as_bytes(), right.as_bytes());
        assert_eq!(marked, "From [-7-] {+8+} April, the {+night+} ferry");
        assert_eq!(marked_difference(b"at 8:25", b"at 9:25"), "at [-8-]{+9+}:25");
        let [left, right] = ["x a", "x b"].map(|word| format!("{} {word}", "y ".repeat(90)));
        let marked = marked_difference(left.as_bytes(), right.as_bytes());
        assert_eq!(marked, "… y y y y x [-a-]{+b+}");
    }

    #[test]
    fn a_name_has_its_place_unless_the_place_is_the_name() {
        let named = |id: &str| name(&Name { id: id.into(), file: "a/b.txt".into(), record: 3 });
        assert_eq!(named("x"), "x  (a/b.txt:3)");
        assert_eq!(named("a/b.txt:3"), "a/b.txt:3");
    }
}
