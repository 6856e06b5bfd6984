use super::*;
use crate::pipeline::config::{Config, LostWordCount};
use crate::pipeline::{NearDuplicates, Task, find_near_duplicates};
use proptest::prelude::*;
use simtool_base::options::Options;
use simtool_base::progress::NoProgress;
use simtool_read::{Corpus, Texts};

fn found(options: &str, queries: &[String], corpus: &[String]) -> NearDuplicates {
    let config = Config::parse(&mut Options::parse(options).unwrap()).unwrap();
    let config = Config { lost_words: LostWordCount::IfCheap, ..config };
    let task = if queries.is_empty() { Task::Deduplicate } else { Task::Match };
    let plan = Plan::new(config, task).unwrap();
    let (queries, corpus) = (Texts::of(queries), Texts::of(corpus));
    let corpora: Sides<&dyn Corpus> = match task {
        Task::Deduplicate => Sides::One(&corpus),
        Task::Match => Sides::Two(&queries, &corpus),
    };
    find_near_duplicates(corpora, &plan, &NoProgress).unwrap()
}

/// Counts the lost words of `removed` by their definition: a word is lost if no sequence of `length` words that
/// contains it is in the kept text, too. A text with fewer words is one sequence.
fn lost_of(kept: &str, removed: &str, length: usize) -> u32 {
    let [kept, removed] =
        [kept, removed].map(|text| text.split_whitespace().collect::<Vec<&str>>());
    let of_kept: Vec<&[&str]> = kept.windows(length.min(kept.len()).max(1)).collect();
    let run = length.min(removed.len()).max(1);
    let is_kept = |at: usize| {
        (0..removed.len()).any(|start| {
            start <= at
                && at < start + run
                && removed.get(start..start + run).is_some_and(|words| of_kept.contains(&words))
        })
    };
    (0..removed.len()).filter(|&at| !is_kept(at)).count() as u32
}

fn check(options: &str, queries: &[String], corpus: &[String], length: usize) {
    let removed_from = if queries.is_empty() { corpus } else { queries };
    let near = found(options, queries, corpus);
    let losses = near.losses.as_ref().unwrap();
    for removal in &near.removals {
        let (kept, removed) = (&corpus[removal.kept as usize], &removed_from[removal.row as usize]);
        let expected = lost_of(kept, removed, length);
        let LostWords { words, lost } = losses.get(removal.row).unwrap();
        assert_eq!(lost, expected, "{options}: {kept} / {removed}");
        assert!(words == 0 || words as usize == removed.split_whitespace().count());
        let method = method(options);
        let loss = pair_loss([kept.as_bytes(), removed.as_bytes()], &method, Isa::PORTABLE);
        assert_eq!(loss.counts.lost, expected);
        assert_eq!(loss.examples.len(), expected.min(20) as usize);
    }
}

fn method(options: &str) -> Method {
    Config::parse(&mut Options::parse(options).unwrap()).unwrap().method
}

/// Returns a strategy for texts of up to 11 words. There are only five different words, so collections of such texts
/// have near-duplicates.
fn text() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec!["a", "b", "c", "d", "zürich"]);
    prop::collection::vec(words, 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn lost_words_are_those_of_the_definition(
        corpus in prop::collection::vec(text(), 1..12),
        queries in prop::collection::vec(text(), 1..6),
        length in 1_usize..5,
        similarity in prop::sample::select(vec!["0.2", "0.5", "containment:0.6", "1"]),
    ) {
        let exact = format!("shingle={length},similarity={similarity}");
        check(&exact, &[], &corpus, length);
        check(&exact, &queries, &corpus, length);
        check(&format!("{exact},cluster=components"), &[], &corpus, length);
        let verified = format!("method=simhash,max_distance=30,shingle={length},verify=0.3");
        check(&verified, &[], &corpus, length);
    }
}

