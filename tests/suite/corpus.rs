//! `simtool --corpus`, through the binary.

use crate::program::{Finished, Folder, run};
#[cfg(feature = "parquet")]
use arrow_array::cast::AsArray;
#[cfg(feature = "parquet")]
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Generates articles with planted near-duplicates, as JSON Lines and as form-feed text.
fn collection(folder: &Folder) {
    let made = folder.run(&["generate", "--documents", "600", "--output", "made"]);
    assert_eq!(made.code, 0, "{}", made.err);
    let articles = fs::read_to_string(folder.path("made/article.txt")).unwrap();
    fs::create_dir(folder.path("in")).unwrap();
    fs::write(folder.path("in/a.txt"), &articles).unwrap();
    let mut lines = String::new();
    let parts = articles.split('\x0c').filter_map(|part| part.trim_start().split_once('\n'));
    for (id, text) in parts {
        let text = text.replace('\\', "\\\\").replace('"', "\\\"");
        let text = text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
        writeln!(lines, "{{\"id\":\"j{}\",\"text\":\"{text}\"}}", id.trim()).unwrap();
    }
    fs::write(folder.path("in/b.jsonl"), lines).unwrap();
}

fn deduplicate(folder: &Folder, arguments: &[&str]) -> Finished {
    let run = folder.run(&[&["--quiet", "--corpus"], arguments].concat());
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    run
}

/// Returns the files of a folder at any depth, except the two that have times.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(files(&path).into_iter().map(|(below, f)| (format!("{name}/{below}"), f)));
        } else if !["summary.json", "request.json", "report.html"].contains(&&*name) {
            found.insert(name, fs::read(path).unwrap());
        }
    }
    found
}

#[test]
fn any_number_of_threads_and_any_instruction_set_write_the_same_bytes() {
    let folder = Folder::empty();
    collection(&folder);
    for method in [&["--similarity", "0.8"][..], &["--method", "simhash", "-k", "8"]] {
        same_bytes(&folder, method);
    }
}

fn same_bytes(folder: &Folder, method: &[&str]) {
    let mut expected = None;
    let every_thread_count = ["1", "2", "3", "7", "16"].map(|threads| (threads, "avx512"));
    let every_isa = ["avx2", "portable"].map(|isa| ("2", isa));
    for (threads, isa) in every_thread_count.into_iter().chain(every_isa) {
        let output = format!("out-{threads}-{isa}-{}", method.len());
        let arguments =
            ["-q", "--corpus", "in", "--pairs", "--write-kept", "--output", &output, "-j", threads];
        let arguments = [&arguments, method].concat();
        let run = run(&folder.path(""), &arguments, &[("SIMTOOL_ISA", isa)]);
        assert_eq!(run.code, 0, "{}", run.err);
        let found = files(&folder.path(&output));
        assert!(found["removed.jsonl"].len() > 10_000);
        assert_eq!(expected.get_or_insert_with(|| found.clone()), &found, "{threads}, {isa}");
    }
}

#[test]
fn the_kept_collection_has_no_near_duplicates_and_every_document_is_somewhere() {
    let folder = Folder::empty();
    collection(&folder);
    deduplicate(&folder, &["in", "--write-kept", "--output", "once"]);
    deduplicate(&folder, &["once/kept", "--output", "twice"]);
    let again = files(&folder.path("twice"));
    assert!(again["removed.jsonl"].is_empty());
    let once = files(&folder.path("once"));
    let removed = String::from_utf8(once["removed.jsonl"].clone()).unwrap();
    let of_b = removed.lines().filter(|row| row.contains("\"file\":\"in/b.jsonl\"")).count();
    // All of b repeats a: its text is the same.
    assert_eq!(of_b, 600);
    assert!(once["kept/in/b.jsonl"].is_empty());
}

