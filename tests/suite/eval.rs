//! `simtool eval`: the figures of the labelled set in `datasets/`, and the forms of its arguments.

use crate::program::{Finished, Folder, run};
use std::fs;
use std::path::{Path, PathBuf};

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Runs `simtool eval` in the repository, which must succeed.
fn eval(arguments: &str) -> Finished {
    let arguments: Vec<&str> = format!("eval {arguments}").leak().split(' ').collect();
    let run = run(repository(), &arguments, &[]);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    run
}

/// Returns the lines without the seconds, which are the last column.
fn without_seconds(lines: &str) -> String {
    lines.lines().map(|line| line.rsplit_once('\t').unwrap().0.to_owned() + "\n").collect()
}

/// Creates documents in which a, b and c are similar, and d and e.
fn folder() -> Folder {
    let documents: String = [
        ("a", "one two three four five six seven"),
        ("b", "one two three four five six eight"),
        ("c", "one two three four five nine eight"),
        ("d", "ten eleven twelve thirteen fourteen"),
        ("e", "ten eleven twelve thirteen fifteen"),
        ("f", "one two three four six"),
    ]
    .map(|(id, text)| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n"))
    .concat();
    Folder::empty()
        .with("docs.jsonl", documents)
        .with("truth.tsv", "id\tother\na\tb\na\tc\nb\tc\nd\te\n")
        .with("clusters.tsv", "a\tone\nb\tone\nc\tone\nd\ttwo\ne\ttwo\n")
        .with("gray.tsv", "f\ta\n")
}

/// The numbers belong to the set in the repository. A change of a method must change them here.
#[test]
fn the_labelled_set_has_these_figures() {
    let methods = "word-simhash,shingle-simhash,exact,exact:shingle=letters:5";
    let run = eval(&format!("datasets/labelled --method {methods} --format json -q"));
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    let set = &found["collections"][0];
    let counts = ["documents", "positives", "set_aside"].map(|name| set[name].as_u64().unwrap());
    assert_eq!(counts, [204, 116, 12]);
    let best = |method: &serde_json::Value| {
        let best = &method["collections"][0]["best"];
        let count = |name: &str| best[name].as_u64().unwrap();
        (best["threshold"].to_string(), count("true_found"), count("false_found"))
    };
    let found: Vec<_> = found["methods"].as_array().unwrap().iter().map(best).collect();
    let expected = [("1", 41, 135), ("11", 60, 10), ("0.2975", 116, 0), ("0.5", 92, 1)];
    let expected = expected.map(|(threshold, t, f)| (threshold.to_owned(), t, f));
    assert_eq!(found, expected);
}

#[test]
fn the_generator_still_makes_the_labelled_set() {
    let folder = Folder::empty();
    let run = folder.run_words("generate --kind labelled --documents 200 --output made");
    assert_eq!(run.code, 0, "{}", run.err);
    for name in ["docs.jsonl", "truth.tsv", "gray.tsv"] {
        let kept = fs::read(repository().join("datasets/labelled").join(name)).unwrap();
        let made = fs::read(folder.path("made").join(name)).unwrap();
        assert!(made == kept, "{name} is not what datasets/labelled holds");
    }
}

#[test]
fn nothing_but_seconds_depends_on_threads() {
    let lines = |threads: u32| {
        let run = eval(&format!("datasets/labelled --format tsv -q --threads {threads}"));
        without_seconds(&run.out)
    };
    let one = lines(1);
    assert!(one.lines().count() > 100, "{one}");
    assert_eq!(lines(3), one);
    let columns = "method\tparameters\tthreshold\tprecision\trecall\tf1\tbest\tbytes_per_document";
    assert_eq!(one.lines().next(), Some(columns));
    let both = eval("datasets/labelled datasets/labelled --method exact --format tsv -q").out;
    assert!(both.starts_with("collection\tmethod\t"), "{both}");
}

#[test]
fn pairs_and_clusters_say_the_same_and_gray_pairs_do_not_count() {
    let folder = folder();
    let figures = |arguments: &str| {
        let run = folder
            .run_words(&format!("eval {arguments} --method exact:shingle=words:1 --format tsv -q"));
        assert_eq!(run.code, 0, "{}", run.err);
        without_seconds(&run.out)
    };
    let expected = figures(".");
    // d and e share 4 of 6 words, a and b 6 of 8, b and c 6 of 8, a and c 5 of 9; a and f 5 of 7.
    let best = expected.lines().find(|line| line.split('\t').nth(6) == Some("1")).unwrap();
    let best: Vec<&str> = best.split('\t').skip(2).collect();
    assert_eq!(best, ["0.555", "0.800000", "1.000000", "0.888889", "1", "48"]);
    let corpus = "--corpus docs.jsonl --truth";
    assert_eq!(figures(&format!("{corpus} truth.tsv --gray gray.tsv")), expected);
    let clusters = "clusters.tsv --truth-format clusters --gray gray.tsv";
    assert_eq!(figures(&format!("{corpus} {clusters}")), expected);
    assert_ne!(figures(&format!("{corpus} truth.tsv")), expected);
}

#[test]
fn the_third_column_of_labels_can_say_no() {
    let third = "id,other,label\na,b,yes\na,c,1\nb,c,TRUE\nd,e,yes\nf,a,gray\na,e,no\nb,e,no\n";
    let kinds = "a\tb\tlight\na\tc\tlight\nb\tc\tcut\nd\te\tcut\n";
    let folder = folder().with("third.csv", third).with("kinds.tsv", kinds);
    let eval = |arguments: &str| {
        let methods = "--method exact:shingle=words:1 --format tsv";
        folder.run_words(&format!("eval --corpus docs.jsonl {methods} --truth {arguments}"))
    };
    let figures = |arguments: &str| without_seconds(&eval(arguments).out);
    let expected = figures("truth.tsv --gray gray.tsv");
    assert_eq!(figures("third.csv"), expected);
    assert_eq!(figures("kinds.tsv --gray gray.tsv"), expected);
    let notes = eval("third.csv").err;
    // The pair of b and f is found, and is wrong whether the labels list it or not.
    let note = "at its best threshold, exact:shingle=words:1 finds 1 pair without a label, which count as wrong";
    assert!(notes.contains(note), "{notes}");
    fs::write(folder.path("all.csv"), format!("{third}b,f,no\n")).unwrap();
    assert_eq!(figures("all.csv"), expected);
    let notes_of_all = eval("all.csv").err;
    assert!(!notes_of_all.contains("do not list"), "{notes_of_all}");
    for expected in ["2 lines with no in the third column", "1 line with gray in the third column"]
    {
        assert!(notes.contains(&format!("third.csv: {expected}")), "{notes}");
    }
    let notes = eval("kinds.tsv").err;
    assert!(
        notes.contains("kinds.tsv: 4 pairs by kind, all near-duplicates: cut 2, light 2"),
        "{notes}"
    );
}

#[test]
fn faults_are_reported_with_their_place() {
    let folder = folder()
        .with("wrong.tsv", "a\tb\nb\tz\n")
        .with("empty.tsv", "")
        .with("scores.tsv", "a\tb\t0.9\n");
    for (arguments, code, expected) in [
        (
            "--corpus docs.jsonl --truth wrong.tsv",
            1,
            "wrong.tsv, line 2: expected the ID of a document, but no document has the ID \"z\"",
        ),
        ("--corpus docs.jsonl --truth empty.tsv", 2, "--truth empty.tsv: holds no pair"),
        (
            "--corpus docs.jsonl --truth scores.tsv",
            1,
            "scores.tsv, line 1: expected yes or no (1 or 0, true or false), gray,",
        ),
        ("--corpus docs.jsonl", 2, "--truth"),
        (". --method magic", 2, "--method magic: must be one of word-simhash,"),
        (". --method bits=3", 2, "--method bits=3: is an option"),
        (
            ". --method exact:similarity=overlap:0.5",
            2,
            "--similarity overlap:0.5: measures are jaccard, cosine, containment",
        ),
        ("nowhere", 1, "nowhere"),
        (". --report truth.tsv", 2, "--report truth.tsv: is there already"),
        ("docs.jsonl --sample 1", 2, "--sample"),
        ("", 2, "PATH"),
    ] {
        let run = folder.run_words(format!("eval {arguments}").trim_end());
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{arguments}: {}", run.err);
        assert!(run.err.contains(expected), "{arguments}: {}", run.err);
    }
}

#[test]
fn the_page_and_the_plots_are_written() {
    let folder = folder();
    let run = folder.run_words(
        "eval . --method word-simhash,exact:shingle=words:1 --report eval.html --plot plots",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("method"), "{}", run.out);
    assert!(run.err.contains("6 documents, 4 true pairs"), "{}", run.err);
    let page = fs::read_to_string(folder.path("eval.html")).unwrap();
    assert!(page.contains("exact:shingle=words:1</strong> does best"), "{page}");
    assert!(page.contains("found but not true") && !page.contains("<script"), "{page}");
    let plots: Vec<PathBuf> =
        fs::read_dir(folder.path("plots")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(plots.len(), 4);
    let again = folder.run_words("eval . --method exact --report other.html --plot plots");
    assert_eq!(again.code, 0, "{}", again.err);
    let again = folder.run_words("eval . --method exact --plot plots");
    assert_eq!(again.code, 2, "{}", again.err);
}

#[test]
fn a_sample_needs_no_labels() {
    let sampled = |arguments: &str| {
        let corpus = "datasets/labelled/docs.jsonl";
        eval(&format!("--sample 60 {corpus} --format tsv -q {arguments}")).out
    };
    let methods = "--method simhash:max_distance=8,exact:similarity=0.5 --similarity 0.5";
    let found = sampled(methods);
    assert_eq!(sampled(&format!("{methods} --threads 3")), found);
    let lines: Vec<Vec<&str>> = found.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((lines.len(), lines[0].len()), (3, 19));
    let column = |name: &str| lines[0].iter().position(|column| *column == name).unwrap();
    // The labels of a sample come from this method, so its recall is 1.
    assert_eq!(lines[2][column("recall")], "1.000000");
    assert_eq!(lines[2][column("precision")], "1.000000");
    assert_ne!(lines[1][column("recall")], "1.000000");
    assert_ne!(sampled(&format!("{methods} --seed 2")), found);
    let table = eval("--sample 60 datasets/labelled/docs.jsonl --method exact -q").out;
    assert!(table.contains("sample     60 of "), "{table}");
}

/// The figures equal those of plain implementations, except for the effect of other random bits and
/// another rounding.
#[test]
#[expect(clippy::print_stderr, reason = "a skipped test reports it")]
fn published_sets_have_the_figures_that_others_reach() {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        eprintln!("skipped: SIMTOOL_DATA is not set");
        return;
    };
    let set = PathBuf::from(data).join("labelled/clough-stevenson");
    let set = set.to_str().unwrap();
    for (method, f1) in [("exact:shingle=words:3", 0.92), ("exact:shingle=words:2", 0.91)] {
        let run = eval(&format!("{set} --method {method} --format json -q"));
        let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
        let found = found["methods"][0]["mean_best_f1"].as_f64().unwrap();
        assert!((found - f1).abs() <= 0.02, "{method}: {found}");
    }
}

#[test]
fn a_picture_a_csv_file_and_hash_seeds() {
    let folder = folder().with("truth.csv", "id,other\na,b\na,c\nb,c\n\"d\",e\n");
    let of_file = |truth: &str| {
        let run = folder.run_words(&format!(
            "eval --corpus docs.jsonl --truth {truth} --method exact:shingle=words:1 --format tsv -q"
        ));
        assert_eq!(run.code, 0, "{}", run.err);
        without_seconds(&run.out)
    };
    assert_eq!(of_file("truth.csv"), of_file("truth.tsv"));
    let run = folder.run_words("eval . --method simhash,exact --seed 1,2 --plot all.svg -q");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.lines().next().unwrap().contains("by hash seed"), "{}", run.out);
    assert!(run.out.contains('±'), "{}", run.out);
    let picture = fs::read_to_string(folder.path("all.svg")).unwrap();
    assert_eq!(picture.matches("<polyline").count(), 2, "{picture}");
    for (arguments, expected) in [
        (". --plot all.svg", "--plot all.svg: is there already"),
        (". --plot all.gif", "--plot all.gif: must end in .svg, .png or .pdf"),
        (
            ". --method minhash:lanes=128,measure=cosine",
            "--method minhash:lanes=128: must be 124, 140",
        ),
        ("--suggest docs.jsonl --plot new.svg", "--plot new.svg: goes with --truth FILE"),
    ] {
        let run = folder.run_words(&format!("eval {arguments}"));
        assert_eq!(run.code, 2, "{arguments}: {}", run.err);
        assert!(run.err.contains(expected), "{arguments}: {}", run.err);
    }
}

#[test]
fn exact_as_given_has_the_limit_of_dedup() {
    let run = eval("datasets/labelled --method exact --format json -q");
    let found: serde_json::Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!(found["methods"][0]["collections"][0]["own"]["threshold"], 0.8);
}
