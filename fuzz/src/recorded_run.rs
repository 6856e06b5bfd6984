//! Reads any bytes as the files of a finished run: its summary and its clusters, separated by a byte 0x1C.
//! The same bytes are read as a model that was learned from a collection.

use crate::folder::with_folder;
use simtool::method::Fitted;
use simtool::options::Options;
use simtool::run::{Paths, Request, Silent, WhyRequest, dedup, why};
use std::fs;
use std::path::{Path, PathBuf};

/// Byte that separates the files in an input.
const SEPARATOR: u8 = 0x1c;
/// Names of the files of a run, in the order of an input.
const FILES: [&str; 2] = ["summary.json", "clusters.jsonl"];

/// Writes documents into a folder, and finds their near-duplicates. Returns the output folder.
fn finished_run(folder: &Path) -> PathBuf {
    let file = folder.join("a.jsonl");
    let line = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let lines =
        line("a", "one two three four") + &line("b", "One, two, three four!") + "no object\n";
    fs::write(&file, lines).expect("the file is written");
    let output = folder.join("out");
    let mut options = Options::new();
    options.set("output", &output);
    let paths = Paths { corpus: vec![file], queries: Vec::new() };
    let request = Request::parse(paths, options).expect("the options are valid");
    dedup(&request, &Silent).expect("the run ends");
    output
}

/// Returns the files of a finished run.
pub(super) fn seeds() -> Vec<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = finished_run(folder.path());
    let files = FILES.map(|name| fs::read(output.join(name)).expect("the run wrote the file"));
    vec![files.join(&SEPARATOR), Fitted::Nothing.to_bytes()]
}

/// Asks what became of two documents of a run with these files.
pub(super) fn ask(data: &[u8]) {
    if let Ok(fitted) = Fitted::from_bytes(data, Path::new("learned")) {
        assert_eq!(fitted.to_bytes(), data);
    }
    with_folder(|folder| {
        let mut files = data.splitn(FILES.len(), |&byte| byte == SEPARATOR);
        for name in FILES {
            let content = files.next().unwrap_or_default();
            fs::write(folder.join(name), content).expect("the file is written");
        }
        for document in ["b", "a.jsonl:0"] {
            let mut options = Options::new();
            // More threads would take longer to start than the work.
            options.set("threads", "1");
            let request = WhyRequest::parse(folder.to_owned(), document.to_owned(), options);
            drop(why(&request.expect("the options are valid"), &Silent));
        }
    });
}
