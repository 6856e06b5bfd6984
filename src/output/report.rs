//! Collects the data of the page `report.html`.

use super::affordable_texts::AffordableTexts;
use super::caught_texts::CaughtTexts;
use super::findings::{Findings, Side};
use super::listed_clusters::{ListedCluster, list_clusters, shown_clusters};
use super::shown_pairs::{both, by_closeness, example, shown_name};
use super::sources::{SourceCounts, sources};
use crate::cluster::{Cluster, Removal};
use crate::write::report::{
    BAD_RECORDS, EXAMPLES, PartOfPage, QuarantinedRecord, Report, Similarities,
};
use simtool_base::byte_text::path_text;
use simtool_base::error::Result;
use simtool_base::memory_ledger::Ledger;
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_read::Corpus;

/// Choice of the examples and clusters of the page, and of the texts that are read for them.
pub(super) struct PageTexts<'c> {
    examples: Vec<&'c Removal>,
    clusters: Vec<ListedCluster<'c>>,
    texts: AffordableTexts,
}

impl<'c> PageTexts<'c> {
    /// Chooses examples, clusters and texts. If `is_copied`, all documents that may be removed are read anyway to copy
    /// them, so their texts cost nothing.
    pub(super) fn choose(
        findings: &Findings<'c>,
        clusters: &'c [Cluster<'c>],
        is_copied: bool,
        memory: &Ledger,
    ) -> Self {
        let mut texts = AffordableTexts::new(findings, memory);
        if is_copied {
            texts = texts.with_documents_read_anyway();
        }
        let examples = choose_examples(findings, &mut texts);
        let clusters = list_clusters(findings, clusters, &mut texts);
        Self { examples, clusters, texts }
    }

    /// Returns a collector for the chosen texts of documents that the run reads anyway to copy them. Returns `None` if
    /// the run copies no documents.
    pub(super) fn caught(&self, memory: &Ledger) -> Option<CaughtTexts> {
        self.texts.caught(memory)
    }

    /// Collects the data of the page: charts, clusters with previews, sources and examples. `counts` has
    /// the removals by source, `clusters` are all clusters, and `caught` has the texts that were read anyway.
    ///
    /// # Errors
    ///
    /// A file cannot be read again for examples and previews.
    pub(super) fn report(
        self,
        findings: &Findings<'_>,
        counts: &SourceCounts,
        clusters: &[Cluster<'_>],
        caught: Option<CaughtTexts>,
        context: &Context<'_>,
    ) -> Result<Report> {
        let texts = self.texts.read(findings, caught, context)?;
        let examples = self.examples.iter();
        Ok(Report {
            titles: findings.sides.iter().map(|side| title(side.collection)).collect(),
            clusters: shown_clusters(findings, &self.clusters, &texts, context)?,
            sources: sources(findings, counts),
            examples: examples.filter_map(|removal| example(findings, removal, &texts)).collect(),
            little_pages: little_pages(&findings.sides),
            quarantined: quarantined(&findings.sides),
            ..histograms(findings.removals, clusters, findings.sides.is_two())
        })
    }
}

/// Returns the data of the charts of the page: similarities and distances of removed documents to kept ones,
/// and the sizes of clusters. In a match, the size of a cluster counts only the queries.
#[must_use]
pub fn histograms(removals: &[Removal], clusters: &[Cluster<'_>], is_match: bool) -> Report {
    let mut report = Report::default();
    for cluster in clusters {
        // In a match, the kept document belongs to the corpus, so it does not count.
        let size = cluster.removed.len() as u64 + u64::from(!is_match);
        *report.cluster_sizes.entry(size).or_insert(0) += 1;
    }
    add_closeness(&mut report, removals);
    report
}

/// Returns a heading for a collection: the name of its first file and the number of other files.
pub(super) fn title(collection: &dyn Corpus) -> String {
    let more = |more: usize| format!("{more} more file{}", if more == 1 { "" } else { "s" });
    match collection.file_count() {
        0 => "nothing".to_owned(),
        1 if collection.file_name(0).as_os_str().is_empty() => "texts in memory".to_owned(),
        1 => path_text(collection.file_name(0)).into_owned(),
        count => format!("{} and {}", path_text(collection.file_name(0)), more(count - 1)),
    }
}

/// Returns the first records of all collections that could not be read as documents, up to the number that the page
/// lists.
pub(super) fn quarantined(sides: &Sides<Side<'_>>) -> Vec<QuarantinedRecord> {
    let of_side = sides.iter().flat_map(|side| {
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

/// Returns the HTML pages of each collection whose main content is a small share of their text.
pub(super) fn little_pages(sides: &Sides<Side<'_>>) -> Vec<PartOfPage> {
    let of_side = sides.iter().flat_map(|side| {
        side.read.little_pages.as_slice().iter().map(|page| PartOfPage {
            name: shown_name(&side.name(page.row)),
            words: page.words,
            left_out_words: page.left_out_words,
        })
    });
    of_side.collect()
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

/// Chooses removed documents as examples, from the least to the most similar. Divides the removed documents
/// into degrees of closeness. From each degree, takes the document whose texts are cheapest to read. Leaves
/// half of the budget for reading texts to the previews.
fn choose_examples<'r>(
    findings: &Findings<'r>,
    affordable: &mut AffordableTexts,
) -> Vec<&'r Removal> {
    let removals = findings.removals;
    // With coverage, no removal has a closeness, and each has a kept document with most of its words.
    let is_coverage = findings.coverage().is_some();
    let half = affordable.left() / 2;
    let price = |removal: &Removal, affordable: &AffordableTexts| {
        let [kept, removed] = both(removal);
        affordable.price_of_both(kept, removed)
    };
    // There may be hundreds of millions of removals, and their places take the least memory.
    let at = |&place: &u32| &removals[place as usize];
    let is_affordable = |removal: &Removal| {
        (is_coverage || removal.closeness.is_some()) && price(removal, affordable) <= half
    };
    let places = (0..).zip(removals).filter(|(_, removal)| is_affordable(removal));
    let mut candidates: Vec<u32> = places.map(|(place, _)| place).collect();
    candidates.sort_unstable_by(|a, b| by_closeness(at(a), at(b)));
    let mut chosen = Vec::new();
    for degree in candidates.chunks(candidates.len().div_ceil(EXAMPLES).max(1)) {
        let cheapest = degree.iter().map(at).min_by_key(|removal| price(removal, affordable));
        let Some(cheapest) = cheapest else { continue };
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
