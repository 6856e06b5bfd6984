//! `--method auto` and `simtool eval --suggest`: the choice for different documents, and its
//! reasons.

use crate::program::{Finished, Folder};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Returns the texts as JSON lines.
fn lines(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().enumerate().fold(String::new(), |mut lines, (at, text)| {
        writeln!(lines, "{{\"id\":\"d{at}\",\"text\":\"{text}\"}}").unwrap();
        lines
    })
}

/// Returns `count` words of an invented language, selected by a number.
fn words(seed: usize, count: usize) -> Vec<String> {
    let word = |at: usize| format!("w{}y", (seed * 7919 + at * (at + seed) * 31 + at * 17) % 7919);
    (0..count).map(word).collect()
}

/// Returns a text of an invented language in which a word in `every` words is changed.
fn changed(seed: usize, count: usize, every: usize) -> String {
    let mut words = words(seed, count);
    words.iter_mut().step_by(every).for_each(|word| "changed".clone_into(word));
    words.join(" ")
}

/// Builds pages in which each tenth repeats the one before with a fourth to a sixth of the words changed.
fn pages() -> String {
    lines((0..120).map(|at| match at % 10 {
        9 => changed(at - 1, 150, 4 + at / 40),
        _ => words(at, 150).join(" "),
    }))
}

/// Returns a Chinese text, selected by a number. A character in `every` characters is changed.
fn chinese(seed: usize, every: usize) -> String {
    let character = |place: usize| {
        let number = if place.is_multiple_of(every) {
            place + 9000
        } else {
            seed * 131 + place * (place + seed) * 7
        };
        char::from_u32(0x4e00 + (number % 15_000) as u32).unwrap()
    };
    (0..400).map(character).collect()
}

/// Runs `dedup --method auto`, and returns its notes and the IDs of the removed documents.
fn removed(docs: &str) -> (String, Vec<String>) {
    let folder = Folder::empty().with("docs.jsonl", docs);
    let run = folder.run_words("dedup docs.jsonl --method auto --output-format ids --output out");
    assert_eq!(run.code, 0, "{}", run.err);
    let removed = fs::read_to_string(folder.path("out/removed.jsonl")).unwrap();
    let id = |line: &str| {
        let removed: serde_json::Value = serde_json::from_str(line).unwrap();
        removed["id"].as_str().unwrap().to_owned()
    };
    (run.err, removed.lines().map(id).collect())
}

/// Returns a text of an invented language, selected by a number. Two of five words are frequent ones, which
/// all texts have.
fn prose(seed: usize, count: usize) -> String {
    let frequent = words(7, 60);
    let own = words(1000 + seed, count);
    let word = |place: usize| match place % 5 {
        0..2 => &frequent[(place * 31 + seed * 17 + place * seed) % 60],
        _ => &own[place],
    };
    (0..count).map(|place| word(place).as_str()).collect::<Vec<_>>().join(" ")
}

fn ids(numbers: impl IntoIterator<Item = usize>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("d{number}")).collect()
}

/// Returns the choice of `eval --suggest` for documents.
fn suggested(docs: &str) -> serde_json::Value {
    let folder = Folder::empty().with("docs.jsonl", docs);
    let run = folder.run_words("eval --suggest docs.jsonl --format json -q");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    serde_json::from_str(&run.out).unwrap()
}

fn method(found: &serde_json::Value) -> &str {
    found["method"].as_str().unwrap()
}

#[test]
fn long_pages_are_compared_by_characters_and_a_threshold_above_the_unrelated() {
    let found = suggested(&pages());
    assert!(found["seen"].as_str().unwrap().starts_with("gap between 0."), "{found}");
    assert_eq!(found["above"].as_array().unwrap().len(), 5);
    let least = found["least"].as_f64().unwrap();
    let is_below = |pair: &serde_json::Value| pair["similarity"].as_f64().unwrap() < least;
    assert!(found["below"].as_array().unwrap().iter().all(is_below), "{found}");
    assert!(found["above"].as_array().unwrap().iter().all(|pair| !is_below(pair)), "{found}");
    assert!(method(&found).starts_with("exact:similarity=cosine:0."), "{found}");
    assert!(method(&found).ends_with("shingle=letters:6"), "{found}");
    assert_eq!(
        (&found["documents"], &found["sampled"], &found["repeated"]),
        (&120.into(), &120.into(), &24.into())
    );
    assert_eq!(found["reasons"].as_array().unwrap().len(), 3);
    assert!(
        found["command"].as_str().unwrap().starts_with("simtool dedup docs.jsonl --method exact ")
    );
}

