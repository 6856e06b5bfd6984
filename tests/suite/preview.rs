//! `--preview`: what a run would remove, compared with what it removes.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::program::Folder;
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Returns JSON Lines with pages of one template, copies, and texts that are a little less similar than 0.8.
fn documents() -> String {
    let mut lines = String::new();
    let mut push = |id: &str, text: &str| {
        writeln!(lines, "{{\"id\":\"{id}\",\"text\":\"{text}\"}}").unwrap();
    };
    let words = |name: &str, count: usize| -> String {
        let letter = |n: usize| char::from(b'a' + n as u8);
        let word = |n| format!("{name}{}{} ", letter(n / 26), letter(n % 26));
        (0..count).map(word).collect::<Vec<_>>().concat()
    };
    for name in ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "jay"] {
        push(name, &format!("{}{name} {name} alone", words("menu", 60)));
    }
    for number in 0..3 {
        push(&format!("copy{number}"), &words("copy", 40));
    }
    // The similarity of the two is 38 / 48 with shingles of one word.
    push("near", &format!("{}{}", words("near", 38), words("left", 5)));
    push("nearer", &format!("{}{}", words("near", 38), words("right", 5)));
    lines
}

fn json(folder: &Folder, arguments: &str) -> Value {
    let run = folder.run_words(arguments);
    assert_eq!(run.code, 0, "{arguments}: {}", run.err);
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn a_preview_has_the_numbers_of_the_run_and_writes_nothing() {
    let folder = Folder::empty().with("in/a.jsonl", documents());
    for options in [
        "--shingle 1",
        "--shingle 1 --keep last",
        "--shingle 1 --similarity 1",
        "--shingle 1 --similarity cosine:0.9",
        "--method simhash -k 10",
        "--method simhash --shingle 1 -k 20 --verify 0.8",
        "--shingle 1 --cluster components",
    ] {
        let run = format!("dedup in --quiet --json {options}");
        let preview = json(&folder, &format!("{run} --preview"));
        assert!(!folder.path("simtool-out").exists(), "{options}");
        let summary = json(&folder, &run);
        for key in ["kept", "removed", "clusters", "pairs", "template_clusters", "removed_bytes"] {
            assert_eq!(preview[key], summary[key], "{options}: {key}");
        }
        for list in ["removed_by_closeness", "removed_by_cluster_size"] {
            let counts = preview[list].as_array().unwrap().iter();
            let sum: u64 = counts.map(|band| band["removed"].as_u64().unwrap()).sum();
            assert_eq!(preview["removed"], sum, "{options}: {list}");
        }
        let is_below_searched = !options.contains("cosine") && !options.ends_with("-k 10");
        assert_eq!(preview["is_below_searched"], is_below_searched, "{options}");
        fs::remove_dir_all(folder.path("simtool-out")).unwrap();
    }
}

#[test]
fn a_preview_shows_pairs_near_the_limit_and_warns_about_templates() {
    let folder = Folder::empty().with("in/a.jsonl", documents());
    let preview = json(&folder, "dedup in --quiet --json --preview --shingle 1");
    let pair = &preview["below_limit"][0];
    assert_eq!((&pair["kept"]["id"], &pair["other"]["id"]), (&"nearer".into(), &"near".into()));
    assert_eq!(pair["similarity"], 38.0 / 48.0);
    let text = pair["other_text"].as_str().unwrap();
    assert!(text.starts_with("\u{2026} near") && text.contains("leftaa"), "{text}");
    let least = &preview["above_limit"][0];
    assert!(least["similarity"].as_f64().unwrap() > 0.96, "{least}");
    let cluster = &preview["largest_clusters"][0];
    assert_eq!((&cluster["removed"], &cluster["compared"]), (&8.into(), &9.into()));
    assert_eq!(
        (&cluster["shared_words"], &cluster["own_words"], &cluster["is_template"]),
        (&60.into(), &3.into(), &true.into())
    );
    let copies = &preview["largest_clusters"][1];
    assert_eq!((&copies["shared_words"], &copies["is_template"]), (&40.into(), &false.into()));
    assert_eq!(
        (&preview["template_clusters"], &preview["template_removed"]),
        (&1.into(), &8.into())
    );

    let run = folder.run_words("dedup in --quiet --preview --shingle 1");
    assert_eq!(run.code, 0, "{}", run.err);
    for expected in [
        "  9 documents, kept ant  (in/a.jsonl:0)\n",
        "template? they share 60 words; 3 words of their own on average\n",
        "warning: 1 cluster with 8 removed documents may be pages of one template",
        "  similarity 0.7916\n    kept      nearer  (in/a.jsonl:13)\n    kept      near  (in/a.jsonl:12)\n",
        "nothing was written",
    ] {
        assert!(run.out.contains(expected), "{expected}: {}", run.out);
    }
}

#[test]
fn a_preview_of_a_match_shows_queries_without_a_match_just_below_the_limit() {
    let all = documents();
    let (old, new) = all.split_at(all.find("{\"id\":\"nearer").unwrap());
    let folder = Folder::empty().with("old.jsonl", old).with("new.jsonl", new);
    let preview =
        json(&folder, "match new.jsonl --against old.jsonl --quiet --json --preview --shingle 1");
    assert_eq!((&preview["removed"], &preview["documents"]), (&0.into(), &1.into()));
    assert_eq!(preview["below_limit"][0]["kept"]["id"], "near");
}

/// The labelled crawl has five clusters of pages that have little but the menu of their site, and a set of reference
/// pages that differ in a few names.
#[test]
fn pages_of_real_templates_are_recognized() {
    let crawl = std::env::var_os("SIMTOOL_DATA")
        .map(|data| Path::new(&data).join("labelled-crawl/docs.warc.gz"))
        .filter(|crawl| crawl.is_file());
    let Some(crawl) = crawl else {
        println!("skipped: SIMTOOL_DATA has no folder labelled-crawl");
        return;
    };
    let crawl = crawl.to_str().unwrap();
    let folder = Folder::empty();
    // By default, web pages are compared without the lines of such menus.
    let whole = ["--content", "all", "--boilerplate", "none", "--similarity", "0.8"];
    let shown = ["dedup", crawl, "--preview", "--json", "--quiet"];
    let run = folder.run(&[&shown[..], &whole].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let preview: Value = serde_json::from_str(&run.out).unwrap();
    let clusters = preview["largest_clusters"].as_array().unwrap();
    let templates: Vec<u64> = clusters
        .iter()
        .filter(|cluster| cluster["is_template"] == true)
        .map(|cluster| cluster["removed"].as_u64().unwrap() + 1)
        .collect();
    assert_eq!(templates, [36, 29, 21, 14, 10, 8]);
    // The largest cluster has equal pages.
    assert_eq!((&clusters[0]["removed"], &clusters[0]["is_template"]), (&48.into(), &false.into()));
}

#[test]
fn the_page_and_the_table_of_a_run_warn_about_templates() {
    let folder = Folder::empty().with("in/a.jsonl", documents());
    let run = folder.run_words("dedup in --quiet --shingle 1");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("templates                 1  clusters that may be pages"),
        "{}",
        run.out
    );
    let page = fs::read_to_string(folder.path("simtool-out/report.html")).unwrap();
    for expected in [
        "1 cluster with 8 removed documents may be pages of one template",
        "<b>template?</b>",
        "9 documents were compared: they share 60 words; 3 words of their own on average.",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
}
