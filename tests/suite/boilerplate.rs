//! Lines that many documents have, such as menus, do not count with `--boilerplate`.

use crate::program::Folder;
use serde_json::Value;
use std::fs;

const MENU: &str = "Home and news\nAll products of this shop from A to Z\nContact, imprint and terms of use\n\
                    Help for orders and returns\nYour basket is empty now and waits for you to fill it\n";

/// Returns 60 words that only the pages of this number have.
fn words(number: usize) -> String {
    (0..60).map(|word| format!("w{number}x{word} ")).collect::<Vec<_>>().concat()
}

/// Pages with the same menu: 20 different ones, a copy of page 3 in another template, two copies of an empty page.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> =
        (0..20).map(|number| format!("{}{}\n", MENU.repeat(4), words(number))).collect();
    pages.push(format!("{}\nTo the next shop\n", words(3)));
    pages.push(MENU.to_owned());
    pages.push(MENU.to_owned());
    pages
}

fn folder() -> Folder {
    let line = |text: &String| serde_json::json!({ "text": text }).to_string() + "\n";
    Folder::empty().with("pages.jsonl", pages().iter().map(line).collect::<Vec<_>>().concat())
}

/// Returns the record numbers of the removed documents, each with the record number of the document that is kept in its
/// place, and the summary.
fn removed(folder: &Folder, options: &str) -> (Vec<[u64; 2]>, Value) {
    let arguments = format!("dedup pages.jsonl --force --output out {options}");
    let run = folder.run_words(arguments.trim());
    assert_eq!(run.code, 0, "{}", run.err);
    let read = |name: &str| fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap();
    let removed = read("removed.jsonl");
    let of_line = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        ["record", "kept_record"].map(|name| line[name].as_u64().unwrap())
    };
    (removed.lines().map(of_line).collect(), serde_json::from_str(&read("summary.json")).unwrap())
}

#[test]
fn pages_that_share_only_a_menu_are_kept_and_copies_in_other_templates_are_found() {
    let folder = folder();
    for method in [
        "",
        "--method exact:weight=idf",
        "--method simhash --max-distance 10",
        "--method minhash --verify 0.8",
    ] {
        for threads in [1, 2] {
            let (found, summary) =
                removed(&folder, format!("--boilerplate 5 --threads {threads} {method}").trim());
            // The empty pages have no words of their own, so they are compared as a whole.
            assert_eq!(found, [[20, 3], [22, 21]], "{method}");
            assert_eq!(summary["own_texts"], 20);
            assert_eq!(summary["parameters"]["boilerplate"], "5");
            let bytes: usize = pages().iter().map(String::len).sum();
            assert_eq!(summary["text_bytes"], bytes);
        }
    }
    let (found, summary) = removed(&folder, "--boilerplate 30");
    assert_eq!((found, &summary["own_texts"]), (removed(&folder, "").0, &0.into()));
}

#[test]
fn a_match_counts_the_documents_of_the_collection_to_match_against() {
    let query =
        serde_json::json!({ "text": format!("{}\nTo the next shop\n", words(7)) }).to_string();
    let folder = folder().with("new.jsonl", query);
    let matched = |options: &str| {
        let run = folder.run_words(
            format!("match new.jsonl --against pages.jsonl --force --output out {options}").trim(),
        );
        assert_eq!(run.code, 0, "{}", run.err);
        fs::read_to_string(folder.path("out/pairs.jsonl")).unwrap().lines().count()
    };
    assert_eq!((matched("--boilerplate 5"), matched("")), (1, 0));
}

#[test]
fn lines_are_counted_for_each_host_or_folder() {
    // There are 24 pages with the same menu: 12 pages of each of two hosts, and 6 in each folder of a host.
    let page = |number: usize| {
        let (host, folder) = (["a", "b"][number % 2], ["x", "y"][number / 2 % 2]);
        let id = format!("http://{host}.example/{folder}/{number}.html");
        let text = format!("{}{}\n", MENU.repeat(4), words(number));
        serde_json::json!({ "id": id, "text": text }).to_string() + "\n"
    };
    let folder =
        Folder::empty().with("pages.jsonl", (0..24).map(page).collect::<Vec<_>>().concat());
    for (rule, own_texts) in
        [("24", 24), ("25", 0), ("12:host", 24), ("13:host", 0), ("6:folder", 24), ("7:folder", 0)]
    {
        let (_, summary) = removed(&folder, &format!("--boilerplate {rule}"));
        assert_eq!(summary["own_texts"], own_texts, "{rule}");
        assert_eq!(summary["parameters"]["boilerplate"], rule);
    }
    let run = folder.run_words("dedup pages.jsonl --boilerplate 5:site");
    assert!(run.code == 2 && run.err.contains("with :host or :folder behind it"), "{}", run.err);
}

