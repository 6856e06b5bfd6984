//! Texts with the same set of words and other symbols, such as `a < b` and `a > b`, or with the words in another order
//! or another number of times. Their similarity is 0.999999, and 1 is only for texts that are equal after
//! normalization.

use crate::program::Folder;
use crate::random_texts::Random;
use simtool::pipeline::NearDuplicates;
use simtool::stages::close::Close;
use simtool::stages::similarity::Similarity;
use simtool::{Config, Method, Texts, compare, deduplicate};
use std::collections::{BTreeMap, BTreeSet};

/// Methods that compare sets of single words.
const METHODS: [&str; 7] = [
    "exact:shingle=words:1,similarity=",
    "exact:shingle=words:1,similarity=cosine:",
    "exact:shingle=words:1,similarity=dice:",
    "exact:shingle=words:1,weight=idf,similarity=",
    "exact:shingle=auto:1,similarity=",
    "simhash:shingle=words:1,weight=binary,max_distance=31,verify=",
    "minhash:shingle=words:1,similarity=0.3,verify=",
];

/// Returns short texts of few words and symbols, many with the same words.
fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let text = |_| {
        let parts = (0..=random.below(5))
            .map(|_| ["ab", "cd", "+", "-", "<", "é", "🙂"][random.below(7) as usize]);
        let parts: Vec<&str> = parts.collect();
        format!("ef {}", parts.join(" "))
    };
    (0..count).map(text).collect()
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(' ').filter(|part| part.chars().all(char::is_alphabetic)).collect()
}

/// Returns the words and the symbols of a text, in order. Texts are equal if both are.
fn sequence(text: &str) -> (Vec<&str>, String) {
    let words = text.split(' ').filter(|part| part.chars().all(char::is_alphabetic));
    (words.collect(), text.chars().filter(|character| "+<🙂".contains(*character)).collect())
}

fn config(method: &str) -> Config {
    Config { method: method.parse::<Method>().unwrap(), ..Config::default() }
}

fn similarities(close: &Close) -> BTreeMap<(u32, u32), Similarity> {
    let mut found = BTreeMap::new();
    let taken = close.for_each_pair(|pair| {
        found.insert((pair.a, pair.b), pair.closeness.exact_similarity().unwrap());
        Ok::<_, ()>(())
    });
    assert_eq!(taken, Ok(()));
    found
}

/// Checks all pairs of equal sets of words in a result. Returns the other pairs.
fn check_equal_words(
    texts: &[String],
    found: &NearDuplicates,
    is_equality_needed: bool,
) -> BTreeMap<(u32, u32), Similarity> {
    let mut similarities = similarities(&found.close);
    for (b, right) in (0_u32..).zip(texts) {
        for (a, left) in (0..b).zip(texts) {
            if words(left) != words(right) {
                continue;
            }
            let are_equal = sequence(left) == sequence(right);
            let unequal = (!is_equality_needed).then_some(Similarity::ALMOST_ONE);
            let expected = if are_equal { Some(Similarity::ONE) } else { unequal };
            let similarity = similarities.remove(&(a, b));
            assert_eq!(similarity, expected, "{left} | {right}");
        }
    }
    similarities
}

#[test]
fn only_equal_texts_have_similarity_one_in_every_method() {
    for seed in 0..10 {
        let texts = texts(&mut Random(seed), 60);
        for method in METHODS {
            let some = deduplicate(&Texts::of(&texts), &config(&format!("{method}0.6"))).unwrap();
            let others = check_equal_words(&texts, &some, false);
            assert!(others.values().all(|similarity| *similarity < Similarity::ALMOST_ONE));
            let equal = deduplicate(&Texts::of(&texts), &config(&format!("{method}1"))).unwrap();
            assert!(check_equal_words(&texts, &equal, true).is_empty());
            // The strictest level of a run counts the same documents.
            assert_eq!(some.levels[0].removed, equal.removals.len() as u64, "{method}");
            for removal in &some.removals {
                let (left, right) = (&texts[removal.kept as usize], &texts[removal.row as usize]);
                let is_one = removal.closeness.unwrap().exact_similarity() == Some(Similarity::ONE);
                assert_eq!(is_one, sequence(left) == sequence(right));
            }
        }
    }
}