#[test]
fn text_without_spaces_and_short_text_have_shorter_shingles() {
    let han = |at: usize| -> String {
        let (seed, every) = if at % 3 == 2 { (at - 1, 12 + at / 10) } else { (at, 1000) };
        chinese(seed, every).chars().skip(1).take(100).collect()
    };
    let found = suggested(&lines((0..60).map(han)));
    assert!(method(&found).ends_with("shingle=letters:4"), "{found}");
    assert!(found["reasons"][0].as_str().unwrap().contains("without spaces"), "{found}");
    let short = |at: usize| match at % 3 {
        2 => changed(at - 1, 12, 6 + at / 20),
        _ => words(at, 12).join(" "),
    };
    let found = suggested(&lines((0..60).map(short)));
    assert!(method(&found).ends_with("shingle=letters:4"), "{found}");
    assert!(found["reasons"][0].as_str().unwrap().contains("short"), "{found}");
}

#[test]
fn unrelated_english_texts_are_kept_next_to_chinese_repeats() {
    let text = |at: usize| match at {
        0..60 if at % 3 == 2 => chinese(at - 1, 15 + 5 * (at % 4)),
        0..60 => chinese(at, 1000),
        _ => prose(at, 200),
    };
    let docs = lines((0..120).map(text));
    let (notes, gone) = removed(&docs);
    assert_eq!(gone, ids((0..60).filter(|at| at % 3 == 2)), "{notes}");
    assert!(notes.contains("scripts without spaces: gap between 0."), "{notes}");
    assert!(notes.contains("Latin: no pairs between 0."), "{notes}");
    assert!(notes.contains("just above the threshold: 0."), "{notes}");
}

#[test]
fn modules_with_the_same_license_header_are_kept() {
    let header = words(1, 90).join(" ");
    let module = |at: usize| match at {
        0..40 => format!("{header} {}", prose(at, 60)),
        _ => prose(at, 150),
    };
    let docs = lines((0..120).map(module));
    let (notes, gone) = removed(&docs);
    assert_eq!(gone, ids([]), "{notes}");
    assert!(notes.contains("of the documents share a template"), "{notes}");
    assert!(notes.contains("note: chosen: exact:similarity=0.8,shingle=words:3"), "{notes}");
    // Real copies among them are removed.
    let copies = lines((0..120).map(module).chain((0..5).map(|at| module(at * 20))));
    assert_eq!(removed(&copies).1, ids(120..125));
}

#[test]
fn templated_pages_of_every_similarity_are_kept() {
    // The pages of each site share a template, whose size differs from site to site.
    let page = |site: usize, at: usize| {
        let template = words(site, 20 + site * 11);
        let own = words(1000 + site * 100 + at, 180 - site * 11);
        [template, own].concat().join(" ")
    };
    let pages = (0..150).map(|at| page(at % 10, at / 10));
    let docs = lines(pages.chain((0..5).map(|at| page(at, at))));
    let (notes, gone) = removed(&docs);
    assert_eq!(gone, ids(150..155), "{notes}");
    assert!(notes.contains("note: chosen: exact:similarity=0.8,shingle=words:3"), "{notes}");
    assert!(notes.contains("no gap: "), "{notes}");
}

#[test]
fn a_template_that_all_have_is_no_repeat() {
    let template = words(1, 150).join(" ");
    let docs = lines((0..80).map(|at| {
        let own = words(if at == 79 { 99 } else { at + 100 }, 60).join(" ");
        format!("{template} {}", if at == 78 { words(99, 60).join(" ") } else { own })
    }));
    let found = suggested(&docs);
    assert_eq!(found["repeated"], 2, "{found}");
    assert_eq!(found["least"], 0.8, "{found}");
}