#[test]
fn a_removed_document_names_a_kept_one_that_is_similar_enough() {
    let folder = Folder::empty();
    collection(&folder);
    deduplicate(&folder, &["in", "--similarity", "0.6", "--output", "out"]);
    let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
    let field = |row: &str, name: &str| {
        let from = row.split_once(&format!("\"{name}\":")).unwrap().1;
        from[..from.find([',', '}']).unwrap()].to_owned()
    };
    let place = |row: &str, prefix: &str| {
        (field(row, &format!("{prefix}file")), field(row, &format!("{prefix}record")))
    };
    let gone: Vec<_> = removed.lines().map(|row| place(row, "")).collect();
    for row in removed.lines() {
        assert!(field(row, "similarity").parse::<f64>().unwrap() >= 0.6, "{row}");
        assert!(!gone.contains(&place(row, "kept_")), "{row}");
    }
}

#[test]
fn rows_of_every_format_name_the_same_documents() {
    let folder = Folder::empty();
    collection(&folder);
    let removed = |format: &str, more: &[&str]| {
        let output = format!("{format}-{}", more.len());
        let arguments = ["in", "--pairs", "--output-format", format, "--output", &output];
        deduplicate(&folder, &[&arguments, more].concat());
        fs::read(folder.path(&format!("{output}/removed.{format}"))).unwrap()
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (jsonl, tsv) = (text(removed("jsonl", &[])), text(removed("tsv", &[])));
    assert_eq!(jsonl.lines().count() + 1, tsv.lines().count());
    deduplicate(&folder, &["in", "--output-format", "ids", "--output", "ids"]);
    let ids = fs::read_to_string(folder.path("ids/removed.jsonl")).unwrap();
    let first_fields: Vec<_> = tsv.lines().map(|row| row.split('\t').next().unwrap()).collect();
    let expected: Vec<_> =
        first_fields[1..].iter().map(|id| format!("{{\"id\":\"{id}\"}}")).collect();
    assert_eq!(ids.lines().collect::<Vec<_>>(), expected);
    #[cfg(feature = "parquet")]
    {
        let bytes = removed("parquet", &[]);
        let reader = ParquetRecordBatchReader::try_new(bytes::Bytes::from(bytes), 100_000).unwrap();
        let mut found = Vec::new();
        for batch in reader {
            let batch = batch.unwrap();
            let ids = batch["id"].as_string::<i32>();
            found.extend(ids.iter().map(|id| id.unwrap().to_owned()));
        }
        assert_eq!(found, first_fields[1..]);
    }
}

#[test]
fn documents_passed_over_are_kept_and_compared_with_nothing() {
    let folder = Folder::empty();
    collection(&folder);
    let all = deduplicate(&folder, &["in/a.txt", "--output", "all", "--json"]);
    let count = |run: &Finished, name: &str| -> u64 {
        let line = run.out.lines().find(|line| line.contains(&format!("\"{name}\":"))).unwrap();
        line.split(' ').next_back().unwrap().trim_end_matches(',').parse().unwrap()
    };
    assert_eq!((count(&all, "documents"), count(&all, "passed_over")), (600, 0));
    let options = [&["--min-tokens", "200"][..], &["--max-bytes", "1000"], &["--sample", "0.5"]];
    for (number, option) in options.into_iter().enumerate() {
        let output = format!("out{number}");
        let arguments = ["in/a.txt", "--write-kept", "--json", "--output", &output];
        let run = deduplicate(&folder, &[&arguments, option].concat());
        let passed_over = count(&run, "passed_over");
        assert!((50..550).contains(&passed_over), "{option:?}: {passed_over}");
        assert_eq!(count(&run, "documents") + passed_over, 600);
        assert!(count(&run, "removed") < count(&all, "removed"));
        let kept = fs::read(folder.path(&format!("{output}/kept/a.txt"))).unwrap();
        let documents = kept.split(|&byte| byte == 0x0c).filter(|part| part.len() > 2).count();
        assert_eq!(documents as u64, 600 - count(&run, "removed"));
    }
    // The limit holds for a stream, too: nothing behind the limit is read.
    let limited = |input: &str, output: &str| {
        deduplicate(
            &folder,
            &[input, "--limit", "100", "--write-kept", "--json", "--output", output],
        )
    };
    let run = limited("in", "first");
    assert_eq!((count(&run, "documents"), count(&run, "files")), (100, 1));
    assert!(count(&run, "removed") > 0);
    let kept = fs::read(folder.path("first/kept/in/a.txt")).unwrap();
    let all = fs::read(folder.path("in/a.txt")).unwrap();
    assert!(kept.len() < all.len() / 4);
    for wrong in [["--sample", "2"], ["--limit", "0"], ["--max-bytes", "5X"]] {
        let run = folder.run(&[&["--corpus", "in"][..], &wrong].concat());
        assert_eq!(run.code, 2, "{wrong:?}");
    }
}

#[test]
fn little_memory_gives_the_same_and_far_too_little_is_refused() {
    let folder = Folder::empty();
    collection(&folder);
    let removed = |memory: &str| {
        let run = ["-q", "--corpus", "in", "--max-memory", memory, "--force", "--output", "out"];
        let run = folder.run(&run);
        (run.code, run.err, fs::read(folder.path("out/removed.jsonl")).unwrap_or_default())
    };
    let (code, _, expected) = removed("1G");
    assert!(code == 0 && expected.len() > 10_000);
    assert_eq!(removed("2M").2, expected);
    let (code, err, _) = removed("15K");
    assert_eq!(code, 1, "{err}");
    assert!(err.contains(" shingles that may match: --max-memory leaves 15000 bytes"), "{err}");
    let (_, advice) = err.split_once("each with each. ").expect(&err);
    let enough = advice.split(' ').next().unwrap();
    assert_eq!(removed(enough).2, expected);
}

#[test]
fn pairs_that_are_too_many_are_left_out_unless_all_are_needed() {
    // There are two templates. Pages with many words of their own are close only to the others.
    let page = |number: usize| {
        let of_template = (0..30).map(|word| format!("t{}", number % 2 * 20 + word));
        let own = (0..if number % 5 == 1 { 8 } else { 1 }).map(|word| format!("n{number}w{word}"));
        of_template.chain(own).collect::<Vec<_>>().join(" ")
    };
    let pages: String = (0..1800).map(|number| page(number) + "\n").collect();
    let folder = Folder::empty().with("a.txt", pages);
    let run = |more: &[&str], memory: &str, output: &str| {
        let run = [
            "--corpus",
            "a.txt",
            "--split",
            "lines",
            "--shingle",
            "words:1",
            "--similarity",
            "0.7",
        ];
        let run = [&run[..], &["--max-memory", memory, "--output", output], more].concat();
        folder.run(&run)
    };
    for (keep, name) in [("first", "f"), ("longest", "l")] {
        let (all, few) = (format!("all-{name}"), format!("few-{name}"));
        let complete = run(&["--keep", keep], "1G", &all);
        let incomplete = run(&["--keep", keep], "20M", &few);
        assert_eq!((complete.code, incomplete.code), (0, 0), "{}", incomplete.err);
        for rows in ["removed.jsonl", "clusters.jsonl"] {
            let read = |output: &str| fs::read(folder.path(output).join(rows)).unwrap();
            assert!(read(&all).len() > 10_000 && read(&all) == read(&few), "{keep} {rows}");
        }
        let summary = |output: &str| -> Value {
            let summary = fs::read(folder.path(output).join("summary.json")).unwrap();
            serde_json::from_slice(&summary).unwrap()
        };
        let (all, few) = (summary(&all), summary(&few));
        assert!(all["pairs"].as_u64().unwrap() > 700_000, "{all}");
        assert!(few["pairs"].is_null(), "{few}");
        assert_eq!(few["removed"], all["removed"]);
        let levels = |summary: &Value| summary["removed_at"].as_array().unwrap().len();
        assert_eq!((levels(&all), levels(&few)), (4, 1));
        assert!(
            incomplete.out.contains("-  not counted: there are too many pairs"),
            "{}",
            incomplete.out
        );
    }
    let refused = run(&["--pairs"], "20M", "none");
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("--pairs and matches need all"), "{}", refused.err);
    assert!(!folder.path("none").exists());
}