#[test]
fn symbols_count_between_two_collections() {
    let corpus = Texts::of(&["a < b", "a > b", "c"]);
    let queries = Texts::of(&["A > b!", "a b", "a >\n< b"]);
    for method in ["exact:shingle=words:1", "simhash:shingle=words:1,verify=0.8"] {
        let found = simtool::match_collections(&queries, &corpus, &config(method)).unwrap();
        let best: Vec<_> = found
            .removals
            .iter()
            .map(|removal| {
                (removal.row, removal.kept, removal.closeness.unwrap().exact_similarity())
            })
            .collect();
        let almost = Some(Similarity::ALMOST_ONE);
        assert_eq!(best, [(0, 1, Some(Similarity::ONE)), (1, 0, almost), (2, 0, almost)]);
    }
}

#[test]
fn symbols_do_not_count_if_one_set_may_be_part_of_another() {
    let texts = ["a < b", "a > b c", "a > b"];
    let found =
        deduplicate(&Texts::of(&texts), &config("exact:shingle=words:1,similarity=containment:1"));
    let similarities = similarities(&found.unwrap().close);
    assert!(
        similarities.len() == 3
            && similarities.values().all(|similarity| *similarity == Similarity::ONE)
    );
}

#[test]
fn two_texts_are_compared_by_their_symbols() {
    let config = config("exact:shingle=words:1");
    let similarity = |left, right| compare(left, right, &config).similarity.unwrap();
    assert_eq!(similarity("a < b", "A <  b."), Similarity::ONE);
    for (left, right) in
        [("a<b", "a>b"), ("x +5", "x 5"), ("-๕", "๕"), ("C++", "C#"), ("👍🏽 a", "👍🏿 a")]
    {
        assert_eq!(similarity(left, right), Similarity::ALMOST_ONE);
    }
}

#[test]
fn only_texts_with_the_same_sequence_of_tokens_are_equal() {
    let (few, many) = ("in the end ".repeat(5), "in the end ".repeat(50));
    let verses = ["one two three one two", "two three one two three"];
    for method in [
        "exact:shingle=words:3",
        "exact:shingle=ascii:2",
        "exact:shingle=chars:3",
        "exact:shingle=words+symbols:3",
        "simhash:shingle=words:1,weight=binary,max_distance=31,verify=",
        "minhash:shingle=words:1,similarity=0.3,verify=",
    ] {
        let method = if method.starts_with("exact") {
            format!("{method},similarity=")
        } else {
            method.to_owned()
        };
        for texts in [[&few[..], &many], verses] {
            let removals = |limit: &str| {
                let config = config(&format!("{method}{limit}"));
                let [few, many] = texts;
                let found = deduplicate(&Texts::of(&[few, many, many]), &config).unwrap();
                found.removals.iter().map(|removal| (removal.row, removal.kept)).collect::<Vec<_>>()
            };
            assert_eq!(removals("1"), [(2, 1)], "{method} {texts:?}");
            // Characters of the verses also differ in their sets.
            assert!(removals("0.5").len() == 2, "{method} {texts:?}");
            let compared = compare(texts[0], texts[1], &config(&format!("{method}0.5")));
            assert!(compared.similarity.unwrap() < Similarity::ONE, "{method} {texts:?}");
        }
    }
}

