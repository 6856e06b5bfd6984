//! `simtool review`: the rows that its pages show, the requests that it refuses, and the files of judgements and
//! decisions.

use crate::program::{Folder, program};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const FOX: &str = "The quick brown fox jumps over the lazy dog near the old river bank today";
/// Markup, a character that turns the direction of a text, and an end of line.
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\n";

/// A server that runs in a folder, and is ended when the value is dropped.
struct Served {
    server: Child,
    /// Address of the loopback, for example `127.0.0.1:4000`.
    place: String,
    /// Path of the first page, which begins with the token.
    path: String,
}

impl Served {
    fn start(folder: &Folder, more: &[&str]) -> Self {
        let arguments = [&["review", "out", "--quiet"], more].concat();
        let mut command = program(&arguments);
        command.current_dir(folder.path("")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().strip_prefix("http://").unwrap();
        let (place, path) = address.split_once('/').unwrap();
        Self { server, place: place.to_owned(), path: format!("/{path}") }
    }

    /// Sends a request, and returns the code and the body of the response.
    fn send(&self, request: &str) -> (u32, String) {
        let mut stream = TcpStream::connect(&self.place).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head[9..12].parse().unwrap(), body.to_owned())
    }

    fn get(&self, path: &str) -> Value {
        let request =
            format!("GET {}api/{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.path, self.place);
        let (code, body) = self.send(&request);
        assert_eq!(code, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    fn post(&self, path: &str, body: &str) -> (u32, String) {
        let Self { place, path: token, .. } = self;
        let length = body.len();
        self.send(&format!(
            "POST {token}api/{path} HTTP/1.1\r\nHost: {place}\r\nOrigin: http://{place}\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}

/// Finds near-duplicates in a folder with these documents: `c` and `e` repeat `a`, and `g` repeats `f`.
fn finished(more: &str) -> Folder {
    let line = |id: &str, text: &str| format!("{}\n", json!({ "id": id, "text": text }));
    let lines = [
        line("a", FOX),
        line("b", "Something else entirely was written here by somebody who likes long words"),
        line("c", &FOX.replace("today", "now")),
        line(&format!("e{HOSTILE}"), &format!("{FOX} {HOSTILE}")),
        line(
            "https://one.example/f",
            "A page about rivers and their banks that somebody wrote long ago",
        ),
        line(
            "https://two.example/g",
            "A page about rivers and their banks that somebody wrote long ago!",
        ),
        line("h", "The quick brown fox jumps over the lazy dog near the new river bank today"),
    ];
    let folder = Folder::empty().with("docs.jsonl", lines.concat());
    let run = folder.run_words(&format!("dedup docs.jsonl --similarity 0.7 --output out -q{more}"));
    assert_eq!(run.code, 0, "{}", run.err);
    folder
}

#[test]
fn pages_show_counts_lists_pairs_and_hostile_texts() {
    for format in ["", " --output-format tsv", " --output-format ids"] {
        let folder = finished(format);
        let served = Served::start(&folder, &[]);
        let overview = served.get("overview");
        let expected = [("documents", 7), ("kept", 4), ("removed", 3), ("clusters", 2)];
        assert_eq!(
            overview["figures"].as_array().unwrap()[..4],
            expected.map(|figure| json!(figure))
        );
        let same = &overview["closeness"].as_array().unwrap().last().unwrap();
        assert_eq!(same["count"], 1, "{format}");

        let count = |filter: &str| served.get(&format!("rows?{filter}"))["count"].as_u64().unwrap();
        assert_eq!(count(""), 3);
        assert_eq!((count("closeness_from=0.85"), count("closeness_below=0.95")), (2, 2));
        assert_eq!((count("text=two.example"), count("text=%3Cscript%3E")), (1, 1));
        assert_eq!((count("source=two.example"), count("kept_source=docs.jsonl")), (1, 2));
        assert_eq!((count("source=nowhere"), count("source=two.example&text=script")), (0, 0));
        assert_eq!((count("size_from=3"), count("size_to=2"), count("chain=1")), (2, 1, 0));
        let closest = served.get("rows?order=closeness-down&most=1");
        assert_eq!(closest["rows"][0]["removed"]["id"], "https://two.example/g", "{format}");
        assert_eq!(closest["rows"][0]["removed"]["source"], "two.example");
        let lost = &closest["rows"][0]["lost_words"];
        assert!(if format.ends_with("ids") { lost.is_null() } else { *lost == 0 }, "{lost}");
        assert_eq!(served.get("clusters")["rows"][0]["size"], 3);

        let row = served.get("rows?text=script")["rows"][0]["pair"].as_str().unwrap().to_owned();
        let pair = served.get(&format!("pair?pair={row}"));
        assert_eq!(pair["removed"]["id"], format!("e{HOSTILE}"));
        // Lost words are pieces of their own.
        let pieces = pair["pieces"].as_array().unwrap().iter();
        let text: String = pieces.map(|piece| piece[1].as_str().unwrap()).collect();
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&text), words(&format!("{FOX} {HOSTILE}")));
        assert_eq!((&pair["others"]["count"], &pair["lost"][0]), (&json!(2), &json!(4)));
        // The files have changed, and the page says so.
        fs::write(folder.path("docs.jsonl"), "{\"id\":\"z\",\"text\":\"other\"}\n").unwrap();
        let pair = served.get(&format!("pair?pair={row}"));
        assert!(pair["changes"][0].as_str().unwrap().contains("docs.jsonl was written since"));
        assert!(pair["not_read"].as_str().unwrap().contains("now has the ID"), "{pair}");
    }
}

#[test]
fn rows_are_found_by_the_texts_and_fields_of_their_documents() {
    let record = |id: usize, lang: &str, text: &str| {
        let mut record = json!({ "id": format!("d{id}"), "text": text, "meta": { "n": id } });
        if !lang.is_empty() {
            record["lang"] = lang.into();
        }
        record.to_string() + "\n"
    };
    let mut lines = [String::new(), String::new()];
    let langs = ["de", "en", ""];
    for article in 0..30 {
        for copy in 0..2 {
            let end = ["Zürich", "Tuesday", "NOW"][article % 3];
            let lang = langs[(article + copy) % 3];
            let text =
                format!("{FOX} number {article} of many articles {} {end}", "x".repeat(article));
            let file = &mut lines[article % 2];
            *file += &record(2 * article + copy, lang, &text);
        }
    }
    let folder = Folder::empty().with("in/a.jsonl", &lines[0]).with("in/b.jsonl", &lines[1]);
    let run = folder.run_words("dedup in --similarity 1 --output out -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let served = Served::start(&folder, &["--threads", "2"]);
    let found = |filter: &str| -> Vec<String> {
        let rows = served.get(&format!("rows?most=100&{filter}"));
        let ids = rows["rows"].as_array().unwrap().iter();
        ids.map(|row| row["removed"]["id"].as_str().unwrap().to_owned()).collect()
    };
    // The definition: a row is found if one of its two documents has the words and the value.
    let expected = |end: Option<usize>, lang: Option<&str>| -> Vec<String> {
        let of_file = |file: usize| (0..30).filter(move |article| article % 2 == file);
        let articles =
            (0..2).flat_map(of_file).filter(|article| end.is_none_or(|end| article % 3 == end));
        let has_lang = |article: &usize| {
            lang.is_none_or(|lang| (0..2).any(|copy| langs[(article + copy) % 3] == lang))
        };
        articles.filter(has_lang).map(|article| format!("d{}", 2 * article + 1)).collect()
    };
    assert_eq!(found(""), expected(None, None));
    // Small and capital letters are the same, also outside of ASCII.
    assert_eq!(found("words=z%C3%9Crich"), expected(Some(0), None));
    assert_eq!(found("words=nowhere"), [""; 0]);
    assert_eq!(found("field=lang&value=de"), expected(None, Some("de")));
    assert_eq!(found("field=lang&value=de&words=now"), expected(Some(2), Some("de")));
    assert_eq!(found("field=meta.n&value=7"), ["d7"]);
    assert_eq!(found("field=lang").len(), 30);
    assert_eq!(found("field=none"), [""; 0]);
    // Other filters and orders hold, too.
    assert_eq!(found("field=lang&value=de&text=b.jsonl").len(), 10);
    let fields = served.get("fields?pair=r0");
    assert_eq!(fields["removed"], json!([["id", "d1"], ["lang", "en"], ["meta.n", "1"]]));
    assert_eq!(fields["kept"], json!([["id", "d0"], ["lang", "de"], ["meta.n", "0"]]));
    let progress = served.get("progress");
    assert!(progress["done"].as_u64() >= progress["total"].as_u64(), "{progress}");
    assert_eq!(served.post("cancel", "").0, 200);
    assert_eq!(
        found("words=TUESDAY"),
        expected(Some(1), None),
        "only a running search is cancelled"
    );
    fs::remove_dir_all(folder.path("in")).unwrap();
    let request =
        format!("GET {}api/rows?words=x HTTP/1.1\r\nHost: {}\r\n\r\n", served.path, served.place);
    let (code, message) = served.send(&request);
    assert!(code != 200 && message.contains("none to read"), "{code} {message}");
}

/// Threads parse blocks of 4 MB. The rows of several blocks are grouped as a simple map groups them.
#[test]
fn rows_of_several_blocks_are_grouped_by_their_kept_documents() {
    let folder = finished("");
    let mut random = 7_u64;
    let mut next = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % below
    };
    let mut lines = String::new();
    let mut clusters: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut sources: BTreeMap<[String; 2], u64> = BTreeMap::new();
    for row in 0..45_000 {
        // Some clusters are large, and many have one row.
        let spread = next(9000) + 1;
        let kept = next(spread);
        let id = if row % 5 == 0 {
            format!("d{row}")
        } else {
            format!("https://h{}.example/{row}", row % 3)
        };
        let line = json!({
            "id": id, "file": format!("in/{}.jsonl", row % 2), "record": row,
            "kept_id": format!("http://User@Host{}.Example:80/{kept}", kept % 4), "kept_file": "in/kept.jsonl",
            "kept_record": kept, "similarity": 0.9, "distance": null, "lost_words": row % 3, "lost_share": 0.1,
        });
        lines += &line.to_string();
        lines.push('\n');
        clusters.entry(kept).or_default().push(row);
        let source = if row % 5 == 0 {
            format!("in/{}.jsonl", row % 2)
        } else {
            format!("h{}.example", row % 3)
        };
        *sources.entry([source, format!("host{}.example", kept % 4)]).or_default() += 1;
    }
    assert!(lines.len() > 9 << 20);
    fs::write(folder.path("out/removed.jsonl"), lines).unwrap();
    let mut expected: Vec<_> = clusters.into_iter().collect();
    expected.sort_by_key(|(_, rows)| (Reverse(rows.len()), rows[0]));
    for threads in ["1", "3"] {
        let served = Served::start(&folder, &["--threads", threads]);
        let number = |value: &Value| value.as_u64().unwrap();
        for from in (0..expected.len()).step_by(500) {
            let found = served.get(&format!("clusters?from={from}&most=500"));
            assert_eq!(number(&found["count"]), expected.len() as u64);
            for (row, (kept, rows)) in
                found["rows"].as_array().unwrap().iter().zip(&expected[from..])
            {
                let found =
                    [&row["kept"]["record"], &row["size"], &row["removed"]["record"]].map(number);
                assert_eq!(found, [*kept, rows.len() as u64 + 1, rows[0]], "{threads}: {row}");
            }
        }
        let others = served.get(&format!("pair?pair=r{}", expected[3].1[0]));
        let others = others["others"]["rows"].as_array().unwrap().iter();
        let others: Vec<u64> = others.map(|row| number(&row["removed"]["record"])).collect();
        assert_eq!(others, expected[3].1[..others.len()]);
        let found = served.get("overview");
        let found = found["sources"].as_array().unwrap().iter().map(|pair| {
            let names = [0, 1].map(|side| pair["names"][side].as_str().unwrap().to_owned());
            (names, number(&pair["count"]))
        });
        assert_eq!(found.collect::<BTreeMap<_, _>>(), sources, "{threads}");
    }
}

#[test]
fn clusters_of_a_template_are_listed() {
    let template = "menu home news sport culture imprint contact help all pages of this site ";
    let names = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "jay"];
    let page = |name: &str| {
        let text = format!("{}{name} the{name} of{name}", template.repeat(3));
        format!("{}\n", json!({ "id": name, "text": text }))
    };
    // Nine pages of a template, and eleven copies of a text, which are the largest cluster.
    let copies = (0..11).map(|copy| format!("{}\n", json!({ "id": copy, "text": FOX })));
    let lines = copies.chain(names.iter().map(|name| page(name)));
    let folder = Folder::empty().with("in/a.jsonl", lines.collect::<String>());
    let run = folder.run_words("dedup in --shingle 1 --similarity 0.6 --output out -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let summary = fs::read_to_string(folder.path("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let kept = json!([{ "id": "ant", "file": "in/a.jsonl", "record": 11 }]);
    assert_eq!(summary["template_kept"], kept);
    let served = Served::start(&folder, &[]);
    assert_eq!(served.get("overview")["templates"], 1);
    let clusters = served.get("clusters");
    let flags: Vec<_> = clusters["rows"].as_array().unwrap().iter().collect();
    let flags: Vec<_> = flags.iter().map(|row| (&row["size"], &row["is_template"])).collect();
    assert_eq!(flags, [(&json!(11), &json!(false)), (&json!(9), &json!(true))]);
    let templates = served.get("clusters?template=1");
    assert_eq!((&templates["count"], &templates["rows"][0]), (&json!(1), &clusters["rows"][1]));
    assert_eq!(served.get("clusters?template=1&from=1")["rows"], json!([]));
    let rows = served.get("rows?template=1");
    let ids = rows["rows"].as_array().unwrap().iter().map(|row| &row["removed"]["id"]);
    assert_eq!(ids.collect::<Vec<_>>(), names[1..].iter().collect::<Vec<_>>());
    assert_eq!(served.get("rows?template=1&text=gnu")["count"], 1);
    // A run without templates has none to list.
    let served = Served::start(&finished(""), &[]);
    assert_eq!(
        [&served.get("rows?template=1")["count"], &served.get("clusters?template=1")["count"]],
        [0, 0]
    );
}

#[test]
fn a_page_shows_its_main_content_and_what_is_left_out() {
    let article = "Rivers carry water from the mountains to the sea, and people have lived near them for long. ".repeat(12);
    let page = |end: &str| {
        format!(
            "<html><head><title>Rivers</title></head><body><nav><a href=/>Home</a> <a href=/x>Imprint and \
             contact</a></nav><main><h1>Rivers</h1><p>{article}{end}</p></main><footer>Copyright of somebody\
             </footer></body></html>"
        )
    };
    let folder =
        Folder::empty().with("in/a.html", page("First.")).with("in/b.html", page("Second."));
    let run = folder.run_words("dedup in --similarity 0.7 --output out -q");
    assert_eq!(run.code, 0, "{}", run.err);
    let served = Served::start(&folder, &[]);
    let pair = served.get("pair?pair=r0");
    assert!(pair["kept"]["facts"]["left_out"].as_str().unwrap().contains("are not"), "{pair}");
    for (side, end) in [("kept", "First."), ("removed", "Second.")] {
        let pieces = served.get(&format!("page?pair=r0&side={side}"));
        let texts = |kind: &str| -> String {
            let pieces = pieces.as_array().unwrap().iter().filter(|piece| piece[0] == kind);
            pieces.map(|piece| piece[1].as_str().unwrap()).collect()
        };
        assert!(texts("left out").contains("Imprint") && texts("left out").contains("Copyright"));
        assert!(texts("document").contains(end), "{pieces}");
        assert!(!texts("document").contains("Imprint"), "{pieces}");
    }
}

#[test]
fn passages_and_items_are_listed_and_shown() {
    let shared =
        "this notice may be printed again by everybody who keeps the names of all its authors";
    let text = |name: &str| format!("{name}1 {name}2 {shared} {name}3 {name}4");
    let lines: String = ["anna", "bert", "carl"]
        .map(|name| {
            format!(
                "{}\n",
                json!({ "id": format!("https://{name}.example/1"), "text": text(name) })
            )
        })
        .concat();
    let items = format!("{}\n", json!({ "id": "item 1", "text": shared }));
    let folder = Folder::empty().with("docs.jsonl", lines).with("items.jsonl", items);
    for command in [
        "passages docs.jsonl --words 10 --write-kept --output out -q",
        "contamination items.jsonl --in docs.jsonl --words 8 --write-kept=drop --output out -q --force",
    ] {
        let run = folder.run_words(command);
        assert_eq!(run.code, 0, "{command}: {}", run.err);
        let served = Served::start(&folder, &[]);
        let is_items = command.starts_with("contamination");
        assert_eq!(served.get("run")["kind"], if is_items { "items" } else { "passages" });
        let rows = served.get("rows?text=bert&words=Anna1%20anna2");
        // A passage of the first two documents names the other one of them as its partner.
        assert_eq!(rows["count"], if is_items { 0 } else { 2 }, "{rows}");
        let rows = served.get("rows?source=bert.example&lost_from=10&lost_to=20");
        assert_eq!(rows["count"], 1, "{rows}");
        let row = &rows["rows"][0];
        assert_eq!(row["lost_words"], 16, "{row}");
        let all = served.get("rows")["count"].as_u64().unwrap();
        assert_eq!(all, 3);
        let closest =
            if is_items { "closeness_from=1" } else { "closeness_from=3&closeness_below=4" };
        assert_eq!(served.get(&format!("rows?{closest}"))["count"], 3);
        let groups = served.get("clusters");
        assert_eq!(
            json!([groups["count"], groups["rows"][0]["size"]]),
            if is_items { json!([1, 3]) } else { json!([3, 1]) }
        );
        assert_eq!(served.get("rows?size_from=2")["count"], if is_items { 3 } else { 0 });
        let pair = served.get(&format!("pair?pair={}", row["pair"].as_str().unwrap()));
        let found = |side: &str| -> String {
            let pieces = pair[side]["pieces"].as_array().into_iter().flatten();
            pieces
                .filter(|piece| piece[0] == "found")
                .map(|piece| piece[1].as_str().unwrap())
                .collect()
        };
        assert!(
            found("removed").starts_with("this notice") && found("removed").ends_with("authors"),
            "{pair}"
        );
        if is_items {
            assert_eq!(pair["kept"]["pieces"], json!([["text", shared]]));
        } else {
            // The row has the place of the words that are in most documents.
            assert!(found("kept").len() > 20 && found("removed").starts_with(&found("kept")));
        }
        assert_eq!(served.get("overview")["rows"], 3);
    }
    let other =
        Folder::empty().with("out/summary.json", "{\"command\": \"x\", \"parameters\": {}}");
    let other = other
        .with("out/request.json", fs::read_to_string(folder.path("out/request.json")).unwrap());
    let refused = other.run_words("review out");
    assert!(refused.err.contains("has no rows to review"), "{}", refused.err);
}

#[test]
fn judgements_of_several_people_are_merged() {
    let folder = finished("");
    let pairs = {
        let served = Served::start(&folder, &["--labels", "any.tsv"]);
        served.get("sample")["pairs"].as_array().unwrap().clone()
    };
    for (person, labels) in [("one.tsv", ["yes", "yes", "no"]), ("two.tsv", ["yes", "no", "gray"])]
    {
        let served = Served::start(&folder, &["--labels", person]);
        for (pair, label) in pairs.iter().zip(labels) {
            let pair = pair["pair"].as_str().unwrap();
            assert_eq!(served.post(&format!("judge?pair={pair}&label={label}"), person).0, 200);
        }
    }
    let people = ["--labels", "both.tsv", "--labels", "one.tsv", "--labels", "two.tsv"];
    let served = Served::start(&folder, &people);
    let before = served.get("estimate");
    assert_eq!(
        (&before["people"]["mergeable"], &before["whole"]["judged"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(served.post("merge", ""), (200, "2".to_owned()));
    let after = served.get("estimate");
    assert_eq!((&after["people"]["mergeable"], &after["whole"]["judged"]), (&json!(0), &json!(2)));
    let listed = after["people"]["disagreements"].as_array().unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["removed"], pairs[1]["removed"]["id"]);
    assert_eq!(listed[0]["judgements"], json!([null, ["yes", "one.tsv"], ["no", "two.tsv"]]));
    let merged = fs::read_to_string(folder.path("both.tsv")).unwrap();
    assert_eq!(merged.lines().count(), 3, "{merged}");
}

#[test]
fn others_may_not_ask() {
    let folder = finished("");
    let served = Served::start(&folder, &[]);
    let Served { place, path, .. } = &served;
    for (expected, request) in [
        (200, format!("GET {path} HTTP/1.1\r\nHost: {place}\r\n\r\n")),
        (403, format!("GET {path} HTTP/1.1\r\nHost: rebound.example\r\n\r\n")),
        (403, format!("GET /0/api/overview HTTP/1.1\r\nHost: {place}\r\n\r\n")),
        (403, format!("POST {path}api/judge?pair=r0&label=no HTTP/1.1\r\nHost: {place}\r\n\r\n")),
        (
            403,
            format!(
                "POST {path}api/judge?pair=r0&label=no HTTP/1.1\r\nHost: {place}\r\nOrigin: http://evil.example\r\n\r\n"
            ),
        ),
        (404, format!("GET {path}api/pair?pair=r99 HTTP/1.1\r\nHost: {place}\r\n\r\n")),
        (400, format!("GET {path}api/pair?pair=x HTTP/1.1\r\nHost: {place}\r\n\r\n")),
        (404, format!("GET {path}../Cargo.toml HTTP/1.1\r\nHost: {place}\r\n\r\n")),
    ] {
        assert_eq!(served.send(&request).0, expected, "{request}");
    }
    assert!(!folder.path("out.labels.tsv").exists());
}

#[test]
fn judgements_survive_a_killed_server_and_are_read_by_eval() {
    let folder = finished("");
    let mut served = Served::start(&folder, &[]);
    let sample = served.get("sample?seed=7&size=50");
    assert_eq!(sample, served.get("sample?seed=7&size=50"));
    let pairs = sample["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 3);
    for (pair, label) in pairs.iter().zip(["yes", "no"]) {
        let pair = pair["pair"].as_str().unwrap();
        assert_eq!(served.post(&format!("judge?pair={pair}&label={label}"), "a note\ttoo").0, 200);
    }
    served.server.kill().unwrap();
    let served = Served::start(&folder, &["--labels", "out.labels.tsv", "--labels", "other.tsv"]);
    let sample = served.get("sample?seed=7&size=50");
    let labels: Vec<&Value> =
        sample["pairs"].as_array().unwrap().iter().map(|p| &p["label"]).collect();
    assert_eq!(labels, [&json!("yes"), &json!("no"), &Value::Null]);
    let estimate = served.get("estimate");
    assert_eq!((&estimate["whole"]["judged"], &estimate["whole"]["yes"]), (&json!(2), &json!(1)));
    assert_eq!(estimate["people"]["agreements"][0]["common"], 0);
    let (code, below) = served.post("below", "");
    assert_eq!(code, 200, "{below}");
    let below: Value = serde_json::from_str(&below).unwrap();
    assert!(below["count"].is_u64());
    // A removed judgement is gone from the file, too.
    let first = sample["pairs"][0]["pair"].as_str().unwrap();
    served.post(&format!("judge?pair={first}"), "");
    assert_eq!(served.get("estimate")["whole"]["judged"], 1);
    served.post(&format!("judge?pair={first}&label=yes"), "");
    drop(served);
    let run = folder.run_words(
        "eval --corpus docs.jsonl --truth out.labels.tsv --method exact --quiet --format tsv",
    );
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn decisions_are_applied_by_the_next_run() {
    /// Filter that selects the document `c`.
    const SECOND: &str = "closeness_from=0.8&closeness_below=0.9";
    let folder = finished("");
    let served = Served::start(&folder, &[]);
    let row = |filter: &str| {
        let rows = served.get(&format!("rows?{filter}"));
        rows["rows"][0]["pair"].as_str().unwrap().to_owned()
    };
    for (text, decision) in
        [(SECOND, "keep"), ("text=%3Cscript", "swap"), ("text=two.example", "keep_sources")]
    {
        let pair = row(text);
        let (code, answer) = served.post(&format!("decide?pair={pair}&decision={decision}"), "");
        assert_eq!(code, 200, "{answer}");
    }
    let decisions = served.get("decisions");
    assert_eq!(decisions["decisions"].as_array().unwrap().len(), 3);
    let first = decisions["decisions"][0].to_string();
    assert_eq!(served.post("undo", &first).0, 200);
    assert_eq!(served.get("decisions")["decisions"].as_array().unwrap().len(), 2);
    assert_eq!(served.post(&format!("decide?pair={}&decision=keep", row(SECOND)), "").0, 200);
    drop(served);

    let more = "{\"decision\":\"keep\",\"id\":\"b\",\"file\":\"docs.jsonl\",\"record\":1}\n";
    let path = folder.path("out.decisions.jsonl");
    let mut lines = fs::read_to_string(&path).unwrap();
    lines += more;
    fs::write(&path, lines).unwrap();
    let run = folder.run_words(
        "dedup docs.jsonl --similarity 0.7 --output decided --decisions out.decisions.jsonl --json",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("a decision was not applied, line 4: b is not removed"),
        "{}",
        run.err
    );
    let summary: Value = serde_json::from_str(&run.out).unwrap();
    let counts = ["removed", "decisions", "unfit_decisions"].map(|name| &summary[name]);
    assert_eq!(counts, [&json!(1), &json!(3), &json!(1)]);
    let removed = fs::read_to_string(folder.path("decided/removed.jsonl")).unwrap();
    let removed: Value = serde_json::from_str(&removed).unwrap();
    assert_eq!((&removed["id"], &removed["kept_id"]), (&json!("a"), &json!(format!("e{HOSTILE}"))));
    let refused = folder.run_words(
        "match docs.jsonl --against docs.jsonl --decisions out.decisions.jsonl --output m -q",
    );
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[cfg(unix)]
#[test]
fn an_interruption_is_the_ordinary_end() {
    let folder = finished("");
    let mut served = Served::start(&folder, &[]);
    let kill = Command::new("kill").args(["-INT", &served.server.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(served.server.wait().unwrap().code(), Some(0));
    let other = Folder::empty().run_words("review nowhere");
    assert_eq!(other.code, 1);
    assert!(other.err.contains("nowhere/summary.json"), "{}", other.err);
}