#[test]
fn one_bad_record_costs_itself_alone() {
    let text = "the same few words in every one of these lines";
    let good = |id: u32| format!("{{\"id\":{id},\"text\":\"{text}\"}}\n");
    let lines = format!("{}no object\n{}", good(1), good(2));
    let folder = Folder::empty().with("a.jsonl", lines);
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "missing.jsonl", "--output", "out"]);
    assert_eq!(run.code, 3, "{}", run.err);
    assert!(run.err.contains("missing.jsonl"), "{}", run.err);
    assert!(run.err.contains("[json] \"a.jsonl\" byte "), "{}", run.err);
    let strict = ["-q", "--corpus", "a.jsonl", "--on-error", "fail", "--output", "strict"];
    let refused = folder.run(&strict);
    assert_eq!(refused.code, 1, "{}", refused.err);
    assert!(refused.err.contains("[json] \"a.jsonl\" byte 65: expected"), "{}", refused.err);
    assert!(!folder.path("strict").exists());
    let found = files(&folder.path("out"));
    let text = |name: &str| String::from_utf8(found[name].clone()).unwrap();
    assert!(text("quarantine.jsonl").starts_with("{\"file\":\"a.jsonl\",\"record\":1,\"byte\":"));
    assert!(text("removed.jsonl").starts_with("{\"id\":2,\"file\":\"a.jsonl\",\"record\":2,"));
}

