//! Close fingerprints × the texts: which pairs have sets of terms that are similar enough.
//!
//! A group of n equal fingerprints is n² pairs. So the rows of a group are put together by equal
//! sets first, and only different sets are compared. The sets of all rows that are close to any
//! other are in memory, each once.

use super::compare::shared;
use super::document_terms::{DocumentTerms, TermScratch};
use super::shard_summary::read_again;
use super::workers::Workers;
use crate::closeness::{CloseAcross, ClosePair, CloseRows, Closeness, RowGroups};
use crate::document::DocumentIds;
use crate::error::Result;
use crate::read::{Collection, Corpus};
use crate::similarity::{Similarity, Threshold};

/// Comparisons of groups that a worker takes at a time.
const TASKS_AT_ONCE: usize = 64;

/// The texts of a collection that was read before.
pub(super) struct Texts<'r> {
    pub(super) collection: &'r Collection,
    pub(super) ids: &'r DocumentIds,
    pub(super) terms: &'r DocumentTerms,
    pub(super) workers: &'r Workers,
}

/// Rows of a group with equal sets of terms, ascending.
struct Class {
    group: u32,
    terms: Vec<u64>,
    rows: Vec<u32>,
}

impl Texts<'_> {
    /// The rows of each group by their sets of terms.
    fn classes(&self, groups: &[Vec<u32>]) -> Result<Vec<Vec<Class>>> {
        let numbered = (0u32..).zip(groups);
        let mut rows: Vec<(u32, u32)> =
            numbered.flat_map(|(group, rows)| rows.iter().map(move |&row| (row, group))).collect();
        rows.sort_unstable();
        let of_shard = |shard: usize| {
            let first = self.ids.first_of_shard(shard).0;
            let [from, to] = [first, self.ids.end_of_shard(shard).0]
                .map(|border| rows.partition_point(|&(row, _)| row < border));
            (shard, first, &rows[from..to])
        };
        let shards = (0..self.collection.shard_count()).map(of_shard);
        let shards = shards.filter(|(.., wanted)| !wanted.is_empty()).collect();
        let parts = self.workers.map(shards, |(shard, first, wanted): (_, _, &[(u32, u32)])| {
            let mut classes = Vec::new();
            let mut scratch = TermScratch::default();
            let place = |index: u32| wanted.binary_search_by_key(&(first + index), |&(row, _)| row);
            let end = wanted.last().map_or(0, |(last, _)| last - first + 1);
            let is_wanted = |index| place(index).is_ok();
            read_again(self.collection, shard, end, &is_wanted, &mut |index, text| {
                let Ok(place) = place(index) else { return };
                let (row, group) = wanted[place];
                let terms = self.terms.of(text, &mut scratch);
                terms.sort_unstable();
                terms.dedup();
                classes.push(Class { group, terms: terms.clone(), rows: vec![row] });
            })?;
            Ok(merged(classes))
        });
        let parts: Vec<Vec<Class>> = parts.into_iter().collect::<Result<_>>()?;
        let mut classes: Vec<Vec<Class>> = groups.iter().map(|_| Vec::new()).collect();
        for class in merged(parts.into_iter().flatten().collect()) {
            classes[class.group as usize].push(class);
        }
        Ok(classes)
    }
}

/// One class for all of equal group and set; their rows were in order.
fn merged(mut classes: Vec<Class>) -> Vec<Class> {
    classes.sort_by(|a, b| a.group.cmp(&b.group).then_with(|| a.terms.cmp(&b.terms)));
    classes.dedup_by(|later, first| {
        let equal = (later.group, &later.terms) == (first.group, &first.terms);
        if equal {
            first.rows.append(&mut later.rows);
        }
        equal
    });
    classes
}

/// The pairs of classes of two groups that are similar enough, by their first rows.
struct Comparison<'c> {
    of_a: &'c [Vec<Class>],
    of_b: &'c [Vec<Class>],
    threshold: Threshold,
    workers: &'c Workers,
}

