//! Tests of outputs that fail, of interruptions, and of torn rows.

use super::tests::IndexPlace;
use super::*;
use crate::run::{Face, Notice, Silent};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Output that accepts `left` more bytes, and then fails with an error of `kind`.
struct Failing {
    left: usize,
    kind: ErrorKind,
    written: Vec<u8>,
}

impl Failing {
    fn after(left: usize, kind: ErrorKind) -> Self {
        Self { left, kind, written: Vec::new() }
    }
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.left);
        if count == 0 && !bytes.is_empty() {
            return Err(self.kind.into());
        }
        self.left -= count;
        self.written.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Input of lines without end.
#[derive(Default)]
struct Endless {
    number: usize,
    waiting: Vec<u8>,
}

fn line(number: usize) -> String {
    format!("{{\"id\":\"{number}\",\"text\":\"{number} {number}x {number}y {number}z\"}}\n")
}

impl Read for Endless {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.waiting.len() < room.len().min(1000) {
            self.waiting.extend_from_slice(line(self.number).as_bytes());
            self.number += 1;
        }
        let count = self.waiting.len().min(room.len());
        room[..count].copy_from_slice(&self.waiting[..count]);
        self.waiting.drain(..count);
        Ok(count)
    }
}

fn request(place: &IndexPlace) -> FilterRequest {
    FilterRequest {
        index: place.index(),
        input: InputSettings::default(),
        source: "pipe".to_owned(),
        time: None,
        batch_lines: 10,
        wait: Duration::ZERO,
        commit_after: Duration::from_secs(5),
        duplicates: None,
    }
}

fn documents(place: &IndexPlace) -> u64 {
    stat_index(&place.index(), FileAccess::READ).unwrap().size.documents
}

#[test]
fn lines_that_were_passed_on_are_in_the_index_when_their_reader_ends() {
    for (kind, is_error) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
        let place = IndexPlace::new();
        let mut out = Failing::after(3000, kind);
        let ended = filter_lines(&request(&place), Endless::default(), &mut out, &Silent);
        let delivered = memchr::memchr_iter(b'\n', &out.written).count() as u64;
        assert!(delivered > 10 && !out.written.ends_with(b"\n"));
        match ended {
            Ok(outcome) => {
                assert!(!is_error);
                assert_eq!((outcome.end, outcome.new), (FilterEnd::Reader, documents(&place)));
            }
            Err(error) => assert!(is_error && error.to_string().contains("standard output")),
        }
        // A line that was written only in part is not in the index, and neither are the lines after it.
        assert_eq!(documents(&place), delivered);
    }
}

#[test]
fn lines_that_went_nowhere_are_passed_on_by_the_next_run() {
    let input = (0..500).map(|number| line(number * 2 / 3)).collect::<Vec<_>>().concat();
    let expected: String = (0..333).map(line).collect();
    for left in (0..expected.len()).step_by(1777) {
        let place = IndexPlace::new();
        let path = place.folder.path().join("repeats");
        let request = FilterRequest { duplicates: Some(path.clone()), ..request(&place) };
        let mut out = Failing::after(left, ErrorKind::BrokenPipe);
        let read = || io::Cursor::new(input.clone().into_bytes());
        let outcome = filter_lines(&request, read(), &mut out, &Silent).unwrap();
        assert_eq!(outcome.end, FilterEnd::Reader);
        let delivered = String::from_utf8(out.written).unwrap();
        let delivered = &delivered[..delivered.rfind('\n').map_or(0, |at| at + 1)];
        let size = || stat_index(&place.index(), FileAccess::READ).unwrap().size;
        let (documents, repeats) = (size().documents, size().repeats);
        assert_eq!((documents, outcome.new), (delivered.lines().count() as u64, documents));
        let noted = fs::read_to_string(&path).unwrap();
        assert_eq!((repeats, outcome.repeats), (noted.lines().count() as u64, repeats));
        let mut rest = Vec::new();
        filter_lines(&request, read(), &mut rest, &Silent).unwrap();
        assert_eq!(delivered.to_owned() + &String::from_utf8(rest).unwrap(), expected);
    }
}

