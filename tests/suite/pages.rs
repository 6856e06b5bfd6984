//! Pages of HTML in the folder that the environment variable `SIMTOOL_DATA` names have the texts of
//! the slow twin.

#![expect(clippy::print_stdout, reason = "a skipped test reports it")]

#[path = "../../crates/read/src/bytes/html/twin.rs"]
mod twin;

use crate::program::Folder;
use simtool::stages::document::Content;
use simtool::stages::read::walk::InputFile;
use simtool::stages::read::{Collection, Corpus, Event, ReadOptions};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Bytes of pages that are checked at once.
const BYTES: usize = 16 << 20;

fn pages_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "html" || end == "htm") {
            found.push(path);
        }
    }
}

/// Returns the texts of pages, read from a file of them.
fn texts(pages: &[String]) -> Vec<String> {
    let record = |page: &String| {
        let length = page.len();
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html; charset=utf-8\r\n\
             Content-Length: {length}\r\n\r\n{page}\r\n\r\n"
        )
    };
    let here = Folder::empty().with("a.warc", pages.iter().map(record).collect::<String>());
    let file = InputFile::new(here.path("a.warc"));
    let collection = Collection::open(vec![file], ReadOptions::default());
    let mut texts = Vec::new();
    for shard in 0..collection.shard_count() {
        let mut visit = |event: Event<'_>| {
            if let Event::Record(record) = event {
                let Content::Document(document) = record.content else { panic!("a page is bad") };
                texts.push(String::from_utf8(document.text.to_vec()).unwrap());
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(shard, &mut visit).unwrap();
    }
    texts
}

/// Returns the texts of pages, and checks that they equal the texts of the twin.
pub(crate) fn check(pages: &[String]) -> Vec<String> {
    let texts = texts(pages);
    assert_eq!(texts.len(), pages.len());
    for (page, text) in pages.iter().zip(&texts) {
        // A byte order mark is not part of the page.
        let page = page.trim_start_matches('\u{FEFF}');
        assert!(*text == twin::text(page), "the text of this page is another:\n{page}");
    }
    texts
}

#[test]
fn pages_have_the_texts_of_the_twin() {
    check(&["<title>A</title><p>B &amp;\n<b>C</b>".to_owned(), "<br>D<!-- -->E".to_owned()]);
    let Some(data) = env::var_os("SIMTOOL_DATA") else {
        println!("skipped: SIMTOOL_DATA is not set");
        return;
    };
    let mut files = Vec::new();
    pages_below(Path::new(&data), &mut files);
    let (mut pages, mut bytes) = (Vec::new(), 0);
    for file in &files {
        // Pages in other encodings are skipped, because they would have to be decoded first.
        if let Ok(page) = String::from_utf8(fs::read(file).unwrap()) {
            bytes += page.len();
            pages.push(page);
        }
        if bytes > BYTES {
            check(&pages);
            pages.clear();
            bytes = 0;
        }
    }
    check(&pages);
    println!("{} pages", files.len());
}