#[test]
fn batches_and_threads_do_not_change_the_counts() {
    let text = |n: usize| {
        let word = |at: usize| format!("w{} ", if at == n % 40 { 1000 + n } else { at });
        (0..60).map(word).collect::<String>()
    };
    let texts: Vec<String> = (0..300).map(text).collect();
    let one = found("shingle=2,similarity=0.7,threads=1", &[], &texts);
    assert!(one.removals.len() > 200);
    for options in ["threads=4", "threads=2,max_memory=64K"] {
        let other = found(&format!("shingle=2,similarity=0.7,{options}"), &[], &texts);
        assert_eq!(one.removals, other.removals);
        for removal in &one.removals {
            let loss = |near: &NearDuplicates| near.losses.as_ref().unwrap().get(removal.row);
            assert_eq!(loss(&one), loss(&other), "{options}");
        }
    }
}

#[test]
fn methods_that_compare_no_texts_count_no_words() {
    let texts = ["a b c d", "a b c d"].map(str::to_owned);
    assert!(found("method=simhash", &[], &texts).losses.is_none());
    assert!(found("method=simhash,verify=0.5", &[], &texts).losses.is_some());
}

#[test]
fn lost_words_are_shown_without_stop_words() {
    let of_words = method("stop_words=english,shingle=1");
    let texts = ["the red server", "a red and Blue Server of Zürich"].map(str::as_bytes);
    let loss = pair_loss(texts, &of_words, Isa::PORTABLE);
    assert_eq!(loss.counts, LostWords { words: 4, lost: 2 });
    assert_eq!(loss.examples, ["Blue", "Zürich"]);
    let characters = method("shingle=chars:2");
    let loss = pair_loss(texts, &characters, Isa::PORTABLE);
    assert!(loss.counts.lost > 0 && loss.examples.is_empty());
}

#[test]
fn a_removal_that_would_lose_too_much_does_not_happen() {
    let words =
        |server: &str| format!("restart the server {server} before the backup of the disk begins");
    let mut texts = vec![words("A"), words("A"), words("B"), words("A") + " now", words("B")];
    texts.push(words("C"));
    let kept = |options: &str| {
        let found = found(&format!("shingle=1,similarity=0.6{options}"), &[], &texts);
        (found.kept().collect::<Vec<_>>(), found.kept_for_words, found.levels.len())
    };
    assert_eq!(kept(""), (vec![0], 0, 5));
    // Each removal is tested alone: the second B stays, too, although the first one stays.
    assert_eq!(kept(",lose=0"), (vec![0, 2, 3, 4, 5], 4, 1));
    assert_eq!(kept(",lose=1").0, [0]);
    assert_eq!(kept(",lose=9%").0, [0, 2, 4, 5]);
    assert_eq!(kept(",lose=10%").0, [0]);
    assert_eq!(kept(",lose=0,keep=longest"), (vec![2, 3, 4, 5], 3, 1));
    let verified = ",method=simhash,max_distance=30,verify=0.6,lose=0";
    let config = |options: &str| {
        let config = Config::parse(&mut Options::parse(options).unwrap()).unwrap();
        Plan::new(config, Task::Deduplicate)
    };
    let error = config("method=simhash,lose=0").unwrap_err().to_string();
    assert!(
        error.starts_with("lose 0: compares the texts of removed and kept documents"),
        "{error}"
    );
    let of_rows = found(&format!("shingle=1{verified}"), &[], &texts);
    assert_eq!(of_rows.kept().collect::<Vec<_>>(), [0, 2, 3, 4, 5]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_removal_of_a_guarded_run_is_allowed_and_the_others_stay(
        corpus in prop::collection::vec(text(), 1..12),
        length in 1_usize..4,
        most in 0_u32..5,
        cluster in prop::sample::select(vec!["proven", "components"]),
    ) {
        let options = format!("shingle={length},similarity=0.3,cluster={cluster}");
        let plain = found(&options, &[], &corpus);
        let guarded = found(&format!("{options},lose={most}"), &[], &corpus);
        let mut expected = plain.removals.clone();
        expected.retain(|removal| {
            let lost = lost_of(&corpus[removal.kept as usize], &corpus[removal.row as usize], length);
            // Texts with the same shingles in another order differ, so that they stay if nothing may be lost.
            let similarity = removal.closeness.and_then(Closeness::exact_similarity);
            lost <= most && (most > 0 || similarity != Some(Similarity::ALMOST_ONE))
        });
        assert_eq!(guarded.kept_for_words as usize, plain.removals.len() - expected.len());
        assert_eq!(guarded.removals, expected);
    }
}
