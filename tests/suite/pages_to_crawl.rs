//! `scripts/pages-to-crawl`: a folder of pages becomes the same documents in every format.

#![expect(clippy::print_stderr, reason = "a skipped test reports it")]

use crate::program::{Folder, program};
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;
use simtool::stages::document::Content;
use simtool::{Collection, Corpus, ReadOptions};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Command, Output};

/// Creates pages of every kind: in folders whose names are no URLs, packed, in Latin-1, in XML,
/// empty, with a form feed. Some files are not pages.
fn pages() -> Folder {
    let folder = Folder::empty();
    for below in ["pages/b/a c", "pages/é"] {
        fs::create_dir_all(folder.path(below)).unwrap();
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(b"<title>Packed</title><p>And <b>bold").unwrap();
    let packed = packed.finish().unwrap();
    let folder = folder
        .with("pages/z.html", "<p>The last one of all")
        .with("pages/b/a c/one two.htm", "<h1>One &amp; two</h1><script>no</script><p>Three")
        .with("pages/b/feed.HTML", "<pre>before\x0cbehind\x0c\n</pre>and <q>\"more\"")
        .with("pages/b/packed.html.gz", &packed)
        .with("pages/b/both.html", "<p>Not packed")
        .with("pages/b/both.html.gz", &packed)
        .with("pages/b/empty.html", "")
        .with("pages/b/style.css", "p { color: red }")
        .with("pages/b/data.gz", &packed)
        .with("pages/é/latin.html", b"<meta charset=iso-8859-1><p>caf\xe9 cr\xe8me")
        .with("pages/é/strict.xhtml", "<?xml version='1.0'?><html><p>中文 text</p></html>");
    #[cfg(unix)]
    std::os::unix::fs::symlink("z.html", folder.path("pages/link.html")).unwrap();
    folder
}

const EXPECTED: [(&str, &str); 8] = [
    ("https://docs.example/%C3%A9/latin.html", "café crème"),
    ("https://docs.example/%C3%A9/strict.xhtml", "中文 text"),
    ("https://docs.example/b/a%20c/one%20two.htm", "One & two\nThree"),
    ("https://docs.example/b/both.html", "Not packed"),
    ("https://docs.example/b/empty.html", ""),
    ("https://docs.example/b/feed.HTML", "before behind\nand \"more\""),
    ("https://docs.example/b/packed.html", "Packed\nAnd bold"),
    ("https://docs.example/z.html", "The last one of all"),
];

fn documents(folder: &Path) -> Vec<(String, String)> {
    let id_field = "url".into();
    let options = ReadOptions { id_field, ..ReadOptions::default() };
    let collection = Collection::of_paths(&[folder], options).unwrap();
    let mut found = Vec::new();
    for shard in 0..collection.shard_count() {
        let mut visit = |event: simtool::stages::read::Event<'_>| {
            let record = match event {
                simtool::stages::read::Event::Record(record) => record,
                simtool::stages::read::Event::Reached(_) => return Ok(ControlFlow::Continue(())),
                other => panic!("{other:?}"),
            };
            match record.content {
                Content::Document(document) => {
                    assert_eq!(document.repaired, None);
                    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
                    found.push((text(document.id.unwrap().bytes()), text(document.text)));
                }
                Content::PassThrough | Content::NonDocument(_) => {}
                other => panic!("{other:?}"),
            }
            Ok(ControlFlow::Continue(()))
        };
        collection.read_shard(shard, &mut visit).unwrap();
    }
    found
}

/// Formats that the script writes. Parquet needs a package of Python, which is often missing.
const FORMATS: [&str; 5] = ["warc", "wet", "jsonl", "text", "parquet"];

/// Writes the pages of the folder as a crawl to `output`. `None` if a program that the script needs is missing.
fn write_crawl(folder: &Folder, pages: &str, output: &str) -> Option<Output> {
    for (program, argument) in [("python3", "--version"), ("zstd", "--version")] {
        if Command::new(program).arg(argument).output().is_err() {
            eprintln!("skipped: there is no {program}");
            return None;
        }
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/pages-to-crawl");
    let mut command = Command::new("python3");
    command.arg(script).arg(program(&[]).get_program()).args([pages, output]);
    Some(command.current_dir(folder.path("")).output().unwrap())
}

/// Returns the bytes of every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for format in FORMATS {
        for entry in fs::read_dir(folder.join(format)).into_iter().flatten() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            found.insert(format!("{format}/{name}"), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn every_format_has_the_same_documents_and_every_run_the_same_bytes() {
    let folder = pages();
    let Some(run) = write_crawl(&folder, "pages", "made") else { return };
    assert!(run.status.success(), "{run:?}");
    assert!(run.stdout.starts_with(b"8 pages, 0.0 MB of HTML, "), "{run:?}");
    let has_format = |format: &&str| folder.path("made").join(format).exists();
    let formats: Vec<&str> = FORMATS.into_iter().filter(has_format).collect();
    assert_eq!(formats[..4], FORMATS[..4]);
    for format in formats {
        let found = documents(&folder.path("made").join(format));
        let expected = EXPECTED.map(|(url, text)| (url.to_owned(), text.to_owned()));
        assert_eq!(found, expected, "{format}");
    }
    assert!(write_crawl(&folder, "pages", "again").unwrap().status.success());
    assert!(files(&folder.path("made")) == files(&folder.path("again")));
    // Another run does not write into the same folder.
    assert!(!write_crawl(&folder, "pages", "again").unwrap().status.success());
}

#[test]
fn every_record_is_a_gzip_member() {
    let folder = pages();
    let Some(run) = write_crawl(&folder, "pages", "made") else { return };
    assert!(run.status.success(), "{run:?}");
    let mut kinds = BTreeMap::<String, usize>::new();
    for (name, content) in files(&folder.path("made")) {
        if !name.starts_with('w') {
            continue;
        }
        let mut rest = &content[..];
        while !rest.is_empty() {
            let mut record = Vec::new();
            let mut member = GzDecoder::new(rest);
            member.read_to_end(&mut record).unwrap();
            rest = member.into_inner();
            let end = record.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
            let (head, block) = record.split_at(end + 4);
            let head = str::from_utf8(head).unwrap();
            let value = |name: &str| {
                let mut lines = head.lines().filter_map(|line| line.strip_prefix(name));
                lines.next().unwrap().to_owned()
            };
            assert!(head.starts_with("WARC/1.0\r\n"), "{head}");
            assert!(block.ends_with(b"\r\n\r\n"), "{head}");
            assert_eq!(value("Content-Length: ").parse(), Ok(block.len() - 4), "{head}");
            *kinds.entry(value("WARC-Type: ")).or_default() += 1;
        }
    }
    let files_of_each = kinds.remove("warcinfo").unwrap() / 2;
    assert!((2..=8).contains(&files_of_each), "{files_of_each}");
    assert_eq!(kinds, [("conversion".to_owned(), 8), ("response".to_owned(), 8)].into());
}

#[test]
fn a_folder_without_pages_is_an_error() {
    let folder = Folder::empty();
    let Some(run) = write_crawl(&folder, ".", "made") else { return };
    assert!(!run.status.success());
    assert!(run.stderr.ends_with(b"there is no page of HTML in it\n"), "{run:?}");
    let run = folder.run(&["generate", "--output", "made"]);
    assert_eq!(run.code, 2);
}
