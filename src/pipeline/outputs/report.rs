//! Puts the page together that shows a person what was found.

use super::findings::{Findings, Side};
use crate::closeness::Closeness;
use crate::cluster::{Cluster, Removal};
use crate::document::DocOrdinal;
use crate::document_name::DocumentName;
use crate::error::Result;
use crate::pipeline::shard_summary::read_again;
use crate::pipeline::watched::Watched;
use crate::pipeline::workers::Workers;
use crate::progress::{Progress, Work};
use crate::read::Corpus;
use crate::unordered_map::UnorderedMap;
use crate::write::report::{
    self, BAD_RECORDS, CLUSTERS, Counts, EXAMPLES, Example, Name, QuarantinedRecord, Report,
    SOURCES, Similarities, Source, Stage,
};
use crate::write::summary::Summary;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Most bytes of a text that the page's examples are made from.
const EXAMPLE_BYTES: usize = 16 << 10;

/// The page's data. `summary` is complete but for its own times.
///
/// # Errors
///
/// A file cannot be read again for the examples.
pub(super) fn report(
    findings: &Findings<'_>,
    clusters: &[Cluster],
    summary: &Summary,
    workers: &Workers,
    progress: &dyn Progress,
) -> Result<Report> {
    let (documents, originals) = (findings.documents(), findings.originals());
    let removals = findings.removals;
    let Side { collection, read } = documents;
    let name = |row: u32| shown_name(&originals.name(row));
    let mut largest: Vec<&Cluster> = clusters.iter().collect();
    largest.sort_by_key(|cluster| (Reverse(cluster.removed.len()), cluster.kept));
    let mut cluster_sizes = BTreeMap::new();
    for cluster in clusters {
        *cluster_sizes.entry(cluster.removed.len() as u64 + 1).or_insert(0) += 1;
    }
    let mut report = Report {
        title: title(collection),
        command: summary.command.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        parameters: (summary.parameters.iter())
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
        counts: Counts {
            documents: summary.documents + summary.quarantined,
            kept: summary.kept,
            removed: summary.removed,
            quarantined: summary.quarantined,
            without_words: summary.without_terms,
            pairs: summary.pairs,
            bytes: summary.text_bytes,
            removed_bytes: (removals.iter()).map(|r| u64::from(read.lengths[r.row as usize])).sum(),
        },
        stages: (summary.stages.iter())
            .map(|&(name, time)| Stage { name: name.to_owned(), time, bytes: summary.text_bytes })
            .collect(),
        cluster_sizes,
        largest_clusters: (largest.iter().take(CLUSTERS))
            .map(|cluster| report::Cluster {
                kept: name(cluster.kept),
                size: cluster.removed.len() as u64 + 1,
            })
            .collect(),
        sources: sources(documents, removals),
        examples: examples(findings, workers, progress)?,
        quarantined: (read.quarantined.iter().take(BAD_RECORDS))
            .map(|quarantined| QuarantinedRecord {
                file: file_name(collection, quarantined.file),
                record: quarantined.record.record,
                byte: quarantined.record.byte,
                code: quarantined.record.bad.code,
                expected: quarantined.record.bad.expected.clone().into_owned(),
            })
            .collect(),
        faults: read.faults.clone(),
        distance_means: summary.distance_means.clone().unwrap_or_default(),
        ..Report::default()
    };
    add_histograms(&mut report, removals);
    Ok(report)
}

fn shown_name(name: &DocumentName<'_>) -> Name {
    let file = name.file.as_os_str().as_encoded_bytes().to_vec();
    Name { id: name.id.to_vec(), file, record: name.record }
}

fn file_name(collection: &dyn Corpus, file: usize) -> Vec<u8> {
    collection.file_name(file).as_os_str().as_encoded_bytes().to_vec()
}

/// The first file's name, and how many there are.
fn title(collection: &dyn Corpus) -> String {
    match collection.file_count() {
        0 => "nothing".to_owned(),
        1 if collection.file_name(0).as_os_str().is_empty() => "texts in memory".to_owned(),
        1 => collection.file_name(0).display().to_string(),
        count => format!("{} and {} more files", collection.file_name(0).display(), count - 1),
    }
}

/// How close removed documents are to the kept ones.
fn add_histograms(report: &mut Report, removals: &[Removal]) {
    let similarities = removals.iter().filter_map(|r| r.closeness.and_then(Closeness::similarity));
    let smallest = similarities.clone().fold(1.0, f64::min);
    if similarities.clone().next().is_some() {
        // From the tenth below the smallest, so that the axis begins at a round number.
        let mut histogram = Similarities::new((smallest * 10.0).floor() / 10.0);
        similarities.for_each(|similarity| histogram.add(similarity, 1));
        report.similarities = Some(histogram);
    }
    for distance in removals.iter().filter_map(|r| r.closeness.and_then(Closeness::distance)) {
        let counts = report.distances.get_or_insert_default();
        counts.resize(counts.len().max(distance as usize + 1), 0);
        counts[distance as usize] += 1;
    }
}