impl Comparison<'_> {
    /// Compares pairs of groups, given with their distances; a group with itself means every two of
    /// its classes.
    fn pairs(&self, groups: &[(u32, u32, u32)], is_within: bool) -> Vec<ClosePair> {
        let compare = |tasks: &[(u32, u32, u32)]| {
            let mut pairs = Vec::new();
            for &(a, b, distance) in tasks {
                let [a_classes, b_classes] = [&self.of_a[a as usize], &self.of_b[b as usize]];
                for (at, first) in a_classes.iter().enumerate() {
                    let behind = if is_within && a == b { at + 1 } else { 0 };
                    for second in &b_classes[behind..] {
                        pairs.extend(self.pair(first, second, distance, is_within));
                    }
                }
            }
            pairs
        };
        let mut pairs: Vec<ClosePair> =
            self.workers.map(groups.chunks(TASKS_AT_ONCE).collect(), compare).concat();
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs
    }

    fn pair(&self, a: &Class, b: &Class, distance: u32, is_within: bool) -> Option<ClosePair> {
        let [smaller, larger] =
            [a.terms.len().min(b.terms.len()), a.terms.len().max(b.terms.len())]
                .map(|size| size as u32);
        if smaller < self.threshold.min_size(larger) {
            return None;
        }
        let [smaller, larger] = [smaller, larger].map(u64::from);
        let similarity = Similarity::of_sizes(shared(&a.terms, &b.terms), smaller, larger);
        let (a, b) = (a.rows[0], b.rows[0]);
        self.threshold.holds(similarity).then(|| ClosePair {
            a: if is_within { a.min(b) } else { a },
            b: if is_within { a.max(b) } else { b },
            closeness: Closeness::Verified(similarity, distance),
        })
    }
}

/// The classes of two rows and more, by their first row.
fn repeated(classes: Vec<Vec<Class>>) -> Vec<Vec<u32>> {
    let rows = classes.into_iter().flatten().map(|class| class.rows);
    let mut repeated: Vec<_> = rows.filter(|rows| rows.len() > 1).collect();
    repeated.sort_unstable_by_key(|rows| rows[0]);
    repeated
}

/// Of what is close in a collection, what has similar enough sets of terms.
///
/// # Errors
///
/// The collection cannot be read again.
pub(super) fn verify_within(
    close: CloseRows,
    texts: &Texts<'_>,
    threshold: Threshold,
) -> Result<CloseRows> {
    let mut groups = RowGroups::new(close.groups);
    let mut tasks = group_pairs(&close.pairs, |pair| {
        (groups.group_or_own(pair.a), groups.group_or_own(pair.b))
    });
    let classes = texts.classes(groups.groups())?;
    tasks.extend((0..classes.len() as u32).map(|group| (group, group, 0)));
    let comparison =
        Comparison { of_a: &classes, of_b: &classes, threshold, workers: texts.workers };
    let pairs = comparison.pairs(&tasks, true);
    let of_equal = Closeness::Verified(Similarity::ONE, 0);
    Ok(CloseRows { groups: repeated(classes), pairs, of_equal })
}

/// Of what is close between two collections, what has similar enough sets of terms.
///
/// # Errors
///
/// A collection cannot be read again.
pub(super) fn verify_across(
    close: CloseAcross,
    texts: [&Texts<'_>; 2],
    threshold: Threshold,
) -> Result<CloseAcross> {
    let [mut of_a, mut of_b] = close.groups.map(RowGroups::new);
    let tasks =
        group_pairs(&close.pairs, |pair| (of_a.group_or_own(pair.a), of_b.group_or_own(pair.b)));
    let a_classes = texts[0].classes(of_a.groups())?;
    let b_classes = texts[1].classes(of_b.groups())?;
    let workers = texts[0].workers;
    let comparison = Comparison { of_a: &a_classes, of_b: &b_classes, threshold, workers };
    let pairs = comparison.pairs(&tasks, false);
    Ok(CloseAcross { groups: [repeated(a_classes), repeated(b_classes)], pairs })
}

/// Pairs of groups with their distances.
fn group_pairs(
    pairs: &[ClosePair],
    mut groups: impl FnMut(&ClosePair) -> (u32, u32),
) -> Vec<(u32, u32, u32)> {
    let with_distance = pairs.iter().map(|pair| {
        let (a, b) = groups(pair);
        (a, b, pair.closeness.distance().unwrap_or(0))
    });
    with_distance.collect()
}
