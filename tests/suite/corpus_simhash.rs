//! `simtool --corpus --method simhash` against fingerprints and comparisons in the most obvious
//! way, on random collections.

use crate::program::{Folder, run};
use simtool::stable_hash::{SHINGLE_BASE, hash, mix, row_word};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// Random numbers below `limit`.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0 ^ 0x5eed_0000) % limit
    }
}

/// Texts of a few words, many of which are copies of others with a word changed, and some empty.
fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let mut texts: Vec<Vec<String>> = Vec::new();
    for _ in 0..count {
        let word = |random: &mut Random| format!("w{}", random.below(40));
        let copied = (!texts.is_empty() && random.below(3) > 0)
            .then(|| texts[random.below(texts.len() as u64) as usize].clone());
        let mut text = copied.unwrap_or_else(|| {
            let length = [0, 1, 2, 5, 20, 60][random.below(6) as usize];
            (0..length).map(|_| word(random)).collect()
        });
        for _ in 0..random.below(3).min(text.len() as u64) {
            let at = random.below(text.len() as u64) as usize;
            text[at] = word(random);
        }
        texts.push(text);
    }
    texts.iter().map(|words| words.join(" ")).collect()
}

fn json_lines(texts: &[String]) -> String {
    let mut lines = String::new();
    for text in texts {
        writeln!(lines, "{{\"text\":\"{text}\"}}").unwrap();
    }
    lines
}

/// The terms of a text, one for each occurrence of a shingle.
fn terms(text: &str, length: usize) -> Vec<u64> {
    let tokens: Vec<u64> = text.split_whitespace().map(|word| hash(word.as_bytes())).collect();
    if tokens.is_empty() || length == 1 {
        return tokens;
    }
    let sum = |run: &[u64]| {
        run.iter().fold(0_u64, |sum, &x| sum.wrapping_mul(SHINGLE_BASE).wrapping_add(x))
    };
    tokens.windows(length.min(tokens.len())).map(|run| mix(sum(run))).collect()
}

