//! SimHash of every width works with everything that uses fingerprints. (`corpus_simhash` compares
//! the near-duplicates of collections, also with queries and verified.)

use crate::program::{Finished, Folder};
use crate::random_texts::{Random, json_lines, texts};
use simtool::stages::fingerprint::hashed_simhash::WIDTHS;
use std::fmt::Write;
use std::fs;

/// Returns random texts of a few words, without the empty ones.
fn collection() -> Vec<String> {
    let mut texts = texts(&mut Random(9), 90);
    texts.retain(|text| !text.is_empty());
    texts
}

fn ran(folder: &Folder, command: &str) -> Finished {
    let run = folder.run_words(command);
    assert_eq!(run.code, 0, "{command}: {}", run.err);
    run
}

/// Returns the number of bits in which two hexadecimal numbers differ.
fn distance(a: &str, b: &str) -> u32 {
    let digit = |c: char| c.to_digit(16).unwrap();
    a.chars().zip(b.chars()).map(|(a, b)| (digit(a) ^ digit(b)).count_ones()).sum()
}

/// Returns rows as `join` or `search` prints them: pairs of a row of `a` and a row of `b` within
/// the distance.
fn pairs(a: &[&str], b: &[&str], most: u32, is_self: bool) -> String {
    let mut lines = String::new();
    for (i, left) in a.iter().enumerate() {
        for (j, right) in b.iter().enumerate().skip(if is_self { i + 1 } else { 0 }) {
            let distance = distance(left, right);
            if distance <= most && !left.is_empty() && !right.is_empty() {
                writeln!(lines, "{i}\t{j}\t{distance}").unwrap();
            }
        }
    }
    lines
}

#[test]
fn files_of_every_format_are_joined_and_searched() {
    let texts = collection();
    let mut with_gap = texts.clone();
    with_gap.insert(10, "...".to_owned());
    let folder = Folder::empty()
        .with("all.jsonl", json_lines(&texts))
        .with("gap.jsonl", json_lines(&with_gap))
        .with("few.jsonl", json_lines(&texts[..20]));
    let mut forms = vec!["txt", "hex", "jsonl", "f", "npy"];
    if cfg!(feature = "parquet") {
        forms.push("parquet");
    }
    let mut narrower: Vec<String> = Vec::new();
    for bits in WIDTHS {
        let most = bits / 8;
        let rows = |name: &str| {
            let options = format!(
                "--shingle words:2 --method simhash:bits={bits} --output {name}.txt -q --force"
            );
            ran(&folder, &format!("fingerprint {name}.jsonl {options}"));
            fs::read_to_string(folder.path(&format!("{name}.txt"))).unwrap()
        };
        let (all, gap, few) = (rows("all"), rows("gap"), rows("few"));
        let [all, gap, few] = [&all, &gap, &few].map(|text| text.lines().collect::<Vec<_>>());
        assert!(all.iter().all(|row| row.len() as u32 == bits / 4), "{bits}");
        // A narrow fingerprint is the last digits of a wider one.
        assert!(all.iter().zip(&narrower).all(|(row, narrower)| row.ends_with(narrower.as_str())));
        narrower = all.iter().map(|row| (*row).to_owned()).collect();
        for form in &forms {
            let (name, rows) = if *form == "npy" { ("all", &all) } else { ("gap", &gap) };
            let options = format!(
                "--shingle words:2 --method simhash:bits={bits} --output x.{form} -q --force"
            );
            ran(&folder, &format!("fingerprint {name}.jsonl {options}"));
            let found = ran(&folder, &format!("join --rows x.{form} -k {most}")).out;
            assert_eq!(found, pairs(rows, rows, most, true), "{form}, {bits} bits");
            assert!(found.lines().count() > 20, "{form}, {bits} bits");
            let searched = format!("search --rows x.{form} --queries few.txt -k {most}");
            let found = ran(&folder, &searched).out;
            assert_eq!(found, pairs(&few, rows, most, false), "{form}, {bits} bits");
            let explained = ran(&folder, &format!("{searched} --verbose --count")).err;
            assert!(explained.contains(&format!("{bits} bits")), "{explained}");
        }
    }
}

#[test]
fn every_report_of_a_run_names_the_width() {
    let texts = collection();
    let folder = Folder::empty().with("all.jsonl", json_lines(&texts));
    for bits in WIDTHS {
        let run = format!("--corpus all.jsonl --method simhash:bits={bits} -k 9 --verify 0.5");
        let of_bits = format!("{bits} bits");
        let dry = ran(&folder, &format!("{run} --dry-run")).out;
        assert!(dry.contains(&format!("fingerprints of {of_bits}")), "{dry}");
        let explained = ran(&folder, &format!("{run} --verbose --pairs --force")).err;
        assert!(explained.contains(&of_bits), "{explained}");
        let text = |name: &str| fs::read_to_string(folder.path("simtool-out").join(name)).unwrap();
        let summary = text("summary.json");
        for part in [&format!("\"recipe\": \"simhash{bits}/"), &format!("\"bits\": {bits},")] {
            assert!(summary.contains(part), "{summary}");
        }
        assert!(text("report.html").contains(&format!("distance 9 of {of_bits}")));
        assert!(!text("pairs.jsonl").is_empty());
    }
}

#[test]
fn two_documents_are_compared_by_any_width() {
    let (a, b) = ("one two three four five six seven", "one two three four five six eight");
    let folder = Folder::empty().with("a.txt", a).with("b.txt", b);
    for bits in WIDTHS {
        ran(
            &folder,
            &format!(
                "fingerprint a.txt b.txt --output x.txt -q --force --method simhash:bits={bits}"
            ),
        );
        let rows = fs::read_to_string(folder.path("x.txt")).unwrap();
        let (left, right) = rows.trim_end().split_once('\n').unwrap();
        let distance = distance(left, right);
        let compared =
            ran(&folder, &format!("compare a.txt b.txt --method simhash:bits={bits}")).out;
        assert!(compared.contains(&format!("{distance} of {bits} bits")), "{compared}");
        let compared =
            ran(&folder, &format!("compare a.txt b.txt --json --method simhash:bits={bits}")).out;
        assert!(compared.contains(&format!("\"distance\":{distance}}}")), "{compared}");
    }
    let run = folder.run(&["compare", "a.txt", "b.txt", "--method", "simhash:bits=65"]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(
        run.err.contains("--method simhash:bits=65: must be 64, 128, 256 or 512"),
        "{}",
        run.err
    );
}
