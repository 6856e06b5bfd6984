//! Texts on the page of a run that are deep inside a compressed file.

use crate::program::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

/// Number of copies of each of the texts at the end of the file.
const COPIES: usize = 9;
/// Number of different texts at the end of the file.
const TEXTS: usize = 15;

/// Returns a compressed file of 20 MB that has its repeated texts at the end. To read them again costs more than the
/// page may spend.
fn deep_copies() -> Vec<u8> {
    let mut lines = String::new();
    let mut next = 0;
    for _ in 0..1600 {
        lines.push_str("{\"text\":\"");
        for _ in 0..1250 {
            write!(lines, "w{next:08} ").unwrap();
            next += 1;
        }
        lines.push_str("\"}\n");
    }
    for copy in 0..COPIES {
        for text in 0..TEXTS {
            let words: String =
                (0..40).map(|n| format!("t{text}n{n} ")).collect::<Vec<_>>().concat();
            let own = char::from(b'a' + copy as u8).to_string().repeat(8);
            writeln!(lines, "{{\"text\":\"Title {text} {words} {own} {own}\"}}").unwrap();
        }
    }
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(lines.as_bytes()).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn the_page_shows_texts_that_are_deep_inside_a_compressed_file() {
    let folder = Folder::empty().with("in/a.jsonl.gz", deep_copies());
    for (options, examples, templates) in [("", 0, 0), (" --write-kept", 12, TEXTS)] {
        let run = folder.run_words(&format!("dedup in --quiet --force{options}"));
        assert_eq!(run.code, 0, "{}", run.err);
        let page = fs::read_to_string(folder.path("simtool-out/report.html")).unwrap();
        let count = |text: &str| page.matches(text).count();
        assert_eq!(count("<details class=\"cluster\">"), TEXTS, "{options}");
        for text in 0..TEXTS {
            assert!(
                page.contains(&format!("\"auto\">Title {text} t{text}n0 ")),
                "{options}: {text}"
            );
        }
        assert_eq!(count("<article class=\"example\">"), examples, "{options}");
        assert_eq!(count("<b>template?</b>"), templates, "{options}");
    }
}
