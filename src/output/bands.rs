//! Counts removed documents by their similarity and by the size of their cluster.

use crate::cluster::{Cluster, Removal};
use crate::write::preview::Band;
use simtool_base::quantity::grouped;
use simtool_model::closeness::Closeness;
use std::collections::BTreeMap;

/// Number of bands between the similarities 0 and 1.
const SIMILARITY_BANDS: u64 = 20;
/// Maximum number of distances that are counted one by one. If there are more distances, several of them share a band
/// (a range of distances).
const DISTANCE_BANDS: u32 = 10;
/// Smallest number of documents of a cluster in each band. A band is a range of cluster sizes, for example 3 to 5.
const SIZES: [u64; 6] = [2, 3, 6, 11, 101, 1001];

/// Counts the removed documents by their similarity to the kept document or, if only distances were measured, by
/// their distance. The closest documents come first. Bands without documents are left out.
pub(super) fn closeness_bands(removals: &[Removal]) -> Vec<Band> {
    // With few distances, each has a band of its own.
    let farthest = removals.iter().filter_map(|removal| removal.closeness?.distance()).max();
    let step = (farthest.unwrap_or(0) + 1).div_ceil(DISTANCE_BANDS);
    let mut bands: BTreeMap<(u64, String), u64> = BTreeMap::new();
    for removal in removals {
        *bands.entry(closeness_band(removal.closeness, step)).or_insert(0) += 1;
    }
    let band = |((_, name), removed)| Band { name, removed, clusters: None };
    bands.into_iter().map(band).collect()
}

/// Returns the number by which bands are sorted, and the name of the band. A band of distances covers `step` distances.
fn closeness_band(closeness: Option<Closeness>, step: u32) -> (u64, String) {
    let Some(closeness) = closeness else {
        return (u64::MAX, "linked through others".to_owned());
    };
    if let Some(similarity) = closeness.exact_similarity() {
        if similarity.shared == similarity.union {
            return (0, "similarity 1".to_owned());
        }
        // Computed with integers, so that a similarity at the border of two bands is in the right one.
        let product = u128::from(similarity.shared) * u128::from(SIMILARITY_BANDS);
        let from = (product / u128::from(similarity.union.max(1))) as u64;
        let border = |band: u64| band as f64 / SIMILARITY_BANDS as f64;
        let name = format!("similarity {:.2} to {:.2}", border(from), border(from + 1));
        return (SIMILARITY_BANDS - from, name);
    }
    let from = closeness.distance().unwrap_or(0) / step * step;
    let name = match step {
        1 => format!("distance {from}"),
        _ => format!("distance {from} to {}", from + step - 1),
    };
    (from.into(), name)
}

/// Counts the removed documents and the clusters by the number of documents of the cluster. In a match, only the
/// removed documents of a cluster count, and not the kept one. Bands without clusters are left out.
pub(super) fn size_bands(clusters: &[Cluster<'_>], is_match: bool) -> Vec<Band> {
    let mut counts = [[0, 0]; SIZES.len() + 1];
    for cluster in clusters {
        let removed = cluster.removed.len() as u64;
        let size = removed + u64::from(!is_match);
        let [clusters, of_band] = &mut counts[SIZES.partition_point(|&least| least <= size)];
        (*clusters, *of_band) = (*clusters + 1, *of_band + removed);
    }
    // A band is counted at the index of its end, so the sizes below the first border have index 0.
    let named = counts.iter().enumerate().filter(|(_, [clusters, _])| *clusters > 0);
    named
        .map(|(end, &[clusters, removed])| {
            let from = end.checked_sub(1).map_or(1, |band| SIZES[band]);
            let name = match SIZES.get(end).map(|next| next - 1) {
                Some(1) => "1 document".to_owned(),
                Some(last) if last == from => format!("{from} documents"),
                Some(last) => format!("{from} to {} documents", grouped(last)),
                None => format!("more than {} documents", grouped(from - 1)),
            };
            Band { name, removed, clusters: Some(clusters) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use simtool_model::similarity::Similarity;

    fn removals(closeness: Vec<Option<Closeness>>) -> Vec<Removal> {
        closeness.into_iter().map(|closeness| Removal { row: 1, kept: 0, closeness }).collect()
    }

    fn counts(bands: &[Band]) -> Vec<(&str, u64)> {
        bands.iter().map(|band| (band.name.as_str(), band.removed)).collect()
    }

    #[test]
    fn similarities_at_the_border_of_bands_are_in_the_upper_one() {
        let similar = |shared, union| Some(Closeness::Similarity(Similarity { shared, union }));
        let removals = removals(vec![
            similar(17, 20),
            similar(16, 20),
            similar(169, 200),
            None,
            similar(9, 9),
            Some(Closeness::Verified(Similarity::ALMOST_ONE, 3)),
        ]);
        let expected = [
            ("similarity 1", 1),
            ("similarity 0.95 to 1.00", 1),
            ("similarity 0.85 to 0.90", 1),
            ("similarity 0.80 to 0.85", 2),
            ("linked through others", 1),
        ];
        assert_eq!(counts(&closeness_bands(&removals)), expected);
    }

    #[test]
    fn many_distances_share_bands() {
        let at = |distances: &[u32]| {
            let distance = |&distance: &u32| Some(Closeness::Distance(distance));
            closeness_bands(&removals(distances.iter().map(distance).collect()))
        };
        assert_eq!(counts(&at(&[3, 0, 3])), [("distance 0", 1), ("distance 3", 2)]);
        assert_eq!(
            counts(&at(&[19, 0, 3])),
            [("distance 0 to 1", 1), ("distance 2 to 3", 1), ("distance 18 to 19", 1)]
        );
        assert!(at(&[]).is_empty());
    }

    #[test]
    fn clusters_are_counted_by_their_size() {
        let removals = removals(vec![None; 1000]);
        let cluster =
            |removed: usize| Cluster { kept: 0, removed: removals[..removed].iter().collect() };
        let clusters = [1, 1, 2, 4, 5, 1000].map(cluster);
        let bands = size_bands(&clusters, false);
        let found = bands.iter().map(|band| (band.name.as_str(), band.clusters, band.removed));
        let expected = [
            ("2 documents", Some(2), 2),
            ("3 to 5 documents", Some(2), 6),
            ("6 to 10 documents", Some(1), 5),
            ("more than 1,000 documents", Some(1), 1000),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(size_bands(&clusters[..1], true)[0].name, "1 document");
    }
}
