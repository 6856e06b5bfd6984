//! Collects the data of the page `report.html`.

use super::affordable_texts::{AffordableTexts, Beginnings, Of, WantedText};
use super::findings::Findings;
use super::sources::sources;
use crate::cluster::{Cluster, Removal};
use crate::write::report::{
    self, BAD_RECORDS, CLUSTERS, EXAMPLES, Example, MEMBERS, Name, Preview, QuarantinedRecord,
    Report, ReportMember, Similarities,
};
use simtool_base::error::Result;
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::document_name::DocumentName;
use simtool_read::Corpus;
use std::cmp::Reverse;

/// Number of bytes at the beginning of a text from which its preview is made.
const PREVIEW_BYTES: usize = 600;

/// Maximum number of removed documents of a cluster that are considered for the preview. The preview shows
/// the text that is cheapest to read.
const PREVIEW_CANDIDATES: usize = 200;

/// Collects the data of the page: charts, clusters with previews, sources and examples.
///
/// # Errors
///
/// A file cannot be read again for examples and previews.
pub(super) fn report(
    findings: &Findings<'_>,
    clusters: &[Cluster],
    context: &Context<'_>,
) -> Result<Report> {
    let mut affordable = AffordableTexts::new(findings);
    let examples = choose_examples(findings.removals, &mut affordable);
    let largest = largest_clusters(clusters, &affordable);
    let previews = choose_previews(&largest, &mut affordable);
    let texts = affordable.read(findings, context.threads(), context.progress())?;
    let shown_clusters = largest.iter().zip(previews);
    Ok(Report {
        titles: findings.sides.iter().map(|side| title(side.collection)).collect(),
        clusters: shown_clusters
            .map(|(cluster, preview)| shown_cluster(findings, cluster, preview, &texts))
            .collect(),
        sources: sources(findings),
        examples: examples
            .iter()
            .filter_map(|removal| example(findings, removal, &texts))
            .collect(),
        quarantined: quarantined(findings),
        ..histograms(findings.removals, clusters, findings.sides.is_two())
    })
}

/// Returns the data of the charts of the page: similarities and distances of removed documents to kept ones,
/// and the sizes of clusters. In a match, the size of a cluster counts only the queries.
#[must_use]
pub fn histograms(removals: &[Removal], clusters: &[Cluster], is_match: bool) -> Report {
    let mut report = Report::default();
    for cluster in clusters {
        // In a match, the kept document belongs to the corpus, so it does not count.
        let size = cluster.removed.len() as u64 + u64::from(!is_match);
        *report.cluster_sizes.entry(size).or_insert(0) += 1;
    }
    add_closeness(&mut report, removals);
    report
}

fn shown_name(name: &DocumentName<'_>) -> Name {
    let file = name.file.as_os_str().as_encoded_bytes().to_vec();
    Name { id: name.id.to_vec(), file, record: name.record }
}

/// Returns a heading for a collection: the name of its first file and the number of other files.
fn title(collection: &dyn Corpus) -> String {
    let more = |more: usize| format!("{more} more file{}", if more == 1 { "" } else { "s" });
    match collection.file_count() {
        0 => "nothing".to_owned(),
        1 if collection.file_name(0).as_os_str().is_empty() => "texts in memory".to_owned(),
        1 => collection.file_name(0).display().to_string(),
        count => format!("{} and {}", collection.file_name(0).display(), more(count - 1)),
    }
}

/// Returns the first bad records of all collections, up to the number that the page lists.
fn quarantined(findings: &Findings<'_>) -> Vec<QuarantinedRecord> {
    let of_side = findings.sides.iter().flat_map(|side| {
        side.read.quarantined.iter().map(|bad| QuarantinedRecord {
            file: side.collection.file_name(bad.file).as_os_str().as_encoded_bytes().into(),
            record: bad.record,
            byte: bad.byte,
            code: bad.code,
            expected: bad.expected.to_owned(),
        })
    });
    of_side.take(BAD_RECORDS).collect()
}