#[test]
fn a_number_below_two_is_refused() {
    let run = folder().run_words("dedup pages.jsonl --boilerplate 1");
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("--boilerplate 1: must be a number of documents of at least 2"),
        "{}",
        run.err
    );
}

#[test]
fn the_reason_of_a_removal_names_the_lines_that_were_left_out() {
    let folder = folder();
    removed(&folder, "--boilerplate 5");
    let why = folder.run_words("why out pages.jsonl:20");
    assert!(why.out.contains("without lines of 5 or more documents"), "{}", why.out);
}

/// Returns a record of a web archive with the page at a path of `host.example`. All its text is in the main content.
fn record(host: &str, path: &str, title: &str, lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| format!("<p>{line}</p>\n")).collect::<Vec<_>>().concat();
    let page = format!("<title>{title}</title><main>{lines}</main>");
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{page}");
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://{host}.example/{path}\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{answer}\r\n\r\n",
        answer.len()
    )
}

/// Returns the IDs of the removed pages of `pages.warc` without scheme and host, and the summary.
fn removed_pages(pages: &[String], options: &str) -> (Vec<String>, Value) {
    let folder = Folder::empty().with("pages.warc", pages.concat());
    let run = folder.run_words(format!("dedup pages.warc --output out {options}").trim());
    assert_eq!(run.code, 0, "{}", run.err);
    let read = |name: &str| fs::read_to_string(folder.path(&format!("out/{name}"))).unwrap();
    let path = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["id"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
    };
    let removed = read("removed.jsonl").lines().map(path).collect();
    (removed, serde_json::from_str(&read("summary.json")).unwrap())
}

/// Pages in the template of a shop, each with its own title and 60 own words, and a copy of page 3 at another host.
fn pages_of_a_shop() -> Vec<String> {
    let menu = MENU.repeat(4);
    let page = |number: usize| {
        let own = words(number);
        let lines: Vec<&str> = menu.lines().chain([&*own]).collect();
        record("shop", &number.to_string(), &format!("Offer {number}"), &lines)
    };
    let mut pages: Vec<String> = (0..8).map(page).collect();
    pages.push(record("copy", "copy", "Offer 3", &[&words(3), "One line of the other host"]));
    pages
}

#[test]
fn web_pages_are_compared_without_the_lines_of_their_host() {
    let pages = pages_of_a_shop();
    for threads in [1, 3] {
        let (removed, summary) = removed_pages(&pages, &format!("--threads {threads}"));
        assert_eq!(removed, ["copy"]);
        assert_eq!((&summary["own_texts"], &summary["few_own_words"]), (&8.into(), &0.into()));
        let parameters = &summary["parameters"];
        assert_eq!(parameters["boilerplate"], "pages");
        assert_eq!(parameters["similarity"], 0.65);
    }
    let (removed, summary) = removed_pages(&pages, "--boilerplate none --similarity 0.2");
    assert_eq!((removed.len(), &summary["own_texts"]), (7, &0.into()));
}

#[test]
fn copies_of_a_page_do_not_make_its_text_boilerplate() {
    let own = words(1);
    let copy = |number: usize| {
        let lines = [&*own, &format!("Visit {number}"), "Help for orders and returns"];
        record("shop", &format!("1?session={number}"), "Offer 1", &lines)
    };
    let (removed, summary) = removed_pages(&(0..10).map(copy).collect::<Vec<_>>(), "");
    assert_eq!((removed.len(), &summary["own_texts"]), (9, &0.into()));
}

