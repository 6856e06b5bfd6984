//! `--content main`: pages with the same main content and another navigation.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

use crate::program::Folder;
use serde_json::Value;
use std::fs;
use std::path::Path;

const TEXT: &str = "The harbour master counts the boats every evening, and writes their names and their \
                    numbers into a large book that lies open in the lighthouse by the sea.";
const OTHER: &str = "In winter nobody needs a ticket for the museum, whose rooms show old maps, wooden \
                     tools and the letters of a sailor who never came home again.";
const MENU: &str = "<nav><a href=/>Start</a> <a href=/a>All of our products and prices</a> <a href=/b>How \
                    to find us in the middle of the old town</a> <a href=/c>Work with us as a sales \
                    person or as an engineer in one of nine countries</a></nav>";

fn page(title: &str, around: &str, text: &str) -> String {
    format!("<!DOCTYPE html><title>{title}</title>{around}<main><h1>{title}</h1><p>{text}</main>")
}

/// Returns pages by name: two with the same text and different menus, one with another text, and
/// two that are too short to have a main content. Nothing is around the text of the last one, so that
/// its whole text is its main content.
fn pages() -> [(&'static str, String); 5] {
    [
        ("a", page("Harbour", MENU, TEXT)),
        ("b", page("Harbour", "", TEXT)),
        ("c", page("Museum", MENU, OTHER)),
        ("d", page("Soon", MENU, "Later.")),
        ("e", page("Soon", "", "Later.")),
    ]
}

/// Returns the record of a web archive that has the page `html`.
fn record(name: &str, html: &str) -> String {
    format!(
        "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: http://a.example/{name}\r\n\
         Content-Type: text/html\r\nContent-Length: {}\r\n\r\n{html}\r\n\r\n",
        html.len()
    )
}

/// Creates the pages as files and as a web archive.
fn folder() -> Folder {
    let folder = Folder::empty();
    fs::create_dir(folder.path("pages")).unwrap();
    let records: Vec<String> = pages().iter().map(|(name, html)| record(name, html)).collect();
    let with_page = |folder: Folder, (name, html)| folder.with(&format!("pages/{name}.html"), html);
    pages().into_iter().fold(folder, with_page).with("pages.warc", records.concat())
}

fn summary(folder: &Folder, output: &str) -> Value {
    let summary = fs::read_to_string(folder.path(output).join("summary.json")).unwrap();
    serde_json::from_str(&summary).unwrap()
}

#[test]
fn pages_are_compared_by_their_main_content() {
    for input in ["pages", "pages.warc"] {
        let folder = folder();
        // The navigation makes the pages `a` and `c` similar, and `a` and `b` different.
        let arguments = ["--content", "all", "--similarity", "0.9", "--output", "all"];
        let all = folder.run(&[&["dedup", input][..], &arguments].concat());
        assert_eq!((all.code, all.out.contains("whole pages")), (0, false), "{}", all.err);
        assert_eq!(summary(&folder, "all")["removed"], 0);
        assert_eq!(summary(&folder, "all")["parameters"]["content"], "all");
        let report = fs::read_to_string(folder.path("all/report.html")).unwrap();
        assert!(report.contains("--content all"), "the command that compares two pages lacks it");
        let arguments = ["dedup", input, "--output", "main"];
        let main = folder.run(&arguments);
        assert_eq!(main.code, 0, "{}", main.err);
        crate::agreement::agree(&main, &folder.path("main"));
        let summary = summary(&folder, "main");
        assert_eq!((&summary["removed"], &summary["whole_pages"]), (&1.into(), &1.into()));
        assert_eq!(summary["parameters"]["content"], "main");
        let report = fs::read_to_string(folder.path("main/report.html")).unwrap();
        assert!(report.contains("pages without a main content"));
    }
}

/// Returns the text of an article without its tags, and its marked text, both without white space.
fn texts_of_article(article: &str) -> [String; 2] {
    let (mut all, mut marked) = (String::new(), String::new());
    let mut is_marked = false;
    for (at, part) in article.split(['<', '>']).enumerate() {
        // Texts have no such characters, so every second part is a tag.
        match (at % 2, part) {
            (1, tag) => is_marked = tag == "mark class=\"compared\"",
            (_, text) => {
                all += text;
                if is_marked {
                    marked += text;
                }
            }
        }
    }
    [all, marked].map(|text| {
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        text.split_whitespace().collect()
    })
}

#[test]
fn a_page_of_texts_marks_what_is_compared() {
    let lines = "{\"text\":\"<script>alert(1)</script> & 3 more lines\\nan own line\\nof all\"}\n\
                 {\"text\":\"too short\"}\n{\"text\":\"of all\\nsome other line\"}\n";
    let hostile =
        "&lt;/mark&gt;&lt;script src=x&gt; <b onclick=x>&amp;</b> in the text of the page";
    let folder = folder()
        .with("pages/lines.jsonl", lines)
        .with("pages/hostile.html", page("Hostile", MENU, &format!("{TEXT} {hostile}")));
    let texts = |options: &str| -> Vec<Value> {
        let run = folder.run_words(format!("text pages pages.warc -q {options}").trim_end());
        assert_eq!(run.code, 0, "{}", run.err);
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    for options in
        ["", "--min-tokens 3", "--ignore numbers --fold diacritics", "--limit 3", "--content all"]
    {
        let run = |threads: &str| {
            let page = "--output-format html --threads";
            let run = folder.run_words(
                format!("text pages pages.warc -q {page} {threads} {options}").trim_end(),
            );
            assert_eq!(run.code, 0, "{options}: {}", run.err);
            run.out
        };
        let written = run("1");
        assert_eq!(written, run("3"), "{options}");
        assert!(!written.contains("<script"), "{written}");
        assert!(written.contains("default-src 'none'"));
        // The definition: marked words are compared, and all words are those of the whole document.
        let compared = texts(options);
        let whole = texts("--content all");
        let articles = written.split("<article").skip(1);
        let articles: Vec<_> =
            articles.map(|article| article.split_once("role=\"region\"").unwrap().1).collect();
        assert_eq!(articles.len(), compared.len(), "{options}");
        for (article, compared) in articles.iter().zip(&compared) {
            let is_same =
                |row: &&Value| ["file", "record"].iter().all(|field| row[field] == compared[field]);
            let whole = whole.iter().find(is_same).unwrap();
            let text = article.split_once('>').unwrap().1.split_once("</div>").unwrap().0;
            let expected = [whole, compared]
                .map(|row| row["text"].as_str().unwrap().split_whitespace().collect::<String>());
            assert_eq!(texts_of_article(text), expected, "{options}: {compared}");
        }
    }
    let refused = folder.run_words("text pages --output-format tsv");
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn other_commands_count_pages_without_a_main_content() {
    let folder = folder().with("labels.tsv", "http://a.example/a\thttp://a.example/b\n");
    let note = "note: 1 page without a main content, compared by the whole text";
    for arguments in [
        "index create seen",
        "index add seen pages.warc",
        "index query seen pages.warc",
        "eval --corpus pages.warc --truth labels.tsv --method exact",
        "eval --sample 3 pages.warc --method exact",
        "fingerprint pages.warc --output rows.f",
    ] {
        let run = folder.run_words(arguments);
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
        assert_eq!(
            run.err.contains(note),
            !arguments.contains("create"),
            "{arguments}: {}",
            run.err
        );
    }
    let all = folder.run_words("index query seen pages.warc --content all");
    assert!(!all.err.contains("main content"), "{}", all.err);
}

#[test]
fn documents_of_a_run_are_shown_with_their_main_content() {
    let folder = folder();
    let run = folder.run_words("dedup pages.warc --output main -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let why = folder.run_words("why main http://a.example/b");
    assert!(why.out.contains("similarity 1"), "{}", why.out);
    assert!(why.out.contains("lighthouse") && !why.out.contains("products"), "{}", why.out);
    let compared = folder.run_words("compare main#pages.warc:0 main#pages.warc:1");
    assert!(!compared.out.contains("products"), "{}", compared.out);
    let compare = |options: &str| {
        let run = folder.run_words(&format!("compare pages/a.html pages/b.html{options}"));
        assert_eq!(run.code, 0, "{}", run.err);
        run.out
    };
    assert!(compare(" --content all").contains("products"));
    assert!(!compare("").contains("products"));
}

/// The labelled crawl has real pages, whose pairs were judged by their main content.
#[test]
fn near_duplicates_of_real_pages_are_found() {
    let Some(data) = std::env::var_os("SIMTOOL_DATA") else {
        println!("skipped: SIMTOOL_DATA is not set");
        return;
    };
    let labelled = Path::new(&data).join("labelled-crawl");
    if !labelled.is_dir() {
        println!("skipped: SIMTOOL_DATA has no folder labelled-crawl");
        return;
    }
    let method = "exact:similarity=0.8";
    let arguments = ["eval", labelled.to_str().unwrap(), "--method", method, "--format", "json"];
    let run = Folder::empty().run(&[&arguments[..], &["--content", "main", "-q"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    let evaluation: Value = serde_json::from_str(&run.out).unwrap();
    let own = &evaluation["methods"][0]["collections"][0]["own"];
    for (measure, least) in [("precision", 0.995), ("f1", 0.99)] {
        assert!(own[measure].as_f64().unwrap() >= least, "{measure}: {own}");
    }
}
