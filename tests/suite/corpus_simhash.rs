//! `simtool --corpus --method simhash` against the most obvious way to make and compare
//! fingerprints, on random collections.

use crate::program::{Folder, run};
use crate::random_texts::{Random, json_lines, texts};
use simtool::stages::stable_hash::{SHINGLE_BASE, hash, mix, row_word};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;

/// Returns the terms of a text, one for each occurrence of a shingle.
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

/// Returns the bits in which the sum of signs is above 0.
fn fingerprint(text: &str, length: usize, bits: u32) -> Option<Vec<bool>> {
    let terms = terms(text, length);
    // The sum of signs is above 0 if more than half of the rows have the bit.
    let is_positive = |bit: u32| {
        let is_set = |&&term: &&u64| row_word(term, bit / 64) >> (bit % 64) & 1 == 1;
        2 * terms.iter().filter(is_set).count() > terms.len()
    };
    (!terms.is_empty()).then(|| (0..bits).map(is_positive).collect())
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Number of words of a shingle.
    length: usize,
    /// Bits and maximum distance of fingerprints. `None` for the method exact.
    simhash: Option<(u32, u32)>,
    /// Minimum Jaccard similarity, in tenths.
    similarity: Option<usize>,
}

/// The closeness of two texts: shared and all shingles, and the distance.
type Close = (Option<(usize, usize)>, Option<u32>);

impl Settings {
    fn close(self, a: &str, b: &str) -> Option<Close> {
        let mut close = (None, None);
        if let Some((bits, max_distance)) = self.simhash {
            let [a, b] = [a, b].map(|text| fingerprint(text, self.length, bits));
            let differ = a?.iter().zip(&b?).filter(|(a, b)| a != b).count() as u32;
            close.1 = Some(differ).filter(|&distance| distance <= max_distance);
            close.1?;
        }
        if let Some(tenths) = self.similarity {
            let is_same = a.split_whitespace().eq(b.split_whitespace());
            let [a, b] =
                [a, b].map(|text| terms(text, self.length).into_iter().collect::<BTreeSet<u64>>());
            let (mut shared, mut all) = (a.intersection(&b).count(), a.union(&b).count());
            // Only equal texts have the similarity 1.
            if shared == all && !is_same {
                (shared, all) = (999_999, 1_000_000);
            }
            close.0 = (all > 0 && 10 * shared >= tenths * all).then_some((shared, all));
            close.0?;
        }
        Some(close)
    }

    fn arguments(self) -> Vec<String> {
        let mut text = format!("-q --shingle words:{}", self.length);
        if let Some((bits, max_distance)) = self.simhash {
            write!(text, " --method simhash:bits={bits} -k {max_distance}").unwrap();
        }
        if let Some(tenths) = self.similarity {
            let option = if self.simhash.is_some() { "--verify" } else { "--similarity" };
            write!(text, " {option} {tenths}/10").unwrap();
        }
        text.split(' ').map(str::to_owned).collect()
    }
}

/// Returns the closest of `candidates`, and among equally close ones the earliest.
fn closest(candidates: impl Iterator<Item = (usize, Close)>) -> Option<(usize, Close)> {
    let similarity = |close: Close| close.0.map_or(0.0, |(shared, all)| shared as f64 / all as f64);
    candidates.min_by(|(a, to_a), (b, to_b)| {
        let by_similarity = similarity(*to_b).total_cmp(&similarity(*to_a));
        by_similarity.then(to_a.1.cmp(&to_b.1)).then(a.cmp(b))
    })
}

const fn simhash(length: usize, bits: u32, max_distance: u32) -> Settings {
    Settings { length, simhash: Some((bits, max_distance)), similarity: None }
}

const SETTINGS: [Settings; 12] = [
    simhash(1, 64, 3),
    simhash(2, 64, 12),
    simhash(3, 64, 0),
    simhash(3, 128, 20),
    simhash(1, 128, 6),
    simhash(2, 256, 40),
    simhash(1, 512, 24),
    simhash(3, 512, 130),
    Settings { similarity: Some(7), ..simhash(2, 64, 14) },
    Settings { similarity: Some(9), ..simhash(1, 64, 4) },
    Settings { similarity: Some(10), ..simhash(1, 128, 30) },
    Settings { similarity: Some(6), ..simhash(2, 512, 150) },
];

/// Runs the program on the files of `folder`, and returns the lines of one output.
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

/// Parses a row: the two records, the similarity and the distance.
fn row(line: &str, [a, b]: [&str; 2]) -> (usize, usize, String, String) {
    let field = |name: &str| {
        let from = line.split_once(&format!("\"{name}\":")).unwrap().1;
        from[..from.find([',', '}']).unwrap()].to_owned()
    };
    let record = |name: &str| field(name).parse().unwrap();
    (record(a), record(b), field("similarity"), field("distance"))
}

