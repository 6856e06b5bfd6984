//! Finds near-duplicates, and the pairs of kept documents that are just below the limit of the similarity.
//!
//! The search runs with a slightly lower limit. The pairs that reach the limit of the plan are exactly the pairs that
//! a search with the plan finds, so the decisions are the same. If the lower limit gives too many pairs, the search
//! runs again by the plan, without near misses.

use super::find_close::{FoundClose, find_close};
use super::levels::limit;
use super::near_duplicates::{NearDuplicates, decide, find_in_context};
use super::plan::Plan;
use crate::cluster::Removal;
use crate::method::Criterion;
use simtool_base::error::{ErrorKind, Result};
use simtool_base::unordered_map::{UnorderedMap, UnorderedSet};
use simtool_compute::context::Context;
use simtool_model::closeness::Closeness;
use simtool_model::sides::Sides;
use simtool_model::similarity::{Similarity, Threshold};
use simtool_read::Corpus;
use simtool_set_join::close::{Close, ClosePair};

/// Near-duplicates, and pairs of documents whose similarity is just below the limit.
#[derive(Clone, Debug)]
pub(crate) struct WithNearMisses {
    pub(crate) found: NearDuplicates,
    /// Pairs of kept documents that are a little less similar than the limit, the most similar pair first. In a
    /// match, each pair is a query without a match and a document of the corpus. `None` if such pairs were not
    /// searched.
    pub(crate) near_misses: Option<Vec<ClosePair>>,
}