/// The pages of the shop, and three notices in its template. The first and the last notice are the same.
fn pages_with_notices() -> Vec<String> {
    let mut pages = pages_of_a_shop();
    let menu = MENU.repeat(4);
    for (path, notice) in
        [("sale", "A sale begins"), ("closed", "Closed today"), ("b", "A sale begins")]
    {
        let lines: Vec<&str> = menu.lines().chain([notice]).collect();
        pages.push(record("shop", path, notice, &lines));
    }
    pages
}

#[test]
fn pages_with_few_own_words_are_near_duplicates_if_these_are_the_same() {
    let pages = pages_with_notices();
    for method in ["", "--method minhash --verify 0.7"] {
        let (removed, summary) = removed_pages(&pages, method);
        assert_eq!(removed, ["copy", "b"], "{method}");
        assert_eq!(summary["few_own_words"], 3);
    }
}

#[test]
fn pages_of_a_host_with_other_titles_are_no_near_duplicates() {
    // The last word differs, so the line is no line of many pages.
    let text = |path: &str| format!("{}{}{path}", words(100), words(101));
    // Eight pages have titles with the word offer, so it is no own word.
    let mut pages = pages_of_a_shop();
    for (host, path, title) in [
        ("shop", "cup", "Offer: blue cup"),
        ("shop", "pot", "Offer: tea pot"),
        ("shop", "again", "Offer: Blue Cup 2"),
        ("shop", "mug", "Offer: green cup"),
        ("other", "elsewhere", "A big pan"),
    ] {
        pages.push(record(host, path, title, &[title, &text(path)]));
    }
    // The heading is not the title, so the title says nothing.
    pages.push(record("shop", "untitled", "Welcome", &["Something else", &text("")]));
    for threads in [1, 3] {
        let (removed, _) = removed_pages(&pages, &format!("--threads {threads}"));
        assert_eq!(removed, ["copy", "again", "mug", "elsewhere", "untitled"]);
    }
    let (removed, _) = removed_pages(&pages, "--boilerplate none");
    assert_eq!(removed, ["pot", "again", "mug", "elsewhere", "untitled"]);
}

#[test]
fn eval_compares_pages_with_few_own_words_as_dedup_does() {
    let truth = "https://shop.example/3\thttps://copy.example/copy\n\
                 https://shop.example/sale\thttps://shop.example/b\n";
    let folder =
        Folder::empty().with("docs.warc", pages_with_notices().concat()).with("truth.tsv", truth);
    for method in ["exact", "minhash:verify=0.65"] {
        let measured = |options: &str| {
            let words = format!("eval . --method {method} --format tsv -q {options}");
            let run = folder.run_words(words.trim_end());
            assert_eq!(run.code, 0, "{}", run.err);
            let best = run.out.lines().find(|line| line.split('\t').nth(6) == Some("1")).unwrap();
            best.split('\t').skip(3).take(2).map(str::to_owned).collect::<Vec<_>>()
        };
        // The notices share more than the pages of an offer do, so no threshold finds only the true pairs.
        assert_ne!(measured("--boilerplate none"), ["1.000000", "1.000000"]);
        assert_eq!(measured(""), ["1.000000", "1.000000"], "{method}");
    }
}

#[test]
fn other_inputs_are_compared_as_a_whole() {
    let folder = folder().with("pages.warc", pages_of_a_shop().concat());
    for inputs in ["pages.jsonl", "pages.jsonl pages.warc"] {
        let run = folder.run_words(&format!("dedup {inputs} --force --output out"));
        assert_eq!(run.code, 0, "{}", run.err);
        let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
        let summary: Value = serde_json::from_str(&summary).unwrap();
        let parameters = &summary["parameters"];
        assert_eq!(
            (&parameters["boilerplate"], &parameters["similarity"]),
            (&Value::Null, &0.8.into())
        );
    }
}

#[test]
fn a_share_of_web_pages_names_the_rule_that_needs_all_pages() {
    let folder = Folder::empty().with("pages.warc", pages_of_a_shop().concat());
    let run = folder.run_words("dedup pages.warc --shard 1/2 --output out");
    assert!(run.code == 2 && run.err.contains("add --boilerplate none"), "{}", run.err);
    let run = folder.run_words("dedup pages.warc --shard 1/2 --boilerplate none --output out");
    assert_eq!(run.code, 0, "{}", run.err);
}
