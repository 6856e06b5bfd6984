//! `simtool review`: the rows that its pages show, who may ask for them, and what becomes of judgements and decisions.

use crate::program::{Folder, program};
use serde_json::{Value, json};
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
        let counts = ["documents", "kept", "removed", "clusters"].map(|name| &overview[name]);
        assert_eq!(counts, [&json!(7), &json!(4), &json!(3), &json!(2)], "{format}");
        let same = &overview["closeness"].as_array().unwrap().last().unwrap();
        assert_eq!(same["count"], 1, "{format}");

        let count = |filter: &str| served.get(&format!("rows?{filter}"))["count"].as_u64().unwrap();
        assert_eq!(count(""), 3);
        assert_eq!((count("closeness_from=0.85"), count("closeness_below=0.95")), (2, 2));
        assert_eq!((count("text=two.example"), count("text=%3Cscript%3E")), (1, 1));
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
        let pieces = pair["pieces"].to_string();
        assert!(pieces.contains("<script>"), "{pieces}");
        assert_eq!((&pair["others"]["count"], &pair["lost"][0]), (&json!(2), &json!(4)));
        // The files have changed, and the page says so.
        fs::write(folder.path("docs.jsonl"), "{\"id\":\"z\",\"text\":\"other\"}\n").unwrap();
        let pair = served.get(&format!("pair?pair={row}"));
        assert!(pair["changes"][0].as_str().unwrap().contains("docs.jsonl was written since"));
        assert!(pair["not_read"].as_str().unwrap().contains("now has the ID"), "{pair}");
    }
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
    assert_eq!(estimate["agreement"][0]["common"], 0);
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