#[test]
fn a_run_uses_the_choice_and_reports_it() {
    let folder = Folder::empty().with("docs.jsonl", pages());
    let run = folder.run_words("dedup docs.jsonl --method auto --output out");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("note: chosen: exact:similarity=cosine:0."), "{}", run.err);
    assert!(run.err.contains("note: --shingle letters:6: "), "{}", run.err);
    assert!(run.out.contains("removed                  12"), "{}", run.out);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    let parameters = &summary["parameters"];
    assert_eq!(
        (&parameters["method"], &parameters["shingle"]),
        (&"exact".into(), &"letters:6".into())
    );
    assert_eq!(parameters["chosen_because"].as_array().unwrap().len(), 3);
    let page = fs::read_to_string(folder.path("out/report.html")).unwrap();
    assert!(page.contains("chosen_because"));
    let why = folder.run_words("why out d9");
    assert!(why.out.contains("shingles (letters:6)"), "{why:?}");

    let quiet = folder.run_words("dedup docs.jsonl --method auto --output out -q --force");
    assert_eq!((quiet.code, quiet.err.as_str()), (0, ""));
    let dry = folder.run_words("dedup docs.jsonl --method auto --output none --dry-run -q");
    assert!(dry.out.starts_with("chosen: exact:similarity=cosine:0."), "{dry:?}");
    assert!(dry.out.contains("\n  --method exact: "), "{}", dry.out);
    let matched =
        folder.run_words("match docs.jsonl --against docs.jsonl --method auto --output m");
    assert_eq!(matched.code, 0, "{}", matched.err);
    assert!(matched.err.contains("note: chosen: exact:"), "{}", matched.err);
}

