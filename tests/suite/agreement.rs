//! The table, `summary.json`, the report page and the rows of one run agree.

use crate::program::{Finished, Folder};
use crate::random_texts::{Random, texts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Returns the counts of the tiles of a page, with their notes.
fn tiles(page: &str) -> BTreeMap<String, (u64, String)> {
    let mut tiles = BTreeMap::new();
    for tile in page.split("<div data-key=\"").skip(1) {
        let (key, rest) = tile.split_once('"').unwrap();
        let (_, rest) = rest.split_once("<dd>").unwrap();
        let (count, rest) = rest.split_once("<small>").unwrap();
        let (note, _) = rest.split_once("</small>").unwrap();
        tiles.insert(key.to_owned(), (count.replace(',', "").parse().unwrap(), note.to_owned()));
    }
    tiles
}

/// Returns the sum of the numbers of a chart.
fn charted(page: &str, key: &str) -> Option<u64> {
    let (_, chart) = page.split_once(&format!("<h3 id=\"{key}\">"))?;
    let (_, rows) = chart.split_once("<tbody>")?;
    let (rows, _) = rows.split_once("</tbody>")?;
    let counts = rows.split("<td class=\"n\">").skip(1);
    Some(
        counts
            .map(|row| row.split('<').next().unwrap().replace(',', ""))
            .map(|n| n.parse::<u64>().unwrap())
            .sum(),
    )
}

fn lines(folder: &Path, file: &str) -> Option<u64> {
    Some(fs::read_to_string(folder.join(file)).ok()?.lines().count() as u64)
}

/// Checks the outputs of a run that printed a table.
pub(crate) fn agree(run: &Finished, output: &Path) {
    assert!(run.code == 0 || run.code == 3, "{}", run.err);
    let summary = fs::read_to_string(output.join("summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).expect(&summary);
    let page = fs::read_to_string(output.join("report.html")).unwrap();
    let tiles = tiles(&page);
    let count = |key: &str| summary[key].as_u64().unwrap_or_else(|| panic!("{key}: {summary}"));
    let is_match = summary.get("corpus_documents").is_some();

    // The table is read line by line. A count that it leaves out is 0.
    let (counts, rest) = run.out.split_at(run.out.find(" of text in ").unwrap());
    let counts: Vec<&str> = counts.lines().collect();
    let (size, counts) = counts.split_last().unwrap();
    let names = [
        ("files", "files"),
        ("query files", "files"),
        ("documents", "documents"),
        ("queries", "documents"),
        ("matched", "clusters"),
        ("without words", "without_terms"),
        ("passed over", "passed_over"),
        ("file faults", "file_faults"),
        ("whole pages", "whole_pages"),
        ("shared IDs", "shared_ids"),
        ("ambiguous IDs", "ambiguous_ids"),
        ("losing words", "removed_with_loss"),
        ("words lost", "lost_words"),
        ("few own words", "few_own_words"),
        ("for words", "kept_for_words"),
        ("decisions", "decisions"),
        ("unfit", "unfit_decisions"),
        ("elements skipped", "skipped_elements"),
    ];
    let mut of_corpus = false;
    let mut reported = Vec::new();
    for line in counts {
        let name = line.split("  ").find(|part| !part.is_empty()).unwrap();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim();
        let after = line.split_once(name).unwrap().1.trim();
        let (number, note) = after.split_once(' ').unwrap_or((after, ""));
        of_corpus |= name.starts_with("corpus ");
        let name = name.trim_start_matches("corpus ");
        let known = names.iter().find(|known| known.0 == name);
        let key = known.map_or(name, |known| known.1);
        let key = if of_corpus { format!("corpus_{key}") } else { key.to_owned() };
        assert_eq!(number.parse::<u64>().unwrap(), count(&key), "{key}: {}", run.out);
        let (on_page, page_note) = &tiles[&key];
        assert_eq!(*on_page, count(&key), "{key}");
        let share = note.trim().split("  ").find(|note| note.ends_with('%')).unwrap_or_default();
        assert!(
            page_note.replace("&gt;", ">").replace("&lt;", "<").contains(share),
            "{key}: {share}, {page_note}"
        );
        reported.push(key);
    }
    assert_eq!(reported.len(), tiles.len(), "{}", run.out);
    for key in [
        "lost",
        "passed_over",
        "file_faults",
        "mended",
        "whole_pages",
        "shared_ids",
        "ambiguous_ids",
    ] {
        assert_eq!(reported.iter().any(|reported| reported == key), count(key) > 0, "{key}");
    }

    // The counts agree with each other and with the rows.
    let parts = ["documents", "quarantined", "lost", "passed_over"].map(count);
    assert_eq!(count("records_in"), parts.iter().sum::<u64>());
    assert_eq!(count("documents"), count("kept") + count("removed"));
    assert_eq!(summary["conserved"], true);
    assert_eq!(lines(output, "removed.jsonl"), Some(count("removed")));
    assert_eq!(lines(output, "clusters.jsonl"), Some(count("clusters")));
    let corpus_quarantined = if is_match { count("corpus_quarantined") } else { 0 };
    let quarantined = count("quarantined") + corpus_quarantined;
    assert_eq!(lines(output, "quarantine.jsonl"), Some(quarantined));
    assert!(lines(output, "pairs.jsonl").is_none_or(|pairs| pairs == count("pairs")));

    // Faults by kind agree with their list.
    let kinds = summary["fault_counts"].as_object().unwrap();
    let faults = summary["faults"].as_array().unwrap();
    assert_eq!(kinds.values().map(|n| n.as_u64().unwrap()).sum::<u64>(), faults.len() as u64);
    let of_records = faults.iter().filter(|fault| fault["record"].is_u64()).count() as u64;
    assert_eq!(of_records, quarantined);
    for fault in faults {
        assert!(kinds.contains_key(fault["kind"].as_str().unwrap()), "{fault}");
        assert!(fault["file"].is_string() && fault["what"].is_string(), "{fault}");
        assert!(page.contains(&format!("<code>{}</code>", fault["kind"].as_str().unwrap())));
    }

    // Charts and levels agree with the counts.
    for chart in ["similarities", "distances"] {
        assert!(charted(&page, chart).is_none_or(|sum| sum <= count("removed")), "{chart}");
    }
    if count("removed") > 0 && summary["parameters"]["cluster"] == "proven" {
        let of_removed = charted(&page, "similarities").or(charted(&page, "distances"));
        assert_eq!(of_removed, Some(count("removed")));
        assert_eq!(charted(&page, "sizes"), Some(count("clusters")));
    }
    let levels = summary["removed_at"].as_array().unwrap();
    assert_eq!(levels.last().unwrap()["removed"], count("removed"));

    // Sizes and times are plausible.
    let seconds = summary["seconds"].as_object().unwrap().values();
    let seconds: f64 = seconds.map(|stage| stage.as_f64().unwrap()).sum();
    let reported = rest.split(' ').nth(4).unwrap().parse::<f64>().unwrap();
    assert!((reported - seconds).abs() < 0.001, "{rest} {seconds}");
    assert!(page.contains(&format!("all, {size}")) || is_match, "{size}");
    assert!(page.contains(&format!("{size} of text")), "{size}");
    for moment in ["begin", "end"] {
        let moment = summary[moment].as_str().unwrap();
        let shape: String =
            moment.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        assert_eq!(shape, "0000-00-00T00:00:00Z");
        assert!(page.contains(moment));
    }
    assert!(summary["begin"].as_str() <= summary["end"].as_str());
    if cfg!(target_os = "linux") {
        assert!(count("peak_memory_bytes") > 1_000_000);
    }
}

/// Returns the summary and the page without times and numbers of threads.
fn without_times(output: &Path) -> (Value, String) {
    let summary = fs::read_to_string(output.join("summary.json")).unwrap();
    let mut summary: Value = serde_json::from_str(&summary).unwrap();
    let fields = summary.as_object_mut().unwrap();
    for field in ["begin", "end", "peak_memory_bytes", "seconds", "command", "working_folder"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
    let page = fs::read_to_string(output.join("report.html")).unwrap();
    (summary, page.split_once("<h2>How it was made</h2>").unwrap().0.to_owned())
}

/// Builds JSON lines, some of them broken.
fn lines_of(random: &mut Random, texts: &[String]) -> String {
    let mut lines = String::new();
    for (number, text) in texts.iter().enumerate() {
        match random.below(12) {
            0 => lines.push_str("no object\n"),
            1 => lines.push_str("{\"id\": \"x\", \"text\": 7}\n"),
            2 => writeln!(lines, "{{\"text\": \"{text}\"}}").unwrap(),
            _ => writeln!(lines, "{{\"id\": \"d{number}\", \"text\": \"{text}\"}}").unwrap(),
        }
    }
    lines
}

#[test]
fn every_account_of_a_random_run_says_the_same() {
    let mut random = Random(11);
    let (mut removed, mut matches, mut passed_over, mut faults) = (0, 0, 0, 0);
    for round in 0..40 {
        let all = texts(&mut random, 60);
        let (first, second) = all.split_at(35);
        let (first, second) = (lines_of(&mut random, first), lines_of(&mut random, second));
        let folder = Folder::empty().with("a.jsonl", first).with("b.jsonl", second);
        // The first file is not in the format of its name, and the second does not exist.
        let folder = folder.with("c.jsonl.gz", "{\"text\": \"w1 w2 w3 w4 w5\"}\n");
        let mut arguments = vec!["-q", "--output", "out", "--pairs"];
        match random.below(3) {
            0 => arguments.extend(["--corpus", "a.jsonl", "--queries", "b.jsonl", "c.jsonl.gz"]),
            1 => arguments.extend(["--corpus", "a.jsonl", "b.jsonl", "c.jsonl.gz"]),
            _ => arguments.extend(["--corpus", "a.jsonl", "missing.jsonl", "b.jsonl"]),
        }
        let is_match = arguments.contains(&"--queries");
        match random.below(4) {
            0 => arguments.extend(["--method", "simhash", "-k", "9"]),
            1 => arguments.extend(["--method", "simhash", "-k", "20", "--verify", "0.5"]),
            _ => arguments.extend(["--similarity", "0.4"]),
        }
        match random.below(8) {
            0 => arguments.extend(["--min-tokens", "5"]),
            1 => arguments.extend(["--sample", "0.5"]),
            2 => arguments.extend(["--max-bytes", "50"]),
            3 if !is_match => arguments.extend(["--cluster", "components"]),
            4 => arguments.extend(["--limit", "20"]),
            5 => arguments.extend(["--min-tokens", "1000"]),
            _ => {}
        }
        let run = folder.run(&arguments);
        assert!(run.code == 0 || run.code == 3, "{round}: {arguments:?}: {}", run.err);
        let output = folder.path("out");
        agree(&run, &output);
        let once = without_times(&output);
        let again = folder.run(&[&arguments[..], &["--force", "-j", "3"]].concat());
        assert_eq!(again.code, run.code);
        assert_eq!(without_times(&output), once, "{arguments:?}");
        let (summary, _) = once;
        let count = |key: &str| summary[key].as_u64().unwrap();
        removed += count("removed");
        matches += u64::from(is_match);
        passed_over += count("passed_over");
        faults += count("file_faults");
    }
    assert!(removed > 100 && matches > 5 && passed_over > 50 && faults > 3);
}

#[test]
fn the_estimate_for_a_stricter_limit_is_its_result() {
    let mut random = Random(5);
    let mut levels_in_all = 0;
    for (round, more) in [
        &["--similarity", "0.3"][..],
        &["--similarity", "0.65", "--keep", "longest"],
        &["--similarity", "0.5", "--cluster", "components"],
        &["--method", "simhash", "-k", "13"],
        &["--queries", "b.jsonl", "--similarity", "0.4"],
    ]
    .into_iter()
    .enumerate()
    {
        let all = texts(&mut random, 150);
        let json = crate::random_texts::json_lines;
        let folder =
            Folder::empty().with("a.jsonl", json(&all[..90])).with("b.jsonl", json(&all[90..]));
        let summary = |more: &[&str]| -> Value {
            let arguments = ["-q", "--corpus", "a.jsonl", "--json", "--force"];
            let run = folder.run(&[&arguments, more].concat());
            assert_eq!(run.code, 0, "{}", run.err);
            serde_json::from_str(&run.out).unwrap()
        };
        let levels = summary(more)["removed_at"].clone();
        for level in levels.as_array().unwrap() {
            let (option, limit) = match level.get("similarity") {
                Some(least) => ("--similarity", least.to_string()),
                None => ("-k", level["max_distance"].to_string()),
            };
            let at = more.iter().position(|word| *word == option).unwrap();
            let mut stricter = more.to_vec();
            stricter[at + 1] = &limit;
            let found = summary(&stricter);
            assert_eq!(found["removed"], level["removed"], "{round}: {stricter:?}");
            levels_in_all += 1;
        }
    }
    assert!(levels_in_all > 15, "{levels_in_all}");
}

#[test]
fn settings_are_reported_as_parsed() {
    let text = "one two three four five six";
    let folder =
        Folder::empty().with("a.jsonl", format!("{{\"id\": \"a\", \"text\": \"{text}\"}}\n"));
    fs::create_dir(folder.path("in")).unwrap();
    fs::rename(folder.path("a.jsonl"), folder.path("in/a.jsonl")).unwrap();
    let run = folder.run(&[
        "-q",
        "--json",
        "--corpus",
        "in",
        "--glob",
        "*.jsonl",
        "--min-tokens",
        "2",
        "--max-bytes",
        "1M",
        "--sample",
        "1",
        "--limit",
        "9",
        "--similarity",
        "4/5",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    let parameters = &summary["parameters"];
    for (name, value) in [
        ("method", Value::from("exact")),
        ("similarity", Value::from(0.8)),
        ("shingle", Value::from("words:3")),
        ("corpus", Value::from(vec!["in"])),
        ("queries", Value::Array(Vec::new())),
        ("glob", Value::from(vec!["*.jsonl"])),
        ("min_tokens", Value::from(2)),
        ("max_bytes", Value::from(1_000_000)),
        ("sample", Value::from(1)),
        ("limit", Value::from(9)),
        ("split", Value::from("file")),
        ("files_from", Value::Null),
    ] {
        assert_eq!(parameters[name], value, "{name}");
    }
}
