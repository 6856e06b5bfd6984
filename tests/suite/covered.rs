//! The method `covered` removes documents whose words are all in kept documents. The tests compare its results with a
//! simple implementation, which uses sets of runs. A run is a sequence of words of a fixed length.

use crate::program::Folder;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// A small random number generator, whose numbers are the same on all machines.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

type Words = Vec<&'static str>;

const WORDS: [&str; 4] = ["tide", "moon", "sea", "sun"];

/// Returns documents of few different words. Many of them are put together from pieces of earlier documents.
fn documents(random: &mut Random, length: usize) -> Vec<Words> {
    let mut documents: Vec<Words> = Vec::new();
    for _ in 0..12 {
        let mut words = Words::new();
        for _ in 0..=random.below(3) {
            let new = 1 + random.below(2 * length);
            if let Some(last) = documents.len().checked_sub(1).filter(|_| new.is_multiple_of(2)) {
                let copied = &documents[random.below(last + 1)];
                let from = random.below(copied.len());
                words.extend(&copied[from..copied.len().min(from + 3 * length)]);
            } else {
                words.extend((0..new).map(|_| WORDS[random.below(WORDS.len())]));
            }
        }
        documents.push(words);
    }
    documents
}

fn runs(words: &[&'static str], length: usize) -> Vec<Words> {
    words.windows(length.min(words.len())).map(<[_]>::to_vec).collect()
}

fn all_runs<'d>(documents: impl Iterator<Item = &'d Words>, length: usize) -> BTreeSet<Words> {
    documents.flat_map(|words| runs(words, length)).collect()
}

/// Returns the number of words of a document that are in none of the `kept` runs. A run has `length` words.
fn lost(words: &Words, length: usize, kept: &BTreeSet<Words>) -> usize {
    let mut is_kept = vec![false; words.len()];
    for (start, run) in runs(words, length).into_iter().enumerate() {
        if kept.contains(&run) {
            is_kept[start..start + run.len()].fill(true);
        }
    }
    is_kept.iter().filter(|is_kept| !**is_kept).count()
}

/// Returns the numbers of the removed documents. `last_first` has the numbers of all documents, the least preferred
/// first.
fn removed(documents: &[Words], last_first: &[usize], length: usize, most: usize) -> Vec<usize> {
    let mut left: BTreeSet<usize> = (0..documents.len()).collect();
    let mut pinned = BTreeSet::new();
    let mut removed = Vec::new();
    for &number in last_first {
        let others = left.iter().filter(|other| **other != number).map(|&other| &documents[other]);
        let others = all_runs(others, length);
        let own: BTreeSet<Words> = runs(&documents[number], length).into_iter().collect();
        let (kept, gone): (BTreeSet<_>, BTreeSet<_>) =
            own.into_iter().partition(|run| others.contains(run));
        let is_too_much =
            lost(&documents[number], length, &kept) > most || (most == 0 && !gone.is_empty());
        if !kept.is_empty() && !is_too_much && gone.is_disjoint(&pinned) {
            pinned.extend(kept);
            left.remove(&number);
            removed.push(number);
        }
    }
    removed.sort_unstable();
    removed
}

/// Writes documents as a file of JSON Lines, with their numbers as IDs.
fn lines(documents: &[Words]) -> String {
    let mut lines = String::new();
    for (number, words) in documents.iter().enumerate() {
        writeln!(lines, "{}", json!({ "id": number, "text": words.join(" ") })).unwrap();
    }
    lines
}