#[test]
fn an_interrupted_filter_commits_the_lines_that_it_passed_on() {
    struct Interrupted(AtomicUsize);
    impl Face for Interrupted {
        fn is_interrupted(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) > 5
        }
    }
    let place = IndexPlace::new();
    let mut out = Vec::new();
    let face = Interrupted(AtomicUsize::new(0));
    let outcome = filter_lines(&request(&place), Endless::default(), &mut out, &face).unwrap();
    assert_eq!(outcome.end, FilterEnd::Interruption);
    let delivered = memchr::memchr_iter(b'\n', &out).count() as u64;
    assert_eq!((outcome.new, documents(&place)), (delivered, delivered));
    assert!(delivered > 0);
}

#[test]
fn documents_are_added_although_nobody_reads_the_repeats() {
    for (kind, is_error) in [(ErrorKind::BrokenPipe, false), (ErrorKind::StorageFull, true)] {
        let place = IndexPlace::new();
        let lines = (0..4000).map(|number| line(number / 2)).collect::<Vec<_>>().concat();
        place.write("x.jsonl", &lines);
        let request = AddRequest {
            index: place.index(),
            documents: place.documents(""),
            source: "test".to_owned(),
            time: None,
            only_new: None,
            is_json: false,
        };
        let added = add_to_index(&request, &mut Failing::after(100, kind), &Silent);
        assert_eq!(added.is_err(), is_error);
        if let Err(error) = added {
            let error = error.with_cause();
            assert!(
                error.contains("standard output") && error.ends_with("all documents were added")
            );
        }
        assert_eq!(documents(&place), 2000);
    }
}

#[test]
fn a_torn_row_of_duplicates_is_removed_and_other_text_is_kept() {
    let row = "{\"id\":\"7\",\"repeats\":\"7\",\"number\":0,\"distance\":0,\"document\":{}}";
    let long = "x".repeat(100_000);
    let cases = [
        (String::new(), String::new()),
        (format!("{row}\n"), format!("{row}\n")),
        (format!("{row}\n{{\"id\":\"8\",\"rep"), format!("{row}\n")),
        (format!("{row}\n{{\"id\":\"{long}"), format!("{row}\n")),
        (format!("{row}\n{{\"i"), format!("{row}\n")),
        (row.to_owned(), format!("{row}\n")),
        (format!("a\n{long}"), format!("a\n{long}\n")),
    ];
    for (before, kept) in cases {
        let place = IndexPlace::new();
        let path = place.folder.path().join("repeats");
        fs::write(&path, &before).unwrap();
        let request = FilterRequest { duplicates: Some(path.clone()), ..request(&place) };
        let input = format!("{0}{0}", line(1)).into_bytes();
        filter_lines(&request, io::Cursor::new(input), &mut Vec::new(), &Silent).unwrap();
        let after = fs::read_to_string(&path).unwrap();
        let new = after.strip_prefix(&kept).unwrap();
        assert!(new.starts_with("{\"id\":\"1\"") && new.lines().count() == 1, "{new}");
    }
}

#[test]
fn lines_that_were_answered_but_are_not_in_the_index_are_reported() {
    /// Twenty lines. The folder of the index disappears before they end.
    struct Losing {
        lines: io::Cursor<Vec<u8>>,
        index: PathBuf,
    }
    impl Read for Losing {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let count = self.lines.read(room)?;
            if count == 0 && self.index.exists() {
                fs::remove_dir_all(&self.index)?;
            }
            Ok(count)
        }
    }
    #[derive(Default)]
    struct Listening(Mutex<Vec<String>>);
    impl Face for Listening {
        fn notice(&self, notice: Notice<'_>) {
            if let Notice::Warning(text) = notice {
                self.0.lock().unwrap().push(text.to_owned());
            }
        }
    }
    let place = IndexPlace::new();
    let lines = io::Cursor::new((0..20).map(line).collect::<String>().into_bytes());
    let input = Losing { lines, index: place.index().index };
    let (face, mut out) = (Listening::default(), Vec::new());
    filter_lines(&request(&place), input, &mut out, &face).unwrap_err();
    let answered = memchr::memchr_iter(b'\n', &out).count();
    let expected = format!("the last {answered} lines that were answered are not in the index");
    assert_eq!(face.0.into_inner().unwrap(), [expected]);
}