#[test]
fn threads_do_not_matter_and_the_command_does_the_same() {
    let folder = Folder::empty().with("my docs.jsonl", pages());
    let suggest = |threads: &str| {
        let run =
            folder.run(&["eval", "--suggest", "my docs.jsonl", "--format", "tsv", "-j", threads]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    let suggested = suggest("1");
    assert_eq!(suggested, suggest("5"));
    let command = suggested.lines().find_map(|line| line.strip_prefix("run\t")).unwrap();
    assert!(command.starts_with("simtool dedup 'my docs.jsonl' --method exact "), "{command}");
    let options = command.split_once("jsonl' ").unwrap().1;
    let arguments =
        ["dedup", "my docs.jsonl", "--output", "a"].into_iter().chain(options.split(' '));
    assert_eq!(folder.run(&arguments.collect::<Vec<_>>()).code, 0);
    assert_eq!(
        folder.run(&["dedup", "my docs.jsonl", "--output", "b", "--method", "auto"]).code,
        0
    );
    let removed = |output: &str| fs::read(folder.path(output).join("removed.jsonl")).unwrap();
    assert_eq!(removed("a"), removed("b"));
}

#[test]
fn given_options_are_kept_and_contradictions_are_refused() {
    let folder = Folder::empty().with("docs.jsonl", pages());
    let dry = |options: &str| -> Finished {
        let method = if options.contains("--method") { "" } else { "--method auto" };
        folder.run_words(format!("dedup docs.jsonl -q --dry-run {options} {method}").trim_end())
    };
    let run = dry("--shingle words:3 --similarity 0.6");
    assert!(run.out.starts_with("chosen: exact:similarity=0.6,shingle=words:3\n"), "{run:?}");
    let run = dry("--method auto:bits=8");
    assert!(run.out.starts_with("chosen: minhash:lanes=62,bits=8,"), "{run:?}");
    assert!(run.out.contains("needs fingerprints"), "{run:?}");
    for (options, expected) in [
        ("--method auto:weight=idf,bits=8", "works only with --method exact, simhash"),
        (
            "--verify 0.5 --similarity containment:0.5",
            "--similarity containment:0.5: needs --method exact",
        ),
        (
            "--similarity 0.5 --max-distance 3",
            "--similarity 0.5: cannot be combined with --max-distance",
        ),
    ] {
        let run = dry(options);
        assert_eq!(run.code, 2, "{options}: {run:?}");
        assert!(run.err.contains(expected), "{options}: {}", run.err);
    }
    let run = folder.run_words("1000 16 --corpus docs.jsonl --method auto");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("leaves --method auto nothing to choose"), "{}", run.err);
}

#[test]
fn nothing_one_document_and_standard_input() {
    let folder =
        Folder::empty().with("none.jsonl", "").with("one.jsonl", lines(["a b c".to_owned()]));
    let run = folder.run_words("eval --suggest none.jsonl");
    assert_eq!((run.code, run.out.as_str()), (1, ""), "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
    let run = folder.run_words("dedup none.jsonl --method auto");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
    let run = folder.run_words("eval --suggest one.jsonl");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("a sample of 1 document is too small"), "{}", run.out);
    // Standard input is empty here. It is spooled, so that it can be read more than once.
    let run = folder.run_words("dedup - --method auto");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(run.err.contains("no document was read"), "{}", run.err);
}

#[test]
fn with_labels_the_choice_is_measured_next_to_the_presets() {
    let pair = |at| format!("d{}\td{}\n", at * 10 + 8, at * 10 + 9);
    let truth = (0..12).map(pair).collect::<Vec<_>>().concat();
    let folder = Folder::empty().with("docs.jsonl", pages()).with("truth.tsv", truth);
    let run =
        folder.run_words("eval --suggest --corpus docs.jsonl --truth truth.tsv --format json -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["methods"][0]["method"], "suggested");
    assert_eq!(found["methods"][0]["collections"][0]["own"]["f1"], 1.0, "{}", found["methods"][0]);
    for (arguments, expected) in [
        ("--suggest docs.jsonl --sample 10", "--sample"),
        ("--suggest docs.jsonl --method exact", "--method"),
        ("--suggest docs.jsonl --report page.html", "--report"),
        ("--corpus docs.jsonl", "--corpus docs.jsonl: goes with --truth FILE"),
    ] {
        let run = folder.run_words(&format!("eval {arguments}"));
        assert_eq!(run.code, 2, "{arguments}: {run:?}");
        assert!(run.err.contains(expected), "{arguments}: {}", run.err);
    }
}

/// F1 of the best preset at its best threshold, for each labelled collection.
const BEST_PRESETS: [(&str, f64); 6] = [
    ("bible-en-chapters", 0.956),
    ("clough-stevenson", 0.912),
    ("mccormick-2500", 1.0),
    ("ocr-news-articles", 0.984),
    ("peps-revisions", 0.938),
    ("zh-laws", 0.846),
];

#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
#[test]
fn the_choice_for_labelled_collections_is_nearly_as_good_as_the_best_preset() {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        eprintln!("skipped: SIMTOOL_DATA is not set");
        return;
    };
    let data = Path::new(&data);
    let suggested = |documents: &Path| -> serde_json::Value {
        let documents = documents.to_str().unwrap();
        let run = Folder::empty().run(&["eval", "--suggest", documents, "--format", "json", "-q"]);
        assert_eq!(run.code, 0, "{}", run.err);
        serde_json::from_str(&run.out).unwrap()
    };
    for (name, best) in BEST_PRESETS {
        let labelled = data.join("labelled").join(name);
        let found = suggested(&labelled.join("docs.jsonl.zst"));
        let folder = labelled.to_str().unwrap();
        let arguments = ["eval", folder, "--method", method(&found), "--format", "json", "-q"];
        let run = Folder::empty().run(&arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        let measured: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let f1 = measured["methods"][0]["collections"][0]["own"]["f1"].as_f64().unwrap();
        assert!(f1 >= 0.95 * best, "{name}: {f1} with {}", method(&found));
    }
    // Pages of a crawl have no gap, so the default is used, whose F1 another test checks.
    let crawl = data.join("labelled-crawl/docs.warc.gz");
    if crawl.is_file() {
        let found = suggested(&crawl);
        assert_eq!(method(&found), "exact:similarity=0.8,shingle=words:3", "{found}");
        assert!(found["seen"].as_str().unwrap().starts_with("no gap: "), "{found}");
    }
}