/// The bits in which the sum of signs is above 0.
fn fingerprint(text: &str, length: usize, bits: u32) -> Option<u128> {
    let terms = terms(text, length);
    // The sum of signs is above 0 where more than half of the rows have the bit.
    let is_positive = |bit: u32| {
        let is_set = |&&term: &&u64| row_word(term, bit / 64) >> (bit % 64) & 1 == 1;
        2 * terms.iter().filter(is_set).count() > terms.len()
    };
    let fingerprint = (0..bits).fold(0, |all, bit| all | u128::from(is_positive(bit)) << bit);
    (!terms.is_empty()).then_some(fingerprint)
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
struct Settings {
    length: usize,
    bits: u32,
    max_distance: u32,
}

impl Settings {
    fn distance(self, a: &str, b: &str) -> Option<u32> {
        let [a, b] = [a, b].map(|text| fingerprint(text, self.length, self.bits));
        Some((a? ^ b?).count_ones()).filter(|&distance| distance <= self.max_distance)
    }

    fn arguments(self) -> Vec<String> {
        let Self { length, bits, max_distance } = self;
        let text =
            format!("-q --method simhash --shingle words:{length} --bits {bits} -k {max_distance}");
        text.split(' ').map(str::to_owned).collect()
    }
}

const SETTINGS: [Settings; 5] = [
    Settings { length: 1, bits: 64, max_distance: 3 },
    Settings { length: 2, bits: 64, max_distance: 12 },
    Settings { length: 3, bits: 64, max_distance: 0 },
    Settings { length: 3, bits: 128, max_distance: 20 },
    Settings { length: 1, bits: 128, max_distance: 6 },
];

/// Runs the program on the files of `folder` and gives the lines of one output.
fn lines(folder: &Folder, settings: Settings, more: &[&str], output: &str) -> Vec<String> {
    let mut arguments = settings.arguments();
    arguments.extend(["--force", "--output", "out"].map(str::to_owned));
    arguments.extend(more.iter().map(|&argument| argument.to_owned()));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let run = run(&folder.path(""), &arguments, &[]);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    let text = fs::read_to_string(folder.path("out").join(output)).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// What a row says: the two records, the similarity and the distance.
fn row(line: &str, [a, b]: [&str; 2]) -> (usize, usize, String, String) {
    let field = |name: &str| {
        let from = line.split_once(&format!("\"{name}\":")).unwrap().1;
        from[..from.find([',', '}']).unwrap()].to_owned()
    };
    let record = |name: &str| field(name).parse().unwrap();
    (record(a), record(b), field("similarity"), field("distance"))
}

#[test]
fn pairs_and_removals_are_those_of_naive_fingerprints() {
    let mut random = Random(1);
    let (mut pairs_in_all, mut removed_in_all) = (0, 0);
    for (number, settings) in SETTINGS.into_iter().cycle().take(15).enumerate() {
        let texts = texts(&mut random, 80);
        let folder = Folder::empty().with("a.jsonl", json_lines(&texts));
        let mut pairs = Vec::new();
        let mut kept: Vec<usize> = Vec::new();
        let mut removed = Vec::new();
        for (b, text) in texts.iter().enumerate() {
            let distance = |&a: &usize| Some((settings.distance(&texts[a], text)?, a));
            pairs.extend((0..b).filter_map(|a| distance(&a)).map(|(distance, a)| (a, b, distance)));
            match kept.iter().filter_map(distance).min() {
                Some((distance, kept)) => removed.push((b, kept, distance)),
                None => kept.push(b),
            }
        }
        pairs.sort_unstable();
        let shown = |rows: &[(usize, usize, u32)]| -> Vec<_> {
            let shown = rows.iter().map(|&(a, b, d)| (a, b, "null".to_owned(), d.to_string()));
            shown.collect()
        };
        let threads = ["1", "2", "5"][number % 3];
        let arguments = ["--corpus", "a.jsonl", "--pairs", "-j", threads];
        let found = lines(&folder, settings, &arguments, "pairs.jsonl");
        let found: Vec<_> = found.iter().map(|line| row(line, ["a_record", "b_record"])).collect();
        assert_eq!(found, shown(&pairs), "{settings:?}");
        let found = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
        let found: Vec<_> =
            found.lines().map(|line| row(line, ["record", "kept_record"])).collect();
        assert_eq!(found, shown(&removed), "{settings:?}");
        let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
        let without = texts.iter().filter(|text| text.is_empty()).count();
        assert!(summary.contains(&format!("\"without_terms\": {without},")), "{summary}");
        // The join in files finds the same.
        let memory = [&arguments[..], &["--max-memory", "1K"]].concat();
        let spilled = lines(&folder, settings, &memory, "pairs.jsonl");
        assert_eq!(spilled.len(), pairs.len(), "{settings:?}");
        pairs_in_all += pairs.len();
        removed_in_all += removed.len();
    }
    assert!(pairs_in_all > 500 && removed_in_all > 200, "{pairs_in_all}, {removed_in_all}");
}

#[test]
fn the_kept_collection_has_no_near_duplicates() {
    let mut random = Random(7);
    for settings in SETTINGS {
        let texts = texts(&mut random, 300);
        let folder = Folder::empty().with("a.jsonl", json_lines(&texts));
        let once =
            lines(&folder, settings, &["--corpus", "a.jsonl", "--write-kept"], "removed.jsonl");
        assert!(once.len() > 20, "{}", once.len());
        fs::rename(folder.path("out"), folder.path("once")).unwrap();
        let again = lines(&folder, settings, &["--corpus", "once/kept"], "removed.jsonl");
        assert_eq!(again, [""; 0]);
        let records = |path: &str| -> BTreeSet<String> {
            fs::read_to_string(folder.path(path)).unwrap().lines().map(str::to_owned).collect()
        };
        assert!(records("once/kept/a.jsonl").is_subset(&records("a.jsonl")));
    }
}

#[test]
fn settings_of_another_method_are_refused() {
    let folder = Folder::empty().with("a.txt", "one document");
    for (arguments, part) in [
        ("--max-distance 3", "--max-distance 3: goes with --method simhash"),
        ("--bits 64", "--bits 64: goes with --method simhash"),
        ("--method simhash --similarity 0.8", "goes with --method exact"),
        ("--method simhash --bits 32", "--bits 32: must be 64 or 128"),
        ("--method simhash -k 32", "must be below 32"),
        ("--method minhash", "exact, simhash"),
    ] {
        let arguments: Vec<&str> =
            ["--corpus", "a.txt"].into_iter().chain(arguments.split(' ')).collect();
        let run = folder.run(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
}