/// Formats a pair as a row has it.
fn shown((a, b, (similarity, distance)): (usize, usize, Close)) -> (usize, usize, String, String) {
    let null = || "null".to_owned();
    let ratio = |(shared, all)| (shared as f64 / all as f64).to_string();
    (a, b, similarity.map_or_else(null, ratio), distance.map_or_else(null, |d| d.to_string()))
}

#[test]
fn pairs_and_removals_are_those_of_naive_fingerprints_and_sets() {
    let mut random = Random(1);
    let (mut pairs_in_all, mut removed_in_all) = (0, 0);
    for (number, settings) in SETTINGS.into_iter().cycle().take(24).enumerate() {
        let texts = texts(&mut random, 80);
        let folder = Folder::empty().with("a.jsonl", json_lines(&texts));
        let mut pairs = Vec::new();
        let mut kept: Vec<usize> = Vec::new();
        let mut removed = Vec::new();
        for (b, text) in texts.iter().enumerate() {
            let close = |a: usize| Some((a, settings.close(&texts[a], text)?));
            pairs.extend((0..b).filter_map(close).map(|(a, close)| shown((a, b, close))));
            match closest(kept.iter().copied().filter_map(close)) {
                Some((kept, close)) => removed.push(shown((b, kept, close))),
                None => kept.push(b),
            }
        }
        pairs.sort();
        let threads = ["1", "2", "5"][number % 3];
        let arguments = ["--corpus", "a.jsonl", "--pairs", "-j", threads];
        let found = lines(&folder, settings, &arguments, "pairs.jsonl");
        let found: Vec<_> = found.iter().map(|line| row(line, ["a_record", "b_record"])).collect();
        assert_eq!(found, pairs, "{settings:?}");
        let found = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
        let found: Vec<_> =
            found.lines().map(|line| row(line, ["record", "kept_record"])).collect();
        assert_eq!(found, removed, "{settings:?}");
        let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
        let without = texts.iter().filter(|text| text.is_empty()).count();
        assert!(summary.contains(&format!("\"without_terms\": {without},")), "{summary}");
        // The join in temporary files finds the same pairs.
        let memory = [&arguments[..], &["--max-memory", "100B"]].concat();
        let spilled = lines(&folder, settings, &memory, "pairs.jsonl");
        assert_eq!(spilled.len(), pairs.len(), "{settings:?}");
        pairs_in_all += pairs.len();
        removed_in_all += removed.len();
    }
    assert!(pairs_in_all > 500 && removed_in_all > 200, "{pairs_in_all}, {removed_in_all}");
}

#[test]
fn queries_have_the_matches_of_a_comparison_with_every_document() {
    let mut random = Random(3);
    let exact = Settings { length: 2, simhash: None, similarity: Some(6) };
    let mut pairs_in_all = 0;
    for (number, settings) in SETTINGS.into_iter().chain([exact; 3]).cycle().take(22).enumerate() {
        let all = texts(&mut random, 120);
        let (corpus, queries) = all.split_at([30, 60, 100][number % 3]);
        let folder = Folder::empty()
            .with("corpus.jsonl", json_lines(corpus))
            .with("queries.jsonl", json_lines(queries));
        let (mut pairs, mut removed, mut kept) = (Vec::new(), Vec::new(), String::new());
        for (a, query) in queries.iter().enumerate() {
            let close = |b: usize| Some((b, settings.close(query, &corpus[b])?));
            let matches = || (0..corpus.len()).filter_map(close);
            pairs.extend(matches().map(|(b, close)| shown((a, b, close))));
            match closest(matches()) {
                Some((b, close)) => removed.push(shown((a, b, close))),
                None => kept.push_str(&json_lines(std::slice::from_ref(query))),
            }
        }
        let inputs = ["--corpus", "corpus.jsonl", "--queries", "queries.jsonl", "--write-kept"];
        for more in [&["-j", "3"][..], &["-j", "1", "--max-memory", "10K"]] {
            let found = lines(&folder, settings, &[&inputs[..], more].concat(), "pairs.jsonl");
            let found: Vec<_> =
                found.iter().map(|line| row(line, ["a_record", "b_record"])).collect();
            assert_eq!(found, pairs, "{settings:?}");
            let text = |name: &str| fs::read_to_string(folder.path("out").join(name)).unwrap();
            let found = text("removed.jsonl");
            assert!(found.lines().all(|line| line.contains("\"kept_file\":\"corpus.jsonl\"")));
            let found: Vec<_> =
                found.lines().map(|line| row(line, ["record", "kept_record"])).collect();
            assert_eq!(found, removed, "{settings:?}");
            assert_eq!(text("kept/queries.jsonl"), kept, "{settings:?}");
            let summary = text("summary.json");
            for (name, count) in [
                ("documents", queries.len()),
                ("removed", removed.len()),
                ("corpus_documents", corpus.len()),
            ] {
                assert!(summary.contains(&format!("\"{name}\": {count},")), "{summary}");
            }
        }
        pairs_in_all += pairs.len();
    }
    assert!(pairs_in_all > 500, "{pairs_in_all}");
}

