//! Chooses the clusters that the page lists and the texts that it needs for them, and collects their data.

use super::affordable_texts::{AffordableTexts, Beginnings, Of, WantedText};
use super::findings::Findings;
use super::shared_words::{COMPARED_DOCUMENTS, shared_words};
use super::shown_pairs::{by_closeness, shown, shown_name};
use crate::cluster::{Cluster, Removal};
use crate::write::report::{CLUSTERS, MEMBERS, Preview, ReportCluster, ReportMember};
use crate::write::shared_words::SharedWords;
use simtool_base::error::Result;
use simtool_compute::context::Context;
use std::cmp::Reverse;

/// Number of bytes at the beginning of a text from which its preview is made.
const PREVIEW_BYTES: usize = 600;

/// Maximum number of removed documents of a cluster that are considered for the preview. The preview shows
/// the text that is cheapest to read.
const PREVIEW_CANDIDATES: usize = 200;

/// Minimum number of texts to compute the words that the documents of a cluster share. A cluster with fewer documents
/// needs the texts of all its documents.
const FEWEST_COMPARED: usize = 5;

/// A cluster that the report page lists, and the texts that are read to show it.
pub(super) struct ListedCluster<'c> {
    cluster: &'c Cluster<'c>,
    /// Beginning of a text of the cluster that was kept in memory while the input was read. `None` if none was kept.
    excerpt: Option<Preview>,
    /// Document whose text is the preview. `None` if there is an excerpt, or if reading a text costs too much.
    preview: Option<WantedText>,
    /// Documents whose words are compared with each other. Empty if reading their texts costs too much.
    compared: Vec<WantedText>,
}

/// Chooses the largest clusters for the report page, and the texts that are read to show them.
pub(super) fn list_clusters<'c>(
    findings: &Findings<'_>,
    clusters: &'c [Cluster<'c>],
    affordable: &mut AffordableTexts,
) -> Vec<ListedCluster<'c>> {
    let largest = largest_clusters(clusters, affordable);
    let mut listed: Vec<ListedCluster<'_>> = largest
        .into_iter()
        .map(|cluster| {
            let excerpt = excerpt(findings, cluster);
            ListedCluster { cluster, excerpt, preview: None, compared: Vec::new() }
        })
        .collect();
    // Previews come first, because a cluster without any text says least.
    choose_previews(&mut listed, affordable);
    for listed in &mut listed {
        listed.compared = choose_compared(listed.cluster, affordable);
    }
    listed
}

/// Returns the beginning of a text of the cluster that was kept in memory. It is of the kept document if possible.
fn excerpt(findings: &Findings<'_>, cluster: &Cluster<'_>) -> Option<Preview> {
    let kept = findings.original_excerpt(cluster.kept).map(|text| (text, true));
    let (text, is_of_kept) = kept.or_else(|| {
        let mut removed = cluster.removed.iter().take(PREVIEW_CANDIDATES);
        removed.find_map(|removal| Some((findings.document_excerpt(removal.row)?, false)))
    })?;
    Some(Preview { text: text.to_vec(), is_of_kept })
}

/// Collects the data of the listed clusters from the texts that were read.
///
/// # Errors
///
/// The work was cancelled.
pub(super) fn shown_clusters(
    findings: &Findings<'_>,
    listed: &[ListedCluster<'_>],
    texts: &Beginnings,
    context: &Context<'_>,
) -> Result<Vec<ReportCluster>> {
    context.check_cancelled()?;
    let shared: Vec<Option<SharedWords>> =
        context.threads().map(listed.iter().collect(), |listed: &ListedCluster<'_>| {
            let texts = listed.compared.iter().filter_map(|&wanted| texts.get(wanted));
            let texts: Vec<&[u8]> = texts.map(Vec::as_slice).collect();
            let documents = listed.cluster.removed.len() + 1;
            // Few texts of a large cluster could be the exception, so nothing is said about it.
            let is_enough = texts.len() >= documents.min(FEWEST_COMPARED);
            if is_enough { shared_words(&texts, documents, context.isa()) } else { None }
        });
    let clusters = listed.iter().zip(shared);
    Ok(clusters.map(|(listed, shared)| shown_cluster(findings, listed, shared, texts)).collect())
}