#[test]
fn the_program_keeps_texts_that_are_not_equal() {
    let line = |text: &str| format!("{{\"text\": \"{text}\"}}\n");
    let (few, many) = ("no no no ".repeat(5), "no no no ".repeat(50));
    let folder = Folder::empty()
        .with("in.jsonl", [line(&few), line(&many), line(&few)].concat())
        .with("few.txt", few.clone())
        .with("many.txt", many.clone());
    let kept = |arguments: &str| {
        let run = folder.run_words(&format!("{arguments} --output out --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        std::fs::read_to_string(folder.path("out/removed.jsonl")).unwrap().lines().count()
    };
    assert_eq!(kept("dedup in.jsonl --similarity 1"), 1);
    assert_eq!(kept("dedup in.jsonl --similarity 0.9"), 2);
    assert_eq!(kept("dedup in.jsonl --method simhash --verify 1"), 1);
    assert_eq!(kept("match in.jsonl --against few.txt --similarity 1"), 2);
    let run = folder.run_words("compare few.txt many.txt");
    assert!(run.out.contains("similarity  0.9999 "), "{}", run.out);
    assert!(run.out.contains("their order, repetitions or symbols differ"), "{}", run.out);
}

#[test]
fn every_visible_character_counts_where_the_shingle_asks_for_it() {
    for shingle in ["words+symbols:1", "words+symbols:3", "chars:3"] {
        let config = config(&format!("exact:shingle={shingle}"));
        let similarity = |left, right| compare(left, right, &config).similarity.unwrap();
        for [left, right] in [
            ["-5", "5"],
            ["1:5", "1/5"],
            ["a - b", "a / b"],
            ["(1200.50)", "1200.50"],
            ["a. b", "a, b"],
            ["50 %", "50"],
            ["“q”", "«q»"],
            ["x = [1]", "x = {1}"],
            ["a_", "a"],
            ["好。", "好！"],
        ] {
            assert!(similarity(left, right) < Similarity::ALMOST_ONE, "{shingle} {left} {right}");
        }
        for [left, right] in [["A  -\n5 ", "a - 5"], ["“q”", "\"Q\""], ["\u{ad}5…", "5..."]] {
            assert_eq!(similarity(left, right), Similarity::ONE, "{shingle} {left} {right}");
        }
    }
}

#[test]
fn a_minus_sign_is_part_of_its_number() {
    for shingle in ["words:1", "words:3", "auto:1", "chinese:1", "words+symbols:1"] {
        let config = config(&format!("exact:shingle={shingle}"));
        let similarity = |left, right| compare(left, right, &config).similarity.unwrap();
        for (left, right) in
            [("x -5", "x 5"), ("x +5", "x -5"), ("(-1.5)", "(1.5)"), ("温 -5度", "温 5度")]
        {
            assert!(similarity(left, right) < Similarity::ALMOST_ONE, "{shingle} {left} {right}");
        }
    }
    let config = config("exact:shingle=words:1");
    for (left, right) in [("x −5", "x -5"), ("COVID-19", "covid 19"), ("10-20", "10–20")] {
        assert_eq!(compare(left, right, &config).similarity, Some(Similarity::ONE), "{left}");
    }
}

/// Statements that differ only in the sign of an amount are different in each command.
#[test]
fn the_program_keeps_texts_whose_numbers_have_other_signs() {
    let text =
        |sign: &str| format!("balance of account seventeen {sign}1,200.50 at the end of may");
    let line = |sign: &str| format!("{{\"text\": \"{}\"}}\n", text(sign));
    let folder = Folder::empty()
        .with("in.jsonl", [line("-"), line("+"), line("−"), line("")].concat())
        .with("minus.txt", text("-"))
        .with("plus.txt", text("+"));
    let lines = |arguments: &str, output: &str| {
        let run = folder.run_words(&format!("{arguments} --output out --force"));
        assert_eq!(run.code, 0, "{}", run.err);
        let path = folder.path(&format!("out/{output}"));
        std::fs::read_to_string(path).unwrap().lines().count()
    };
    assert_eq!(lines("dedup in.jsonl", "removed.jsonl"), 2);
    // A plus sign is a symbol, and nothing may be lost.
    assert_eq!(lines("dedup in.jsonl --similarity 0.5 --lose 0", "removed.jsonl"), 1);
    assert_eq!(lines("dedup in.jsonl --method covered --lose 0", "removed.jsonl"), 2);
    assert_eq!(lines("match in.jsonl --against minus.txt", "removed.jsonl"), 2);
    let items = folder.run_words("contamination minus.txt --in in.jsonl --words 10");
    assert!(items.code == 0 && items.out.lines().count() == 2, "{}{}", items.out, items.err);
    let passages = folder.run_words("passages minus.txt plus.txt --words 9");
    assert!(passages.code == 0 && passages.out.is_empty(), "{}{}", passages.out, passages.err);
    assert_eq!(folder.run_words("index create seen.idx").code, 0);
    assert_eq!(folder.run_words("index add seen.idx plus.txt").code, 0);
    let found = folder.run_words("index query seen.idx minus.txt plus.txt");
    assert!(found.out.contains("\t0\n") && found.out.lines().count() == 1, "{}", found.out);
}

#[test]
fn the_program_shows_that_texts_are_not_equal() {
    let lines = ["x <= 5 and so on", "x >= 5 and so on", "X <= 5, and so on"];
    let lines = lines.map(|line| format!("{{\"text\": \"{line}\"}}\n"));
    let folder = Folder::empty().with("in.jsonl", lines.concat());
    assert_eq!(folder.run_words("dedup in.jsonl --pairs --similarity 0.5 --output out").code, 0);
    let pairs = std::fs::read_to_string(folder.path("out/pairs.jsonl")).unwrap();
    let similarity = |line: &str| {
        let pair: serde_json::Value = serde_json::from_str(line).unwrap();
        pair["similarity"].as_f64().unwrap()
    };
    let similarities: Vec<f64> = pairs.lines().map(similarity).collect();
    assert_eq!(similarities, [0.999_999, 1.0, 0.999_999], "{pairs}");
}