/// Adds the similarities and distances between removed and kept documents to the charts of `report`.
fn add_closeness(report: &mut Report, removals: &[Removal]) {
    let similarities = removals.iter().filter_map(|r| r.closeness.and_then(Closeness::similarity));
    let smallest = similarities.clone().fold(1.0, f64::min);
    if similarities.clone().next().is_some() {
        // The axis begins at the tenth below the smallest similarity, so that it begins at a round number.
        let mut histogram = Similarities::new((smallest * 10.0).floor() / 10.0);
        similarities.for_each(|similarity| histogram.add(similarity, 1));
        report.similarities = Some(histogram);
    }
    for distance in removals.iter().filter_map(|r| r.closeness.and_then(Closeness::distance)) {
        let counts = report.distances.get_or_insert_default();
        counts.resize(counts.len().max(distance as usize + 1), 0);
        counts[distance as usize] += 1;
    }
    report.unlinked = removals.iter().filter(|r| r.closeness.is_none()).count() as u64;
}

fn both(removal: &Removal) -> [WantedText; 2] {
    let kept = WantedText { of: Of::Originals, row: removal.kept };
    [kept, WantedText { of: Of::Documents, row: removal.row }]
}

/// Chooses removed documents as examples, from the least to the most similar. Divides the removed documents
/// into degrees of closeness. From each degree, takes the document whose texts are cheapest to read. Leaves
/// half of the budget for reading texts to the previews.
fn choose_examples<'r>(
    removals: &'r [Removal],
    affordable: &mut AffordableTexts,
) -> Vec<&'r Removal> {
    let half = affordable.left() / 2;
    let is_affordable = |removal: &&Removal| {
        let [kept, removed] = both(removal);
        affordable.price_of_both(kept, removed) <= half
    };
    let proven = removals.iter().filter(|removal| removal.closeness.is_some());
    let mut candidates: Vec<&Removal> = proven.filter(is_affordable).collect();
    candidates.sort_by(|a, b| {
        let by_closeness = match (a.closeness, b.closeness) {
            (Some(a), Some(b)) => a.compare(b),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        by_closeness.then(a.row.cmp(&b.row))
    });
    let mut chosen = Vec::new();
    for degree in candidates.chunks(candidates.len().div_ceil(EXAMPLES).max(1)) {
        let cheapest = degree.iter().min_by_key(|removal| {
            let [kept, removed] = both(removal);
            affordable.price_of_both(kept, removed)
        });
        let Some(&cheapest) = cheapest else { continue };
        let [kept, removed] = both(cheapest);
        let price = affordable.price_of_both(kept, removed);
        if affordable.left() - price.min(affordable.left()) >= half {
            affordable.choose(kept, half);
            affordable.choose(removed, half);
            chosen.push(cheapest);
        }
    }
    chosen
}

/// Returns the largest clusters, largest first. Among clusters of the same size, clusters with a text that is
/// cheap to read come first.
fn largest_clusters<'c>(clusters: &'c [Cluster], affordable: &AffordableTexts) -> Vec<&'c Cluster> {
    let mut largest: Vec<&Cluster> = clusters.iter().collect();
    let by_size = |cluster: &&Cluster| (Reverse(cluster.removed.len()), cluster.kept);
    largest.sort_unstable_by_key(by_size);
    // Only clusters that are at least as large as the last one of the page can be on the page.
    let last = largest.get(CLUSTERS - 1).map_or(0, |cluster| cluster.removed.len());
    largest.truncate(largest.partition_point(|cluster| cluster.removed.len() >= last));
    let price = |cluster: &Cluster| affordable.price(cheapest_text(cluster, affordable));
    largest.sort_by_cached_key(|cluster| {
        (Reverse(cluster.removed.len()), price(cluster), cluster.kept)
    });
    largest.truncate(CLUSTERS);
    largest
}