#[test]
fn a_flood_of_pairs_is_refused_before_it_is_written() {
    let equal = "{\"text\":\"the same few words\"}\n".repeat(15_000);
    let folder = Folder::empty().with("a.jsonl", equal);
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "--pairs", "--output", "out"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let expected = "112,492,500 pairs: would take about 22.5 GB as --pairs";
    assert!(run.err.contains(expected), "{}", run.err);
    assert!(!folder.path("out").exists());
    let run = folder.run(&["-q", "--corpus", "a.jsonl", "--output", "out"]);
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn outputs_never_replace_inputs() {
    let folder = Folder::empty();
    fs::create_dir(folder.path("in")).unwrap();
    let folder = folder.with("in/a.txt", "one document");
    for (arguments, part) in [
        (&["in", "--output", "in"][..], "overlaps the input"),
        (&["in/a.txt", "--output", "in"], "overlaps the input"),
        (&["nowhere"], "there is none to read"),
        (&["in", "--similarity", "1.5"], "must be above 0 and at most 1"),
        (&["in", "--shingle", "lines:3"], "must be UNIT:N with N from 1 to 100"),
        (&["in", "--keep", "max"], "max:score"),
        (&["in", "--format", "docx"], "[possible values: warc, parquet, arrow, csv, tsv, "),
    ] {
        let run = folder.run(&[&["--corpus"], arguments].concat());
        let code = if arguments == ["nowhere"] { 1 } else { 2 };
        assert_eq!(run.code, code, "{arguments:?}: {}", run.err);
        assert!(run.err.contains(part), "{arguments:?}: {}", run.err);
    }
    deduplicate(&folder, &["in", "--output", "out"]);
    assert_eq!(folder.run(&["--corpus", "in", "--output", "out"]).code, 2);
    deduplicate(&folder, &["in", "--output", "out", "--force"]);
    assert_eq!(fs::read_dir(folder.path("")).unwrap().count(), 2, "nothing else is left");
}

/// Creates four documents whose words weigh 1024 ln(5 / (df + 1)) + 1: "the" 1, "red" 524, others
/// 939.
fn weighed(folder: &Folder) {
    fs::write(folder.path("a.txt"), "the red fox\nthe red hen\nthe cat\nthe dog\n").unwrap();
    fs::write(folder.path("q.txt"), "a red fox\nthe cow\n").unwrap();
}

const BY_IDF: [&str; 7] =
    ["--split", "lines", "--shingle", "words:1", "--method", "exact:weight=idf", "--similarity"];

#[test]
fn words_that_most_documents_have_weigh_little() {
    let folder = Folder::empty();
    weighed(&folder);
    let removed = |output: &str, options: &[&str]| {
        let paths = ["a.txt", "--output", output];
        deduplicate(&folder, &[&paths, options].concat());
        let rows = fs::read_to_string(folder.path(output).join("removed.jsonl")).unwrap();
        rows.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    // Without weights, half of "the cat" is in all other documents. With weights, (1 + 524) / (1 +
    // 524 + 939) of "the red hen" is in another one.
    let similar = [&BY_IDF[..4], &["--similarity", "containment:0.5"]].concat();
    assert_eq!(removed("plain", &similar).len(), 3);
    let pair = removed("weighed", &[&BY_IDF[..], &["containment:0.358"]].concat());
    assert!(pair.len() == 1 && pair[0].contains("0.3586"), "{pair:?}");
    assert!(removed("more", &[&BY_IDF[..], &["containment:0.359"]].concat()).is_empty());
    // The similarity is 525 / (2 × 1464 − 525).
    assert_eq!(removed("jaccard", &[&BY_IDF[..], &["525/2403"]].concat()).len(), 1);
    assert!(removed("above", &[&BY_IDF[..], &["526/2403"]].concat()).is_empty());

    let summary = fs::read_to_string(folder.path("weighed/summary.json")).unwrap();
    assert!(summary.contains("\"weight\":\"idf\"") || summary.contains("\"weight\": \"idf\""));
    let page = fs::read_to_string(folder.path("weighed/report.html")).unwrap();
    assert!(page.contains("idf"));
    let why = folder.run(&["why", "weighed", "a.txt:1"]);
    assert!(why.out.contains("similarity 0.3586, of shingles weighed by IDF"), "{}", why.out);

    // Fingerprints at any distance are verified in the same way.
    let verified =
        ["-k", "31", "--split", "lines", "--shingle", "words:1", "--method", "simhash", "--verify"];
    let weighed = ["--method", "simhash:verify_weight=idf", "--verify", "containment:0.358"];
    let by_weight = [&verified[..6], &weighed[..]].concat();
    assert_eq!(removed("verified", &by_weight).len(), 1);
    assert_eq!(removed("unweighed", &[&verified[..], &["containment:0.5"]].concat()).len(), 3);
}

#[test]
fn queries_are_weighed_by_the_corpus() {
    let folder = Folder::empty();
    weighed(&folder);
    let matches = |output: &str, similarity: &str| {
        let paths = ["--queries", "q.txt", "--corpus", "a.txt", "--output", output, "--quiet"];
        let run = folder.run(&[&paths, &BY_IDF[..], &[similarity]].concat());
        assert_eq!(run.code, 0, "{}", run.err);
        fs::read_to_string(folder.path(output).join("removed.jsonl")).unwrap()
    };
    // A word that no document of the corpus has weighs as much as a word in one document: (524 +
    // 939) / 2403.
    let pairs = matches("m", "0.5");
    assert!(pairs.lines().count() == 1 && pairs.contains(":0.608822"), "{pairs}");
    // "the cow" and "the cat" weigh 940 each, and share 1.
    assert_eq!(matches("few", "containment:0.001").lines().count(), 2);
    assert_eq!(matches("fewer", "containment:0.0011").lines().count(), 1);
}