/// Chooses documents of a cluster whose words are compared: the kept document, and removed documents evenly spread over
/// the cluster. Texts that cost too much are left out.
fn choose_compared(cluster: &Cluster<'_>, affordable: &mut AffordableTexts) -> Vec<WantedText> {
    let kept = WantedText { of: Of::Originals, row: cluster.kept };
    let count = cluster.removed.len();
    let chosen = count.min(COMPARED_DOCUMENTS - 1);
    let removed = (0..chosen).map(|number| {
        let removal = &cluster.removed[number * count / chosen];
        WantedText { of: Of::Documents, row: removal.row }
    });
    let wanted = std::iter::once(kept).chain(removed);
    wanted.filter(|&wanted| affordable.choose(wanted, 0)).collect()
}

/// Returns the largest clusters, largest first. Among clusters of the same size, clusters with a text that is
/// cheap to read come first.
fn largest_clusters<'c>(
    clusters: &'c [Cluster<'c>],
    affordable: &AffordableTexts,
) -> Vec<&'c Cluster<'c>> {
    let mut largest: Vec<&Cluster<'_>> = clusters.iter().collect();
    let by_size = |cluster: &&Cluster<'_>| (Reverse(cluster.removed.len()), cluster.kept);
    largest.sort_unstable_by_key(by_size);
    // Only clusters that are at least as large as the last one of the page can be on the page.
    let last = largest.get(CLUSTERS - 1).map_or(0, |cluster| cluster.removed.len());
    largest.truncate(largest.partition_point(|cluster| cluster.removed.len() >= last));
    let price = |cluster: &Cluster<'_>| affordable.price(cheapest_text(cluster, affordable));
    largest.sort_by_cached_key(|cluster| {
        (Reverse(cluster.removed.len()), price(cluster), cluster.kept)
    });
    largest.truncate(CLUSTERS);
    largest
}

/// Returns the document of a cluster whose text is cheapest to read: the kept document, unless a removed one
/// is cheaper.
fn cheapest_text(cluster: &Cluster<'_>, affordable: &AffordableTexts) -> WantedText {
    let kept = WantedText { of: Of::Originals, row: cluster.kept };
    let removed = cluster.removed.iter().take(PREVIEW_CANDIDATES);
    let removed = removed.map(|removal| WantedText { of: Of::Documents, row: removal.row });
    removed.fold(kept, |cheapest, other| {
        if affordable.price(other) < affordable.price(cheapest) { other } else { cheapest }
    })
}

/// Chooses the document whose text is the preview, for each cluster without an excerpt. The cheapest texts are chosen
/// first, so that the budget is enough for as many clusters as possible.
fn choose_previews(listed: &mut [ListedCluster<'_>], affordable: &mut AffordableTexts) {
    let without = listed.iter().enumerate().filter(|(_, listed)| listed.excerpt.is_none());
    let cheapest = without.map(|(at, listed)| {
        let cheapest = cheapest_text(listed.cluster, affordable);
        (affordable.price(cheapest), at, cheapest)
    });
    let mut cheapest: Vec<_> = cheapest.collect();
    cheapest.sort_by_key(|&(price, at, _)| (price, at));
    for (_, at, wanted) in cheapest {
        listed[at].preview = affordable.choose(wanted, 0).then_some(wanted);
    }
}

/// Returns the removed documents of a cluster that the page shows, the least similar first.
fn shown_members<'r>(cluster: &Cluster<'r>) -> Vec<&'r Removal> {
    let mut members = Vec::new();
    // Few are shown, and a cluster may have millions. So the others are dropped from time to time.
    for some in cluster.removed.chunks(MEMBERS) {
        members.extend_from_slice(some);
        members.sort_unstable_by(|a, b| by_closeness(a, b));
        members.truncate(MEMBERS);
    }
    members
}

/// Returns the data about a cluster that the page shows. The removed documents are sorted, the least similar
/// first.
fn shown_cluster(
    findings: &Findings<'_>,
    listed: &ListedCluster<'_>,
    shared: Option<SharedWords>,
    texts: &Beginnings,
) -> ReportCluster {
    let ListedCluster { cluster, excerpt, preview, .. } = listed;
    let members = shown_members(cluster);
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
    ReportCluster {
        kept: shown_name(&findings.originals().name(cluster.kept)),
        removed: cluster.removed.len() as u64,
        members: members.iter().map(member).collect(),
        preview: preview.or_else(|| excerpt.clone()),
        shared,
    }
}