/// Returns the document of a cluster whose text is cheapest to read: the kept document, unless a removed one
/// is cheaper.
fn cheapest_text(cluster: &Cluster, affordable: &AffordableTexts) -> WantedText {
    let kept = WantedText { of: Of::Originals, row: cluster.kept };
    let removed = cluster.removed.iter().take(PREVIEW_CANDIDATES);
    let removed = removed.map(|removal| WantedText { of: Of::Documents, row: removal.row });
    removed.fold(kept, |cheapest, other| {
        if affordable.price(other) < affordable.price(cheapest) { other } else { cheapest }
    })
}

/// Returns for each cluster the document whose text is its preview, or `None` if reading the text costs too
/// much. The cheapest texts are chosen first, so that the budget is enough for as many clusters as possible.
fn choose_previews(
    clusters: &[&Cluster],
    affordable: &mut AffordableTexts,
) -> Vec<Option<WantedText>> {
    let cheapest = clusters.iter().enumerate().map(|(at, cluster)| {
        let cheapest = cheapest_text(cluster, affordable);
        (affordable.price(cheapest), at, cheapest)
    });
    let mut cheapest: Vec<_> = cheapest.collect();
    cheapest.sort_by_key(|&(price, at, _)| (price, at));
    let mut previews = vec![None; clusters.len()];
    for (_, at, wanted) in cheapest {
        previews[at] = affordable.choose(wanted, 0).then_some(wanted);
    }
    previews
}

/// Returns the data about a cluster that the page shows. The removed documents are sorted, the least similar
/// first.
fn shown_cluster(
    findings: &Findings<'_>,
    cluster: &Cluster,
    preview: Option<WantedText>,
    texts: &Beginnings,
) -> report::ReportCluster {
    let mut members: Vec<&Removal> = cluster.removed.iter().collect();
    members.sort_by(|a, b| {
        let by_closeness = match (a.closeness, b.closeness) {
            (Some(a), Some(b)) => a.compare(b),
            // A document that was not compared with the kept one counts as less similar than the others.
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        by_closeness.then(a.row.cmp(&b.row))
    });
    let member = |removal: &&Removal| ReportMember {
        name: shown_name(&findings.documents().name(removal.row)),
        closeness: removal.closeness.map(shown).unwrap_or_default(),
    };
    let preview = preview.and_then(|wanted| {
        let text = texts.get(wanted)?;
        Some(Preview {
            text: text[..text.len().min(PREVIEW_BYTES)].to_vec(),
            is_of_kept: wanted.of == Of::Originals,
        })
    });
    report::ReportCluster {
        kept: shown_name(&findings.originals().name(cluster.kept)),
        removed: cluster.removed.len() as u64,
        members: members.iter().take(MEMBERS).map(member).collect(),
        preview,
    }
}

/// Returns the names and texts of a removed and a kept document. Returns `None` if one of the texts was not
/// read.
fn example(findings: &Findings<'_>, removal: &Removal, texts: &Beginnings) -> Option<Example> {
    let [kept, removed] = both(removal);
    Some(Example {
        kept: shown_name(&findings.originals().name(removal.kept)),
        removed: shown_name(&findings.documents().name(removal.row)),
        closeness: removal.closeness.map(shown).unwrap_or_default(),
        kept_text: texts.get(kept)?.clone(),
        removed_text: texts.get(removed)?.clone(),
    })
}

fn shown(closeness: Closeness) -> String {
    let similarity = closeness.similarity().map(|similarity| match similarity {
        1.0 => "similarity 1".to_owned(),
        // Similarities just below 1 must not be rounded to 1, which means equal.
        s if s >= 0.9995 => "similarity > 0.999".to_owned(),
        s => format!("similarity {s:.3}"),
    });
    let distance = closeness.distance().map(|d| format!("distance {d}"));
    similarity.into_iter().chain(distance).collect::<Vec<_>>().join(", ")
}