fn rows(folder: &Folder, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(folder.path("simtool-out").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(row: &Value, column: &str) -> usize {
    row[column].as_u64().unwrap() as usize
}

#[test]
fn documents_go_whose_words_are_in_kept_ones() {
    let mut random = Random(1);
    let mut all_removed = 0;
    for case in 0..36 {
        let length = 2 + case % 12;
        let documents = documents(&mut random, length);
        let most = [0, 1, 3, 10][case % 4];
        let folder = Folder::empty()
            .with("in/a.jsonl", lines(&documents[..5]))
            .with("in/b.jsonl", lines(&documents).lines().skip(5).collect::<Vec<_>>().join("\n"));
        let mut by_length: Vec<usize> = (0..documents.len()).collect();
        // The longest document comes first, and of several the first one.
        let bytes = |number: &usize| documents[*number].join(" ").len();
        by_length.sort_by_key(|number| std::cmp::Reverse(bytes(number)));
        by_length.reverse();
        let (keep, last_first): (_, Vec<usize>) = match case % 3 {
            0 => ("first", (0..documents.len()).rev().collect()),
            1 => ("last", (0..documents.len()).collect()),
            _ => ("longest", by_length),
        };
        let expected = removed(&documents, &last_first, length, most);
        for resources in ["--threads 1", "--threads 3 --max-memory 20M"] {
            let run = folder.run_words(&format!(
                "dedup in --method covered --shingle {length} --lose {most} --keep {keep} --force -q {resources}"
            ));
            assert_eq!(run.code, 0, "{}", run.err);
            let rows = rows(&folder, "removed.jsonl");
            let found: Vec<usize> = rows.iter().map(|row| number(row, "id")).collect();
            assert_eq!(found, expected, "{length} {most} {keep} {documents:?}");
            check_proof(&folder, &documents, &rows, length);
        }
        all_removed += expected.len();
    }
    assert!(all_removed > 40, "the documents are too simple: {all_removed} removed");
}

/// Checks the numbers of lost words and of covering documents, and the stretches of the output `coverage`.
fn check_proof(folder: &Folder, documents: &[Words], removed: &[Value], length: usize) {
    let gone: BTreeSet<usize> = removed.iter().map(|row| number(row, "id")).collect();
    let kept = (0..documents.len()).filter(|number| !gone.contains(number));
    let kept = all_runs(kept.map(|number| &documents[number]), length);
    let stretches = rows(folder, "coverage.jsonl");
    for row in removed {
        let words = &documents[number(row, "id")];
        assert_eq!(number(row, "lost_words"), lost(words, length, &kept));
        let own = stretches.iter().filter(|stretch| stretch["id"] == row["id"]);
        let (mut partners, mut covered) = (BTreeSet::new(), 0);
        for stretch in own {
            let [from, to, kept_from] =
                ["from_word", "to_word", "kept_from_word"].map(|name| number(stretch, name));
            let of = number(stretch, "kept_id");
            assert!(!gone.contains(&of));
            assert_eq!(words[from..to], documents[of][kept_from..kept_from + to - from]);
            partners.insert(of);
            covered += to - from;
        }
        assert!(partners.contains(&number(row, "kept_id")));
        assert_eq!(partners.len(), number(row, "covered_by"));
        if words.len() > length {
            assert_eq!(covered, words.len() - number(row, "lost_words"));
        }
    }
}

#[test]
fn containment_and_digests_are_covered() {
    let sentence = |name: &str| {
        let words = (0..30).map(|number| format!("{name}{number}"));
        words.collect::<Vec<_>>().join(" ")
    };
    let [a, b, c] = ["a", "b", "c"].map(sentence);
    let row = |id: &str, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    let long = format!("{a} and more of it. {}", sentence("x"));
    let digest = format!("Digest: {a}. {b}. {c}");
    let lines = row("long", &long)
        + &row("b", &b)
        + &row("c", &c)
        + &row("note", &a)
        + &row("digest", &digest)
        + &row("own", &format!("{b} with one two three four words of its own"))
        + &row("short", "just two")
        + &row("empty", "");
    let folder = Folder::empty().with("in.jsonl", lines);
    let run = folder.run_words("dedup in.jsonl --method covered --json -q --write-kept");
    assert_eq!(run.code, 0, "{}", run.err);
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(summary["covered_by_several"], 1);
    assert_eq!((&summary["removed"], &summary["lost_words"]), (&json!(3), &json!(1)));
    assert_eq!(summary["parameters"]["lose"], "3");
    assert_eq!(summary["parameters"]["shingle"], "words:8");
    assert_eq!(summary["pairs"], Value::Null);
    let rows = rows(&folder, "removed.jsonl");
    let brief =
        |row: &Value| json!([row["id"], row["kept_id"], row["lost_words"], row["covered_by"]]);
    let brief: Vec<Value> = rows.iter().map(brief).collect();
    assert_eq!(
        json!(brief),
        json!([["b", "own", 0, 1], ["note", "long", 0, 1], ["digest", "long", 1, 3]])
    );
    let kept = fs::read_to_string(folder.path("simtool-out/kept/in.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 5);
    let why = folder.run_words("why simtool-out digest");
    assert!(why.out.contains("kept documents have its words, and long has most"), "{}", why.out);
    assert!(why.out.contains("not in it   61 of 91 words"), "{}", why.out);
    let preview = folder.run_words("dedup in.jsonl --method covered --preview -q");
    assert!(preview.out.contains("closest to the limit: most lost words first"), "{}", preview.out);
    let plan = folder.run_words("dedup in.jsonl --method covered --dry-run -q");
    assert!(plan.out.contains("would lose more than 3 words is kept"), "{}", plan.out);
}

#[test]
fn groups_hold_and_settings_of_pairs_are_refused() {
    let text = "the tides of the sea depend on the moon and on the sun in plain words";
    let row =
        |id: u32, lang: &str| format!("{}\n", json!({ "id": id, "lang": lang, "text": text }));
    let lines = row(1, "en") + &row(2, "de") + &row(3, "en") + &row(4, "");
    let folder = Folder::empty().with("in.jsonl", lines);
    let run = folder.run_words("dedup in.jsonl --method covered --within lang -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let removed: Vec<usize> =
        rows(&folder, "removed.jsonl").iter().map(|row| number(row, "id")).collect();
    assert_eq!(removed, [3]);
    for (options, message) in [
        ("--across lang", "match the one against the other with the same method"),
        ("--across lang", "--across lang: does not go with covered"),
        ("--keep-count 2", "--keep-count 2: does not go with covered"),
        ("--cluster components", "--cluster components: does not go with covered"),
        ("--pairs", "--pairs: does not go with covered"),
        ("--similarity 0.9", "--similarity 0.9: works only with --method exact"),
    ] {
        let run = folder.run_words(&format!("dedup in.jsonl --method covered --force {options}"));
        assert_eq!(run.code, 2, "{options}");
        assert!(run.err.contains(message), "{options}: {}", run.err);
    }
    let eval = folder.run_words("eval in.jsonl --method covered");
    assert!(eval.err.contains("finds no pairs, and a measurement needs them"), "{}", eval.err);
}

#[test]
fn new_documents_that_add_nothing_match() {
    let mut random = Random(7);
    let mut all_matched = 0;
    for _ in 0..6 {
        let documents = documents(&mut random, 3);
        let (new, old) = documents.split_at(6);
        let folder = Folder::empty().with("new.jsonl", lines(new)).with("old.jsonl", lines(old));
        let run = folder.run_words(
            "match new.jsonl --against old.jsonl --method covered --shingle 3 --lose 2 -q --force",
        );
        assert_eq!(run.code, 0, "{}", run.err);
        let in_old = all_runs(old.iter(), 3);
        let is_covered = |words: &Words| {
            lost(words, 3, &in_old) <= 2 && runs(words, 3).iter().any(|run| in_old.contains(run))
        };
        let expected: Vec<usize> = (0..new.len()).filter(|&at| is_covered(&new[at])).collect();
        let rows = rows(&folder, "removed.jsonl");
        let found: Vec<usize> = rows.iter().map(|row| number(row, "id")).collect();
        assert_eq!(found, expected, "{documents:?}");
        for stretch in self::rows(&folder, "coverage.jsonl") {
            let [from, to, kept_from] =
                ["from_word", "to_word", "kept_from_word"].map(|name| number(&stretch, name));
            let kept = &old[number(&stretch, "kept_id")][kept_from..kept_from + to - from];
            assert_eq!(new[number(&stretch, "id")][from..to], *kept);
        }
        all_matched += found.len();
    }
    assert!(all_matched > 8, "the documents are too simple: {all_matched} matched");
}