#[test]
fn the_kept_collection_has_no_near_duplicates() {
    let mut random = Random(7);
    for settings in SETTINGS {
        let texts = texts(&mut random, 300);
        let folder = Folder::empty().with("a.jsonl", json_lines(&texts));
        let once =
            lines(&folder, settings, &["--corpus", "a.jsonl", "--write-kept"], "removed.jsonl");
        assert!(once.len() > 10, "{}", once.len());
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
        ("--max-distance 3", "--max-distance 3: works only with --method simhash"),
        ("--method exact:bits=64", "--method exact:bits=64: works only with --method simhash"),
        ("--method simhash --similarity 0.8", "works only with --method exact"),
        ("--method simhash:bits=32", "--method simhash:bits=32: must be 64, 128, 256 or 512"),
        ("--method simhash -k 32", "would match unrelated documents"),
        ("--verify 0.8", "--verify 0.8: works only with --method simhash"),
        ("--method simhash --verify 1.5", "--verify 1.5: must be above 0"),
        ("--queries a.txt --keep last", "--keep last: chooses among documents of one collection"),
        ("--queries a.txt --cluster components", "does not go with --queries"),
        ("--method magic", "exact, covered, simhash"),
        ("--method minhash:bits=3", "--method minhash:bits=3: must be 1, 2, 4"),
        ("--method i-match:lanes=8", "--method i-match:lanes=8: works only with --method minhash"),
    ] {
        let arguments: Vec<&str> =
            ["--corpus", "a.txt"].into_iter().chain(arguments.split(' ')).collect();
        let run = folder.run(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn a_dry_run_writes_nothing_and_an_estimate_comes_before_the_work() {
    let texts = texts(&mut Random(5), 2000);
    let folder = Folder::empty().with("a.jsonl", json_lines(&texts));
    for method in [&["--method", "exact"][..], &["--method", "simhash"]] {
        let run = folder.run(&[&["--corpus", "a.jsonl", "--dry-run"][..], method].concat());
        assert_eq!((run.code, run.err.as_str()), (0, ""));
        assert!(run.out.starts_with(&format!("{}: all pairs", method[1])), "{}", run.out);
        // The input is read so quickly that nothing is estimated.
        assert!(run.out.contains("\n2000 documents with about "), "{}", run.out);
        assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 1, "{}", run.out);
    }
    let run = folder.run(&["--corpus", "a.jsonl", "--method", "simhash", "--verbose"]);
    assert!(run.err.contains("B of memory in addition to the files"), "{}", run.err);
    assert!(run.err.contains("<- chosen: the fastest that fits"), "{}", run.err);
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "--force"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}

#[test]
fn n_and_m_in_front_join_the_fingerprints_of_the_reference_task() {
    let folder = Folder::empty();
    assert_eq!(folder.run(&["generate", "--documents", "150", "--output", "made"]).code, 0);
    for (features, bits) in [("500", "64"), ("50", "16"), ("300", "100")] {
        let shared = ["-q", "-k", "5", features, bits];
        let files = ["--articles", "made/article.txt", "--samples", "made/article.txt"];
        let run = folder.run(&[&shared[..], &files, &["--result", "result.txt"]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let mut expected = BTreeSet::new();
        let (mut order, mut query) = (Vec::new(), String::new());
        for line in folder.result().unwrap().lines() {
            if let Some((distance, ids)) = line.split_once(':') {
                let of_query = ids.split_whitespace().map(|id| (query.clone(), id, distance));
                expected.extend(of_query.map(|(a, b, d)| (a, b.to_owned(), d.to_owned())));
            } else {
                line.clone_into(&mut query);
                order.push(query.clone());
            }
        }
        let at = |id: &str| order.iter().position(|other| other == id);
        expected.retain(|(a, b, _)| at(a) < at(b));
        let corpus = ["--corpus", "made/article.txt", "--pairs", "--force", "--output", "out"];
        let run = folder.run(&[&shared[..], &corpus].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        let pairs = fs::read_to_string(folder.path("out/pairs.jsonl")).unwrap();
        let field = |line: &str, name: &str| {
            let from = line.split_once(&format!("\"{name}\":")).unwrap().1;
            from[..from.find([',', '}']).unwrap()].trim_matches('"').to_owned()
        };
        let names = ["a_id", "b_id", "distance"];
        let found = pairs.lines().map(|line| names.map(|name| field(line, name)).into());
        assert_eq!(found.collect::<BTreeSet<(String, String, String)>>(), expected);
        assert!(expected.len() > 10, "{}", expected.len());
    }
    for (arguments, part) in [
        (&["500", "--corpus", "made"][..], "N and M stand together"),
        (
            &["500", "64", "--corpus", "made", "--method", "simhash:bits=64"],
            "cannot be used with 500 most frequent words",
        ),
        (&["500", "64", "--corpus", "made", "--similarity", "1"], "works only with --method exact"),
        (&["500", "x", "--corpus", "made"], "M x"),
    ] {
        let run = folder.run(arguments);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
}
