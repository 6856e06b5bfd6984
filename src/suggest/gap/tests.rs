//! Tests of the search for a gap with the simplest histograms for which it decides.

use super::{Evidence, Limits, find_gap};
use crate::suggest::nearest::Nearest;

const LIMITS: Limits = Limits { copies: 89, sampled_share: 1.0 };

/// Returns the similarities of a probe to unrelated documents, in hundredths. All are below `end`, and greater
/// similarities are rarer.
fn unrelated(end: usize) -> Vec<usize> {
    (1..end).flat_map(|at| std::iter::repeat_n(at, 2 * (end - at))).collect()
}

/// Returns 200 probes whose unrelated documents have similarities below `end`. The first probes also have
/// near-duplicates with the similarities in `repeats`.
fn crowd(end: usize, repeats: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let probe = |at: usize| [repeats.get(at).cloned().unwrap_or_default(), unrelated(end)].concat();
    (0..200).map(probe).collect()
}

fn found(probes: &[Vec<usize>]) -> Evidence {
    find_gap(&Nearest::of_one_script(probes, 100), LIMITS)
}

/// Returns the similarities of `count` probes to the only near-duplicate of each probe. They are evenly spread from
/// `from` to 99 hundredths.
fn repeats(from: usize, count: usize) -> Vec<Vec<usize>> {
    (0..count).map(|at| vec![from + at * (99 - from) / count]).collect()
}

#[test]
fn a_gap_is_between_unrelated_documents_and_repeats() {
    let Evidence { least, seen, .. } = found(&crowd(30, &repeats(60, 50)));
    assert_eq!(least, Some(45), "{seen}");
    assert_eq!(seen, "gap between 0.30 and 0.60");
    // A few pairs in the valley do not matter.
    let sparse = [repeats(35, 4), repeats(60, 60)].concat();
    let Evidence { least, seen, .. } = found(&crowd(30, &sparse));
    assert!(least.is_some_and(|least| (32..60).contains(&least)), "{least:?}: {seen}");
}

#[test]
fn copies_alone_need_no_other_threshold_than_the_default() {
    for repeats in [vec![], vec![vec![95]; 30], vec![vec![89]; 30]] {
        let Evidence { least, seen, .. } = found(&crowd(30, &repeats));
        assert_eq!(least, None);
        assert_eq!(seen, "no pairs between 0.29 and 0.89: copies only");
    }
}

#[test]
fn a_few_chance_pairs_are_no_repeats() {
    let Evidence { least, seen, .. } = found(&crowd(30, &vec![vec![60]; 7]));
    assert_eq!(least, None);
    assert_eq!(seen, "no gap: only 7 nearest documents between 0.45 and 0.89");
}

#[test]
fn pages_of_every_similarity_have_no_gap() {
    // Pairs become fewer and fewer up to those of copies.
    let is_reached = |probe: usize, at: usize| (probe as f64) < 400.0 * 0.95_f64.powf(at as f64);
    let falling = |probe: usize| (10..99).filter(|&at| is_reached(probe, at)).collect();
    let probes: Vec<Vec<usize>> = (0..200).map(falling).collect();
    let Evidence { least, seen, .. } = found(&probes);
    assert_eq!((least, &seen[..]), (None, "no gap: pairs become fewer without a break up to 0.89"));
    // The number of pairs rises again, but the most similar document of as many probes is close to the valley.
    let even: Vec<Vec<usize>> = (0..180).map(|at| vec![31 + at % 58]).collect();
    let Evidence { least, seen, .. } = found(&crowd(30, &even));
    assert_eq!(least, None, "{seen}");
    assert!(seen.starts_with("no gap: "), "{seen}");
}

#[test]
fn documents_that_share_a_template_have_no_gap() {
    // Forty modules have the same license header.
    let header: Vec<Vec<usize>> = vec![vec![60; 39]; 40];
    let Evidence { least, seen, .. } = found(&crowd(30, &header));
    assert_eq!(least, None);
    assert_eq!(
        seen,
        "no gap: 20.0 % of the documents share a template: each is at least 0.45 similar to more than 12 \
         documents"
    );
    // In a tenth of the collection, only a tenth of the modules is found.
    let part = Limits { sampled_share: 0.1, ..LIMITS };
    let few = Nearest::of_one_script(&crowd(30, &vec![vec![60; 3]; 40]), 100);
    assert_eq!(find_gap(&few, part).least, None);
    assert_eq!(find_gap(&few, LIMITS).least, Some(45));
}

#[test]
fn each_script_is_judged_and_the_strictest_threshold_is_used() {
    let scripts = |scripts: &[(&'static str, Vec<Vec<usize>>)]| {
        find_gap(&Nearest::of_scripts(scripts, 100), LIMITS)
    };
    let repeated = || crowd(20, &repeats(50, 50));
    let unrelated = || crowd(60, &[]);
    let blurred = || crowd(30, &vec![vec![60; 39]; 40]);
    let Evidence { least, seen, .. } = scripts(&[("Han", repeated()), ("Latin", unrelated())]);
    // A threshold in the gap of the first script would join unrelated documents of the second one.
    assert_eq!(least, Some(74));
    assert_eq!(
        seen,
        "Han: gap between 0.20 and 0.50; Latin: no pairs between 0.59 and 0.89: copies only"
    );
    let Evidence { least, seen, .. } = scripts(&[("Han", repeated()), ("Latin", blurred())]);
    assert_eq!(least, None);
    assert!(seen.starts_with("Han: gap between 0.20 and 0.50; Latin: no gap: "), "{seen}");
    // A few documents in another script do not matter, but many do.
    for (count, expected) in [(5, Some(35)), (19, None)] {
        let others = unrelated()[..count].to_vec();
        let Evidence { least, seen, .. } = scripts(&[("Han", repeated()), ("Latin", others)]);
        assert_eq!(least, expected, "{seen}");
        assert!(seen.ends_with("documents in other scripts are too few to judge"), "{seen}");
    }
}

#[test]
fn a_small_sample_has_no_gap() {
    let Evidence { least, seen, .. } = found(&vec![vec![70]; 19]);
    assert_eq!((least, &seen[..]), (None, "a sample of 19 documents is too small"));
    assert_eq!(found(&[]).least, None);
    assert_eq!(found(&vec![vec![]; 20]).seen, "no pairs between 0.00 and 0.89: copies only");
}