/// The files that most of the removed documents came from.
fn sources(documents: Side<'_>, removals: &[Removal]) -> Vec<Source> {
    let mut counts: BTreeMap<u32, u64> = BTreeMap::new();
    for removal in removals {
        *counts.entry(documents.read.ids.place(DocOrdinal(removal.row)).file).or_insert(0) += 1;
    }
    let mut counts: Vec<(u32, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|&(file, removed)| (Reverse(removed), file));
    let source = |&(file, removed): &(u32, u64)| Source {
        name: file_name(documents.collection, file as usize),
        removed,
    };
    counts.iter().take(SOURCES).map(source).collect()
}

/// Removed documents of every degree of closeness, beside those kept in their place.
fn examples(
    findings: &Findings<'_>,
    workers: &Workers,
    progress: &dyn Progress,
) -> Result<Vec<Example>> {
    let (documents, originals) = (findings.documents(), findings.originals());
    let removals = findings.removals;
    let mut proven: Vec<(&Removal, Closeness)> =
        removals.iter().filter_map(|r| r.closeness.map(|closeness| (r, closeness))).collect();
    proven.sort_by(|(a, to_a), (b, to_b)| to_a.compare(*to_b).then(a.row.cmp(&b.row)));
    let step = proven.len().div_ceil(EXAMPLES).max(1);
    let chosen: Vec<_> = proven.into_iter().step_by(step).collect();
    let kept_rows = chosen.iter().map(|(removal, _)| removal.kept).collect();
    let kept_texts = texts(originals, kept_rows, workers, progress)?;
    let removed_texts =
        texts(documents, chosen.iter().map(|(r, _)| r.row).collect(), workers, progress)?;
    let text =
        |texts: &UnorderedMap<u32, Vec<u8>>, row: u32| texts.get(&row).cloned().unwrap_or_default();
    let example = |(removal, closeness): &(&Removal, Closeness)| Example {
        kept: shown_name(&originals.name(removal.kept)),
        removed: shown_name(&documents.name(removal.row)),
        closeness: shown(*closeness),
        kept_text: text(&kept_texts, removal.kept),
        removed_text: text(&removed_texts, removal.row),
    };
    Ok(chosen.iter().map(example).collect())
}

fn shown(closeness: Closeness) -> String {
    let similarity = closeness.similarity().map(|s| format!("similarity {s:.3}"));
    let distance = closeness.distance().map(|d| format!("distance {d}"));
    similarity.into_iter().chain(distance).collect::<Vec<_>>().join(", ")
}

/// The beginnings of the texts of some documents.
fn texts(
    side: Side<'_>,
    mut rows: Vec<u32>,
    workers: &Workers,
    progress: &dyn Progress,
) -> Result<UnorderedMap<u32, Vec<u8>>> {
    let Side { collection, read } = side;
    rows.sort_unstable();
    rows.dedup();
    let of_shard = |shard: usize| {
        let (first, end) = (read.ids.first_of_shard(shard), read.ids.end_of_shard(shard));
        let [from, to] = [first, end].map(|border| rows.partition_point(|&row| row < border.0));
        (shard, first.0, &rows[from..to])
    };
    let shards = (0..collection.shard_count()).map(of_shard);
    let shards: Vec<_> = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
    let bytes = shards.iter().map(|&(shard, ..)| collection.shard_bytes(shard)).sum();
    progress.begin("reading examples", Work::Bytes(bytes));
    let collection = &Watched { corpus: collection, progress };
    let texts = workers.map(shards, |(shard, first, wanted): (usize, u32, &[u32])| {
        let mut texts = Vec::with_capacity(wanted.len());
        let end = wanted.last().map_or(0, |last| last - first + 1);
        let is_wanted = |index: u32| wanted.binary_search(&(first + index)).is_ok();
        read_again(collection, shard, end, &is_wanted, &mut |index, text| {
            texts.push((first + index, text[..text.len().min(EXAMPLE_BYTES)].to_vec()));
        })?;
        Ok(texts)
    });
    let texts: Vec<Vec<(u32, Vec<u8>)>> = texts.into_iter().collect::<Result<_>>()?;
    Ok(texts.into_iter().flatten().collect())
}