/// Finds near-duplicates like [`find_in_context`], and at most `most` near misses, which are pairs of kept documents
/// just below the limit.
///
/// # Errors
///
/// Fails in the same cases as `find_in_context`.
pub(crate) fn find_with_near_misses(
    corpora: Sides<&dyn Corpus>,
    plan: &Plan,
    most: usize,
    context: &Context<'_>,
) -> Result<WithNearMisses> {
    if let (Criterion::Similarity(limit), Some(lower)) = (limit(plan), plan.with_lower_similarity())
    {
        let found = find_close(corpora, &lower, None, context, |found, corpora| {
            let FoundClose { read, close: all, timings, spooled_bytes } = found;
            // The pairs that reach the limit are copied, which needs memory.
            let size = (all.pairs.len() * size_of::<ClosePair>()) as u64;
            let memory = Some(size).filter(|_| all.is_complete);
            let memory = memory.and_then(|size| context.memory().try_reserve(size));
            let Some(_memory) = memory else { return Ok(None) };
            let close = reaching(&all, limit);
            let found = FoundClose { read, close, timings, spooled_bytes };
            let found = decide(found, corpora, plan, context)?;
            let near_misses = Some(near_misses(&all, limit, &found.removals, most));
            Ok(Some(WithNearMisses { found, near_misses }))
        });
        match found {
            Ok(Some(found)) => return Ok(found),
            // There are too many pairs for the memory.
            Ok(None) => {}
            Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let found = find_in_context(corpora, plan, None, context)?;
    Ok(WithNearMisses { found, near_misses: None })
}

/// Returns only the pairs of `close` whose similarity reaches `limit`. The result is as if a search with this limit had
/// found it.
fn reaching(close: &Close, limit: Threshold) -> Close {
    // With the limit 1 only, texts whose tokens are in another order are no near-duplicates.
    if !limit.holds(Similarity::ALMOST_ONE) && close.sequences.hashes().is_some() {
        return close.without_other_sequences(limit);
    }
    let pairs = close.pairs.iter().filter(|pair| reaches(pair.closeness, limit));
    let pairs: Vec<ClosePair> = pairs.collect();
    Close { pairs: pairs.into(), ..close.clone() }
}

fn reaches(closeness: Closeness, limit: Threshold) -> bool {
    closeness.exact_similarity().is_some_and(|similarity| limit.holds(similarity))
}

/// Returns the pairs of kept documents whose similarity is below `limit`. Returns at most `most` pairs, the most
/// similar ones, sorted by descending similarity. `close` has the pairs of a search with a lower limit.
fn near_misses(
    close: &Close,
    limit: Threshold,
    removals: &[Removal],
    most: usize,
) -> Vec<ClosePair> {
    let removed: UnorderedSet<u32> = removals.iter().map(|removal| removal.row).collect();
    let is_kept = |row: &u32| !removed.contains(row);
    // A pair has the first row of each group of equal rows, but another row of the group may be kept.
    let kept_of_groups = close.groups.as_ref().map(|groups| {
        let kept = groups
            .iter()
            .filter_map(|rows| Some((rows[0], *rows.iter().find(|row| is_kept(row))?)));
        kept.collect::<UnorderedMap<u32, u32>>()
    });
    let kept_row = |rows: &UnorderedMap<u32, u32>, row: u32| {
        Some(rows.get(&row).copied().unwrap_or(row)).filter(is_kept)
    };
    let below = close.pairs.iter().filter(|pair| !reaches(pair.closeness, limit));
    let mut below: Vec<ClosePair> = below
        .filter_map(|ClosePair { a, b, closeness }| {
            let a = kept_row(kept_of_groups.first(), a)?;
            // All documents of the second collection are kept.
            let b = if close.groups.is_two() { b } else { kept_row(kept_of_groups.first(), b)? };
            Some(ClosePair { a, b, closeness })
        })
        .collect();
    // Pairs of equal closeness are in reading order, so the choice does not depend on threads.
    below.sort_unstable_by(|x, y| {
        y.closeness.compare(x.closeness).then((x.a, x.b).cmp(&(y.a, y.b)))
    });
    below.truncate(most);
    below
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::config::Config;
    use crate::pipeline::{Task, find_near_duplicates};
    use simtool_base::options::Options;
    use simtool_base::progress::NoProgress;
    use simtool_read::Texts;

    fn searched(options: &str, texts: &[&str]) -> (WithNearMisses, NearDuplicates) {
        let config = Config::parse(&mut Options::parse(options).unwrap()).unwrap();
        let plan = Plan::new(config, Task::Deduplicate).unwrap();
        let context = Context::new(plan.resources(), &NoProgress).unwrap();
        let corpus = Texts::of(texts);
        let corpora: Sides<&dyn Corpus> = Sides::One(&corpus);
        let found = find_with_near_misses(corpora, &plan, 3, &context).unwrap();
        (found, find_near_duplicates(corpora, &plan, &NoProgress).unwrap())
    }

    /// Returns twenty words. The last `changed` words begin with `beginning`, and all others with `w`.
    fn words(changed: usize, beginning: &str) -> String {
        let word = |n| format!("{}{n} ", if n < 20 - changed { "w" } else { beginning });
        (0..20).map(word).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_search_with_near_misses_decides_like_the_plan() {
        let texts =
            [words(0, "a"), words(1, "b"), words(1, "b"), words(2, "c"), words(1, "a < b ")];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        for keep in ["first", "last", "longest"] {
            // The similarity of the words without n changes to others is (20 − n) / (20 + n).
            for (options, is_searched) in [
                ("shingle=1,similarity=0.91", true),
                ("shingle=1,similarity=0.85", true),
                ("shingle=1,similarity=0.5", true),
                ("shingle=1,similarity=1", true),
                ("shingle=1,similarity=0.05", false),
                ("shingle=1,similarity=cosine:0.96", false),
                ("shingle=1,similarity=containment:0.92", true),
                ("method=simhash,shingle=1,max_distance=20,verify=0.91", true),
                ("method=simhash,max_distance=3", false),
                ("shingle=1,similarity=0.91,cluster=components", true),
            ] {
                let (found, plain) = searched(&format!("{options},keep={keep}"), &texts);
                let WithNearMisses { found, near_misses } = found;
                assert_eq!(found.removals, plain.removals, "{options}");
                assert_eq!(found.levels, plain.levels, "{options}");
                assert_eq!(found.close.pair_count(), plain.close.pair_count(), "{options}");
                let kept: Vec<usize> = found.kept().collect();
                for pair in near_misses.iter().flatten() {
                    let is_kept = |row: u32| kept.contains(&(row as usize));
                    assert!(is_kept(pair.a) && is_kept(pair.b), "{options}: {pair:?}");
                }
                assert_eq!(near_misses.is_some(), is_searched, "{options}");
            }
        }
    }

    #[test]
    fn near_misses_are_the_most_similar_pairs_below_the_limit() {
        let texts = [words(0, "a"), words(2, "b"), words(3, "c"), words(20, "d")];
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (found, _) = searched("shingle=1,similarity=0.85", &texts);
        let pairs = found.near_misses.unwrap();
        let pairs: Vec<_> = pairs.iter().map(|p| (p.a, p.b, p.closeness.similarity())).collect();
        assert_eq!(pairs, [(0, 1, Some(18.0 / 22.0))]);
        let (found, _) = searched("shingle=1,similarity=0.9,method=minhash", &texts);
        assert!(found.near_misses.is_none());
    }
}
